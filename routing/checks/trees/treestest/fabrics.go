// SPDX-License-Identifier: Apache-2.0

// Package treestest has helpers for tests of checks over whole fabrics. It makes random fabrics with correct or broken
// tables. For comparison it offers a simple walk of one pair at a time, and Debian's ibdmchk. It is for tests only.
package treestest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

// Made returns the fabric that spec describes in the notation of package gen, with LIDs.
func Made(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return withLIDs(t, f, 0)
}

func withLIDs(t testing.TB, f *fabric.Fabric, lmc uint8) *fabric.Fabric {
	t.Helper()
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
	if err != nil {
		t.Fatal(err)
	}
	return a.Fabric
}

// Minhop routes a fabric with minhop.
func Minhop(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	lmc := uint8(0)
	for _, e := range f.EndPorts {
		lmc = max(lmc, f.Ports[e].LMC)
	}
	r, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{LMC: lmc})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

// Routed returns the tables of minhop for the fabric that spec describes.
func Routed(t testing.TB, spec string) *fabric.Tables {
	t.Helper()
	return Minhop(t, Made(t, spec))
}

// Updn routes a fabric with updn. The root is the switch with most links.
func Updn(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	root := slices.MaxFunc(f.Switches, func(a, b fabric.NodeIndex) int { return linked(f, a) - linked(f, b) })
	r, err := updn.Engine{}.Route(context.Background(), f, routing.Options{RootGUIDs: []uint64{f.Nodes[root].GUID}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

func linked(f *fabric.Fabric, node fabric.NodeIndex) int {
	n := 0
	for p := range f.Nodes[node].Slots() {
		if f.PeerSwitch(p) != fabric.None {
			n++
		}
	}
	return n
}

// Random returns a small fabric of some shape, possibly irregular, with LIDs of an LMC up to 2.
func Random(t testing.TB, r *rand.Rand) *fabric.Fabric {
	t.Helper()
	lmc := uint8(max(0, r.IntN(5)-2))
	specs := []string{"fattree:2,4", "fattree:2,8", "fattree:3,4", "torus:3x3 hosts=2", "torus:4x4", "mesh:3x3,links=2",
		"hypercube:3", "dragonfly:2,2,1"}
	i := r.IntN(len(specs) + 4)
	if i < len(specs) {
		f, err := gen.ParseSpec(specs[i])
		if err != nil {
			t.Fatal(err)
		}
		return withLIDs(t, f, lmc)
	}
	return withLIDs(t, irregular(t, r, true), lmc)
}

// Irregular returns a connected fabric with random cables between random switches, one host on each switch, and LIDs.
func Irregular(t testing.TB, r *rand.Rand) *fabric.Fabric {
	t.Helper()
	return withLIDs(t, irregular(t, r, false), 0)
}

// irregular is like Irregular. If the argument odd is set, the fabric may include CAs with two ports and switches that
// are cabled to themselves.
func irregular(t testing.TB, r *rand.Rand, odd bool) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	free := map[fabric.NodeIndex]int{}
	add := func(n fabric.Node) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for p := range int(n.NumPorts) + 1 {
			if q := b.Port(i, p); q != nil {
				q.GUID = n.GUID
				if n.Type == mad.NodeCA {
					q.GUID += uint64(p)
				}
			}
		}
		free[i] = 1
		return i
	}
	connect := func(x, y fabric.NodeIndex) {
		p := free[x]
		free[x]++
		q := free[y]
		free[y]++
		if err := b.Connect(x, p, y, q); err != nil {
			t.Fatal(err)
		}
	}
	var switches, hosts []fabric.NodeIndex
	count := 2 + r.IntN(9)
	for i := range count {
		hosts = append(hosts,
			add(fabric.Node{GUID: uint64(0x100000 + 16*i), Desc: fmt.Sprintf("host-%02d", i), Type: mad.NodeCA,
				NumPorts: 2}))
	}
	for i := range count {
		switches = append(switches,
			add(fabric.Node{GUID: uint64(0x200000 + i), Desc: fmt.Sprintf("switch-%02d", i), Type: mad.NodeSwitch,
				NumPorts: 60}))
	}
	for i, sw := range switches {
		connect(hosts[i], sw)
		if i > 0 {
			connect(sw, switches[r.IntN(i)])
		}
	}
	for range r.IntN(2 * count) {
		if x, y := switches[r.IntN(count)], switches[r.IntN(count)]; odd || x != y {
			connect(x, y)
		}
	}
	for _, h := range hosts {
		if odd && r.IntN(3) == 0 {
			connect(h, switches[r.IntN(count)])
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Broken returns the tables with random entries, and sometimes with failed links, unread switches and tables that end
// early.
func Broken(r *rand.Rand, t *fabric.Tables, entries int) *fabric.Tables {
	c := *t
	c.LFT, c.Known, c.Top = t.LFT.Clone(), slices.Clone(t.Known), slices.Clone(t.Top)
	for range entries {
		sw := r.IntN(len(c.Known))
		n := int(t.Fabric.SwitchNode(fabric.SwitchIndex(sw)).NumPorts)
		entry := r.IntN(n + 2)
		if r.IntN(4) == 0 {
			entry = fabric.NoPath
		}
		c.LFT.Row(fabric.SwitchIndex(sw))[r.IntN(int(t.LFT.MaxLID)+1)] = uint8(entry)
	}
	if r.IntN(4) == 0 {
		c.Known[r.IntN(len(c.Known))] = false
	}
	if r.IntN(4) == 0 {
		c.Top[r.IntN(len(c.Top))] -= uint16(r.IntN(5))
	}
	if r.IntN(3) == 0 {
		links := t.Fabric.Links()
		r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		c.Fabric = t.Fabric.Without(links[:min(len(links), 1+r.IntN(2))])
	}
	return &c
}
