// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strings"
	"testing"
)

// TestGUIDFile has lines worked out by hand from parse_node_map of cl_nodenamemap.c.
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
		if all := fmt.Sprint(f.Notes); tc.notes != "" && !strings.Contains(all, tc.notes) || tc.notes == "" &&
			len(f.Notes) > 0 {
			t.Errorf("%q: notes %s, want %q", tc.text, all, tc.notes)
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
			l.Number()
		}
		ports, _ := file.Ports()
		weights, _ := file.Weights()
		orders, _ := file.Orders()
		ids, _ := file.IDs(nil)
		if len(weights) > len(ports) || len(ids) > len(file.GUIDs()) || len(orders) > len(file.GUIDs()) {
			t.Errorf("%d ports, %d weights, %d numbers, %d orders of %d lines", len(ports), len(weights), len(ids),
				len(orders), len(file.Lines))
		}
	})
}

// TestGUIDFileUses has cases worked out by hand from update_id, mark_ignored_port, set_hop_wf and
// set_search_ordering_ports of OpenSM.
func TestGUIDFileUses(t *testing.T) {
	f := mustRead(t, []byte("0x10 3 7 # a\n0x11 3,7\n0x12\n0x13 4294967297 0x101\n0x14 5 5\n0x15 258 2\n0x16 -1 "+
		"1\n0x17 2x9\n0x18 1 2 3 #4\n"))
	ports, notes := f.Ports()
	if got, want := fmt.Sprint(ports), "[{16 3 0} {17 3 0} {19 1 0} {20 5 0} {23 2 0} {24 1 0}]"; got != want ||
		len(notes) != 3 {
		t.Errorf("ports %s, %d notes, expected %s and 3: %v", got, len(notes), want, notes)
	}
	weights, notes := f.Weights()
	if got, want := fmt.Sprint(weights), "[{16 3 7} {17 3 7} {20 5 5} {23 2 9} {24 1 2}]"; got != want ||
		len(notes) != 4 {
		t.Errorf("weights %s, %d notes, expected %s and 4: %v", got, len(notes), want, notes)
	}
	orders, notes := f.Orders()
	if got, want := fmt.Sprint(orders), "[{16 [3 7]} {24 [1 2 3]}]"; got != want || len(notes) != 6 {
		t.Errorf("orders %s, %d notes, expected %s and 6: %v", got, len(notes), want, notes)
	}
	ids, stop := f.IDs(nil)
	if got, want := fmt.Sprint(ids), "map[16:3]"; got != want || stop == nil || stop.Line != 2 {
		t.Errorf("numbers %s, stop %v, expected %s and line 2", got, stop, want)
	}
	ids, stop = f.IDs(func(guid uint64) bool { return guid != 0x11 && guid != 0x17 })
	if got, want := fmt.Sprint(ids), "map[16:3 18:0 19:4294967297 20:5 21:258 22:18446744073709551615 24:1]"; got !=
		want || stop != nil {
		t.Errorf("numbers %s, stop %v, expected %s and none", got, stop, want)
	}
}

func TestGUIDFileKinds(t *testing.T) {
	for k := RootGUIDs; k <= SearchOrder; k++ {
		if d, ok := FindConfDef(k.Option()); !ok || d.Affects&AffectsRoutes == 0 {
			t.Errorf("%s is not an option that affects routes", k.Option())
		}
	}
}
