// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"time"

	"example.org/ibconsole/shell/session"
)

// oldAfter is how long after it was read a live picture is called old. Where the
// subnet is read again and again it is a few of those times.
const oldAfter = 10 * time.Minute

// short is the word for where there is little room: "STAGED" for "STAGED minhop".
func (b *badge) short() string {
	switch b.word {
	case "WRITE ON":
		return b.word
	case "SIMULATED":
		return "SIM"
	case "STAGED, STALE":
		return "STALE"
	}
	return strings.TrimRight(firstWord(b.word), ",")
}

// pictureBadge names a picture in a word.
func (t *theme) pictureBadge(sc *scene, p *session.Picture) *badge {
	st := &sc.st
	switch {
	case p.Kind == session.Staged && st.Stale:
		return &badge{t.stale, t.staleLine, frameStaged, "STAGED, STALE"}
	case p.Kind == session.Staged:
		b := t.stagedBadge(st)
		return &b
	case p.Kind == session.WhatIf:
		return &badge{t.whatif, t.whatifLine, frameWhatIf, "WHAT-IF"}
	case p.Kind == session.Base:
		return &badge{t.whatif, t.whatifLine, frameWhatIf, "BASE"}
	case strings.HasPrefix(string(p.Kind), string(session.Recorded)):
		return &badge{t.old, t.oldLine, frameOld, "OLD " + string(p.Kind)}
	}
	b := t.liveBadge(sc)
	return &b
}

// liveBadge tells a live picture that was just read from one that may be old.
func (t *theme) liveBadge(sc *scene) badge {
	st := &sc.st
	switch {
	case st.Source.Offline():
		return badge{t.live, "", frameLive, "FILE"}
	case st.Lost != "":
		return badge{t.stale, t.oldLine, frameOld, "LOST, OLD: read " + st.Live.When.Format("15:04")}
	case sc.reading() && len(st.Live.Fabric.Nodes) > 0:
		return badge{t.old, t.oldLine, frameOld, "LIVE, being read again"}
	case sc.aged():
		return badge{t.old, t.oldLine, frameOld, "OLD, read " + st.Live.When.Format("15:04")}
	}
	return badge{t.live, "", frameLive, "LIVE"}
}

// reading says that a sweep runs, so that the live picture is the one before.
func (sc *scene) reading() bool { return strings.HasPrefix(sc.st.Busy, "sweep") }

// aged says that the live picture was not read for a while.
func (sc *scene) aged() bool {
	st := &sc.st
	if sc.clock == nil || st.Live.When.IsZero() || len(st.Live.Fabric.Nodes) == 0 || st.Source.Kind == session.SourceSim {
		return false
	}
	return sc.clock().Sub(st.Live.When) > max(oldAfter, 4*st.Every)
}

// fabricBadge names the picture whose fabric the topology shows.
func (t *theme) fabricBadge(sc *scene) *badge {
	if sc.st.WhatIf != nil && sc.now == sc.st.WhatIf.Fabric {
		return t.pictureBadge(sc, sc.st.WhatIf)
	}
	if sc.now == sc.pic.Fabric && sc.pic.Kind != session.Staged {
		return t.pictureBadge(sc, sc.pic)
	}
	return t.pictureBadge(sc, sc.st.Live)
}

// stateBadges say what there is beside the live picture.
func (t *theme) stateBadges(sc *scene) []badge {
	st := &sc.st
	var out []badge
	if st.WhatIf != nil {
		out = append(out, badge{t.whatif, t.whatifLine, frameWhatIf, whatIfWord(st)})
	}
	switch {
	case st.Staged != nil && st.Stale:
		out = append(out, badge{t.stale, t.staleLine, frameStaged, "STAGED, STALE"})
	case st.Staged != nil:
		out = append(out, t.stagedBadge(st))
	}
	if sc.recalled() {
		out = append(out, *t.pictureBadge(sc, sc.pic))
	}
	if len(out) == 0 || st.Lost != "" {
		out = append(out, t.liveBadge(sc))
	}
	return out
}

// recalled says that the panes show a picture out of the history.
func (sc *scene) recalled() bool {
	return strings.HasPrefix(string(sc.pic.Kind), string(session.Recorded))
}

func whatIfWord(st *session.State) string {
	if len(st.Failures) == 0 {
		return "WHAT-IF topology"
	}
	return "WHAT-IF " + count(len(st.Failures), "failure")
}

// stagedBadge tells tables that were written from those that were not.
func (t *theme) stagedBadge(st *session.State) badge {
	if st.Written {
		return badge{t.live, "", frameLive, "WRITTEN " + st.Staged.Tables.Origin}
	}
	return badge{t.staged, t.stagedLine, frameStaged, "STAGED " + st.Staged.Tables.Origin}
}
