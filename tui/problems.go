// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
)

// severity says how much a problem matters, the worst first.
type severity uint8

const (
	grave severity = iota
	doubtful
	curious
)

func (s severity) String() string { return [...]string{"error", "warning", "note"}[s] }

// problem is one thing that is not as it should be.
type problem struct {
	severity severity
	// kind is what is wrong in two or three words, where the thing, and advice what
	// to look at.
	kind, where, advice string
	// at is the node or port, the zero value for none.
	at place
}

func (p *problem) id() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%d", p.kind, p.where, p.at.id())
	return h.Sum64()
}

// problems lists what is wrong with the subnet, the worst first.
type problems struct {
	table
	sc   *scene
	list []problem
	// lost are the links that were there when the session began.
	lost []problem
	// reach is what following all packets found, of the tables of the scene.
	reach []problem
	// report is what the session says, nil until it does.
	report *problemsReport
	// checking says how far that is, "" where nobody follows them.
	checking func() string
}

func newProblems(t *theme) *problems {
	l := &problems{checking: func() string { return "" }}
	l.table = table{theme: t, id: func(row int) uint64 { return l.list[row].id() }}
	l.cols = []column{
		{name: "what", wide: 8, text: func(row int) string { return l.list[row].severity.String() }, look: l.look,
			order: func(row int) int64 { return int64(l.list[row].severity) }},
		{name: "problem", least: 14, text: func(row int) string { return l.list[row].kind }},
		{name: "where", least: 16, share: 4, text: func(row int) string { return l.list[row].where }},
		{name: "look at", least: 30, rank: 1, text: func(row int) string { return l.list[row].advice }, look: func(int) style { return t.dim }},
	}
	return l
}

// reported are the problems of a report, and what may be one. Its severities are numbered
// as ours.
func reported(r *problemsReport) []problem {
	var out []problem
	for i := range r.Problems {
		p := &r.Problems[i]
		at := place{guid: p.At.GUID}
		if p.At.Port > 0 {
			at.port = uint8(p.At.Port)
		}
		out = append(out, problem{severity(min(uint8(p.Severity), uint8(curious))), string(p.Kind), p.What, p.Try, at})
	}
	for _, u := range r.Unchecked {
		if u.Unknown {
			out = append(out, problem{curious, u.What, u.Why, u.Try, place{}})
		}
	}
	return out
}

// unlike are links slower or narrower than most of their like that are not listed:
// what ports could do is not known of every source.
func unlike(sc *scene, listed []problem) []problem {
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

func (l *problems) look(row int) style {
	switch l.list[row].severity {
	case grave:
		return l.theme.bad
	case doubtful:
		return l.theme.warn
	}
	return l.theme.dim
}

func (l *problems) show(sc *scene) {
	l.hold()
	l.sc = sc
	if l.report != nil {
		l.list = slices.Concat(reported(l.report), l.lost)
		l.list = append(l.list, unlike(sc, l.list)...)
	} else {
		l.list = slices.Concat(findProblems(sc), l.lost, l.reach)
	}
	slices.SortStableFunc(l.list, func(a, b problem) int { return cmp.Compare(a.severity, b.severity) })
	l.build(len(l.list))
}

func (l *problems) picture() *badge {
	if l.sc == nil || len(l.sc.st.Live.Fabric.Nodes) == 0 {
		return nil
	}
	b := l.theme.liveBadge(l.sc)
	return &b
}

func (l *problems) figure() string {
	if l.sc == nil || len(l.sc.st.Live.Fabric.Nodes) == 0 {
		return ""
	}
	text := count(len(l.list), "problem")
	if c := l.checking(); c != "" {
		text += ", " + c
	}
	return text
}

// worst is how many of the problems are errors.
func (l *problems) worst() int {
	n := 0
	for i := range l.list {
		n += btoi(l.list[i].severity == grave)
	}
	return n
}

func (l *problems) empty() string {
	switch {
	case l.sc == nil:
		return ""
	case len(l.list) > 0:
		return l.noMatch("problem")
	case len(l.sc.st.Live.Fabric.Nodes) == 0:
		return l.sc.whyNoSubnet()
	}
	if l.checking() != "" {
		return "none so far: all answer, links are alike and up; following the packets"
	}
	return "none: all answer, links are alike and up, packets arrive"
}

func (l *problems) subject() subject {
	row, ok := l.selected()
	if !ok || l.list[row].at.none() {
		return nothing
	}
	f := l.sc.st.Live.Fabric
	node, port := l.list[row].at.in(f)
	if node == fabric.None {
		return nothing
	}
	s := subject{f: f, node: node, port: fabric.None, link: fabric.None, via: fabric.None}
	if l.list[row].at.port > 0 && port != fabric.None {
		s.link = port
	}
	return s
}

func (l *problems) enter(m *model) (func() tea.Cmd, string) {
	s := l.subject()
	if _, ok := l.selected(); !ok {
		return nil, "no problem is selected"
	}
	if s.node == fabric.None {
		return nil, "this is about the subnet as a whole: there is no node to go to"
	}
	return m.visitNode(placeIn(s.f, s.node, s.link)), ""
}
