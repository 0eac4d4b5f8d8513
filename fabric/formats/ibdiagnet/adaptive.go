// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"cmp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// adaptiveStates maps the states in an ibdiagnet2.far file to those of package fabric.
var adaptiveStates = [...]fabric.AdaptiveState{
	Bounded: fabric.StateBounded, Free: fabric.StateFree, Static: fabric.StateStatic, Hash: fabric.StateHash,
}

// Adaptive returns the adaptive routing that the file states for the switches of f. It returns nil if no switch has a
// group.
//
// A switch is enabled unless its heading has "en: 0". It reroutes by itself if the heading has "fr_en: 1". Other files
// state which SLs are adaptive and which packets use a private table. So in the result all SLs are adaptive, and all
// packets use table 0. O(switches x LIDs).
func (a *Far) Adaptive(f *fabric.Fabric) *fabric.Adaptive {
	out := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	any := false
	for i := range a.Switches {
		s := &a.Switches[i]
		if sw := f.SwitchByGUID(s.GUID); sw != fabric.None && len(s.Groups) > 0 {
			out.Switches[sw] = s.adaptive(f.MaxLID)
			any = true
		}
	}
	if !any {
		return nil
	}
	return out
}

func (s *Switch) adaptive(maxLID uint16) fabric.AdaptiveSwitch {
	out := fabric.AdaptiveSwitch{Enabled: s.flag("en") != "0", FastReroute: s.flag("fr_en") == "1", SLs: 0xffff,
		HashSLs: 0xffff}
	groups := slices.Clone(s.Groups)
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Sub, b.Sub))
	})
	for i := range groups {
		g := &groups[i]
		for len(out.Groups) <= int(g.Number) {
			out.Groups = append(out.Groups, nil)
		}
		out.Groups[g.Number] = append(out.Groups[g.Number], slices.Collect(g.Ports.All()))
	}
	first := s.Table(0)
	if first == nil {
		first = &Table{}
	}
	table := fabric.AdaptiveTable{Top: maxLID, Entries: make([]fabric.AdaptiveEntry, int(maxLID)+1)}
	for lid := range table.Entries {
		table.Entries[lid] = first.entry(uint16(lid))
	}
	out.Tables = []fabric.AdaptiveTable{table}
	for i := range s.Tables {
		if s.Tables[i].Number != 0 {
			out.Tables = append(out.Tables, s.Tables[i].private(first, maxLID))
		}
	}
	return out
}

// flag returns the value of a name in the heading, without a trailing comma.
func (s *Switch) flag(name string) string { return strings.TrimSuffix(s.Word(name), ",") }

func (t *Table) entry(lid uint16) fabric.AdaptiveEntry {
	c := t.Choice(lid)
	if int(c.State()) >= len(adaptiveStates) {
		return 0
	}
	return fabric.NewAdaptiveEntry(adaptiveStates[c.State()], int(c.Group()))
}

// private returns the entries of the private table t that differ from those of another table.
func (t *Table) private(first *Table, maxLID uint16) fabric.AdaptiveTable {
	out := fabric.AdaptiveTable{Top: maxLID}
	for lid := uint16(1); lid <= maxLID && lid != 0; lid++ {
		if t.Port(lid) != first.Port(lid) || t.entry(lid) != first.entry(lid) {
			out.Private = append(out.Private, fabric.PrivateEntry{LID: lid, Port: t.Port(lid), Entry: t.entry(lid)})
		}
	}
	return out
}
