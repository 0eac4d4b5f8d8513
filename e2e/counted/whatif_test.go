// SPDX-License-Identifier: Apache-2.0

package counted

import "fmt"

// whatif compares `whatif`, and with it what `fail`, `add` and `move` answer: the changes with their links, and the nodes
// that are unreachable.
func (x *exam) whatif() {
	s := x.state("whatif")
	if s == nil {
		return
	}
	a := x.ask("whatif")
	if a.x.compared++; len(a.objects) != len(x.changes) {
		a.wrong("rows", "-", len(a.objects), len(x.changes))
	}
	by := map[int]change{}
	for _, c := range x.changes {
		by[c.number] = c
	}
	for _, o := range a.objects {
		a.take(o)
		c, is := by[a.intAt("number")]
		if !is {
			a.wrong("number", "-", a.intAt("number"), "no such change")
			continue
		}
		links := len(c.failed) + len(c.added)
		v, _ := o.at("links")
		a.mustLine("{|+}{number#}  {|failed|added|moved} {|+}{|.*} ({links#} link(s))")
		a.figure("number", c.number)
		if a.x.compared++; fmt.Sprint(v) != number(links) {
			a.wrong("links", "-", v, links)
		}
		a.ignore("repair", "added", "moved", "what", "name", "state")
	}
	_, unreachable := s.amounts()
	a.note("{unreachable#} node(s) unreachable; base: {|.*}", "unreachable", unreachable.nodes)
	a.succeeds()
	a.done()
}
