// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// plan is a fabric that can be changed: nodes by GUID, their ports, and cables.
type plan struct {
	nodes  []fabric.Node
	ports  map[end]fabric.Port
	cables map[end]end // in both directions
	sm     end
}

// planOf returns the plan of a fabric; its switches get two additional ports.
func planOf(f *fabric.Fabric) *plan {
	p := &plan{
		nodes: slices.Clone(f.Nodes), ports: map[end]fabric.Port{}, cables: map[end]end{}, sm: guidPort(f, f.SMPort),
	}
	for i := range f.NumPorts() {
		p.ports[guidPort(f, i)] = f.Ports[i]
		if to := f.Ports[i].Peer; to != fabric.None {
			p.cables[guidPort(f, i)] = guidPort(f, to)
		}
	}
	for i := range p.nodes {
		if p.nodes[i].IsSwitch() {
			p.nodes[i].NumPorts += 2
		}
	}
	return p
}

func (p *plan) unplug(a end) {
	if b, ok := p.cables[a]; ok {
		delete(p.cables, a)
		delete(p.cables, b)
	}
}

func (p *plan) plug(a, b end) {
	p.unplug(a)
	p.unplug(b)
	p.cables[a], p.cables[b] = b, a
}

// free returns the unused ports of switches.
func (p *plan) free() []end {
	var out []end
	for _, n := range p.nodes {
		for num := 1; n.IsSwitch() && num <= int(n.NumPorts); num++ {
			if e := (end{n.GUID, uint8(num)}); p.cables[e] == (end{}) {
				out = append(out, e)
			}
		}
	}
	return out
}

func (p *plan) drop(guid uint64) {
	p.nodes = slices.DeleteFunc(p.nodes, func(n fabric.Node) bool { return n.GUID == guid })
	for num := range 255 {
		p.unplug(end{guid, uint8(num)})
	}
}

func (p *plan) build(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for _, n := range p.nodes {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for num := range int(n.NumPorts) + 1 {
			if out := b.Port(i, num); out != nil {
				in := p.ports[end{n.GUID, uint8(num)}]
				in.Node, in.Peer, in.Num = i, fabric.None, uint8(num)
				if n.IsSwitch() {
					in.GUID = n.GUID
				}
				if num > 0 && p.cables[end{n.GUID, uint8(num)}] == (end{}) {
					in.State = mad.PortDown
				}
				*out = in
			}
		}
	}
	for a, c := range p.cables {
		if err := b.Connect(b.NodeByGUID(a.guid), int(a.num), b.NodeByGUID(c.guid), int(c.num)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.SetSMPort(b.NodeByGUID(p.sm.guid), int(p.sm.num)); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	f, err = fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// change makes a random change that happens in real subnets, and returns its description.
func (p *plan) change(r *rand.Rand) string {
	node := func(t mad.NodeType) *fabric.Node {
		for {
			if n := &p.nodes[r.IntN(len(p.nodes))]; n.Type == t && n.GUID != p.sm.guid {
				return n
			}
		}
	}
	cable := func() end {
		all := make([]end, 0, len(p.cables))
		for a := range p.cables {
			if a != p.sm && p.cables[a] != p.sm {
				all = append(all, a)
			}
		}
		slices.SortFunc(all, func(a, b end) int {
			return 2*compare(a.guid, b.guid) + compare(uint64(a.num), uint64(b.num))
		})
		return all[r.IntN(len(all))]
	}
	free := p.free()
	some := func() end { return free[r.IntN(len(free))] }
	switch r.IntN(9) {
	case 0:
		a := cable()
		p.unplug(a)
		return fmt.Sprint("unplugged ", a)
	case 1:
		if len(free) < 2 {
			break
		}
		if a, b := some(), some(); a != b {
			p.ports[a], p.ports[b] = fabric.Port{State: mad.PortActive, Width: 4, Speed: fabric.EDR},
				fabric.Port{State: mad.PortActive, Width: 4, Speed: fabric.EDR}
			p.plug(a, b)
			return fmt.Sprint("plugged ", a, " to ", b)
		}
	case 2:
		n := node(mad.NodeCA)
		n.Desc = fmt.Sprint("renamed ", r.Uint32())
		return n.Desc
	case 3:
		if len(free) > 0 {
			n, to := node(mad.NodeCA), some()
			p.ports[to] = fabric.Port{State: mad.PortActive, Width: 4}
			p.plug(end{n.GUID, 1}, to)
			return fmt.Sprint("moved ", n.Desc, " to ", to)
		}
	case 4:
		n := node(mad.NodeSwitch)
		p.drop(n.GUID)
		return fmt.Sprint("dropped ", n.Desc)
	case 5:
		n := fabric.Node{GUID: r.Uint64(), Type: mad.NodeSwitch, NumPorts: 8, Desc: fmt.Sprint("new ", r.Uint32()),
			Revision: 1}
		p.nodes = append(p.nodes, n)
		for i := range min(3, len(free)) {
			p.ports[free[i]], p.ports[end{n.GUID, uint8(i + 1)}] = fabric.Port{State: mad.PortActive},
				fabric.Port{State: mad.PortActive}
			p.plug(free[i], end{n.GUID, uint8(i + 1)})
		}
		return n.Desc
	case 6:
		a, b := end{node(mad.NodeCA).GUID, 1}, end{node(mad.NodeCA).GUID, 1}
		to, too := p.cables[a], p.cables[b]
		if a != b && to != (end{}) && too != (end{}) {
			p.plug(a, too)
			p.plug(b, to)
			return fmt.Sprint("swapped ", a, " and ", b)
		}
	case 7:
		a := cable()
		for _, e := range []end{a, p.cables[a]} {
			port := p.ports[e]
			port.Width, port.Speed = 1, fabric.QDR
			p.ports[e] = port
		}
		return fmt.Sprint("slowed ", a)
	case 8:
		a := cable()
		for _, e := range []end{a, p.cables[a]} {
			port := p.ports[e]
			port.State = mad.PortInit
			p.ports[e] = port
		}
		return fmt.Sprint("bounced ", a)
	}
	return ""
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func light(t testing.TB, c *mad.Client, previous *fabric.Fabric, opts sweep.LightOptions) *sweep.Result {
	t.Helper()
	res, err := sweep.Light(context.Background(), c, previous, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// alike checks that a light sweep has the result of a full one.
func alike(t *testing.T, want, got *sweep.Result) {
	t.Helper()
	same(t, "fabric", describe(want.Fabric), describe(got.Fabric))
	same(t, "warnings", want.Warnings, got.Warnings)
	if !fabric.Same(want.Fabric, got.Fabric) {
		t.Error("the indexes differ")
	}
	if left := fabric.Changes(want.Fabric, got.Fabric); len(left) > 0 {
		t.Errorf("changes left: %v", left)
	}
}

// TestLightIsFull changes a subnet at random and compares a light sweep, based on the earlier fabric, with a full
// sweep.
func TestLightIsFull(t *testing.T) {
	rnd := testenv.Rand(t)
	for round := range testenv.Count(t, 40, 1000) {
		spec := []string{
			"fattree:2,8", "fattree:3,4", "torus:4x3,2", "random:12,5,3,seed=5", "dragonfly:4,2,2",
		}[round%5]
		f, _, _ := routed(t, spec)
		p := planOf(f.Activated())
		was := p.build(t)
		s := sim.New(was, sim.Options{SendBack: true})
		c := client(t, open(t, s, was.SMPort), mad.ClientOptions{Window: 1 + rnd.IntN(32)})
		previous := full(t, c, sweep.Options{NoTables: true})
		var changes []string
		for range rnd.IntN(6) {
			changes = append(changes, p.change(rnd))
		}
		is := p.build(t)
		s = sim.New(is, sim.Options{SendBack: true})
		c = client(t, open(t, s, is.SMPort), mad.ClientOptions{Window: 1 + rnd.IntN(32)})
		want := full(t, c, sweep.Options{NoTables: true})
		got := light(t, c, previous.Fabric, sweep.LightOptions{Descriptions: true})
		alike(t, want, got)
		alike(t, want, light(t, c, previous.Fabric, sweep.LightOptions{Descriptions: true, Links: true}))
		if wanted := fabric.Changes(previous.Fabric, want.Fabric); !slices.Equal(wanted, got.Changes) {
			t.Errorf("changes %v, want %v", got.Changes, wanted)
		}
		if t.Failed() {
			t.Fatalf("round %d, %s: %q", round, spec, changes)
		}
	}
}

// TestLightAsksLittle counts the MADs on an unchanged subnet: NodeInfo, SwitchInfo and each PortInfo of a switch, one
// for each host, and three for the local node.
func TestLightAsksLittle(t *testing.T) {
	f, _, _ := routed(t, "fattree:3,8")
	f = f.Activated()
	c := client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{Timeout: time.Minute})
	previous := full(t, c, sweep.Options{NoTables: true})
	res := light(t, c, previous.Fabric, sweep.LightOptions{})
	alike(t, previous, res)
	hosts := len(f.Nodes) - len(f.Switches)
	if want := 3 + len(f.Switches)*(3+8) + hosts - 1; res.Stats.Requests != want {
		t.Errorf("%d MADs, want %d", res.Stats.Requests, want)
	}
	if len(res.Changes) > 0 {
		t.Errorf("changes where nothing happened: %v", res.Changes)
	}
}

// TestLightSeesReroutes changes one entry of one switch, and LinearFDBTop: only the sweep whose sample contains the
// entry reports it.
func TestLightSeesReroutes(t *testing.T) {
	rnd := testenv.Rand(t)
	f, tables, s := routed(t, "fattree:2,18") // 189 LIDs: blocks 0 to 2
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Window: 16})
	was := full(t, c, sweep.Options{})
	routes := sweep.NewRoutes(was.Fabric)
	for range 20 {
		sw, lid := fabric.SwitchIndex(rnd.IntN(len(f.Switches))), uint16(1+rnd.IntN(int(f.MaxLID)))
		node := was.Fabric.NodeByGUID(f.SwitchNode(sw).GUID)
		path, err := routes.ToNode(node)
		if err != nil {
			t.Fatal(err)
		}
		write := func(port uint8) {
			t.Helper()
			block := mad.LinearForwardingTable(tables.LFT.Block(sw, int(lid)/fabric.BlockSize))
			block[lid%fabric.BlockSize] = port
			if _, err := mad.Set(t.Context(), c, path, uint32(lid/fabric.BlockSize), block); err != nil {
				t.Fatal(err)
			}
		}
		write(tables.Port(sw, lid) + 1)
		for nth := range 3 {
			got := light(t, c, was.Fabric, sweep.LightOptions{
				Tables: was.Tables, Sample: sweep.Sample{Nth: nth, Of: 3},
			})
			want := 0
			if int(lid)/fabric.BlockSize == nth {
				want = 1
			}
			if got.Rerouted != want || len(got.Changes) > 0 {
				t.Errorf("%s, LID %d, sample %d: %d switches, %v, want %d", f.NodeName(f.Switches[sw]), lid, nth,
					got.Rerouted, got.Changes, want)
			}
		}
		write(tables.Port(sw, lid))
	}
	node := was.Fabric.Switches[0]
	path, err := routes.ToNode(node)
	if err != nil {
		t.Fatal(err)
	}
	info, err := mad.Get[mad.SwitchInfo](t.Context(), c, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	info.LinearFDBTop--
	if _, err := mad.Set(t.Context(), c, path, 0, info); err != nil {
		t.Fatal(err)
	}
	if got := light(t, c, was.Fabric, sweep.LightOptions{
		Tables: was.Tables, Sample: sweep.Sample{Nth: 5, Of: 6},
	}); got.Rerouted != 1 {
		t.Errorf("with another LinearFDBTop: %d switches", got.Rerouted)
	}
}
