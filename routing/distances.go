// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
)

// Distances are the least hop counts between all switches of a subnet, a byte
// each. They are the [Hops] of unweighted min-hop routing.
type Distances struct {
	f     *fabric.Fabric
	graph *Graph
	n     int
	hops  []uint8

	// Bit d of row s of these says that switch s reaches switch d, and has the two
	// low bits of the distance: enough to say which of two neighbours is nearer.
	words           int
	known, low, mid []uint64
}

// NewDistances computes all distances by a breadth-first search from all switches at once: bit d of a switch's
// row says that it is known to reach switch d. O(diameter x links x switches / 64), on all processors.
func NewDistances(f *fabric.Fabric) *Distances { return NewGraph(f).Distances(f) }

// Distances are those of [NewDistances] of the fabric that the graph is of.
func (g *Graph) Distances(f *fabric.Fabric) *Distances {
	n := len(f.Switches)
	words := (n + 63) / 64
	d := &Distances{f: f, graph: g, n: n, words: words, hops: hugepages.Make[uint8](n * n)}
	d.known, d.low, d.mid = make([]uint64, n*words), make([]uint64, n*words), make([]uint64, n*words)
	for filled := copy(d.hops, []uint8{NoHops}); filled < len(d.hops); {
		filled += copy(d.hops[filled:], d.hops[:filled])
	}
	if words > len(line{}) {
		searchAll[line](d)
	} else {
		searchAll[half](d)
	}
	return d
}

// A strip is how many words of the rows are searched for together: a cache line, or where that leaves a processor
// idle half of one.
type (
	line = [8]uint64
	half = [4]uint64
)

func searchAll[strip line | half](d *Distances) {
	list, first := d.graph.neighbours()
	var s strip
	width := len(s)
	// Bits of different words never meet: each worker searches for its own strip.
	err := ForEach(context.Background(), (d.words+width-1)/width, nil, func(_, i int) {
		search[strip](d, i*width, list, first)
	})
	if err != nil {
		panic("routing: a context that never ends has ended: " + err.Error())
	}
}

// search finds the distances to the switches of the words from w0 on.
func search[strip line | half](d *Distances, w0 int, list []fabric.SwitchIndex, first []int32) {
	now, next := make([]strip, d.n), make([]strip, d.n)
	var all strip
	for s := w0 * 64; s < min((w0+len(all))*64, d.n); s++ {
		if d.f.SwitchNode(fabric.SwitchIndex(s)).InSubnet {
			now[s][s/64-w0] |= 1 << (s % 64)
			all[s/64-w0] |= 1 << (s % 64)
			d.hops[s*d.n+s] = 0
		}
	}
	for hop, grew := uint8(1), true; hop < NoHops && grew; hop++ {
		grew = false
		for s := range now {
			have := now[s]
			if have == all {
				next[s] = have
				continue
			}
			for _, nb := range list[first[s]:first[s+1]] {
				there := &now[nb]
				for w := range len(have) {
					have[w] |= (*there)[w]
				}
			}
			next[s] = have
			for w := range len(have) {
				if fresh := have[w] &^ now[s][w]; fresh != 0 {
					d.set(s, w0+w, fresh, hop)
					grew = true
				}
			}
		}
		now, next = next, now
	}
	for s := range now {
		for w := range min(len(all), d.words-w0) {
			d.known[s*d.words+w0+w] = now[s][w]
		}
	}
}

// set notes that switch s is hop away from the switches of one word.
func (d *Distances) set(s, word int, fresh uint64, hop uint8) {
	d.low[s*d.words+word] |= fresh & -uint64(hop&1)
	d.mid[s*d.words+word] |= fresh & -uint64(hop>>1&1)
	row := d.hops[s*d.n : (s+1)*d.n]
	for ; fresh != 0; fresh &= fresh - 1 {
		row[word*64+bits.TrailingZeros64(fresh)] = hop
	}
}

// Least implements [Hops].
func (d *Distances) Least(sw, dst fabric.SwitchIndex) uint8 { return d.hops[int(sw)*d.n+int(dst)] }

// Through implements [Hops]. Port 0 stands for the best port.
func (d *Distances) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	if port == 0 {
		return d.Least(sw, dst)
	}
	peer := d.f.PeerSwitch(d.f.Port(d.f.Switches[sw], port))
	if peer == fabric.None || peer == sw {
		return NoHops
	}
	if h := d.Least(peer, dst); h != NoHops {
		return h + 1
	}
	return NoHops
}

// From is the row of distances from one switch, indexed by switch. Read-only.
func (d *Distances) From(sw fabric.SwitchIndex) []uint8 { return d.hops[int(sw)*d.n : (int(sw)+1)*d.n] }

// LeastHopPorts finds, by switch, the ports of switch sw by which each switch is the fewest hops away. It
// fills sets, which must be as many as switches, and returns them. O(links of sw x switches / 64).
func (d *Distances) LeastHopPorts(sw fabric.SwitchIndex, sets PortSets) PortSets {
	sets.Clear()
	links := d.graph.Of(sw)
	var ports [64]uint64
	for w := range d.words {
		at := int(sw)*d.words + w
		known, low, mid := d.known[at], d.low[at], d.mid[at]
		for i := 0; i < len(links); {
			clear(ports[:])
			block := links[i].Port >> 6
			for ; i < len(links) && links[i].Port>>6 == block; i++ {
				peer := int(links[i].Peer)*d.words + w
				// Distances of neighbours differ by at most 1, so that two bits tell whether here less there is 1.
				odd := low ^ d.low[peer]
				ports[links[i].Port&63] = known & odd &^ (mid ^ d.mid[peer] ^ d.low[peer])
			}
			sets.PutByPort(w, block, &ports)
		}
	}
	return sets
}
