// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// twin is two switches with two hosts each and two cables between them:
//
//	h1 -[1] A [3]--[3] B [1]- h3
//	h2 -[2]   [4]--[4]   [2]- h4
//
// A and B have LIDs 1 and 2, hosts 11 to 14. All paths between the switches use ports 3.
func twin(t *testing.T) *fabric.Tables { return twinOf(t, 0x102) }

// twinOf is twin with another node GUID for switch B.
func twinOf(t *testing.T, guidB uint64) *fabric.Tables {
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
	connect := func(a fabric.NodeIndex, pa int, c fabric.NodeIndex, pc int) {
		if err := b.Connect(a, pa, c, pc); err != nil {
			t.Fatal(err)
		}
	}
	var h [4]fabric.NodeIndex
	for i := range h {
		h[i] = add(fabric.Node{GUID: uint64(0x10 + 16*i), Desc: "h" + string('1'+rune(i)), Type: mad.NodeCA,
			NumPorts: 1}, 1, uint16(11+i))
	}
	swA := add(fabric.Node{GUID: 0x101, Desc: "A", Type: mad.NodeSwitch, NumPorts: 4}, 0, 1)
	swB := add(fabric.Node{GUID: guidB, Desc: "B\x1b[31m", Type: mad.NodeSwitch, NumPorts: 4}, 0, 2)
	connect(h[0], 1, swA, 1)
	connect(h[1], 1, swA, 2)
	connect(h[2], 1, swB, 1)
	connect(h[3], 1, swB, 2)
	connect(swA, 3, swB, 3)
	connect(swA, 4, swB, 4)
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(2, f.MaxLID)
	copy(lft.Row(0)[11:], []byte{1, 2, 3, 3})
	copy(lft.Row(1)[11:], []byte{3, 3, 1, 2})
	lft.Row(0)[1], lft.Row(0)[2], lft.Row(1)[1], lft.Row(1)[2] = 0, 3, 3, 0
	return fabric.NewTables(f, lft, "before")
}

func with(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16, entry uint8) *fabric.Tables {
	c := *t
	c.LFT, c.Origin = t.LFT.Clone(), "after"
	c.LFT.Row(sw)[lid] = entry
	return &c
}

func compared(t *testing.T, before, after *fabric.Tables) *Result {
	t.Helper()
	r, err := Compare(context.Background(), before, after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompareByHand has figures from the drawing of twin: of its 12 pairs, 4 cross from A to B and 4 from B to A.
func TestCompareByHand(t *testing.T) {
	before := twin(t)
	f := before.Fabric
	link, _ := f.LinkOf(f.Port(f.Switches[0], 3))
	uplink, _ := f.LinkOf(f.PortByLID(14))
	failed := *before
	failed.Fabric = f.Without([]fabric.Link{link})
	alone := *before
	alone.Fabric = f.Without([]fabric.Link{uplink})
	unread := *before
	unread.Known = []bool{true, false}
	for _, tc := range []struct {
		name          string
		before, after *fabric.Tables
		pairs         Pairs
		entries       Entries
		loads         int
	}{
		{"nothing", before, before, Pairs{Total: 12, Same: 12}, Entries{}, 0},
		{"one entry to the other cable", before, with(before, 0, 14, 4), Pairs{Total: 12, Same: 10, Changed: 2},
			Entries{1, 1, 1, 0}, 2},
		// h1 and h2 lose their path to h4.
		{"one entry to nothing", before, with(before, 0, 14, fabric.NoPath), Pairs{Total: 12, Same: 10, Lost: 2},
			Entries{1, 1, 1, 0}, 2},
		{
			"one entry back from nothing", with(before, 0, 14, fabric.NoPath), before,
			Pairs{Total: 12, Same: 10, Connected: 2}, Entries{1, 1, 1, 0}, 2,
		},
		// h1, h2 and h3 to h4: B sends it back to A.
		{"a loop", before, with(before, 1, 14, 3), Pairs{Total: 12, Same: 9, Lost: 3}, Entries{1, 1, 1, 0}, 3},
		{"a failed cable, tables as they were", before, &failed, Pairs{Total: 12, Same: 4, Lost: 8}, Entries{}, 6},
		{"a host that is gone", before, &alone, Pairs{Total: 12, Same: 6, Lost: 6}, Entries{}, 6},
		{"a table that was not read", before, &unread, Pairs{Total: 12, Same: 2, Unknown: 10}, Entries{Unread: 1}, 0},
		{
			"an entry that no host uses", before, with(before, 0, 2, 4), Pairs{Total: 12, Same: 12},
			Entries{1, 1, 1, 0}, 2,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := compared(t, tc.before, tc.after)
			if r.Pairs != tc.pairs {
				t.Errorf("%+v, want %+v", r.Pairs, tc.pairs)
			}
			if r.Entries != tc.entries {
				t.Errorf("%+v, want %+v", r.Entries, tc.entries)
			}
			if got := Count(tc.before, tc.after); got != tc.entries {
				t.Errorf("counted %+v, want %+v", got, tc.entries)
			}
			if len(r.Loads) != tc.loads {
				t.Errorf("%d loads, want %d: %+v", len(r.Loads), tc.loads, r.Loads)
			}
			// A difference that was found remains one whatever else was not read.
			want := verdict.OK
			switch {
			case tc.pairs.Same+tc.pairs.Unknown != 12 || tc.entries.Changed > 0:
				want = verdict.Found
			case tc.pairs.Unknown > 0:
				want = verdict.Unknown
			}
			if got := r.Verdict(); got != want {
				t.Errorf("the verdict is %v, want %v", got, want)
			}
			if r.Same() != (tc.pairs.Same+tc.pairs.Unknown == 12 && tc.entries.Changed == 0) {
				t.Errorf("Same is %v", r.Same())
			}
		})
	}
}

func TestMovedLID(t *testing.T) {
	before := twin(t)
	f := before.Fabric
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		if lids[i] = f.Ports[e].LID; lids[i] == 14 {
			lids[i] = 20
		}
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(2, g.MaxLID)
	for sw := range fabric.SwitchIndex(2) {
		copy(lft.Row(sw), before.LFT.Row(sw))
		lft.Row(sw)[20], lft.Row(sw)[14] = lft.Row(sw)[14], fabric.NoPath
	}
	r := compared(t, before, fabric.NewTables(g, lft, "after"))
	if len(r.Moved) != 1 || r.Moved[0].Name != "h4/1" || r.Moved[0].LID != 14 || r.Moved[0].NewLID != 20 {
		t.Errorf("moved %+v, want h4 from 14 to 20", r.Moved)
	}
	if r.Pairs.Same != 12 {
		t.Errorf("%+v, expected no changed paths where only a LID changes", r.Pairs)
	}
	// Each switch has two changed entries: one is removed, one is added, and the LinearFDBTop rises.
	if r.Entries.Changed != 4 || r.Switches[0].TopOld != 14 || r.Switches[0].TopNew != 20 {
		t.Errorf("%+v, %+v", r.Entries, r.Switches)
	}
}

// TestHostGetsALID compares with a host without LID, which neither sends nor receives: six of the twelve pairs are with
// h4. Wires and tables are the same.
func TestHostGetsALID(t *testing.T) {
	after := twin(t)
	f := after.Fabric
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		if lids[i] = f.Ports[e].LID; lids[i] == 14 {
			lids[i] = 0
		}
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	before := *after
	before.Fabric = g
	if got, want := compared(t, &before, after).Pairs, (Pairs{Total: 12, Same: 6, Connected: 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := compared(t, after, &before).Pairs, (Pairs{Total: 12, Same: 6, Lost: 6}); got != want {
		t.Errorf("reversed: %+v, want %+v", got, want)
	}
}

// TestHostComesToAnUnreadSwitch adds a host to a switch that was not read in either state.
func TestHostComesToAnUnreadSwitch(t *testing.T) {
	after := *twin(t)
	after.Known = []bool{true, false}
	link, _ := after.Fabric.LinkOf(after.Fabric.PortByLID(14))
	before := after
	before.Fabric = after.Fabric.Without([]fabric.Link{link})
	// All pairs except h1 with h2 use switch B, whose table is unknown.
	if got, want := compared(t, &before, &after).Pairs, (Pairs{Total: 12, Same: 2, Unknown: 10}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestReplacedSwitch has another switch in the place of B: indexes, LIDs and tables are the same, but only the paths
// between h1 and h2 use the same links.
func TestReplacedSwitch(t *testing.T) {
	r := compared(t, twin(t), twinOf(t, 0x103))
	if want := (Pairs{Total: 12, Same: 2, Changed: 10}); r.Pairs != want {
		t.Errorf("%+v, want %+v", r.Pairs, want)
	}
	if len(r.Gone) != 1 || len(r.Come) != 1 || len(r.Down) != 4 || len(r.Up) != 4 {
		t.Errorf("gone %v, come %v, down %v, up %v", r.Gone, r.Come, r.Down, r.Up)
	}
}

// TestResult compares a whole result with a literal.
func TestResult(t *testing.T) {
	before := twin(t)
	end := func(name string, guid GUID, num uint8) End { return End{name, guid, num} }
	const a, b = 0x101, 0x102
	load := func(from, to End, entriesOld, entriesNew int, pathsOld, pathsNew int64) Load {
		return Load{from, &to, entriesOld, entriesNew, pathsOld, pathsNew}
	}
	there, back := load(end("A/3", a, 3), end(`B\x1b[31m/3`, b, 3), 3, 2, 4, 2),
		load(end(`B\x1b[31m/3`, b, 3), end("A/3", a, 3), 3, 3, 4, 4)
	h4 := Port{"h4/1", 0x41, 14, false}
	want := &Result{
		Old: "before", New: "after", Entries: Entries{Changed: 1, Blocks: 1, Switches: 1},
		Switches: []Switch{{"A", a, 1, 1, 14, 14}},
		Pairs:    Pairs{Total: 12, Same: 10, Changed: 2}, Lost: []Pair{}, Connected: []Pair{},
		Changed: []Pair{{Port{"h1/1", 0x11, 11, false}, h4}, {Port{"h2/1", 0x21, 12, false}, h4}},
		Gone:    []Port{}, Come: []Port{}, Moved: []Moved{}, Down: []Link{}, Up: []Link{},
		Loads:    []Load{load(end("A/4", a, 4), end(`B\x1b[31m/4`, b, 4), 0, 1, 0, 2), there},
		WorstOld: &there, WorstNew: &back,
	}
	if got := compared(t, before, with(before, 0, 14, 4)); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestCompareLinks(t *testing.T) {
	before := twin(t)
	link, _ := before.Fabric.LinkOf(before.Fabric.Port(before.Fabric.Switches[0], 4))
	after := *before
	after.Fabric = before.Fabric.Without([]fabric.Link{link})
	if r := compared(t, before, &after); len(r.Down) != 1 || len(r.Up) != 0 || r.Down[0].A.Name != "A/4" {
		t.Errorf("down %+v, up %+v; expected A/4 down", r.Down, r.Up)
	}
	if r := compared(t, &after, before); len(r.Up) != 1 || len(r.Down) != 0 || r.Up[0].A.Name != "A/4" {
		t.Errorf("down %+v, up %+v; expected A/4 up", r.Down, r.Up)
	}
}

func TestCompareCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	before := twin(t)
	if _, err := Compare(ctx, before, before, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected a cancelled context", err)
	}
}

// BenchmarkCompare has 11,664 hosts on 1,620 switches: 136 million pairs.
func BenchmarkCompare(b *testing.B) {
	f := treestest.Made(b, "fattree:3,36")
	before := route(b, f)
	links := f.Links()
	failed := route(b, f.Without(links[len(links)-1:]))
	other := *before
	other.LFT = before.LFT.Clone()
	for s := range f.Switches { // every LID gets the port of the previous LID
		row := other.LFT.Row(fabric.SwitchIndex(s))
		for lid := len(row) - 1; lid > 1; lid-- {
			row[lid] = row[lid-1]
		}
	}
	for _, c := range []struct {
		name  string
		after *fabric.Tables
	}{{"nothing", before}, {"one link failed", failed}, {"nearly everything", &other}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compare(context.Background(), before, c.after, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestOtherLoadsDiffer compares tables with themselves where end ports have fewer LIDs: only the loads of links differ.
func TestOtherLoadsDiffer(t *testing.T) {
	f, err := gen.ParseSpec("mesh:2x1,hosts=2") // all LIDs of a host have one path
	if err != nil {
		t.Fatal(err)
	}
	a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := treestest.Minhop(t, a.Fabric)
	b := *a.Fabric
	b.Ports = append([]fabric.Port(nil), b.Ports...)
	for _, e := range b.EndPorts {
		b.Ports[e].LMC = 0
	}
	after := *before
	after.Fabric = &b
	r, err := Compare(t.Context(), before, &after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Loads) == 0 || r.Same() {
		t.Errorf("%d loads differ, but Same is %v", len(r.Loads), r.Same())
	}
}

// TestMulticastChanges checks the counts of planted changes.
func TestMulticastChanges(t *testing.T) {
	before := *treestest.Minhop(t, treestest.Made(t, "fattree:2,4"))
	after := before
	before.MFT, after.MFT = fabric.NewMFT(before.Fabric, 0xc003), fabric.NewMFT(before.Fabric, 0xc021)
	before.MFT.Add(0, 0xc000, 1)
	before.MFT.Add(0, 0xc000, 2)
	after.MFT.Add(0, 0xc000, 2)
	after.MFT.Add(0, 0xc000, 3)
	after.MFT.Add(0, 0xc000, 4)
	before.MFT.Add(1, 0xc003, 0)
	after.MFT.Add(1, 0xc003, 0)
	after.MFT.Add(2, 0xc021, 4)
	r, err := Compare(t.Context(), &before, &after, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Multicast
	if m.Changed != 2 || m.Switches != 2 || m.LIDs != 2 || m.PortsGone != 1 || m.PortsCome != 3 || r.Same() {
		t.Errorf("%+v", m)
	}
	if e := m.Examples[0]; e.MLID != 0xc000 || !slices.Equal(e.Gone, []int{1}) || !slices.Equal(e.Come, []int{3, 4}) {
		t.Errorf("%+v", e)
	}
	if r, err := Compare(t.Context(), &before, &before, Options{}); err != nil || !r.Same() {
		t.Errorf("with itself: %+v, %v", r, err)
	}
}
