// SPDX-License-Identifier: Apache-2.0

// Package resilience shows the effect of each failure on the routes.
package resilience

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// studyState is the progress of a study: its report, and the links or switches of the listed failures.
type studyState struct {
	key    studyKey
	report resilience.Report
	rows   []failure
}

// failure is a row: a failure and its effect on the routes.
type failure struct {
	resilience.Verdict
	node fabric.NodeIndex
	link fabric.PortIndex
	with []fabric.PortIndex // the ports of other links that fail
}

// studyKey identifies a study by its tables and the kind of failures.
type studyKey struct {
	tables *fabric.Tables
	kind   resilience.Kind
}

// studyKinds are the kinds of failures, by the index of the view.
var studyKinds = [...]resilience.Kind{resilience.Links, resilience.Switches, resilience.Pairs}

const maxUnasked = 20_000 // largest number of failures that are tried without a key

// resilient lists the effect of every failure of one kind, the worst first.
type resilient struct {
	pane.List
	src   Source
	now   *studyState
	kept  [len(studyKinds)]*studyState // the progress of the studies
	err   error
	study pane.AsyncResult[*studyState]
	soFar *atomic.Pointer[studyState] // of the study that runs
	// stopped is the study that the user stopped. The field approved is the large study that the user started.
	stopped, approved studyKey
	// count is the number of failures in the study counted.
	count   int
	counted studyKey
}

// Source prepares a study of the failures of one kind.
type Source interface {
	Study(ctx context.Context, t *fabric.Tables, kind resilience.Kind) (*resilience.Study, error)
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Resilience", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &resilient{src: src}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Resilience"},
		draw.Table{Kinds: []string{"each link between switches", "each switch", "each pair of links between switches"},
			ID: func(row int) uint64 {
				return uint64(l.now.rows[row].Number)
			}}, l.Renew)
	v := func(row int) *resilience.Verdict { return &l.now.rows[row].Verdict }
	l.Cols = []draw.Column{
		{Name: "failure", Help: "link, switch, or first link of a pair",
			Least: 27, Share: 2, Text: l.first, Look: l.look},
		{Name: "second link", Help: "second link of the pair",
			Least: 24, Share: 2, Hidden: func() bool { return studyKinds[l.Kind] != resilience.Pairs }, Text: l.second,
			Look: l.look},
		{Name: "unreachable", Help: "end ports that the failure separates from the subnet",
			Wide: 11, Right: true, Rank: 3, Text: func(row int) string {
				return draw.CountOrNone(v(row).Unreachable)
			}, Order: func(row int) int64 { return int64(v(row).Unreachable) },
			Look: func(row int) draw.Style { return prose.When(v(row).Unreachable > 0, t.Bad, "") }},
		{Name: "paths lost", Help: "paths that arrived before the failure and do not after rerouting",
			Wide: 10, Right: true, Text: func(row int) string {
				return draw.CountOrNone(int(v(row).Lost))
			}, Order: func(row int) int64 { return v(row).Lost },
			Look: func(row int) draw.Style { return prose.When(v(row).Lost > 0, t.Bad, "") }},
		{Name: "loop", Help: "whether the routes after rerouting have a credit loop; empty if not checked",
			Wide: 4, Rank: 2, Text: func(row int) string {
				return map[resilience.Loop]string{
					resilience.NoLoop: "no", resilience.HasLoop: "LOOP", resilience.Unknown: "?",
					resilience.Refused: "?",
				}[v(row).Loop]
			},
			Look: func(row int) draw.Style {
				return prose.When(v(row).Loop == resilience.HasLoop, t.Bad, "")
			}},
		{Name: "most paths", Help: "paths over the busiest link after rerouting",
			Wide: 10, Right: true, Rank: 2, Order: func(row int) int64 { return v(row).Worst }},
		{Name: "growth", Help: "most paths after rerouting, divided by those before the failure",
			Wide: 6, Right: true, Rank: 1, Text: l.ofBefore, Order: func(row int) int64 {
				return v(row).Worst
			}, Look: l.look},
		{Name: "busiest link", Help: "busiest link after rerouting",
			Least: 16, Rank: 4, Text: func(row int) string {
				return v(row).At
			}, Dim: true},
		{Name: "entries", Help: "forwarding table entries that change",
			Wide: 8, Right: true, Rank: 5, Order: func(row int) int64 { return int64(v(row).Changed) }},
	}
	return l
}

// first returns the name of the switch or link that fails. If two links fail, second returns the name of the other
// link.
func (l *resilient) first(row int) string {
	if r := &l.now.rows[row]; len(r.with) > 0 {
		return l.linkName(r.link)
	}
	return l.now.rows[row].Name
}

func (l *resilient) second(row int) string {
	if r := &l.now.rows[row]; len(r.with) > 0 {
		return l.linkName(r.with[0])
	}
	return ""
}

func (l *resilient) linkName(port fabric.PortIndex) string {
	f := l.now.key.tables.Fabric
	return f.PortName(port) + " -- " + f.PortName(f.Ports[port].Peer)
}

func (l *resilient) ofBefore(row int) string {
	if l.now.report.Worst == 0 {
		return ""
	}
	return draw.Times(float64(l.now.rows[row].Worst) / float64(l.now.report.Worst))
}

func (l *resilient) look(row int) draw.Style {
	v := &l.now.rows[row]
	switch {
	case v.Lost > 0 || v.Unreachable > 0 || v.Loop == resilience.HasLoop:
		return l.Theme.Bad
	case v.Worst > l.now.report.Worst:
		return l.Theme.Warn
	}
	return l.Theme.Good
}

func (l *resilient) key() studyKey { return studyKey{l.Scene.Picture.Tables, studyKinds[l.Kind]} }

// failures returns the number of failures of the selected kind.
func (l *resilient) failures() int {
	if of := l.key(); l.counted != of {
		l.count, _ = resilience.Count(l.Scene.Picture.Fabric, of.kind)
		l.counted = of
	}
	return l.count
}

// large reports whether the failures are simulated only on demand, because it takes long.
func (l *resilient) large() bool {
	return pane.EntriesOf(l.Scene.Picture.Tables) > pane.Quick || l.failures() > maxUnasked
}

func (l *resilient) show(now *studyState, err error) {
	if l.now == now && l.err == err {
		return
	}
	l.KeepRow()
	l.now, l.err = now, err
	if now != nil {
		for i, old := range l.kept {
			if old != nil && old.key.tables != now.key.tables {
				l.kept[i] = nil
			}
		}
		l.kept[slices.Index(studyKinds[:], now.key.kind)] = now
	}
	l.Renew()
}

func (l *resilient) Renew() {
	l.KeepRow()
	n := 0
	if l.now != nil && l.now.key.kind == studyKinds[l.Kind] && l.now.key.tables.Fabric == l.Scene.Picture.Fabric {
		n = len(l.now.rows)
	}
	l.Build(n)
}

func (l *resilient) Title() string { return l.Kinds[l.Kind] }

func (l *resilient) StateBadge() *draw.Badge {
	switch {
	case l.Scene == nil || l.Size == 0:
		return nil
	case l.now.key != l.key():
		b := pane.PastBadge(l.Theme, "OUTDATED, computing")
		return &b
	}
	return l.SceneBadge(true)
}

func (l *resilient) Figure() string {
	if l.Size == 0 {
		return ""
	}
	r := &l.now.report
	switch {
	case l.study.Progress() != "":
		return fmt.Sprintf("simulated %s of %s: S stops", prose.Thousands(r.Done), prose.Thousands(r.Failures))
	case !r.Complete():
		return fmt.Sprintf("stopped at %s of %s: S continues", prose.Thousands(r.Done), prose.Thousands(r.Failures))
	}
	figure := prose.Count(r.Failures, "failure")
	if r.Failures > len(l.now.rows) {
		figure = fmt.Sprintf("the %s worst of %s", prose.Thousands(len(l.now.rows)), prose.Thousands(r.Failures))
	}
	figure += fmt.Sprintf("; %s lose paths, ", prose.Thousands(r.Losing))
	if r.Looping > 0 {
		figure += prose.Count(r.Looping, "loop") + ", "
	}
	return figure + prose.Thousands(r.Overloading) + " raise the maximum"
}

func (l *resilient) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case l.Scene.WhyNoTables != "":
		return l.Scene.WhyNoTables
	case l.study.Progress() != "":
		return "simulating each failure: " + l.study.Progress() + "; S stops"
	case !l.Filt.Empty() && l.Size > 0:
		return l.NoMatch("failure")
	case l.stopped == l.key():
		return "stopped: S continues"
	case l.err != nil:
		return "the failures were not simulated: " + l.err.Error()
	case l.large() && l.approved != l.key():
		return prose.Thousands(l.failures()) + " failures take long to simulate: S starts in the background"
	}
	return "there is nothing of this kind: b shows other kinds"
}

// Subject returns the link or switch that fails in the selected row, so that the key f can simulate this failure.
func (l *resilient) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok {
		return pane.Nothing
	}
	s, r := pane.Nothing, &l.now.rows[row]
	s.Fabric, s.Node, s.Link, s.With = l.now.key.tables.Fabric, r.node, r.link, r.with
	return s
}

func (l *resilient) Enter() (func() tea.Msg, string) {
	return l.GoTo(l.Subject(), "no failure is selected", "no failure is selected")
}
