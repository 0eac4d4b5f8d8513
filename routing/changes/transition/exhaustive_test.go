// SPDX-License-Identifier: Apache-2.0

package transition_test

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/changes/transition"
)

// orders searches all orders of single entries by the definition: it settles after each entry, and follows all packets
// for each entry again. It is independent of the planner.
type orders struct {
	p       *pair
	changes []transition.Entry
	visited []bool
	hosts   []fabric.PortIndex
	tests   int
}

func newOrders(p *pair) *orders {
	o := &orders{p: p}
	f := p.after.Fabric
	for _, e := range p.after.Fabric.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			o.hosts = append(o.hosts, e)
		}
	}
	for s := range f.NumSwitches() {
		for lid := uint16(1); lid <= p.after.LFT.MaxLID; lid++ {
			if was, is := p.before.Port(s, lid), p.after.Port(s, lid); was != is {
				o.changes = append(o.changes, transition.Entry{Switch: s, LID: lid, Old: was, New: is})
			}
		}
	}
	return o
}

// exits returns the ports by which a switch may forward packets, if the entries of a set are new and one may be either.
func (o *orders) exits(s fabric.SwitchIndex, lid uint16, set, either int) []uint8 {
	for i, c := range o.changes {
		switch {
		case c.Switch != s || c.LID != lid:
		case i == either:
			return []uint8{c.Old, c.New}
		case set&(1<<i) != 0:
			return []uint8{c.New}
		default:
			return []uint8{c.Old}
		}
	}
	return []uint8{o.p.before.Port(s, lid)}
}

// safe reports whether an entry can change when the entries of a set have changed.
func (o *orders) safe(set, either int) bool {
	o.tests++
	f := o.p.after.Fabric
	deps := map[fabric.PortIndex]map[fabric.PortIndex]bool{}
	for _, dst := range o.hosts {
		lid := f.Ports[dst].LID
		done := map[[2]fabric.PortIndex]bool{}
		var follow func(at, by fabric.PortIndex, path map[fabric.NodeIndex]bool, kept bool) bool
		follow = func(at, by fabric.PortIndex, path map[fabric.NodeIndex]bool, kept bool) bool {
			node := f.Ports[at].Node
			if !f.Nodes[node].IsSwitch() {
				return !kept || at == dst
			}
			if path[node] {
				return !kept
			}
			if key := [2]fabric.PortIndex{at, by}; !kept {
				if done[key] {
					return true
				}
				done[key] = true
			}
			path[node] = true
			defer delete(path, node)
			for _, out := range o.exits(f.Nodes[node].Switch, lid, set, either) {
				port := f.PortAt(node, int(out))
				if out == 0 || port == fabric.None || f.Ports[port].Peer == fabric.None {
					if kept {
						return false
					}
					continue
				}
				next := by
				if f.PeerSwitch(port) != fabric.None {
					if by != fabric.None {
						if deps[by] == nil {
							deps[by] = map[fabric.PortIndex]bool{}
						}
						deps[by][port] = true
					}
					next = port
				}
				if !follow(f.Ports[port].Peer, next, path, kept) {
					return false
				}
			}
			return true
		}
		for _, src := range o.hosts {
			at := f.Ports[src].Peer
			if src == dst || at == fabric.None {
				continue
			}
			kept := o.connects(at, dst, 0) && o.connects(at, dst, 1<<len(o.changes)-1)
			if !follow(at, fabric.None, map[fabric.NodeIndex]bool{}, kept) {
				return false
			}
		}
	}
	// No ring: channels without a successor are taken away until none is left.
	for len(deps) > 0 {
		before := len(deps)
		for from, all := range deps {
			for to := range all {
				if deps[to] == nil {
					delete(all, to)
				}
			}
			if len(all) == 0 {
				delete(deps, from)
			}
		}
		if len(deps) == before {
			left := false
			for _, all := range deps {
				for to := range all {
					left = left || deps[to] == nil
				}
			}
			if !left {
				return false
			}
		}
	}
	return true
}

func (o *orders) connects(at, dst fabric.PortIndex, set int) bool {
	f := o.p.after.Fabric
	for range len(f.Switches) + 1 {
		if at == dst {
			return true
		}
		node := f.Ports[at].Node
		if !f.Nodes[node].IsSwitch() {
			return false
		}
		port := f.PortAt(node, int(o.exits(f.Nodes[node].Switch, f.Ports[dst].LID, set, -1)[0]))
		if port == fabric.None || f.Ports[port].Peer == fabric.None {
			return false
		}
		at = f.Ports[port].Peer
	}
	return at == dst
}

func (o *orders) search(set int) bool {
	if set == 1<<len(o.changes)-1 {
		return true
	}
	if o.visited == nil {
		o.visited = make([]bool, 1<<len(o.changes))
	}
	if o.visited[set] {
		return false
	}
	o.visited[set] = true
	for i := range o.changes {
		if set&(1<<i) == 0 && o.safe(set, i) && o.search(set|1<<i) {
			return true
		}
		if o.tests > 40000 {
			return false
		}
	}
	return false
}

// TestExhaustive compares with a search over all orders of single entries: the planner misses no order, and claims that
// there is none only if that is so.
func TestExhaustive(t *testing.T) {
	r := testenv.Rand(t)
	count := testenv.Count(t, 30, 600)
	specs := []string{"torus:4", "torus:5", "torus:6", "hypercube:3", "random:6,3,9,seed=%d", "random:8,3,12,seed=%d",
		"mesh:3x2", "mesh:3x3"}
	orderless, found, open := 0, 0, 0
	for n := 0; n < count; {
		spec := specs[r.IntN(len(specs))]
		if spec[0] == 'r' {
			spec = fmt.Sprintf(spec, r.IntN(30))
		}
		p := randomPair(t, r, "ring", spec, false)
		if p == nil {
			continue
		}
		most := 12
		if testenv.Full() {
			most = 20
		}
		o := newOrders(p)
		if len(o.changes) == 0 || len(o.changes) > most || hasRing(t, p.before) || hasRing(t, p.after) {
			continue
		}
		n++
		is := o.search(0)
		plan := checked(t, p, transition.Options{})
		switch {
		case is:
			found++
			if plan.Order != transition.Found {
				t.Errorf("%s, %s: %v, but there is an order of %d entries", spec, p.what, plan.Order, len(o.changes))
			}
		case o.tests > 40000:
			open++
		default:
			orderless++
			if plan.Order != transition.ProvedNone {
				t.Errorf("%s, %s: %v by %v, but there is no order of %d entries", spec, p.what, plan.Order, plan.Method,
					len(o.changes))
			}
		}
	}
	t.Logf("an order: %d, none: %d, not decided: %d", found, orderless, open)
}
