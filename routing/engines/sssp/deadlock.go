// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// Route implements [routing.Engine]. The tables are those of [Engine]. A pair of
// LIDs has the service level that OpenSM gives it; where OpenSM draws one of
// several by lot, each time it is asked, it is one of those. It refuses where the
// subnet has too few lanes, and what [Engine] refuses.
// Beside [Engine] O(switches with hosts x LIDs x hops), in memory too.
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
	if r.routers() > 0 {
		r.warnings = append(r.warnings, "what routers send takes lane 0 and can deadlock there")
	}
	res := r.result()
	res.Tables.SLs = d.serviceLevels(d.lanes)
	res.Tables.SL2VL = routing.LanePerSL(f, d.lanes)
	return res, nil
}

// deadlocks moves paths out of cycles into further lanes. Sources on one switch
// share their path to a LID, so that they move together; they are a unit.
type deadlocks struct {
	*router
	lanes  int // that the subnet has
	needed int
	// groups are sources that follow one another and hang on one switch, and dests
	// the LIDs that are sent to, in OpenSM's order.
	groups []group
	dests  []dest
	// spans are where the LIDs of each port stand in dests, and the end.
	spans []int32
	// laneOf is by unit: destination x groups + group.
	laneOf []uint8
	// pairs of LIDs in each lane, those on switches too.
	pairs []int64
	// everyone counts ports that map no service levels, too, which OpenSM leaves out.
	everyone bool
	path     []int32 // scratch
	// groupsOn are the groups by switch.
	groupsOn [][]int32
	upstream upstream
}

type group struct {
	sw   fabric.SwitchIndex
	lids int64
	// first and last are its first and last port in the list of targets.
	first, last int
}

type dest struct {
	lid uint16
	sw  fabric.SwitchIndex
	row int32 // of the router's ports
}

func newDeadlocks(r *router, everyone bool) *deadlocks {
	d := &deadlocks{router: r, needed: 1, everyone: everyone}
	lanes, known := routing.DataVLs(r.f, r.opt)
	if d.lanes = lanes; !known {
		d.lanes = 1
	}
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
			d.dests = append(d.dests, dest{t.lid + uint16(n), t.sw, int32(row - t.lids + n)})
		}
		if t.local == 0 {
			continue // what a switch sends itself is in no lane
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
	d.laneOf = make([]uint8, len(d.dests)*len(d.groups))
	return d
}

// mapsSLs reports whether a port maps service levels to lanes; OpenSM leaves out
// those that do not.
func mapsSLs(f *fabric.Fabric, end fabric.PortIndex) bool {
	return mad.CapabilityMask(f.Ports[end].CapMask)&mad.CapSLMapping != 0
}

// counts reports whether what a port sends, and what is sent to it, is in lanes.
func (d *deadlocks) counts(t *target) bool { return d.everyone || mapsSLs(d.f, t.end) }

// remove fills the first lane with all paths, and breaks its cycles at the edge
// with the fewest pairs, whose paths go to the next lane, and so on. OpenSM stops
// at the first cycle in the subnet's last lane; here the lanes are counted that it
// takes, up to all that a subnet can have.
func (d *deadlocks) remove(ctx context.Context) error {
	now, err := d.fill(ctx)
	if err != nil {
		return err
	}
	next := newLane(d.graph)
	for l := 0; len(now.seen) > 0; l++ {
		w := newWalker(now)
		if l == routing.MostDataVLs-1 {
			if w.cycle() != fabric.None {
				d.needed = routing.MostDataVLs + 1
			}
			break
		}
		for c := w.cycle(); c != fabric.None; c = w.cycle() {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.needed = l + 2
			from, edge := w.weakest(c)
			to := now.target[edge]
			now.cut(from, edge)
			if l == 0 {
				d.moveFirst(now, next, from, to)
				continue
			}
			d.move(now, next, edge, uint8(l))
		}
		now, next = next, now
		next.reset()
	}
	if d.needed > d.lanes {
		need := fmt.Sprint(d.needed)
		if d.needed > routing.MostDataVLs {
			need = fmt.Sprintf("more than %d", routing.MostDataVLs)
		}
		return &routing.RefusedError{
			Engine: d.name, Counted: d.lft,
			Reason: fmt.Sprintf("paths without deadlock need %s lanes; the subnet has %d", need, d.lanes),
		}
	}
	return nil
}

// portsTo are the ports by switch towards a destination.
func (d *deadlocks) portsTo(t *dest) []uint8 {
	return d.ports[int(t.row)*len(d.hosts) : (int(t.row)+1)*len(d.hosts)]
}

// follow finds the channels that a unit's packets take.
func (d *deadlocks) follow(unit uint32) {
	dest := &d.dests[int(unit)/len(d.groups)]
	ports, end := d.portsTo(dest), dest.sw
	sw := d.groups[int(unit)%len(d.groups)].sw
	d.path = d.path[:0]
	for sw != end {
		c := d.arc(sw, ports[sw])
		d.path = append(d.path, c)
		sw = d.graph.to[c]
	}
}

// move takes the paths over an edge from lane l to the next.
func (d *deadlocks) move(now, next *lane, edge int32, l uint8) {
	for u := now.firstUse[edge]; u != 0; u = now.uses[u].next {
		for _, unit := range now.uses[u].units[:now.uses[u].n] {
			if d.laneOf[unit] == l {
				d.moveUnit(now, next, unit, l)
			}
		}
	}
}

func (d *deadlocks) moveUnit(now, next *lane, unit uint32, l uint8) {
	d.follow(unit)
	lids := d.groups[int(unit)%len(d.groups)].lids
	now.remove(d.path, lids)
	next.add(d.path, unit, lids)
	d.laneOf[unit] = l + 1
	d.pairs[l] -= lids
	d.pairs[l+1] += lids
}

// serviceLevels spreads the lanes that are needed over as many as are given: a
// further lane goes to that with the most pairs for each that it has, and lanes
// move up to make room.
func (d *deadlocks) serviceLevels(lanes int) fabric.PathSLs {
	share := make([]uint8, d.needed)
	for l := range share {
		share[l] = 1
	}
	for range lanes - d.needed {
		fullest, most := 0, 0.0
		for l, n := range share {
			if each := float64(d.pairs[l]) / float64(n); each > most {
				fullest, most = l, each
			}
		}
		share[fullest]++
	}
	sl := &levels{groups: len(d.groups), laneOf: d.laneOf, share: share, group: make([]int32, int(d.f.MaxLID)+1), dest: make([]int32, int(d.f.MaxLID)+1)}
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

// levels are the service levels of pairs of LIDs.
type levels struct {
	groups      int
	laneOf      []uint8
	group, dest []int32 // by LID
	// A lane has share levels from first on.
	share, first []uint8
}

// SL implements [fabric.PathSLs]. Pairs whose lane has several levels are spread
// over them.
func (s *levels) SL(src, dst uint16) uint8 {
	first, n := s.Range(src, dst)
	return fabric.SpreadSL(first, n, src, dst)
}

// Range implements [fabric.SpreadSLs]: OpenSM draws one of the lane's levels for each
// path record (osm_ucast_dfsssp.c, get_dfsssp_sl).
func (s *levels) Range(src, dst uint16) (first, n uint8) {
	if int(src) >= len(s.group) || int(dst) >= len(s.dest) || s.group[src] == unlisted || s.dest[dst] == unlisted {
		return 0, 1
	}
	lane := uint8(0)
	if g := s.group[src]; g != switchItself {
		lane = s.laneOf[int(s.dest[dst])*s.groups+int(g)]
	}
	return s.first[lane], s.share[lane]
}

// Source implements [fabric.SpreadSLs].
func (s *levels) Source(src uint16) int32 {
	if int(src) >= len(s.group) {
		return unlisted
	}
	return s.group[src]
}
