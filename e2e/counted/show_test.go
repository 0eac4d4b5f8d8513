// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// typeWords are the words for kinds of nodes.
var typeWords = map[byte]string{kindSwitch: "switch", kindRouter: "router", 'C': "ca"}

// row finds the line of a table that has these cells.
func (a *answer) row(cells ...any) {
	want := strings.Fields(strings.TrimSuffix(fmt.Sprintln(cells...), "\n"))
	for i, line := range a.lines {
		if !a.known[i] && slices.Equal(strings.Fields(line), want) {
			a.known[i] = true
			a.x.compared += len(cells)
			return
		}
	}
	a.wrong("a row of the table", "none", "-", strings.Join(want, " "))
}

// nodes are all nodes of a state, those of its subnet and the unreachable ones.
func (s *state) nodes() (all []*node) {
	for guid, n := range s.whole.nodes {
		if own := s.net.byGUID[guid]; own != nil {
			n = own
		}
		all = append(all, n)
	}
	return all
}

func (s *state) reachable(guid uint64) bool { return s.net.byGUID[guid] != nil }

// lidOf is the LID of a node: of port 0 of a switch, of the first port that has one of another. An unreachable port keeps its LID.
func (s *state) lidOf(n *node) int {
	lids := map[int]int{} // by port number
	for _, e := range s.ends(true) {
		if p := e.port(); p.node.guid == n.guid && s.shownLID(e) != 0 {
			lids[p.num] = s.shownLID(e)
		}
	}
	if len(lids) == 0 {
		return 0
	}
	return lids[slices.Min(slices.Collect(maps.Keys(lids)))]
}

// showNodes compares `show nodes` or `show switches`.
func (x *exam) showNodes(s *state, what string) {
	a := x.ask(fmt.Sprintf("show %s of=%s", what, s.name))
	a.heading("LID GUID TYPE UP/PORTS NAME")
	all := map[string]*node{}
	for _, n := range s.nodes() {
		if what == "nodes" || n.isSwitch() {
			all[guidText(n.guid)] = n
		}
	}
	if a.x.compared++; len(a.objects) != len(all) {
		a.wrong("rows", "-", len(a.objects), len(all))
	}
	for _, o := range a.objects {
		a.take(o)
		guid, _ := o.at("guid")
		n := all[fmt.Sprint(guid)]
		if n == nil {
			a.wrong("guid", "-", guid, "no such node")
			continue
		}
		up, lid, mark := s.whole.up(n.guid), number(s.lidOf(n)), ""
		if !s.reachable(n.guid) {
			mark = unreachableMark
		}
		if lid == "0" {
			lid = "-"
		}
		a.row(lid, guid, typeWords[n.kind], fmt.Sprintf("%d/%d", up, n.count), n.name+mark)
		a.figure("name", n.name)
		a.figure("type", typeWords[n.kind])
		a.figure("lid", s.lidOf(n))
		a.figure("ports", n.count)
		a.figure("up", up)
		a.figure("in_subnet", s.reachable(n.guid))
	}
	a.succeeds()
	a.done()
}

// unreachableMark stands behind the name of an unreachable node.
const unreachableMark = "  (not in the subnet)"

func guidText(guid uint64) string { return fmt.Sprintf("0x%016x", guid) }

// showLinks compares `show links`.
func (x *exam) showLinks(s *state) {
	a := x.ask("show links of=" + s.name)
	a.heading("PORT PORT LINK STATE")
	all := map[string]cable{}
	for c := range s.whole.cables {
		all[s.plugName(c[0])+" -- "+s.plugName(c[1])] = c
	}
	if a.x.compared++; len(a.objects) != len(all) {
		a.wrong("rows", "-", len(a.objects), len(all))
	}
	for _, o := range a.objects {
		a.take(o)
		from, _ := o.at("a")
		to, _ := o.at("b")
		c, is := all[fmt.Sprint(from, " -- ", to)]
		if !is {
			c, is = all[fmt.Sprint(to, " -- ", from)]
		}
		if !is {
			a.wrong("a", "-", fmt.Sprint(from, " -- ", to), "no such link")
			continue
		}
		width, _ := o.at("width")
		speed, _ := o.at("speed")
		link := fmt.Sprint(width, speed)
		if p := s.net.at(c[0].guid, c[0].num); p != nil && p.link != link {
			a.wrong("width", "-", link, p.link)
		}
		v, _ := o.at("state")
		state := fmt.Sprint(v)
		if a.x.compared++; state == "unreachable" {
			state = "the state of a link that is not unreachable"
		}
		if s.net.at(c[0].guid, c[0].num) == nil {
			state = "unreachable"
		}
		a.figure("state", state)
		a.row(from, to, link, state)
	}
	a.succeeds()
	a.done()
}

// plugName is the name of a port.
func (s *state) plugName(p plug) string {
	return fmt.Sprintf("%s/%d", s.whole.nodes[p.guid].name, p.num)
}

// showStates compares `show pictures`.
func (x *exam) showStates() {
	a := x.ask("show pictures")
	a.heading("PICTURE AS OF NODES SWITCHES LINKS UNREACHABLE HIGHEST LID ENTRIES TABLES SL2VL GROUPS")
	if a.x.compared++; len(a.objects) != len(x.states) {
		a.wrong("rows", "-", len(a.objects), len(x.states))
	}
	for _, o := range a.objects {
		a.take(o)
		name, _ := o.at("picture")
		s := x.state(fmt.Sprint(name))
		if s == nil {
			a.wrong("picture", "-", name, "no such state")
			continue
		}
		a.title("title", s)
		a.figure("stale", x.isStale(s))
		nodes, switches, links, unreachable := s.counts()
		a.figure("nodes", nodes)
		a.figure("switches", switches)
		a.figure("links", links)
		a.figure("cut_off", unreachable)
		a.figure("highest_lid", s.highestLID())
		a.figure("entries", s.entries())
		a.figure("sl2vl", s.sl2vl != nil)
		a.figure("multicast_groups", 0)
		title, _ := o.at("title")
		when, _ := o.at("when")
		tables, hasTables := o.at("tables")
		if !hasTables {
			tables = "-"
		}
		sl2vl := "-"
		if s.sl2vl != nil {
			sl2vl = "yes"
		}
		a.row(title, when, nodes, switches, links, unreachable, s.highestLID(), s.entries(), tables, sl2vl, 0)
	}
	a.succeeds()
	a.done()
}

// counts are the nodes, switches and links of the subnet, and the nodes that are unreachable.
func (s *state) counts() (nodes, switches, links, unreachable int) {
	for _, n := range s.nodes() {
		switch {
		case !s.reachable(n.guid):
			unreachable++
			continue
		case n.isSwitch():
			switches++
		}
		nodes++
	}
	for range s.net.links() {
		links++
	}
	return nodes, switches, links, unreachable
}

func (s *state) highestLID() int {
	most := 0
	for lid := range s.net.owner {
		most = max(most, lid)
	}
	return most
}

// entries counts the table entries on the switches of the subnet.
func (s *state) entries() int {
	n := 0
	for guid, row := range s.lft {
		if s.reachable(guid) {
			n += len(row)
		}
	}
	return n
}

// heading finds the line of the columns of a table.
func (a *answer) heading(words string) { a.row(words) }
