// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/resilience"
)

// studied is how far a study is: its report, and what failed in the failures that
// the report names.
type studied struct {
	key    studyKey
	report resilience.Report
	rows   []fallout
}

// fallout is a failure and what becomes of the routes.
type fallout struct {
	resilience.Verdict
	node fabric.NodeIndex
	link fabric.PortIndex
	// with are the ports of further links that fail.
	with []fabric.PortIndex
}

// studyKey is what is studied: tables, and the kind of failures.
type studyKey struct {
	tables *fabric.Tables
	kind   resilience.Kind
}

// studyKinds are the kinds of failures by the manners of the pane.
var studyKinds = [...]resilience.Kind{resilience.Links, resilience.Switches, resilience.Pairs}

// few is how many failures are tried unasked.
const few = 20_000

// resilient lists what every failure of a kind does, the worst first.
type resilient struct {
	table
	sc  *scene
	now *studied
	// kept are the studies of all kinds, as far as they are.
	kept [len(studyKinds)]*studied
	err  error
	busy func() string
	// stopped is the study that somebody has stopped, agreed the large one that
	// somebody wants.
	stopped, agreed studyKey
	// count is how many failures counted has.
	count   int
	counted studyKey
}

func newResilient(t *theme) *resilient {
	l := &resilient{busy: func() string { return "" }}
	l.table = table{theme: t, kinds: []string{"each link between switches", "each switch", "each pair of links between switches"}, id: func(row int) uint64 { return uint64(l.now.rows[row].Number) }}
	v := func(row int) *resilience.Verdict { return &l.now.rows[row].Verdict }
	l.cols = []column{
		{name: "what fails", least: 27, share: 2, text: l.first, look: l.look},
		{name: "and", least: 24, share: 2, hidden: func() bool { return studyKinds[l.kind] != resilience.Pairs }, text: l.second, look: l.look},
		{name: "cut off", wide: 7, right: true, rank: 2, text: func(row int) string { return countOrNone(v(row).CutOff) }, order: func(row int) int64 { return int64(v(row).CutOff) },
			look: func(row int) style { return when(v(row).CutOff > 0, t.bad, "") }},
		{name: "paths lost", wide: 10, right: true, text: func(row int) string { return countOrNone(int(v(row).Lost)) }, order: func(row int) int64 { return v(row).Lost },
			look: func(row int) style { return when(v(row).Lost > 0, t.bad, "") }},
		{name: "busiest", wide: 8, right: true, rank: 3, text: func(row int) string { return thousands(int(v(row).Worst)) }, order: func(row int) int64 { return v(row).Worst }},
		{name: "growth", wide: 6, right: true, rank: 1, text: l.ofBefore, order: func(row int) int64 { return v(row).Worst }, look: l.look},
		{name: "at", least: 16, rank: 4, text: func(row int) string { return v(row).At }, look: func(int) style { return t.dim }},
		{name: "entries", wide: 8, right: true, rank: 5, text: func(row int) string { return thousands(v(row).Changed) }, order: func(row int) int64 { return int64(v(row).Changed) }},
	}
	return l
}

// first is the switch or the link that fails, second the other link of a pair.
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
	return fmt.Sprintf("%.2fx", float64(l.now.rows[row].Worst)/float64(l.now.report.Worst))
}

func (l *resilient) look(row int) style {
	v := &l.now.rows[row]
	switch {
	case v.Lost > 0 || v.CutOff > 0:
		return l.theme.bad
	case v.Worst > l.now.report.Worst:
		return l.theme.warn
	}
	return l.theme.good
}

func (l *resilient) key() studyKey { return studyKey{l.sc.pic.Tables, studyKinds[l.kind]} }

// failures is how many there are of the kind.
func (l *resilient) failures() int {
	if of := l.key(); l.counted != of {
		l.count, _ = resilience.Count(l.sc.pic.Fabric, of.kind)
		l.counted = of
	}
	return l.count
}

// large says that so many failures are not tried unasked.
func (l *resilient) large() bool { return entriesOf(l.sc.pic.Tables) > quick || l.failures() > few }

func (l *resilient) show(sc *scene) {
	l.sc = sc
	l.renew()
}

func (l *resilient) bring(now *studied, err error) {
	if l.now == now && l.err == err {
		return
	}
	l.hold()
	l.now, l.err = now, err
	if now != nil {
		for i, old := range l.kept {
			if old != nil && old.key.tables != now.key.tables {
				l.kept[i] = nil
			}
		}
		l.kept[slices.Index(studyKinds[:], now.key.kind)] = now
	}
	l.renew()
}

func (l *resilient) renew() {
	l.hold()
	n := 0
	if l.now != nil && l.now.key.kind == studyKinds[l.kind] && l.now.key.tables.Fabric == l.sc.pic.Fabric {
		n = len(l.now.rows)
	}
	l.build(n)
}

func (l *resilient) title() string { return l.kinds[l.kind] }

func (l *resilient) picture() *badge {
	switch {
	case l.sc == nil || l.size == 0:
		return nil
	case l.now.key != l.key():
		return &badge{l.theme.old, l.theme.oldLine, frameOld, "OLD, being tried"}
	}
	return l.theme.pictureBadge(l.sc, l.sc.pic)
}

func (l *resilient) figure() string {
	if l.size == 0 {
		return ""
	}
	r := &l.now.report
	switch {
	case l.busy() != "":
		return fmt.Sprintf("tried %s of %s, S stops", thousands(r.Done), thousands(r.Failures))
	case !r.Complete():
		return fmt.Sprintf("stopped at %s of %s, S goes on", thousands(r.Done), thousands(r.Failures))
	case r.Failures > len(l.now.rows):
		return fmt.Sprintf("the %s worst of %s; %s lose paths, %s overload", thousands(len(l.now.rows)), thousands(r.Failures), thousands(r.Losing), thousands(r.Overloading))
	}
	return fmt.Sprintf("%s; %s lose paths, %s overload", count(r.Failures, "failure"), thousands(r.Losing), thousands(r.Overloading))
}

func (l *resilient) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case l.sc.why != "":
		return l.sc.why
	case l.busy() != "":
		return "trying what each failure does: " + l.busy() + "; S stops"
	case !l.filt.empty() && l.size > 0:
		return l.noMatch("failure")
	case l.stopped == l.key():
		return "stopped: S goes on"
	case l.err != nil:
		return "the failures were not tried: " + l.err.Error()
	case l.large() && l.agreed != l.key():
		return thousands(l.failures()) + " failures in turn take a while: S begins, and all else goes on meanwhile"
	}
	return "there is nothing of this kind that could fail: b shows others"
}

// subject is what fails, so that it can fail on paper.
func (l *resilient) subject() subject {
	row, ok := l.selected()
	if !ok {
		return nothing
	}
	s, r := nothing, &l.now.rows[row]
	s.f, s.node, s.link, s.with = l.now.key.tables.Fabric, r.node, r.link, r.with
	return s
}

func (l *resilient) enter(m *model) (func() tea.Cmd, string) {
	s := l.subject()
	if s.node == fabric.None {
		return nil, "no failure is selected"
	}
	return m.visitNode(placeIn(s.f, s.node, s.link)), ""
}
