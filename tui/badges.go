// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"example.org/ibconsole/shell/session"
)

// pictureBadge names a picture in a word.
func (t *theme) pictureBadge(st *session.State, p *session.Picture) *badge {
	switch {
	case p.Kind == session.Staged && st.Stale:
		return &badge{t.stale, t.staleLine, "STAGED, STALE"}
	case p.Kind == session.Staged:
		b := t.stagedBadge(st)
		return &b
	case p.Kind == session.WhatIf:
		return &badge{t.whatif, t.whatifLine, "WHAT-IF"}
	case p.Kind == session.Base:
		return &badge{t.whatif, t.whatifLine, "BASE"}
	case st.Source.Kind == session.SourceFile:
		return &badge{t.live, "", "FILE"}
	}
	return &badge{t.live, "", "LIVE"}
}

// fabricBadge names the picture whose fabric the topology shows.
func (t *theme) fabricBadge(sc *scene) *badge {
	if sc.st.WhatIf != nil && sc.now == sc.st.WhatIf.Fabric {
		return t.pictureBadge(&sc.st, sc.st.WhatIf)
	}
	if sc.pic.Kind == session.Base {
		return t.pictureBadge(&sc.st, sc.pic)
	}
	return t.pictureBadge(&sc.st, sc.st.Live)
}

// stateBadges say what there is beside the live picture.
func (t *theme) stateBadges(st *session.State) []badge {
	var out []badge
	if st.WhatIf != nil {
		out = append(out, badge{t.whatif, t.whatifLine, whatIfWord(st)})
	}
	switch {
	case st.Staged != nil && st.Stale:
		out = append(out, badge{t.stale, t.staleLine, "STAGED, STALE"})
	case st.Staged != nil:
		out = append(out, t.stagedBadge(st))
	}
	switch {
	case len(out) > 0:
	case st.Source.Kind == session.SourceFile:
		out = append(out, badge{t.live, "", "FILE"})
	default:
		out = append(out, badge{t.live, "", "LIVE"})
	}
	return out
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
		return badge{t.live, "", "WRITTEN " + st.Staged.Tables.Origin}
	}
	return badge{t.staged, t.stagedLine, "STAGED " + st.Staged.Tables.Origin}
}
