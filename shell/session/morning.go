// SPDX-License-Identifier: Apache-2.0

package session

import (
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session/analysis"
)

// Shown are the problems that a picture shows by itself, whenever it was taken: its links, LIDs, groups and structure.
// Nothing is followed, and what was read beside it is not there.
func (p *Picture) Shown(memo *analysis.Memo) *problems.Report {
	r := &problems.Report{}
	r.Links(p.Fabric, p.Limits)
	r.NoLIDs(p.Fabric)
	r.Alone(p.Fabric)
	r.NotActive(p.Fabric)
	if p.Tables != nil {
		r.Adaptive(p.Tables)
	}
	oddities(r, memo.Structure(p.Fabric))
	r.Sort()
	return r
}

// Missing are the problems that a picture has as what an earlier one had is not there any more, or another.
func (p *Picture) Missing(earlier *Picture) *problems.Report {
	r := &problems.Report{}
	r.Baseline(earlier.Fabric, p.Fabric, nil, earlier.When.Format(time.DateTime))
	r.Sort()
	return r
}
