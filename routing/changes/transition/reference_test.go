// SPDX-License-Identifier: Apache-2.0

package transition_test

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/transition"
)

// channel is a VL of a link in the direction away from a switch port.
type channel struct {
	port fabric.PortIndex
	vl   uint8
}

// dependency is a pair of channels that packets take one after the other.
type dependency [2]channel

// verifier holds the values of all entries in each step.
type verifier struct {
	before, after *fabric.Tables
	steps         []transition.Step
	drained       map[uint16]bool
	written       map[entry][]write // in the order of the steps
	late          int               // the step in which the SL2VL tables change, or len(steps)
	hosts         []fabric.PortIndex
	ends          []fabric.PortIndex // of hosts and switches
}

type entry struct {
	sw  fabric.SwitchIndex
	lid uint16
}

type write struct {
	step int
	was  uint8
	is   uint8
}

// reference is verify.Check without multicast packets. It is slow and simple: it follows every packet through every
// step, O(LIDs x channels x steps²).
func reference(before, after *fabric.Tables, steps []transition.Step, drained []uint16) error {
	v := newReference(before, after, steps, drained)
	for i, step := range steps {
		for _, e := range step.Entries {
			k := entry{e.Switch, e.LID}
			if was := v.value(k); was != e.Old {
				return fmt.Errorf("step %d: LID %d at switch %d is %d, not %d", i, e.LID, e.Switch, was, e.Old)
			}
			v.written[k] = append(v.written[k], write{i, e.Old, e.New})
		}
		if step.SL2VL {
			v.late = i
		}
	}
	f := after.Fabric
	for s := range f.NumSwitches() {
		for lid := range max(before.LFT.MaxLID, after.LFT.MaxLID) + 1 {
			if want := after.Port(s, lid); after.Known[s] && lid > 0 && v.value(entry{s, lid}) != want {
				return fmt.Errorf("at the end LID %d at switch %d is not %d", lid, s, want)
			}
		}
	}
	return v.check()
}

func newReference(before, after *fabric.Tables, steps []transition.Step, drained []uint16) *verifier {
	v := &verifier{
		before: before, after: after, steps: steps, drained: map[uint16]bool{}, written: map[entry][]write{},
		late: len(steps),
	}
	for _, lid := range drained {
		v.drained[lid] = true
	}
	f := after.Fabric
	for _, p := range f.EndPorts {
		if !f.Reachable(p) || f.Ports[p].LID == 0 {
			continue
		}
		v.ends = append(v.ends, p)
		if !f.Nodes[f.Ports[p].Node].IsSwitch() {
			v.hosts = append(v.hosts, p)
		}
	}
	return v
}

// value returns the value of an entry after all writes so far.
func (v *verifier) value(k entry) uint8 {
	if w := v.written[k]; len(w) > 0 {
		return w[len(w)-1].is
	}
	return v.before.Port(k.sw, k.lid)
}

// inForce returns the values of an entry that may have effect in a step.
func (v *verifier) inForce(k entry, step int) []uint8 {
	is := v.before.Port(k.sw, k.lid)
	for _, w := range v.written[k] {
		switch {
		case w.step < step:
			is = w.is
		case w.step == step && w.is != is:
			return []uint8{is, w.is}
		}
	}
	return []uint8{is}
}

// mappings returns the SL2VL tables that may have effect in a step.
func (v *verifier) mappings(step int) []*fabric.SL2VL {
	old, new := v.before.SL2VL, v.after.SL2VL
	if old == nil {
		old = new
	}
	if new == nil {
		new = old
	}
	switch {
	case step < v.late:
		return []*fabric.SL2VL{old}
	case step > v.late:
		return []*fabric.SL2VL{new}
	}
	return []*fabric.SL2VL{old, new}
}

func (v *verifier) check() error {
	old := v.dependencies(-1, -1)
	new := v.dependencies(len(v.steps), len(v.steps))
	first := 0
	for i := range v.steps {
		if i < len(v.steps)-1 && !v.steps[i].Settle {
			continue // the next step has all of its dependencies
		}
		if ring := mixedRing(v.dependencies(first, i), old, new); ring != nil {
			return fmt.Errorf("steps %d to %d have a ring of %d dependencies", first, i, len(ring))
		}
		if err := v.delivery(first, i); err != nil {
			return err
		}
		first = i + 1
	}
	return nil
}

func (v *verifier) peer(port fabric.PortIndex) fabric.PortIndex {
	if p := v.before.Fabric.Ports[port].Peer; p != fabric.None {
		return p
	}
	return v.after.Fabric.Ports[port].Peer
}

// forward returns the channels by which a packet may leave the switch of a port by which it entered. The packet leaves
// for a switch, or it ends: at a port or nowhere.
func (v *verifier) forward(in fabric.PortIndex, lid uint16, sl uint8, step int) (channels []channel) {
	f := v.before.Fabric
	node := f.Ports[in].Node
	n := &f.Nodes[node]
	for _, out := range v.inForce(entry{n.Switch, lid}, step) {
		if int(out) > int(n.NumPorts) || out == 0 {
			continue
		}
		port := n.FirstPort + fabric.PortIndex(out)
		if p := v.peer(port); p == fabric.None || !f.Nodes[f.Ports[p].Node].IsSwitch() {
			continue
		}
		for _, m := range v.mappings(step) {
			vl := uint8(0)
			if m != nil {
				vl = m.VL(node, uint8(in-n.FirstPort), out, sl)
			}
			if vl != fabric.DropVL {
				channels = append(channels, channel{port, vl})
			}
		}
	}
	return channels
}

// dependencies returns the dependencies of all packets in the steps first to last, between which nothing settles.
func (v *verifier) dependencies(first, last int) map[dependency]bool {
	type place struct {
		c     channel
		since int
	}
	f, found := v.after.Fabric, map[dependency]bool{}
	for _, dst := range v.hosts {
		for lid := f.Ports[dst].LID; lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
			for sl := range uint8(16) {
				seen := map[place]bool{}
				var todo []place
				come := func(c channel, step int) {
					if p := (place{c, step}); !seen[p] {
						seen[p] = true
						todo = append(todo, p)
					}
				}
				for _, src := range v.hosts {
					at := v.peer(src)
					from := f.Ports[src].LID
					if src == dst || at == fabric.None || !f.Nodes[f.Ports[at].Node].IsSwitch() ||
						!v.before.MayHaveSL(from, lid, sl) && !v.after.MayHaveSL(from, lid, sl) {
						continue
					}
					for j := first; j <= last; j++ {
						for _, c := range v.forward(at, lid, sl, j) {
							come(c, j)
						}
					}
				}
				for len(todo) > 0 {
					p := todo[len(todo)-1]
					todo = todo[:len(todo)-1]
					for k := p.since; k <= last; k++ {
						for _, c := range v.forward(v.peer(p.c.port), lid, sl, k) {
							found[dependency{p.c, c}] = true
							come(c, k)
						}
					}
				}
				if v.before.SL2VL == nil && v.after.SL2VL == nil && v.before.SLs == nil && v.after.SLs == nil {
					break // the SL does not matter
				}
			}
		}
	}
	return found
}

// mixedRing returns dependencies on rings of which neither old nor new has all, or nil. It takes each group of channels
// that reach one another as a ring.
func mixedRing(deps, old, new map[dependency]bool) []dependency {
	forward, backward := map[channel][]channel{}, map[channel][]channel{}
	for d := range deps {
		forward[d[0]] = append(forward[d[0]], d[1])
		backward[d[1]] = append(backward[d[1]], d[0])
	}
	group := map[channel]channel{}
	var order []channel
	seen := map[channel]bool{}
	var descend func(c channel)
	descend = func(c channel) {
		seen[c] = true
		for _, to := range forward[c] {
			if !seen[to] {
				descend(to)
			}
		}
		order = append(order, c)
	}
	for c := range forward {
		if !seen[c] {
			descend(c)
		}
	}
	var gather func(c, leader channel)
	gather = func(c, leader channel) {
		group[c] = leader
		for _, from := range backward[c] {
			if _, known := group[from]; !known {
				gather(from, leader)
			}
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		if _, known := group[order[i]]; !known {
			gather(order[i], order[i])
		}
	}
	rings := map[channel][]dependency{}
	for d := range deps {
		if group[d[0]] == group[d[1]] {
			rings[group[d[0]]] = append(rings[group[d[0]]], d)
		}
	}
	for _, ring := range rings {
		all := func(of map[dependency]bool) bool {
			for _, d := range ring {
				if !of[d] {
					return false
				}
			}
			return true
		}
		if !all(old) && !all(new) {
			return ring
		}
	}
	return nil
}

// delivery follows the packets of hosts to all ends that both tables connect.
func (v *verifier) delivery(first, last int) error {
	f := v.after.Fabric
	type place struct {
		in   fabric.PortIndex
		step int
	}
	for _, dst := range v.ends {
		for lid := f.Ports[dst].LID; lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
			if v.drained[lid] {
				continue
			}
			state := map[place]int{}
			const underway, fine = 1, 2
			var follow func(p place) error
			follow = func(p place) error {
				node := f.Ports[p.in].Node
				if !f.Nodes[node].IsSwitch() {
					if p.in != dst {
						return fmt.Errorf("step %d: a packet to LID %d ends at another port", p.step, lid)
					}
					return nil
				}
				p.in = f.Nodes[node].FirstPort // a switch forwards all packets to a LID alike
				switch state[p] {
				case underway:
					return fmt.Errorf("step %d: a packet to LID %d comes to %s again", p.step, lid, f.NodeName(node))
				case fine:
					return nil
				}
				state[p] = underway
				for k := p.step; k <= last; k++ {
					for _, out := range v.inForce(entry{f.Nodes[node].Switch, lid}, k) {
						port := f.PortAt(node, int(out))
						if port == dst {
							continue
						}
						if out == 0 || port == fabric.None || v.peer(port) == fabric.None {
							return fmt.Errorf("step %d: a packet to LID %d is lost at %s", k, lid, f.NodeName(node))
						}
						if err := follow(place{v.peer(port), k}); err != nil {
							return err
						}
					}
				}
				state[p] = fine
				return nil
			}
			for _, src := range v.hosts {
				at := v.peer(src)
				if src == dst || at == fabric.None || !v.connects(v.before, at, dst, lid) ||
					!v.connects(v.after, at, dst, lid) {
					continue
				}
				for j := first; j <= last; j++ {
					if err := follow(place{at, j}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// connects reports whether tables forward packets from a port by which they enter to the port dst.
func (v *verifier) connects(t *fabric.Tables, at, dst fabric.PortIndex, lid uint16) bool {
	f := t.Fabric
	for range len(f.Switches) + 1 {
		node := f.Ports[at].Node
		if at == dst {
			return true
		}
		if !f.Nodes[node].IsSwitch() {
			return false
		}
		out := f.PortAt(node, int(t.Port(f.Nodes[node].Switch, lid)))
		if out == dst {
			return true
		}
		if out == fabric.None || out == f.Nodes[node].FirstPort || v.peer(out) == fabric.None {
			return false
		}
		at = v.peer(out)
	}
	return at == dst
}
