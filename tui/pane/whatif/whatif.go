// SPDX-License-Identifier: Apache-2.0

// Package whatif shows simulated failures and additions, and their effects.
package whatif

import (
	"cmp"
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// whatIf lists simulated failures and additions, and their effects.
type whatIf struct {
	pane.List
	rows           []whatIfRow
	result         *diff.Result // compares the base with what is shown, nil where that is not known yet
	against        session.Kind
	err            error
	diff           pane.AsyncResult[*diff.Result]
	failoverResult pane.AsyncResult[*choices.Failover] // of adaptive routing, before an SM acts
	failover       *choices.Failover                   // nil while unknown
}

// whatIfRow is a row: a failure, a value before and after, or a heading.
type whatIfRow struct {
	failure             int // counted from 1, 0 for none
	what, before, after string
	st                  draw.Style
	heading             bool
	at                  pane.Place // a link
	ask, sheet          string     // the command with details, and the table of its answer
}

const maxMoved = 40 // how many links whose load changes are listed

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "What-if", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	w := &whatIf{}
	w.List = pane.NewList(c, pane.About{Name: "What-if"},
		draw.Table{ID: func(row int) uint64 { return uint64(row) }}, w.Renew)
	look := func(row int) draw.Style { return w.rows[row].st }
	w.Cols = []draw.Column{
		{Name: "effect", Help: "simulated changes and their effects; Enter lists the objects that a figure counts",
			Least: 16, Text: func(row int) string { return w.rows[row].what }, Look: look},
		{Name: "before", Help: "value in the state compared with",
			Right: true, Text: func(row int) string { return w.rows[row].before }},
		{Name: "after", Help: "value in the state shown",
			Right: true, Text: func(row int) string { return w.rows[row].after }, Look: look},
	}
	return w
}

// Seek compares the tables shown with the tables of the base.
func (w *whatIf) Seek(s pane.Stage) tea.Cmd {
	p := w.Scene.DiffBase()
	if p == nil || !s.Visible {
		return nil
	}
	before, after := p.Tables, w.Scene.Picture.Tables
	compare := w.diff.Start(w.Common, [2]*fabric.Tables{before, after},
		func(ctx context.Context, progress func(int, int)) (*diff.Result, error) {
			return w.Memo.Diff(ctx, before, after, diff.Options{Progress: progress})
		})
	base, left := w.adaptiveTables()
	if base == nil {
		return compare
	}
	return tea.Batch(compare, w.failoverResult.Start(w.Common, [2]*fabric.Tables{base, left},
		func(ctx context.Context, progress func(int, int)) (*choices.Failover, error) {
			return w.Memo.FailOver(ctx, base, left, choices.Options{Progress: progress})
		}))
}

// adaptiveTables returns the tables of the base and of the what-if. Both are nil if no switch of the base routes
// adaptively.
func (w *whatIf) adaptiveTables() (base, left *fabric.Tables) {
	st := &w.Scene.State
	if st.Base == nil || st.WhatIf == nil || st.Base.Tables == nil || st.WhatIf.Tables == nil ||
		st.Base.Tables.Adaptive == nil {
		return nil, nil
	}
	return st.Base.Tables, st.WhatIf.Tables
}

func (w *whatIf) Collect() {
	var r *diff.Result
	if p := w.Scene.DiffBase(); p != nil {
		w.against = p.Kind
		if w.diff.Ready([2]*fabric.Tables{p.Tables, w.Scene.Picture.Tables}) {
			r = w.diff.Value
		}
	}
	var failover *choices.Failover
	if base, left := w.adaptiveTables(); base != nil && w.failoverResult.Ready([2]*fabric.Tables{base, left}) {
		failover = w.failoverResult.Value
	}
	if w.result == r && w.err == w.diff.Err && w.failover == failover {
		return
	}
	w.result, w.err, w.failover = r, w.diff.Err, failover
	w.Renew()
}

func (w *whatIf) Renew() {
	w.KeepRow()
	w.rows = w.rows[:0]
	st := &w.Scene.State
	for i := range st.Failures {
		f := &st.Failures[i]
		mark, st := w.Theme.Failed, w.Theme.Bad
		switch {
		case f.Moved:
			mark, st = "moved", w.Theme.Warn
		case f.Added:
			mark, st = "new", w.Theme.Good
		case f.Repair:
			mark, st = "repaired", w.Theme.Good
		}
		w.add(whatIfRow{
			failure: i + 1, what: fmt.Sprintf("%d %s %s %s", cmp.Or(f.Number, i+1), mark, f.What, f.Name), st: st,
		})
	}
	if st.WhatIf != nil && st.Base != nil {
		if n := len(st.WhatIf.Unreachable()); n > 0 {
			w.add(whatIfRow{what: "unreachable nodes", before: "0", after: prose.Thousands(n), st: w.Theme.Bad,
				ask: "whatif", sheet: "unreachable nodes"})
		}
	}
	if r := w.failover; r != nil {
		w.atOnce(r)
	}
	if r := w.result; r != nil {
		w.consequences(r)
	}
	w.Cols[1].Wide, w.Cols[2].Wide = len("before"), len("after")
	for i := range w.rows {
		w.Cols[1].Wide, w.Cols[2].Wide = max(w.Cols[1].Wide, len(w.rows[i].before)),
			max(w.Cols[2].Wide, len(w.rows[i].after))
	}
	w.Build(len(w.rows))
}

func (w *whatIf) add(r whatIfRow) { w.rows = append(w.rows, r) }

// atOnce adds the effects that failures have with adaptive routing, before a subnet manager reacts.
func (w *whatIf) atOnce(r *choices.Failover) {
	t := w.Theme
	w.add(whatIfRow{what: "before the SM acts, by adaptive routing", heading: true, st: t.Strong})
	for _, x := range []struct {
		what string
		n    int64
		st   draw.Style
	}{
		{"fail over at once", r.Over, t.Good}, {"lose packets by some choices", r.Luck, t.Warn},
		{"are stuck", r.Stuck, t.Bad},
	} {
		w.add(whatIfRow{what: "  pairs that " + x.what, after: prose.Thousands(int(x.n)),
			st:  prose.When(x.n > 0, x.st, ""),
			ask: "whatif", sheet: prose.When(x.n > 0 && x.what != "fail over at once", waiting, "")})
	}
}

const waiting = "pairs that wait for a manager" // the table of an answer

// consequences adds the differences from the base, the most severe first.
func (w *whatIf) consequences(r *diff.Result) {
	t := w.Theme
	bad := func(n int64) draw.Style { return prose.When(n > 0, t.Bad, t.Good) }
	number := func(n int64) string { return prose.Thousands(int(n)) }
	of := w.Scene.Picture.Kind.Word()
	compare := fmt.Sprintf("diff %s %s", w.against, of)
	w.add(whatIfRow{what: fmt.Sprintf("%s %s %s", w.against, t.Arrow, w.Scene.State.Title(w.Scene.Picture)),
		heading: true, st: t.Strong})
	w.add(whatIfRow{what: "pairs that reach each other",
		before: number(r.Pairs.Total - r.Pairs.Unreached - r.Pairs.Unknown - r.Pairs.Connected),
		after:  number(r.Pairs.Total - r.Pairs.Unreached - r.Pairs.Unknown - r.Pairs.Lost - r.Pairs.ByLuck),
		st:     bad(r.Pairs.Lost), ask: "check reach of=" + of})
	w.add(whatIfRow{what: "  lost", after: number(r.Pairs.Lost), st: bad(r.Pairs.Lost), ask: compare,
		sheet: "pairs lost"})
	if r.Pairs.ByLuck > 0 {
		w.add(whatIfRow{what: "  reached only by some choices of adaptive routing", after: number(r.Pairs.ByLuck),
			st: t.Warn, ask: compare, sheet: "pairs reached by luck"})
	}
	if r.Pairs.Unknown > 0 {
		w.add(whatIfRow{what: "  unknown: over tables not read", after: number(r.Pairs.Unknown), st: t.Warn,
			ask: compare})
	}
	w.add(whatIfRow{
		what: "  take another path", after: number(r.Pairs.Changed), ask: compare, sheet: "pairs with another path",
	})
	w.add(whatIfRow{what: fmt.Sprintf("LFT entries, on %s", prose.Count(r.Entries.Switches, "switch")),
		after: prose.Thousands(r.Entries.Changed), ask: compare, sheet: "LFT entries"})
	if r.WorstOld != nil && r.WorstNew != nil {
		w.add(whatIfRow{what: "paths over the busiest link", before: number(r.WorstOld.PathsOld),
			after: number(r.WorstNew.PathsNew),
			st:    prose.When(r.WorstNew.PathsNew > r.WorstOld.PathsOld, t.Warn, "")})
		w.add(whatIfRow{what: "  " + loadName(r.WorstNew), st: t.Dim, at: loadPlace(r.WorstNew)})
	}
	for _, x := range []struct {
		n           int
		what, sheet string
	}{
		{len(r.Gone), "end ports removed or unreachable", "end ports gone"},
		{len(r.Come), "end ports added", "end ports come"}, {len(r.Moved), "end ports with another LID", "LIDs moved"},
	} {
		if x.n > 0 {
			w.add(whatIfRow{what: x.what, after: prose.Thousands(x.n), st: t.Warn, ask: compare, sheet: x.sheet})
		}
	}
	if len(r.Loads) > 0 {
		w.add(whatIfRow{what: "paths over links, gains first", heading: true, st: t.Strong, ask: compare,
			sheet: "links whose load changes"})
	}
	for i := range r.Loads[:min(len(r.Loads), maxMoved)] {
		l := &r.Loads[i]
		w.add(whatIfRow{what: "  " + loadName(l), before: number(l.PathsOld), after: number(l.PathsNew),
			st: prose.When(l.PathsNew > l.PathsOld, t.Warn, ""), at: loadPlace(l)})
	}
}

func loadPlace(l *diff.Load) pane.Place {
	return pane.Place{GUID: uint64(l.From.GUID), Port: l.From.Num}
}

func loadName(l *diff.Load) string {
	if l.To == nil {
		return l.From.Name
	}
	return l.From.Name + " to " + l.To.Name
}

func (w *whatIf) Title() string {
	if w.Scene == nil || w.Scene.State.WhatIf == nil {
		return ""
	}
	return w.Scene.State.OnPaper()
}

func (w *whatIf) StateBadge() *draw.Badge {
	return w.SceneBadge(w.Scene != nil && (w.Scene.State.WhatIf != nil || w.Scene.State.Staged != nil))
}

func (w *whatIf) Figure() string {
	switch {
	case w.diff.Progress() != "":
		return w.diff.Progress()
	case w.Scene != nil && w.Scene.State.WhatIf != nil && w.Scene.State.Staged == nil:
		return "not routed yet: r computes routes"
	case w.result != nil:
		return "d lists the changes"
	}
	return ""
}

func (w *whatIf) Empty() string {
	switch {
	case w.Scene == nil:
		return ""
	case !w.Filt.Empty():
		return w.NoMatch("row")
	case w.diff.Progress() != "":
		return "comparing: " + w.diff.Progress()
	case w.err != nil:
		return w.err.Error()
	case w.Scene.State.Staged != nil:
		return "the switches hold the staged tables already"
	}
	return "no simulated failures: select a link, switch or host and press f; nothing is written"
}

// Hidden reports whether the pane is empty: there is no what-if, and nothing is staged.
func (w *whatIf) Hidden() bool {
	return w.N == 0 && w.Filt.Empty() && w.Scene != nil && w.Scene.State.WhatIf == nil && w.Scene.State.Staged == nil
}

// Subject returns the object of the selected failure, so that the key u can restore it.
func (w *whatIf) Subject() pane.Subject {
	row, ok := w.Selected()
	if ok && !w.rows[row].at.None() {
		return w.Scene.SubjectAt(w.rows[row].at)
	}
	if !ok || w.rows[row].failure == 0 || w.Scene.State.Base == nil {
		return pane.Nothing
	}
	fail := &w.Scene.State.Failures[w.rows[row].failure-1]
	f := w.Scene.State.Whole()
	for node := range f.Nodes {
		if fail.InvolvesNode(fabric.NodeIndex(node)) {
			return pane.Subject{Fabric: f, Node: fabric.NodeIndex(node), Port: fabric.None, Link: fabric.None,
				Via: fabric.None}
		}
	}
	if len(fail.Links) == 0 {
		return pane.Nothing
	}
	p := fail.Links[0].A
	return pane.Subject{Fabric: f, Node: f.Ports[p].Node, Port: fabric.None, Link: p, Via: fabric.None}
}

func (w *whatIf) Enter() (func() tea.Msg, string) {
	if row, ok := w.Selected(); ok && w.rows[row].ask != "" {
		r := &w.rows[row]
		return func() tea.Msg { return pane.Run{Command: r.ask, Sheet: r.sheet} }, ""
	}
	return w.GoTo(w.Subject(), "no row is selected", "nothing to open here")
}
