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

// noteChanges adds events for the changes that a full sweep found.
func (st *State) noteChanges(before *Picture, x *found) {
	if len(before.Fabric.Nodes) == 0 {
		return
	}
	st.Losses = st.Losses.After(before.Fabric, before.When, st.Live.Fabric, st.unansweredAt)
	changes := fabric.Changes(before.Fabric, st.Live.Fabric)
	began := time.Now()
	st.noteEach(sweep.MarkUnanswered(before.Fabric, changes, st.unansweredAt))
	st.blameAll(began, x)
	st.noteMaster(x.managers)
	tables := x.tables
	switch {
	case tables.Changed > 0 && !st.holdsStaged():
		st.NoteOf(history.WhatTables, x.who, "forwarding tables: %s of %s changed%s",
			prose.Count(tables.Changed, "entry"), prose.Count(tables.Switches, "switch"),
			diff.NotCompared(tables.Unread))
	case st.Unsettled && len(changes) == 0 && tables.Changed == 0:
		st.NoteOf(history.WhatRest, "", "the subnet has settled: two sweeps in a row are equal")
	}
	st.Unsettled = len(changes) > 0 || tables.Changed > 0
	st.noteDrift()
}

// noteEach adds events for changes of nodes, links and ports. A node that responds again after a pause does not count
// as new, and its links do not, either.
func (st *State) noteEach(changes []fabric.Change) {
	back := map[uint64]bool{}
	mute := maps.Clone(st.mute)
	if mute == nil {
		mute = map[uint64]bool{}
	}
	for _, c := range st.mergePorts(changes) {
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

const maxSimilar = 64 // more ports that changed in the same way are one event

// mergePorts adds a single event for many ports that changed in the same way, as when a subnet manager brings up a
// subnet. It returns the other changes.
func (n *News) mergePorts(changes []fabric.Change) []fabric.Change {
	type kind struct {
		kind     fabric.ChangeKind
		from, to string
	}
	ports := map[kind]int{}
	kindOf := func(c fabric.Change) kind {
		w := kind{c.Kind, c.From, c.To}
		if c.Kind == fabric.LIDChanged {
			w.from, w.to = "", ""
		}
		return w
	}
	for _, c := range changes {
		if c.Kind >= fabric.LIDChanged && c.Kind <= fabric.SpeedChanged {
			ports[kindOf(c)]++
		}
	}
	noted := map[kind]bool{}
	return slices.DeleteFunc(slices.Clone(changes), func(c fabric.Change) bool {
		w := kindOf(c)
		if ports[w] <= maxSimilar {
			return false
		}
		if !noted[w] {
			noted[w] = true
			n.NoteOf(history.WhatPort, "", "%s, and %s more in the same way", c, prose.Count(ports[w]-1, "port"))
		}
		return true
	})
}

// noteMaster adds an event if the master subnet manager changed.
func (st *State) noteMaster(before []managers.SM) {
	was, _ := (&Reading{SMs: before}).Master()
	is, ok := st.Master()
	switch {
	case was.GUID == is.GUID:
	case !ok:
		st.NoteOf(history.WhatManager, "", "there is no master subnet manager any more (before: %s)", was.Port)
	case was.GUID == 0:
		st.NoteOf(history.WhatManager, "", "the subnet manager on %s is the master now", is.Port)
	default:
		st.NoteOf(history.WhatManager, "", "the subnet manager on %s is the master now (before: %s)",
			is.Port, was.Port)
	}
}

// moved counts the table entries that differ. The counts are 0 if a or b is nil.
func moved(a, b *fabric.Tables) diff.Entries {
	if a == nil || b == nil {
		return diff.Entries{}
	}
	return diff.Count(a, b)
}

// holdsStaged reports whether the staged tables were written and the switches still hold them.
func (ps *Pictures) holdsStaged() bool {
	if !ps.Written || ps.Staged == nil || ps.Live.Tables == nil {
		return false
	}
	return moved(ps.Staged.Tables, ps.Live.Tables).Changed == 0
}

// noteDrift compares the live tables with the tables of the last commit, provided that ports still have the same LIDs.
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

// comparable reports whether the live tables can be compared with the tables of the last commit.
func (st *State) comparable() bool {
	return st.Committed != nil && st.Live.Tables != nil &&
		fabric.KeepsLIDsByGUID(st.Committed.Fabric, st.Live.Fabric)
}

// MakerOf is like [Picture.Maker]. For the live state it returns the engine and options of the last commit, if the
// switches still hold its tables.
func (st *State) MakerOf(p *Picture) (engine, options string) {
	if p == st.Live && st.comparable() && st.Drift == 0 && st.Unchecked == 0 {
		p = st.Committed
	}
	return p.Maker()
}

// LiveEngine returns the engine of the live tables, or "" if it is unknown. It is known from the last commit, or from a
// calibration that found no differences.
func (st *State) LiveEngine() string {
	if c := st.Calibrated; c != nil && c.Of == st.Live.Tables && c.Agrees() && len(c.Unread) == 0 {
		return c.Engine
	}
	if engine, _ := st.MakerOf(st.Live); engine != fabric.LiveOrigin {
		return engine
	}
	return ""
}

// findCommitted compares the switches with the last commit in the history, unless this session has itself committed.
func (s *Session) findCommitted(ctx context.Context) {
	if st := s.State(); st.Committed != nil || !st.Source.Live() || len(st.Live.Fabric.Nodes) == 0 ||
		!s.recorder.Load().Exists() {
		return
	}
	last, p, err := s.lastCommit(ctx)
	s.Publish(ChangeLive, func(st *State) {
		switch {
		case err != nil:
			st.Note("compare with the last commit: %v", err)
		case p != nil && st.Committed == nil:
			st.Committed = p
			if st.noteDrift(); st.Drift == 0 && st.comparable() {
				st.Note("the switches hold what %s wrote%s", last.Name(),
					diff.NotCompared(st.Unchecked))
			}
		}
	})
}

// lastCommit returns the last commit and its tables. The tables are nil if there is no commit or it was not completed.
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
