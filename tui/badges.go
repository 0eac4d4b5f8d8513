// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"time"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// oldAfter is how long after it was read a live picture is called old. Where the
// subnet is read again and again it is a few of those times.
const oldAfter = 10 * time.Minute

// pictureBadge names a picture in a word.
func (sc *scene) pictureBadge(t *draw.Theme, p *session.Picture) *draw.Badge {
	st := &sc.st
	switch {
	case p.Kind == session.Staged && st.Stale:
		return &draw.Badge{St: t.Stale, Line: t.StaleLine, Frame: draw.FrameStaged, Word: "STAGED, STALE"}
	case p.Kind == session.Staged:
		b := stagedBadge(t, st)
		return &b
	case p.Kind == session.WhatIf:
		return &draw.Badge{St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: "WHAT-IF"}
	case p.Kind == session.Base:
		return &draw.Badge{St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: "BASE"}
	case strings.HasPrefix(string(p.Kind), string(session.Recorded)):
		return &draw.Badge{St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "OLD " + string(p.Kind)}
	}
	b := sc.liveBadge(t)
	return &b
}

// liveBadge tells a live picture that was just read from one that may be old.
func (sc *scene) liveBadge(t *draw.Theme) draw.Badge {
	st := &sc.st
	switch {
	case st.Source.Offline():
		return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "FILE"}
	case st.Lost != "":
		return draw.Badge{St: t.Stale, Line: t.OldLine, Frame: draw.FrameOld, Word: "LOST, OLD: read " + st.Live.When.Format("15:04")}
	case sc.reading() && len(st.Live.Fabric.Nodes) > 0:
		return draw.Badge{St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "LIVE, being read again"}
	case sc.aged():
		return draw.Badge{St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "OLD, read " + st.Live.When.Format("15:04")}
	}
	return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "LIVE"}
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
func (sc *scene) fabricBadge(t *draw.Theme) *draw.Badge {
	if sc.st.WhatIf != nil && sc.now == sc.st.WhatIf.Fabric {
		return sc.pictureBadge(t, sc.st.WhatIf)
	}
	if sc.now == sc.pic.Fabric && sc.pic.Kind != session.Staged {
		return sc.pictureBadge(t, sc.pic)
	}
	return sc.pictureBadge(t, sc.st.Live)
}

// stateBadges say what there is beside the live picture.
func (sc *scene) stateBadges(t *draw.Theme) []draw.Badge {
	st := &sc.st
	var out []draw.Badge
	if st.WhatIf != nil {
		out = append(out, draw.Badge{St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: whatIfWord(st)})
	}
	switch {
	case st.Staged != nil && st.Stale:
		out = append(out, draw.Badge{St: t.Stale, Line: t.StaleLine, Frame: draw.FrameStaged, Word: "STAGED, STALE"})
	case st.Staged != nil:
		out = append(out, stagedBadge(t, st))
	}
	if sc.recalled() {
		out = append(out, *sc.pictureBadge(t, sc.pic))
	}
	if len(out) == 0 || st.Lost != "" {
		out = append(out, sc.liveBadge(t))
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
	return "WHAT-IF " + draw.Count(len(st.Failures), "failure")
}

// stagedBadge tells tables that were written from those that were not.
func stagedBadge(t *draw.Theme, st *session.State) draw.Badge {
	if st.Written {
		return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "WRITTEN " + st.Staged.Tables.Origin}
	}
	return draw.Badge{St: t.Staged, Line: t.StagedLine, Frame: draw.FrameStaged, Word: "STAGED " + st.Staged.Tables.Origin}
}
