// SPDX-License-Identifier: Apache-2.0

package counted

import "fmt"

// whatif compares `whatif`, and with it the answers of `fail`, `add` and `move`: the changes with their links, and the
// unreachable nodes.
func (x *exam) whatif() {
	s := x.state("whatif")
	if s == nil {
		return
	}
	a := x.ask("whatif")
	if a.o == nil {
		a.wrong("head", a.err, "-", "some")
		return
	}
	a.mustLine("failures and changes of {of.title}")
	a.basis(s, 0)
	lost := map[string]bool{}
	for _, n := range s.nodes() {
		if !s.reachable(n.guid) {
			lost[guidText(n.guid)] = true
		}
	}
	_, unreachable := s.amounts()
	a.mustLine("{unreachable#} node(s) unreachable; base: {|.*}")
	a.figure("unreachable", unreachable.nodes)
	a.figure("failures", len(x.changes))
	a.ignore("base_as_of", "topology_file")
	rows := a.rows("changes")
	if a.x.compared++; len(rows) != len(x.changes) {
		a.wrong("rows", "-", len(rows), len(x.changes))
	}
	for _, o := range a.rows("unreachable_nodes") {
		a.take(o)
		a.streamed("unreachable_nodes")
		guid, _ := o.at("node.guid")
		if a.x.compared++; !lost[fmt.Sprint(guid)] {
			a.wrong("node.guid", "-", guid, "an unreachable node")
		}
		delete(lost, fmt.Sprint(guid))
		a.ignore("node.name", "node.lid", "type", "lid", "switch.name", "switch.guid", "switch.lid", "switch.port")
	}
	if a.x.compared++; len(lost) > 0 {
		a.wrong("unreachable nodes", "-", "without some", len(lost))
	}
	by := map[int]change{}
	for _, c := range x.changes {
		by[c.number] = c
	}
	for _, o := range rows {
		a.take(o)
		a.streamed("changes")
		c, is := by[a.intAt("number")]
		if !is {
			a.wrong("number", "-", a.intAt("number"), "no such change")
			continue
		}
		links := len(c.failed) + len(c.added)
		v, _ := o.at("links")
		a.mustLine("{|+}{number#}{|+}  {|failed|added|moved} {|+}{|.*} ({links#} link(s))")
		a.figure("number", c.number)
		if a.x.compared++; fmt.Sprint(v) != number(links) {
			a.wrong("links", "-", v, links)
		}
		a.ignore("repair", "added", "moved", "what", "name", "state")
	}
	a.succeeds()
	a.done()
}
