// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"

	"example.org/ibconsole/shell/session"
)

// pictureBadge names a picture in a word.
func (t *theme) pictureBadge(st *session.State, p *session.Picture) *badge {
	switch {
	case p.Kind == session.Staged && st.Stale:
		return &badge{t.stale, t.staleLine, "STAGED, STALE"}
	case p.Kind == session.Staged:
		return &badge{t.staged, t.stagedLine, "STAGED " + p.Tables.Origin}
	case p.Kind == session.WhatIf:
		return &badge{t.whatif, t.whatifLine, "WHAT-IF"}
	case p.Kind == session.Base:
		return &badge{t.whatif, t.whatifLine, "BASE"}
	case st.Source.Kind == session.SourceFile:
		return &badge{t.live, "", "FILE"}
	}
	return &badge{t.live, "", "LIVE"}
}

// stateBadges say what there is beside the live picture, the most pressing first.
func (t *theme) stateBadges(st *session.State) []badge {
	var out []badge
	if st.Staged != nil && st.Stale {
		out = append(out, badge{t.stale, t.staleLine, "STALE"})
	}
	if st.WhatIf != nil {
		out = append(out, badge{t.whatif, t.whatifLine, whatIfWord(st)})
	}
	if st.Staged != nil {
		out = append(out, badge{t.staged, t.stagedLine, fmt.Sprintf("STAGED %s, not written", st.Staged.Tables.Origin)})
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
		return "WHAT-IF topology loaded"
	}
	return "WHAT-IF " + count(len(st.Failures), "failure")
}
