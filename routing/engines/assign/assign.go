// SPDX-License-Identifier: Apache-2.0

// Package assign computes forwarding tables from hop counts as OpenSM's min-hop family of engines does (osm_ucast_mgr.c
// and osm_switch.c of OpenSM 3.3.23). For each switch and each LID it takes one of the ports with the fewest hops: the
// least used port.
package assign

import (
	"context"
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Matrix holds hop counts, and the ports with the fewest hops.
type Matrix interface {
	routing.Hops
	// LeastHopPorts returns, for each destination switch, the ports of sw with the fewest hops to it. It fills scratch,
	// which must have enough words for the ports of sw, and returns scratch. It is safe for concurrent use.
	LeastHopPorts(sw fabric.SwitchIndex, scratch routing.PortSets) routing.PortSets
}

// Tables computes the forwarding tables of all switches of a subnet. If the argument dor is set, all routes to a LID
// leave a switch towards the neighbour at the first suitable port; only cables to that neighbour share the routes.
// Tables returns an error if an end port has no LID, and the error of ctx if ctx ends. O(switches x (switches + LIDs)).
func Tables(ctx context.Context, f *fabric.Fabric, m Matrix, opt *routing.Options, dor bool) (*fabric.LFT, error) {
	if err := routing.Check(f, opt); err != nil {
		return nil, err
	}
	p := newPlan(f, m, opt, dor)
	workers := make([]worker, routing.Workers())
	each := func(progress func(done, total int), work func(w *worker, sw fabric.SwitchIndex)) error {
		return routing.ForEach(ctx, len(f.Switches), progress, func(worker, s int) {
			work(&workers[worker], fabric.SwitchIndex(s))
		})
	}
	if opt.ScatterPorts != 0 {
		draws := make([]int, len(f.Switches))
		if err := each(nil, func(w *worker, s fabric.SwitchIndex) { draws[s] = w.countDraws(p, s) }); err != nil {
			return nil, err
		}
		p.seed(draws)
	}
	lft := fabric.BlankLFT(len(f.Switches), f.MaxLID)
	if err := each(opt.Progress, func(w *worker, s fabric.SwitchIndex) { w.assign(p, s, lft.Row(s)) }); err != nil {
		return nil, err
	}
	return lft, nil
}

// worker holds the assigners of one goroutine, indexed by the number of words in a set of ports.
type worker [len(routing.PortSet{}) + 1]switchAssigner

// switchAssigner is an [assigner] for switches whose port sets have a certain number of words.
type switchAssigner interface {
	begin(sw fabric.SwitchIndex)
	countDraws() int
	assign(row []byte)
}

func (w *worker) countDraws(p *plan, sw fabric.SwitchIndex) int {
	if !p.f.SwitchNode(sw).InSubnet {
		return 0
	}
	a := w.assignerFor(p, sw)
	a.begin(sw)
	return a.countDraws()
}

func (w *worker) assign(p *plan, sw fabric.SwitchIndex, row []byte) {
	if !p.f.SwitchNode(sw).InSubnet {
		fabric.FillNoPath(row)
		return
	}
	a := w.assignerFor(p, sw)
	a.begin(sw)
	a.assign(row)
}

func (w *worker) assignerFor(p *plan, sw fabric.SwitchIndex) switchAssigner {
	ports := p.f.SwitchNode(sw).NumPorts
	words := routing.PortSetWords(ports)
	if w[words] == nil {
		scratch := routing.NewPortSets(len(p.f.Switches), ports)
		switch words {
		case 1:
			w[words] = &assigner[[1]uint64]{plan: p, scratch: scratch}
		case 2:
			w[words] = &assigner[[2]uint64]{plan: p, scratch: scratch}
		default:
			w[words] = &assigner[[4]uint64]{plan: p, scratch: scratch}
		}
	}
	return w[words]
}

// assigner computes the forwarding table of one switch at a time. It is scratch memory for one goroutine.
type assigner[S set] struct {
	*plan
	balance[S]
	layout[S]
	narrow narrow
	random routing.Random
	sw     fabric.SwitchIndex
	// sets holds, for each destination switch, the least-hop ports as places in the search order.
	sets, scratch routing.PortSets
	// row is the table of the current switch. It is filled in the order of targets, and then copied as a whole.
	row []byte
	// Scratch memory for LIDs other than a port's first LID. found lists ports in the order of the search. forwarded
	// counts, for each port, the LIDs of a target that are routed by the port.
	found     [256]uint8
	forwarded [256]uint32
}

// begin starts a switch.
func (a *assigner[S]) begin(sw fabric.SwitchIndex) {
	a.sw = sw
	a.balance = balance[S]{}
	a.layout.turnTo(a.plan, sw)
	a.sets = a.LeastHopPorts(sw, a.scratch)
	clear(a.sets.Words(sw))
	if a.ordered {
		a.eachSet(a.places)
	}
	if a.dor && a.plain {
		a.keepTowards()
	}
	if a.opt.Counted != nil {
		a.countBefore()
	}
	if a.seeds != nil {
		a.random = a.seeds[sw]
	}
}

// eachSet replaces each set that is not empty by the result of change.
func (a *assigner[S]) eachSet(change func(S) S) {
	for d := range fabric.SwitchIndex(len(a.f.Switches)) {
		if ports := at[S](a.sets, d); !empty(ports) {
			ports = change(ports)
			for w := range a.sets.Words(d) {
				a.sets.Words(d)[w] = ports[w]
			}
		}
	}
}

// keepTowards reduces each set to the ports that may share the routes to a LID in dimension order routing.
func (a *assigner[S]) keepTowards() {
	sets, ok := a.sets.Single()
	if !ok {
		a.eachSet(a.towards)
		return
	}
	for d, set := range sets {
		sets[d] = set & a.sameNode[bits.TrailingZeros64(set)][0] // place 64 of a narrow switch has no ports
	}
}

// countBefore counts the routes of the tables in Options.Counted as uses of ports.
func (a *assigner[S]) countBefore() {
	for i := range a.runs {
		r := &a.runs[i]
		for _, t := range a.of(r) {
			for n := 0; r.counted && n < int(t.lids); n++ {
				if port := a.opt.Counted.Port(a.sw, t.lid+uint16(n)); int(port) < a.numPorts {
					a.count[a.placeOf[port]]++
				}
			}
		}
	}
}

// assign fills the row of the switch. Until the last step, the entries are places in the search order.
func (a *assigner[S]) assign(row []byte) {
	if a.row == nil {
		a.row = make([]byte, len(row))
	}
	fabric.FillNoPath(a.row)
	begin := 0
	if a.plain || a.keeping {
		if sets, ok := a.narrow.window(a.sets); ok {
			a.routeNarrow(sets)
			begin = 1
		}
	}
	for offset := begin; offset < a.most; offset++ {
		for i := range a.runs {
			a.route(&a.runs[i], offset)
		}
	}
	copy(row, a.row)
	if a.ordered {
		for lid, place := range row {
			row[lid] = a.portAt[place]
		}
	}
}

// route computes the entries for one LID of each target of a run. The argument offset is the position of the LID among
// the LIDs of the target.
func (a *assigner[S]) route(r *run, offset int) {
	ports := at[S](a.sets, r.sw)
	switch {
	case r.sw == a.sw:
		a.deliver(a.of(r), offset)
	case empty(ports):
	case offset > 0:
		a.laterLIDs(ports, r, offset)
	case a.plain:
		a.spread(ports, r)
	default:
		a.firstLIDs(ports, r)
	}
}

// deliver computes the entries for the end ports that are attached to the switch itself.
func (a *assigner[S]) deliver(targets []target, offset int) {
	for _, t := range targets {
		if offset < int(t.lids) {
			a.row[int(t.lid)+offset] = a.placeOf[t.local]
		}
	}
}

// towards returns the ports of a set that may share the routes to a LID in dimension order routing.
func (a *assigner[S]) towards(ports S) S {
	if a.dor {
		return and(ports, a.sameNode[first(ports)])
	}
	return ports
}

// firstLIDs computes the entries for the first LID of each target of a run. It supports all options.
func (a *assigner[S]) firstLIDs(ports S, r *run) {
	towards := a.towards(ports)
	for _, t := range a.of(r) {
		port, kept := a.kept(ports, t.lid)
		if !kept {
			a.use(towards)
			switch {
			case a.opt.ScatterPorts != 0 && t.scatter:
				port = nth(a.best, int(a.random.Next()%uint32(size(a.best))))
			case a.opt.PortShifting:
				port = firstFrom(a.best, nth(a.set, a.turn()))
			default:
				port = first(a.best)
			}
		}
		a.give(t.lid, port, r.counted)
	}
}

// kept returns the port of the switch's existing route to a LID. ok reports whether this route stays.
func (a *assigner[S]) kept(ports S, lid uint16) (port uint8, ok bool) {
	if a.opt.Existing == nil {
		return 0, false
	}
	now := a.opt.Existing.Port(a.sw, lid)
	if int(now) >= a.numPorts {
		return 0, false
	}
	port = a.placeOf[now]
	return port, has(ports, port)
}

// give writes an entry and counts it.
func (a *assigner[S]) give(lid uint16, port uint8, counted bool) {
	a.row[lid] = port
	if counted && !has(a.ignored, port) {
		a.take(port)
	}
}
