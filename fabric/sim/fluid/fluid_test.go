// SPDX-License-Identifier: Apache-2.0

package fluid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric/sim/fluid"
	"example.org/ibconsole/internal/test/testenv"
)

// packets is a model of a network with single packets: each link has a buffer of some packets at its far end, in the
// order of arrival. A link sends at most one packet a slot, if the buffer has room. It serves the buffers that have a
// packet for it in turn.
type packets struct {
	*fluid.Net
	buffer  int
	queues  [][]packet // by link; after them, by source
	turn    []int      // by link: the queue that was served last
	sends   []float64  // tokens to send, at most one packet
	drains  []float64  // tokens of receivers
	arrives []float64  // tokens of flows
	source  map[int]int
	feeds   [][]int // by link: queues from which packets come
	moved   []int   // by flow: delivered packets
	waited  []int   // by link
	carried []int   // by link
}

type packet struct {
	flow, hop int // index of the next link in the path
	at        int // the slot in which it arrived
}

func newPackets(n *fluid.Net, buffer int) *packets {
	links := len(n.Capacity)
	p := &packets{Net: n, buffer: buffer, queues: make([][]packet, links), turn: make([]int, links),
		sends: make([]float64, links), drains: make([]float64, links), arrives: make([]float64, len(n.Flows)),
		source: map[int]int{}, feeds: make([][]int, links), moved: make([]int, len(n.Flows)),
		waited: make([]int, links), carried: make([]int, links)}
	fed := map[[2]int]bool{}
	for _, f := range n.Flows {
		from, known := p.source[f.Path[0]]
		if !known {
			from = len(p.queues)
			p.source[f.Path[0]] = from
			p.queues = append(p.queues, nil)
		}
		for _, l := range f.Path {
			if !fed[[2]int{from, l}] {
				fed[[2]int{from, l}] = true
				p.feeds[l] = append(p.feeds[l], from)
			}
			from = l
		}
	}
	return p
}

// most is the capacity of a link that sends a packet in each slot.
const most = 1.0

func (p *packets) step(slot int, count bool, r *rand.Rand) {
	full := map[int]bool{} // sources that generate no more
	for _, q := range p.source {
		full[q] = len(p.queues[q]) > 200
	}
	for i, f := range p.Flows {
		q := p.source[f.Path[0]]
		if full[q] {
			continue
		}
		p.arrives[i] += f.Demand / most * (0.5 + r.Float64())
		for p.arrives[i] >= 1 {
			p.arrives[i]--
			p.queues[q] = append(p.queues[q], packet{flow: i, at: slot - 1})
		}
	}
	for _, l := range r.Perm(len(p.Capacity)) {
		p.sends[l] = min(p.sends[l]+p.Capacity[l]/most, 2)
		p.drains[l] = min(p.drains[l]+p.Drain[l]/most, 2)
		if q := p.queues[l]; len(q) > 0 && q[0].hop == len(p.Flows[q[0].flow].Path) && q[0].at < slot &&
			p.drains[l] >= 1 {
			p.drains[l]--
			p.queues[l] = q[1:]
			if count {
				p.moved[q[0].flow]++
			}
		}
		if p.sends[l] >= 1 {
			p.send(l, slot, count)
		}
	}
}

func (p *packets) send(l, slot int, count bool) {
	for k := range p.feeds[l] {
		turn := (p.turn[l] + 1 + k) % len(p.feeds[l])
		from := p.feeds[l][turn]
		q := p.queues[from]
		if len(q) == 0 || q[0].at >= slot || q[0].hop >= len(p.Flows[q[0].flow].Path) ||
			p.Flows[q[0].flow].Path[q[0].hop] != l {
			continue
		}
		if len(p.queues[l]) >= p.buffer {
			if count {
				p.waited[l]++
			}
			return
		}
		p.sends[l]--
		p.turn[l] = turn
		p.queues[from] = q[1:]
		p.queues[l] = append(p.queues[l], packet{q[0].flow, q[0].hop + 1, slot})
		if count {
			p.carried[l]++
		}
		return
	}
}

// scene is a random network of switches with two tiers or a ring.
type scene struct {
	fluid.Net
	what string
}

func (s *scene) link(capacity float64) int {
	s.Capacity, s.Drain = append(s.Capacity, capacity), append(s.Drain, math.Inf(1))
	return len(s.Capacity) - 1
}

// tree returns a tree of two tiers with random flows, slow links and slow receivers.
func tree(r *rand.Rand) *scene {
	leaves, spines, hosts := 2+r.IntN(4), 1+r.IntN(3), 2+r.IntN(3)
	s := &scene{what: "tree"}
	up, down := map[[2]int]int{}, map[[2]int]int{}
	for a := range leaves {
		for b := range spines {
			up[[2]int{a, b}], down[[2]int{a, b}] = s.link(most), s.link(most)
			if r.IntN(8) == 0 {
				s.Capacity[up[[2]int{a, b}]] = 0.25
				s.what += ", slow link"
			}
		}
	}
	var out, in []int
	for range leaves * hosts {
		out, in = append(out, s.link(most)), append(in, s.link(most))
		if r.IntN(8) == 0 {
			s.Drain[in[len(in)-1]] = 0.2 + 0.4*r.Float64()
			s.what += ", slow receiver"
		}
	}
	targets := 1 + r.IntN(leaves*hosts)
	for src := range out {
		for range r.IntN(3) {
			dst := r.IntN(targets) // few targets: incast
			if src == dst {
				continue
			}
			path := []int{out[src]}
			if a, b := src/hosts, dst/hosts; a != b {
				spine := dst % spines
				path = append(path, up[[2]int{a, spine}], down[[2]int{b, spine}])
			}
			s.Flows = append(s.Flows, fluid.Flow{Path: append(path, in[dst]), Demand: 0.1 + 0.9*r.Float64()})
		}
	}
	return s
}

// ring returns a ring of switches, each with a host that sends to the host some switches further.
func ring(r *rand.Rand) *scene {
	n := 3 + r.IntN(6)
	hops, demand := 1+r.IntN(n-1), 0.2+0.8*r.Float64()
	s := &scene{what: fmt.Sprintf("ring of %d, %d hops, demand %.2f", n, hops, demand)}
	var around, out, in []int
	for range n {
		around, out, in = append(around, s.link(most)), append(out, s.link(most)), append(in, s.link(most))
	}
	for i := range n {
		path := []int{out[i]}
		for k := range hops {
			path = append(path, around[(i+k)%n])
		}
		s.Flows = append(s.Flows, fluid.Flow{Path: append(path, in[(i+hops)%n]), Demand: demand})
	}
	return s
}

// TestFluidAsPackets compares the fluid with the model of packets, on random networks. In 98 of 100 networks, the mean
// difference of the rates of flows and that of the waits of links is at most 0.1 of the capacity, and over all networks
// it is at most 0.02. The other networks are close to a deadlock or to the limit of a link.
func TestFluidAsPackets(t *testing.T) {
	r := testenv.Rand(t)
	var sum float64
	all, apart := testenv.Count(t, 60, 1000), 0
	for i := range all {
		s := tree(r)
		if i%4 == 3 {
			s = ring(r)
		}
		if len(s.Flows) == 0 {
			continue
		}
		got := fluid.Solve(&s.Net)
		p := newPackets(&s.Net, 8)
		const warm, slots = 10_000, 10_000
		for slot := range warm + slots {
			p.step(slot, slot >= warm, r)
		}
		var rates, waits, used float64
		for k := range s.Flows {
			rates += math.Abs(got.Flows[k]-float64(p.moved[k])/slots) / float64(len(s.Flows))
		}
		for l := range s.Capacity {
			if len(p.feeds[l]) > 0 {
				used++
				waits += math.Abs(got.Wait[l] - float64(p.waited[l])/slots)
			}
		}
		waits /= used
		if sum += rates + waits; rates > 0.1 || waits > 0.1 {
			apart++
			t.Logf("%d %s: rates differ by %.3f, waits by %.3f", i, s.what, rates, waits)
		}
	}
	if apart > (all+49)/50 || sum > 0.04*float64(all) {
		t.Errorf("%d of %d networks differ, the mean difference is %.3f", apart, all, sum/2/float64(all))
	}
}
