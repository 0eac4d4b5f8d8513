// SPDX-License-Identifier: Apache-2.0

package incremental_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/walk"
)

// failed removes a link or two, or all links of a switch.
func failed(f *fabric.Fabric, r *rand.Rand) ([]fabric.Link, *fabric.Fabric) {
	links := f.Links()
	var gone []fabric.Link
	for range 1 + r.IntN(2) {
		l := links[r.IntN(len(links))]
		if r.IntN(8) > 0 {
			gone = append(gone, l)
			continue
		}
		for _, m := range links {
			if f.Ports[m.A].Node == f.Ports[l.A].Node || f.Ports[m.B].Node == f.Ports[l.A].Node {
				gone = append(gone, m)
			}
		}
	}
	return gone, f.Without(gone)
}

var fabrics = []string{
	"fattree:2,24", "fattree:3,10", "torus:6x6", "torus:4x4x4", "random:60,12,150", "hypercube:6", "xgft:2,8,8,1,4,1,2",
	"mesh:6x6",
	"mesh:3x3,links=2", "mesh:3x2,links=40", // parallel cables, and more than a word has bits
}

// TestRandomFailures checks random failures: every pair that can be connected is, nothing loops, and far fewer entries
// are touched than a full routing computes or changes.
func TestRandomFailures(t *testing.T) {
	r := testenv.Rand(t)
	count := testenv.Count(t, 400, 2000)
	sum, whole, all := 0, 0, 0
	for _, spec := range fabrics {
		old := treestest.Routed(t, spec)
		base := baseOf(t, old)
		measured, err := base.Measured(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range count / len(fabrics) {
			gone, f := failed(old.Fabric, r)
			what := fmt.Sprintf("%s without %d links", spec, len(gone))
			res, err := incremental.Route(context.Background(), f, old, routing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(4) == 0 || testenv.Full() {
				checkPaths(t, what, old, res)
			}
			checkQuick(t, what, base, f, res)
			checkQuick(t, what+", measured", measured, f, res)
			again := treestest.Minhop(t, f)
			sum += res.Touched
			whole += changed(old, again)
			all += len(f.Switches) * int(f.MaxLID)
		}
		t.Logf("%s: %d of %d so far", spec, sum, whole)
	}
	if whole == 0 || sum*10 > all || sum*5 > whole {
		t.Errorf("%d entries touched, a full routing computes %d and changes %d: want less than a tenth, and a fifth",
			sum, all, whole)
	}
	t.Logf("%d entries touched, %.2f %% of the entries that a full routing changes, %.2f %% of all", sum,
		100*float64(sum)/float64(whole), 100*float64(sum)/float64(all))
}

func baseOf(t testing.TB, old *fabric.Tables) *incremental.Base {
	t.Helper()
	base, err := incremental.NewBase(context.Background(), old)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// checkQuick checks that the result from a prepared base is the same.
func checkQuick(t *testing.T, what string, base *incremental.Base, f *fabric.Fabric, want *incremental.Result) {
	t.Helper()
	got, err := base.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Touched != want.Touched || got.Switches != want.Switches || !slices.Equal(got.Changes, want.Changes) ||
		!slices.Equal(got.Unreached, want.Unreached) {
		t.Fatalf("%s: from a base %d entries on %d switches, %d not reached, else %d, %d, %d", what,
			got.Touched, got.Switches, len(got.Unreached), want.Touched, want.Switches, len(want.Unreached))
	}
	for sw := range f.NumSwitches() {
		if !bytes.Equal(got.Tables.LFT.Row(sw), want.Tables.LFT.Row(sw)) {
			for lid, p := range got.Tables.LFT.Row(sw) {
				if q := want.Tables.LFT.Row(sw)[lid]; p != q {
					t.Errorf("%s: switch %d LID %d: port %d from a base, else %d, was %d", what, sw, lid, p, q,
						base.Tables.LFT.Row(sw)[lid])
				}
			}
			t.FailNow()
		}
	}
	if !slices.Equal(got.Tables.Known, want.Tables.Known) || !slices.Equal(got.Tables.Top, want.Tables.Top) {
		t.Fatalf("%s: other tops or known switches from a base", what)
	}
}

// TestBaseOfAnything checks that a base handles broken or incomplete tables, and fabrics that are not a part of theirs,
// as Route does.
func TestBaseOfAnything(t *testing.T) {
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 100, 3000) {
		f := treestest.Random(t, r)
		old := treestest.Broken(r, treestest.Minhop(t, f), r.IntN(4)*r.IntN(4))
		base := baseOf(t, old)
		now := old.Fabric
		if len(now.Links()) > 0 {
			_, now = failed(now, r)
		}
		if r.IntN(8) == 0 {
			now = f
		}
		want, err := incremental.Route(context.Background(), now, old, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkQuick(t, fmt.Sprintf("case %d", i), base, now, want)
		if base, err = base.Measured(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkQuick(t, fmt.Sprintf("case %d, measured", i), base, now, want)
	}
}

// changed counts the entries that differ, for LIDs that still exist.
func changed(a, b *fabric.Tables) int {
	n := 0
	for sw := range a.Fabric.NumSwitches() {
		for lid := range int(a.Fabric.MaxLID) + 1 {
			if a.Port(sw, uint16(lid)) != b.Port(sw, uint16(lid)) {
				n++
			}
		}
	}
	return n
}

// checkPaths walks every pair.
func checkPaths(t *testing.T, what string, old *fabric.Tables, res *incremental.Result) {
	t.Helper()
	f := res.Tables.Fabric
	named := map[incremental.Unreached]bool{}
	for _, u := range res.Unreached {
		named[u] = true
	}
	count := 0
	for sw := range f.NumSwitches() {
		was := old.LFT.Row(sw)[:int(f.MaxLID)+1]
		now := res.Tables.LFT.Row(sw)[:int(f.MaxLID)+1]
		if !bytes.Equal(was, now) {
			for i := range was {
				if was[i] != now[i] {
					count++
				}
			}
		}
		if !f.SwitchNode(sw).InSubnet {
			continue
		}
		for _, dst := range f.EndPorts {
			lid := f.Ports[dst].LID
			path := walk.Trace(res.Tables, f.SwitchNode(sw).FirstPort, lid)
			if !path.Verdict.Arrives() && !named[incremental.Unreached{Switch: sw, LID: lid}] {
				t.Fatalf("%s: %s to LID %d: %s", what, f.NodeName(f.Switches[sw]), lid, path.Explain(f))
			}
		}
	}
	if count != res.Touched {
		t.Fatalf("%s: %d entries differ, the result counts %d", what, count, res.Touched)
	}
	if len(res.Unreached) > 0 {
		t.Fatalf("%s: %d entries have no path, although all that is in the subnet hangs together", what,
			len(res.Unreached))
	}
}

// TestHostLinkChangesNothing and the following tests are the cases of the memo.
func TestHostLinkChangesNothing(t *testing.T) {
	old := treestest.Routed(t, "fattree:2,8")
	f := old.Fabric
	last := f.EndPorts[len(f.EndPorts)-1]
	for _, e := range f.EndPorts {
		if p := &f.Ports[e]; !f.Nodes[p.Node].IsSwitch() && e != f.EndPortOf(f.SMPort) {
			last = e
		}
	}
	gone := fabric.Link{A: min(last, f.Ports[last].Peer), B: max(last, f.Ports[last].Peer)}
	res, err := incremental.Route(context.Background(), f.Without([]fabric.Link{gone}), old, routing.Options{})
	if err != nil || res.Touched != 0 {
		t.Errorf("%d entries touched, %v; want none", res.Touched, err)
	}
}

// TestParallelLinksTakeOver removes one of two links between two switches. All its routes must use the other one.
func TestParallelLinksTakeOver(t *testing.T) {
	old := treestest.Routed(t, "xgft:2,4,4,1,2,1,2")
	f := old.Fabric
	var gone fabric.Link
	for _, l := range f.Links() {
		a, b := f.PeerSwitch(l.B), f.PeerSwitch(l.A)
		if a != fabric.None && b != fabric.None && parallel(f, l) != fabric.None {
			gone = l
		}
	}
	if gone == (fabric.Link{}) {
		t.Fatal("no parallel links in the fabric")
	}
	other := f.Ports[parallel(f, gone)].Num
	g := f.Without([]fabric.Link{gone})
	res, err := incremental.Route(context.Background(), g, old, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sw := f.Nodes[f.Ports[gone.A].Node].Switch
	moved := 0
	for lid := range f.MaxLID + 1 {
		was, now := old.Port(sw, lid), res.Tables.Port(sw, lid)
		if was == f.Ports[gone.A].Num {
			moved++
			if now != other {
				t.Errorf("LID %d uses port %d, want %d, the parallel link", lid, now, other)
			}
		} else if was != now {
			t.Errorf("LID %d, which did not use the link, uses port %d instead of %d", lid, now, was)
		}
	}
	if moved == 0 {
		t.Error("no route used the link")
	}
}

// parallel returns the port, of the node of l.A, of another link between the same nodes.
func parallel(f *fabric.Fabric, l fabric.Link) fabric.PortIndex {
	n := &f.Nodes[f.Ports[l.A].Node]
	for p := range n.Ports() {
		if p != l.A && f.PeerNode(p) == f.Ports[l.B].Node {
			return p
		}
	}
	return fabric.None
}

// TestAdditionsAreRouted adapts the tables of a subnet without a switch to the subnet with it, and the same for a host.
func TestAdditionsAreRouted(t *testing.T) {
	r := testenv.Rand(t)
	for _, spec := range fabrics {
		whole := treestest.Routed(t, spec).Fabric
		gone, part := failed(whole, r)
		old := treestest.Minhop(t, part)
		res, err := incremental.Route(context.Background(), whole, old, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f := res.Tables.Fabric
		for _, src := range f.EndPorts {
			for _, dst := range f.EndPorts {
				path := walk.Trace(res.Tables, src, f.Ports[dst].LID)
				if !path.Verdict.Arrives() {
					t.Fatalf("%s, %d links back: %s to %s: %s", spec, len(gone), f.PortName(src), f.PortName(dst),
						path.Explain(f))
				}
			}
		}
	}
}

// TestVerdicts compares the rows of the memo's table 1 with simulated changes.
func TestVerdicts(t *testing.T) {
	f := treestest.Routed(t, "xgft:2,4,4,1,2,1,2").Fabric
	var single, host, sw []fabric.Link
	for _, l := range f.Links() {
		a, b := f.PeerSwitch(l.B), f.PeerSwitch(l.A)
		switch {
		case a == fabric.None || b == fabric.None:
			if p := f.EndPortOf(f.SMPort); l.A != p && l.B != p {
				host = []fabric.Link{l}
			}
		case parallel(f, l) != fabric.None:
			single = []fabric.Link{l}
		}
	}
	for _, l := range f.Links() {
		if f.Ports[l.A].Node == f.Ports[single[0].B].Node || f.Ports[l.B].Node == f.Ports[single[0].B].Node {
			sw = append(sw, l)
		}
	}
	both := append(single[:1:1], fabric.Link{A: parallel(f, single[0]), B: f.Ports[parallel(f, single[0])].Peer})
	for _, c := range []struct {
		name        string
		before, now *fabric.Fabric
		row         string
		minHop      bool
		lft         incremental.Extent
	}{
		{"switch gone", f, f.Without(sw), "missing switch", true, incremental.AllRoutes},
		{"switch new", f.Without(sw), f, "new switch", true, incremental.AllRoutes},
		{"one of two cables", f, f.Without(single), "missing cable (SW to SW)", false, incremental.ThroughPort},
		{"both cables", f, f.Without(both), "missing cable (SW to SW)", true, incremental.ThroughPort},
		{"new cable", f.Without(single), f, "new cable", false, incremental.NoRoutes},
		{"host gone", f, f.Without(host), "missing HCA", false, incremental.NoRoutes},
		{"host new", f.Without(host), f, "new HCA", false, incremental.NoRoutes},
	} {
		hit := false
		for _, v := range incremental.Verdicts(c.before, c.now) {
			if v.Row == c.row {
				hit = true
				if v.MinHop != c.minHop || v.LFT != c.lft {
					t.Errorf("%s: %v", c.name, v)
				}
			}
		}
		if !hit {
			t.Errorf("%s: no verdict for %q: %v", c.name, c.row, incremental.Verdicts(c.before, c.now))
		}
	}
}

// BenchmarkOneLink adapts 1620 switches to failed links one after another, and compares with full routing.
func BenchmarkOneLink(b *testing.B) {
	old := treestest.Routed(b, "fattree:3,36")
	base := baseOf(b, old)
	var links []fabric.Link
	for _, l := range old.Fabric.Links() {
		if old.Fabric.PeerSwitch(l.A) != fabric.None && old.Fabric.PeerSwitch(l.B) != fabric.None {
			links = append(links, l)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	some := func() []fabric.Link { return []fabric.Link{links[r.IntN(len(links))]} }
	run := func(b *testing.B, route func(f *fabric.Fabric) (*incremental.Result, error)) {
		var touched, looked, lids, switches int
		for b.Loop() {
			res, err := route(old.Fabric.Without(some()))
			if err != nil {
				b.Fatal(err)
			}
			touched, looked, lids, switches = touched+res.Touched, looked+res.Looked, lids+res.LIDs, switches+
				res.Switches
		}
		b.ReportMetric(float64(touched)/float64(b.N), "touched")
		b.ReportMetric(float64(looked)/float64(b.N), "looked")
		b.ReportMetric(float64(lids)/float64(b.N), "lids")
		b.ReportMetric(float64(switches)/float64(b.N), "switches")
	}
	b.Run("base", func(b *testing.B) {
		run(b, func(f *fabric.Fabric) (*incremental.Result, error) {
			return base.Route(b.Context(), f, routing.Options{})
		})
	})
	b.Run("anything", func(b *testing.B) {
		run(b, func(f *fabric.Fabric) (*incremental.Result, error) {
			return incremental.Route(b.Context(), f, old, routing.Options{})
		})
	})
	b.Run("without", func(b *testing.B) {
		for b.Loop() {
			old.Fabric.Without(some())
		}
	})
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			baseOf(b, old)
		}
	})
	b.Run("full", func(b *testing.B) {
		for b.Loop() {
			treestest.Minhop(b, old.Fabric)
		}
	})
}
