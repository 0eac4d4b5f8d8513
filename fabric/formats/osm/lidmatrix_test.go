// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
)

const lineMatrix = "Switch: guid 0x0000000000200000\n0x0001: 00 ff 02 ff # portguid 0x0000000000200000\n0x0002: 01 " +
	"ff 01 ff # portguid 0x0000000000200001\n0x0003: 02 ff 02 ff # portguid 0x0000000000200002\nSwitch: guid " +
	"0x0000000000200001\n0x0001: 01 01 03 ff # portguid 0x0000000000200000\n0x0002: 00 02 02 ff # portguid " +
	"0x0000000000200001\n0x0003: 01 03 01 ff # portguid 0x0000000000200002\nSwitch: guid 0x0000000000200002\n0x0001: " +
	"02 02 ff ff # portguid 0x0000000000200000\n0x0002: 01 01 ff ff # portguid 0x0000000000200001\n0x0003: 00 02 ff " +
	"ff # portguid 0x0000000000200002\n"

// The counts are worked out by hand.
func TestLIDMatrixByHand(t *testing.T) {
	f := line(t)
	same(t, "written", matrix(t, f, routing.NewDistances(f)), []byte(lineMatrix))
	m, report, err := ReadLIDMatrix(strings.NewReader(lineMatrix), "matrix", f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "read and written", matrix(t, f, m), []byte(lineMatrix))
	if lines := report.Lines(); len(lines) > 0 || report.Rows != 9 {
		t.Errorf("%d rows, report %q", report.Rows, lines)
	}
	if m.Through(0, 200, 1) != NoHops {
		t.Error("Through returns hops by a port that does not exist")
	}
}

// OpenSM loads a lid matrix with -M like ReadLIDMatrix. Column 0 becomes the least of the row whatever the file has
// there.
func TestLIDMatrixAsOpenSM(t *testing.T) {
	f, file := made(t, "torus:4x3,2")
	dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file))
	changed := bytes.Replace(dump(t, dir, "opensm-lid-matrix.dump"), []byte(": 02 "), []byte(": 09 "), 7)
	changed = bytes.Replace(changed, []byte(" 03 "), []byte(" 01 "), 9)
	name := filepath.Join(t.TempDir(), "matrix")
	writeFile(t, name, changed)
	after := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-R", "file", "-M", name)
	m, _, err := ReadLIDMatrix(bytes.NewReader(changed), "matrix", f)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "loaded", matrix(t, f, m), dump(t, after, "opensm-lid-matrix.dump"))
}

func TestReadLIDMatrixReport(t *testing.T) {
	f := line(t)
	text := "0x0001: zz\n" + // before the first switch: OpenSM ignores it
		"Switch: guid 0x0000000000000009\n0x0001: zz\nSwitch: guid 0x0000000000200001\nwhat?\n0x0001: 05 03 04 06 07 " +
		"# portguid 0x0000000000200001\n0x0004: 01\n0x1234 01\n0x0002 00 : # portguid 0x\n"
	text = strings.Replace(text, "0x0002 00 :", "0x0002 00", 1)
	m, report, err := ReadLIDMatrix(strings.NewReader(text), "matrix", f)
	if err != nil {
		t.Fatal(err)
	}
	if m.Least(1, 0) != 3 || m.Through(1, 2, 0) != 4 || m.Least(1, 1) != 0 || m.Least(0, 1) != NoHops {
		t.Errorf("hops %d %d %d %d", m.Least(1, 0), m.Through(1, 2, 0), m.Least(1, 1), m.Least(0, 1))
	}
	want := []string{
		"1 switch of the file is not in the subnet, skipped: 0x0000000000000009",
		"2 switches of the subnet are not in the file: 0x0000000000200000 (sw); 0x0000000000200002 (sw)",
		"2 rows are for LIDs that no switch has; as in OpenSM they affect dumps only: LID 4 on line 7; LID 4660 on " +
			"line 8",
		"1 row is for a switch that has another LID now; a lid matrix is not remapped: LID 1 on line 6 was that of " +
			"port GUID 0x0000000000200001, is that of sw (0x0000000000200000)/0",
		"1 row has more columns than its switch has ports: 5 columns for 4 ports on line 6",
		"1 line was not recognized: line 5: what?",
	}
	if got := report.Lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReadLIDMatrixErrors(t *testing.T) {
	f := line(t)
	header := "Switch: guid 0x0000000000200000\n"
	for _, c := range []struct{ what, text, want string }{
		{"empty", "", "matrix:1: the file is empty"},
		{"other text", "hello\n", "matrix:1: no lid matrix"},
		{"binary", header + "\x00", "matrix:2: a NUL byte"},
		{"no GUID", "Switch: 3\n", "matrix:1: cannot parse switch definition"},
		{"bad GUID", "Switch: guid 0x3g\n", "matrix:1: cannot parse switch GUID"},
		{"bad LID", header + "0xg: 00\n", "matrix:2: cannot parse LID"},
		{"LID above 16 bits", header + "0x10000: 00\n", "matrix:2: cannot parse LID"},
		{"bad hops", header + "0x0001: 00 0g\n", "matrix:2: cannot parse hop count in \"g\""},
		{"hops above a byte", header + "0x0001: 00 100\n", "matrix:2: cannot parse hop count"},
		{"truncated", strings.TrimSuffix(lineMatrix, "2\n"), "matrix:12: the file is truncated"},
	} {
		_, _, err := ReadLIDMatrix(strings.NewReader(c.text), "matrix", f)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
}

// A matrix that was read can be written and read, and is then stable. The first time the least value of a repeated row
// may be corrected.
func FuzzReadLIDMatrix(f *testing.F) {
	f.Add([]byte(lineMatrix))
	f.Add([]byte("Switch: guid 0x200000\n0x0001: 01 02 03 04 05\n"))
	subnet := line(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, report, err := ReadLIDMatrix(bytes.NewReader(text), "matrix", subnet)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "matrix:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		report.Lines()
		var texts [2][]byte
		for i := range texts {
			if m, _, err = ReadLIDMatrix(bytes.NewReader(matrix(t, subnet, m)), "matrix", subnet); err != nil {
				t.Fatal(err)
			}
			texts[i] = matrix(t, subnet, m)
		}
		same(t, "again", texts[1], texts[0])
	})
}
