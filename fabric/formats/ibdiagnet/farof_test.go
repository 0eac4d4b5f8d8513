// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
)

// randomAdaptive has switches with and without groups, that are on and off, with sub-groups, empty groups, all states
// and private tables. What far has no place for is as far is read: all SLs, and every packet by the first table.
func randomAdaptive(r *rand.Rand, f *fabric.Fabric, lft *fabric.LFT) *fabric.Adaptive {
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	for i := range f.NumSwitches() {
		if i > 0 && r.IntN(4) == 0 {
			continue
		}
		s := &a.Switches[i]
		s.Enabled, s.FastReroute, s.SLs, s.HashSLs = r.IntN(3) > 0, r.IntN(2) == 0, 0xffff, 0xffff
		s.Groups = []fabric.PortGroup{nil}
		for range 1 + r.IntN(5) {
			var group fabric.PortGroup
			for range r.IntN(3) {
				var ports []uint8
				for p := uint8(1); p <= f.SwitchNode(i).NumPorts; p++ {
					if r.IntN(3) == 0 {
						ports = append(ports, p)
					}
				}
				group = append(group, ports)
			}
			s.Groups = append(s.Groups, group)
		}
		if s.Groups[len(s.Groups)-1] == nil { // no file has a group after the last one
			s.Groups[len(s.Groups)-1] = fabric.PortGroup{{1}}
		}
		entry := func() fabric.AdaptiveEntry {
			return fabric.NewAdaptiveEntry(fabric.AdaptiveState(r.IntN(4)), r.IntN(len(s.Groups)))
		}
		first := fabric.AdaptiveTable{Top: f.MaxLID, Entries: make([]fabric.AdaptiveEntry, f.MaxLID+1)}
		for lid := range first.Entries[1:] {
			first.Entries[1+lid] = entry()
		}
		s.Tables = []fabric.AdaptiveTable{first}
		for range r.IntN(3) {
			private := fabric.AdaptiveTable{Top: f.MaxLID}
			for lid := uint16(1); lid <= f.MaxLID; lid++ {
				e := fabric.PrivateEntry{LID: lid, Port: uint8(1 + r.IntN(int(f.SwitchNode(i).NumPorts))),
					Entry: entry()}
				if r.IntN(3) == 0 && (e.Port != lft.Port(i, lid) || e.Entry != first.Entries[lid]) {
					private.Private = append(private.Private, e)
				}
			}
			s.Tables = append(s.Tables, private)
		}
	}
	return a
}

// TestFarOfAdaptive: groups, states and private tables that are written as far are read back the same.
func TestFarOfAdaptive(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 30, 1000) {
		f, err := gen.ParseSpec([]string{"fattree:2,4", "torus:3x3", "random:5,4,8"}[r.IntN(3)])
		if err != nil {
			t.Fatal(err)
		}
		if f, err = fabric.AssignLIDs(f); err != nil {
			t.Fatal(err)
		}
		lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
		for s := range f.NumSwitches() {
			for lid := 1; lid <= int(f.MaxLID); lid++ {
				lft.Row(s)[lid] = uint8(r.IntN(int(f.SwitchNode(s).NumPorts) + 1))
				if r.IntN(5) == 0 {
					lft.Row(s)[lid] = fabric.NoPath
				}
			}
		}
		tables := fabric.NewTables(f, lft, "test")
		tables.Adaptive = randomAdaptive(r, f, lft)
		var b bytes.Buffer
		if err := WriteFar(&b, FarOf(tables), time.Time{}); err != nil {
			t.Fatal(err)
		}
		far, err := ReadFar(t.Context(), &b, "far", nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tables.Adaptive, far.Adaptive(f)); d != "" {
			t.Fatalf("groups: %s", d)
		}
		for i := range far.Switches {
			s := &far.Switches[i]
			sw := f.SwitchByGUID(s.GUID)
			for lid := uint16(1); lid <= f.MaxLID; lid++ {
				if port := s.Table(0).Port(lid); port != lft.Port(sw, lid) {
					t.Fatalf("switch %d, LID %d: port %d, was %d", sw, lid, port, lft.Port(sw, lid))
				}
			}
		}
	}
}
