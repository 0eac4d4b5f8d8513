// SPDX-License-Identifier: Apache-2.0

package comparison_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// TestCompareEngines checks the figures of engines on a torus against routing with each of them alone, and against a
// walk of every pair.
func TestCompareEngines(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:4x4x3")
	set, err := settings.Parse(t.Context(), nil, []settings.Setting{{Name: "qos", Value: "TRUE"}})
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	file := writeDump(t, s, "lfts")
	got := map[string]comparison.Figures{}
	err = comparison.Engines(t.Context(), s, nil, []string{file, "live"}, func(e comparison.Figures) error {
		got[e.Name] = e
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.State().Staged != nil {
		t.Error("the comparison staged tables")
	}
	for _, e := range engines.All() {
		g, ok := got[e.Name()]
		if !ok {
			t.Errorf("%s is missing", e.Name())
			continue
		}
		set, err := settings.Parse(t.Context(), []string{e.Name(), engines.NoFallback}, set.Given)
		if err != nil {
			t.Fatal(err)
		}
		s.SetSettings(set)
		rep, err := s.Route(t.Context(), compute.KeepNo)
		if none := (*engines.NoneError)(nil); errors.As(err, &none) != (g.Refused != "") {
			t.Errorf("%s: Route returned %v, the comparison reports the refusal %q", e.Name(), err, g.Refused)
		}
		if err != nil {
			continue
		}
		checkByWalk(t, &g, rep.Changed, s.State().Staged.Tables)
	}
	for _, name := range []string{"on the switches", filepath.Base(file)} {
		checkByWalk(t, new(got[name]), 0, s.State().Live.Tables)
	}
}

func writeDump(t *testing.T, s *session.Session, kind string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := dumps.Write(t.Context(), s, kind, session.Live, &b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), kind)
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// checkByWalk checks figures against a walk of every pair.
func checkByWalk(t *testing.T, g *comparison.Figures, changed int, tables *fabric.Tables) {
	t.Helper()
	f := tables.Fabric
	links := map[fabric.PortIndex]int64{}
	var worst, paths, sum int64
	most := 0
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			if src == dst || f.Nodes[f.Ports[src].Node].IsSwitch() || f.Nodes[f.Ports[dst].Node].IsSwitch() {
				continue
			}
			p := walk.Trace(tables, src, f.Ports[dst].LID)
			if p.Verdict != walk.Delivered {
				t.Fatalf("%s: %v", g.Name, p.Verdict)
			}
			for _, h := range p.Hops {
				if !f.Nodes[h.Node].IsSwitch() {
					continue
				}
				out := h.Out
				if f.PeerSwitch(out) != fabric.None {
					links[out]++
					worst = max(worst, links[out])
				}
			}
			crossed := len(p.Hops) - 1
			paths, sum, most = paths+1, sum+int64(crossed), max(most, crossed)
		}
	}
	c, err := credits.Check(t.Context(), tables, credits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean := float64(sum) / float64(paths)
	if g.Worst != worst || g.Paths != paths || g.Lost != 0 || g.MaxHops != most || g.MeanHops != mean ||
		g.Changed != changed || g.Loop != c.Verdict {
		t.Errorf("%+v; a walk has worst %d, %d paths, hops %d (%g), changed %d", *g, worst, paths, most, mean, changed)
	}
}

// TestCompareEnginesAfterFailures checks the figures of engines and of the incremental route in a what-if against the
// tables that route stages with each of them, and the figures of the tables on the switches against a walk of every
// pair of the base.
func TestCompareEnginesAfterFailures(t *testing.T) {
	for source, fails := range map[string][]string{"sim:hypercube:3": {"sw-001"}, "sim:fattree:2,6": {"spine-01"},
		"sim:torus:5x2": {"sw-0-0"}, "sim:fattree:2,8": {"leaf-08", "spine-02"}} {
		s := sessiontest.Open(t, source)
		for _, name := range fails {
			if _, err := s.Fail(t.Context(), failures.Named("switch", []string{name}, 0)); err != nil {
				t.Fatal(err)
			}
		}
		st := s.State()
		held, names := st.WhatIf.Tables, comparison.Names(&st)
		got := map[string]comparison.Figures{}
		err := comparison.Engines(t.Context(), s, names, nil, func(e comparison.Figures) error {
			got[e.Name] = e
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			g := got[name]
			if e, err := comparison.Try(t.Context(), s, &st, name, nil); err != nil || e.Pairs != g.Pairs ||
				e.Worst != g.Worst || e.Changed != g.Changed || e.Loop != g.Loop || e.Refused != g.Refused {
				t.Errorf("%s, %s: Try returned %+v, %v; Engines %+v", source, name, e, err, g)
			}
		}
		rep, err := s.RouteIncremental(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		checkTables(t, source, new(got[comparison.Incremental]), rep.Figures.Changed, s.State().Staged.Tables)
		checkTables(t, source, new(got["on the switches"]), 0, held)
		for _, e := range engines.All() {
			set, err := settings.Parse(t.Context(), []string{e.Name(), engines.NoFallback}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.SetSettings(set)
			if rep, err := s.Route(t.Context(), compute.KeepAsOpenSM); err == nil {
				checkTables(t, source, new(got[e.Name()]), rep.Changed, s.State().Staged.Tables)
			}
		}
	}
}

// checkTables checks figures against tables. It counts pairs by a walk between all end ports that existed before the
// failures.
func checkTables(t *testing.T, source string, g *comparison.Figures, changed int, tables *fabric.Tables) {
	t.Helper()
	f := tables.Fabric
	var pairs, lost int64
	for src := range f.NumPorts() {
		for dst := range f.NumPorts() {
			if src == dst || !isHostPort(f, src) || !isHostPort(f, dst) {
				continue
			}
			pairs++
			lid := f.Ports[dst].LID
			if f.PortByLID(lid) != dst || f.Ports[src].Peer == fabric.None || !f.Nodes[f.Ports[src].Node].InSubnet ||
				!walk.Trace(tables, src, lid).Verdict.Arrives() {
				lost++
			}
		}
	}
	c, err := credits.Check(t.Context(), tables, credits.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := linkload.AllToAll(t.Context(), tables, linkload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	worst := l.Summary(1).EdgeForwardingIndex
	if g.Pairs.Pairs != pairs || g.Lost != lost || g.Worst != worst || g.Changed != changed || g.Loop != c.Verdict {
		t.Errorf("%s, %s: %+v; as routed %d of %d pairs are lost, worst load %d, %d entries changed, credit loop %v",
			source, g.Name, *g, lost, pairs, worst, changed, c.Verdict)
	}
}

func isHostPort(f *fabric.Fabric, port fabric.PortIndex) bool {
	return !f.Nodes[f.Ports[port].Node].IsSwitch() && f.Ports[port].GUID != 0 && f.Ports[port].LID != 0
}

// TestCompareEnginesStops cancels a comparison after the first result, and checks the errors of invalid names.
func TestCompareEnginesStops(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:4x4x3")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	err := comparison.Engines(ctx, s, nil, nil, func(comparison.Figures) error {
		n++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%v after %d results, want canceled after 1", err, n)
	}
	for _, with := range []string{"77", "nowhere.lfts", "staged"} {
		if err := comparison.Engines(t.Context(), s, nil, []string{with}, func(comparison.Figures) error {
			return nil
		}); err == nil {
			t.Errorf("with=%s: no error", with)
		}
	}
	if err := comparison.Engines(t.Context(), s, []string{"nonsense"}, nil, func(comparison.Figures) error {
		return nil
	}); err == nil {
		t.Error("an unknown engine: no error")
	}
}
