// SPDX-License-Identifier: Apache-2.0

// Package problems lists what is wrong with the subnet.
package problems

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// severity says how much a problem matters, the worst first.
type severity uint8

const (
	asError severity = iota
	asWarning
	asNote
)

func (s severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// problem is one thing that is not as it should be.
type problem struct {
	severity severity
	// kind is what is wrong in two or three words, where the thing, and advice what
	// to look at.
	kind, where, advice string
	// at is the node or port, the zero value for none.
	at pane.Place
}

func (p *problem) id() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%d", p.kind, p.where, p.at.ID())
	return h.Sum64()
}

// problems lists what is wrong with the subnet, the worst first.
type problems struct {
	pane.List
	src   Source
	found []problem
	// lost are the links that were there when the session began, lostOf the fabrics then
	// and now.
	lost   []problem
	lostOf [2]*fabric.Fabric
	// unreached is what following all packets found, of the tables of the scene.
	unreached []problem
	// report is what the session says, nil until it does.
	report *found.Report

	focused bool // when it sought last

	reach   pane.AsyncResult[*reach.Result]
	reports pane.AsyncResult[*found.Report]
}

// Source says what is wrong with the live subnet; quick leaves out what takes long.
// Nil says that nobody knows more than the state does.
type Source interface {
	Problems(ctx context.Context, quick bool) (*found.Report, error)
}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &problems{src: src}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Problems", Short: "Probs", Help: "what is wrong with the subnet", Seat: pane.SeatHead},
		draw.Table{ID: func(row int) uint64 { return l.found[row].id() }}, l.Renew)
	l.Cols = []draw.Column{
		{Name: "what", Wide: 8, Text: func(row int) string { return l.found[row].severity.String() }, Look: l.look,
			Order: func(row int) int64 { return int64(l.found[row].severity) }},
		{Name: "problem", Least: 14, Text: func(row int) string { return l.found[row].kind }},
		{Name: "where", Least: 16, Share: 4, Text: func(row int) string { return l.found[row].where }},
		{Name: "look at", Least: 30, Rank: 1, Text: func(row int) string { return l.found[row].advice }, Look: func(int) draw.Style { return t.Dim }},
	}
	return l
}

// reported are the problems of a report. Its severities are numbered as ours.
func reported(r *found.Report) []problem {
	var out []problem
	for i := range r.Problems {
		p := &r.Problems[i]
		at := pane.Place{GUID: p.At.GUID}
		if p.At.Port > 0 {
			at.Port = uint8(p.At.Port)
		}
		out = append(out, problem{severity(min(uint8(p.Severity), uint8(asNote))), string(p.Kind), p.What, p.Try, at})
	}
	for _, u := range r.Unchecked {
		if u.Unknown {
			out = append(out, problem{asNote, u.What, u.Why, u.Try, pane.Place{}})
		}
	}
	return out
}

// unlike are links slower or narrower than most of their like that are not listed:
// what ports could do is not known of every source.
func unlike(sc *pane.Scene, listed []problem) []problem {
	known := map[string]bool{}
	for i := range listed {
		known[listed[i].kind] = true
	}
	var out []problem
	for _, p := range findProblems(sc) {
		if (p.kind == "narrow link" || p.kind == "slow link") && !known[p.kind] {
			out = append(out, p)
		}
	}
	return out
}

func (l *problems) look(row int) draw.Style {
	switch l.found[row].severity {
	case asError:
		return l.Theme.Bad
	case asWarning:
		return l.Theme.Warn
	}
	return l.Theme.Dim
}

func (l *problems) Show(sc *pane.Scene, _ bool) {
	l.Scene = sc
	if of := [2]*fabric.Fabric{sc.Seen, sc.State.Live.Fabric}; of != l.lostOf {
		l.lost, l.lostOf = nil, of
		if of[0] != of[1] {
			l.lost = lostLinks(of[0], of[1])
		}
	}
	l.Renew()
}

func (l *problems) Renew() {
	l.Hold()
	sc := l.Scene
	if l.report != nil {
		l.found = slices.Concat(reported(l.report), l.lost)
		l.found = append(l.found, unlike(sc, l.found)...)
	} else {
		l.found = slices.Concat(findProblems(sc), l.lost, l.unreached)
	}
	slices.SortStableFunc(l.found, func(a, b problem) int { return cmp.Compare(a.severity, b.severity) })
	l.Build(len(l.found))
}

func (l *problems) Picture() *draw.Badge {
	if l.Scene == nil || len(l.Scene.State.Live.Fabric.Nodes) == 0 {
		return nil
	}
	b := l.Scene.LiveBadge(l.Theme)
	return &b
}

func (l *problems) Figure() string {
	if l.Scene == nil || len(l.Scene.State.Live.Fabric.Nodes) == 0 {
		return ""
	}
	text := draw.Count(len(l.found), "problem")
	if c := l.reach.Progress(); c != "" {
		text += ", " + c
	}
	return text
}

// Alarm is how many of the problems are errors.
func (l *problems) Alarm() int {
	n := 0
	for i := range l.found {
		n += draw.Btoi(l.found[i].severity == asError)
	}
	return n
}

func (l *problems) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case len(l.found) > 0:
		return l.NoMatch("problem")
	case len(l.Scene.State.Live.Fabric.Nodes) == 0:
		return l.Scene.WhyNoSubnet()
	}
	if l.reach.Progress() != "" {
		return "none so far: all answer, links are alike and up; following the packets"
	}
	return "none: all answer, links are alike and up, packets arrive"
}

func (l *problems) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok || l.found[row].at.None() {
		return pane.Nothing
	}
	f := l.Scene.State.Live.Fabric
	node, port := l.found[row].at.In(f)
	if node == fabric.None {
		return pane.Nothing
	}
	s := pane.Subject{Fabric: f, Node: node, Port: fabric.None, Link: fabric.None, Via: fabric.None}
	if l.found[row].at.Port > 0 && port != fabric.None {
		s.Link = port
	}
	return s
}

func (l *problems) Enter() (func() tea.Msg, string) {
	return l.GoTo(l.Subject(), "no problem is selected", "this is about the subnet as a whole: there is no node to go to")
}

// reportKey changes whenever something else may be wrong.
type reportKey struct {
	live         *session.Picture
	holes, notes int
	drift        int
	cut, lost    string
	quick        bool
}

func (l *problems) reportKey(focused bool) reportKey {
	st := &l.Scene.State
	return reportKey{st.Live, len(st.Unanswered), len(st.Warnings), st.Drift, st.Interrupted, st.Lost, l.large() && !focused}
}

// large reports whether it takes long to follow all packets: not unasked then.
func (l *problems) large() bool {
	t := l.Scene.State.Live.Tables
	return t != nil && pane.EntriesOf(t) > pane.Quick
}

// Seek follows all packets of the live tables, and asks the session.
func (l *problems) Seek(s pane.Stage) tea.Cmd {
	l.focused = s.Focused
	var cmds []tea.Cmd
	live := l.Scene.State.Live
	if t := live.Tables; t != nil && t.Fabric.MaxLID > 0 && (s.Focused || !l.large()) {
		cmds = append(cmds, l.reach.Want(l.Common, t, func(ctx context.Context, progress func(int, int)) (*reach.Result, error) {
			return reach.Check(ctx, t, reach.Options{Progress: progress})
		}))
	}
	if len(live.Fabric.Nodes) > 0 && !l.Scene.Reading() {
		key := l.reportKey(s.Focused)
		cmds = append(cmds, l.reports.Want(l.Common, key, func(ctx context.Context, _ func(int, int)) (*found.Report, error) {
			return l.src.Problems(ctx, key.quick)
		}))
	}
	return tea.Batch(cmds...)
}

// Collect takes the report, or as long as there is none what following the packets found.
func (l *problems) Collect() {
	var report *found.Report
	if l.reports.Ready(l.reportKey(l.focused)) {
		report = l.reports.Value
	}
	var wrong []problem
	if t := l.Scene.State.Live.Tables; report == nil && t != nil && l.reach.Ready(t) {
		wrong = unreached(l.Scene.State.Live.Fabric, l.reach.Value)
	}
	if report != l.report || len(wrong) != len(l.unreached) {
		l.report, l.unreached = report, wrong
		l.Renew()
	}
	l.unreached = wrong
}
