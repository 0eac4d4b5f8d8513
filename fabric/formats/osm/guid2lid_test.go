// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/ibconsole/fabric"
)

// TestReadGUID2LID has cases worked out by hand from osm_db_restore and unpack_lids of OpenSM. Tests of package fabric
// compare files with OpenSM.
func TestReadGUID2LID(t *testing.T) {
	const one = "0x0000000000100001"
	for _, tc := range []struct {
		text, records, notes, err string
	}{
		{
			text:    one + " 0x0004 0x0007\n\n0x0000000000100003 0x0008 0x0008\n",
			records: one + " {4 7} true; 0x0000000000100003 {8 8} true",
		},
		{text: one + " 4 7 and more\n", records: one + " {4 7} true"},
		{text: "0x100001 0x0004 0x0004\n\n", records: "0x100001 {4 4} true", notes: "f:1: OpenSM searches for " + one},
		{
			text: one + " 1 2\n\n" + one + " 3 4\n\n", records: one + " {1 2} true",
			notes: "f:3: " + one + " occurs earlier in the file",
		},
		{
			text: one + " 0x0001 0x0001\n0x0000000000100003 2 2\n\n", records: one + " {1 16} true",
			notes: "f:1: no empty line after the record",
		},
		{text: one + "\n\n", records: one + " {0 0} false", notes: `f:1: "" is not a pair`},
		{text: one + " 0xc000 0xc001\n\n", records: one + " {0 0} false", notes: "is not a pair of unicast LIDs"},
		{text: "junk 1 2\n\n", notes: `f:1: "junk" is not a GUID`},
		{
			text: one + " 1 " + strings.Repeat(" ", 1100) + "9\n\n", records: one + " {0 0} false",
			notes: "longer than 1023 bytes",
		},
		{text: one + " 1 1\n\n 0x2 3 3\n\n", records: one + " {1 1} true", err: `f:3: "0x2 3 3" begins with space`},
		{text: "\n\n\n" + one + " 1 1", records: one + " {1 1} true"},
		{text: "\x00\n", err: "f:1: a NUL byte"},
		{text: ""},
	} {
		file, err := ReadGUID2LID(strings.NewReader(tc.text), "f")
		if (err != nil) != (tc.err != "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
			t.Errorf("%q: error %v, expected %q", tc.text, err, tc.err)
		}
		var records []string
		for r := range file.Table.Records() {
			records = append(records, fmt.Sprintf("%s {%d %d} %v", r.Key, r.LIDs.Min, r.LIDs.Max, r.Readable))
		}
		slices.Sort(records)
		if got := strings.Join(records, "; "); got != tc.records {
			t.Errorf("%q: records %s, expected %s", tc.text, got, tc.records)
		}
		if got := fmt.Sprint(file.Notes); !strings.Contains(got, tc.notes) || (tc.notes == "" && len(file.Notes) > 0) {
			t.Errorf("%q: notes %s, expected %q", tc.text, got, tc.notes)
		}
	}
}

func TestGUID2LIDErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := ReadGUID2LID(iotest.ErrReader(broken), "f"); !errors.Is(err, broken) {
		t.Errorf("error %v, expected %v", err, broken)
	}
	table := &fabric.GUID2LID{}
	table.Set(1, fabric.LIDRange{Min: 1, Max: 1})
	if err := WriteGUID2LID(failing{broken}, table); !errors.Is(err, broken) {
		t.Errorf("error %v, expected %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzGUID2LID writes a file that was read. If all records have OpenSM's form, reading it again gives the same records.
func FuzzGUID2LID(f *testing.F) {
	f.Add([]byte("0x0000000000100001 0x0004 0x0007\n\n0x5 1 1\nmore\n\n"))
	f.Add([]byte("0x0000000000100001 0x0004 0x0007\r\n\r\n"))
	f.Add([]byte("7\xff 1 2\n\n\tx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := ReadGUID2LID(bytes.NewReader(text), "f")
		if err != nil {
			return
		}
		plain := true
		for r := range file.Table.Records() {
			plain = plain && r.Readable && r.Key == fmt.Sprintf("0x%016x", r.GUID) && !strings.Contains(r.Value, "\n")
		}
		again := rewrite(t, file)
		if !plain {
			return
		}
		for r := range file.Table.Records() {
			if got, ok := again.Table.Get(r.GUID); !ok || got != r.LIDs {
				t.Errorf("0x%x has %v, read back %v %v", r.GUID, r.LIDs, got, ok)
			}
		}
	})
}

func rewrite(t *testing.T, file *GUID2LIDFile) *GUID2LIDFile {
	t.Helper()
	var b bytes.Buffer
	if err := WriteGUID2LID(&b, file.Table); err != nil {
		t.Fatal(err)
	}
	again, err := ReadGUID2LID(&b, "again")
	if err != nil {
		t.Fatalf("cannot read a written file: %v", err)
	}
	return again
}

// TestCNumbers has cases worked out by hand from the C standard, 7.22.1.4.
func TestCNumbers(t *testing.T) {
	for _, tc := range []struct {
		text     string
		unsigned uint64
		signed   int64
		rest     string
	}{
		{"12 x", 12, 12, " x"},
		{" \t+0x1Fg", 31, 31, "g"},
		{"-1", 1<<64 - 1, -1, ""},
		{"010", 8, 8, ""},
		{"09", 0, 0, "9"},
		{"0x", 0, 0, "x"},
		{"x", 0, 0, "x"},
		{"", 0, 0, ""},
		{"- 1", 0, 0, "- 1"},
		{"18446744073709551616", 1<<64 - 1, 1<<63 - 1, ""},
		{"-18446744073709551616", 1<<64 - 1, -1 << 63, ""},
		{"9223372036854775808", 1 << 63, 1<<63 - 1, ""},
		{"-9223372036854775808", 1 << 63, -1 << 63, ""},
		{"-9223372036854775809", 1<<63 - 1, -1 << 63, ""},
	} {
		if v, rest, _ := cUnsigned(tc.text); v != tc.unsigned || rest != tc.rest {
			t.Errorf("%q: unsigned %d, rest %q; expected %d, %q", tc.text, v, rest, tc.unsigned, tc.rest)
		}
		if v, rest := cSigned(tc.text); v != tc.signed || rest != tc.rest {
			t.Errorf("%q: signed %d, rest %q; expected %d, %q", tc.text, v, rest, tc.signed, tc.rest)
		}
	}
}

// BenchmarkReadGUID2LID reads a file with all LIDs.
func BenchmarkReadGUID2LID(b *testing.B) {
	var text bytes.Buffer
	for i := range fabric.MaxUnicastLID {
		fmt.Fprintf(&text, "0x%016x 0x%04x 0x%04x\n\n", 0x2c90300000000+i*2, i+1, i+1)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := ReadGUID2LID(bytes.NewReader(text.Bytes()), "f"); err != nil {
			b.Fatal(err)
		}
	}
}
