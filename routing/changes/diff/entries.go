// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"bytes"
	"fmt"
	"iter"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Entry is a table entry that changes.
type Entry struct {
	// SwitchOld and SwitchNew are the index of the switch in the old and in the new fabric.
	SwitchOld, SwitchNew fabric.SwitchIndex
	LID                  uint16
	// Old and New are the egress ports in the two states, or NoPath for an entry without a port.
	Old, New uint8
}

// Changes iterates over the entries that differ between two states, by switch of the old fabric and by LID, from LID 1
// up. It skips a switch that only one subnet has, or whose table was not read in one state. O(switches x LIDs).
func Changes(before, after *fabric.Tables) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for so, n := range before.Fabric.Switches {
			sn := after.Fabric.SwitchByGUID(before.Fabric.Nodes[n].GUID)
			if knownOf(before, after, fabric.SwitchIndex(so), sn) != bothKnown {
				continue
			}
			for e := range rowChanges(before, after, fabric.SwitchIndex(so), sn) {
				if !yield(e) {
					return
				}
			}
		}
	}
}

type knowledge uint8

const (
	notInBoth knowledge = iota
	unread
	bothKnown
)

func knownOf(before, after *fabric.Tables, so, sn fabric.SwitchIndex) knowledge {
	switch {
	case sn == fabric.None, !before.Fabric.SwitchNode(so).InSubnet, !after.Fabric.SwitchNode(sn).InSubnet:
		return notInBoth
	case before.Known[so] && after.Known[sn]:
		return bothKnown
	}
	return unread
}

// rowChanges iterates over the changed entries of one switch, block by block.
func rowChanges(before, after *fabric.Tables, so, sn fabric.SwitchIndex) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		blocks := max(before.LFT.Blocks(), after.LFT.Blocks())
		for b := range blocks {
			if sameBlock(before, after, so, sn, b) {
				continue
			}
			was, is := block(before, so, b), block(after, sn, b)
			for i := range was {
				lid := b*fabric.BlockSize + i
				if was[i] != is[i] && lid > 0 && !yield(Entry{so, sn, uint16(lid), was[i], is[i]}) {
					return
				}
			}
		}
	}
}

// block returns 64 entries of a switch, with NoPath above its LinearFDBTop.
func block(t *fabric.Tables, sw fabric.SwitchIndex, b int) (entries [fabric.BlockSize]uint8) {
	fabric.FillNoPath(entries[:])
	if left := int(t.Top[sw]) + 1 - b*fabric.BlockSize; left > 0 && b < t.LFT.Blocks() {
		copy(entries[:min(left, fabric.BlockSize)], t.LFT.Block(sw, b))
	}
	return entries
}

// sameBlock reports whether 64 entries are all within both LinearFDBTops and equal.
func sameBlock(before, after *fabric.Tables, so, sn fabric.SwitchIndex, b int) bool {
	last := (b+1)*fabric.BlockSize - 1
	return last <= int(before.Top[so]) && last <= int(after.Top[sn]) && b < before.LFT.Blocks() &&
		b < after.LFT.Blocks() &&
		bytes.Equal(before.LFT.Block(so, b), after.LFT.Block(sn, b))
}

// Count summarizes the entries that [Changes] yields. It also counts the switches of both subnets that [Changes] skips
// because a table was not read. O(switches x LIDs).
func Count(before, after *fabric.Tables) Entries {
	var e Entries
	for so, n := range before.Fabric.Switches {
		e.count(before, after, fabric.SwitchIndex(so), after.Fabric.SwitchByGUID(before.Fabric.Nodes[n].GUID))
	}
	return e
}

// count adds the changed entries of a switch to e and returns them as a summary of the switch.
func (e *Entries) count(before, after *fabric.Tables, so, sn fabric.SwitchIndex) (s Switch) {
	switch knownOf(before, after, so, sn) {
	case notInBoth:
		return s
	case unread:
		e.Unread++
		return s
	}
	s.TopOld, s.TopNew = before.Top[so], after.Top[sn]
	block := -1
	for c := range rowChanges(before, after, so, sn) {
		s.Changed++
		if b := int(c.LID) / fabric.BlockSize; b != block {
			block = b
			s.Blocks++
		}
	}
	if s.Changed > 0 {
		e.Changed += s.Changed
		e.Blocks += s.Blocks
		e.Switches++
	}
	return s
}

func (m *matching) entries(r *Result) {
	for so, n := range m.old.f.Switches {
		s := r.Entries.count(m.old.t, m.new.t, fabric.SwitchIndex(so), m.old.otherSwitch[so])
		if s.Changed > 0 {
			s.Name, s.GUID = m.old.f.NodeName(n), GUID(m.old.f.Nodes[n].GUID)
			r.Switches = append(r.Switches, s)
		}
	}
}

// NotCompared returns the suffix of a count of changed entries: how many switches were not compared, because their
// tables were not read in one of the states. It returns "" if all switches were compared.
func NotCompared(unread int) string {
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not compared, as a table was not read", prose.Count(unread, "switch"))
}
