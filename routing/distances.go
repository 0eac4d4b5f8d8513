// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"context"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/hugepages"
)

// Distances holds the least hop counts between all switches of a subnet, one byte for each pair. They are the [Hops] of
// unweighted min-hop routing.
type Distances struct {
	f     *fabric.Fabric
	graph *Graph
	n     int
	hops  []uint8

	// known, low and mid have one bit for each pair of switches. Bit d of row s of known is set if switch s reaches
	// switch d. In low and mid, this bit is bit 0 and bit 1 of the distance. These two bits suffice to find which of
	// two neighbours is nearer.
	words           int
	known, low, mid []uint64
}

// NewDistances computes all distances by a breadth-first search from all switches at once. Bit d of a switch's row is
// set when the search knows that the switch reaches switch d. O(diameter x links x switches / 64) on all processors.
func NewDistances(f *fabric.Fabric) *Distances { return NewGraph(f).Distances(f) }

// Distances is like [NewDistances] for f, which must be the fabric of the graph.
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

// A strip is the words of a row that one search processes together. It is one cache line, or half of one if a processor
// would be idle otherwise.
type (
	line = [8]uint64
	half = [4]uint64
)

func searchAll[strip line | half](d *Distances) {
	list, first := d.graph.neighbours()
	var s strip
	width := len(s)
	// Bits of different words do not affect each other. Therefore each worker can search for its own strip.
	err := ForEach(context.Background(), (d.words+width-1)/width, nil, func(_, i int) {
		search[strip](d, i*width, list, first)
	})
	if err != nil {
		panic("routing: a context that never ends has ended: " + err.Error())
	}
}

// search finds the distances from all switches to the switches of one strip. w0 is the first word of the strip.
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

// set records that switch s has the distance hop from some switches, in one word of its row. The bits of these switches
// are set in the argument fresh.
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

// From returns the distances from switch sw, indexed by switch. The caller must not change the row.
func (d *Distances) From(sw fabric.SwitchIndex) []uint8 { return d.hops[int(sw)*d.n : (int(sw)+1)*d.n] }

// LeastHopPorts finds, for each destination switch, the ports of sw that have the fewest hops to this switch. It fills
// sets, one set for each destination, and returns the filled slice. O(links of sw x switches / 64).
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
				// Distances of neighbours differ by at most 1. Therefore two bits suffice to find whether the peer is
				// nearer.
				differ := low ^ d.low[peer]
				ports[links[i].Port&63] = known & differ &^ (mid ^ d.mid[peer] ^ d.low[peer])
			}
			sets.PutByPort(w, block, &ports)
		}
	}
	return sets
}

// ReducedDistances holds the distances between switches if some links are removed. It computes only rows that change.
// It is for one goroutine.
type ReducedDistances struct {
	whole   *Distances
	part    *Subgraph
	removed [][2]fabric.SwitchIndex
	rows    [][]uint8

	far     []bool
	levels  [][]fabric.SwitchIndex
	touched []fabric.SwitchIndex
}

// Without returns the distances without the links. Rows are computed when they are needed.
func (d *Distances) Without(links []fabric.Link) *ReducedDistances {
	x := &ReducedDistances{whole: d, part: d.graph.Without(d.f, links), rows: make([][]uint8, d.n),
		far:    make([]bool, d.n),
		levels: make([][]fabric.SwitchIndex, NoHops+1)}
	for _, l := range links {
		a, b := d.f.Nodes[d.f.Ports[l.A].Node].Switch, d.f.Nodes[d.f.Ports[l.B].Node].Switch
		if a != fabric.None && b != fabric.None {
			x.removed = append(x.removed, [2]fabric.SwitchIndex{a, b})
		}
	}
	return x
}

// From is like [Distances.From] without the removed links. The result farther reports whether any distance of the row
// increased. O(switches that are farther x their links).
func (x *ReducedDistances) From(sw fabric.SwitchIndex) (row []uint8, farther bool) {
	was := x.whole.From(sw)
	if x.rows[sw] == nil {
		x.rows[sw] = x.compute(was)
	}
	return x.rows[sw], &x.rows[sw][0] != &was[0]
}

func (x *ReducedDistances) compute(was []uint8) []uint8 {
	x.losePaths(was)
	if len(x.touched) == 0 {
		return was
	}
	row := slices.Clone(was)
	for _, s := range x.touched {
		row[s] = NoHops
	}
	for _, s := range x.touched {
		best := uint8(NoHops)
		for _, l := range x.part.Of(s) {
			if !x.far[l.Peer] && was[l.Peer] < NoHops-1 {
				best = min(best, was[l.Peer]+1)
			}
		}
		if best != NoHops {
			x.levels[best] = append(x.levels[best], s)
		}
	}
	for h := range x.levels[:NoHops] {
		for i := 0; i < len(x.levels[h]); i++ {
			s := x.levels[h][i]
			if row[s] != NoHops {
				continue
			}
			row[s] = uint8(h)
			for _, l := range x.part.Of(s) {
				if row[l.Peer] == NoHops && h+1 < NoHops {
					x.levels[h+1] = append(x.levels[h+1], l.Peer)
				}
			}
		}
		x.levels[h] = x.levels[h][:0]
	}
	for _, s := range x.touched {
		x.far[s] = false
	}
	return row
}

// losePaths finds the switches that have lost all neighbours on a shortest path.
func (x *ReducedDistances) losePaths(was []uint8) {
	x.touched = x.touched[:0]
	for _, l := range x.removed {
		for _, end := range [2][2]fabric.SwitchIndex{{l[0], l[1]}, {l[1], l[0]}} {
			if d := was[end[0]]; d != NoHops && d == was[end[1]]+1 {
				x.levels[d] = append(x.levels[d], end[0])
			}
		}
	}
	for h := range x.levels {
		for i := 0; i < len(x.levels[h]); i++ {
			s := x.levels[h][i]
			if x.far[s] || x.near(s, was) {
				continue
			}
			x.far[s] = true
			x.touched = append(x.touched, s)
			for _, l := range x.part.Of(s) {
				if d := was[l.Peer]; d != NoHops && d == was[s]+1 {
					x.levels[d] = append(x.levels[d], l.Peer)
				}
			}
		}
		x.levels[h] = x.levels[h][:0]
	}
}

// near reports whether a switch has a neighbour through which its distance stays the same.
func (x *ReducedDistances) near(s fabric.SwitchIndex, was []uint8) bool {
	for _, l := range x.part.Of(s) {
		if was[l.Peer] == was[s]-1 && !x.far[l.Peer] {
			return true
		}
	}
	return false
}
