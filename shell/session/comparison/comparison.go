// SPDX-License-Identifier: Apache-2.0

// Package comparison compares pictures, and what engines make of a subnet.
package comparison

import (
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
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/settings"
)

// Figures say what one engine makes of a subnet, or what tables do that are there.
type Figures struct {
	Name    string // the engine's, or names the picture or file
	Refused string // why the engine does not route the subnet, "" where it does; all that follows is 0 then
	// Computed says that an engine made the tables now: Took is its wall time, and
	// Allocated is how many bytes the program allocated meanwhile, for whatever it did.
	Computed  bool
	Took      time.Duration
	Allocated int64
	Worst     int64 // the edge forwarding index
	linkload.Quick
	// MaxHops and MeanHops count the links of paths.
	MaxHops        int
	MeanHops       float64
	analysis.Pairs // of all end ports of the base
	// VLs is how many VLs the paths take, 0 where that is unknown; Loop whether links wait for one another in a ring.
	VLs  int
	Loop credits.Verdict
	// Changed counts the entries that are others than on the switches, as [session.Session.Route] counts them, -1 where
	// those are not known; Unread switches have none there, and were not compared.
	Changed, Unread int
	// Loads are the paths over all links.
	Loads *linkload.Loads
}

// Engines routes the paper's subnet, else the live one, with each engine by itself, all that there are
// for none, and measures the tables that [session.Session.Route] would stage, those that the switches hold in that
// subnet, and those of with: pictures, history entries or files with routes. Nothing is staged. Found is called with
// each as it is done, where it is set. It fails with ctx's error where ctx ends first, and on a name or file that
// cannot be.
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
	more, err := alsoCompared(ctx, &st, with)
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
		set, err := st.Settings.Only(name)
		if err != nil {
			return err
		}
		e, err := measured(ctx, s, &st, name, set, op.Progress)
		if err != nil {
			return fmt.Errorf("engine %d of %d, %s: %w", i+1, len(names), fabric.Escape(name), err)
		}
		if err := found(e); err != nil {
			return err
		}
	}
	return nil
}

// Engine is [Engines] for one engine with no options. It holds up nothing else, so that it may run unasked.
func Engine(ctx context.Context, s *session.Session, name string) (Figures, error) {
	st := s.State()
	set, err := settings.Parse(ctx, []string{name}, nil)
	if err != nil {
		return Figures{}, err
	}
	if set, err = set.Only(name); err != nil {
		return Figures{}, err
	}
	return measured(ctx, s, &st, name, set, nil)
}

// try routes what is simulated with other settings. Nothing is staged, and no operation waits for it.
func try(ctx context.Context, s *session.Session, st *session.State, set settings.Settings,
	progress func(done, total int)) (*compute.Result, error) {
	with := st.Trying(set)
	job := s.Job(&with)
	if job.Options.Progress = progress; progress == nil {
		job.Torus = nil
	}
	res, err := compute.Unicast(ctx, job)
	if err == nil {
		res.Tables, err = with.Completed(ctx, res.Tables)
	}
	return res, err
}

func measured(ctx context.Context, s *session.Session, st *session.State, name string, set settings.Settings,
	progress func(done, total int)) (Figures, error) {
	e := Figures{Name: name, Computed: true}
	before := allocated()
	res, err := try(ctx, s, st, set, progress)
	var none *engines.NoneError
	switch {
	case errors.As(err, &none):
		e.Refused = strings.Join(prose.Words(none.Refusals, func(r engines.Refusal) string { return r.Reason }), "; ")
		return e, nil
	case err != nil:
		return e, err
	}
	e.Took, e.Allocated = res.Figures.Took, allocated()-before
	return e, e.measure(ctx, s.Analysis(), st, res.Tables, progress)
}

// tablesCompared are tables beside those of engines.
type tablesCompared struct {
	name   string
	tables *fabric.Tables
}

// alsoCompared are the tables of the switches, in the what-if where there is one, and those named.
func alsoCompared(ctx context.Context, st *session.State, with []string) ([]tablesCompared, error) {
	var out []tablesCompared
	held := session.Live
	if st.WhatIf != nil {
		held = session.WhatIf // what the switches hold, with what failed since
	}
	if p, err := st.TablesOf(held); err == nil {
		out = append(out, tablesCompared{"on the switches", p.Tables})
	}
	for _, name := range with {
		if p, err := st.TablesOf(session.Kind(name)); err == nil {
			if p.Kind != held {
				out = append(out, tablesCompared{st.Title(p), p.Tables})
			}
			continue
		} else if !looksLikeFile(name) {
			return nil, err
		}
		t, err := loading.ReadTables(ctx, st.Paper(), name)
		if err != nil {
			return nil, err
		}
		out = append(out, tablesCompared{fabric.Escape(filepath.Base(name)), t})
	}
	return out, nil
}

// looksLikeFile reports whether a name is neither a number nor a picture's.
func looksLikeFile(name string) bool {
	return strings.Trim(name, "0123456789") != "" && !slices.Contains(session.Kinds, session.Kind(name))
}

// measure fills in what tables do.
func (e *Figures) measure(ctx context.Context, memo *analysis.Memo, st *session.State, t *fabric.Tables,
	progress func(done, total int)) error {
	r, err := memo.Reach(ctx, t, reach.Options{Progress: progress})
	if err != nil {
		return err
	}
	if e.Pairs, err = memo.Pairs(ctx, t, reach.Options{Progress: progress}); err != nil {
		return err
	}
	e.MaxHops, e.MeanHops = hops(r.Links)
	l, err := memo.Load(ctx, t, linkload.Options{Progress: progress})
	if err != nil {
		return err
	}
	e.Worst, e.Loads = l.Summary(1).EdgeForwardingIndex, l
	if e.Quick, err = linkload.Estimate(ctx, t, linkload.Hosts(t.Fabric), 1, progress); err != nil {
		return err
	}
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

// hops are the most and the mean of the links of paths.
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

// allocated is how many bytes the program has allocated since it began.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
