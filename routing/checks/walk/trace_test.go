// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// describe writes a path as "n1/1 1/sw1/2 3/sw2/1 1/n2": ingress port, node, egress port.
func describe(f *fabric.Fabric, p *Path) string {
	var words []string
	for _, h := range p.Hops {
		word := f.NodeName(h.Node)
		if h.In != fabric.None {
			word = string('0'+rune(f.Ports[h.In].Num)) + "/" + word
		}
		if h.Out != fabric.None {
			word += "/" + string('0'+rune(f.Ports[h.Out].Num))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestTrace(t *testing.T) {
	const sw1, sw2, sw3, sw4 = 0, 1, 2, 3
	f := square(t)
	good := clockwise(f)
	down := *good
	link, _ := f.LinkOf(f.Port(f.Switches[sw2], 2))
	down.Fabric = f.Without([]fabric.Link{link})
	up, ports := *f, slices.Clone(f.Ports)
	up.Ports = ports
	silent := up.Port(f.Switches[sw2], 4)
	ports[silent].State = mad.PortActive // no response behind it
	hole := *changed(good, sw2, 13, 4)
	hole.Fabric = &up
	low := *good
	low.Top = []uint16{14, 12, 14, 14}
	unread := *good
	unread.Known = []bool{true, true, false, true}
	// All paths and verdicts are by hand from the drawing of square.
	for _, tc := range []struct {
		name     string
		tables   *fabric.Tables
		src, dst uint16
		path     string
		verdict  Verdict
		cause    Cause
		explain  string
	}{
		{"CA to CA", good, 11, 13, "n1/1 1/sw1/2 3/sw2/2 3/sw3/1 1/n3", Delivered, 0, "delivered over 3 switches"},
		{
			"one switch", changed(good, sw1, 14, 3), 11, 14, "n1/1 1/sw1/3 2/sw4/1 1/n4", Delivered, 0,
			"delivered over 2 switches",
		},
		{"CA to switch", good, 11, 2, "n1/1 1/sw1/2 3/sw2", Delivered, 0, "delivered over 2 switches"},
		{"switch to CA", good, 2, 13, "sw2/2 3/sw3/1 1/n3", Delivered, 0, "delivered over 2 switches"},
		{"switch to switch", good, 4, 3, "sw4/2 3/sw1/2 3/sw2/2 3/sw3", Delivered, 0, "delivered over 4 switches"},
		{"CA to itself", good, 12, 12, "n2", Delivered, 0, "delivered over 0 switches"},
		{"switch to itself", good, 2, 2, "sw2", Delivered, 0, "delivered over 1 switch"},
		{
			"loop back to the source's switch", changed(good, sw3, 13, 2), 11, 13,
			"n1/1 1/sw1/2 3/sw2/2 3/sw3/2 3/sw4/2 3/sw1", Loop, 0, "loop of 4 switches: sw4/2 sends it back to sw1",
		},
		{"loop further on", changed(good, sw3, 13, 3), 11, 13, "n1/1 1/sw1/2 3/sw2/2 3/sw3/3 2/sw2", Loop, 0,
			"loop of 2 switches: sw3/3 sends it back to sw2"},
		{
			"no entry", changed(good, sw2, 13, 255), 11, 13, "n1/1 1/sw1/2 3/sw2", DeadEnd, NoEntry,
			"dead end: sw2 has no entry for LID 13",
		},
		{
			"entry above the top", &low, 11, 13, "n1/1 1/sw1/2 3/sw2", DeadEnd, NoEntry,
			"dead end: sw2 has no entry for LID 13",
		},
		{"LID above all", good, 11, 500, "n1/1 1/sw1", DeadEnd, NoEntry, "dead end: sw1 has no entry for LID 500"},
		{"no such port", changed(good, sw2, 13, 5), 11, 13, "n1/1 1/sw1/2 3/sw2", DeadEnd, NoSuchPort,
			"dead end: sw2 has port 5 for LID 13 and no such port"},
		{"port without link", changed(good, sw2, 13, 4), 11, 13, "n1/1 1/sw1/2 3/sw2/4", DeadEnd, NoLink,
			"dead end: the link of sw2/4 is down"},
		{
			"no response behind a port", &hole, 11, 13, "n1/1 1/sw1/2 3/sw2/4", DeadEnd, NoLink,
			"dead end: what is behind sw2/4 is not known, though its link is up",
		},
		{"failed link", &down, 11, 13, "n1/1 1/sw1/2 3/sw2/2", DeadEnd, NoLink, "dead end: the link of sw2/2 is down"},
		{"wrong host", changed(good, sw2, 13, 1), 11, 13, "n1/1 1/sw1/2 3/sw2/1 1/n2", Misdelivered, 0,
			"misdelivered: ends at n2 with LID 12, which does not own LID 13"},
		{"back to the source", changed(good, sw1, 13, 1), 11, 13, "n1/1 1/sw1/1 1/n1", Misdelivered, 0,
			"misdelivered: ends at n1 with LID 11, which does not own LID 13"},
		{
			"wrong switch", changed(good, sw2, 13, 0), 11, 13, "n1/1 1/sw1/2 3/sw2", Misdelivered, 0,
			"misdelivered: ends at sw2 with LID 2, which does not own LID 13",
		},
		{"switch that does not keep its own LID", changed(good, sw3, 3, 1), 1, 3, "sw1/2 3/sw2/2 3/sw3/1 1/n3",
			Misdelivered, 0, "misdelivered: ends at n3 with LID 13, which does not own LID 3"},
		{
			"unread table", &unread, 11, 14, "n1/1 1/sw1/2 3/sw2/2 3/sw3", Unknown, 0,
			"unknown: the table of sw3 was not read",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := tc.tables.Fabric
			p := Trace(tc.tables, g.PortByLID(tc.src), tc.dst)
			if got := describe(g, &p); got != tc.path {
				t.Errorf("path %s, want %s", got, tc.path)
			}
			if p.Verdict != tc.verdict || p.Cause != tc.cause {
				t.Errorf("%v, %v; want %v, %v", p.Verdict, p.Cause, tc.verdict, tc.cause)
			}
			if got := p.Explain(g); got != tc.explain {
				t.Errorf("%q, want %q", got, tc.explain)
			}
		})
	}
}

func TestTraceCloses(t *testing.T) {
	tables := changed(clockwise(square(t)), 2, 13, 3)
	p := Trace(tables, tables.Fabric.PortByLID(11), 13)
	if p.Closes != 2 || p.Hops[p.Closes].Node != p.Hops[p.Links()].Node {
		t.Errorf("closes at hop %d, want 2 (sw2)", p.Closes)
	}
	if n := p.Switches(tables.Fabric); n != 3 {
		t.Errorf("%d switches, want 3", n)
	}
}

func TestTraceEscapes(t *testing.T) {
	var b fabric.Builder
	n, err := b.AddNode(fabric.Node{GUID: 1, Desc: "evil\x1b[2J", Type: mad.NodeSwitch, NumPorts: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.Port(n, 0).LID = 1
	f := build(t, &b)
	p := Trace(fabric.NewTables(f, fabric.NewLFT(1, 1), "empty"), f.Port(n, 0), 1)
	if got, want := p.Explain(f), `dead end: evil\x1b[2J has no entry for LID 1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestTraceBackToBack has hosts without a switch between them: each receives all packets of the other.
func TestTraceBackToBack(t *testing.T) {
	var b fabric.Builder
	for i := range 2 {
		n, err := b.AddNode(fabric.Node{GUID: uint64(16 + 16*i), Desc: "n", Type: mad.NodeCA, NumPorts: 1})
		if err != nil {
			t.Fatal(err)
		}
		p := b.Port(n, 1)
		p.GUID, p.LID = uint64(17+16*i), uint16(i+1)
	}
	connect(t, &b, 0, 1, 1, 1)
	f := build(t, &b)
	tables := fabric.NewTables(f, fabric.NewLFT(0, 3), "none")
	for lid, want := range map[uint16]Verdict{1: Delivered, 2: Delivered, 3: Misdelivered} {
		if p := Trace(tables, f.PortByLID(1), lid); p.Verdict != want {
			t.Errorf("LID %d: %v, want %v", lid, p.Verdict, want)
		}
	}
	off := *tables
	off.Fabric = f.Without(f.Links())
	if p := Trace(&off, f.SMPort, 2); p.Verdict != DeadEnd || p.Cause != NoLink {
		t.Errorf("without link: %v, %v", p.Verdict, p.Cause)
	}
}

// row returns a row of switches with a host at each end.
func row(t *testing.T, switches int) *fabric.Tables {
	t.Helper()
	var b fabric.Builder
	add := func(n fabric.Node, num int, lid uint16) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		b.Port(i, num).GUID, b.Port(i, num).LID = n.GUID+uint64(num), lid
		return i
	}
	first := add(fabric.Node{GUID: 0x100, Desc: "first", Type: mad.NodeCA, NumPorts: 1}, 1, 1)
	last := add(fabric.Node{GUID: 0x200, Desc: "last", Type: mad.NodeCA, NumPorts: 1}, 1, 2)
	before, port := first, 1
	for i := range switches {
		sw := add(fabric.Node{GUID: uint64(0x1000 + i), Desc: "sw", Type: mad.NodeSwitch, NumPorts: 2}, 0, uint16(3+i))
		connect(t, &b, before, port, sw, 1)
		before, port = sw, 2
	}
	connect(t, &b, before, port, last, 1)
	f := build(t, &b)
	lft := fabric.NewLFT(switches, f.MaxLID)
	for s := range switches {
		lft.Row(fabric.SwitchIndex(s))[1], lft.Row(fabric.SwitchIndex(s))[2] = 1, 2
	}
	return fabric.NewTables(f, lft, "row")
}

// TestTooLong has n switches from host to host, and so n+1 links.
func TestTooLong(t *testing.T) {
	for n, want := range map[int]Verdict{62: Delivered, 63: TooLong, 300: TooLong} {
		tables := row(t, n)
		p := Trace(tables, tables.Fabric.PortByLID(1), 2)
		if p.Verdict != want || p.Links() != n+1 {
			t.Errorf("%d switches: %v over %d links, want %v over %d", n, p.Verdict, p.Links(), want, n+1)
		}
		if !p.Verdict.Arrives() {
			t.Errorf("%d switches: does not arrive", n)
		}
	}
	// A loop is reported as a loop however late it closes: the last switch sends back.
	tables := row(t, 300)
	sw := tables.Fabric.Nodes[tables.Fabric.PeerNode(tables.Fabric.PortByLID(2))].Switch
	tables = changed(tables, sw, 2, 1)
	p := Trace(tables, tables.Fabric.PortByLID(1), 2)
	if p.Verdict != Loop || p.Links()-p.Closes != 2 {
		t.Errorf("%v of %d switches, expected a loop of 2", p.Verdict, p.Links()-p.Closes)
	}
}

// scramble returns the square with tables of random entries, some of them invalid.
func scramble(rnd *rand.Rand, f *fabric.Fabric) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for s := range f.NumSwitches() {
		row := lft.Row(s)
		for lid := range row {
			row[lid] = uint8(rnd.IntN(int(f.SwitchNode(s).NumPorts) + 2))
			if rnd.IntN(20) == 0 {
				row[lid] = fabric.NoPath
			}
		}
	}
	tables := fabric.NewTables(f, lft, "scrambled")
	for s := range tables.Known {
		tables.Known[s] = rnd.IntN(12) != 0
		tables.Top[s] -= uint16(rnd.IntN(2))
	}
	return tables
}

// TestWalksAgree compares Follow, Tree and Trace, which walk in three different ways.
func TestWalksAgree(t *testing.T) {
	f, rnd := square(t), testenv.Rand(t)
	for range 200 {
		tables := scramble(rnd, f)
		tree := NewTree(NewWires(tables))
		col := make([]uint8, len(f.Switches))
		for lid := uint16(1); lid <= f.MaxLID+1; lid++ {
			dst := ToPort(f.PortByLID(lid))
			Columns(tables, []uint16{lid}, [][]uint8{col})
			if f.PortByLID(lid) == fabric.None {
				dst = ToPort(fabric.PortIndex(len(f.Ports))) // a port that does not exist
			}
			tree.Start(dst, col)
			for sw := range f.NumSwitches() {
				p := Trace(tables, f.Port(f.Switches[sw], 0), lid)
				agree(t, tables, sw, lid, &p, tree.Fate(sw))
			}
			checkOrder(t, tree)
		}
		if t.Failed() {
			return
		}
	}
}

func agree(t *testing.T, tables *fabric.Tables, sw fabric.SwitchIndex, lid uint16, p *Path, fate Fate) {
	t.Helper()
	var visited []fabric.NodeIndex
	end := Follow(tables, sw, lid, func(sw fabric.SwitchIndex, _ uint8) {
		visited = append(visited, tables.Fabric.Switches[sw])
	})
	if end.Verdict != p.Verdict || end.Cause != p.Cause {
		t.Errorf("Follow: %v %v, Trace: %v %v", end.Verdict, end.Cause, p.Verdict, p.Cause)
	}
	if p.Verdict != Loop && end.Links != p.Links() {
		t.Errorf("Follow: %d links, Trace: %d", end.Links, p.Links())
	}
	passed, hops := 0, p.Hops
	if p.Verdict == Loop {
		hops = p.Hops[:p.Links()]
	}
	for _, h := range hops {
		if tables.Fabric.Nodes[h.Node].IsSwitch() {
			if passed >= len(visited) || visited[passed] != h.Node {
				t.Errorf("Follow visited %v, Trace passed %v", visited, p.Hops)
				break
			}
			passed++
		}
	}
	if (end.Port != fabric.None) != (p.Verdict == Delivered || p.Verdict == Misdelivered) {
		t.Errorf("Follow ends at port %d with %v", end.Port, p.Verdict)
	}
	want := Lost
	switch p.Verdict {
	case Delivered:
		want = Reaches
	case Unknown:
		want = UnreadTable
	}
	if fate != want {
		t.Errorf("Tree: fate %d, Trace: %v", fate, p.Verdict)
	}
}

// checkOrder checks that each switch comes after the one to which it sends.
func checkOrder(t *testing.T, tree *Tree) {
	t.Helper()
	for i, sw := range tree.Order {
		next := tree.Next(sw)
		if tree.Fates[sw] == Reaches && next >= 0 && !slices.Contains(tree.Order[:i], next) {
			t.Errorf("switch %d is ordered before switch %d, to which it sends", sw, next)
		}
	}
}

func TestFollowAllocatesNothing(t *testing.T) {
	tables := clockwise(square(t))
	var passed int
	if n := testing.AllocsPerRun(100, func() {
		Follow(tables, 0, 13, func(fabric.SwitchIndex, uint8) { passed++ })
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
