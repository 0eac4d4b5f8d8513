// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines"
)

// routingKind is the form in which routes are saved with what they were made for.
const routingKind = "routing"

// writeRouting saves a routing.
func writeRouting(w io.Writer, p *Picture) error {
	r := &snapshot.Routing{Roots: p.Roots}
	if p.by != nil {
		r.Engine = p.by.engine
		for _, g := range p.by.given {
			r.Options = append(r.Options, snapshot.Option(g))
		}
	}
	var err error
	if r.MinHop, err = persist.MinHops(context.Background(), p.Fabric, p.hops()); err != nil {
		return err
	}
	return snapshot.Write(w, snapshot.Snapshot{Fabric: p.Fabric, Tables: p.Tables, Routing: r})
}

// RoutingReport says what became of a saved routing.
type RoutingReport struct {
	persist.Judgement
	// Engine is that of the file, "" where it does not say.
	Engine string
	// How says what was computed; [persist.Kept] also where all was to be kept.
	How persist.How
	// RoutedBy is the engine that routed anew, "" for none.
	RoutedBy string
	// Changed counts the entries that are others than the saved ones. Unread switches
	// have none there, and were not compared.
	Changed, Unread int
	// Trees are the multicast LIDs whose trees have to be made anew.
	Trees []uint16
	// Unreached counts the entries that nothing could repair.
	Unreached int
}

// Rows are the verdicts by the rows of the memo's table, in the order in which
// they come.
func (r *RoutingReport) Rows() (rows []string, of map[string][]incremental.Verdict) {
	of = map[string][]incremental.Verdict{}
	for _, v := range r.Verdicts {
		if of[v.Row] == nil {
			rows = append(rows, v.Row)
		}
		of[v.Row] = append(of[v.Row], v)
	}
	return rows, of
}

// Lost are paths that do not arrive.
type Lost struct {
	Count, Of int64
	// Examples are the first ones.
	Examples []LostPath
}

// LostPath is one of them.
type LostPath struct{ Src, Dst, Why string }

// maxLost is how many paths [Lost] names.
const maxLost = 1000

func (s *Session) lost(ctx context.Context, t *fabric.Tables) (*Lost, error) {
	res, err := s.analysis.Reach(ctx, t, reach.Options{Examples: maxLost, Progress: s.progress})
	if err != nil {
		return nil, err
	}
	l := &Lost{Count: res.Paths - res.Delivered, Of: res.Paths}
	f := t.Fabric
	for _, p := range res.Troubles {
		if p.Verdict == walk.TooLong && len(l.Examples) >= int(l.Count) {
			continue
		}
		path := walk.Trace(t, p.Src, p.LID)
		l.Examples = append(l.Examples, LostPath{f.PortName(p.Src), f.PortName(p.Dst), path.Explain(f)})
	}
	return l, nil
}

// loadRouting reads a saved routing, holds its subnet against the paper's, and
// stages what that makes of it.
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
	set, notes := st.Settings.of(saved)
	lids, err := set.assignLIDsAs(st.Paper(), saved.Fabric)
	if err != nil {
		return LoadReport{}, fmt.Errorf("assign LIDs: %w", err)
	}
	p, rep, err := s.bring(ctx, &set, lids.fabric, saved, opt)
	if err != nil {
		return LoadReport{}, err
	}
	p.madeOf, p.Tables = st.Paper(), upTo(p.Tables, lids.top)
	out := LoadReport{Routing: rep, Notes: slices.Concat(file.Warnings, notes, lids.notes)}
	if opt.Keep {
		if out.Lost, err = s.lost(ctx, p.Tables); err != nil {
			return LoadReport{}, err
		}
	}
	out.Switches, out.Entries = countEntries(p.Tables)
	d := diff.Count(saved.Tables, p.Tables)
	rep.Changed, rep.Unread = d.Changed, d.Unread
	origin := fabric.Escape(filepath.Base(path))
	if rep.How != persist.Kept {
		origin += ", " + string(rep.How)
	}
	p.Tables.Origin = origin
	if p.Tables.MFT == nil {
		_, warnings, err := s.multicast(ctx, &st, p)
		if err != nil {
			return LoadReport{}, err
		}
		out.Notes = append(out.Notes, warnings...)
	}
	s.stage(p)
	s.record(history.Load, p, string(rep.How), map[string]float64{"entries": float64(out.Entries), "changed": float64(rep.Changed)})
	return out, nil
}

// bring brings a saved routing to a fabric.
func (s *Session) bring(ctx context.Context, set *Settings, f *fabric.Fabric, saved *snapshot.Snapshot, opt LoadOptions) (*Picture, *RoutingReport, error) {
	rep := &RoutingReport{How: persist.Kept}
	if saved.Routing != nil {
		rep.Engine = saved.Routing.Engine
	}
	p := &Picture{Kind: Staged, Fabric: f, When: time.Now()}
	if opt.Keep {
		rep.Judgement = persist.Judge(f, saved)
		p.Tables = persist.Lay(f, saved.Tables)
		return p, rep, nil
	}
	o := set.routing
	o.Progress = s.progress
	o.LMC = ownLMC(f)
	res, err := persist.Adapt(ctx, f, saved, o, func(ctx context.Context, roots []uint64, existing *fabric.LFT) (*routing.Result, error) {
		o := o
		o.Existing = existing
		if o.RootGUIDs == nil {
			o.RootGUIDs = roots
		}
		res, _, err := engines.Try(ctx, set.engines, f, o)
		return res, err
	})
	if err != nil {
		return nil, nil, err
	}
	rep.Judgement, rep.How, rep.Trees, rep.Unreached = res.Judgement, res.How, res.Trees, len(res.Unreached)
	p.Tables, p.Roots = res.Tables, res.SavedRoots
	if res.How != persist.Adapted && rep.Engine != "" {
		p.by = &maker{rep.Engine, set.Given}
	}
	if r := res.Result; r != nil {
		p.by = &maker{r.Tables.Origin, set.Given}
		rep.RoutedBy = r.Tables.Origin
		p.Hops, p.Roots, p.Ranks, p.CAOrder = r.Hops, r.Roots, r.Ranks, r.CAOrder
	}
	return p, rep, nil
}

// of are the settings that a saved routing was made with, but with the LMC that
// was chosen here; these settings where it does not say or they are of no use now.
func (s *Settings) of(saved *snapshot.Snapshot) (Settings, []string) {
	r := saved.Routing
	if r == nil || r.Engine == "" || slices.Contains(s.Chain, r.Engine) && len(r.Options) == 0 {
		return *s, nil
	}
	var given []Setting
	for _, o := range r.Options {
		if o.Name != "lmc" && o.Name != "guid2lid" && o.Name != "reassign_lids" {
			given = append(given, Setting(o))
		}
	}
	for _, g := range s.Given {
		if g.Name == "lmc" {
			given = append(given, g)
		}
	}
	set, err := ParseSettings([]string{r.Engine}, given)
	if err != nil {
		return *s, []string{fmt.Sprintf("its engine %s and options are of no use here (%v); what is to be routed anew is routed by %s", fabric.Escape(r.Engine), err, s.String())}
	}
	return set, nil
}

// assignLIDsAs is assignLIDs, but ports that have no LID get the one that they had
// in another picture of the subnet.
func (s *Settings) assignLIDsAs(f, was *fabric.Fabric) (assignment, error) {
	with := *s
	if s.lids.GUID2LID == nil {
		remembered, found := &fabric.GUID2LID{}, false
		for _, e := range f.EndPorts {
			port := &f.Ports[e]
			old := was.PortByGUID(port.GUID)
			if port.LID == 0 && old != fabric.None && was.Ports[old].LID != 0 {
				o := &was.Ports[old]
				remembered.Set(port.GUID, fabric.LIDRange{Min: o.LID, Max: o.LID | (1<<o.LMC - 1)})
				found = true
			}
		}
		if found {
			with.lids.GUID2LID = remembered
		}
		if found && !s.lmcSet {
			with.lids.LMC, with.lmcSet = max(ownLMC(f), ownLMC(was)), true
		}
	}
	return with.assignLIDs(f)
}
