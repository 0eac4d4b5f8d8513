// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"strings"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
)

// oldAfter is how long after it was read a live picture is called old. Where the
// subnet is read again and again it is a few of those times.
const oldAfter = 10 * time.Minute

// PictureBadge names a picture in a word.
func (sc *Scene) PictureBadge(t *draw.Theme, p *session.Picture) *draw.Badge {
	st := &sc.State
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
	case sc.Between != nil && p == sc.Between.Shown() && p.Simulated == "":
		side := prose.When(sc.Between.Earlier, "before ", "after ")
		return &draw.Badge{
			St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "OLD, " + side +
				sc.Between.Moment.When.Local().Format(time.TimeOnly),
		}
	case p.Entry != nil && p.Simulated != "":
		return &draw.Badge{
			St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: "WHAT-IF, " + string(p.Kind),
		}
	case p.IsComputed():
		return &draw.Badge{St: t.Staged, Line: t.StagedLine, Frame: draw.FrameStaged, Word: "STAGED, " + string(p.Kind)}
	case strings.HasPrefix(string(p.Kind), string(session.Recorded)):
		return &draw.Badge{St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "OLD " + string(p.Kind)}
	}
	b := sc.LiveBadge(t)
	return &b
}

// LiveBadge tells a live picture that was just read from one that may be old.
func (sc *Scene) LiveBadge(t *draw.Theme) draw.Badge {
	st := &sc.State
	switch {
	case st.Source.Offline():
		return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "FILE"}
	case st.Lost != "":
		return draw.Badge{
			St: t.Stale, Line: t.OldLine, Frame: draw.FrameOld, Word: "LOST, OLD: read " + st.Live.When.Format("15:04"),
		}
	case sc.Reading() && len(st.Live.Fabric.Nodes) > 0:
		return draw.Badge{St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "LIVE, being read again"}
	case sc.aged():
		return draw.Badge{
			St: t.Old, Line: t.OldLine, Frame: draw.FrameOld, Word: "OLD, read " + st.Live.When.Format("15:04"),
		}
	}
	return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "LIVE"}
}

// Reading says that a sweep runs, so that the live picture is the one before.
func (sc *Scene) Reading() bool { return strings.HasPrefix(sc.State.Busy, "sweep") }

// aged says that the live picture was not read for a while.
func (sc *Scene) aged() bool {
	st := &sc.State
	if sc.Clock == nil || st.Live.When.IsZero() || len(st.Live.Fabric.Nodes) == 0 || st.Source.Kind == source.Sim {
		return false
	}
	return sc.Clock().Sub(st.Live.When) > max(oldAfter, 4*st.Every)
}

// FabricBadge names the picture whose fabric the topology shows.
func (sc *Scene) FabricBadge(t *draw.Theme) *draw.Badge {
	if sc.State.WhatIf != nil && sc.Now == sc.State.WhatIf.Fabric {
		return sc.PictureBadge(t, sc.State.WhatIf)
	}
	if sc.Now == sc.Picture.Fabric && sc.Picture.Kind != session.Staged {
		return sc.PictureBadge(t, sc.Picture)
	}
	return sc.PictureBadge(t, sc.State.Live)
}

// StateBadges say what there is beside the live picture.
func (sc *Scene) StateBadges(t *draw.Theme) []draw.Badge {
	st := &sc.State
	var out []draw.Badge
	if st.WhatIf != nil {
		out = append(out, draw.Badge{St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: "WHAT-IF " +
			st.OnPaper()})
	}
	switch {
	case st.Staged != nil && st.Stale:
		out = append(out, draw.Badge{St: t.Stale, Line: t.StaleLine, Frame: draw.FrameStaged, Word: "STAGED, STALE"})
	case st.Staged != nil:
		out = append(out, stagedBadge(t, st))
	}
	if sc.recalled() {
		out = append(out, *sc.PictureBadge(t, sc.Picture))
	}
	if len(out) == 0 || st.Lost != "" {
		out = append(out, sc.LiveBadge(t))
	}
	return out
}

// Recalled is the picture out of the history that is shown, nil for none.
func (sc *Scene) Recalled() *session.Picture {
	if sc.recalled() {
		return sc.Picture
	}
	return nil
}

// recalled says that the panes show a picture out of the history.
func (sc *Scene) recalled() bool {
	return strings.HasPrefix(string(sc.Picture.Kind), string(session.Recorded))
}

// stagedBadge tells tables that were written from those that were not.
func stagedBadge(t *draw.Theme, st *session.State) draw.Badge {
	if st.Written {
		return draw.Badge{St: t.Live, Line: "", Frame: draw.FrameLive, Word: "WRITTEN " + st.Staged.Tables.Origin}
	}
	return draw.Badge{
		St: t.Staged, Line: t.StagedLine, Frame: draw.FrameStaged, Word: "STAGED " + st.Staged.Tables.Origin,
	}
}
