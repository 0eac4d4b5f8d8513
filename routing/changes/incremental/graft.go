// SPDX-License-Identifier: Apache-2.0

package incremental

import "example.org/ibconsole/fabric"

// Graft replaces broken paths by the paths in other tables of the same fabric (argument donor). A LID is broken if some
// switch has no path to it. If the argument whole is set, Graft replaces all entries for broken LIDs. Otherwise it
// replaces only the entries of the switches without a path. The service levels of paths to and from broken LIDs are
// those of the other tables. O(switches x LIDs).
func (b *Broken) Graft(donor *fabric.Tables, whole bool) *Result {
	t, f := b.Tables, b.Tables.Fabric
	var edits []fabric.Edit
	var unreached []Unreached
	grafted, looked := map[uint16]bool{}, 0
	for l := 1; l <= int(f.MaxLID); l++ {
		lid := uint16(l)
		if !b.broken(lid) {
			continue
		}
		grafted[lid] = true
		column := b.Column(lid)
		for s := range f.NumSwitches() {
			lost := b.lost(s, lid)
			if !f.SwitchNode(s).InSubnet || !whole && !lost {
				continue
			}
			switch port := donor.Port(s, lid); {
			case port != fabric.NoPath:
				looked++
				if port != column[s] {
					edits = append(edits, fabric.Edit{Switch: s, LID: lid, Port: port})
				}
			case lost:
				unreached = append(unreached, Unreached{s, lid})
			}
		}
	}
	r := b.result(edits)
	if t.SLs != nil || donor.SLs != nil {
		r.Tables.SLs = graftedSLs{t.SLs, donor.SLs, grafted}
	}
	r.Unreached, r.Looked, r.LIDs = unreached, looked, len(grafted)
	return r
}

// graftedSLs takes the service levels of paths to and from broken LIDs from the donor, and all others from the old
// tables.
type graftedSLs struct {
	kept, donor fabric.PathSLs
	grafted     map[uint16]bool
}

// SL implements [fabric.PathSLs].
func (g graftedSLs) SL(src, dst uint16) uint8 {
	if sls := g.of(src, dst); sls != nil {
		return sls.SL(src, dst)
	}
	return 0
}

// Range implements [fabric.RangedSLs].
func (g graftedSLs) Range(src, dst uint16) fabric.SLRange {
	return fabric.RangeOf(g.of(src, dst), src, dst)
}

func (g graftedSLs) of(src, dst uint16) fabric.PathSLs {
	if g.grafted[dst] || g.grafted[src] {
		return g.donor
	}
	return g.kept
}
