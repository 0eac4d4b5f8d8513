// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

func generate(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// routed returns a generated fabric with LIDs and min-hop tables, all links Active.
func routed(t testing.TB, spec string) (*fabric.Fabric, *fabric.Tables, *sim.Sim) {
	t.Helper()
	f, err := fabric.AssignLIDs(generate(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, res.Tables, sim.New(f, sim.Options{Tables: res.Tables, SendBack: true})
}

func client(t testing.TB, transport mad.Transport, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	c, err := mad.NewClient(transport, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func open(t testing.TB, s *sim.Sim, port fabric.PortIndex) *sim.Conn {
	t.Helper()
	conn, err := s.Open(port)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func full(t testing.TB, c *mad.Client, opts sweep.Options) *sweep.Result {
	t.Helper()
	res, err := sweep.Full(context.Background(), c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// clean checks that a sweep has no warnings and no unanswered requests.
func clean(t *testing.T, res *sweep.Result) {
	t.Helper()
	for _, h := range res.Unanswered {
		t.Errorf("unanswered: %v", h)
	}
	for _, w := range res.Warnings {
		t.Errorf("warning: %s", w)
	}
}

func TestSweepSeesWhatIsThere(t *testing.T) {
	for _, spec := range []string{
		"fattree:2,8", "fattree:3,4", "torus:5x3x3,2", "torus:2x3,1,3", "mesh:4x4,1", "hypercube:4",
		"dragonfly:4,2,2", "random:20,6,2,seed=3", "xgft:2,2,2,2,2",
	} {
		t.Run(spec, func(t *testing.T) {
			f, tables, s := routed(t, spec)
			res := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
			clean(t, res)
			same(t, "fabric", describe(f), describe(res.Fabric))
			same(t, "tables", describeTables(tables), describeTables(res.Tables))
		})
	}
}

// TestSweepFromASwitch also compares the order of the nodes with one determined by hand.
func TestSweepFromASwitch(t *testing.T) {
	var b fabric.Builder
	sw := func(guid uint64) fabric.NodeIndex {
		return add(t, &b, fabric.Node{GUID: guid, Type: mad.NodeSwitch, NumPorts: 4, Desc: fmt.Sprint(guid)})
	}
	ca := func(guid uint64) fabric.NodeIndex {
		return add(t, &b, fabric.Node{GUID: guid, Type: mad.NodeCA, NumPorts: 1, Desc: fmt.Sprint(guid)})
	}
	s1, c2, s3, s4, c5 := sw(1), ca(2), sw(3), sw(4), ca(5)
	connect(t, &b, s1, 1, s4, 4)
	connect(t, &b, s1, 3, s3, 1)
	connect(t, &b, s1, 2, c2, 1)
	connect(t, &b, s4, 1, s3, 2)
	connect(t, &b, s3, 3, c5, 1)
	f := build(t, &b)
	res := full(t, client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{}), sweep.Options{})
	clean(t, res)
	var order []uint64
	for i := range res.Fabric.Nodes {
		order = append(order, res.Fabric.Nodes[i].GUID)
	}
	if want := "[1 4 2 3 5]"; fmt.Sprint(order) != want {
		t.Errorf("order %v, want %s: breadth first, ports ascending", order, want)
	}
	same(t, "fabric", describe(f), describe(res.Fabric))
}

func add(t *testing.T, b *fabric.Builder, n fabric.Node) fabric.NodeIndex {
	t.Helper()
	n.SystemGUID, n.Revision = n.GUID, 1
	i, err := b.AddNode(n)
	if err != nil {
		t.Fatal(err)
	}
	for num := range int(n.NumPorts) + 1 {
		p := b.Port(i, num)
		if p == nil {
			continue
		}
		if !n.IsSwitch() {
			p.GUID = n.GUID + uint64(num)<<32
		}
		p.VLCap, p.OperVLs, p.State = 4, 4, mad.PortDown
		if num == 0 {
			p.State, p.MTU, p.CapMask = mad.PortActive, 5, 0x4048
		}
	}
	return i
}

func connect(t *testing.T, b *fabric.Builder, n fabric.NodeIndex, p int, m fabric.NodeIndex, q int) {
	t.Helper()
	if err := b.Connect(n, p, m, q); err != nil {
		t.Fatal(err)
	}
	for _, end := range []*fabric.Port{b.Port(n, p), b.Port(m, q)} {
		end.Width, end.Speed, end.MTU, end.State = 4, fabric.HDR, 5, mad.PortInit
		if end.GUID>>32 != 0 { // the port of an adapter
			end.CapMask = 0x4048
		}
	}
}

func build(t *testing.T, b *fabric.Builder) *fabric.Fabric {
	t.Helper()
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCables sweeps two cables between two switches, one from a switch to itself, an adapter with two ports on two
// switches, and two hosts without a switch.
func TestCables(t *testing.T) {
	t.Run("parallel, loop, two ports", func(t *testing.T) {
		var b fabric.Builder
		c := add(t, &b, fabric.Node{GUID: 10, Type: mad.NodeCA, NumPorts: 2, Desc: "two ports"})
		s1 := add(t, &b, fabric.Node{GUID: 1, Type: mad.NodeSwitch, NumPorts: 6, Desc: "s1", EnhancedPort0: true})
		s2 := add(t, &b, fabric.Node{GUID: 2, Type: mad.NodeSwitch, NumPorts: 6, Desc: "s2"})
		d := add(t, &b, fabric.Node{GUID: 11, Type: mad.NodeCA, NumPorts: 2, Desc: "two ports, far"})
		r := add(t, &b, fabric.Node{GUID: 12, Type: mad.NodeRouter, NumPorts: 2, Desc: "router"})
		connect(t, &b, c, 1, s1, 1)
		connect(t, &b, c, 2, s2, 1)
		connect(t, &b, s1, 2, s2, 3)
		connect(t, &b, s1, 3, s2, 2)
		connect(t, &b, s2, 4, s2, 6)
		connect(t, &b, d, 1, s2, 5)
		connect(t, &b, d, 2, s1, 5)
		connect(t, &b, r, 2, s1, 6)
		f := build(t, &b)
		res := full(t, client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{}), sweep.Options{})
		clean(t, res)
		same(t, "fabric", describe(f), describe(res.Fabric))
	})
	t.Run("back to back", func(t *testing.T) {
		var b fabric.Builder
		c := add(t, &b, fabric.Node{GUID: 10, Type: mad.NodeCA, NumPorts: 2, Desc: "a"})
		d := add(t, &b, fabric.Node{GUID: 11, Type: mad.NodeCA, NumPorts: 1, Desc: "b"})
		connect(t, &b, c, 2, d, 1)
		f := build(t, &b)
		res := full(t, client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{}), sweep.Options{})
		clean(t, res)
		same(t, "fabric", describe(f), describe(res.Fabric))
	})
	t.Run("nothing plugged in", func(t *testing.T) {
		var b fabric.Builder
		add(t, &b, fabric.Node{GUID: 10, Type: mad.NodeCA, NumPorts: 2, Desc: "a"})
		f := build(t, &b)
		res := full(t, client(t, open(t, sim.New(f, sim.Options{}), f.SMPort), mad.ClientOptions{}), sweep.Options{})
		clean(t, res)
		same(t, "fabric", describe(f), describe(res.Fabric))
	})
}

// counter counts the frames of one attribute that a transport sends, by path.
type counter struct {
	mad.Transport
	attr mad.AttrID
	mu   sync.Mutex
	n    map[mad.Path]int
}

func (c *counter) Send(f *mad.Frame) error {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err == nil && smp.Attr == c.attr {
		c.mu.Lock()
		c.n[pathOf(&smp)]++
		c.mu.Unlock()
	}
	return c.Transport.Send(f)
}

// TestEachLinkIsProbedOnce counts NodeInfo requests: one for the local node and one for each link. Both ends of a link
// can be requested at the same time only if they are at the same distance, which is impossible in a bipartite graph.
func TestEachLinkIsProbedOnce(t *testing.T) {
	for _, spec := range []string{"fattree:3,8", "torus:4x4x4,1", "hypercube:5"} {
		f, _, s := routed(t, spec)
		probes := &counter{Transport: open(t, s, f.SMPort), attr: mad.AttrNodeInfo, n: map[mad.Path]int{}}
		full(t, client(t, probes, mad.ClientOptions{Window: 16, Timeout: time.Minute}), sweep.Options{})
		if want := len(f.Links()) + 1; len(probes.n) != want {
			t.Errorf("%s: %d probes, want %d", spec, len(probes.n), want)
		}
		for path, n := range probes.n {
			if n != 1 {
				t.Errorf("%s: %v probed %d times", spec, path, n)
			}
		}
	}
}

func TestProgress(t *testing.T) {
	f, _, s := routed(t, "torus:6x5,3")
	var last sweep.Progress
	res := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}),
		sweep.Options{Progress: func(p sweep.Progress) {
			last = p
		}})
	// 120 LIDs are two blocks.
	if want := (sweep.Progress{Nodes: 120, Switches: 30, Blocks: 60, BlocksToDo: 60}); last != want {
		t.Errorf("last progress %+v, want %+v", last, want)
	}
	if res.Stats.Requests < 60 || res.Stats.Missed != 0 || res.Stats.Elapsed <= 0 {
		t.Errorf("stats %+v", res.Stats)
	}
}

// TestSilentNodes sweeps a host and a switch in the middle that answer nothing, although the switch still forwards.
func TestSilentNodes(t *testing.T) {
	f, tables, s := routed(t, "fattree:2,4")
	host := f.NodesByDescription("node-0008 HCA-1")[0]
	spine := f.NodesByDescription("spine-02")[0]
	s.Silence(host, true)
	s.Silence(spine, true)
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Timeout: time.Minute, Tries: 2})
	res := full(t, c, sweep.Options{})
	got := make([]string, 0, len(res.Unanswered))
	for _, h := range res.Unanswered {
		got = append(got, h.String())
		if !errors.Is(h.Err, mad.ErrTimeout) {
			t.Errorf("%v: error %v does not wrap ErrTimeout", h, h.Err)
		}
	}
	want := []string{
		"leaf-01 port 4: no answer after 2 tries: sent back by the transport: connection timed out (errno 110)",
		"leaf-02 port 4: no answer after 2 tries: sent back by the transport: connection timed out (errno 110)",
		"leaf-03 port 4: no answer after 2 tries: sent back by the transport: connection timed out (errno 110)",
		"leaf-04 port 2: no answer after 2 tries: sent back by the transport: connection timed out (errno 110)",
		"leaf-04 port 4: no answer after 2 tries: sent back by the transport: connection timed out (errno 110)",
	}
	same(t, "unanswered", want, got)
	var cut []fabric.Link
	for _, l := range f.Links() {
		for _, p := range []fabric.PortIndex{l.A, l.B} {
			if n := f.Ports[p].Node; n == host || n == spine {
				cut = append(cut, l)
			}
		}
	}
	rest := f.Without(cut)
	for _, l := range cut { // the remaining end of a link to a silent node is up
		rest.Ports[l.A].State, rest.Ports[l.B].State = f.Ports[l.A].State, f.Ports[l.B].State
	}
	same(t, "fabric", describe(rest), describe(res.Fabric))
	for sw := range res.Fabric.NumSwitches() {
		guid := res.Fabric.SwitchNode(sw).GUID
		was := f.SwitchByGUID(guid)
		for lid := range tables.Top[was] + 1 {
			if got, want := res.Tables.Port(sw, lid), tables.Port(was, lid); got != want {
				t.Fatalf("switch %x LID %d: port %d, want %d", guid, lid, got, want)
			}
		}
	}
}

// dropper makes some requests find no path.
type dropper struct {
	mad.Transport
	drop func(*mad.SMP) bool
	mu   sync.Mutex
}

func (m *dropper) drops(smp *mad.SMP) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drop(smp)
}

func (m *dropper) Send(f *mad.Frame) error {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err == nil && m.drops(&smp) {
		misdirected := *f
		smp.DrSLID = 1 // no directed route from end to end
		smp.Put(&misdirected.Data)
		return m.Transport.Send(&misdirected)
	}
	return m.Transport.Send(f)
}

// TestHalfAnswers sweeps nodes that answer only some requests.
func TestHalfAnswers(t *testing.T) {
	quick := mad.ClientOptions{Timeout: time.Minute, Tries: 1, Window: 4}
	f, tables, s := routed(t, "torus:6x5,3")
	for _, c := range []struct {
		name       string
		drop       func(*mad.SMP) bool
		unanswered []string
		known      bool
	}{
		{"description", func(m *mad.SMP) bool { return m.Attr == mad.AttrNodeDescription && m.HopCount == 1 },
			[]string{
				"0x0000000000200000: NodeDescription: no answer after 1 try: sent back by the transport: connection " +
					"timed out (errno 110)",
			}, true},
		{"switch info", func(m *mad.SMP) bool { return m.Attr == mad.AttrSwitchInfo && m.HopCount == 1 },
			[]string{
				"sw-0-0: SwitchInfo: no answer after 1 try: sent back by the transport: connection timed out " +
					"(errno 110)",
			}, false},
		{"one port", func(m *mad.SMP) bool { return m.Attr == mad.AttrPortInfo && m.HopCount == 1 && m.Mod == 2 },
			[]string{
				"sw-0-0: PortInfo of port 2: no answer after 1 try: sent back by the transport: connection timed out " +
					"(errno 110)",
			}, true},
		{"two ports", func(m *mad.SMP) bool { return m.Attr == mad.AttrPortInfo && m.HopCount == 1 && m.Mod&^1 == 2 },
			[]string{
				"sw-0-0: PortInfo of 2 ports from port 2 on: no answer after 1 try: sent back by the transport: " +
					"connection timed out (errno 110)",
			}, true},
		{"a block", func(m *mad.SMP) bool {
			return m.Attr == mad.AttrLinearForwardingTable && m.HopCount == 1 && m.Mod == 1
		}, []string{
			"sw-0-0: LinearForwardingTable: no answer after 1 try: sent back by the transport: connection timed out " +
				"(errno 110)",
		}, false},
		{"all blocks", func(m *mad.SMP) bool { return m.Attr == mad.AttrLinearForwardingTable && m.HopCount == 1 },
			[]string{
				"sw-0-0: 2 blocks of LinearForwardingTable: no answer after 1 try: sent back by the transport: " +
					"connection timed out (errno 110)",
			}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := full(t, client(t, &dropper{Transport: open(t, s, f.SMPort), drop: c.drop}, quick), sweep.Options{})
			var got []string
			for _, h := range res.Unanswered {
				got = append(got, h.String())
			}
			same(t, "unanswered", c.unanswered, got)
			sw := res.Fabric.SwitchByGUID(0x200000)
			if res.Tables.Known[sw] != c.known {
				t.Errorf("tables known: %v, want %v", res.Tables.Known[sw], c.known)
			}
			if want := tables.Port(0, 5); c.known && res.Tables.Port(sw, 5) != want {
				t.Errorf("LID 5 by port %d, want %d", res.Tables.Port(sw, 5), want)
			}
			if !c.known && res.Tables.Port(sw, 5) != fabric.NoPath {
				t.Errorf("an unknown table has a path")
			}
		})
	}
}

// TestDyingSwitch checks that a switch which stops responding after its first answers is not asked for each block.
func TestDyingSwitch(t *testing.T) {
	f, err := fabric.AssignLIDs(generate(t, "fattree:2,24"))
	if err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(len(f.Switches), 49151)
	s := sim.New(f, sim.Options{Tables: fabric.NewTables(f, lft, ""), SendBack: true})
	asked := 0
	drop := func(m *mad.SMP) bool {
		dead := m.Attr == mad.AttrLinearForwardingTable && m.HopCount == 1
		if dead {
			asked++
		}
		return dead
	}
	c := client(t, &dropper{Transport: open(t, s, f.SMPort), drop: drop},
		mad.ClientOptions{Timeout: time.Minute, Tries: 1,
			Window: 8})
	res := full(t, c, sweep.Options{})
	if len(res.Unanswered) != 1 || res.Unanswered[0].Count != 768 {
		t.Errorf("unanswered %v, want one of 768 blocks", res.Unanswered)
	}
	if asked > 20 {
		t.Errorf("%d blocks asked of a dead switch", asked)
	}
}

func TestLocalPortMustAnswer(t *testing.T) {
	f, _, s := routed(t, "fattree:2,4")
	for _, attr := range []mad.AttrID{mad.AttrNodeInfo, mad.AttrPortInfo} {
		drop := func(m *mad.SMP) bool { return m.HopCount == 0 && m.Attr == attr }
		c := client(t, &dropper{Transport: open(t, s, f.SMPort), drop: drop},
			mad.ClientOptions{Timeout: time.Minute, Tries: 1})
		_, err := sweep.Full(context.Background(), c, sweep.Options{})
		if !errors.Is(err, mad.ErrTimeout) || !strings.Contains(err.Error(), "local port") {
			t.Errorf("without %v: error %v, want that of the local port", attr, err)
		}
	}
}

func TestCancel(t *testing.T) {
	f, _, s := routed(t, "fattree:3,8")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	conn := &dropper{Transport: open(t, s, f.SMPort), drop: func(m *mad.SMP) bool {
		if m.Attr == mad.AttrLinearForwardingTable {
			cancel()
		}
		return false
	}}
	if _, err := sweep.Full(ctx, client(t, conn, mad.ClientOptions{}), sweep.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// BenchmarkFull sweeps the fat-tree of 11,664 hosts and 1,620 switches with full forwarding tables.
func BenchmarkFull(b *testing.B) {
	f, err := fabric.AssignLIDs(generate(b, "fattree:3,36"))
	if err != nil {
		b.Fatal(err)
	}
	tables := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), "empty")
	s := sim.New(f, sim.Options{Tables: tables, Active: true})
	c := client(b, open(b, s, f.SMPort), mad.ClientOptions{Window: 64})
	b.ReportAllocs()
	for b.Loop() {
		res := full(b, c, sweep.Options{})
		b.ReportMetric(res.Stats.PerSecond(), "MADs/s")
		b.ReportMetric(float64(res.Stats.Requests), "MADs")
		if len(res.Unanswered)+len(res.Warnings) > 0 {
			b.Fatal(res.Unanswered, res.Warnings)
		}
	}
}

// pathOf returns the directed route of a request.
func pathOf(m *mad.SMP) mad.Path {
	p, _ := mad.Path{}.Append(m.InitialPath[1 : 1+m.HopCount]...)
	return p
}
