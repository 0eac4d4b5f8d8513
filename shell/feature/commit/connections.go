// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/partitions"
	"example.org/ibconsole/shell/session/pathrecords"
)

// mostCounted is the number of end ports up to which a plan counts the connections to rebuild: 700 take 0.15 s.
const mostCounted = 1000

// rebuilds are the connections that need other addresses after a commit. The zero value is for a plan without them.
type rebuilds struct {
	count answer.Value
	text  string
	of    bool // the plan has connections, counted or not
}

// rebuilds counts the connections whose addresses differ between the live state and the staged tables.
func (r *run) rebuilds(st *session.State, staged *session.Picture) rebuilds {
	if staged == st.Live || st.Live.Tables == nil || st.Live.Fabric.MaxLID == 0 {
		return rebuilds{}
	}
	x := rebuilds{of: true}
	if n := len(st.Live.Fabric.EndPorts); n > mostCounted {
		x.text = fmt.Sprintf("not counted, as the subnet has more than %d end ports", mostCounted)
		return x
	}
	changed, err := pathrecords.Changed(r.Ctx, st, st.Live, staged)
	switch {
	case err != nil:
		x.count, x.text = answer.NotRead(), "unknown: "+err.Error()
	case changed.UnknownSLs:
		x.count = answer.NotRead()
		x.text = fmt.Sprintf("unknown: %v; %s other LIDs", partitions.ErrUnreadSLs,
			prose.Verb(changed.Count, "connection", "needs", "need"))
	default:
		x.count = answer.Int(changed.Count)
		x.text = prose.Verb(changed.Count, "connection", "needs", "need") + " other addresses"
		if changed.Unknown > 0 {
			x.text += fmt.Sprintf(", %d unknown, as tables were not read", changed.Unknown)
		}
	}
	return x
}

// addTo adds the lines about connections to rebuild: one for the plan, and one for the writes.
func (x rebuilds) addTo(r *run, rep *commits.Report, texts map[string]string) {
	if !x.of || rep.Plan.Empty() {
		return
	}
	hint := func(before, after any) string {
		return fmt.Sprintf("%s; hint: run 'paths connections %v %v'", x.text, before, after)
	}
	none := x.count.Kind() == answer.KindInt && x.count.Int() == 0
	if none {
		return // the page of the plan stays short
	}
	if texts["connections"] = x.text; !r.isPreviewed {
		texts["connections"] = hint(session.Live, session.Staged)
	}
	all, err := r.Session.Journal().Known(r.Ctx)
	for i := range all {
		if err == nil && rep.Journal != 0 && all[i].After == rep.Journal {
			texts[rebuildLine] = hint(all[i].Before, rep.Journal)
		}
	}
}

// rebuildLine is the id of the line about connections below the writes.
const rebuildLine = "connections now"
