// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// lookAhead is how many tables of a step are looked at before they are written. As long as it takes to read
// and write so many is how long another console can write without being noticed.
const lookAhead = 512

// look reads the tables of some tasks again and notes what somebody else wrote.
func (a *applier) look(tasks []*task) {
	a.each(len(tasks), func(i int) {
		t := tasks[i]
		item, ok := t.Item.(write.Table)
		if !ok {
			return
		}
		port, req := item.Target(a.f), item.Get(a.f)
		was, read := item.Was()
		if before := a.latest[table{port, req.Attr, req.Mod}]; before != nil {
			was, read = before.Item.(write.Table).Data(), true
		}
		if !read {
			return
		}
		a.report.Looks++
		t.mute = true
		a.ask(port, req, func(now *mad.Reply) {
			t.mute = false
			is, would := now.Data, item.Data()
			item.Conflicts(&was, &is, &would, a.conflict(port, &a.report.Others))
		}, nil)
	})
}

// conflict adds what is found at a port to a list.
func (a *applier) conflict(port fabric.PortIndex, to *write.Conflicts) func(what string, was, is, would any) {
	node := a.f.Ports[port].Node
	return func(what string, was, is, would any) {
		to.Add(a.f.NodeName(node), a.f.Nodes[node].GUID, what, was, is, would)
	}
}

// stopsForOthers reports whether nothing more is to be written, as somebody else writes.
func (a *applier) stopsForOthers() bool { return a.report.Others.Count > 0 && !a.opts.Over }
