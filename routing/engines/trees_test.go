// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// Limits of random trees.
const (
	mostTreeSwitches = 90
	mostTreeHosts    = 200
)

// randomTree returns a fat-tree, every third complete, the others changed as in practice: with missing links and
// switches, uneven, with hosts on upper switches, with adapters of two ports, with links between switches of one rank.
func randomTree(t *testing.T, r *rand.Rand, i int) (string, *fabric.Fabric) {
	for {
		spec := treeSpec(r, i)
		f, err := gen.ParseSpec(spec)
		if err != nil || len(f.Switches) > mostTreeSwitches || len(f.Nodes)-len(f.Switches) > mostTreeHosts ||
			len(f.Switches) < 2 {
			continue
		}
		g := &grafter{t: t, r: r, from: f, what: spec, whole: i%3 == 0}
		if f = g.grow(); len(f.Switches) > 0 && (f.SwitchNode(0).InSubnet || len(f.EndPorts) > 2) {
			return g.what, f
		}
	}
}

// treeSpec returns a full fat-tree, a k-ary n-tree, an XGFT or Bull's topology in turn.
func treeSpec(r *rand.Rand, i int) string {
	switch i % 5 {
	case 0:
		return fmt.Sprintf("fattree:%d,%d", 2+r.IntN(2), 4+2*r.IntN(4))
	case 1:
		n := 2 + r.IntN(4)
		k := fmt.Sprintf(",%d", 2+r.IntN(4))
		return fmt.Sprintf("xgft:%d%s,1%s", n, strings.Repeat(k, n), strings.Repeat(k, n-1))
	case 2:
		sets := 1 + r.IntN(4)
		return fmt.Sprintf("bull:%d,%d,hosts=%d,planes=%d,up=%d,services=%d,rows=%d,l3=%d,top=%d", sets, 1+r.IntN(5),
			1+r.IntN(4),
			1+r.IntN(4), 1+r.IntN(3), r.IntN(3), 1+r.IntN(sets), 1+r.IntN(3), 1+r.IntN(2))
	}
	return xgftSpec(r)
}

func xgftSpec(r *rand.Rand) string {
	levels := 2 + r.IntN(4)
	if r.IntN(12) == 0 {
		levels = 1 + r.IntN(7)
	}
	spec := fmt.Sprintf("xgft:%d", levels)
	for level := range levels {
		n := 1 + r.IntN(4)
		if level == levels-1 {
			n++
		}
		spec += fmt.Sprintf(",%d", n)
	}
	for bundles := range 2 {
		if bundles == 1 && r.IntN(3) > 0 {
			break // single links
		}
		spec += ",1" // one plane, one link to each host
		for range levels - 1 {
			spec += fmt.Sprintf(",%d", 1+r.IntN(3))
		}
	}
	return spec
}

// grafter makes a changed copy of a fabric.
type grafter struct {
	t    *testing.T
	r    *rand.Rand
	from *fabric.Fabric
	what string
	// whole changes nothing except GUIDs.
	whole bool

	b     fabric.Builder
	guids map[uint64]bool
	// spare are the free ports of switches.
	spare map[fabric.NodeIndex][]int
}

func (g *grafter) grow() *fabric.Fabric {
	r := g.r
	change := func(name string, odds int) bool {
		yes := !g.whole && r.IntN(odds) == 0
		if yes {
			g.what += " " + name
		}
		return yes
	}
	shuffled := r.IntN(2) == 0
	if shuffled {
		g.what += " shuffled"
	}
	g.guids, g.spare = map[uint64]bool{}, map[fabric.NodeIndex][]int{}
	g.copyNodes(shuffled)
	missing := failures{nodes: map[fabric.NodeIndex]bool{}, links: map[fabric.Link]bool{}}
	if change("damaged", 2) {
		missing.draw(r, g.from, 1+r.IntN(mostFailures))
	}
	if change("uneven", 6) {
		missing.oddsOfLink = 3 + r.IntN(30)
	}
	if change("sparse", 3) {
		missing.oddsOfHost = 2 + r.IntN(5)
	}
	g.copyLinks(&missing)
	switches := g.from.Switches
	one := func() fabric.NodeIndex { return switches[r.IntN(len(switches))] }
	if change("hosts anywhere", 3) {
		for range 1 + r.IntN(6) {
			g.host(mad.NodeCA, one())
		}
	}
	if change("two ports", 6) {
		for range 1 + r.IntN(4) {
			g.host(mad.NodeCA, one(), one())
		}
	}
	if change("routers", 12) {
		for range 1 + r.IntN(2) {
			g.host(mad.NodeRouter, one())
		}
	}
	if change("cross links", 6) {
		for range 1 + r.IntN(4) {
			g.link(one(), one())
		}
	}
	f, err := g.b.Build()
	if err != nil {
		g.t.Fatal(err)
	}
	return f
}

func (g *grafter) copyNodes(shuffled bool) {
	for i := range g.from.Nodes {
		n := g.from.Nodes[i]
		ports := int(n.NumPorts)
		if shuffled {
			n.GUID = g.guid()
			n.SystemGUID = n.GUID
		}
		g.guids[n.GUID] = true
		if n.IsSwitch() {
			n.NumPorts += uint8(g.r.IntN(7))
			n.EnhancedPort0 = g.r.IntN(4) == 0
		}
		k := g.add(n)
		for p := ports + 1; p <= int(n.NumPorts); p++ {
			g.spare[k] = append(g.spare[k], p)
		}
	}
}

func (g *grafter) add(n fabric.Node) fabric.NodeIndex {
	k, err := g.b.AddNode(n)
	if err != nil {
		g.t.Fatal(err)
	}
	for p := 1; p <= int(n.NumPorts) && !n.IsSwitch(); p++ {
		g.b.Port(k, p).GUID = n.GUID + uint64(p)
	}
	return k
}

func (g *grafter) guid() uint64 {
	for {
		if n := 0x2c90300000000 | g.r.Uint64N(1<<16)<<8; !g.guids[n] {
			g.guids[n] = true
			return n
		}
	}
}

// failures are missing nodes and links. One in oddsOfLink links between switches and one in oddsOfHost links to hosts
// is missing, too, 0 for none.
type failures struct {
	nodes                  map[fabric.NodeIndex]bool
	links                  map[fabric.Link]bool
	oddsOfLink, oddsOfHost int
}

// mostFailures limits the links and switches removed from a tree; a small one loses at most a third of its links.
const mostFailures = 20

// draw removes n links between switches or, one in five, switches.
func (x *failures) draw(r *rand.Rand, f *fabric.Fabric, n int) {
	var between []fabric.Link
	for _, l := range f.Links() {
		if !toHost(f, l) {
			between = append(between, l)
		}
	}
	for range min(n, 1+len(between)/3) {
		if r.IntN(5) == 0 || len(between) == 0 {
			x.nodes[f.Switches[r.IntN(len(f.Switches))]] = true
		} else {
			x.links[between[r.IntN(len(between))]] = true
		}
	}
}

func (x *failures) has(r *rand.Rand, f *fabric.Fabric, l fabric.Link) bool {
	odds := x.oddsOfLink
	if toHost(f, l) {
		odds = x.oddsOfHost
	}
	return x.links[l] || x.nodes[f.Ports[l.A].Node] || x.nodes[f.Ports[l.B].Node] || odds > 0 && r.IntN(odds) == 0
}

func toHost(f *fabric.Fabric, l fabric.Link) bool {
	return !f.Nodes[f.Ports[l.A].Node].IsSwitch() || !f.Nodes[f.Ports[l.B].Node].IsSwitch()
}

// copyLinks copies all links except missing ones. The SM's link stays.
func (g *grafter) copyLinks(missing *failures) {
	f := g.from
	sm, _ := f.LinkOf(f.EndPortOf(f.SMPort))
	for _, l := range f.Links() {
		if l != sm && missing.has(g.r, f, l) {
			continue
		}
		a, b := &f.Ports[l.A], &f.Ports[l.B]
		g.connect(a.Node, int(a.Num), b.Node, int(b.Num))
	}
}

func (g *grafter) connect(a fabric.NodeIndex, pa int, b fabric.NodeIndex, pb int) {
	if err := g.b.Connect(a, pa, b, pb); err != nil {
		g.t.Fatal(err)
	}
}

// host adds a node on spare ports of switches.
func (g *grafter) host(kind mad.NodeType, on ...fabric.NodeIndex) {
	n := g.guid()
	k := g.add(fabric.Node{
		GUID: n, SystemGUID: n, Type: kind, NumPorts: uint8(len(on)), Desc: fmt.Sprintf("extra-%x", n),
	})
	for i, s := range on {
		if p := g.take(s); p > 0 {
			g.connect(k, i+1, s, p)
		}
	}
}

// link adds links between two switches on spare ports.
func (g *grafter) link(a, b fabric.NodeIndex) {
	if pa := g.take(a); pa > 0 {
		if pb := g.take(b); pb > 0 {
			g.connect(a, pa, b, pb)
		}
	}
}

func (g *grafter) take(s fabric.NodeIndex) int {
	free := g.spare[s]
	if len(free) == 0 {
		return 0
	}
	g.spare[s] = free[1:]
	return free[0]
}

// treeOptions returns random options of ftree: none at all, one or many. Most suit the fabric, so that OpenSM accepts
// it as a fat-tree.
func treeOptions(r *rand.Rand, f *fabric.Fabric) routing.Options {
	var o routing.Options
	roots := farthest(f)
	if r.IntN(3) > 0 {
		o.RootGUIDs = roots
	}
	if r.IntN(6) == 0 {
		r.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
		o.RootGUIDs = append([]uint64{}, roots[:r.IntN(len(roots)+1)]...)
		for range r.IntN(3) {
			o.RootGUIDs = append(o.RootGUIDs, f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID, 0x1234)
		}
		o.DetectRoots = r.IntN(6) == 0
	}
	switch r.IntN(6) {
	case 0:
		o.ComputeNodes = somePorts(r, f.EndPorts, f, 1+r.IntN(4))
	case 1, 2, 3:
		o.ComputeNodes = somePorts(r, level(f, roots), f, 1+r.IntN(3))
	}
	if r.IntN(3) == 0 {
		o.IONodes = somePorts(r, f.EndPorts, f, 1+r.IntN(8))
	}
	if r.IntN(40) == 0 {
		o.BrokenNodeFile = []string{"cn_guid_file", "io_guid_file"}[r.IntN(2)]
		if o.BrokenNodeFile == "cn_guid_file" && o.ComputeNodes == nil {
			o.ComputeNodes = []uint64{}
		}
		if o.BrokenNodeFile == "io_guid_file" && o.IONodes == nil {
			o.IONodes = []uint64{}
		}
	}
	if r.IntN(2) == 0 {
		o.MaxReverseHops = uint16(r.IntN(5))
	}
	o.ConnectRoots = r.IntN(3) == 0
	o.QuasiFtreeIndexing = r.IntN(4) == 0
	return o
}

// level returns the adapters at the most frequent distance from some switches.
func level(f *fabric.Fabric, from []uint64) []fabric.PortIndex {
	var queue []fabric.SwitchIndex
	dist := make([]int, len(f.Switches))
	for _, g := range from {
		queue = append(queue, f.SwitchByGUID(g))
		dist[f.SwitchByGUID(g)] = 1
	}
	g := routing.NewGraph(f)
	for i := 0; i < len(queue); i++ {
		for _, l := range g.Of(queue[i]) {
			if dist[l.Peer] == 0 {
				dist[l.Peer] = dist[queue[i]] + 1
				queue = append(queue, l.Peer)
			}
		}
	}
	at := map[int][]fabric.PortIndex{}
	var most []fabric.PortIndex
	for _, e := range f.EndPorts {
		if sw, port := f.AttachedSwitch(e); port != 0 {
			at[dist[sw]] = append(at[dist[sw]], e)
			if len(at[dist[sw]]) > len(most) {
				most = at[dist[sw]]
			}
		}
	}
	return most
}

// somePorts returns the GUIDs of one in every n of some ports for a file, sometimes with unknown GUIDs or none.
func somePorts(r *rand.Rand, from []fabric.PortIndex, f *fabric.Fabric, every int) []uint64 {
	out := []uint64{}
	if r.IntN(20) == 0 {
		return out
	}
	for _, e := range from {
		if r.IntN(every) == 0 {
			out = append(out, f.Ports[e].GUID)
		}
	}
	if r.IntN(4) == 0 {
		out = append(out, 0x1234, f.SwitchNode(0).GUID)
	}
	return out
}
