// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/compute"
)

// RoutingKind is the form in which routes are saved with what they were made for.
const RoutingKind = "routing"

// Lost are paths that do not arrive.
type Lost struct {
	Count, Of int64
	Unknown   int64      // paths that meet a table that was not read, which Count leaves out
	Examples  []LostPath // the first ones
	Fabric    *fabric.Fabric
}

// LostPath is one of them.
type LostPath struct {
	Src, Dst fabric.PortIndex
	Why      string
}

const maxLost = 1000 // how many paths [Lost] names

func (s *Session) unconnected(ctx context.Context, t *fabric.Tables) (*Lost, error) {
	res, err := s.analysis.Reach(ctx, t, reach.Options{Examples: maxLost, Progress: s.progress})
	if err != nil {
		return nil, err
	}
	l := &Lost{Count: res.Bad(), Of: res.Paths, Unknown: res.Unknown, Fabric: t.Fabric}
	for _, p := range res.Troubles {
		if p.Verdict == walk.Unknown || p.Verdict == walk.TooLong && len(l.Examples) >= int(l.Count) {
			continue
		}
		path := walk.Trace(t, p.Src, p.LID)
		l.Examples = append(l.Examples, LostPath{p.Src, p.Dst, path.Explain(t.Fabric)})
	}
	return l, nil
}

// loadRouting reads a saved routing, holds its subnet against the paper's, and stages what that makes of it.
func (s *Session) loadRouting(ctx context.Context, path string, opt LoadOptions) (LoadReport, error) {
	file, err := formats.Read(ctx, path)
	if err != nil {
		return LoadReport{}, err
	}
	saved := &snapshot.Snapshot{Fabric: file.Fabric, Tables: file.Tables, Routing: file.Routing}
	if saved.Tables == nil {
		return LoadReport{}, fmt.Errorf("%s: %w", fabric.Escape(path), persist.ErrNoTables)
	}
	st := s.State()
	set, notes, err := st.Settings.Of(ctx, saved)
	if err != nil {
		return LoadReport{}, err
	}
	st.Settings = set
	job := s.Job(&st)
	res, rep, err := compute.Restore(ctx, job, saved, opt.Keep)
	if err != nil {
		return LoadReport{}, err
	}
	out := LoadReport{
		Routing: rep, Switches: res.Figures.Switches, Entries: res.Figures.Entries,
		Notes: slices.Concat(file.Warnings, notes, res.Figures.Warnings),
	}
	if opt.Keep {
		if out.Lost, err = s.unconnected(ctx, res.Tables); err != nil {
			return LoadReport{}, err
		}
	}
	p := st.stagedOf(res, job.Fabric)
	switch {
	case rep.RoutedBy != "":
		p.by = &maker{engine: rep.RoutedBy, chain: set.Chain, given: set.Given}
	case rep.How != persist.Adapted && rep.Engine != "" && !opt.Keep:
		p.by = &maker{engine: rep.Engine, chain: set.Chain, given: set.Given}
	}
	p.Tables.Origin = fabric.Escape(filepath.Base(path))
	if rep.How != persist.Kept {
		p.Tables.Origin += ", " + string(rep.How)
	}
	s.stage(p)
	s.record(history.Load, p, string(rep.How), map[string]float64{
		"entries": float64(out.Entries), "changed": float64(rep.Changed),
	})
	return out, nil
}
