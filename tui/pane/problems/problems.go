// SPDX-License-Identifier: Apache-2.0

// Package problems lists the problems of the subnet.
package problems

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/survey"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// problems lists the problems of the subnet, the most severe first.
type problems struct {
	pane.List
	src     Source
	found   []row
	all     int                 // number of problems
	open    map[found.Kind]bool // the groups whose problems are listed
	report  *found.Report       // the last report of the live subnet, nil before the first
	reports pane.AsyncResult[*found.Report]
	past    pane.AsyncResult[*found.Report] // of a state of the history
	shown   *found.Report                   // the report that is listed
	ended   int                             // commands that have ended; one may acknowledge a problem
}

// row is a single problem, or a group of similar problems.
type row struct {
	found.Problem
	group int // number of problems in the group, 0 for a problem
}

const groupFrom = 4 // number of similar problems from which they are a group

// grouped combines similar problems into groups. Similar problems must be adjacent.
func (l *problems) grouped(all []found.Problem) []row {
	var rows []row
	for len(all) > 0 {
		first := &all[0]
		n := 1
		for n < len(all) && all[n].Kind == first.Kind && all[n].Severity == first.Severity {
			n++
		}
		many := n >= groupFrom && l.Filt.Empty()
		if many {
			rows = append(rows, row{
				found.Problem{Severity: first.Severity, Kind: first.Kind, At: found.WholeSubnet, Try: first.Try,
					What: examples(all[:n])}, n,
			})
		}
		if !many || l.open[first.Kind] {
			for i := range all[:n] {
				rows = append(rows, row{Problem: all[i]})
			}
		}
		all = all[n:]
	}
	return rows
}

// examples names the places of the first problems of a group.
func examples(all []found.Problem) string {
	var where []string
	for i := range all[:min(len(all), groupFrom)] {
		where = append(where, cmp.Or(all[i].At.Name, all[i].What))
	}
	return strings.Join(where, ", ") + prose.When(len(all) > groupFrom, ", ...", "")
}

// problem returns the kind of the problem and what was found, without the name that is in the column before it.
func (r *row) problem() string {
	what := r.What
	if rest, found := strings.CutPrefix(what, r.At.Name+": "); found && r.At.Name != "" {
		what = rest
	}
	return string(r.Kind) + ": " + what
}

// facts returns all details of a problem.
func (r *row) facts() []pane.Fact {
	facts := []pane.Fact{{Name: "problem", Text: string(r.Kind)}, {Name: "severity", Text: r.Severity.String()},
		{Name: "evidence", Text: r.What}}
	if r.At.Name != "" {
		facts = append(facts, pane.Fact{Name: "object", Text: r.At.Name})
	}
	if r.Try != "" {
		facts = append(facts, pane.Fact{Name: "next step", Text: r.Try})
	}
	if !r.Since.IsZero() {
		facts = append(facts, pane.Fact{Name: "since", Text: when.Text(r.Since)})
	}
	if r.group == 0 {
		facts = append(facts, pane.Fact{Name: "ID", Text: r.ID()})
	}
	return facts
}

// object returns the place of the problem. For a group it returns the number of places.
func (r *row) object() string {
	if r.group > 0 {
		return fmt.Sprintf("%d places", r.group)
	}
	return cmp.Or(r.At.Name, "subnet")
}

// since returns when the problem began: the time of today, or the date. It returns "" if that is unknown.
func (r *row) since(now time.Time) string {
	at := r.Since.Local()
	switch {
	case r.Since.IsZero():
		return ""
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return when.Format(at, "15:04")
	}
	return when.Format(at, "01-02 15:04")
}

// Source provides the problems of the live subnet and of history entries.
type Source interface {
	Problems(ctx context.Context, opt survey.Options) (*found.Report, error)
	// PastProblems returns the problems of a history entry.
	PastProblems(ctx context.Context, p *session.Picture, opt survey.Options) (*found.Report, error)
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Problems", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &problems{src: src}
	l.List = pane.NewList(c, pane.About{Name: "Problems", Seat: pane.SeatHead},
		draw.Table{ID: func(row int) uint64 { return id(&l.found[row]) }}, l.Renew)
	l.Cols = []draw.Column{
		{Name: "severity", Help: "error, warning or note",
			Wide: 8, Text: func(row int) string { return l.found[row].Severity.String() }, Look: l.look,
			Order: func(row int) int64 { return int64(l.found[row].Severity) }},
		{Name: "object", Help: "port or node that has the problem; Enter on several opens them",
			Naming: true, Least: 12, Share: 2, Text: func(row int) string { return l.found[row].object() }},
		{Name: "since", Help: "when the problem began, if that was recorded",
			Wide: 11, Rank: 2, Text: func(row int) string { return l.found[row].since(time.Now()) },
			Order: func(row int) int64 { return l.found[row].Since.UnixMilli() },
			Hidden: func() bool {
				return !slices.ContainsFunc(l.found, func(r row) bool { return !r.Since.IsZero() })
			}},
		{Name: "problem", Help: "kind of problem, with the evidence",
			Least: 24, Share: 5, Text: func(row int) string { return l.found[row].problem() }},
		{Name: "next step", Help: "suggested next step",
			Least: 36, Share: 2, Rank: 1, Text: func(row int) string { return l.found[row].Try }, Dim: true},
	}
	return l
}

func id(p *row) uint64 {
	h := fnv.New64a()
	what := p.What
	if p.group > 0 {
		what = ""
	}
	fmt.Fprintf(h, "%s\x00%s\x00%x/%d", p.Kind, what, p.At.GUID, p.At.Port)
	return h.Sum64()
}

// reported returns the problems of a report. It adds a note for each property that could not be checked and may be a
// problem.
func reported(r *found.Report) []found.Problem {
	out := slices.Clone(r.Problems)
	for _, u := range r.Unchecked {
		if u.Unknown {
			out = append(out, found.Problem{Severity: found.Note, Kind: found.Kind(u.What), At: found.WholeSubnet,
				What: u.Why, Try: u.Try})
		}
	}
	return out
}

func (l *problems) look(row int) draw.Style {
	switch l.found[row].Severity {
	case found.Error:
		return l.Theme.Bad
	case found.Warning:
		return l.Theme.Warn
	}
	return l.Theme.Dim
}

func (l *problems) Show(sc *pane.Scene, _ bool) {
	l.Scene = sc
	l.Renew()
}

func (l *problems) Renew() {
	l.KeepRow()
	l.found, l.all = nil, 0
	if l.shown = l.listed(); l.known() && l.shown != nil {
		all := reported(l.shown)
		slices.SortStableFunc(all, func(a, b found.Problem) int { return cmp.Compare(a.Severity, b.Severity) })
		l.found, l.all = l.grouped(all), len(all)
	}
	l.Build(len(l.found))
}

// listed returns the report of the live subnet, or that of the state of the history that is shown. It returns nil if
// there is none yet.
func (l *problems) listed() *found.Report {
	if l.Scene == nil {
		return l.report
	}
	if p := l.Scene.Recalled(); p != nil {
		if l.past.Ready(pastKey{p, false}) || l.past.Ready(pastKey{p, true}) {
			return l.past.Value
		}
		return nil
	}
	return l.report
}

// result returns the background computation whose report is listed.
func (l *problems) result() *pane.AsyncResult[*found.Report] {
	if l.Scene.Recalled() != nil {
		return &l.past
	}
	return &l.reports
}

// The method known reports whether the subnet has been read.
func (l *problems) known() bool { return l.Scene != nil && len(l.Scene.State.Live.Fabric.Nodes) > 0 }

func (l *problems) StateBadge() *draw.Badge {
	if !l.known() {
		return nil
	}
	if l.Scene.Recalled() != nil {
		return l.SceneBadge(true)
	}
	b := l.Scene.LiveBadge(l.Theme)
	return &b
}

func (l *problems) Figure() string {
	if !l.known() {
		return ""
	}
	progress := l.result().Progress()
	switch {
	case l.shown == nil:
		return cmp.Or(progress, "not computed")
	case progress != "":
		return prose.Count(l.all, "problem") + ", " + progress
	}
	return prose.Count(l.all, "problem")
}

// Alarm returns the number of errors.
func (l *problems) Alarm() int {
	n := 0
	for i := range l.found {
		if r := &l.found[i]; r.Severity == found.Error && (r.group == 0 || !l.open[r.Kind]) {
			n += max(r.group, 1)
		}
	}
	return n
}

func (l *problems) Empty() string {
	switch {
	case l.Scene == nil:
		return ""
	case len(l.found) > 0:
		return l.NoMatch("problem")
	case !l.known():
		return l.Scene.WhyNoSubnet()
	case l.result().Doing == nil && l.result().Err != nil:
		return "the problems are unknown: " + l.result().Err.Error()
	case l.shown == nil:
		return "the problems are not computed yet"
	case l.Scene.Recalled() != nil:
		return "no problems: links are up and uniform, packets arrive (the history has no counters and no unanswered " +
			"requests)"
	}
	if l.reports.Progress() != "" {
		return "no problems so far: all nodes respond, links are up and uniform; tracing packets"
	}
	if l.Scene.State.Live.Tables == nil {
		return "no problems: links are up and uniform; without forwarding tables it is unknown whether packets " +
			"arrive (r computes tables, :problems lists what was not checked)"
	}
	return "no problems: all nodes respond, links are up and uniform, packets arrive"
}

func (l *problems) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok {
		return pane.Nothing
	}
	s := pane.Nothing
	s.Facts = l.found[row].facts()
	if l.found[row].At.GUID == 0 {
		return s
	}
	f := l.Scene.State.Live.Fabric
	node, port := l.found[row].At.In(f)
	if node == fabric.None {
		return s
	}
	s.Fabric, s.Node = f, node
	if l.found[row].At.Port > 0 && port != fabric.None {
		s.Link = port
	}
	return s
}

func (l *problems) Enter() (func() tea.Msg, string) {
	if at, ok := l.Selected(); ok && l.found[at].group > 0 {
		return func() tea.Msg {
			l.toggle(l.found[at].Kind)
			return nil
		}, ""
	}
	return l.GoTo(l.Subject(), "no problem is selected", "nothing to open here: this problem concerns the whole subnet")
}

// Actions returns the action that acknowledges the selected problem.
func (l *problems) Actions() []pane.Action {
	return []pane.Action{{
		Name: "acknowledge", Binding: pane.On("acknowledge the selected problem, with a reason and an end", "O"),
		Group: "Lists", After: "by", Label: "acknowledge", Rank: 12, Own: true, Why: l.whyNotAcknowledge,
		Do: func() tea.Msg {
			row, _ := l.Selected()
			return pane.Type{Text: "ack " + l.found[row].ID() + " until=1d reason="}
		},
	}}
}

// whyNotAcknowledge returns the reason why the selected row cannot be acknowledged, or "" if it can.
func (l *problems) whyNotAcknowledge() string {
	row, ok := l.Selected()
	switch {
	case !ok:
		return "no problem is selected"
	case l.found[row].group > 0:
		return "these are several problems: open them with Enter first"
	case l.Scene.Recalled() != nil:
		return "this is a past state"
	case !slices.ContainsFunc(l.shown.Problems, func(p found.Problem) bool { return p.ID() == l.found[row].ID() }):
		return "this row reports data that was not read, not a problem"
	}
	return ""
}

// Update counts the commands that have ended.
func (l *problems) Update(msg tea.Msg) {
	if _, ended := msg.(pane.Ended); ended {
		l.ended++
	}
}

// toggle opens or closes a group.
func (l *problems) toggle(k found.Kind) {
	if l.open == nil {
		l.open = map[found.Kind]bool{}
	}
	l.open[k] = !l.open[k]
	l.Renew()
}

// Sideways opens or closes the group in the selected row.
func (l *problems) Sideways(by int) {
	if at, ok := l.Selected(); ok {
		if k := l.found[at].Kind; l.open[k] != (by > 0) {
			l.toggle(k)
		}
	}
}

// reportKey identifies the input of a report. It changes whenever the problems may have changed.
type reportKey struct {
	live, base   *session.Picture
	baseline     *session.Baseline
	holes, notes int
	drift        int
	cut, lost    string
	// counted, rising and uncounted come from the last reading of counters.
	counted, rising *session.Counted
	uncounted       int
	ended           int // commands
	// calibrated, conf and groups are the settings of the subnet manager, as far as they are known.
	calibrated *calibration.Calibration
	conf       string
	groups     session.GroupsKey
	quick      bool
}

// pastKey identifies a report about a history entry. The field quick is set if the report does not include traced
// packets.
type pastKey struct {
	of    *session.Picture
	quick bool
}

// large reports whether tracing all packets takes long. If so, it is done only on demand.
func large(p *session.Picture) bool { return p.Tables != nil && pane.EntriesOf(p.Tables) > pane.Quick }

// Seek computes the report. If the complete report takes long, Seek first computes the part that is quick.
func (l *problems) Seek(s pane.Stage) tea.Cmd {
	if !l.known() {
		return nil
	}
	if p := l.Scene.Recalled(); p != nil {
		key := pastKey{
			p, large(p) && !l.past.Ready(pastKey{p, false}) && !(s.Focused && l.past.Ready(pastKey{p, true})),
		}
		return l.past.Start(l.Common, key, func(ctx context.Context, progress func(int, int)) (*found.Report, error) {
			return l.src.PastProblems(ctx, p, survey.Options{Quick: key.quick, Progress: progress})
		})
	}
	if l.Scene.Reading() {
		return nil
	}
	st := &l.Scene.State
	key := reportKey{st.Live, st.Base, st.Baseline, len(st.Unanswered), len(st.Warnings), st.Drift, st.Interrupted,
		st.Lost, st.Counted, st.Rising, len(st.Uncounted), l.ended, st.Calibrated, st.Settings.Conf(),
		st.GroupsKey(st.Live), false}
	if large(st.Live) && l.reports.Of != key {
		quick := key
		quick.quick = true
		if !s.Focused || l.reports.Of != quick {
			key = quick
		}
	}
	return l.reports.Start(l.Common, key, func(ctx context.Context, progress func(int, int)) (*found.Report, error) {
		return l.src.Problems(ctx, survey.Options{Quick: key.quick, Progress: progress})
	})
}

// Collect accepts a new report. Until then, the previous report is shown.
func (l *problems) Collect() {
	l.report = l.reports.Value
	if r := l.listed(); r != l.shown {
		l.Renew()
	}
}
