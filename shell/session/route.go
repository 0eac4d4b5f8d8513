// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/portgroups"
	"example.org/ibconsole/shell/session/settings"
)

// Route computes tables for the what-if, or for the live fabric if nothing is simulated, and stages them.
func (s *Session) Route(ctx context.Context, keep compute.Keep) (compute.Figures, error) {
	res, err := s.route(ctx, func(job *compute.Job) { job.Keep = keep })
	return res.Figures, err
}

// RouteIncremental adapts the tables of the base, or the live tables, to the changes since then, and stages the result.
// If compareFull is set, it also computes all routes, for comparison.
func (s *Session) RouteIncremental(ctx context.Context, compareFull bool) (compute.Result, error) {
	return s.route(ctx, func(job *compute.Job) { job.Incremental, job.CompareFull = true, compareFull })
}

// route computes tables and stages them. Before that, it calls the function how to change the job.
func (s *Session) route(ctx context.Context, how func(*compute.Job)) (compute.Result, error) {
	op, err := s.Begin(ctx, "route")
	if err != nil {
		return compute.Result{}, err
	}
	defer op.End()
	st := s.State()
	job := s.Job(&st)
	how(job)
	res, err := compute.Run(ctx, job)
	if err != nil {
		return compute.Result{}, err
	}
	if res.Tables, err = st.Completed(ctx, res.Tables); err != nil {
		return compute.Result{}, err
	}
	p := st.NewStaged(res, job.Fabric)
	figures := map[string]float64{"seconds": res.Figures.Took.Seconds(), "changed": float64(res.Figures.Changed)}
	note := "incremental"
	if res.Adaptation == nil {
		note, figures["entries"] = "", float64(res.Figures.Entries)
		p.by = &maker{
			res.Figures.Engine, st.Settings.Chain, st.Settings.Given, res.Figures.Engine == compute.CachedEngine,
		}
	}
	s.stage(p)
	s.Publish(0, func(now *State) {
		if res.Adaptation == nil && (now.Base != nil || now.past.Tables != nil) {
			now.past = res.Past
		}
	})
	s.record(history.Route, p, note, figures)
	return *res, nil
}

// Completed adds the SLs of partitions and the adaptive-routing groups of the state to computed tables.
func (st *State) Completed(ctx context.Context, t *fabric.Tables) (*fabric.Tables, error) {
	return portgroups.Completed(ctx, &st.Settings, st.Adapting, st.partitioned(t, false))
}

// Trying returns a copy of the state with other settings. If the engines differ, routing starts from the base, as after
// [Session.SetSettings].
func (st *State) Trying(set settings.Settings) State {
	with := *st
	with.Settings = set
	if !set.SameEngines(&st.Settings) {
		with.past = compute.Past{}
	}
	return with
}

// Job returns a job that routes the what-if fabric of a state, or the live fabric if there is no what-if, with the
// settings of the state.
func (s *Session) Job(st *State) *compute.Job {
	base, paper := st.PaperBase(), st.Paper()
	job := st.Settings.Job()
	job.Fabric, job.Failed = paper, st.WhatIf != nil
	job.Base, job.Before, job.Against = st.Whole(), base.Tables, string(base.Kind)
	job.Past = st.past
	job.LIDs.Remember = compute.LackLIDs(st.Live.Fabric)
	job.Notes = st.Settings.Strangers(paper)
	for _, f := range []*fabric.Fabric{base.Fabric, paper} {
		lids, note := job.LIDs.WithoutContradictions(f)
		if job.LIDs = lids; note != "" {
			job.Notes = append(job.Notes, note)
		}
	}
	if st.Added() != "" {
		var since *fabric.Fabric
		if st.Staged != nil {
			since = st.Staged.Fabric
		}
		job.LIDs = job.LIDs.After(base.Fabric, since, paper)
	}
	job.Torus, job.Facts = &s.torus, &s.analysis
	job.Options.Progress = s.progress
	if g, err := st.GroupsOf(base); err == nil {
		job.Groups, job.GroupsOf = g.List, g.Origin
	}
	return job
}

// Study prepares a study of how failures of a kind affect tables. The study adapts the tables to a failure as
// [Session.RouteIncremental] does.
func (s *Session) Study(ctx context.Context, st *State, t *fabric.Tables, kind resilience.Kind) (*resilience.Study,
	error) {
	study, err := s.analysis.Study(ctx, t, kind)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // a job uses all processors
	study.Adapt(func(ctx context.Context, f *fabric.Fabric) (*fabric.Tables, error) {
		mu.Lock()
		defer mu.Unlock()
		job := s.Job(st)
		job.Fabric, job.Failed, job.Base, job.Before = f, true, t.Fabric, t
		job.Past, job.LIDs = compute.Past{}, compute.LIDs{} // the ports keep their LIDs
		job.Incremental, job.Options.Progress = true, nil
		res, err := compute.Run(ctx, job)
		if err != nil {
			return nil, err
		}
		return res.Tables, nil
	})
	return study, nil
}

// NewStaged returns computed or loaded tables as a staged state. madeOf is the fabric for which they were computed,
// before LIDs were assigned.
func (st *State) NewStaged(res *compute.Result, madeOf *fabric.Fabric) *Picture {
	return &Picture{
		Kind: Staged, Fabric: res.Tables.Fabric, Tables: res.Tables, Hops: res.Hops, Recommend: res.Recommend,
		Roots: res.Roots, Ranks: res.Ranks,
		CAOrder: res.CAOrder, Multicast: res.Multicast, Unlike: res.Figures.DiffersFromOpenSM,
		UnsetVLs: res.Figures.UnsetVLs,
		When:     time.Now(), madeOf: madeOf,
		Simulated: st.simulated(),
	}
}

// SetSettings sets the engines and options for later routes. The next route starts from the base again.
func (s *Session) SetSettings(set settings.Settings) {
	s.Publish(ChangeSettings, func(st *State) { st.Settings, st.Estimate, st.past = set, false, compute.Past{} })
}

// ReadConf is [settings.ReadConf] with OpenSM's folders on this machine, and with the topology of the what-if, or of
// the live fabric.
func ReadConf(ctx context.Context, s *Session, path string, chain []string,
	given []settings.Setting) (settings.Settings, error) {
	around := settings.Around{CacheDir: s.opt.Places.CacheDir, ConfDir: s.opt.Places.ConfDir,
		Shape: func() classify.Shape {
			st := s.State()
			return s.analysis.Structure(st.Paper()).Shape
		}}
	return settings.ReadConf(ctx, path, around, chain, given)
}
