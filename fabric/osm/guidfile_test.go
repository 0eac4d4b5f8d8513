// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strings"
	"testing"
)

// TestGUIDFile: the lines by hand, from parse_node_map of cl_nodenamemap.c.
func TestGUIDFile(t *testing.T) {
	long := "# " + strings.Repeat("x", 300)
	for _, tc := range []struct {
		text, lines, notes string
		broken             bool
	}{
		{"0x10 a b\n  # c\n\n 0x11\n", `[{16 a b 1} {17  4}]`, "", false},
		{"0x10#c\n", `[{16 #c 1}]`, "", false},
		{"16 x\n", `[{16 x 1}]`, "f:1: the GUID has no 0x", false},
		{"0x10\n0002c9 x\n0x11\n", `[{16  1}]`, "f:2: ", true},
		{"nonsense\n", `[]`, "f:1: ", true},
		{long + "\n0x10\n", `[]`, "f:1: the line is longer", true},
		{"", `[]`, "", false},
	} {
		f, err := ReadGUIDFile(strings.NewReader(tc.text), "f")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.Lines); got != tc.lines || f.Broken != tc.broken {
			t.Errorf("%q: %s, broken %v; want %s, %v", tc.text, got, f.Broken, tc.lines, tc.broken)
		}
		if all := fmt.Sprint(f.Notes); tc.notes != "" && !strings.Contains(all, tc.notes) || tc.notes == "" && len(f.Notes) > 0 {
			t.Errorf("%q is noted %s, want %q", tc.text, all, tc.notes)
		}
	}
}

func FuzzGUIDFile(f *testing.F) {
	f.Add("0x0002c90300000003 12 5 # port and weight\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ReadGUIDFile(strings.NewReader(text), "f")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range file.Lines {
			l.Numbers()
			l.Number()
		}
	})
}
