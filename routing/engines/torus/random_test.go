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

// largest limits the random fabrics, so that OpenSM is quick.
const largest = 150

func randomShape(r *rand.Rand) shape {
	for {
		s := shape{hosts: 1 + r.IntN(3), ragged: r.IntN(2) == 0, shuffled: r.IntN(3) > 0}
		places := 1
		for d := range 3 {
			s.radix[d] = []int{2, 3, 3, 4, 4, 5, 5, 6, 7}[r.IntN(9)]
			s.links[d] = []int{1, 1, 1, 2, 3}[r.IntN(5)]
			s.open[d] = r.IntN(4) == 0
		}
		if r.IntN(2) == 0 {
			s.radix[r.IntN(3)] = 1
		}
		for _, n := range s.radix {
			places *= n
		}
		if places <= largest {
			return s
		}
	}
}

// randomTrial returns a fabric with failures and a configuration.
func randomTrial(t *testing.T, r *rand.Rand) *trial {
	s := randomShape(r)
	c := cable(t, r, s)
	what := fmt.Sprintf("%+v", s)
	if r.IntN(8) == 0 {
		what += ", an extra cable"
		c.link(c.at[c.random(r)], c.at[c.random(r)])
	}
	if r.IntN(10) == 0 {
		what += ", an extra switch"
		n := c.node(mad.NodeSwitch, 4)
		c.link(n, c.at[c.random(r)])
		c.link(n, c.node(mad.NodeCA, 1))
	}
	f, damage := c.damaged(r, c.build())
	k := &trial{
		what: what + damage, f: f, maxOpVLs: 5, sl: []uint8{0, 0, 8}[r.IntN(3)], lmc: []uint8{0, 0, 0, 1, 2}[r.IntN(5)],
	}
	if r.IntN(4) == 0 {
		k.maxOpVLs = []uint8{1, 2, 2, 3, 3, 3, 4}[r.IntN(7)]
	}
	if k.maxOpVLs < 4 {
		k.sl = 0 // a second level needs VLs
	}
	k.noQoS = r.IntN(30) == 0
	k.conf = c.randomConfig(r)
	if found, err := torus.Recognise(t.Context(), f); err == nil && r.IntN(4) == 0 {
		k.what += ", recognised"
		k.conf = found
	}
	return k
}

func (c *cabled) random(r *rand.Rand) torus.Coordinates {
	var at torus.Coordinates
	for d := range at {
		at[d] = r.IntN(c.radix[d])
	}
	return at
}

// damaged returns a fabric with failures: links, one of parallel links, switches.
func (c *cabled) damaged(r *rand.Rand, f *fabric.Fabric) (*fabric.Fabric, string) {
	kill := func(at torus.Coordinates) { f = c.without(f, at, at) }
	home := f.PeerNode(f.SMPort)
	somewhere := func() torus.Coordinates {
		for {
			if at := c.random(r); c.at[at] != home {
				return at
			}
		}
	}
	switch r.IntN(12) {
	case 0, 1, 2:
		at := somewhere()
		kill(at)
		return f, fmt.Sprintf(", without switch %v", at)
	case 3, 4:
		at := somewhere()
		next := at
		next[2] = (at[2] + 1) % c.radix[2]
		if c.at[next] == home {
			return f, ""
		}
		kill(at)
		kill(next)
		return f, fmt.Sprintf(", without switches %v and %v", at, next)
	case 5:
		at, other := somewhere(), somewhere()
		kill(at)
		kill(other)
		return f, fmt.Sprintf(", without switches %v and %v", at, other)
	case 6, 7, 8:
		what := ""
		for range 1 + r.IntN(2) {
			at := c.random(r)
			up, d := at, r.IntN(3)
			up[d] = (at[d] + 1) % c.radix[d]
			if up != at {
				f = c.without(f, at, up)
				what += fmt.Sprintf(", without %v-%v", at, up)
			}
		}
		return f, what
	case 9:
		var cut []fabric.Link
		for _, l := range f.Links() {
			if l.A != f.SMPort && l.B != f.SMPort && r.IntN(60) == 0 {
				cut = append(cut, l)
			}
		}
		return f.Without(cut), ", without some links"
	}
	return f, ""
}

// randomConfig returns a configuration with some seeds. Some configurations do not fit.
func (c *cabled) randomConfig(r *rand.Rand) *osm.TorusConf {
	origin := c.random(r)
	for d := range origin {
		if c.open[d] || c.radix[d] <= 2 {
			origin[d] = 0
		}
	}
	var seeds []torus.Coordinates
	for range 1 + r.IntN(3) {
		seeds = append(seeds, c.random(r))
	}
	conf := c.config(origin, seeds...)
	if r.IntN(6) == 0 {
		conf.GroupPorts = uint32(2 + r.IntN(6))
	}
	if r.IntN(2) == 0 {
		for _, p := range r.Perm(c.hosts + 3)[:1+r.IntN(c.hosts+2)] {
			conf.PortOrder = append(conf.PortOrder, uint8(p))
		}
	}
	d := r.IntN(3)
	s := &conf.Seeds[r.IntN(len(conf.Seeds))]
	switch r.IntN(24) {
	case 0:
		conf.Mesh[d] = !conf.Mesh[d] || conf.Radix[d] == 2
	case 1:
		conf.Radix[d]++
	case 2:
		conf.Radix[d] = max(conf.Radix[d]-1, 1)
		for i := range conf.Seeds {
			conf.Seeds[i].Dateline[d] = 0
		}
		conf.Mesh[d] = conf.Mesh[d] || conf.Radix[d] == 2
	case 3:
		s.Plus[d] = osm.TorusLink{}
	case 4:
		s.Minus[d] = s.Plus[(d+1)%3]
	case 5:
		s.Plus[d] = osm.TorusLink{From: 1, To: 2, Given: true}
	case 6:
		if conf.Radix[d] > 2 {
			s.Dateline[d] = int32(r.IntN(int(conf.Radix[d])))
		}
	}
	return conf
}
