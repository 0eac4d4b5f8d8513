// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"strings"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
)

// oldAfter is the age at which a live state is marked as old. While the subnet is watched, the limit is a few intervals
// instead.
const oldAfter = 10 * time.Minute

// The badges of the four kinds of states, with their frames.

func liveBadge(t *draw.Theme, word string) draw.Badge {
	return draw.Badge{St: t.Live, Frame: draw.FrameLive, Word: word}
}

func whatIfBadge(t *draw.Theme, word string) draw.Badge {
	return draw.Badge{St: t.Whatif, Line: t.WhatifLine, Frame: draw.FrameWhatIf, Word: word}
}

func stagedBadge(t *draw.Theme, word string) draw.Badge {
	return draw.Badge{St: t.Staged, Line: t.StagedLine, Frame: draw.FrameStaged, Word: word}
}

// PastBadge returns the badge of a state of the history. It also marks results that are about to be replaced.
func PastBadge(t *draw.Theme, word string) draw.Badge {
	return draw.Badge{St: t.Past, Line: t.PastLine, Frame: draw.FramePast, Word: word}
}

// PictureBadge returns the badge of a state.
func (sc *Scene) PictureBadge(t *draw.Theme, p *session.Picture) draw.Badge {
	switch {
	case p.Kind == session.Staged:
		return sc.stagedNow(t)
	case p.Kind == session.WhatIf:
		return sc.onBase(t, whatIfBadge(t, "WHAT-IF"), p)
	case p.Kind == session.Base:
		return sc.onBase(t, whatIfBadge(t, "BASE"), p)
	case sc.Between != nil && p == sc.Between.Shown() && p.Simulated == "":
		side := prose.When(sc.Between.Earlier, "before ", "after ")
		return PastBadge(t, "HISTORY, "+side+when.Clock(sc.Between.Moment.When))
	case p.Entry != nil && p.Simulated != "":
		return whatIfBadge(t, "WHAT-IF, "+string(p.Kind))
	case p.IsComputed():
		return stagedBadge(t, "STAGED, "+string(p.Kind))
	case strings.HasPrefix(string(p.Kind), string(session.Recorded)):
		return PastBadge(t, strings.ToUpper(string(p.Kind)))
	}
	return sc.LiveBadge(t)
}

// AnswerBadge returns the badge of the state that an answer is about, as it was at the time of the answer. It returns
// nil if the answer is about no state of the subnet.
func (sc *Scene) AnswerBadge(t *draw.Theme, b *answer.Basis) *draw.Badge {
	_, details, _ := strings.Cut(strings.TrimSuffix(b.Title, ")"), " (")
	var badge draw.Badge
	switch kind := session.Kind(b.State); {
	case kind == session.Live && b.AsOf.Before(sc.State.Live.When):
		badge = PastBadge(t, "LIVE, read "+when.Format(b.AsOf, "15:04"))
	case kind == session.Live:
		badge = sc.LiveBadge(t)
	case kind == session.WhatIf:
		badge = whatIfBadge(t, "WHAT-IF "+details)
	case kind == session.Base:
		badge = whatIfBadge(t, "BASE")
	case kind == session.Staged && b.Stale:
		badge = draw.Badge{St: t.Stale, Line: t.StaleLine, Frame: draw.FrameStaged, Word: "STAGED, STALE"}
	case kind == session.Staged && b.Written:
		badge = liveBadge(t, "WRITTEN "+b.Engine)
	case kind == session.Staged:
		badge = stagedBadge(t, "STAGED "+b.Engine)
	case kind.IsPast():
		badge = PastBadge(t, strings.ToUpper(b.State))
	default:
		return nil
	}
	return &badge
}

// stagedNow returns the badge of the staged tables. It tells if they are stale or written.
func (sc *Scene) stagedNow(t *draw.Theme) draw.Badge {
	st := &sc.State
	switch origin := st.Staged.Tables.Origin; {
	case st.Stale:
		return draw.Badge{St: t.Stale, Line: t.StaleLine, Frame: draw.FrameStaged, Word: "STAGED, STALE"}
	case st.Written && st.Diverged(st.Staged) == "":
		return liveBadge(t, "WRITTEN "+origin)
	default:
		return sc.onBase(t, stagedBadge(t, "STAGED "+origin), st.Staged)
	}
}

// onBase marks the badge of a state that lacks changes of the live subnet.
func (sc *Scene) onBase(t *draw.Theme, b draw.Badge, p *session.Picture) draw.Badge {
	if sc.State.Diverged(p) != "" {
		b.St, b.Line, b.Word = t.Stale, t.StaleLine, b.Word+draw.ChangedWord
	}
	return b
}

// LiveBadge returns the badge of the live state. It tells if the state was read long ago.
func (sc *Scene) LiveBadge(t *draw.Theme) draw.Badge {
	st := &sc.State
	switch read := "read " + when.Format(st.Live.When, "15:04"); {
	case st.Source.Offline():
		return liveBadge(t, "FILE")
	case st.Lost != "":
		b := PastBadge(t, "DISCONNECTED, "+read)
		b.St = t.Stale
		return b
	case sc.Reading() && len(st.Live.Fabric.Nodes) > 0:
		return PastBadge(t, "LIVE, being read")
	case sc.aged():
		return PastBadge(t, "LIVE, "+read)
	}
	return liveBadge(t, "LIVE")
}

// Reading reports whether a sweep is running, so that the live state is about to be replaced.
func (sc *Scene) Reading() bool { return strings.HasPrefix(sc.State.Busy, "sweep") }

// aged reports whether the live state was read long ago.
func (sc *Scene) aged() bool {
	st := &sc.State
	if sc.Clock == nil || st.Live.When.IsZero() || len(st.Live.Fabric.Nodes) == 0 || st.Source.Kind == source.Sim {
		return false
	}
	return sc.Clock().Sub(st.Live.When) > max(oldAfter, 4*st.Every)
}

// FabricBadge returns the badge of the state whose fabric the topology shows.
func (sc *Scene) FabricBadge(t *draw.Theme) draw.Badge {
	if sc.State.WhatIf != nil && sc.Now == sc.State.WhatIf.Fabric {
		return sc.PictureBadge(t, sc.State.WhatIf)
	}
	if sc.Now == sc.Picture.Fabric && sc.Picture.Kind != session.Staged {
		return sc.PictureBadge(t, sc.Picture)
	}
	return sc.PictureBadge(t, sc.State.Live)
}

// StateBadges returns the badges in the header. These are the badges of all states other than live. If there are none,
// it is the badge of the live state.
func (sc *Scene) StateBadges(t *draw.Theme) []draw.Badge {
	st := &sc.State
	var out []draw.Badge
	if st.WhatIf != nil {
		out = append(out, sc.onBase(t, whatIfBadge(t, "WHAT-IF "+st.OnPaper()), st.WhatIf))
	}
	if st.Staged != nil {
		out = append(out, sc.stagedNow(t))
	}
	if sc.recalled() {
		out = append(out, sc.PictureBadge(t, sc.Picture))
	}
	if len(out) == 0 || st.Lost != "" {
		out = append(out, sc.LiveBadge(t))
	}
	return out
}

// Recalled returns the state of the history that the panes show, or nil.
func (sc *Scene) Recalled() *session.Picture {
	if sc.recalled() {
		return sc.Picture
	}
	return nil
}

// recalled reports whether the panes show a state of the history.
func (sc *Scene) recalled() bool {
	return strings.HasPrefix(string(sc.Picture.Kind), string(session.Recorded))
}
