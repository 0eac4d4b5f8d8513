// SPDX-License-Identifier: Apache-2.0

// Package engines compares the routes that each engine computes, and the incremental route.
package engines

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// compared lists the engines, and first the incremental route. The figures appear as they are computed.
type compared struct {
	pane.List
	src    Source
	names  []string
	rows   []*row // as many as are computed, in the order of names
	best   int    // the best row, -1 for none
	trial  pane.AsyncResult[[]*row]
	soFar  *atomic.Pointer[[]*row] // of the comparison that runs
	opened bool                    // the pane was opened once
}

// row is an engine with its figures.
type row struct {
	comparison.Figures
	ofLimit float64 // the paths over the busiest link, divided by its limit; 0 if unknown
	err     error   // why there are no figures
}

// input identifies what the engines route, and their options.
type input struct {
	paper *fabric.Fabric
	base  *fabric.Tables
	given string
}

// Source computes the figures of an engine for a state. Nothing is staged.
type Source interface {
	Try(ctx context.Context, st *session.State, engine string, progress func(done, total int)) (comparison.Figures,
		error)
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Engines", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &compared{src: src, best: -1}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Engines", Enter: "use it", Broad: true},
		draw.Table{ID: func(row int) uint64 { return uint64(row) }}, l.Renew)
	figure := func(text func(r *row) string) func(int) string {
		return func(i int) string {
			if r := l.computed(i); r != nil {
				return text(r)
			}
			return ""
		}
	}
	order := func(figure func(r *row) int64) func(int) int64 {
		return func(i int) int64 {
			if r := l.computed(i); r != nil {
				return figure(r)
			}
			return -1
		}
	}
	bad := func(is func(r *row) bool) func(int) draw.Style {
		return func(i int) draw.Style {
			r := l.computed(i)
			return prose.When(r != nil && is(r), t.Bad, "")
		}
	}
	l.Cols = []draw.Column{
		{Name: "engine", Help: "routing engine, or the incremental route, which keeps all paths that still arrive",
			Wide: 12, Text: func(i int) string { return l.names[i] },
			Look: func(i int) draw.Style { return prose.When(i == l.best, t.Good, "") }},
		{Name: "no path", Help: "pairs of end ports without a path that arrives",
			Wide: 11, Right: true, Text: l.unreachable, Order: order(func(r *row) int64 { return r.Lost + r.Luck }),
			Look: bad(func(r *row) bool { return r.Lost+r.Luck > 0 })},
		{Name: "most paths", Help: "paths over the busiest link (edge forwarding index)",
			Wide: 10, Right: true, Text: figure(func(r *row) string { return prose.Thousands(int(r.Worst)) }),
			Order: order(func(r *row) int64 { return r.Worst })},
		{Name: "of limit", Help: "largest number of paths over a link between switches, divided by the limit of the " +
			"link", Wide: 8, Right: true, Rank: 3, Text: figure(func(r *row) string {
			return prose.When(r.ofLimit == 0, "?", draw.Times(r.ofLimit))
		}), Order: order(func(r *row) int64 { return int64(1000 * r.ofLimit) })},
		{Name: "to write", Help: "forwarding table entries that differ from those on the switches",
			Wide: 8, Right: true, Text: figure(entries), Order: order(func(r *row) int64 { return int64(r.Changed) })},
		{Name: "loop", Help: "whether the routes have a credit loop: links that can wait for each other in a cycle " +
			"(deadlock)",
			Wide: 8, Text: figure(func(r *row) string { return prose.When(r.HasLoop(), "LOOP", r.Loop.String()) }),
			Look: bad(func(r *row) bool { return r.HasLoop() })},
		{Name: "time", Help: "time that routing took",
			Wide: 9, Right: true, Rank: 4, Text: figure(func(r *row) string { return took(r.Took) }),
			Order: order(func(r *row) int64 { return int64(r.Took / time.Microsecond) })},
		{Name: "note", Help: "the best row, the present engine, or why the engine refuses the subnet",
			Least: 12, Rank: 2, Text: l.note, Dim: true},
	}
	return l
}

func entries(r *row) string {
	switch {
	case r.Changed < 0:
		return "?"
	case r.Unread > 0:
		return prose.Thousands(r.Changed) + "+?" // the tables of some switches were not read
	}
	return prose.Thousands(r.Changed)
}

func took(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	}
	return draw.Seconds(d)
}

// computed returns the figures of a row, or nil if there are none.
func (l *compared) computed(i int) *row {
	if i >= len(l.rows) || l.rows[i].Refused != "" || l.rows[i].err != nil {
		return nil
	}
	return l.rows[i]
}

// unreachable returns the number of pairs without a path, or how far the computation is.
func (l *compared) unreachable(i int) string {
	switch r := l.computed(i); {
	case r != nil && r.Pairs.Unknown > 0:
		return prose.Thousands(int(r.Lost+r.Luck)) + "+?"
	case r != nil:
		return prose.Thousands(int(r.Lost + r.Luck))
	case i < len(l.rows):
		return "-"
	case i == len(l.rows) && l.trial.Doing != nil:
		return "computing"
	}
	return ""
}

// note returns a remark on a row, which begins with "best" for the best row.
func (l *compared) note(i int) string {
	text := ""
	switch {
	case i < len(l.rows) && l.rows[i].err != nil:
		text = "failed: " + l.rows[i].err.Error()
	case i < len(l.rows) && l.rows[i].Refused != "":
		text = "refused: " + l.rows[i].Refused
	case l.names[i] == comparison.Incremental && i < len(l.rows):
		text = prose.When(l.rows[i].Repair == "", "keeps other paths", "keeps other paths, "+string(l.rows[i].Repair))
	case i == len(l.rows) && l.trial.Doing != nil:
		text = l.trial.Progress()
	case l.names[i] == l.Scene.State.Settings.Chain[0]:
		text = "present engine"
	}
	switch {
	case i != l.best:
		return text
	case text == "":
		return "best"
	}
	return "best, " + text
}

// input returns what the engines route.
func (l *compared) input() input {
	st := &l.Scene.State
	conf, _, given := st.Settings.Asked()
	return input{st.Paper(), st.PaperBase().Tables, conf + " " + settings.Words(given)}
}

// Seek computes the figures of one engine after the other while the pane is visible.
func (l *compared) Seek(s pane.Stage) tea.Cmd {
	l.opened = l.opened || s.Focused
	st := l.Scene.State
	f := st.Paper()
	large := len(f.Switches)*int(f.MaxLID) > pane.Quick
	if !s.Visible || !l.opened || large && !s.Focused || l.src == nil || st.Live.Fabric.MaxLID == 0 {
		return nil
	}
	of := l.input()
	names := comparison.Names(&st)
	so := new(atomic.Pointer[[]*row])
	top := l.Scene.Top
	cmd := l.trial.Start(l.Common, of, func(ctx context.Context, progress func(done, total int)) ([]*row, error) {
		var rows []*row
		for _, name := range names {
			progress(0, 0)
			f, err := l.src.Try(ctx, &st, name, progress)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r := &row{Figures: f, err: err}
			if f.Loads != nil {
				r.ofLimit = mostOfLimit(f.Loads, f.Loads.Limits(top.Heights(f.Loads.Fabric)))
				r.Loads = nil // large
			}
			rows = append(rows, r)
			done := slices.Clone(rows)
			so.Store(&done)
		}
		return rows, nil
	})
	if cmd != nil {
		l.names, l.soFar = names, so
		l.show(nil)
	}
	return cmd
}

// mostOfLimit returns the largest number of paths over a link between switches, divided by its limit.
func mostOfLimit(l *linkload.Loads, limits linkload.Limits) float64 {
	most := 0.0
	for p := range l.Fabric.NumPorts() {
		if linkload.ClassOf(l.Fabric, p) != linkload.BetweenSwitches {
			continue
		}
		if v, known := l.OfLimit(limits, p); known {
			most = max(most, v)
		}
	}
	return most
}

// Collect takes the rows that are computed.
func (l *compared) Collect() {
	switch {
	case l.trial.Doing != nil && l.soFar != nil && l.soFar.Load() != nil:
		l.show(*l.soFar.Load())
	case l.trial.Doing == nil && l.trial.Err == nil:
		l.show(l.trial.Value)
	}
}

func (l *compared) show(rows []*row) {
	if len(rows) == len(l.rows) && (len(rows) == 0 || rows[0] == l.rows[0]) && l.Size == len(l.names) {
		return
	}
	l.rows = rows
	l.Renew()
}

func (l *compared) Renew() {
	l.KeepRow()
	l.best = -1
	var best *comparison.Figures
	for i := range l.rows {
		if r := l.computed(i); r != nil && r.Beats(best) {
			best, l.best = &r.Figures, i
		}
	}
	l.Build(len(l.names))
}

// Title names the failures.
func (l *compared) Title() string {
	if l.Scene == nil || l.Scene.State.WhatIf == nil {
		return ""
	}
	failed := l.Scene.State.Failures
	if len(failed) == 1 {
		return "after: " + failed[0].What + " " + failed[0].Name
	}
	return "after " + l.Scene.State.OnPaper()
}

func (l *compared) StateBadge() *draw.Badge {
	switch {
	case l.Scene == nil || l.Size == 0:
		return nil
	case l.trial.Of != any(l.input()) && l.trial.Doing != any(l.input()):
		b := pane.PastBadge(l.Theme, "OUTDATED")
		return &b
	}
	return nil
}

func (l *compared) Figure() string {
	refused := 0
	for _, r := range l.rows {
		refused += draw.Btoi(r.Refused != "")
	}
	switch {
	case l.Size == 0:
		return ""
	case l.trial.Doing != nil:
		return fmt.Sprintf("computing %d of %d", min(len(l.rows)+1, len(l.names)), len(l.names))
	case refused > 0:
		return fmt.Sprintf("%s, %d refused", prose.Count(len(l.names)-refused, "route"), refused)
	}
	return prose.Count(len(l.names), "route")
}

func (l *compared) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case !l.Filt.Empty() && l.Size > 0:
		return l.NoMatch("engine")
	case l.Scene.State.Live.Fabric.MaxLID == 0:
		return "the subnet has no LIDs: R reads it"
	}
	return "E compares the engines"
}

// Hidden reports whether the pane has not been opened yet.
func (l *compared) Hidden() bool { return !l.opened }

// Enter stages the routes of the selected row.
func (l *compared) Enter() (func() tea.Msg, string) {
	i, ok := l.Selected()
	switch {
	case !ok:
		return nil, "no engine is selected"
	case i < len(l.rows) && l.computed(i) == nil:
		return nil, l.names[i] + " " + l.note(i)
	}
	command := l.command(l.names[i])
	return func() tea.Msg { return pane.Run{Command: command} }, ""
}

// command returns the command that stages the routes of an engine.
func (l *compared) command(engine string) string {
	set := &l.Scene.State.Settings
	chain := slices.DeleteFunc(slices.Clone(set.Chain), func(name string) bool { return name == engines.NoFallback })
	switch {
	case engine == comparison.Incremental:
		return "route incremental"
	case slices.Equal(chain, []string{engine}): // engine would make the route start from the base again
		return "route"
	}
	return feature.EngineCommand(set, engine) + "; route"
}
