// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/source"
)

// Shown are the problems that a picture shows by itself, whenever it was taken: its links, LIDs, groups and structure,
// and what was lost and which subnet managers there were where that is kept. Nothing is followed, and what was read
// beside it is not there.
func (st *State) Shown(p *Picture, memo *analysis.Memo) *problems.Report {
	r := &problems.Report{}
	r.Links(p.Fabric, p.Limits)
	r.NoLIDs(p.Fabric)
	r.Alone(p.Fabric)
	r.NotActive(p.Fabric)
	if p.Tables != nil {
		r.Adaptive(p.Tables)
	}
	oddities(r, memo.Structure(p.Fabric))
	switch seen := st.seen(p); {
	case seen == nil:
		r.Skip("subnet managers, what was lost before", "", "the history does not have it")
	case (st.Source.Kind == source.Sim || st.Source.Offline()) && len(seen.Managers) == 0:
		r.Lost(seen.Lost, p.Fabric, nil)
	default:
		r.Lost(seen.Lost, p.Fabric, nil)
		r.Managers(p.Fabric, seen.Managers)
	}
	r.Sort()
	return r
}

// Missing are the problems that a picture has as what an earlier one had is not there any more, or another.
func (p *Picture) Missing(earlier *Picture) *problems.Report {
	r := &problems.Report{}
	r.Baseline(earlier.Fabric, p.Fabric, nil, "the subnet at "+earlier.When.Format(time.DateTime))
	r.Sort()
	return r
}
