// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing"
)

// rates assigns ranks to the rates that occur. The slowest rate has the lowest rank.
type rates struct {
	gbps  []float64
	codes []uint8
}

// full is the rank and the MTU that stand for no limit.
const (
	fullRank = 31
	fullMTU  = 7
)

func newRates(f *fabric.Fabric) *rates {
	r := &rates{}
	for i := range f.Ports {
		if g := f.Ports[i].Gbps(); g > 0 && !slices.Contains(r.gbps, g) {
			r.gbps = append(r.gbps, g)
		}
	}
	slices.Sort(r.gbps)
	r.gbps = r.gbps[:min(len(r.gbps), fullRank)]
	for _, g := range r.gbps {
		r.codes = append(r.codes, pathdb.RateCode(g))
	}
	return r
}

// rank returns the rank of a rate in Gb/s. The last rank also stands for all faster rates.
func (r *rates) rank(gbps float64) int {
	for i, g := range r.gbps {
		if g == gbps {
			return i
		}
	}
	return len(r.gbps) - 1
}

// code returns the code of a port's rate, or 0 if the rate is not known.
func (r *rates) code(p *fabric.Port) uint8 {
	if g := p.Gbps(); g > 0 {
		return r.codes[r.rank(g)]
	}
	return 0
}

// classes numbers the classes of paths in the order in which they occur. Paths of one class have the same rate, MTU,
// life time and SLs.
type classes struct {
	number map[uint32]uint16
	keys   []uint32
	// recent holds recently used keys and their numbers, indexed by a hash of the key.
	recent [256]struct {
		key    uint32
		number uint16
	}
	// plain holds, for each state, 1 + the number of its class without SLs.
	plain []uint16
}

func newClasses() *classes {
	return &classes{number: map[uint32]uint16{}, plain: make([]uint16, 1<<16)}
}

func (c *classes) add(key uint32) uint16 {
	recent := &c.recent[key*2654435769>>24]
	if recent.key == key && int(recent.number) < len(c.keys) && c.keys[recent.number] == key {
		return recent.number
	}
	n, ok := c.number[key]
	if !ok {
		n = uint16(len(c.keys))
		c.number[key] = n
		c.keys = append(c.keys, key)
	}
	recent.key, recent.number = key, n
	return n
}

// ofState returns the class number of a path with SL 0 and a state.
func (c *classes) ofState(s state) uint16 {
	if n := c.plain[s]; n != 0 {
		return n - 1
	}
	n := c.add(key(s, fabric.OneSL(0)))
	c.plain[s] = n + 1
	return n
}

func key(s state, sls fabric.SLRange) uint32 {
	if s >= unreached {
		return uint32(unreached)
	}
	return uint32(s) | uint32(sls.First)<<16 | uint32(sls.N)<<20
}

// classes merges the classes of all tiles, in the order of the tiles.
func (b *builder) classes() {
	all := newClasses()
	all.add(uint32(unreached))
	for i, c := range b.seen {
		to := make([]uint16, len(c.keys))
		for n, k := range c.keys {
			to[n] = all.add(k)
		}
		b.out.Records.Tile(i).Rename(func(v uint16) uint16 { return to[v] })
	}
	for _, k := range all.keys {
		b.out.Classes = append(b.out.Classes, b.class(k))
	}
}

func (b *builder) class(key uint32) pathdb.Class {
	s := state(key)
	if s >= unreached {
		return pathdb.Class{}
	}
	c := pathdb.Class{Hops: s.hops(), SL: uint8(key >> 16 & 0xf), Spread: uint8(key >> 20), Reaches: true}
	if r := s.rank(); r != fullRank {
		c.Rate = b.rates.codes[r]
	}
	if m := s.mtu(); m != fullMTU {
		c.MTU = m
	}
	return c
}

// walk fills the matrices, one tile at a time.
func (b *builder) walk(ctx context.Context) error {
	b.out.Records = pathdb.NewMatrix(len(b.rows), len(b.groups))
	if b.opt.Trace {
		b.out.Trace = pathdb.NewMatrix(len(b.f.Switches), len(b.groups))
	}
	b.distances = routing.NewDistances(b.f)
	if err := b.nearer(ctx); err != nil {
		return err
	}
	if b.opt.Trace || slices.Contains(b.near, false) {
		if err := b.gather(ctx); err != nil {
			return err
		}
	}
	b.seen = make([]*classes, b.out.Records.Tiles())
	workers := make([]*worker, routing.Workers())
	return routing.ForEach(ctx, len(b.seen), b.opt.Progress, func(n, i int) {
		if workers[n] == nil {
			workers[n] = newWorker(b)
		}
		b.seen[i] = newClasses()
		workers[n].tile(i)
	})
}
