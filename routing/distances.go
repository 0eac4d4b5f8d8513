// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"math/bits"

	"example.org/ibconsole/fabric"
)

// Distances are the least hop counts between all switches of a subnet, a byte
// each. They are the [Hops] of unweighted min-hop routing.
type Distances struct {
	f    *fabric.Fabric
	n    int
	hops []uint8
}

// NewDistances computes all distances by a breadth-first search from all
// switches at once: bit d of a switch's row says that it is known to reach
// switch d. O(diameter x links x switches / 64).
func NewDistances(f *fabric.Fabric) *Distances {
	n := len(f.Switches)
	d := &Distances{f: f, n: n, hops: make([]uint8, n*n)}
	for i := range d.hops {
		d.hops[i] = NoHops
	}
	neighbours := SwitchNeighbours(f)
	words := (n + 63) / 64
	known, next := make([]uint64, n*words), make([]uint64, n*words)
	for s := range n {
		if f.SwitchNode(int32(s)).InSubnet {
			known[s*words+s/64] |= 1 << (s % 64)
			d.hops[s*n+s] = 0
		}
	}
	for hop := uint8(1); hop < NoHops; hop++ {
		grew := false
		for s := range n {
			now, then := next[s*words:(s+1)*words], known[s*words:(s+1)*words]
			copy(now, then)
			for _, nb := range neighbours[s] {
				for w, b := range known[int(nb)*words : (int(nb)+1)*words] {
					now[w] |= b
				}
			}
			row := d.hops[s*n : (s+1)*n]
			for w := range now {
				for fresh := now[w] &^ then[w]; fresh != 0; fresh &= fresh - 1 {
					row[w*64+bits.TrailingZeros64(fresh)] = hop
					grew = true
				}
			}
		}
		if !grew {
			break
		}
		known, next = next, known
	}
	return d
}

// Least implements [Hops].
func (d *Distances) Least(sw, dst int32) uint8 { return d.hops[int(sw)*d.n+int(dst)] }

// Through implements [Hops]. Port 0 stands for the best port.
func (d *Distances) Through(sw int32, port uint8, dst int32) uint8 {
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
func (d *Distances) From(sw int32) []uint8 { return d.hops[int(sw)*d.n : (int(sw)+1)*d.n] }

// SwitchNeighbours lists for each switch the other switches it is linked to,
// each once, in the order of the first port that leads there.
func SwitchNeighbours(f *fabric.Fabric) [][]int32 {
	out := make([][]int32, len(f.Switches))
	met := make([]int32, len(f.Switches))
	for s := range f.Switches {
		n := f.SwitchNode(int32(s))
		if !n.InSubnet {
			continue
		}
		for p := n.FirstPort + 1; p <= n.FirstPort+int32(n.NumPorts); p++ {
			peer := f.PeerSwitch(p)
			if peer == fabric.None || peer == int32(s) || met[peer] == int32(s)+1 {
				continue
			}
			met[peer] = int32(s) + 1
			out[s] = append(out[s], peer)
		}
	}
	return out
}
