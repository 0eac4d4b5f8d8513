// SPDX-License-Identifier: Apache-2.0

// Package congestion finds where congestion begins: from the load of ports, the time in which they waited for credits,
// and the traffic that the tables send from port to port.
//
// A port waits if it has data and no credit. It then waits for a port of the next switch to which its data go, and so
// on, up to a root. A root is full, or it waits although no further port waits. The ports that lead to a root are its
// tree. Flows that pass the tree but not the root are its victims.
package congestion

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/routing/components"
)

// Port is what was measured of a port in a period.
type Port struct {
	// Sent is the data that left the port, in bytes per second, and Load is its share of the data rate. Both are
	// [flows.Unknown] if they were not read or if a counter reached its maximum.
	Sent, Load float64
	// Wait is the share of time in which the port had data and no credit, [flows.Unknown] if it was not read. Relative
	// is set if the unit of the counter is not known; Wait is then the share for the smallest known unit.
	// AtLeast is set if the counter reached its maximum, so that the port waited longer.
	Wait              float64
	Relative, AtLeast bool
	// Reduced is set if the link is narrower or slower than both of its ends support, and Faulty if it has more bit
	// errors than [MaxErrorRate].
	Reduced, Faulty bool
}

// MaxErrorRate is the bit error rate that the InfiniBand specification permits.
const MaxErrorRate = 1e-12

const (
	// MinWait is the share of time from which on a port is a waiting port.
	MinWait = 0.05
	// Full is the load from which on a port is full.
	Full = 0.95
	// minShare is the share of the data of a port from which on a next port matters.
	minShare = 0.01
	// slowest is the share of the largest rate of any port into a next port from which on a port is limited by it. A
	// full port divides its rate evenly, so a port that gets much less does not wait for it.
	slowest = 0.7
	// idle is the load up to which a waiting port sends nothing.
	idle = 0.001
)

// Cause is the reason of a root.
type Cause string

// The causes.
const (
	Oversubscribed Cause = "oversubscribed link" // full
	SlowReceiver   Cause = "slow receiver"       // the port to a host waits and is not full
	BadCable       Cause = "bad cable"           // full or waiting, with reduced rate or errors
	Ring           Cause = "ring"                // ports that wait for each other
	Unknown        Cause = "unknown"
)

// Root is a place where congestion begins.
type Root struct {
	Ports []fabric.PortIndex // one, or those of a ring
	Cause Cause
	// Share is the part of the waiting of all ports that the root explains, from 0 to 1.
	Share float64
	// Tree holds the ports that wait for the root, directly or through others.
	Tree []fabric.PortIndex
	// Through holds the flows over the root, Victims those over the tree only, by index in the flows; the largest
	// first.
	Through, Victims []int
}

// Tree is the congestion of a period.
type Tree struct {
	Flows *flows.Flows
	// Waiting holds the ports that wait, in ascending order.
	Waiting []fabric.PortIndex
	// Roots holds the roots, the one with the largest share first.
	Roots []Root

	ports []Port
	next  map[fabric.PortIndex][]next
}

// next is a port to which another port leads.
type next struct {
	port  fabric.PortIndex
	bytes float64
}

// Waits reports whether the port is a waiting port.
func (p *Port) Waits() bool { return p.Wait >= MinWait }

// IsFull reports whether the port sends all that its link carries.
func (p *Port) IsFull() bool { return p.Load >= Full }

// Find returns the roots of waiting ports. The argument ports holds the measured values by port. The argument all
// estimates the flows of the period. The argument possible returns the ports to which the tables can send data from a
// port; it is called for ports that wait and send nothing.
func Find(all *flows.Flows, ports []Port, possible func(fabric.PortIndex) []fabric.PortIndex) *Tree {
	t := &Tree{Flows: all, ports: ports, next: map[fabric.PortIndex][]next{}}
	for p := range ports {
		if ports[p].Waits() {
			t.Waiting = append(t.Waiting, fabric.PortIndex(p))
		}
	}
	t.lead(possible)
	groups := t.groups()
	for _, g := range groups {
		if len(t.leaving(g)) == 0 {
			t.Roots = append(t.Roots, Root{Ports: g, Cause: t.cause(g)})
		}
	}
	t.explain(groups)
	for i := range t.Roots {
		t.users(&t.Roots[i])
	}
	slices.SortStableFunc(t.Roots, func(a, b Root) int { return cmp.Compare(b.Share, a.Share) })
	return t
}

// streams is the data that pass from port to port.
type streams struct {
	after map[fabric.PortIndex][]next  // by port
	sum   map[fabric.PortIndex]float64 // by port: of all next ports
	most  map[fabric.PortIndex]float64 // by next port: the largest of any port
}

func newStreams(all *flows.Flows) *streams {
	passes := map[[2]fabric.PortIndex]float64{}
	for i := range all.All {
		path := all.Path(i)
		for k := range len(path) - 1 {
			passes[[2]fabric.PortIndex{path[k], path[k+1]}] += all.All[i].Bytes
		}
	}
	s := &streams{map[fabric.PortIndex][]next{}, map[fabric.PortIndex]float64{}, map[fabric.PortIndex]float64{}}
	for pair, bytes := range passes {
		s.after[pair[0]] = append(s.after[pair[0]], next{pair[1], bytes})
		s.sum[pair[0]] += bytes
		s.most[pair[1]] = max(s.most[pair[1]], bytes)
	}
	for p := range s.after {
		slices.SortFunc(s.after[p], func(a, b next) int { return cmp.Compare(a.port, b.port) })
	}
	return s
}

// lead finds the next ports of waiting ports.
func (t *Tree) lead(possible func(fabric.PortIndex) []fabric.PortIndex) {
	s := newStreams(t.Flows)
	open := slices.Clone(t.Waiting)
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		if _, done := t.next[p]; done {
			continue
		}
		switch x := &t.ports[p]; {
		case x.IsFull(): // no further port limits it
			t.next[p] = nil
		case x.Waits() && x.Load >= 0 && x.Load <= idle && len(s.after[p]) == 0:
			t.next[p] = nil
			for _, n := range possible(p) {
				if t.ports[n].Waits() || t.ports[n].IsFull() {
					t.next[p] = append(t.next[p], next{n, 1})
				}
			}
		default:
			t.next[p] = t.limiting(p, s)
		}
		for _, n := range t.next[p] {
			open = append(open, n.port)
		}
	}
}

// limiting returns the next ports for which a port waits.
func (t *Tree) limiting(p fabric.PortIndex, s *streams) []next {
	var list, limited, faulty []next
	for _, n := range s.after[p] {
		x := &t.ports[n.port]
		switch {
		case n.bytes < minShare*s.sum[p]:
		case x.Waits() || x.IsFull():
			list = append(list, n)
			if n.bytes >= slowest*s.most[n.port] {
				limited = append(limited, n)
			}
		case x.Faulty: // which repeats packets: it is not full by its data, and need not wait for credits
			faulty = append(faulty, n)
		}
	}
	switch {
	case len(limited) > 0:
		return limited
	case len(list) > 0:
		return list
	}
	return faulty
}

// groups returns the ports of the trees in groups: a ring is a group of several ports. Each group comes after the
// groups to which it leads.
func (t *Tree) groups() [][]fabric.PortIndex {
	roots := make([]int32, len(t.Waiting))
	for i, p := range t.Waiting {
		roots[i] = int32(p)
	}
	part, count := components.Of(len(t.ports), roots, func(p int32) []int32 {
		to := make([]int32, len(t.next[fabric.PortIndex(p)]))
		for i, n := range t.next[fabric.PortIndex(p)] {
			to[i] = int32(n.port)
		}
		return to
	})
	groups := make([][]fabric.PortIndex, count)
	for p, g := range part {
		if g != components.None {
			groups[g] = append(groups[g], fabric.PortIndex(p))
		}
	}
	return groups
}

// leaving returns the next ports of a group that are outside of it. A ring that sends nothing does not wait for others.
func (t *Tree) leaving(group []fabric.PortIndex) []next {
	var list []next
	stuck := len(group) > 1
	for _, p := range group {
		stuck = stuck && t.ports[p].Load >= 0 && t.ports[p].Load <= idle
		for _, n := range t.next[p] {
			if !slices.Contains(group, n.port) {
				list = append(list, n)
			}
		}
	}
	if stuck {
		return nil
	}
	return list
}

func (t *Tree) cause(group []fabric.PortIndex) Cause {
	if len(group) > 1 {
		return Ring
	}
	f := t.Flows.Tables.Fabric
	x := &t.ports[group[0]]
	to := f.PeerNode(group[0])
	switch {
	case x.Reduced && (x.IsFull() || x.Waits()), x.Faulty:
		return BadCable
	case x.IsFull():
		return Oversubscribed
	case to != fabric.None && !f.Nodes[to].IsSwitch() && f.Nodes[f.Ports[group[0]].Node].IsSwitch():
		return SlowReceiver
	}
	return Unknown
}

// explain computes the shares and trees of the roots. A port passes its waiting on to its next ports, in proportion to
// the data that go there.
func (t *Tree) explain(groups [][]fabric.PortIndex) {
	rootOf := map[fabric.PortIndex]int{}
	for i := range t.Roots {
		rootOf[t.Roots[i].Ports[0]] = i
	}
	shares := map[fabric.PortIndex][]float64{}
	sum := 0.0
	for _, g := range groups {
		to := make([]float64, len(t.Roots))
		if i, isRoot := rootOf[g[0]]; isRoot {
			to[i] = 1
		} else {
			bytes := 0.0
			for _, n := range t.leaving(g) {
				bytes += n.bytes
				for i, s := range shares[n.port] {
					to[i] += n.bytes * s
				}
			}
			for i := range to {
				to[i] /= bytes
			}
		}
		for _, p := range g {
			shares[p] = to
			wait := max(0, t.ports[p].Wait)
			sum += wait
			for i, s := range to {
				t.Roots[i].Share += wait * s
				if s > 0 && !slices.Contains(t.Roots[i].Ports, p) {
					t.Roots[i].Tree = append(t.Roots[i].Tree, p)
				}
			}
		}
	}
	for i := range t.Roots {
		t.Roots[i].Share /= sum
		slices.Sort(t.Roots[i].Tree)
	}
}

// users finds the flows over a root and its victims.
func (t *Tree) users(r *Root) {
	root, tree := map[fabric.PortIndex]bool{}, map[fabric.PortIndex]bool{}
	for _, p := range r.Ports {
		root[p] = true
	}
	for _, p := range r.Tree {
		tree[p] = true
	}
	for i := range t.Flows.All {
		through, waits := false, false
		for _, p := range t.Flows.Path(i) {
			through, waits = through || root[p], waits || tree[p]
		}
		switch x := &t.Flows.All[i]; {
		case x.Bytes <= 0:
		case through:
			r.Through = append(r.Through, i)
		case waits:
			r.Victims = append(r.Victims, i)
		}
	}
	for _, list := range [][]int{r.Through, r.Victims} {
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(t.Flows.All[b].Bytes, t.Flows.All[a].Bytes)
		})
	}
}

// Possible returns a function for [Find]: the ports to which the tables send data for any host from a port.
func Possible(t *fabric.Tables) func(fabric.PortIndex) []fabric.PortIndex {
	f := t.Fabric
	return func(p fabric.PortIndex) []fabric.PortIndex {
		sw, here := f.PeerSwitch(p), f.Nodes[f.Ports[p].Node].Switch
		var ports []fabric.PortIndex
		if sw == fabric.None || !t.Known[sw] || here != fabric.None && !t.Known[here] {
			return nil
		}
		for _, e := range f.EndPorts {
			for k := range uint16(1) << f.Ports[e].LMC {
				lid := f.Ports[e].LID + k
				out := t.Port(sw, lid)
				if here != fabric.None && t.Port(here, lid) != f.Ports[p].Num || out == 0 || out == fabric.NoPath ||
					out > f.SwitchNode(sw).NumPorts {
					continue
				}
				ports = append(ports, f.SwitchNode(sw).FirstPort+fabric.PortIndex(out))
			}
		}
		slices.Sort(ports)
		return slices.Compact(ports)
	}
}
