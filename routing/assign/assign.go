// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// maxLMC is the highest LID mask control (IBA 1.2.1, 4.1.3).
const maxLMC = 7

// Matrix is what tables are made from: hop counts, and the ports that have the
// least.
type Matrix interface {
	routing.Hops
	// LeastHopPorts are, by switch, the ports of switch sw by which each switch is
	// the fewest hops away. It may fill and return scratch, or return sets of its
	// own, and may be called from several goroutines.
	LeastHopPorts(sw int32, scratch routing.PortSets) routing.PortSets
}

// Tables makes the forwarding tables of all switches of a subnet. With dor, all
// routes to a LID leave a switch towards the neighbour behind the first port that
// will do, and only cables to that neighbour share them. It fails where an end
// port has no LID, and with ctx's error where ctx ends first.
// O(switches x (switches + LIDs)).
func Tables(ctx context.Context, f *fabric.Fabric, m Matrix, opt *routing.Options, dor bool) (*fabric.LFT, error) {
	if err := check(f, opt); err != nil {
		return nil, err
	}
	p := newPlan(f, m, opt, dor)
	workers := make([]*assigner, routing.Workers())
	each := func(progress func(done, total int), work func(a *assigner, sw int32)) error {
		return routing.ForEach(ctx, len(f.Switches), progress, func(worker, s int) {
			if !f.SwitchNode(int32(s)).InSubnet {
				return
			}
			if workers[worker] == nil {
				workers[worker] = &assigner{plan: p, scratch: routing.NewPortSets(len(f.Switches), p.highest)}
			}
			workers[worker].begin(int32(s))
			work(workers[worker], int32(s))
		})
	}
	if opt.ScatterPorts != 0 {
		draws := make([]int, len(f.Switches))
		if err := each(nil, func(a *assigner, s int32) { draws[s] = a.countDraws() }); err != nil {
			return nil, err
		}
		p.seed(draws)
	}
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	err := each(opt.Progress, func(a *assigner, s int32) { a.assign(lft.Row(s)) })
	if err != nil {
		return nil, err
	}
	return lft, nil
}

func check(f *fabric.Fabric, opt *routing.Options) error {
	if opt.LMC > maxLMC {
		return fmt.Errorf("LMC %d, expected 0 to %d", opt.LMC, maxLMC)
	}
	if t := opt.Existing; t != nil && t.Switches() != len(f.Switches) {
		return fmt.Errorf("existing tables of %d switches, expected %d", t.Switches(), len(f.Switches))
	}
	for _, e := range f.EndPorts {
		if f.Ports[e].LID == 0 {
			return fmt.Errorf("%s has no LID", f.PortName(e))
		}
	}
	return nil
}

// assigner makes the forwarding table of one switch after the other. Its scratch
// memory belongs to one goroutine.
type assigner struct {
	*plan
	balance
	plainBalance
	layout
	random random
	sw     int32
	// sets are the places of the least-hop ports towards each switch.
	sets, scratch routing.PortSets
	row           []byte
	// shared is what towards returns.
	shared routing.PortSet
	// The rest is scratch of the choice of later LIDs: the ports in the order in
	// which they are looked at, and how many LIDs of a target they got.
	found     [256]uint8
	forwarded [256]uint32
}

// begin turns to a switch.
func (a *assigner) begin(sw int32) {
	a.sw = sw
	a.balance, a.plainBalance = balance{}, plainBalance{}
	a.layout.turnTo(a.plan, sw)
	a.sets = a.LeastHopPorts(sw, a.scratch)
	if a.ordered {
		for d := range int32(len(a.f.Switches)) {
			ports := a.sets.At(d)
			places := a.places(&ports)
			a.scratch.Put(d, &places)
		}
		a.sets = a.scratch
	}
	if a.seeds != nil {
		a.random = a.seeds[sw]
	}
}

// assign fills the row of the switch. While it does, entries are places in the
// search order.
func (a *assigner) assign(row []byte) {
	a.row = row
	for offset := range a.lids {
		for i := range a.runs {
			r := &a.runs[i]
			if r.sw == a.sw {
				a.deliver(r.targets, offset)
				continue
			}
			if a.plain && offset == 0 {
				a.spread(a.sets.Word(r.sw), r)
				continue
			}
			switch set := a.sets.At(r.sw); {
			case set.Empty():
			case offset > 0:
				a.laterLIDs(&set, r, offset)
			default:
				a.firstLIDs(&set, r)
			}
		}
	}
	if a.ordered {
		for lid, place := range row {
			row[lid] = a.portAt[place]
		}
	}
}

// deliver routes to what hangs on the switch itself.
func (a *assigner) deliver(targets []target, offset int) {
	for _, t := range targets {
		if offset < int(t.lids) {
			a.row[int(t.lid)+offset] = a.placeOf[t.local]
		}
	}
}

// towards are the ports of a set that may share the routes to a LID.
func (a *assigner) towards(set *routing.PortSet) *routing.PortSet {
	if !a.dor {
		return set
	}
	a.shared = set.And(&a.sameNode[set.First()])
	return &a.shared
}

// firstLIDs routes to the first LID of each target, with all options.
func (a *assigner) firstLIDs(set *routing.PortSet, r *run) {
	towards := a.towards(set)
	for _, t := range r.targets {
		port, kept := a.kept(set, t.lid)
		if !kept {
			a.use(towards)
			switch {
			case a.opt.ScatterPorts != 0 && t.scatter:
				port = a.best.Nth(int(a.random.next() % uint32(a.best.Len())))
			case a.opt.PortShifting:
				port = a.best.FirstFrom(a.set.Nth(a.turn()))
			default:
				port = a.best.First()
			}
		}
		a.give(t.lid, port, r.counted)
	}
}

// kept says whether the switch's present route to a LID stays.
func (a *assigner) kept(set *routing.PortSet, lid uint16) (port uint8, ok bool) {
	if a.opt.Existing == nil {
		return 0, false
	}
	now := a.opt.Existing.Port(a.sw, lid)
	if int(now) >= a.numPorts {
		return 0, false
	}
	port = a.placeOf[now]
	return port, set.Has(port)
}

// give writes an entry and counts it.
func (a *assigner) give(lid uint16, port uint8, counted bool) {
	a.row[lid] = port
	if counted && !a.ignored.Has(port) {
		a.take(port)
	}
}
