// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"math/bits"

	"example.org/ibconsole/fabric"
)

// graph holds channels and their dependencies. Channel n is VL n%vls of the link that leaves by port n/vls.
type graph struct {
	f    *fabric.Fabric
	vls  int
	used []bool
	// rows holds, for each channel, the channels on which it depends. The channel leads to a switch; bit port*vls+VL of
	// its row is the channel that leaves this switch by the port. A row is nil if the channel has no dependencies.
	rows [][]uint64
}

func newGraph(f *fabric.Fabric, vls int) *graph {
	n := len(f.Ports) * vls
	return &graph{f: f, vls: vls, used: make([]bool, n), rows: make([][]uint64, n)}
}

func (g *graph) number(port fabric.PortIndex, vl uint8) int32 {
	return int32(port)*int32(g.vls) + int32(vl)
}

// depend makes one channel depend on the channel that leaves switch sw by a port and VL. The first channel must lead to
// sw.
func (g *graph) depend(from int32, sw fabric.SwitchIndex, out, vl uint8) {
	row := g.rows[from]
	if row == nil {
		ports := int(g.f.SwitchNode(sw).NumPorts) + 1
		row = make([]uint64, (ports*g.vls+63)/64)
		g.rows[from] = row
	}
	bit := int(out)*g.vls + int(vl)
	row[bit>>6] |= 1 << (bit & 63)
}

// dependAll makes one channel depend on the channels of a set of VLs of one port.
func (g *graph) dependAll(from int32, sw fabric.SwitchIndex, out uint8, vls uint16) {
	for ; vls != 0; vls &= vls - 1 {
		g.depend(from, sw, out, uint8(bits.TrailingZeros16(vls)))
	}
}

func (g *graph) merge(o *graph) {
	for c, used := range o.used {
		g.used[c] = g.used[c] || used
		switch {
		case g.rows[c] == nil:
			g.rows[c] = o.rows[c]
		case o.rows[c] != nil:
			for i, w := range o.rows[c] {
				g.rows[c][i] |= w
			}
		}
	}
}

// net is a graph in flat arrays. Its vertices are the channels in use, in ascending order.
type net struct {
	*graph
	channels []int32
	// to holds the edges of vertex 0, then those of vertex 1, and so on. first holds the index in to of the first edge
	// of each vertex, and then the length of to.
	to, first []int32
}

// net returns the graph in flat arrays and sets the counts of channels, VLs and dependencies in r.
func (g *graph) net(r *Result) *net {
	n := &net{graph: g, first: []int32{0}}
	vertex := make([]int32, len(g.used))
	seen := uint32(0)
	for c, used := range g.used {
		if used {
			vertex[c] = int32(len(n.channels))
			n.channels = append(n.channels, int32(c))
			seen |= 1 << (c % g.vls)
		}
	}
	for _, c := range n.channels {
		if g.rows[c] != nil {
			base := g.number(g.f.Nodes[g.f.PeerNode(fabric.PortIndex(c/int32(g.vls)))].FirstPort, 0)
			for i, w := range g.rows[c] {
				for ; w != 0; w &= w - 1 {
					n.to = append(n.to, vertex[base+int32(i*64+bits.TrailingZeros64(w))])
				}
			}
		}
		n.first = append(n.first, int32(len(n.to)))
	}
	r.Channels, r.Dependencies, r.VLs = len(n.channels), len(n.to), bits.OnesCount32(seen)
	return n
}

func (n *net) of(v int32) []int32 { return n.to[n.first[v]:n.first[v+1]] }

func (n *net) channel(v int32) Channel {
	c := n.channels[v]
	return Channel{Port: fabric.PortIndex(c / int32(n.vls)), VL: uint8(c % int32(n.vls))}
}

// dependencies returns the dependencies between successive vertices of a ring.
func (n *net) dependencies(ring []int32) []Dependency {
	var d []Dependency
	for i, v := range ring {
		d = append(d, Dependency{From: n.channel(v), To: n.channel(ring[(i+1)%len(ring)]), Src: fabric.None,
			Dst: fabric.None})
	}
	return d
}
