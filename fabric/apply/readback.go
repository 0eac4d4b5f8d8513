// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// readBack reads all that was written and notes what differs.
func (a *applier) readBack() {
	for _, kind := range a.kinds() {
		a.each(len(kind), func(i int) {
			t := &kind[i]
			if !t.done || t.again {
				a.step()
				return
			}
			port := t.Target(a.f)
			node := a.f.Ports[port].Node
			a.ask(port, t.Get(a.f), func(now *mad.Reply) {
				a.at = node
				*a.report.ReadBack.of(t.Item)++
				a.step()
				if table, ok := t.Item.(write.Table); ok {
					is, wrote := now.Data, table.Data()
					table.Conflicts(&wrote, &is, &wrote, a.conflict(port, &a.report.Mixed))
				}
				t.Verify(a.f, now, func(what string, want, got any) {
					if want != got {
						a.report.Differ = append(a.report.Differ, Difference{
							Node: a.f.NodeName(node), GUID: a.f.Nodes[node].GUID, What: what, Want: fmt.Sprint(want),
							Got: fmt.Sprint(got),
						})
					}
				})
			}, nil)
		})
	}
}
