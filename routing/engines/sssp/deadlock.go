// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// Route implements [routing.Engine]. The tables are those of [Engine]. A pair of LIDs has OpenSM's SL. If OpenSM
// chooses one of several SLs at random for each query, the pair has one of these SLs. Route refuses a subnet with too
// few VLs, and a subnet that [Engine] refuses.
//
// In addition to [Engine] it takes O(switches with hosts x LIDs x hops) and memory of O(switches x LIDs). The searches
// and the breaking of cycles are sequential. All processors fill the first VL.
func (e DeadlockFree) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	r, err := newRouter(f, &opt, e.Name(), 2)
	if err == nil {
		err = r.route(ctx)
	}
	if err != nil {
		return nil, err
	}
	d := newDeadlocks(r, false)
	if err := d.remove(ctx); err != nil {
		return nil, err
	}
	if routing.RouterPorts(f) > 0 {
		r.warnings = append(r.warnings, "packets from routers use VL 0 and can deadlock there")
	}
	res := r.result()
	res.Tables.SLs = d.serviceLevels(d.vls)
	res.Tables.SL2VL = routing.VLPerSL(f, d.vls)
	return res, nil
}

// deadlocks moves paths of cycles to further VLs. Sources on one switch share their path to a LID, so these paths move
// together. They are called a unit.
type deadlocks struct {
	*router
	vls    int // the number of VLs of the subnet
	upTo   int // the number of VLs up to which needed is counted
	needed int
	// groups are consecutive sources at one switch. dests are the destination LIDs. Both are in OpenSM's order.
	groups []group
	dests  []dest
	// spans holds the index in dests of the first LID of each port, followed by the length of dests.
	spans []int32
	// layerOf holds the VL of each unit, at destination x number of groups + group.
	layerOf []uint8
	// pairs counts the pairs of LIDs in each VL. LIDs of switches count as well.
	pairs []int64
	// includeUnmapped is set if ports that do not map SLs are included. OpenSM skips these ports.
	includeUnmapped bool
	// groupsOn are the groups by switch.
	groupsOn [][]int32
}

type group struct {
	sw   fabric.SwitchIndex
	lids int64
	// first and last are the first and the last port of the group in the list of targets.
	first, last int
}

type dest struct {
	lid uint16
	sw  fabric.SwitchIndex
	row int32 // of the router's ports
	// port is the index in spans.
	port int32
}

func newDeadlocks(r *router, includeUnmapped bool) *deadlocks {
	d := &deadlocks{router: r, needed: 1, includeUnmapped: includeUnmapped}
	d.countVLs()
	d.pairs = make([]int64, routing.MostDataVLs)
	d.groupsOn = make([][]int32, len(r.hosts))
	row := 0
	for i, t := range r.targets {
		row += t.lids
		if !d.counts(&t) {
			continue
		}
		d.spans = append(d.spans, int32(len(d.dests)))
		for n := range t.lids {
			d.dests = append(d.dests, dest{t.lid + uint16(n), t.sw, int32(row - t.lids + n), int32(len(d.spans) - 1)})
		}
		if t.local == 0 {
			continue // packets from switches themselves are in no VL
		}
		if k := len(d.groups) - 1; k < 0 || d.groups[k].sw != t.sw {
			d.groupsOn[t.sw] = append(d.groupsOn[t.sw], int32(len(d.groups)))
			d.groups = append(d.groups, group{sw: t.sw, first: i})
		}
		g := &d.groups[len(d.groups)-1]
		g.lids += int64(t.lids)
		g.last = i
	}
	d.spans = append(d.spans, int32(len(d.dests)))
	return d
}

// countVLs counts the VLs of the subnet. It also decides whether VLs beyond these are counted. They are counted if
// requested, or if MaxOpVLs hides VLs of the subnet, because a refusal only because of MaxOpVLs is reported
// ([routing.RefusedError]).
func (d *deadlocks) countVLs() {
	d.vls, d.upTo = 1, 1
	unbound := *d.opt
	unbound.MaxOpVLs = 0
	if all, known := routing.DataVLs(d.f, &unbound); known {
		d.vls, _ = routing.DataVLs(d.f, d.opt)
		d.upTo = all
	}
	if d.opt.CountVLs {
		d.upTo = routing.MostDataVLs
	}
}

// mapsSLs reports whether a port maps SLs to VLs. OpenSM skips ports that do not.
func mapsSLs(f *fabric.Fabric, end fabric.PortIndex) bool {
	return mad.CapabilityMask(f.Ports[end].CapMask)&mad.CapSLMapping != 0
}

// counts reports whether the paths from and to a port belong to VLs.
func (d *deadlocks) counts(t *target) bool { return d.includeUnmapped || mapsSLs(d.f, t.end) }

// countPairs counts the pairs of LIDs. At the beginning all pairs are in the first VL.
func (d *deadlocks) countPairs() {
	sources := int64(0)
	for _, t := range d.targets {
		if d.counts(&t) {
			sources += int64(t.lids)
		}
	}
	for _, t := range d.targets {
		if d.counts(&t) {
			d.pairs[0] += (sources - int64(t.lids)) * int64(t.lids)
		}
	}
}

// remove finds the VL of each path.
func (d *deadlocks) remove(ctx context.Context) error {
	d.countPairs()
	d.layerOf = make([]uint8, len(d.dests)*len(d.groups))
	switch fit, err := d.fitOneVL(ctx); {
	case err != nil:
		return err
	case fit:
		d.done = d.total - 1 // ports that map no SLs have no steps here
		return d.step(ctx)
	}
	if err := d.breakCycles(ctx); err != nil {
		return err
	}
	if d.needed > d.vls {
		need := fmt.Sprint(d.needed)
		if d.needed > d.upTo {
			need = fmt.Sprintf("more than %d", d.upTo)
		}
		return d.refuse(d.needed <= d.upTo, "paths without deadlock need %s VLs; the subnet has %d", need, d.vls)
	}
	return nil
}

// breakCycles fills the first VL with all paths. It breaks each cycle of a VL at the edge with the fewest pairs and
// moves the paths of this edge to the next VL. It stops when a VL has no cycle, or when the last VL that counts has a
// cycle.
func (d *deadlocks) breakCycles(ctx context.Context) error {
	now, err := d.fill(ctx)
	if err != nil {
		return err
	}
	var b *branches
	for {
		w := newWalker(now)
		c := w.cycle()
		if c == fabric.None {
			break
		}
		d.needed++
		if d.needed > d.upTo {
			break
		}
		if b == nil {
			if b, err = newBranches(ctx, d, now); err != nil {
				return err
			}
		}
		if err := b.breakAll(ctx, w, c); err != nil {
			return err
		}
		now = b.turn()
	}
	if b != nil && d.needed <= d.vls {
		b.layers(d.layerOf)
	}
	return nil
}

// refuse returns a [routing.RefusedError] that contains the tables and hop counts.
func (d *deadlocks) refuse(tooFewVLs bool, format string, args ...any) error {
	return &routing.RefusedError{
		Engine: d.name, Reason: fmt.Sprintf(format, args...), TooFewVLs: tooFewVLs,
		Counted: d.lft, Hops: newHops(fabric.NewTables(d.f, d.lft, d.name)),
	}
}

// portsTo returns the port by which each switch sends to a destination.
func (d *deadlocks) portsTo(t *dest) []uint8 {
	return d.ports[int(t.row)*len(d.hosts) : (int(t.row)+1)*len(d.hosts)]
}

// serviceLevels distributes the needed VLs over the VLs of the subnet. Each additional VL goes to the needed VL with
// the most pairs per VL, and the following VLs move up.
func (d *deadlocks) serviceLevels(vls int) fabric.PathSLs {
	share := make([]uint8, d.needed)
	for l := range share {
		share[l] = 1
	}
	for range vls - d.needed {
		fullest, most := 0, 0.0
		for l, n := range share {
			if each := float64(d.pairs[l]) / float64(n); each > most {
				fullest, most = l, each
			}
		}
		share[fullest]++
	}
	sl := &pathSLs{groups: len(d.groups), layerOf: d.layerOf, share: share, group: make([]int32, int(d.f.MaxLID)+1),
		dest: make([]int32, int(d.f.MaxLID)+1)}
	for l := range share {
		if l > 0 {
			sl.first = append(sl.first, sl.first[l-1]+share[l-1])
		} else {
			sl.first = append(sl.first, 0)
		}
	}
	for lid := range sl.group {
		sl.group[lid], sl.dest[lid] = unlisted, unlisted
	}
	for i, t := range d.dests {
		sl.dest[t.lid], sl.group[t.lid] = int32(i), switchItself
	}
	for g := range d.groups {
		for _, t := range d.targets[d.groups[g].first : d.groups[g].last+1] {
			for n := range t.lids {
				if lid := int(t.lid) + n; sl.group[lid] == switchItself {
					sl.group[lid] = int32(g)
				}
			}
		}
	}
	return sl
}

const (
	unlisted     = -1
	switchItself = -2
)

// pathSLs are the SLs of pairs of LIDs.
type pathSLs struct {
	groups      int
	layerOf     []uint8
	group, dest []int32 // by LID
	// share holds the number of service levels of each VL. first holds the lowest service level of each VL.
	share, first []uint8
}

// SL implements [fabric.PathSLs]. If a VL has several levels, its pairs are distributed over them.
func (s *pathSLs) SL(src, dst uint16) uint8 {
	return fabric.SpreadSL(s.Range(src, dst), src, dst)
}

// Range implements [fabric.RangedSLs]. OpenSM chooses a random level of the VL for each path record
// (osm_ucast_dfsssp.c, get_dfsssp_sl).
func (s *pathSLs) Range(src, dst uint16) fabric.SLRange {
	if int(src) >= len(s.group) || int(dst) >= len(s.dest) || s.group[src] == unlisted || s.dest[dst] == unlisted {
		return fabric.OneSL(0)
	}
	layer := uint8(0)
	if g := s.group[src]; g != switchItself {
		layer = s.layerOf[int(s.dest[dst])*s.groups+int(g)]
	}
	return fabric.SLRange{First: s.first[layer], N: s.share[layer]}
}

// Source implements [fabric.SpreadSLs].
func (s *pathSLs) Source(src uint16) int32 {
	if int(src) >= len(s.group) {
		return unlisted
	}
	return s.group[src]
}
