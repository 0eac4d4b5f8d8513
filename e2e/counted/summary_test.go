// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"strings"
)

// amounts counts nodes and links.
type amounts struct{ nodes, switches, cas, aggregation, routers, links int }

func (c *amounts) add(n *node) {
	c.nodes++
	switch {
	case n.isSwitch():
		c.switches++
	case n.kind == kindRouter:
		c.routers++
	default:
		c.cas++
		if n.isAggregation() {
			c.aggregation++
		}
	}
}

// amounts returns the counts of the subnet and of unreachable nodes and links. A link of an unreachable node is
// unreachable.
func (s *state) amounts() (in, unreachable amounts) {
	for _, n := range s.nodes() {
		if s.reachable(n.guid) {
			in.add(n)
		} else {
			unreachable.add(n)
		}
	}
	for c := range s.whole.cables {
		if s.net.at(c[0].guid, c[0].num) != nil {
			in.links++
		} else {
			unreachable.links++
		}
	}
	return in, unreachable
}

// summary compares `summary`.
func (x *exam) summary(s *state) {
	a := x.ask("summary of=" + s.name)
	title := "subnet {source}, {of.title}"
	if strings.HasPrefix(x.source, "sim:") {
		title = "SIMULATED subnet {source}, {of.title}: no InfiniBand hardware is read or written"
	}
	a.declared(title, "", s)
	if a.o == nil {
		return
	}
	in, unreachable := s.amounts()
	form := "  {switches#} {|switch|switches}, {cas#} channel adapter(s)"
	if in.aggregation > 0 {
		form += ", {aggregation_nodes#} of them {|an aggregation node|aggregation nodes}"
	}
	a.mustLine(form + ", {links#} link(s); highest LID {max_lid#}")
	a.figure("source", x.source)
	a.figure("switches", in.switches)
	a.figure("cas", in.cas)
	a.figure("aggregation_nodes", in.aggregation)
	a.figure("routers", in.routers)
	a.figure("links", in.links)
	a.figure("max_lid", s.highestLID())
	a.figure("routed", s.routed())
	a.figure("outside", 0)
	if unreachable.nodes > 0 {
		a.mustLine("  unreachable from {sm_port}: {unreachable_switches#} {|switch|switches}, " +
			"{unreachable_cas#} channel adapter(s), {unreachable_links#} link(s)")
	}
	a.amountsAt("unreachable_", unreachable)
	a.mustLine("  seen from {sm_port}")
	if p := s.net.endByGUID[s.net.seenFrom]; p != nil {
		a.said("sm_port", a.placed("sm_port", s))
		a.said("sm_port", p.String())
	}
	if !s.routed() {
		a.mustLine("  no forwarding tables")
	}
	a.mustLine("  states: {|.*}")
	a.figure("simulated", strings.HasPrefix(x.source, "sim:"))
	a.ignore("pictures", "engine", "write", "sms", "unanswered", "unread_parts")
	for i := range a.o.length("warnings") {
		path := fmt.Sprintf("warnings.%d.text", i)
		warning, _ := a.o.at(path)
		a.mustLine("  warning: {" + path + "}")
		a.said(path, warning)
	}
	a.succeeds()
	a.done()
}

// amountsAt compares counts of nodes and links at paths with a prefix.
func (a *answer) amountsAt(path string, c amounts) {
	a.figure(path+"nodes", c.nodes)
	a.figure(path+"switches", c.switches)
	a.figure(path+"cas", c.cas)
	a.figure(path+"aggregation_nodes", c.aggregation)
	a.figure(path+"routers", c.routers)
	a.figure(path+"links", c.links)
}

// report compares `report text` with `report json`, and both with the model.
func (x *exam) report(s *state) {
	out, _, err := x.run("report text - of="+s.name, false)
	inJSON, _, jsonErr := x.run("report json - of="+s.name, true)
	a := &answer{
		x: x, command: "report json of=" + s.name, text: readText(out),
		objects: readObjects(x.t, "report json", inJSON), words: map[string]string{}, err: err,
	}
	if err != nil || jsonErr != nil || len(a.objects) != 1 {
		a.wrong("answer", err, jsonErr, "some")
		return
	}
	a.o = a.objects[0]
	var names []string // the text has words of its own for them
	if s.routed() {
		names = s.unreadTables()
	}
	a.stated(s, len(names))
	a.unread(names)
	for i := range a.o.length("of.warnings") {
		a.ignore(fmt.Sprint("of.warnings.", i))
	}
	in, unreachable := s.amounts()
	for _, label := range []string{"Source", "Time", "Routing"} {
		a.mustLine(label + " {|.*}")
	}
	a.mustLine("State {|+}{title}")
	a.title("title", s)
	a.mustLine("Switches {|+}{switches#}")
	a.mustLine("Hosts {|+}{hosts#}")
	a.mustLine("Links {|+}{links#}")
	a.mustLine("Highest LID {|+}{highest_lid#}")
	a.figure("nodes", in.nodes)
	a.figure("switches", in.switches)
	a.figure("hosts", in.cas-in.aggregation)
	a.figure("links", in.links)
	a.figure("highest_lid", s.highestLID())
	if unreachable.nodes > 0 {
		a.mustLine("Unreachable {|+}{unreachable.switches#} {|switch|switches}, {unreachable_hosts#} host(s), " +
			"{unreachable.links#} link(s)")
		a.said("unreachable_hosts", unreachable.cas-unreachable.aggregation)
	}
	a.amountsAt("unreachable.", unreachable)
	if s.routed() {
		a.routing(s)
	}
	a.reportedLinks(s)
	a.ignore("source", "when")
	a.done()
}

// routing compares the figures of the tables.
func (a *answer) routing(s *state) {
	r, l := s.reach(false), s.allToAll(false)
	a.mustLine("Pairs {|+}{routing.pairs#}, {routing.lost_pairs#} of them lost")
	a.mustLine("Paths {|+}{routing.paths#}, {routing.lost#} of them do not arrive")
	if r.by[unknown] > 0 {
		a.mustLine("Unknown {|+}{routing.unknown#} paths over tables that were not read; the figures exclude them")
	}
	a.line("Not read {|.*}")
	a.mustLine("Paths per link {|+}at most {routing.worst_load#} over a link between switches")
	a.figure("routing.pairs", r.pairs)
	a.figure("routing.lost_pairs", r.lostPairs)
	a.figure("routing.unknown_pairs", r.unknownPairs)
	a.figure("routing.paths", r.paths)
	a.figure("routing.lost", r.bad())
	a.figure("routing.unknown", r.by[unknown])
	a.figure("routing.worst_load", l.worst(s.net))
	for _, m := range a.all("Paths of {links#} links {|+}{n#}") {
		a.words["routing.paths_by_links."+m["links"]] = m["n"]
	}
	for links := range max(a.o.length("routing.paths_by_links"), 1+mostOf(r.links)) {
		a.figure(fmt.Sprintf("routing.paths_by_links.%d", links), r.links[links])
	}
	isUnknown := s.unreadSLs || s.unreadVLs
	c := s.credits(false, isUnknown)
	switch {
	case isUnknown || s.hasUnread():
		a.mustLine("VLs {|.*}")
		a.mustLine("Credit loop {|.*}")
		a.ignore("routing.vls", "routing.credit_loop")
	default:
		a.mustLine("VLs {|+}{routing.vls#}")
		a.mustLine("Credit loop {|+}" + map[bool]string{true: "YES", false: "none"}[c.cyclic > 0])
		a.figure("routing.vls", c.least())
		a.figure("routing.credit_loop", c.cyclic > 0)
	}
	if len(s.hosts()) >= 2 {
		a.mustLine("Shift figure {|+}{routing.shifts.worst#} over {routing.shifts.shifts#} shifts, mean " +
			"{routing.shifts.mean%}")
		a.mustLine("Effective bisection {|+}{routing.bisections.mean%} of full over {routing.bisections.bisections#} " +
			"random bisections")
		a.shifts(s, s.hosts(), "routing.shifts.", "shifts")
		a.bisections(s, s.hosts(), "routing.bisections.", "bisections")
	}
	a.ignore("routing.engine")
	for i := range a.o.length("routing.tables_not_read") {
		a.ignore(fmt.Sprintf("routing.tables_not_read.%d", i))
	}
}

// reportedLinks compares the directions of links between switches.
func (a *answer) reportedLinks(s *state) {
	l := newLoads()
	if s.routed() {
		l = s.allToAll(false)
	}
	all := map[string]*port{}
	for _, p := range s.net.directions(between) {
		all[fmt.Sprintf("%v -> %v", p, p.peer)] = p
	}
	if n := a.o.length("ports"); n != len(all) {
		a.wrong("ports", "-", n, len(all))
	}
	for i := range a.o.length("ports") {
		at := fmt.Sprintf("ports.%d.", i)
		name := a.placed(at+"from", s) + " -> " + a.placed(at+"to", s)
		p := all[name]
		if p == nil {
			a.wrong(at, "-", name, "no such link")
			continue
		}
		width, _ := a.o.at(at + "width")
		speed, _ := a.o.at(at + "speed")
		if a.x.compared++; fmt.Sprint(width, speed) != p.link {
			a.wrong(at+"width", "-", fmt.Sprint(width, speed), p.link)
		}
		a.line(fmt.Sprintf("Link {|+}%s  %s  {%spaths#} path(s) to {%slids#} LID(s)", name, p.link, at, at))
		if s.routed() && l.known(s, p) {
			a.figure(at+"paths", l.paths[p])
			a.figure(at+"lids", len(l.lids[p]))
		} else {
			a.line(fmt.Sprintf("Link {|+}%s  %s{|.*}", name, p.link))
			a.figure(at+"paths", nil)
			a.figure(at+"lids", nil)
		}
		a.ignore(at + "gbps")
	}
}
