// SPDX-License-Identifier: Apache-2.0

package traces

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/test/testenv"
)

var head = Head{
	Subnet: "sim:\"x\"\x1b[31m", State: "live", Tables: time.Unix(1_700_000_000, 5).UTC(),
	Sweep: time.Unix(1_700_000_060, 0).UTC(), Selection: "all \u202eall",
}

// randomRows returns rows in the order of their keys.
func randomRows(r *rand.Rand, n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			Src: r.Uint64N(5), LID: uint16(r.UintN(9)), Dst: r.Uint64(), Ending: Ending(r.UintN(uint(Unknown) + 1)),
		}
		hops := 1 + r.IntN(6)
		for k := range hops {
			h := Hop{r.Uint64N(20), int16(r.UintN(256)), int16(r.UintN(256))}
			if k == 0 {
				h.In = NoPort
			}
			if k == hops-1 && r.IntN(2) == 0 {
				h.Out = NoPort
			}
			rows[i].Hops = append(rows[i].Hops, h)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return a.Key().Compare(b.Key()) })
	return rows
}

func text(t testing.TB, rows []Row, names map[uint64]string) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, &head)
	for i := range rows {
		if err := w.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(func(guid uint64) string { return names[guid] }); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip reads what was written. The digest is that of the lines of the paths, as sha256sum computes it.
func TestRoundTrip(t *testing.T) {
	r := testenv.Rand(t)
	for range 30 {
		rows := randomRows(r, r.IntN(50))
		names := map[uint64]string{3: "leaf \"1\"\n0x", 4: "\x1b]0;x\a\u202e", 7: "\xff"}
		file := text(t, rows, names)
		if !plain.Escaped(strings.ReplaceAll(file, "\n", "")) {
			t.Fatalf("control characters in %q", file)
		}
		got, err := Read(strings.NewReader(file), "f")
		if err != nil {
			t.Fatalf("%v: %s", err, file)
		}
		if got.Head != head || got.Len() != len(rows) {
			t.Fatalf("%+v, %d rows", got.Head, got.Len())
		}
		var lines strings.Builder
		for i := range rows {
			if row := got.Row(i, nil); !reflect.DeepEqual(row, rows[i]) || !row.SamePath(&rows[i]) {
				t.Fatalf("row %d: %+v, want %+v", i, row, rows[i])
			}
			for _, h := range rows[i].Hops {
				if got.Names[h.GUID] != names[h.GUID] {
					t.Fatalf("name %q, want %q", got.Names[h.GUID], names[h.GUID])
				}
			}
		}
		for line := range strings.Lines(file) {
			if strings.HasPrefix(line, "0x") {
				lines.WriteString(line)
			}
		}
		sum := sha256.Sum256([]byte(lines.String()))
		if want := hex.EncodeToString(sum[:])[:32]; got.Digest != want {
			t.Fatalf("digest %s, want %s", got.Digest, want)
		}
		if renamed := text(t, rows, nil); len(rows) > 0 && !strings.HasSuffix(renamed,
			fmt.Sprintf("end %d %s\n", len(rows), got.Digest)) {
			t.Fatalf("without names %s", renamed)
		}
	}
}

// TestLine compares a line with one that was written by hand.
func TestLine(t *testing.T) {
	r := Row{0x0002c90300000101, 0x0002c90300000205, 12, NoSuchPort, []Hop{
		{0x0002c90300000100, NoPort, 1}, {0xab, 5, 20}, {0xcd, 1, NoPort},
	}}
	want := "0x0002c90300000101 12 0x0002c90300000205 no-such-port 0x0002c90300000100:1 5:0x00000000000000ab:20 " +
		"1:0x00000000000000cd\n"
	if got := string(r.Append(nil)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestErrors checks that damaged files are refused with the file and the line.
func TestErrors(t *testing.T) {
	rows := []Row{{1, 2, 3, Delivered, []Hop{{5, NoPort, 1}, {6, 1, NoPort}}}, {2, 1, 4, Loop, []Hop{{6, NoPort, 1}}}}
	good := text(t, rows, map[uint64]string{5: "five"})
	for _, c := range []struct{ old, now, want string }{
		{"traces 1", "traces 2", `f:1: expected "ibconsole traces 1"`},
		{"state \"live\"", "state live", "f:3: bad state"},
		{"tables 2023", "tables 20x3", "f:4: bad tables"},
		{"0x0000000000000002 4 ", "0x0000000000000000 4 ", "f:8: the paths are not in the order"},
		{" 3 0x", " 03 0x", "f:7: expected 0xSOURCE"},
		{"delivered", "arrived", "f:7: expected 0xSOURCE"},
		{"1:0x0000000000000006\n", "0x0000000000000006\n", "f:7: expected 0xSOURCE"},
		{"5:1 1:", "5:256 1:", "f:7: expected 0xSOURCE"},
		{"\"five\"", "five", "f:9: expected name"},
		{"end 2", "end 3", "f:11: the file has 2 paths"},
		{"end 2 ", "end 2 0", "f:11: the paths have the digest"},
		{"name", "nam\x1be", `f:9: unknown word "nam\\x1be"`},
		{"end 2 ", "# ", "f:11: unknown word"},
	} {
		damaged := strings.Replace(good, c.old, c.now, 1)
		if damaged == good {
			t.Fatalf("%q is not in %s", c.old, good)
		}
		if strings.Contains(c.want, "f:11") {
			damaged = strings.Replace(damaged, "name 0x", "name 0x0000000000000006 \"six\"\nname 0x", 1)
		}
		if _, err := Read(strings.NewReader(damaged), "f"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.now, err, c.want)
		}
	}
	for cut := range len(good) - 1 {
		if _, err := Read(strings.NewReader(good[:cut]), "f"); err == nil {
			t.Fatalf("cut to %d bytes of %d: no error", cut, len(good))
		}
	}
	if _, err := Read(strings.NewReader(good+"\n"), "f"); err == nil {
		t.Error("a line after the end: no error")
	}
	out := NewWriter(&bytes.Buffer{}, &head)
	_ = out.Add(&rows[1])
	if err := out.Add(&rows[0]); err == nil {
		t.Error("rows in the wrong order: no error")
	}
}

// FuzzRead checks that a file that is read is written again with the same digest.
func FuzzRead(f *testing.F) {
	rows := []Row{{1, 2, 3, Delivered, []Hop{{5, NoPort, 1}, {6, 1, NoPort}}}}
	f.Add(text(f, rows, map[uint64]string{5: "five\x00"}))
	f.Add(text(f, nil, nil))
	f.Add(magic + "\n0x\nend")
	f.Add(magic + "\nname 0x0000000000000001 \"\\x1b\"\nend 0 e3b0c44298fc1c149afbf4c8996fb924\n")
	f.Fuzz(func(t *testing.T, file string) {
		got, err := Read(strings.NewReader(file), "f")
		if err != nil {
			if !plain.Escaped(err.Error()) {
				t.Errorf("control characters in %q", err)
			}
			return
		}
		var rows []Row
		for i := range got.Len() {
			rows = append(rows, got.Row(i, nil))
		}
		again := text(t, rows, got.Names)
		if !strings.Contains(again, fmt.Sprintf("end %d %s\n", len(rows), got.Digest)) {
			t.Errorf("%s written as %s", file, again)
		}
	})
}
