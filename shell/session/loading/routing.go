// SPDX-License-Identifier: Apache-2.0

package loading

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
	"example.org/ibconsole/shell/session"
)

// RoutingKind is the kind of file that contains routes together with the subnet and the settings they were computed
// for.
const RoutingKind = "routing"

// Lost are paths that do not arrive.
type Lost struct {
	Count, Of int64
	Unknown   int64      // paths over a table that was not read, not in Count
	Examples  []LostPath // the first ones
	Fabric    *fabric.Fabric
}

// LostPath is a path that does not arrive.
type LostPath struct {
	Src, Dst fabric.PortIndex
	Why      string
}

const maxLost = 1000 // how many paths [Lost] lists

// unconnected returns the paths through tables that do not arrive.
func (s loader) unconnected(ctx context.Context, t *fabric.Tables) (*Lost, error) {
	res, err := s.Analysis().Reach(ctx, t, reach.Options{Examples: maxLost, Progress: s.op.Progress})
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

// loadRouting reads a saved routing and compares its subnet with the subnet of the what-if. It stages the tables,
// adapted to the differences.
func (s loader) loadRouting(ctx context.Context, path string, opt session.LoadOptions) (Report, error) {
	if !formats.HasTables(ctx, path) {
		return Report{}, fmt.Errorf("%s: not a saved routing, expected a snapshot with tables or an ibdiagnet folder",
			fabric.Escape(path))
	}
	file, err := formats.Read(ctx, path)
	if err != nil {
		return Report{}, err
	}
	saved := &snapshot.Snapshot{Fabric: file.Fabric, Tables: file.Tables, Routing: file.Routing}
	if saved.Tables == nil {
		return Report{}, fmt.Errorf("%s: %w", fabric.Escape(path), persist.ErrNoTables)
	}
	st := s.State()
	set, notes, err := st.Settings.Of(ctx, saved)
	if err != nil {
		return Report{}, err
	}
	st.Settings = set
	job := s.Job(&st)
	res, rep, err := compute.Restore(ctx, job, saved, opt.Keep)
	if err != nil {
		return Report{}, err
	}
	out := Report{
		Routing: rep, Switches: res.Figures.Switches, Entries: res.Figures.Entries,
		Notes: slices.Concat(file.Warnings, notes, res.Figures.Warnings),
	}
	if opt.Keep {
		if out.Lost, err = s.unconnected(ctx, res.Tables); err != nil {
			return Report{}, err
		}
	}
	p := st.NewStaged(res, job.Fabric)
	switch {
	case rep.RoutedBy != "":
		p.SetMaker(rep.RoutedBy, &set)
	case rep.How != persist.Adapted && rep.Engine != "" && !opt.Keep:
		p.SetMaker(rep.Engine, &set)
	}
	p.Tables.Origin = fabric.Escape(filepath.Base(path))
	if rep.How != persist.Kept {
		p.Tables.Origin += ", " + string(rep.How)
	}
	s.op.Stage(p)
	s.op.Record(history.Load, p, string(rep.How), map[string]float64{
		"entries": float64(out.Entries), "changed": float64(rep.Changed),
	})
	return out, nil
}
