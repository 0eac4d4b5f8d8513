// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// typeWords are the words for node types.
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

// nodes returns all nodes of a state, those of its subnet and the unreachable ones.
func (s *state) nodes() (all []*node) {
	for guid := range s.whole.nodes {
		all = append(all, s.nodeOf(guid))
	}
	return all
}

// nodeOf returns the node with a GUID.
func (s *state) nodeOf(guid uint64) *node {
	if own := s.net.byGUID[guid]; own != nil {
		return own
	}
	return s.whole.nodes[guid]
}

func (s *state) reachable(guid uint64) bool { return s.net.byGUID[guid] != nil }

// lidOf returns the LID of a node: of port 0 of a switch, otherwise of the first port that has one. An unreachable port
// keeps its LID.
func (s *state) lidOf(n *node) int {
	for num := range n.count + 1 {
		if lid := s.lidAt(plug{n.guid, num}); lid != 0 {
			return lid
		}
	}
	return 0
}

// lidAt returns the LID of a port, 0 for none.
func (s *state) lidAt(p plug) int {
	if s.lids == nil {
		s.lids = map[plug]int{}
		for _, e := range s.ends(true) {
			s.lids[plug{e.port().node.guid, e.port().num}] = s.shownLID(e)
		}
	}
	return s.lids[p]
}

// showNodes compares `show nodes` or `show switches`.
func (x *exam) showNodes(s *state, what string) {
	a := x.ask(fmt.Sprintf("show %s of=%s", what, s.name))
	a.declared("show "+what+" of {of.title}", what, s)
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
		guid, _ := o.at("node.guid")
		n := all[fmt.Sprint(guid)]
		if n == nil {
			a.wrong("node.guid", "-", guid, "no such node")
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
		a.place("node", s, n.guid, -1)
		a.figure("type", typeWords[n.kind])
		a.figure("lid", s.lidOf(n))
		a.figure("ports", n.count)
		a.figure("up", up)
		a.figure("in_subnet", s.reachable(n.guid))
	}
	a.succeeds()
	a.done()
}

// unreachableMark follows the name of an unreachable node.
const unreachableMark = "  (unreachable)"

func guidText(guid uint64) string { return fmt.Sprintf("0x%016x", guid) }

// showLinks compares `show links`.
func (x *exam) showLinks(s *state) {
	a := x.ask("show links of=" + s.name)
	a.declared("show links of {of.title}", "links", s)
	a.heading("PORT PORT LINK STATE")
	all := map[string]cable{}
	for c := range s.whole.cables {
		all[fmt.Sprint(guidText(c[0].guid), c[0].num)] = c
	}
	if a.x.compared++; len(a.objects) != len(all) {
		a.wrong("rows", "-", len(a.objects), len(all))
	}
	var before cable
	for _, o := range a.objects {
		a.take(o)
		guid, _ := o.at("a.guid")
		num, _ := o.at("a.port")
		c, is := all[fmt.Sprint(guid, num)]
		if a.x.compared++; !is || comparePlugs(before[0], c[0]) >= 0 {
			a.wrong("a", "-", fmt.Sprint(guid, "/", num), "a link behind the one before, by GUID and port")
			continue
		}
		before = c
		a.place("a", s, c[0].guid, c[0].num)
		a.place("b", s, c[1].guid, c[1].num)
		width, _ := o.at("width")
		speed, _ := o.at("speed")
		link := fmt.Sprint(width, speed)
		if p := s.net.at(c[0].guid, c[0].num); p != nil && p.link != link {
			a.wrong("width", "-", link, p.link)
		}
		a.figure("gbps", dataRate(link))
		state := s.linkState(c)
		a.figure("state", state)
		a.row(s.plugName(c[0]), s.plugName(c[1]), link, state)
	}
	a.succeeds()
	a.done()
}

// dataRate returns the data rate in Gb/s of a link such as 4xNDR: lanes times the signaling rate, without the overhead
// of the code of a lane (8b/10b up to QDR, 64b/66b from FDR10 to EDR; later rates are data rates). FDR is
// rounded to 13.64 Gb/s per lane, as infiniband_exporter does.
func dataRate(link string) any {
	lanes, speed, _ := strings.Cut(link, "x")
	n, err := strconv.Atoi(lanes)
	lane, known := map[string]float64{"SDR": 2.5 * 8 / 10, "DDR": 5.0 * 8 / 10, "QDR": 10.0 * 8 / 10,
		"FDR10": 10.3125 * 64 / 66, "FDR": 13.64, "EDR": 25.78125 * 64 / 66, "HDR": 50, "NDR": 100, "XDR": 200,
	}[speed]
	if err != nil || !known {
		return nil
	}
	return math.Round(float64(n)*lane*100) / 100
}

// linkState returns the state of a link: a subnet manager brings up a link whose ends have LIDs.
func (s *state) linkState(c cable) string {
	state := "Active"
	for _, end := range c {
		p := s.net.at(end.guid, end.num)
		if p == nil {
			return "unreachable"
		}
		if p.node.isSwitch() {
			p = p.node.ports[0]
		}
		if p.lid == 0 {
			state = "Initialize"
		}
	}
	return state
}

// plugName returns the name of a port.
func (s *state) plugName(p plug) string {
	return fmt.Sprintf("%s/%d", s.whole.nodes[p.guid].name, p.num)
}

// showStates compares `show states`.
func (x *exam) showStates() {
	a := x.ask("show states")
	a.declared("states of this session", "", x.state("live"))
	rows := a.o.length("pictures")
	a.heading("STATE AS OF NODES SWITCHES LINKS UNREACHABLE HIGHEST LID ENTRIES TABLES SL2VL GROUPS")
	if a.x.compared++; rows != len(x.states) {
		a.wrong("rows", "-", rows, len(x.states))
	}
	for i := range rows {
		at := fmt.Sprintf("pictures.%d.", i)
		name, _ := a.o.at(at + "picture")
		s := x.state(fmt.Sprint(name))
		if s == nil {
			a.wrong("picture", "-", name, "no such state")
			continue
		}
		a.title(at+"title", s)
		a.figure(at+"stale", x.isStale(s))
		nodes, switches, links, unreachable := s.counts()
		a.figure(at+"nodes", nodes)
		a.figure(at+"switches", switches)
		a.figure(at+"links", links)
		a.figure(at+"unreachable", unreachable)
		a.figure(at+"highest_lid", s.highestLID())
		a.figure(at+"entries", s.entries())
		a.figure(at+"sl2vl", s.sl2vl != nil)
		a.figure(at+"multicast_groups", 0)
		title, _ := a.o.at(at + "title")
		asOf, _ := a.o.at(at + "as_of")
		when := clockOf(fmt.Sprint(asOf))
		tables, hasTables := a.o.at(at + "tables")
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

// clockOf returns a time of the JSON as shown to people: with its date unless that is today's.
func clockOf(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return err.Error()
	}
	date, clock, _ := strings.Cut(t.Format(time.DateTime), " ")
	if t.Local().Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return clock
	}
	return date + " " + clock
}

// counts returns the nodes, switches and links of the subnet, and the unreachable nodes.
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
