// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"slices"
)

// balanceSwitches compares `balance switch all`: the LIDs of hosts and routers by the port to a switch by which they leave.
func (x *exam) balanceSwitches(s *state) {
	a := x.ask("balance switch all of=" + s.name)
	switches := map[string]*node{}
	unbalanced := 0
	for _, n := range s.net.nodes {
		if n.isSwitch() {
			switches[guidText(n.guid)] = n
			if isUneven(slices.Collect(maps.Values(s.lidsByPort(n)))) {
				unbalanced++
			}
		}
	}
	if a.x.compared++; len(a.objects) != len(switches) {
		a.wrong("switches", "-", len(a.objects), len(switches))
	}
	for _, o := range a.objects {
		a.take(o)
		guid, _ := o.at("guid")
		n := switches[fmt.Sprint(guid)]
		if n == nil {
			a.wrong("guid", "-", guid, "no such switch")
			continue
		}
		count := s.lidsByPort(n)
		uneven := isUneven(slices.Collect(maps.Values(count)))
		word := "Switch"
		if uneven {
			word = "Unbalanced Switch"
		}
		a.mustLine(fmt.Sprintf("%s: %v (%s)", word, guid, n.name))
		a.figure("switch", n.name)
		a.figure("unbalanced", uneven)
		if got := o.length("ports"); got != len(count) {
			a.wrong("ports", "-", got, len(count))
		}
		for i, num := range slices.Sorted(maps.Keys(count)) {
			at := fmt.Sprintf("ports.%d.", i)
			a.mustLine("Port {" + at + "port#}: {" + at + "lids#}")
			a.figure(at+"port", num)
			a.figure(at+"lids", count[num])
		}
	}
	a.note("{unbalanced#} of {all#} switch(es) unbalanced", "unbalanced", unbalanced, "all", len(switches))
	a.succeeds()
	a.done()
}

// lidsByPort counts the LIDs of hosts and routers by the port to a switch by which they leave a switch.
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

// balanceLIDs compares `balance lid`: switches that send the LIDs of an end port unevenly.
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
	if a.x.compared++; len(a.objects) != len(all) {
		a.wrong("rows", "-", len(a.objects), len(all))
	}
	for _, o := range a.objects {
		a.take(o)
		sw, _ := o.at("switch")
		to, _ := o.at("to")
		u, is := all[fmt.Sprintf("%v %v %d", sw, to, a.intAt("lid"))]
		if !is {
			a.wrong("switch", "-", fmt.Sprint(sw, " ", to), "even")
			continue
		}
		a.unevenEnd(s, u.sw, u.end)
	}
	a.note("{uneven#} uneven", "uneven", len(all))
	a.succeeds()
	a.done()
}

// lidsOf counts the LIDs of an end port by the port, and by the neighbour, to which a switch sends them.
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
	head := fmt.Sprintf("Forwarding: Switch %s (%s): CA %s (%s): ", guidText(sw.guid), sw.name, guidText(end.node.guid), end.node.name)
	if isUneven(slices.Collect(maps.Values(nodes))) {
		what = append(what, "neighbours")
		line := "Unbalanced Remote " + head
		for i := range a.o.length("neighbours") {
			at := fmt.Sprintf("neighbours.%d.", i)
			name, _ := a.o.at(at + "name")
			for n := range nodes {
				if n.name == name {
					line += fmt.Sprintf("Dest %s(%s) - {%slids#} ", guidText(n.guid), n.name, at)
				}
			}
		}
		a.mustLine(trimmed(line))
	}
	if isUneven(slices.Collect(maps.Values(ports))) {
		what = append(what, "ports")
		line := "Unbalanced Port " + head
		for i := range a.o.length("ports") {
			at := fmt.Sprintf("ports.%d.", i)
			line += "Port {" + at + "port#} - {" + at + "lids#}: "
		}
		a.mustLine(trimmed(line))
	}
	a.figure("uneven", what)
	for i := range a.o.length("neighbours") {
		at := fmt.Sprintf("neighbours.%d.", i)
		name, _ := a.o.at(at + "name")
		want := 0
		for n, lids := range nodes {
			if n.name == name {
				want = lids
			}
		}
		a.figure(at+"lids", want)
	}
	for i, num := range slices.Sorted(maps.Keys(ports)) {
		at := fmt.Sprintf("ports.%d.", i)
		a.figure(at+"port", num)
		a.figure(at+"lids", ports[num])
	}
}

func trimmed(s string) string {
	for s != "" && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// note compares a line beside the answer with a form and what stands in its places: names and values in turn.
func (a *answer) note(form string, places ...any) {
	m := readText(a.notes).next(form)
	a.x.compared++
	if m == nil {
		a.wrong("note", a.notes, "-", form)
		return
	}
	for i := 0; i < len(places); i += 2 {
		name := places[i].(string)
		if a.x.compared++; !sameText(m[name], places[i+1]) {
			a.wrong("note: "+name, m[name], "-", places[i+1])
		}
	}
}
