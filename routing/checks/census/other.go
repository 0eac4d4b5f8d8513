// SPDX-License-Identifier: Apache-2.0

package census

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Pair is a source and a destination.
type Pair struct {
	Src fabric.PortIndex
	LID uint16
}

// comparison compares paths with the paths of other tables, switch by switch and port by port. Nodes are matched by
// GUID. LIDs are matched by their position among the LIDs of the destination.
type comparison struct {
	ends *trees.Ends
	lids map[uint16]trees.LID
	// at maps each switch to its index in the other fabric, or to None. same marks the ends that are attached to the
	// same switch port in both fabrics. others counts, for each group, the ends that are not.
	at     []fabric.SwitchIndex
	same   []bool
	others []int64
}

func newComparison(c *counter, t *fabric.Tables) *comparison {
	b := &comparison{
		ends: trees.NewEnds(t, c.opt.Switches), lids: map[uint16]trees.LID{}, same: make([]bool, len(c.ends.Ports)),
		others: make([]int64, len(c.ends.Groups)),
	}
	for _, l := range b.ends.LIDs {
		b.lids[l.LID] = l
	}
	f, g := c.ends.Tables.Fabric, t.Fabric
	for _, n := range f.Switches {
		b.at = append(b.at, g.SwitchByGUID(f.Nodes[n].GUID))
	}
	for i, p := range c.ends.Ports {
		b.same[i] = attachedAlike(f, p, g)
		if !b.same[i] {
			b.others[c.ends.GroupOf[i]]++
		}
	}
	return b
}

// attachedAlike reports whether an end port exists in g and is linked to the same switch port there.
func attachedAlike(f *fabric.Fabric, port fabric.PortIndex, g *fabric.Fabric) bool {
	there := g.PortByGUID(f.Ports[port].GUID)
	if there == fabric.None {
		return false
	}
	sw, num := f.AttachedSwitch(port)
	other, at := g.AttachedSwitch(there)
	if sw == fabric.None || other == fabric.None {
		return sw == other
	}
	return num == at && f.SwitchNode(sw).GUID == g.SwitchNode(other).GUID
}

// compareOther counts the paths to one LID that differ from the paths of the other tables.
func (w *worker) compareOther(t *trees.Tree) {
	b := w.other
	f, end := w.ends.Tables.Fabric, w.ends.Ports[t.End]
	_, _, lid, err := walk.EndsIn(f, end, end, t.LID.LID, b.ends.Tables.Fabric)
	l, ok := b.lids[lid]
	if ok = ok && err == nil; ok {
		w.trail = trails(w.trail, w.ends.Tables, t.Tree)
		w.there = trails(w.there, b.ends.Tables, b.ends.To(l).Tree)
	}
	for g := range w.ends.Groups {
		n := int64(w.ends.Sources(g, t.End))
		if n == 0 {
			continue
		}
		at := w.ends.Groups[g].At
		if ok && (at < 0 || b.at[at] != fabric.None && w.trail[at] == w.there[b.at[at]]) {
			if n = b.others[g]; w.ends.GroupOf[t.End] == int32(g) && !b.same[t.End] {
				n--
			}
			if n > 0 {
				w.addDiffering(n, w.otherSource(g, t.End), t.LID.LID)
			}
			continue
		}
		w.addDiffering(n, w.source(w.ends.Groups[g].Ends, t.End), t.LID.LID)
	}
}

func (w *worker) otherSource(group int, dst int32) fabric.PortIndex {
	for _, e := range w.ends.Groups[group].Ends {
		if e != dst && !w.other.same[e] {
			return w.ends.Ports[e]
		}
	}
	return fabric.None
}

// addDiffering adds n differing paths, and one of these paths as an example.
func (r *Result) addDiffering(n int64, src fabric.PortIndex, lid uint16) {
	r.Differing += n
	r.DifferingPairs = append(r.DifferingPairs, Pair{src, lid})
	if len(r.DifferingPairs) > maxParting {
		r.DifferingPairs = firstPairs(r.DifferingPairs, maxParting/2)
	}
}

const maxParting = 1 << 12

func firstPairs(list []Pair, most int) []Pair {
	slices.SortFunc(list, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.LID, b.LID), cmp.Compare(a.Src, b.Src)) })
	return list[:min(len(list), most)]
}

// trails computes, for each switch, a hash of the nodes and ports that packets pass from this switch on. The hash of a
// loop does not depend on the switch at which the loop was entered.
func trails(to []uint64, t *fabric.Tables, tree *walk.Tree) []uint64 {
	f := t.Fabric
	to = slices.Grow(to[:0], len(f.Switches))[:len(f.Switches)]
	clear(to)
	here := func(sw fabric.SwitchIndex) uint64 {
		n, entry := f.SwitchNode(sw), tree.Entry(sw)
		if entry > n.NumPorts || !t.Known[sw] {
			entry = fabric.NoPath // no path, as without an entry
		}
		return mix(n.GUID + mix(uint64(entry)))
	}
	for _, sw := range tree.Order {
		next := tree.Next(sw)
		switch {
		case next == walk.Nowhere, next == walk.Unread:
			to[sw] = mix(here(sw) + uint64(-next))
		case next < 0:
			to[sw] = mix(here(sw) + mix(f.Ports[walk.PortOf(next)].GUID))
		case to[next] == 0: // closes a loop
			to[sw] = here(sw)
			for x := next; x != sw; x = tree.Next(x) {
				to[sw] += here(x)
			}
			to[sw] |= 1
		default:
			to[sw] = mix(here(sw) + to[next])
		}
	}
	return to
}
