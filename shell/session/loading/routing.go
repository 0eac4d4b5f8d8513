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
	rep, err := s.restore(ctx, saved, fabric.Escape(filepath.Base(path)), opt)
	rep.Notes = slices.Concat(file.Warnings, rep.Notes)
	return rep, err
}

// Entry stages the routing of a past state, as [Load] stages a saved routing. The argument of is the number of an entry
// of the history, or a time.
func Entry(ctx context.Context, in *session.Session, of session.Kind, opt session.LoadOptions) (Report, error) {
	op, err := in.Begin(ctx, "load")
	if err != nil {
		return Report{}, err
	}
	defer op.End()
	st := in.State()
	p, err := st.TablesOf(of)
	if err != nil {
		return Report{}, err
	}
	if !p.Kind.IsPast() {
		return Report{}, fmt.Errorf("%s is not a past state, expected the number of a history entry or a time", of)
	}
	saved, err := Saved(ctx, p)
	if err != nil {
		return Report{}, err
	}
	return loader{in, op}.restore(ctx, saved, string(p.Kind), opt)
}

// Saved returns the routing of a state as [snapshot.Write] writes it to a file, with the min-hop tables and settings
// that a later computation needs.
func Saved(ctx context.Context, p *session.Picture) (*snapshot.Snapshot, error) {
	r := p.Routing()
	var err error
	if r.MinHop, err = persist.MinHops(ctx, p.Fabric, p.HopTable()); err != nil {
		return nil, err
	}
	return &snapshot.Snapshot{Fabric: p.Fabric, Tables: p.Tables, Routing: r}, nil
}

// restore stages a saved routing, adapted to the differences between its subnet and that of the what-if. The argument
// from names its origin.
func (s loader) restore(ctx context.Context, saved *snapshot.Snapshot, from string, opt session.LoadOptions) (Report,
	error) {
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
		Notes: slices.Concat(notes, res.Figures.Warnings),
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
	p.Tables.Origin = from
	if rep.How != persist.Kept {
		p.Tables.Origin += ", " + string(rep.How)
	}
	s.op.Stage(p)
	s.op.Record(history.Load, p, string(rep.How), map[string]float64{
		"entries": float64(out.Entries), "changed": float64(rep.Changed),
	})
	return out, nil
}
