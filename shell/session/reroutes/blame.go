// SPDX-License-Identifier: Apache-2.0

package reroutes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/moved"
	"example.org/ibconsole/shell/session"
)

// Kind is the kind of a cause.
type Kind string

// The kinds.
const (
	Link     Kind = "link"     // a link of the old path is gone, or a link of the new path is new
	Commit   Kind = "commit"   // of a console
	Reroute  Kind = "reroute"  // by another program, such as a subnet manager
	WhatIf   Kind = "what-if"  // a simulated change that is no link of the path
	Computed Kind = "computed" // tables that an engine computed, or that were loaded
	Unknown  Kind = "unknown"
)

// Cause is a change that moved paths.
type Cause struct {
	Kind Kind
	// When is the time at which the change was found, or at which the commit began. It is zero if unknown.
	When time.Time
	// A and B are the ends of a link, in the order of their GUIDs and ports. Down is set if the link is gone.
	A, B fabric.End
	Down bool
	// Entry is the history entry of a commit, for rollback.
	Entry int64
	// Text describes a commit, the writer of tables, the plan that took a link down, or the reason why the cause is
	// unknown. It is escaped, "" for none.
	Text string
	// Before and After are the history entries of the states before and after the change, 0 for none.
	Before, After int64
	// Pairs are the changed pairs that left their old path with this change, and Lost those of them that no longer
	// arrive.
	Pairs, Lost int
	// Again are the changed pairs that the change moved after they had left their old path.
	Again int
}

// point is a state on the way from the first side to the last one.
type point struct {
	side    *Side // nil for a state in between
	entry   int64 // 0 for other states
	picture *session.Picture
	began   time.Time
	until   time.Time
	// tentative is set for a state that was read after the last side: it counts for the pairs with the same path.
	tentative bool
	kind      Kind // of changes that are no change of a link, "" for those of the history
	text      string
}

// tables returns the tables of the state, or nil for a file.
func (p *point) tables() *fabric.Tables {
	if p.picture == nil {
		return nil
	}
	return p.picture.Tables
}

// covers reports whether the switches were found with the tables of the state before and after a time.
func (p *point) covers(t time.Time) bool {
	return p.entry != 0 && !p.began.After(t) && !p.until.Before(t)
}

// walker follows the changed pairs from state to state.
type walker struct {
	*Result
	s           *session.Session
	first, last *Side // the older and the newer side
	swapped     bool  // the older side is New
	moments     []timeline.Moment
	journal     []history.JournalEntry
	points      []*point
}

// blame finds the causes of all moves.
func (r *Result) blame(ctx context.Context, s *session.Session, progress func(done, total int)) error {
	w := &walker{Result: r, s: s, first: r.Old, last: r.New}
	if r.New.When().Before(r.Old.When()) && r.New.isRecorded() {
		w.first, w.last, w.swapped = r.New, r.Old, true
	}
	if err := w.plan(ctx); err != nil {
		return err
	}
	if err := w.walk(ctx, progress); err != nil {
		return err
	}
	r.sum()
	return nil
}

// plan lists the states from the first side to the last one.
func (w *walker) plan(ctx context.Context) error {
	st := w.s.State()
	end := w.last
	var tail []*point
	if p := w.last.Picture; p != nil && !w.last.isRecorded() && w.first.isRecorded() {
		tail, end = w.simulated(&st), PictureSide(st.PaperBase(), "")
		base := pointOf(end)
		base.side = nil
		if end.Picture != w.first.Picture {
			tail = slices.Insert(tail, 0, base)
		}
	}
	first, last := pointOf(w.first), pointOf(w.last)
	if !w.last.isRecorded() && w.last.Picture != nil {
		last.kind, last.text = Computed, fabric.Escape(st.Title(w.last.Picture))
		if w.last.Picture.Kind == session.WhatIf {
			last.kind, last.text = WhatIf, st.OnPaper()
		}
	}
	w.points = append(w.points, first)
	if w.first.isRecorded() && end.isRecorded() && (end.Picture == nil || end.Picture != w.first.Picture) {
		to := pointOf(end)
		if end != w.last {
			to.side = nil
		}
		between, err := w.between(ctx, first, to)
		if err != nil {
			return err
		}
		w.points = append(w.points, between...)
	}
	w.points = append(append(w.points, tail...), last)
	return nil
}

// simulated returns the what-if if the last side is the staged tables for it.
func (w *walker) simulated(st *session.State) []*point {
	if w.last.Picture.Kind != session.Staged || st.WhatIf == nil || st.WhatIf.Tables == nil {
		return nil
	}
	return []*point{{picture: st.WhatIf, kind: WhatIf, text: st.OnPaper()}}
}

func pointOf(s *Side) *point {
	p := &point{side: s, picture: s.Picture, began: s.When(), until: s.When()}
	if s.Picture != nil && s.Picture.Entry != nil {
		e := s.Picture.Entry
		p.entry, p.began, p.until = e.ID, e.Began, e.Until
	}
	return p
}

// between returns the states of the history between two points.
func (w *walker) between(ctx context.Context, first, last *point) ([]*point, error) {
	for _, side := range []*Side{w.first, w.last} {
		if side.File != nil && side.File.Subnet != w.s.Subnet() {
			w.NoHistory = fmt.Errorf("%s is of another subnet, or of a console at another port: %s", side.Title,
				fabric.Escape(side.File.Subnet))
			return nil, nil
		}
	}
	seen, why := w.s.States(ctx, time.Time{}, time.Now())
	if why != nil {
		w.NoHistory = why
	}
	var err error
	if w.journal, err = w.s.Journal().Known(ctx); err != nil && w.NoHistory == nil {
		w.NoHistory = err
	}
	line, err := w.s.Timeline(ctx, time.Time{}, time.Now())
	if err != nil {
		return nil, err
	}
	w.moments = line.Moments
	var out []*point
	for _, x := range seen {
		p := &point{entry: x.Entry, began: x.Began, until: x.Until}
		switch {
		case x.Entry == 0, x.Entry == first.entry, first.entry != 0 && !x.Began.After(first.began),
			x.Until.Before(first.until):
			continue
		case x.Entry == last.entry:
			return out, nil
		case x.Began.After(last.began):
			if n := len(out); last.entry != 0 || last.side == nil || n > 0 && out[n-1].covers(last.began) {
				return out, nil
			}
			p.tentative = true
			return append(out, p), nil
		}
		out = append(out, p)
		w.States++
	}
	return out, nil
}

// walk follows the pairs. The number of a path changes where a state has another path.
func (w *walker) walk(ctx context.Context, progress func(done, total int)) error {
	n := len(w.Moves)
	target, now, next := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	row := func(side *Side) func(i int, room []traces.Hop) (traces.Row, bool) {
		return func(i int, room []traces.Hop) (traces.Row, bool) { return w.row(side, i, room), true }
	}
	if err := w.hashes(ctx, now, row(w.first)); err != nil {
		return err
	}
	if err := w.hashes(ctx, target, row(w.last)); err != nil {
		return err
	}
	origin := slices.Clone(now)
	skipped := make([]bool, n) // the last state did not count, because it is tentative
	for at := 1; at < len(w.points); at++ {
		if progress != nil {
			progress(at-1, len(w.points)-1)
		}
		p := w.points[at]
		isLast := at == len(w.points)-1
		if p.picture == nil && p.side == nil {
			var err error
			if p.picture, err = w.s.Recall(timeline.Seen{Entry: p.entry}); err != nil {
				return err
			}
			if p.picture.Tables == nil {
				w.points = slices.Delete(w.points, at, at+1)
				at--
				continue
			}
			w.place(p, w.points[at-1])
		}
		trace := w.tracer(p)
		if isLast {
			copy(next, target)
		} else if err := w.hashes(ctx, next, trace); err != nil {
			return err
		}
		var changed []int
		for i := range next {
			switch {
			case next[i] == now[i]:
			case !isLast && next[i] == unknown:
				next[i] = now[i]
			case p.tentative && next[i] != target[i]:
				next[i], skipped[i] = now[i], true
			default:
				changed = append(changed, i)
			}
		}
		if err := w.step(ctx, at, changed, skipped, func(i int) bool { return next[i] == origin[i] }); err != nil {
			return err
		}
		now, next = next, now
		if at > 1 {
			w.points[at-2].forget() // at most three states are in memory
		}
	}
	return nil
}

// place moves the tables that a commit wrote to the fabric before the commit. They may have been computed for a
// what-if, and the commit has changed no link.
func (w *walker) place(p, before *point) {
	isCommit := slices.ContainsFunc(w.journal, func(j history.JournalEntry) bool { return j.After == p.entry })
	if isCommit && before.picture != nil {
		p.picture = p.picture.On(before.picture.Fabric)
	}
}

// forget drops a state of the history.
func (p *point) forget() {
	if p.side == nil && p.entry != 0 {
		p.picture = nil
	}
}

// row returns the path of a move at a side.
func (w *walker) row(side *Side, i int, room []traces.Hop) traces.Row {
	at := w.Moves[i].Old
	if side == w.New {
		at = w.Moves[i].New
	}
	return side.Set.Row(at, room)
}

// tracer returns the function that returns the path of a move in a state.
func (w *walker) tracer(p *point) func(i int, room []traces.Hop) (traces.Row, bool) {
	if p.side != nil {
		return func(i int, room []traces.Hop) (traces.Row, bool) { return w.row(p.side, i, room), true }
	}
	return func(i int, room []traces.Hop) (traces.Row, bool) {
		return moved.Trace(p.picture.Tables, w.Old.Set.Key(w.Moves[i].Old), room)
	}
}

// step finds the causes of the moves that changed between two states. The function back reports whether the path of a
// move is that of the first side again.
func (w *walker) step(ctx context.Context, at int, changed []int, skipped []bool, back func(i int) bool) error {
	type found struct {
		moved.Link
		ok, down, direct bool
	}
	links := make([]found, len(changed))
	to := w.points[at]
	err := routing.ForEach(ctx, len(changed), nil, func(_, k int) {
		i := changed[k]
		from := w.points[at-1]
		if skipped[i] {
			from, links[k].direct = w.points[at-2], true
		}
		l := &links[k]
		if t := to.tables(); t != nil {
			if a, ok := w.tracer(from)(i, nil); ok {
				l.Link, l.ok = moved.Missing(t.Fabric, &a)
				l.down = l.ok
			}
		}
		if t := from.tables(); t != nil && !l.ok {
			if b, ok := w.tracer(to)(i, nil); ok {
				l.Link, l.ok = moved.Missing(t.Fabric, &b)
			}
		}
	})
	if err != nil {
		return err
	}
	known := map[found]int{} // indexes of causes
	for k, i := range changed {
		l, m := links[k], &w.Moves[i]
		if back(i) {
			m.Cause, m.Later = -1, nil
			continue
		}
		n, ok := known[l]
		if !ok {
			from := w.points[at-1]
			if l.direct {
				from = w.points[at-2]
			}
			c := w.other(from, to)
			if l.ok {
				c = w.link(from, to, l.Link, l.down)
			}
			n = len(w.Causes)
			known[l], w.Causes = n, append(w.Causes, c)
		}
		if m.Cause < 0 {
			m.Cause = n
		} else {
			m.Later = append(m.Later, n)
		}
	}
	return nil
}

// link returns the cause of a step that is a link.
func (w *walker) link(from, to *point, l moved.Link, down bool) Cause {
	c := Cause{
		Kind: Link, A: l.A, B: l.B, Down: down, Before: from.entry, After: to.entry, When: to.began,
	}
	if to.kind != "" {
		c.When, c.Text = time.Time{}, prose.When(to.kind == WhatIf, "simulated", "")
		return c
	}
	for i := range w.moments {
		m := &w.moments[i]
		isEnd := func(e fabric.End) bool {
			return m.GUID == e.GUID && m.Port == e.Port || m.PeerGUID == e.GUID && m.PeerPort == e.Port
		}
		if m.What == history.WhatLink && m.Down == down && (isEnd(l.A) || isEnd(l.B)) && w.isDuring(m, from, to) {
			c.When, c.Text = m.When, fabric.Escape(m.Planned)
		}
	}
	return c
}

// isDuring reports whether an event is of the step between two states.
func (w *walker) isDuring(m *timeline.Moment, from, to *point) bool {
	if to.entry != 0 && m.After != 0 {
		return m.After == to.entry
	}
	return m.When.After(from.until) && !m.When.After(to.began) && !w.isPassed(m.After)
}

// isPassed reports whether a history entry is among the states.
func (w *walker) isPassed(entry int64) bool {
	return entry != 0 && slices.ContainsFunc(w.points, func(p *point) bool { return p.entry == entry })
}

// other returns the cause of a step that is no link.
func (w *walker) other(from, to *point) Cause {
	c := Cause{Kind: Unknown, Before: from.entry, After: to.entry}
	switch {
	case to.kind != "":
		c.Kind, c.Text = to.kind, to.text
		return c
	case !w.first.isRecorded():
		c.Text = "the older traces are of simulated or computed tables, which are in no state of the history"
		return c
	case !w.last.isRecorded():
		c.Text = "the newer traces are of simulated or computed tables, which are in no state of the history"
		return c
	case from.side != nil && from.picture == nil && to.covers(from.until),
		to.side != nil && to.picture == nil && from.covers(to.began):
		c.Text = fmt.Sprintf("the state of that time in the history (%d) has another path than the file",
			max(from.entry, to.entry))
		return c
	}
	causes := append(w.commits(from, to), w.reroutes(from, to)...)
	switch {
	case len(causes) == 1:
		causes[0].Before, causes[0].After = from.entry, to.entry
		return causes[0]
	case len(causes) > 1:
		c.Text = fmt.Sprintf("no state was recorded between %s", strings.Join(prose.Words(causes, func(x Cause) string {
			return x.Text
		}), " and "))
	case w.NoHistory != nil:
		c.Text = "no history: " + w.NoHistory.Error()
	default:
		c.When = to.began
		c.Text = fmt.Sprintf("changed between %s and %s, while no console read the subnet", when.Text(from.until),
			when.Text(to.began))
	}
	return c
}

// commits returns the commits of a step.
func (w *walker) commits(from, to *point) (causes []Cause) {
	for i := range w.journal {
		j := &w.journal[i]
		is := j.After == to.entry
		if !is && !w.isPassed(j.After) {
			is = j.Before == from.entry && from.entry != 0 || j.Began.After(from.until) && !j.Began.After(to.began)
		}
		if is && j.Outcome != history.NothingWritten {
			causes = append(causes, Cause{
				Kind: Commit, When: j.Began, Entry: j.After,
				Text: fmt.Sprintf("%s %d by %s", j.Action(w.journal), j.After, fabric.Escape(j.Who)),
			})
		}
	}
	return causes
}

// reroutes returns the writers of tables in a step that are no consoles of this journal.
func (w *walker) reroutes(from, to *point) (causes []Cause) {
	for i := range w.moments {
		m := &w.moments[i]
		if m.What == history.WhatTables && w.isDuring(m, from, to) {
			causes = append(causes, Cause{Kind: Reroute, When: m.When, Text: cmp.Or(fabric.Escape(m.Who), m.Text)})
		}
	}
	return causes
}

// sum counts the moves of each cause, and sorts the causes.
func (r *Result) sum() {
	for i := range r.Moves {
		m := &r.Moves[i]
		c := &r.Causes[m.Cause]
		c.Pairs++
		a, b := r.Old.Set.Row(m.Old, nil), r.New.Set.Row(m.New, nil)
		if a.Ending.Arrives() && !b.Ending.Arrives() {
			c.Lost++
		}
	}
	order := make([]int, len(r.Causes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Causes[b].Pairs, r.Causes[a].Pairs) })
	place, causes := make([]int, len(order)), make([]Cause, len(order))
	for i, was := range order {
		place[was], causes[i] = i, r.Causes[was]
	}
	r.Causes = causes
	for i := range r.Moves {
		m := &r.Moves[i]
		m.Cause = place[m.Cause]
		for k, n := range m.Later {
			m.Later[k] = place[n]
			if !slices.Contains(m.Later[:k], place[n]) && place[n] != m.Cause {
				r.Causes[place[n]].Again++
			}
		}
	}
}
