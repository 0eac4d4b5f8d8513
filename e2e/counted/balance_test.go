// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// balanceSwitches compares `balance switch all`: the LIDs of CAs by the switch port by which they leave.
func (x *exam) balanceSwitches(s *state) {
	a := x.ask("balance switch all of=" + s.name)
	a.mustLine("balance switch of {of.title}")
	a.read(s)
	left := map[plug]int{}
	switches, unbalanced, unread := 0, 0, 0
	for _, n := range s.net.nodes {
		if !n.isSwitch() {
			continue
		}
		switches++
		if s.lft[n.guid] == nil {
			unread++
			a.mustLine(fmt.Sprintf("Switch: %s (%s): its forwarding table was not read", guidText(n.guid), n.desc))
			continue
		}
		word := "Switch"
		if isUneven(slices.Collect(maps.Values(s.lidsByPort(n)))) {
			unbalanced, word = unbalanced+1, "Unbalanced Switch"
		}
		a.mustLine(fmt.Sprintf("%s: %s (%s)", word, guidText(n.guid), n.desc))
		for num, lids := range s.lidsByPort(n) {
			left[plug{n.guid, num}] = lids
			a.mustLine(fmt.Sprintf("Port %d: %d", num, lids))
		}
	}
	form := "{unbalanced#} of {switches#} switch(es) unbalanced"
	if unread > 0 {
		form += ", {unknown#} switch(es) unknown: not read"
	}
	a.mustLine(form)
	a.figure("switches", switches)
	a.figure("unbalanced", unbalanced)
	a.figure("unknown", unread)
	a.balanced(unbalanced, unread)
	head := a.o
	for _, o := range a.rows("ports") {
		a.take(o)
		a.figure("command", "balance switch")
		a.figure("answer", 1)
		a.figure("kind", "ports")
		text, _ := o.at("switch.guid")
		guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
		n := s.net.byGUID[guid]
		if n == nil || !n.isSwitch() {
			a.wrong("switch", "-", text, "no such switch")
			continue
		}
		a.place("switch", s, guid, -1)
		if s.lft[guid] == nil {
			unread--
			a.figure("lids", nil)
			a.figure("balanced", nil)
			continue
		}
		at := plug{guid, a.intAt("port")}
		lids, is := left[at]
		delete(left, at)
		if !is {
			a.wrong("port", "-", at.num, "a port to a switch, once")
			continue
		}
		a.figure("port", at.num)
		a.figure("lids", lids)
		a.figure("balanced", !isUneven(slices.Collect(maps.Values(s.lidsByPort(n)))))
		peer := s.portAt(at).peer
		a.place("to", s, peer.node.guid, peer.num)
	}
	if a.x.compared++; len(left)+unread != 0 {
		a.wrong("ports", "-", "-", fmt.Sprint(len(left), " more ports and ", unread, " more switches"))
	}
	a.o = head
	a.succeeds()
	a.done()
}

// balanced compares the verdict of balance.
func (a *answer) balanced(uneven, unread int) {
	switch {
	case uneven > 0:
		a.figure("verdict", "found")
	case unread > 0:
		a.figure("verdict", "unknown")
	default:
		a.figure("verdict", "ok")
	}
	a.ignore("found")
}

// lidsByPort counts the LIDs of CAs by the switch port to another switch by which they leave a switch.
func (s *state) lidsByPort(n *node) map[int]int {
	count := map[int]int{}
	for num, p := range n.ports {
		if p.peer != nil && p.peer.node.isSwitch() {
			count[num] = 0
		}
	}
	for p := range s.net.ends(false) {
		for _, lid := range p.lids() {
			num, has := s.lft[n.guid][lid]
			if _, toSwitch := count[num]; has && toSwitch {
				count[num]++
			}
		}
	}
	return count
}

// isUneven reports whether two numbers differ by more than one.
func isUneven(n []int) bool { return len(n) > 0 && slices.Max(n)-slices.Min(n) > 1 }

// balanceLIDs compares `balance lid`: switches that distribute the LIDs of an end port unevenly.
func (x *exam) balanceLIDs(s *state) {
	a := x.ask("balance lid of=" + s.name)
	type uneven struct {
		sw  *node
		end *port
	}
	all := map[string]uneven{}
	for _, n := range s.net.nodes {
		for p := range s.net.ends(false) {
			if n.isSwitch() {
				ports, nodes := s.lidsOf(n, p)
				if isUneven(slices.Collect(maps.Values(ports))) || isUneven(slices.Collect(maps.Values(nodes))) {
					all[fmt.Sprintf("%s %v %d", n.name, p, p.lid)] = uneven{n, p}
				}
			}
		}
	}
	a.mustLine("balance lid of {of.title}")
	a.read(s)
	unread := len(s.unreadTables())
	rows := a.rows("ends")
	if a.x.compared++; len(rows) != len(all)+unread {
		a.wrong("rows", "-", len(rows), len(all)+unread)
	}
	form := "{uneven#} uneven"
	if unread > 0 {
		form += ", {unknown#} switch(es) unknown: not read"
	}
	a.mustLine(form)
	a.figure("uneven", len(all))
	a.figure("unknown", unread)
	a.balanced(len(all), unread)
	head := a.o
	for _, o := range rows {
		a.take(o)
		a.figure("command", "balance lid")
		a.figure("answer", 1)
		a.figure("kind", "ends")
		sw, _ := o.at("switch.name")
		text, _ := o.at("switch.guid")
		guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
		a.place("switch", s, guid, -1)
		if s.lft[guid] == nil {
			a.figure("uneven", nil)
			a.mustLine(fmt.Sprintf("Switch %v: its forwarding table was not read", sw))
			continue
		}
		u, is := all[fmt.Sprintf("%v %s %d", sw, a.placed("to", s), a.intAt("lid"))]
		if !is {
			a.wrong("switch", "-", o.value, "even")
			continue
		}
		a.figure("lid", u.end.lid)
		a.unevenEnd(s, u.sw, u.end)
	}
	a.o = head
	a.succeeds()
	a.done()
}

// lidsOf counts the LIDs of an end port by the port and the neighbour to which a switch forwards them.
func (s *state) lidsOf(n *node, end *port) (ports map[int]int, nodes map[*node]int) {
	ports, nodes = map[int]int{}, map[*node]int{}
	for _, lid := range end.lids() {
		if p := n.ports[s.lft[n.guid][lid]]; p != nil && p.peer != nil {
			ports[p.num]++
			nodes[p.peer.node]++
		}
	}
	return ports, nodes
}

func (a *answer) unevenEnd(s *state, sw *node, end *port) {
	ports, nodes := s.lidsOf(sw, end)
	var what []string
	head := fmt.Sprintf("Forwarding: Switch %s (%s): CA %s (%s): ", guidText(sw.guid), sw.desc, guidText(end.node.guid),
		end.node.desc)
	if isUneven(slices.Collect(maps.Values(nodes))) {
		what = append(what, "neighbours")
		line := "Unbalanced Remote " + head
		for i := range a.o.length("neighbours") {
			at := fmt.Sprintf("neighbours.%d", i)
			guid, _ := a.o.at(at + ".guid")
			desc := s.net.byGUID[hex(fmt.Sprint(guid))].desc
			line += fmt.Sprintf("Dest %v(%v) - {neighbour_lids.%d#} ", guid, desc, i)
		}
		a.mustLine(trimmed(line))
	}
	if isUneven(slices.Collect(maps.Values(ports))) {
		what = append(what, "ports")
		line := "Unbalanced Port " + head
		for i := range a.o.length("ports") {
			line += fmt.Sprintf("Port {ports.%d#} - {port_lids.%d#}: ", i, i)
		}
		a.mustLine(trimmed(line))
	}
	a.figure("uneven", what)
	if got := a.o.length("neighbours"); got != len(nodes) {
		a.wrong("neighbours", "-", got, len(nodes))
	}
	for i := range a.o.length("neighbours") {
		at := fmt.Sprintf("neighbours.%d", i)
		text, _ := a.o.at(at + ".guid")
		guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
		a.place(at, s, guid, -1)
		a.figure(fmt.Sprintf("neighbour_lids.%d", i), nodes[s.net.byGUID[guid]])
	}
	for i, num := range slices.Sorted(maps.Keys(ports)) {
		a.figure(fmt.Sprintf("ports.%d", i), num)
		a.figure(fmt.Sprintf("port_lids.%d", i), ports[num])
	}
}

func trimmed(s string) string {
	for s != "" && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}
