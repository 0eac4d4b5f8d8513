// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session/managers"
)

// noteChanges adds what is new in the live picture, which was read as a whole.
func (st *State) noteChanges(before *Picture, x *found) {
	if len(before.Fabric.Nodes) == 0 {
		return
	}
	st.Losses = st.Losses.After(before.Fabric, before.When, st.Live.Fabric, st.unansweredAt)
	changes := fabric.Changes(before.Fabric, st.Live.Fabric)
	began := time.Now()
	st.tell(sweep.MarkUnanswered(before.Fabric, changes, st.unansweredAt))
	st.blameAll(began, x)
	st.noteMaster(x.managers)
	tables := x.tables
	switch {
	case tables.Changed > 0 && !st.holdsStaged():
		st.NoteOf(history.WhatTables, x.who, "forwarding tables: %s of %s changed%s",
			prose.Count(tables.Changed, "entry"), prose.Count(tables.Switches, "switch"),
			diff.NotCompared(tables.Unread))
	case st.Unsettled && len(changes) == 0 && tables.Changed == 0:
		st.NoteOf(history.WhatRest, "", "the subnet has settled: it was read twice and is the same")
	}
	st.Unsettled = len(changes) > 0 || tables.Changed > 0
	st.noteDrift()
}

// tell adds changes of nodes, links and ports. A node that answers again is not new, and neither are its links.
func (st *State) tell(changes []fabric.Change) {
	back := map[uint64]bool{}
	mute := maps.Clone(st.mute)
	if mute == nil {
		mute = map[uint64]bool{}
	}
	for _, c := range st.together(changes) {
		text := c.String()
		switch guid := c.At.GUID; {
		case c.Kind == fabric.NodeSilent, c.Kind == fabric.NodeHidden:
			mute[guid] = true
		case c.Kind == fabric.NodeNew && mute[guid]:
			back[guid] = true
			delete(mute, guid)
			text = c.At.Name + ": answers again"
		case c.Kind == fabric.LinkUp && (back[guid] || back[c.Peer.GUID]):
			continue
		}
		st.Add(Event{When: time.Now(), What: whatOf(c.Kind), Text: text, Change: &c})
	}
	st.mute = mute
}

const manyAlike = 64 // how many ports that changed in one way are one event

// together tells of many ports that changed in one way as of one, as they do where a
// subnet manager brings a subnet up, and returns the other changes.
func (n *News) together(changes []fabric.Change) []fabric.Change {
	type kind struct {
		kind     fabric.ChangeKind
		from, to string
	}
	ports := map[kind]int{}
	alike := func(c fabric.Change) kind {
		w := kind{c.Kind, c.From, c.To}
		if c.Kind == fabric.LIDChanged {
			w.from, w.to = "", ""
		}
		return w
	}
	for _, c := range changes {
		if c.Kind >= fabric.LIDChanged && c.Kind <= fabric.SpeedChanged {
			ports[alike(c)]++
		}
	}
	told := map[kind]bool{}
	return slices.DeleteFunc(slices.Clone(changes), func(c fabric.Change) bool {
		w := alike(c)
		if ports[w] <= manyAlike {
			return false
		}
		if !told[w] {
			told[w] = true
			n.NoteOf(history.WhatPort, "", "%s, and %s more in the same way", c, prose.Count(ports[w]-1, "port"))
		}
		return true
	})
}

// noteMaster says who is in charge now, if that is another.
func (st *State) noteMaster(before []managers.SM) {
	was, _ := (&Reading{SMs: before}).Master()
	is, ok := st.Master()
	switch {
	case was.GUID == is.GUID:
	case !ok:
		st.NoteOf(history.WhatManager, "", "no subnet manager is in charge any more: %s was", was.Port)
	case was.GUID == 0:
		st.NoteOf(history.WhatManager, "", "the subnet manager on %s is in charge now", is.Port)
	default:
		st.NoteOf(history.WhatManager, "", "the subnet manager on %s is in charge now, before it was that on %s",
			is.Port, was.Port)
	}
}

// moved counts the entries that differ, none where there are no tables.
func moved(a, b *fabric.Tables) diff.Entries {
	if a == nil || b == nil {
		return diff.Entries{}
	}
	return diff.Count(a, b)
}

// holdsStaged reports whether the switches hold what was staged and written.
func (ps *Pictures) holdsStaged() bool {
	if !ps.Written || ps.Staged == nil || ps.Live.Tables == nil {
		return false
	}
	return moved(ps.Staged.Tables, ps.Live.Tables).Changed == 0
}

// noteDrift compares with what the last commit wrote, where ports have the LIDs that they had then.
func (st *State) noteDrift() {
	if !st.comparable() {
		return
	}
	drift := moved(st.Committed.Tables, st.Live.Tables)
	switch {
	case drift.Changed == st.Drift:
	case drift.Changed == 0:
		st.Note("the switches hold again what the last commit wrote%s", diff.NotCompared(drift.Unread))
	default:
		st.Note("no longer what the last commit wrote: %s%s", prose.Count(drift.Changed, "entry"),
			diff.NotCompared(drift.Unread))
	}
	st.Drift, st.Unchecked = drift.Changed, drift.Unread
}

// comparable reports whether the live tables can be compared with those of the last commit.
func (st *State) comparable() bool {
	return st.Committed != nil && st.Live.Tables != nil &&
		fabric.KeepsLIDsByGUID(st.Committed.Fabric, st.Live.Fabric)
}

// MakerOf is [Picture.Maker]. Of the live picture it returns that of the last commit, while the switches hold its
// tables.
func (st *State) MakerOf(p *Picture) (engine, options string) {
	if p == st.Live && st.comparable() && st.Drift == 0 && st.Unchecked == 0 {
		p = st.Committed
	}
	return p.Maker()
}

// LiveEngine returns the engine of the live tables, as the last commit or a calibration without a difference has it, ""
// where that is not known.
func (st *State) LiveEngine() string {
	if c := st.Calibrated; c != nil && c.Of == st.Live.Tables && c.Agrees() && len(c.Unread) == 0 {
		return c.Engine
	}
	if engine, _ := st.MakerOf(st.Live); engine != fabric.LiveOrigin {
		return engine
	}
	return ""
}

// findCommitted looks in the history for what the last commit to this subnet left,
// where this session has made none, and compares.
func (s *Session) findCommitted(ctx context.Context) {
	if st := s.State(); st.Committed != nil || !st.Source.Live() || len(st.Live.Fabric.Nodes) == 0 ||
		!s.recorder.Load().Exists() {
		return
	}
	last, p, err := s.lastCommit(ctx)
	s.Publish(ChangeLive, func(st *State) {
		switch {
		case err != nil:
			st.Note("the last commit cannot be compared with: %v", err)
		case p != nil && st.Committed == nil:
			st.Committed = p
			if st.noteDrift(); st.Drift == 0 && st.comparable() {
				st.Note("the switches hold what the commit of %s by %s wrote%s", last.Began.Format(time.DateTime),
					fabric.Escape(last.Who), diff.NotCompared(st.Unchecked))
			}
		}
	})
}

// lastCommit is the last one, nil for none and for one that did not come to its end.
func (s *Session) lastCommit(ctx context.Context) (history.JournalEntry, *Picture, error) {
	var last history.JournalEntry
	all, err := s.Journal().Commits(ctx)
	all = slices.DeleteFunc(all, func(j history.JournalEntry) bool { return j.Outcome == history.NothingWritten })
	if err != nil || len(all) == 0 {
		return last, nil, err
	}
	if last = all[0]; last.Outcome != history.Done && last.Outcome != history.Finished {
		return last, nil, nil
	}
	p, err := s.recall(last.After)
	return last, p, err
}
