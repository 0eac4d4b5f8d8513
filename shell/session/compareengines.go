// SPDX-License-Identifier: Apache-2.0

package session

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
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/settings"
)

// EngineFigures say what one engine makes of a subnet, or what tables do that are there.
type EngineFigures struct {
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
	// Changed counts the entries that are others than on the switches, as [Session.Route] counts them, -1 where
	// those are not known; Unread switches have none there, and were not compared.
	Changed, Unread int
	// Loads are the paths over all links.
	Loads *linkload.Loads
}

// CompareEngines routes the paper's subnet, else the live one, with each engine by itself, all that there are
// for none, and measures the tables that [Session.Route] would stage, those that the switches hold in that subnet, and those
// of with: pictures, history entries or files with routes. Nothing is staged. Found is called with each as it is done, where it is set.
// It fails with ctx's error where ctx ends first, and on a name or file that cannot be.
func (s *Session) CompareEngines(ctx context.Context, names, with []string, found func(EngineFigures) error) error {
	end, err := s.begin(ctx, "compare engines")
	if err != nil {
		return err
	}
	defer end()
	st := s.State()
	if len(names) == 0 {
		names = st.Settings.Engines()
	}
	more, err := s.alsoCompared(ctx, &st, with)
	if err != nil {
		return err
	}
	for _, p := range more {
		e := EngineFigures{Name: p.name}
		if err := s.measure(ctx, &e, &st, p.tables, s.progress); err != nil {
			return err
		}
		if err := found(e); err != nil {
			return err
		}
	}
	for i, name := range names {
		s.update(ChangeBusy, func(st *State) { st.Busy = fmt.Sprintf("compare engines: %s, %d of %d", name, i+1, len(names)) })
		set, err := st.Settings.Only(name)
		if err != nil {
			return err
		}
		e, err := s.figuresOf(ctx, &st, name, set, s.progress)
		if err != nil {
			return fmt.Errorf("engine %d of %d, %s: %w", i+1, len(names), fabric.Escape(name), err)
		}
		if err := found(e); err != nil {
			return err
		}
	}
	return nil
}

// EngineFigures is CompareEngines for one engine with no options. It holds up nothing else, so that it may run unasked.
func (s *Session) EngineFigures(ctx context.Context, name string) (EngineFigures, error) {
	st := s.State()
	set, err := settings.Parse(ctx, []string{name}, nil)
	if err != nil {
		return EngineFigures{}, err
	}
	if set, err = set.Only(name); err != nil {
		return EngineFigures{}, err
	}
	return s.figuresOf(ctx, &st, name, set, nil)
}

// routeAlone is the job of [Session.Route] with settings of one engine. Other settings than those of the session start from
// the base, as [Session.SetSettings] has it.
func (s *Session) routeAlone(st *State, set settings.Settings) *compute.Job {
	with := *st
	with.Settings = set
	if !set.SameEngines(&st.Settings) {
		with.past = compute.Past{}
	}
	return s.job(&with)
}

func (s *Session) figuresOf(ctx context.Context, st *State, name string, set settings.Settings, progress func(done, total int)) (EngineFigures, error) {
	e := EngineFigures{Name: name, Computed: true}
	job := s.routeAlone(st, set)
	if job.Options.Progress = progress; progress == nil {
		job.Torus = nil
	}
	before := allocated()
	res, err := compute.Unicast(ctx, job)
	var none *engines.NoneError
	switch {
	case errors.As(err, &none):
		e.Refused = strings.Join(prose.Words(none.Refusals, func(r engines.Refusal) string { return r.Reason }), "; ")
		return e, nil
	case err != nil:
		return e, err
	}
	e.Took, e.Allocated = res.Figures.Took, allocated()-before
	with := *st
	with.Settings = set
	t, err := with.completed(ctx, res.Tables)
	if err != nil {
		return e, err
	}
	return e, s.measure(ctx, &e, st, t, progress)
}

// tablesCompared are tables beside those of engines.
type tablesCompared struct {
	name   string
	tables *fabric.Tables
}

// alsoCompared are the tables of the switches, in the what-if where there is one, and those named.
func (s *Session) alsoCompared(ctx context.Context, st *State, with []string) ([]tablesCompared, error) {
	var out []tablesCompared
	held := Live
	if st.WhatIf != nil {
		held = WhatIf // what the switches hold, with what failed since
	}
	if p, err := st.TablesOf(held); err == nil {
		out = append(out, tablesCompared{"on the switches", p.Tables})
	}
	for _, name := range with {
		if p, err := st.TablesOf(Kind(name)); err == nil {
			if p.Kind != held {
				out = append(out, tablesCompared{st.Title(p), p.Tables})
			}
			continue
		} else if !looksLikeFile(name) {
			return nil, err
		}
		t, err := readTables(ctx, st.Paper(), name)
		if err != nil {
			return nil, err
		}
		out = append(out, tablesCompared{fabric.Escape(filepath.Base(name)), t})
	}
	return out, nil
}

// looksLikeFile reports whether a name is neither a number nor a picture's.
func looksLikeFile(name string) bool {
	return strings.Trim(name, "0123456789") != "" && !slices.Contains(Kinds, Kind(name))
}

// readTables reads routes of whatever form and lays them over a fabric.
func readTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	kind := formats.Kind(ctx, path)
	switch kind {
	case "snapshot":
		return snapshotTables(ctx, f, path)
	case "fdbs":
	default:
		kind = "lfts" // whose reader says what is wrong
	}
	routes, err := readRoutes(ctx, kind, path)
	if err != nil {
		return nil, err
	}
	t, rep, err := routes.Apply(f)
	if err == nil && rep.Switches == 0 {
		err = fmt.Errorf("%s: none of its switches is in the subnet", fabric.Escape(path))
	}
	return t, err
}

// snapshotTables are those of a snapshot or saved routing of the same subnet.
func snapshotTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	file, err := formats.Read(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case file.Tables == nil:
		return nil, fmt.Errorf("%s has no forwarding tables", fabric.Escape(path))
	case !fabric.Same(file.Fabric, f):
		return nil, fmt.Errorf("%s is of a subnet that is other than this one (try: load routing %s; compare engines with=staged)", fabric.Escape(path), fabric.Escape(path))
	}
	t := *file.Tables
	t.Fabric = f
	return &t, nil
}

// measure fills in what tables do.
func (s *Session) measure(ctx context.Context, e *EngineFigures, st *State, t *fabric.Tables, progress func(done, total int)) error {
	r, err := s.analysis.Reach(ctx, t, reach.Options{Progress: progress})
	if err != nil {
		return err
	}
	if e.Pairs, err = s.analysis.Pairs(ctx, t, reach.Options{Progress: progress}); err != nil {
		return err
	}
	e.MaxHops, e.MeanHops = hops(r.Links)
	l, err := s.analysis.Load(ctx, t, linkload.Options{Progress: progress})
	if err != nil {
		return err
	}
	e.Worst, e.Loads = l.Summary(1).EdgeForwardingIndex, l
	if e.Quick, err = linkload.Quickly(ctx, t, linkload.Hosts(t.Fabric), 1, progress); err != nil {
		return err
	}
	c, err := s.analysis.Credits(ctx, t, credits.Options{Progress: progress})
	if err != nil {
		return err
	}
	if e.Loop = c.Verdict; !c.Unread.Any() {
		e.VLs = c.VLs
	}
	e.Changed = -1
	if base := st.paperBase(); base.Tables != nil && base.Fabric.MaxLID > 0 {
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
