// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
)

// Graft returns tables of a fabric in which the paths that are broken in t are those of donor, tables of the same
// fabric: with whole set, all entries for a LID to which some switch has no path, else the entries of the switches
// without a path alone. Service levels of paths to and from these LIDs are those of donor. O(switches x LIDs) on all
// processors.
func Graft(ctx context.Context, t, donor *fabric.Tables, whole bool) (*Result, error) {
	forest, err := trees.NewForest(ctx, t)
	if err != nil {
		return nil, err
	}
	f, r := t.Fabric, &Result{}
	var edits []fabric.Edit
	grafted := map[uint16]bool{}
	for lid := uint16(1); lid <= f.MaxLID && lid > 0; lid++ {
		target := forest.At[lid]
		if target == fabric.None {
			continue
		}
		column, depth := forest.Column(lid), forest.Depth(lid)
		lost := func(s fabric.SwitchIndex) bool {
			return f.SwitchNode(s).InSubnet && (depth[s] == trees.Far || s == target && column[s] != forest.Local[lid])
		}
		for s := range f.NumSwitches() {
			if !lost(s) {
				continue
			}
			if !grafted[lid] {
				grafted[lid] = true
				r.LIDs++
			}
			if donor.Port(s, lid) == fabric.NoPath {
				r.Unreached = append(r.Unreached, Unreached{s, lid})
			}
		}
		for s := range f.NumSwitches() {
			port := donor.Port(s, lid)
			if !grafted[lid] || !whole && !lost(s) || !f.SwitchNode(s).InSubnet || port == fabric.NoPath {
				continue
			}
			if r.Looked++; port != column[s] {
				edits = append(edits, fabric.Edit{Switch: s, LID: lid, Port: port})
			}
		}
	}
	tables := *t
	tables.LFT = t.LFT.Patched(edits)
	if t.SLs != nil || donor.SLs != nil {
		tables.SLs = graftedSLs{t.SLs, donor.SLs, grafted}
	}
	r.Tables, r.Touched, r.Switches = &tables, len(edits), switches(edits)
	return r, nil
}

// graftedSLs are the service levels of grafted paths.
type graftedSLs struct {
	kept, donor fabric.PathSLs
	grafted     map[uint16]bool
}

// SL implements [fabric.PathSLs].
func (g graftedSLs) SL(src, dst uint16) uint8 {
	sls := g.kept
	if g.grafted[dst] || g.grafted[src] {
		sls = g.donor
	}
	if sls == nil {
		return 0
	}
	return sls.SL(src, dst)
}
