// SPDX-License-Identifier: Apache-2.0

// Package comparison compares states of the subnet. It also compares the tables that different engines compute for a
// subnet.
package comparison

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/settings"
)

// Figures holds the properties of the tables that an engine computed, or of existing tables.
type Figures struct {
	Name    string // of the engine, the state or the file
	Refused string // why the engine refused the subnet, "" if it did not; if set, all fields below are 0
	// Computed is set if an engine computed the tables for this comparison. Took is the wall time of the computation.
	// Allocated is the number of bytes that the whole program allocated in that time.
	Computed  bool
	Took      time.Duration
	Allocated int64
	Worst     int64 // the edge forwarding index
	linkload.Quick
	// MaxHops and MeanHops are the maximum and mean number of links of a path.
	MaxHops        int
	MeanHops       float64
	analysis.Pairs // of all end ports of the base state
	// VLs is the number of VLs that the paths use, or 0 if unknown. Loop is the verdict on credit loops.
	VLs  int
	Loop credits.Verdict
	// Changed counts the entries that differ from the tables on the switches, as [session.Session.Route] counts them.
	// It is -1 if those tables are unknown. Unread counts the switches that were not compared, because their tables
	// were not read.
	Changed, Unread int
	// Repair is the method by which an incremental route replaced broken paths.
	Repair persist.Repair
	// Loads counts the paths per link.
	Loads *linkload.Loads
}

// Engines routes the what-if subnet, or the live subnet if there is no what-if. It does so with each of the named
// engines separately, or with all engines if the argument names is empty. It measures the tables that
// [session.Session.Route] would stage, and the tables on the switches. It also measures the tables that the argument
// with lists: names of states, history entries or files with routes.
//
// Engines stages nothing. It calls the function found with each result. It returns an error if ctx ends, or if a name
// or file is invalid.
func Engines(ctx context.Context, s *session.Session, names, with []string, found func(Figures) error) error {
	op, err := s.Begin(ctx, "compare engines")
	if err != nil {
		return err
	}
	defer op.End()
	st := s.State()
	if len(names) == 0 {
		names = st.Settings.Engines()
	}
	more, err := otherTables(ctx, &st, with)
	if err != nil {
		return err
	}
	for _, p := range more {
		e := Figures{Name: p.name}
		if err := e.measure(ctx, s.Analysis(), &st, p.tables, op.Progress); err != nil {
			return err
		}
		if err := found(e); err != nil {
			return err
		}
	}
	for i, name := range names {
		op.Name(fmt.Sprintf("compare engines: %s, %d of %d", name, i+1, len(names)))
		e, t, err := routeBy(ctx, s, &st, name, op.Progress)
		if err == nil && t != nil {
			err = e.measure(ctx, s.Analysis(), &st, t, op.Progress)
		}
		if err != nil {
			return fmt.Errorf("engine %d of %d, %s: %w", i+1, len(names), fabric.Escape(name), err)
		}
		if err := found(e); err != nil {
			return err
		}
	}
	return nil
}

// Incremental is the name under which [Try] and [Engines] compare the incremental route.
const Incremental = "incremental"

// Names returns what [Try] accepts for a state: the engines, and first the incremental route if there are tables that
// it can adapt.
func Names(st *session.State) []string {
	names := st.Settings.Engines()
	if st.PaperBase().Tables != nil {
		names = slices.Insert(names, 0, Incremental)
	}
	return names
}

// Try returns the figures of the tables that [session.Session.Route] would stage with an engine and the options of the
// state, or [session.Session.RouteIncremental] for the name [Incremental]. It leaves out the figures that take longest:
// those of [linkload.Quick] and the numbers of hops. It blocks no other operation, so it can run in the background.
func Try(ctx context.Context, s *session.Session, st *session.State, name string,
	progress func(done, total int)) (Figures, error) {
	e, t, err := routeBy(ctx, s, st, name, progress)
	if err != nil || t == nil {
		return e, err
	}
	return e, e.essentials(ctx, s.Analysis(), st, t, progress)
}

// routeBy computes tables with an engine and the options of the state, or incrementally. It returns nil tables if they
// are refused.
func routeBy(ctx context.Context, s *session.Session, st *session.State, name string,
	progress func(done, total int)) (Figures, *fabric.Tables, error) {
	if name == Incremental {
		return adapt(ctx, s, st)
	}
	set, err := st.Settings.Only(name)
	if err != nil {
		return Figures{}, nil, err
	}
	return routeOnce(ctx, s, st, name, set, progress)
}

// adapt adapts the tables of the base, or the live tables.
func adapt(ctx context.Context, s *session.Session, st *session.State) (Figures, *fabric.Tables, error) {
	e := Figures{Name: Incremental, Computed: true}
	job := s.Job(st)
	job.Incremental, job.Options.Progress, job.Torus = true, nil, new(torus.Cache)
	before := allocated()
	res, err := compute.Run(ctx, job)
	if err == nil {
		res.Tables, err = st.Completed(ctx, res.Tables)
	}
	switch {
	case ctx.Err() != nil:
		return e, nil, ctx.Err()
	case err != nil:
		e.Refused = err.Error()
		return e, nil, nil
	}
	e.Took, e.Allocated = res.Figures.Took, allocated()-before
	e.Repair = res.Adaptation.Repair
	return e, res.Tables, nil
}

// Engine returns the figures of a single engine without options. It blocks no other operation, so it can run in the
// background.
func Engine(ctx context.Context, s *session.Session, name string) (Figures, error) {
	st := s.State()
	set, err := settings.Parse(ctx, []string{name}, nil)
	if err != nil {
		return Figures{}, err
	}
	if set, err = set.Only(name); err != nil {
		return Figures{}, err
	}
	return routeAndMeasure(ctx, s, &st, name, set, nil)
}

// routeWith routes the simulated subnet with other settings. It stages nothing and blocks no other operation.
func routeWith(ctx context.Context, s *session.Session, st *session.State, set settings.Settings,
	progress func(done, total int)) (*compute.Result, error) {
	with := st.Trying(set)
	job := s.Job(&with)
	job.Options.Progress, job.Torus = progress, new(torus.Cache) // other operations may use that of the session
	res, err := compute.Unicast(ctx, job)
	if err == nil {
		res.Tables, err = with.Completed(ctx, res.Tables)
	}
	return res, err
}

// routeAndMeasure returns the figures of the tables that an engine computes with the settings.
func routeAndMeasure(ctx context.Context, s *session.Session, st *session.State, name string, set settings.Settings,
	progress func(done, total int)) (Figures, error) {
	e, t, err := routeOnce(ctx, s, st, name, set, progress)
	if err != nil || t == nil {
		return e, err
	}
	return e, e.measure(ctx, s.Analysis(), st, t, progress)
}

// routeOnce returns the tables that an engine computes with the settings, or nil if the engine refuses the subnet.
func routeOnce(ctx context.Context, s *session.Session, st *session.State, name string, set settings.Settings,
	progress func(done, total int)) (Figures, *fabric.Tables, error) {
	e := Figures{Name: name, Computed: true}
	before := allocated()
	res, err := routeWith(ctx, s, st, set, progress)
	var none *engines.NoneError
	switch {
	case errors.As(err, &none):
		e.Refused = strings.Join(prose.Words(none.Refusals, func(r engines.Refusal) string { return r.Reason }), "; ")
		return e, nil, nil
	case err != nil:
		return e, nil, err
	}
	e.Took, e.Allocated = res.Figures.Took, allocated()-before
	return e, res.Tables, nil
}

// HasLoop reports whether the tables have a credit loop.
func (e *Figures) HasLoop() bool { return e.Loop == credits.Loop }

// Beats reports whether the tables are better than the best ones so far, nil for none. Existing tables never are.
func (e *Figures) Beats(best *Figures) bool {
	if !e.Computed || best == nil {
		return e.Computed
	}
	loop := func(e *Figures) int {
		return slices.Index([]credits.Verdict{credits.None, credits.Unknown, credits.Loop}, e.Loop)
	}
	bisection := func(e *Figures) float64 {
		if e.Bisections == nil {
			return 0
		}
		return e.Bisections.Mean
	}
	return cmp.Or(cmp.Compare(e.Lost+e.Luck, best.Lost+best.Luck), cmp.Compare(e.Pairs.Unknown, best.Pairs.Unknown),
		cmp.Compare(loop(e), loop(best)),
		cmp.Compare(e.Worst, best.Worst), cmp.Compare(bisection(best), bisection(e)),
		cmp.Compare(e.MeanHops, best.MeanHops), cmp.Compare(e.Changed, best.Changed)) < 0
}

// namedTables holds existing tables that are compared with the tables of engines.
type namedTables struct {
	name   string
	tables *fabric.Tables
}

// otherTables returns the existing tables to compare: the tables on the switches, and the tables in the argument with.
// If there is a what-if, the tables of the switches are applied to its fabric.
func otherTables(ctx context.Context, st *session.State, with []string) ([]namedTables, error) {
	var out []namedTables
	current := session.Live
	if st.WhatIf != nil {
		current = session.WhatIf // the tables of the switches with the simulated failures
	}
	if p, err := st.TablesOf(current); err == nil {
		out = append(out, namedTables{"on the switches", p.Tables})
	}
	for _, name := range with {
		if p, err := st.TablesOf(session.Kind(name)); err == nil {
			if p.Kind != current {
				out = append(out, namedTables{st.Title(p), p.Tables})
			}
			continue
		} else if !looksLikeFile(name) {
			return nil, err
		}
		t, err := loading.ReadTables(ctx, st.Paper(), name)
		if err != nil {
			return nil, err
		}
		out = append(out, namedTables{fabric.Escape(filepath.Base(name)), t})
	}
	return out, nil
}

// looksLikeFile reports whether a name is neither a number nor the name of a state.
func looksLikeFile(name string) bool {
	return strings.Trim(name, "0123456789") != "" && !slices.Contains(session.Kinds, session.Kind(name))
}

// measure sets the figures of tables.
func (e *Figures) measure(ctx context.Context, memo *analysis.Memo, st *session.State, t *fabric.Tables,
	progress func(done, total int)) error {
	if err := e.essentials(ctx, memo, st, t, progress); err != nil {
		return err
	}
	r, err := memo.Reach(ctx, t, reach.Options{Progress: progress})
	if err != nil {
		return err
	}
	e.MaxHops, e.MeanHops = hops(r.Links)
	e.Quick, err = linkload.Estimate(ctx, t, linkload.Hosts(t.Fabric), 1, progress)
	return err
}

// essentials sets the figures of [Try].
func (e *Figures) essentials(ctx context.Context, memo *analysis.Memo, st *session.State, t *fabric.Tables,
	progress func(done, total int)) (err error) {
	if e.Pairs, err = memo.Pairs(ctx, t, reach.Options{Progress: progress}); err != nil {
		return err
	}
	l, err := memo.Load(ctx, t, linkload.Options{Progress: progress})
	if err != nil {
		return err
	}
	e.Worst, e.Loads = l.Summary(1).EdgeForwardingIndex, l
	c, err := memo.Credits(ctx, t, credits.Options{Progress: progress})
	if err != nil {
		return err
	}
	if e.Loop = c.Verdict; !c.Unread.Any() {
		e.VLs = c.VLs
	}
	e.Changed = -1
	if base := st.PaperBase(); base.Tables != nil && base.Fabric.MaxLID > 0 {
		d := diff.Count(base.Tables, t)
		e.Changed, e.Unread = d.Changed, d.Unread
	}
	return nil
}

// hops returns the maximum and mean number of links of a path. links[l] is the number of paths with l links.
func hops(links []int64) (most int, mean float64) {
	var n, sum int64
	for l, paths := range links {
		if paths > 0 {
			most = max(most, l)
			n += paths
			sum += paths * int64(l)
		}
	}
	if n == 0 {
		return 0, 0
	}
	return most, float64(sum) / float64(n)
}

// allocated returns the number of bytes that the program has allocated since its start.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
