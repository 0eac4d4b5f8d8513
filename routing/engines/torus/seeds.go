// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
)

// seedsWritten is how many seeds a configuration gets where there is room: each survives failures at the others.
const seedsWritten = 3

// Config is a configuration by which OpenSM finds this torus. Its first seed is the
// one from which it was found, and the others share no switch with one another.
func (t *Torus) Config() *Config { return t.config(seedsWritten, false) }

// config has up to some seeds, which may share switches or not.
func (t *Torus) config(seeds int, shared bool) *Config {
	c := *t.conf
	c.Seeds = []Seed{t.seed}
	used := map[uint64]bool{}
	use := func(s Seed) {
		for d := range dims {
			for _, l := range []Link{s.Plus[d], s.Minus[d]} {
				if l.Given && !shared {
					used[l.From], used[l.To] = true, true
				}
			}
		}
	}
	use(t.seed)
	n := len(t.switches)
	for k := range n {
		// From the middle on, which is far from the origin.
		s := int32((k + n/2) % n)
		if seed, ok := t.seedAt(s, used); ok && len(c.Seeds) < seeds {
			c.Seeds = append(c.Seeds, seed)
			use(seed)
		}
	}
	return &c
}

// seedAt is the seed of a switch, false where one of its switches is missing or used.
func (t *Torus) seedAt(s int32, used map[uint64]bool) (seed Seed, ok bool) {
	at := t.switches[s].at
	for d := range dims {
		if t.Radix[d] == 1 {
			continue
		}
		seed.Dateline[d] = -int32(at[d])
		up, down := t.next(s, 2*d+1), t.next(s, 2*d)
		both := t.Radix[d] == 4 && !t.Mesh[d]
		if up == absent && down == absent || both && (up == absent || down == absent) {
			return seed, false
		}
		if up != absent {
			seed.Plus[d] = linkOf(t.f, t.switches[s].sw, t.switches[up].sw)
		}
		if down != absent && (both || up == absent) {
			seed.Minus[d] = linkOf(t.f, t.switches[s].sw, t.switches[down].sw)
		}
		for _, l := range []Link{seed.Plus[d], seed.Minus[d]} {
			if l.Given && (used[l.From] || used[l.To]) {
				return seed, false
			}
		}
	}
	return seed, true
}

func linkOf(f *fabric.Fabric, from, to fabric.SwitchIndex) Link {
	return osm.TorusLink{From: f.SwitchNode(from).GUID, To: f.SwitchNode(to).GUID, Given: true}
}
