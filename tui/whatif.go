// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// whatIf lists what has failed on paper and what follows from it.
type whatIf struct {
	list
	rows []whatIfRow
	// result compares the base with what is shown, nil where that is not known yet.
	result  *diff.Result
	against session.Kind
	err     error
	diff    asyncResult[*diff.Result]
}

// whatIfRow is a failure, a figure before and after, or a heading.
type whatIfRow struct {
	failure             int // counted from 1, 0 for none
	what, before, after string
	st                  draw.Style
	heading             bool
}

// maxMoved is how many links whose load changes are listed.
const maxMoved = 40

func newWhatIf(c *common, t *draw.Theme) pane {
	w := &whatIf{list: list{common: c}}
	w.Table = draw.Table{Theme: t, ID: func(row int) uint64 { return uint64(row) }}
	look := func(row int) draw.Style { return w.rows[row].st }
	w.Cols = []draw.Column{
		{Name: "what", Least: 16, Text: func(row int) string { return w.rows[row].what }, Look: look},
		{Name: "before", Right: true, Text: func(row int) string { return w.rows[row].before }},
		{Name: "after", Right: true, Text: func(row int) string { return w.rows[row].after }, Look: look},
	}
	return w
}

func (w *whatIf) about() about {
	return about{name: "What-if", short: "What-if", help: "what has failed on paper, and what follows"}
}

func (w *whatIf) show(sc *scene, changed bool) {
	w.sc = sc
	if changed {
		w.renew()
	}
}

// seek compares the tables that are shown with those of the base.
func (w *whatIf) seek(s stage) tea.Cmd {
	p := w.sc.against()
	if p == nil || !s.visible {
		return nil
	}
	before, after := p.Tables, w.sc.pic.Tables
	return w.diff.want(w.common, [2]*fabric.Tables{before, after}, func(ctx context.Context, progress func(int, int)) (*diff.Result, error) {
		return diff.Compare(ctx, before, after, diff.Options{Progress: progress})
	})
}

func (w *whatIf) collect() {
	var r *diff.Result
	if p := w.sc.against(); p != nil {
		w.against = p.Kind
		if w.diff.ready([2]*fabric.Tables{p.Tables, w.sc.pic.Tables}) {
			r = w.diff.value
		}
	}
	if w.result == r && w.err == w.diff.err {
		return
	}
	w.result, w.err = r, w.diff.err
	w.renew()
}

func (w *whatIf) renew() {
	w.Hold()
	w.rows = w.rows[:0]
	st := &w.sc.st
	for i := range st.Failures {
		f := &st.Failures[i]
		w.add(whatIfRow{failure: i + 1, what: fmt.Sprintf("%d %s %s %s", i+1, w.Theme.Failed, f.What, f.Name), st: w.Theme.Bad})
	}
	if st.WhatIf != nil && st.Base != nil {
		if n := st.WhatIf.CutOff(st.Base); n > 0 {
			w.add(whatIfRow{what: "nodes that no link leads to any more", before: "0", after: draw.Thousands(n), st: w.Theme.Bad})
		}
	}
	if r := w.result; r != nil {
		w.consequences(r)
	}
	w.Cols[1].Wide, w.Cols[2].Wide = len("before"), len("after")
	for i := range w.rows {
		w.Cols[1].Wide, w.Cols[2].Wide = max(w.Cols[1].Wide, len(w.rows[i].before)), max(w.Cols[2].Wide, len(w.rows[i].after))
	}
	w.Build(len(w.rows))
}

func (w *whatIf) add(r whatIfRow) { w.rows = append(w.rows, r) }

// consequences are what differs from the base, worst things first.
func (w *whatIf) consequences(r *diff.Result) {
	t := w.Theme
	bad := func(n int64) draw.Style { return draw.When(n > 0, t.Bad, t.Good) }
	number := func(n int64) string { return draw.Thousands(int(n)) }
	w.add(whatIfRow{what: fmt.Sprintf("%s %s %s", w.against, t.Arrow, w.sc.st.Title(w.sc.pic)), heading: true, st: t.Strong})
	w.add(whatIfRow{what: "pairs that reach each other", before: number(r.Pairs.Total - r.Pairs.Unreached - r.Pairs.Connected),
		after: number(r.Pairs.Total - r.Pairs.Unreached - r.Pairs.CutOff), st: bad(r.Pairs.CutOff)})
	w.add(whatIfRow{what: "  cut off", after: number(r.Pairs.CutOff), st: bad(r.Pairs.CutOff)})
	w.add(whatIfRow{what: "  take another way", after: number(r.Pairs.Changed)})
	w.add(whatIfRow{what: fmt.Sprintf("LFT entries, on %s", draw.Count(r.Entries.Switches, "switch")), after: draw.Thousands(r.Entries.Changed)})
	if r.WorstOld != nil && r.WorstNew != nil {
		w.add(whatIfRow{what: "paths over the busiest link", before: number(r.WorstOld.PathsOld), after: number(r.WorstNew.PathsNew),
			st: draw.When(r.WorstNew.PathsNew > r.WorstOld.PathsOld, t.Warn, "")})
		w.add(whatIfRow{what: "  " + loadName(r.WorstNew), st: t.Dim})
	}
	for _, x := range []struct {
		n    int
		what string
	}{{len(r.Gone), "end ports lost"}, {len(r.Come), "end ports won"}, {len(r.Moved), "end ports with another LID"}} {
		if x.n > 0 {
			w.add(whatIfRow{what: x.what, after: draw.Thousands(x.n), st: t.Warn})
		}
	}
	if len(r.Loads) > 0 {
		w.add(whatIfRow{what: "paths over links, most changed first", heading: true, st: t.Strong})
	}
	for i := range r.Loads[:min(len(r.Loads), maxMoved)] {
		l := &r.Loads[i]
		w.add(whatIfRow{what: "  " + loadName(l), before: number(l.PathsOld), after: number(l.PathsNew), st: draw.When(l.PathsNew > l.PathsOld, t.Warn, "")})
	}
}

func loadName(l *diff.Load) string {
	if l.To == nil {
		return l.From.Name
	}
	return l.From.Name + " to " + l.To.Name
}

// against is the picture that what is shown is compared with, nil where there is
// none with tables.
func (sc *scene) against() *session.Picture {
	if sc.pic.Kind == session.Live || sc.pic.Kind == session.Base || sc.pic.Tables == nil {
		return nil
	}
	p := sc.st.Live
	if sc.st.Base != nil && !sc.recalled() {
		p = sc.st.Base
	}
	if p.Tables == nil {
		return nil
	}
	return p
}

func (w *whatIf) title() string {
	if w.sc == nil || w.sc.st.WhatIf == nil {
		return ""
	}
	return draw.Count(len(w.sc.st.Failures), "failure")
}

func (w *whatIf) picture() *draw.Badge {
	if w.sc == nil || w.sc.st.WhatIf == nil && w.sc.st.Staged == nil {
		return nil
	}
	return w.sc.pictureBadge(w.Theme, w.sc.pic)
}

func (w *whatIf) figure() string {
	switch {
	case w.diff.progress() != "":
		return w.diff.progress()
	case w.sc != nil && w.sc.st.WhatIf != nil && w.sc.st.Staged == nil:
		return "not routed yet: r routes around it"
	case w.result != nil:
		return "d lists what changes"
	}
	return ""
}

func (w *whatIf) empty() string {
	switch {
	case w.sc == nil:
		return ""
	case !w.Filt.Empty():
		return w.NoMatch("row")
	case w.diff.progress() != "":
		return "comparing: " + w.diff.progress()
	case w.err != nil:
		return w.err.Error()
	case w.sc.st.Staged != nil:
		return "the staged tables are those that the switches hold: nothing follows from them"
	}
	return "nothing has failed on paper: select a link, a switch or a host and press f; nothing is written by that"
}

// subject of a failure is what failed, so that it can be taken back.
func (w *whatIf) subject() subject {
	row, ok := w.Selected()
	if !ok || w.rows[row].failure == 0 || w.sc.st.Base == nil {
		return nothing
	}
	fail := &w.sc.st.Failures[w.rows[row].failure-1]
	f := w.sc.st.Base.Fabric
	for node := range f.Nodes {
		if fail.InvolvesNode(fabric.NodeIndex(node)) {
			return subject{f: f, node: fabric.NodeIndex(node), port: fabric.None, link: fabric.None, via: fabric.None}
		}
	}
	if len(fail.Links) == 0 {
		return nothing
	}
	p := fail.Links[0].A
	return subject{f: f, node: f.Ports[p].Node, port: fabric.None, link: p, via: fabric.None}
}

func (w *whatIf) enter() (func() tea.Msg, string) {
	s := w.subject()
	if _, ok := w.Selected(); !ok {
		return nil, "no failure is selected"
	}
	if s.node == fabric.None {
		return nil, "this row is a figure: there is nothing behind it"
	}
	return s.goTo, ""
}
