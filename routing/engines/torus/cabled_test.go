// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/engines/torus"
)

// shape describes a torus or mesh to be cabled.
type shape struct {
	radix [3]int
	open  [3]bool
	// links is the number of parallel links in a dimension, hosts the number of hosts of a switch. Both may be less if
	// ragged.
	links  [3]int
	hosts  int
	ragged bool
	// shuffled uses random GUIDs and port orders.
	shuffled bool
}

// cabled is a fabric with the switch at each place.
type cabled struct {
	shape
	t  *testing.T
	r  *rand.Rand
	f  *fabric.Fabric
	b  fabric.Builder
	at map[torus.Coordinates]fabric.NodeIndex // nodes
	// free are the unused ports of a node, used the GUIDs.
	free map[fabric.NodeIndex][]int
	used map[uint64]bool
	next uint64
}

// cable builds the fabric of a shape. The SM runs on the first host.
func cable(t *testing.T, r *rand.Rand, s shape) *cabled {
	t.Helper()
	c := &cabled{shape: s, t: t, r: r, at: map[torus.Coordinates]fabric.NodeIndex{}, free: map[fabric.NodeIndex][]int{},
		used: map[uint64]bool{}}
	var hosts []fabric.NodeIndex
	c.places(func(torus.Coordinates) {
		n := s.hosts
		if s.ragged {
			n = r.IntN(s.hosts + 1)
		}
		for range max(n, b2i(len(hosts) == 0)) {
			hosts = append(hosts, c.node(mad.NodeCA, 1))
		}
	})
	c.places(func(at torus.Coordinates) {
		c.at[at] = c.node(mad.NodeSwitch, s.hosts+2*(s.links[0]+s.links[1]+s.links[2])+r.IntN(3))
	})
	i := 0
	c.places(func(at torus.Coordinates) {
		for range s.hosts {
			if i < len(hosts) && (i == 0 || !s.ragged || r.IntN(3) > 0) {
				c.link(hosts[i], c.at[at])
				i++
			}
		}
	})
	for d := range 3 {
		c.places(func(at torus.Coordinates) {
			up := at
			up[d] = (at[d] + 1) % s.radix[d]
			if s.radix[d] == 1 || up[d] == 0 && (s.open[d] || s.radix[d] == 2) {
				return
			}
			for range s.links[d] - b2i(s.ragged && s.links[d] > 1 && r.IntN(3) == 0) {
				c.link(c.at[at], c.at[up])
			}
		})
	}
	return c
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// places visits the last dimension fastest, as fabric/gen numbers switches.
func (c *cabled) places(visit func(torus.Coordinates)) {
	for x := range c.radix[0] {
		for y := range c.radix[1] {
			for z := range c.radix[2] {
				visit(torus.Coordinates{x, y, z})
			}
		}
	}
}

func (c *cabled) guid(ports int) uint64 {
	if !c.shuffled {
		c.next += uint64(ports) + 1
		return 0x100000 + c.next
	}
	for {
		g := c.r.Uint64N(1<<40) << 8
		if g != 0 && !c.used[g] {
			c.used[g] = true
			return g
		}
	}
}

// node adds a node as ibsim reports it.
func (c *cabled) node(kind mad.NodeType, ports int) fabric.NodeIndex {
	g := c.guid(ports)
	n := fabric.Node{
		GUID: g, SystemGUID: g, Type: kind, NumPorts: uint8(ports), Desc: fmt.Sprintf("%c-%x", "?hsr"[kind], g),
	}
	n.EnhancedPort0 = kind == mad.NodeSwitch && c.shuffled && c.r.IntN(3) == 0
	i, err := c.b.AddNode(n)
	if err != nil {
		c.t.Fatal(err)
	}
	for p := range ports + 1 {
		q := c.b.Port(i, p)
		if q == nil {
			continue
		}
		q.VLCap, q.OperVLs, q.CapMask = 4, 4, uint32(mad.CapSLMapping)
		if kind != mad.NodeSwitch {
			q.GUID = g + uint64(p)
		}
		if p > 0 {
			c.free[i] = append(c.free[i], p)
		}
	}
	if free := c.free[i]; c.shuffled {
		c.r.Shuffle(len(free), func(a, b int) { free[a], free[b] = free[b], free[a] })
	}
	return i
}

func (c *cabled) link(a, b fabric.NodeIndex) {
	if len(c.free[a]) == 0 || len(c.free[b]) == 0 {
		return
	}
	take := func(n fabric.NodeIndex) int {
		p := c.free[n][0]
		c.free[n] = c.free[n][1:]
		return p
	}
	pa := take(a)
	if a == b && len(c.free[a]) == 0 {
		return
	}
	if err := c.b.Connect(a, pa, b, take(b)); err != nil {
		c.t.Fatal(err)
	}
}

// build finishes the cabling.
func (c *cabled) build() *fabric.Fabric {
	f, err := c.b.Build()
	if err != nil {
		c.t.Fatal(err)
	}
	c.f = f
	return f
}

// without returns the fabric without the links between two places, or without all links of one place if both are the
// same.
func (c *cabled) without(f *fabric.Fabric, a, b torus.Coordinates) *fabric.Fabric {
	var cut []fabric.Link
	for _, l := range f.Links() {
		x, y := f.Ports[l.A].Node, f.Ports[l.B].Node
		between := x == c.at[a] && y == c.at[b] || x == c.at[b] && y == c.at[a]
		if between || a == b && (x == c.at[a] || y == c.at[a]) {
			cut = append(cut, l)
		}
	}
	return f.Without(cut)
}

// direction returns the link of a seed from one place to a neighbour.
func (c *cabled) direction(from torus.Coordinates, d, by int) osm.TorusLink {
	to := from
	to[d] = (from[d] + by + c.radix[d]) % c.radix[d]
	return osm.TorusLink{From: c.b.Node(c.at[from]).GUID, To: c.b.Node(c.at[to]).GUID, Given: true}
}

// config returns a configuration with seeds at these places. The place at origin gets the coordinates 0,0,0.
func (c *cabled) config(origin torus.Coordinates, seeds ...torus.Coordinates) *osm.TorusConf {
	conf := &osm.TorusConf{GroupPorts: 16, MaxChanges: 32, Mesh: c.open}
	for d, n := range c.radix {
		conf.Radix[d] = uint32(n)
		conf.Mesh[d] = conf.Mesh[d] || n == 2
	}
	for _, at := range seeds {
		var s osm.TorusSeed
		for d, n := range c.radix {
			if n == 1 {
				continue
			}
			where := (at[d] - origin[d] + n) % n
			s.Dateline[d] = int32(-where)
			atTop, atBottom := conf.Mesh[d] && at[d] == n-1, conf.Mesh[d] && at[d] == 0
			both := n == 4 && !conf.Mesh[d]
			if both || !atTop && (atBottom || c.r.IntN(3) > 0) {
				s.Plus[d] = c.direction(at, d, 1)
			}
			if both || !s.Plus[d].Given || !atBottom && c.r.IntN(3) == 0 {
				s.Minus[d] = c.direction(at, d, -1)
			}
		}
		conf.Seeds = append(conf.Seeds, s)
	}
	return conf
}
