// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

func made(t testing.TB, spec string) *fabric.Fabric { return treestest.Made(t, spec).Activated() }

func mustMake(t testing.TB, live, staged *fabric.Tables) *Plan {
	t.Helper()
	p, err := Make(t.Context(), live, staged)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rows returns tables up to a LID in which every entry is port 1.
func rows(f *fabric.Fabric, maxLID uint16) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), maxLID)
	for s := range f.NumSwitches() {
		for lid := uint16(1); lid <= maxLID; lid++ {
			lft.Row(s)[lid] = 1
		}
	}
	return fabric.NewTables(f, lft, "rows")
}

// TestBlocksByHand plans changes with known blocks: LIDs 1 to 63 are in block 0, 64 to 127 in block 1, and so on.
func TestBlocksByHand(t *testing.T) {
	f := made(t, "random:3,2,6")
	set := func(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16, port uint8) { t.LFT.Row(sw)[lid] = port }
	for _, tc := range []struct {
		name   string
		change func(live, staged *fabric.Tables)
		tops   []write.Top
		// blocks are "switch/number" in their order
		blocks  string
		entries int
	}{
		{"nothing", func(_, _ *fabric.Tables) {}, nil, "", 0},
		{"two entries of one block", func(_, s *fabric.Tables) { set(s, 1, 64, 2); set(s, 1, 127, 2) }, nil, "1/1", 2},
		{"across a boundary", func(_, s *fabric.Tables) { set(s, 1, 63, 2); set(s, 1, 64, 2) }, nil, "1/0 1/1", 2},
		{"block 0 of all before block 1", func(_, s *fabric.Tables) {
			set(s, 0, 100, 2)
			set(s, 2, 5, 2)
			set(s, 0, 5, 2)
			set(s, 1, 100, 2)
		}, nil, "0/0 2/0 0/1 1/1", 4},
		{"the entry for LID 0 means nothing", func(_, s *fabric.Tables) { set(s, 0, 0, 7) }, nil, "", 0},
		{"an entry above both tops means nothing", func(l, s *fabric.Tables) {
			l.Top, s.Top = []uint16{150, 150, 150}, []uint16{150, 150, 150}
			set(s, 0, 151, 7)
			set(s, 0, 190, 7)
		}, nil, "", 0},
		// Entries 151 to 199 become valid. Block 2 was read up to its end and is right; block 3 was not read.
		{"a higher top", func(l, _ *fabric.Tables) {
			l.Top[0] = 150
		}, []write.Top{{Switch: 0, Old: 150, New: 199}}, "0/3", 49},
		{"a lower top", func(_, s *fabric.Tables) {
			s.Top[1] = 150
		}, []write.Top{{Switch: 1, Old: 199, New: 150}}, "", 49},
		{"a top lower by blocks and an entry", func(_, s *fabric.Tables) {
			s.Top[1] = 60
			set(s, 1, 60, 3)
			set(s, 1, 61, 3)
		}, []write.Top{{Switch: 1, Old: 199, New: 60}}, "1/0", 140},
		{"a switch without entries", func(l, _ *fabric.Tables) {
			l.Top[2] = 0
			clear(l.LFT.Row(2))
		}, []write.Top{{Switch: 2, Old: 0, New: 199}}, "2/0 2/1 2/2 2/3", 199},
	} {
		t.Run(tc.name, func(t *testing.T) {
			live, staged := rows(f, 199), rows(f, 199)
			tc.change(live, staged)
			p := mustMake(t, live, staged)
			var blocks []string
			for _, b := range p.Blocks {
				blocks = append(blocks, fmt.Sprintf("%d/%d", b.Switch, b.Num))
			}
			if got := strings.Join(blocks, " "); got != tc.blocks {
				t.Errorf("blocks %q, want %q", got, tc.blocks)
			}
			if !slices.Equal(p.Tops, tc.tops) {
				t.Errorf("tops %v, want %v", p.Tops, tc.tops)
			}
			if got := p.Totals().Entries; got != tc.entries {
				t.Errorf("%d entries, want %d", got, tc.entries)
			}
			if p.Empty() != (tc.blocks == "" && tc.tops == nil) {
				t.Errorf("Empty is %v", p.Empty())
			}
		})
	}
}

// hold holds the tables of a subnet and carries out the writes of a plan.
type hold struct {
	tables *fabric.Tables
	lids   map[fabric.PortIndex]write.LID
}

func held(live *fabric.Tables) *hold {
	c := *live
	c.LFT = fabric.NewLFT(len(live.Fabric.Switches), fabric.MaxUnicastLID)
	c.Top = slices.Clone(live.Top)
	for s := range c.Top {
		copy(c.LFT.Row(fabric.SwitchIndex(s)), live.LFT.Row(fabric.SwitchIndex(s)))
	}
	return &hold{&c, map[fabric.PortIndex]write.LID{}}
}

func (h *hold) take(t *testing.T, p *Plan) {
	t.Helper()
	for _, l := range p.LIDs {
		h.lids[l.Port] = l
	}
	for _, top := range p.Tops {
		if h.tables.Top[top.Switch] != top.Old {
			t.Errorf("the plan expects LinearFDBTop %d, the switch has %d", top.Old, h.tables.Top[top.Switch])
		}
		h.tables.Top[top.Switch] = top.New
	}
	for _, b := range p.Blocks {
		copy(h.tables.LFT.Block(b.Switch, int(b.Num)), b.New[:])
	}
}

// TestPlanLeadsThere carries out the writes of random plans. The result must be the staged tables, and a second plan
// empty.
func TestPlanLeadsThere(t *testing.T) {
	rnd := testenv.Rand(t)
	specs := []string{"random:7,3,90", "fattree:2,6", "torus:3x3 hosts=12", "fattree:3,4"}
	wrote := Totals{}
	for i := range testenv.Count(t, 60, 600) {
		f := made(t, specs[i%len(specs)])
		live := disturbed(rnd, treestest.Minhop(t, f))
		links := f.Links()
		rnd.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		staged := disturbed(rnd, treestest.Minhop(t, f.Without(links[:rnd.IntN(4)])))
		p := mustMake(t, live, staged)
		h := held(live)
		h.take(t, p)
		after := p.After(live)
		for s := range f.NumSwitches() {
			want := live
			if staged.Known[s] && live.Known[s] {
				want = staged
			}
			same(t, h.tables, want, s)
			same(t, after, want, s)
		}
		if again := mustMake(t, h.tables, staged); !again.Empty() {
			t.Errorf("after it, still to write: %+v", again.Totals())
		}
		if t.Failed() {
			t.Fatalf("case %d, %s", i, specs[i%len(specs)])
		}
		wrote.Tops += len(p.Tops)
		wrote.Blocks += len(p.Blocks)
		wrote.Unreachable += len(p.Unreachable)
		wrote.Kept += len(p.Kept)
		wrote.Unread += len(p.Unread)
	}
	if wrote.Tops*wrote.Blocks*wrote.Unreachable*wrote.Kept*wrote.Unread == 0 {
		t.Errorf("some cases did not occur: %+v", wrote)
	}
}

// disturbed returns tables with some changed entries, LinearFDBTops and unread switches.
func disturbed(rnd *rand.Rand, t *fabric.Tables) *fabric.Tables {
	c := *t
	c.LFT, c.Known, c.Top = t.LFT.Clone(), slices.Clone(t.Known), slices.Clone(t.Top)
	for range rnd.IntN(6) {
		sw := rnd.IntN(len(c.Top))
		switch rnd.IntN(4) {
		case 0:
			c.Top[sw] = uint16(rnd.IntN(int(t.LFT.MaxLID) + 1))
		case 1:
			if c.Known[sw] && rnd.IntN(2) == 0 {
				c.Known[sw] = false
				row := c.LFT.Row(fabric.SwitchIndex(sw))
				for i := range row {
					row[i] = fabric.NoPath
				}
			}
		default:
			c.LFT.Row(fabric.SwitchIndex(sw))[rnd.IntN(int(t.LFT.MaxLID)+1)] = uint8(rnd.IntN(256))
		}
	}
	return &c
}

// same requires equal entries for LIDs from 1 up.
func same(t *testing.T, got, want *fabric.Tables, sw fabric.SwitchIndex) {
	t.Helper()
	for lid := uint16(1); lid < 1000; lid++ {
		if g, w := got.Port(sw, lid), want.Port(sw, lid); g != w {
			t.Errorf("switch %d, LID %d: port %d, want %d", sw, lid, g, w)
			return
		}
	}
}

// TestNeverBroughtUp plans for a subnet that was never brought up: ports in state Initialize, no LIDs, no entries.
func TestNeverBroughtUp(t *testing.T) {
	raw, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	live := fabric.NewTables(raw, fabric.NewLFT(len(raw.Switches), 0), "live")
	assigned, err := fabric.AssignLIDs(raw)
	if err != nil {
		t.Fatal(err)
	}
	p := mustMake(t, live, treestest.Minhop(t, assigned))
	// Six switches of four ports each, all linked, eight hosts: 16 links.
	want := Totals{
		Writes: 14 + 6 + 6 + 32, LIDs: 14, Tops: 6, Blocks: 6, Ports: 32, Switches: 6, Entries: 6 * 14, Steps: 1,
	}
	if got := p.Totals(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, l := range p.LIDs {
		if l.New == 0 || l.NewSM != 1 || l.Old != 0 {
			t.Errorf("%+v: expected a LID, with 1 as the SM's", l)
		}
	}
	for s := range raw.NumSwitches() {
		same(t, p.After(live), treestest.Minhop(t, assigned), s)
	}
	// With one simulated link failure its two ends stay down.
	var links []fabric.Link
	for _, l := range raw.Links() {
		if assigned.PeerSwitch(l.A) != fabric.None && assigned.PeerSwitch(l.B) != fabric.None {
			links = append(links, l)
		}
	}
	p = mustMake(t, live, treestest.Minhop(t, assigned.Without(links[:1])))
	if n := len(p.States); n != 30 {
		t.Errorf("%d ports to bring up, want 30", n)
	}
	for _, s := range p.States {
		if s.Port == links[0].A || s.Port == links[0].B || s.Old != mad.PortInit || s.New != mad.PortActive {
			t.Errorf("%+v is to come up", s)
		}
	}
}

func TestFailedSwitchIsNotWritten(t *testing.T) {
	f := made(t, "fattree:2,4")
	live := treestest.Minhop(t, f)
	leaf, _ := f.AttachedSwitch(f.EndPorts[len(f.EndPorts)-1])
	for s := range f.Switches { // one that does not hold the SM's port
		if sm, _ := f.AttachedSwitch(f.SMPort); fabric.SwitchIndex(s) != sm {
			if p := f.PeerNode(f.Port(f.Switches[s], 1)); !f.Nodes[p].IsSwitch() {
				leaf = fabric.SwitchIndex(s)
			}
		}
	}
	var links []fabric.Link
	for num := 1; num <= 4; num++ {
		l, _ := f.LinkOf(f.Port(f.Switches[leaf], uint8(num)))
		links = append(links, l)
	}
	p := mustMake(t, live, treestest.Minhop(t, f.Without(links)))
	// The leaf and its two hosts.
	if len(p.Unreachable) != 3 || p.Totals().Unreachable != 3 {
		t.Errorf("unreachable: %+v, expected a switch and two hosts", p.Unreachable)
	}
	for _, b := range p.Blocks {
		if b.Switch == leaf {
			t.Errorf("block %d of the failed switch is written", b.Num)
		}
	}
	if len(p.Blocks) == 0 || len(p.LIDs) != 0 || len(p.States) != 0 {
		t.Errorf("%+v: want only the entries for the hosts removed at the other switches", p.Totals())
	}
}

func TestOtherIndexes(t *testing.T) {
	f := made(t, "torus:3x3 hosts=2")
	live, staged := treestest.Minhop(t, f), treestest.Minhop(t, f)
	var b fabric.Builder
	for _, i := range rand.New(rand.NewPCG(1, 0)).Perm(len(f.Nodes)) {
		n, err := b.AddNode(f.Nodes[i])
		if err != nil {
			t.Fatal(err)
		}
		for num := range int(f.Nodes[i].NumPorts) + 1 {
			if p := b.Port(n, num); p != nil {
				peer, node := p.Peer, p.Node
				*p = f.Ports[f.Port(fabric.NodeIndex(i), uint8(num))]
				p.Peer, p.Node = peer, node
			}
		}
	}
	for _, l := range f.Links() {
		p, q := &f.Ports[l.A], &f.Ports[l.B]
		if err := b.Connect(b.NodeByGUID(f.Nodes[p.Node].GUID), int(p.Num), b.NodeByGUID(f.Nodes[q.Node].GUID),
			int(q.Num)); err != nil {
			t.Fatal(err)
		}
	}
	sm := &f.Ports[f.SMPort]
	if err := b.SetSMPort(b.NodeByGUID(f.Nodes[sm.Node].GUID), int(sm.Num)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	// Switches are in the order of their GUIDs in both, so the rows are the same.
	if p := mustMake(t, fabric.NewTables(g, live.LFT, "live"), staged); !p.Empty() || len(p.Warnings)+
		len(p.Unreachable) != 0 {
		t.Errorf("%+v, %v", p.Totals(), p.Warnings)
	}
	changed := staged.LFT.Clone()
	changed.Row(4)[7] = 200
	p := mustMake(t, fabric.NewTables(g, live.LFT, "live"), fabric.NewTables(f, changed, "staged"))
	if len(p.Blocks) != 1 || g.SwitchNode(p.Blocks[0].Switch).GUID != f.SwitchNode(4).GUID ||
		p.Blocks[0].New[7] != 200 {
		t.Errorf("%+v", p.Blocks)
	}
}

func TestLIDs(t *testing.T) {
	f := made(t, "random:2,1,4")
	live := treestest.Minhop(t, f)
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		lids[i] = f.Ports[e].LID
	}
	move := func(i int, lid uint16) *fabric.Tables {
		c := slices.Clone(lids)
		c[i] = lid
		g, err := f.WithLIDs(c)
		if err != nil {
			t.Fatal(err)
		}
		return treestest.Minhop(t, g)
	}
	last := slices.IndexFunc(f.EndPorts, func(e fabric.PortIndex) bool { return f.Ports[e].LID == f.MaxLID })
	p := mustMake(t, live, move(last, 77))
	if len(p.LIDs) != 1 || p.LIDs[0].Port != f.EndPorts[last] || p.LIDs[0].Old != f.MaxLID || p.LIDs[0].New != 77 {
		t.Errorf("%+v, want one LID from %d to 77", p.LIDs, f.MaxLID)
	}
	// The SM's LID changes, so every port gets it.
	sm := slices.Index(f.EndPorts, f.SMPort)
	if p := mustMake(t, live, move(sm, 78)); len(p.LIDs) != len(f.EndPorts) {
		t.Errorf("%d LIDs, want %d: the SM has moved", len(p.LIDs), len(f.EndPorts))
	}
	// A host fails in the simulation and another one gets its LID, to which the failed one, which is up, would still
	// respond.
	var failed fabric.PortIndex
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() && e != f.SMPort {
			failed = e
		}
	}
	link, _ := f.LinkOf(failed)
	g := f.Without([]fabric.Link{link})
	lids = lids[:0]
	for _, e := range g.EndPorts {
		lids = append(lids, g.Ports[e].LID)
	}
	for i, e := range g.EndPorts {
		if !g.Nodes[g.Ports[e].Node].IsSwitch() && e != f.SMPort {
			lids[i] = f.Ports[failed].LID
			break
		}
	}
	g, err := g.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), live, treestest.Minhop(t, g)); !errors.Is(err, ErrLIDTaken) {
		t.Errorf("%v, want that the LID is taken", err)
	}
}

// TestNoSMLID plans for a fabric from a file without the SM's LID. The ports keep theirs.
func TestNoSMLID(t *testing.T) {
	f := made(t, "random:2,1,4")
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		lids[i] = f.Ports[e].LID
	}
	unset, err := gen.ParseSpec("random:2,1,4")
	if err != nil {
		t.Fatal(err)
	}
	if unset, err = unset.WithLIDs(lids); err != nil {
		t.Fatal(err)
	}
	for i := range unset.Ports {
		unset.Ports[i].SMLID = 0
	}
	if p := mustMake(t, treestest.Minhop(t, f), treestest.Minhop(t, unset)); !p.Empty() {
		t.Errorf("%+v", p.LIDs)
	}
}

func TestStale(t *testing.T) {
	small, large := made(t, "random:3,2,6"), made(t, "random:4,2,8")
	_, err := Make(t.Context(), treestest.Minhop(t, small), treestest.Minhop(t, large))
	if !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "sw-04") {
		t.Errorf("%v, want that sw-04 is missing", err)
	}
}

func TestLinkThatIsGone(t *testing.T) {
	f := made(t, "torus:3x3 hosts=1")
	staged := treestest.Minhop(t, f)
	live := *staged
	links := f.Links()
	live.Fabric = f.Without(links[len(links)-1:])
	p := mustMake(t, &live, staged)
	if len(p.Warnings) != 1 || p.Warnings[0] != "links that only the staged subnet has: 1" {
		t.Errorf("%q", p.Warnings)
	}
}

// BenchmarkMake plans changes of several sizes, up to every entry of the 1,620 switches of 11,664 hosts. It also
// reports the steps and the writes.
func BenchmarkMake(b *testing.B) {
	large, small := made(b, "fattree:3,36"), made(b, "fattree:3,18")
	torus := made(b, "torus:10x10x10 hosts=4")
	largeTables := treestest.Minhop(b, large)
	empty := *largeTables
	empty.LFT, empty.Top = fabric.NewLFT(len(large.Switches), 0), make([]uint16, len(large.Switches))
	links := large.Links()
	failed := links[len(links)-1:]
	without := func(e routing.Engine) *fabric.Tables {
		r, err := e.Route(b.Context(), large.Without(failed), routing.Options{Existing: largeTables.LFT})
		if err != nil {
			b.Fatal(err)
		}
		return r.Tables
	}
	for _, c := range []struct {
		name         string
		live, staged *fabric.Tables
	}{
		{"nothing", largeTables, largeTables},
		{"bring up", &empty, largeTables},
		{"minhop to updn, fattree 3,18", treestest.Minhop(b, small), by(b, updn.Engine{}, small)},
		{"minhop to updn, fattree 3,36", largeTables, by(b, updn.Engine{}, large)},
		{"every entry, fattree 3,36", largeTables, by(b, minhop.Engine{}, large, 3)},
		{"a failed link, fattree 3,36", largeTables, treestest.Minhop(b, large.Without(failed))},
		{"a failed link, routes kept, fattree 3,36", largeTables, without(minhop.Engine{})},
		{"minhop to updn, torus 10x10x10", treestest.Minhop(b, torus), by(b, updn.Engine{}, torus)},
		{"minhop to dor, torus 10x10x10", treestest.Minhop(b, torus), by(b, minhop.DOR{}, torus)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var p *Plan
			b.ReportAllocs()
			for b.Loop() {
				p = mustMake(b, c.live, c.staged)
			}
			b.ReportMetric(float64(p.Steps), "steps")
			b.ReportMetric(float64(len(p.Blocks)), "blocks")
			b.ReportMetric(float64(p.Extra), "extra")
			b.ReportMetric(float64(p.Totals().Entries), "entries")
		})
	}
}

// by routes with an engine and optionally a seed for scattering.
func by(t testing.TB, e routing.Engine, f *fabric.Fabric, scatter ...uint32) *fabric.Tables {
	t.Helper()
	opt := routing.Options{RootGUIDs: []uint64{f.SwitchNode(0).GUID}}
	if strings.HasPrefix(f.NodeName(f.Switches[0]), "leaf") {
		opt.RootGUIDs = nil
	}
	if len(scatter) > 0 {
		opt.ScatterPorts = scatter[len(scatter)-1]
	}
	r, err := e.Route(context.Background(), f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

// TestHitByMovedLIDs moves the LID of each of four hosts, to which the three others send.
func TestHitByMovedLIDs(t *testing.T) {
	f := made(t, "random:2,1,4")
	live := treestest.Minhop(t, f)
	for i, e := range f.EndPorts {
		lids := make([]uint16, len(f.EndPorts))
		for j, p := range f.EndPorts {
			lids[j] = f.Ports[p].LID
		}
		lids[i] = 40
		g, err := f.WithLIDs(lids)
		if err != nil {
			t.Fatal(err)
		}
		want := Hit{Moved: 3}
		if f.Nodes[f.Ports[e].Node].IsSwitch() {
			want.Moved = 0
		}
		p := mustMake(t, live, treestest.Minhop(t, g))
		if p.Hit.Moved != want.Moved || p.Hit.Down != 0 || len(p.Hit.Examples) != int(want.Moved) ||
			p.Totals().Hit != want.Moved {
			t.Errorf("%s moves: %+v", f.PortName(e), p.Hit)
		}
	}
}

// TestHitByALinkThatIsDown stages tables that use a link which is down in the live subnet. The pairs that use it have
// another path there.
func TestHitByALinkThatIsDown(t *testing.T) {
	f := made(t, "torus:3x3 hosts=2")
	staged := treestest.Minhop(t, f)
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) == fabric.None || f.PeerSwitch(l.B) == fabric.None {
			continue
		}
		live := treestest.Minhop(t, f.Without([]fabric.Link{l}))
		without := *staged
		without.Fabric = live.Fabric
		d, err := diff.Compare(t.Context(), staged, &without, diff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p := mustMake(t, live, staged); p.Hit.Down != d.Pairs.Lost || p.Hit.Down == 0 || p.Hit.Moved != 0 ||
			len(p.Hit.Examples) != min(10, int(p.Hit.Down)) {
			t.Errorf("%s fails: hit %+v, %d use it", f.PortName(l.A), p.Hit, d.Pairs.Lost)
		}
	}
}

// TestHitIsUnknown counts pairs whose new path uses a live switch with an unread table as unknown, not as interrupted.
func TestHitIsUnknown(t *testing.T) {
	f := made(t, "torus:3x3 hosts=2")
	staged := treestest.Minhop(t, f)
	unknown := int64(0)
	for i, l := range f.Links() {
		if f.PeerSwitch(l.A) == fabric.None || f.PeerSwitch(l.B) == fabric.None {
			continue
		}
		live := treestest.Minhop(t, f.Without([]fabric.Link{l}))
		live.Known = slices.Clone(live.Known)
		live.Known[i%len(live.Known)] = false
		after := *staged
		after.Fabric, after.Known = live.Fabric, live.Known
		var want Hit
		for _, src := range f.EndPorts {
			for _, dst := range f.EndPorts {
				lid := f.Ports[dst].LID
				if src == dst || f.Nodes[f.Ports[src].Node].IsSwitch() || f.Nodes[f.Ports[dst].Node].IsSwitch() {
					continue
				}
				before, now := walk.Trace(live, src, lid), walk.Trace(&after, src, lid)
				switch {
				case before.Verdict != walk.Delivered || now.Verdict == walk.Delivered:
				case now.Verdict == walk.Unknown:
					want.Unknown++
				default:
					want.Down++
				}
			}
		}
		if p := mustMake(t, live, staged); p.Hit.Down != want.Down || p.Hit.Unknown != want.Unknown ||
			p.Hit.None() != (want.Down+want.Unknown == 0) {
			t.Errorf("%s fails: hit %+v, walked %+v", f.PortName(l.A), p.Hit, want)
		}
		unknown += want.Unknown
	}
	if unknown == 0 {
		t.Error("no pair is unknown")
	}
}

// TestStepsByHand reverses the direction of a ring of five switches. A packet that one switch forwards as before comes
// back where the next one has changed, so they must change one after another, the last one before the destination
// first: four steps. Each switch has each of the four positions for some LID, so its one block is written four times.
func TestStepsByHand(t *testing.T) {
	f := made(t, "torus:5 hosts=1")
	right, left := turning(f, true), turning(f, false)
	if p := mustMake(t, right, left); p.Steps != 4 || len(p.Blocks) != 20 || p.Extra != 15 || p.Hit.Pairs() != 0 {
		t.Errorf("%d steps, %d writes, %d extra, want 4, 20, 15; hit %+v", p.Steps, len(p.Blocks), p.Extra, p.Hit)
	}
	// From spine to spine there is only up and then down.
	tree := made(t, "fattree:2,8")
	if p := mustMake(t, treestest.Minhop(t, tree), by(t, minhop.Engine{}, tree, 5)); p.Steps != 1 || p.Extra != 0 ||
		len(p.Blocks) == 0 {
		t.Errorf("other spines: %d steps, %d extra writes of %d", p.Steps, p.Extra, len(p.Blocks))
	}
}

// turning sends all packets round a ring of switches in one direction.
func turning(f *fabric.Fabric, right bool) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	next := func(sw fabric.SwitchIndex, right bool) (port uint8) {
		node := f.SwitchNode(sw)
		for num := uint8(1); num <= node.NumPorts; num++ {
			if peer := f.PeerSwitch(node.FirstPort + fabric.PortIndex(num)); peer != fabric.None &&
				(f.SwitchNode(peer).Desc == after(node.Desc, right)) {
				return num
			}
		}
		return fabric.NoPath
	}
	for _, e := range f.EndPorts {
		at, port := f.AttachedSwitch(e)
		for s := range f.NumSwitches() {
			lft.Row(s)[f.Ports[e].LID] = next(s, right)
		}
		lft.Row(at)[f.Ports[e].LID] = port
	}
	return fabric.NewTables(f, lft, "ring")
}

// after returns the name of the next or the previous switch of "sw-0" to "sw-4".
func after(desc string, right bool) string {
	n, step := int(desc[len(desc)-1]-'0'), 4
	if right {
		step = 1
	}
	return fmt.Sprintf("%s%d", desc[:len(desc)-1], (n+step)%5)
}
