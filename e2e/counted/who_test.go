// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strconv"
)

// thing is a link, or all links of a node: words for a command, and the ports of its links.
type thing struct {
	words, name string
	ports       map[*port]bool
	node        *node
}

// linkThing is the link of a port.
func linkThing(p *port) thing {
	return thing{fmt.Sprintf("%s %d", p.node.word(), p.num), fmt.Sprintf("%v -- %v", p, p.peer), map[*port]bool{p: true, p.peer: true}, nil}
}

// nodeThing is a node with all its links.
func nodeThing(n *node) thing {
	x := thing{n.word(), n.name, map[*port]bool{}, n}
	if !n.isSwitch() && n.count > 1 {
		x.words = strconv.Quote(n.name) // not one of its ports
	}
	for _, p := range n.ports {
		if p.peer != nil {
			x.ports[p], x.ports[p.peer] = true, true
		}
	}
	return x
}

// isOn reports whether a path passes the link or the node.
func (x thing) isOn(p *path) bool {
	return slices.ContainsFunc(p.leaves(), func(out *port) bool { return x.ports[out] })
}

// whoUses compares `who uses`.
func (x *exam) whoUses(s *state, what thing) {
	a := x.ask(fmt.Sprintf("who uses %s of=%s", what.words, s.name))
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	var users []path
	all, unknowns, from, to := 0, 0, map[*port]int{}, map[*port]int{}
	for _, p := range s.everyPath(false) {
		if p.ends == unknown {
			unknowns++
		}
		if !p.arrives() {
			continue
		}
		if all++; what.isOn(&p) {
			users = append(users, p)
			from[p.src]++
			to[s.net.owner[p.lid]]++
		}
	}
	a.mustLine("{what} of {of}: {paths#} of {all#} paths use it, from {sources#} end port(s) to {destinations#} end port(s)")
	a.title("of", s)
	a.figure("stale", x.isStale(s))
	a.figure("what", what.name)
	a.figure("paths", len(users))
	a.figure("all", all)
	a.figure("unknown", 0)
	a.figure("sources", len(from))
	a.figure("destinations", len(to))
	a.notRead(s)
	if unknowns > 0 {
		a.mustLine("  {unknown#} more paths may use it: they meet tables that were not read")
	}
	a.figure("unknown", unknowns)
	a.directions(s, what)
	a.users("from", from)
	a.users("to", to)
	a.examples(users)
	a.unreachableWithout(s, what)
	a.ignore("seconds")
	a.succeeds()
	a.done()
}

// directions compares the loads of the links, each way. No path takes those that are unreachable.
func (a *answer) directions(s *state, what thing) {
	want := map[string]*port{}
	for p := range what.ports {
		want[fmt.Sprint(p, " -> ", p.peer)] = p
	}
	if what.node != nil && what.node.isSwitch() {
		clear(want)
	} else if what.node != nil {
		for _, c := range s.whole.at(what.node.guid) {
			for _, name := range []string{s.plugName(c[0]) + " -> " + s.plugName(c[1]), s.plugName(c[1]) + " -> " + s.plugName(c[0])} {
				if _, is := want[name]; !is {
					want[name] = nil
				}
			}
		}
	}
	if got := a.o.length("directions"); got != len(want) {
		a.wrong("directions", "-", got, len(want))
	}
	l := s.allToAll(false)
	for i := range a.o.length("directions") {
		at := fmt.Sprintf("directions.%d.", i)
		from, _ := a.o.at(at + "from")
		to, _ := a.o.at(at + "to")
		name := fmt.Sprint(from, " -> ", to)
		p, is := want[name]
		if a.x.compared++; !is {
			a.wrong(at, "-", name, "no such link")
		}
		a.mustLine(fmt.Sprintf("  {%spaths#} path(s) to {%sdestinations#} LID(s) over %s", at, at, name))
		a.figure(at+"paths", l.paths[p])
		a.figure(at+"destinations", len(l.lids[p]))
	}
}

const (
	mostUsers    = 100 // in JSON
	mostListed   = 20  // in text
	mostExamples = 20
)

// users compares the list of the end ports from or to which most of the paths go.
func (a *answer) users(key string, count map[*port]int) {
	if n := a.o.length(key); n != min(mostUsers, len(count)) {
		a.wrong(key, "-", n, min(mostUsers, len(count)))
	}
	for i := range a.o.length(key) {
		at := fmt.Sprintf("%s.%d.", key, i)
		name, _ := a.o.at(at + "port")
		lid := a.intAt(at + "lid")
		var is *port
		for p := range count {
			if p.String() == name && p.lid == lid {
				is = p
			}
		}
		if is == nil {
			a.wrong(at, "-", name, "no path")
			continue
		}
		if i < mostListed {
			a.mustLine(fmt.Sprintf("  %s: %v (LID {%slid#}), {%spaths#} path(s)", key, name, at, at))
		}
		a.figure(at+"lid", is.lid)
		a.figure(at+"paths", count[is])
	}
	if len(count) > mostListed {
		a.mustLine("  " + key + ": and {more#} more")
		a.said("more", len(count)-mostListed)
	}
}

// examples compares the paths that are listed.
func (a *answer) examples(users []path) {
	are := map[string]bool{}
	for _, p := range users {
		are[fmt.Sprintf("%v (LID %d)", p.src, p.lid)] = true
	}
	n := a.o.length("examples")
	if n != min(mostExamples, len(users)) {
		a.wrong("examples", "-", n, min(mostExamples, len(users)))
	}
	for i := range n {
		at := fmt.Sprintf("examples.%d.", i)
		from, _ := a.o.at(at + "from")
		to, _ := a.o.at(at + "to")
		lid := a.intAt(at + "lid")
		if a.x.compared++; !are[fmt.Sprintf("%v (LID %d)", from, lid)] {
			a.wrong(at, "-", fmt.Sprint(from, " -> ", lid), "takes another path")
		}
		a.mustLine(fmt.Sprintf("  %v -> %v (LID %d)", from, to, lid))
	}
	if n < len(users) {
		a.mustLine("  and {more_paths#} more paths")
		a.said("more_paths", len(users)-n)
	}
}

// unreachableWithout compares the end ports that would be unreachable without the links.
func (a *answer) unreachableWithout(s *state, what thing) {
	var gone map[string]int
	n := 0
	for _, left := range s.net.reachableWithout(func(p *port) bool { return what.ports[p] }) {
		gone, n = map[string]int{}, 0
		for p := range s.net.ends(false) {
			if !left[p] {
				gone[p.String()]++
				n++
			}
		}
		if a.isAmong("cut_off", gone) {
			break // of parts that are equally large any may be the subnet
		}
	}
	if n == 0 {
		a.mustLine("  without it no end port is unreachable")
	} else {
		a.mustLine("  without it {cut_offs#} end port(s) unreachable:")
	}
	a.figure("cut_offs", n)
	for i := range a.o.length("cut_off") {
		at := fmt.Sprintf("cut_off.%d", i)
		name, _ := a.o.at(at)
		if a.x.compared++; gone[fmt.Sprint(name)] == 0 {
			a.wrong(at, "-", name, "reachable")
		}
		gone[fmt.Sprint(name)]--
		if i < mostListed {
			a.mustLine(fmt.Sprintf("  unreachable: %v", name))
		}
	}
	if n > mostListed {
		a.mustLine("  unreachable: and {more_cut_off#} more")
		a.said("more_cut_off", n-mostListed)
	}
}

// isAmong reports whether all names of a list are in a set.
func (a *answer) isAmong(path string, set map[string]int) bool {
	for i := range a.o.length(path) {
		if name, _ := a.o.at(path + "." + number(i)); set[fmt.Sprint(name)] == 0 {
			return false
		}
	}
	return true
}

// reachableWithout are the end ports that the subnet has without the links of some ports: what is connected through
// switches to the port from which it is seen, or where no switch is, the largest part; all of those that are equally large.
func (s *subnet) reachableWithout(down func(*port) bool) (parts []map[*port]bool) {
	own := s.connected(s.endByGUID[s.seenFrom], down)
	if hasSwitch(own) {
		return []map[*port]bool{own}
	}
	for _, n := range s.nodes {
		if n.isSwitch() {
			part := s.connected(n.ports[0], down)
			if len(parts) > 0 && len(part) > len(parts[0]) {
				parts = nil
			}
			if len(parts) == 0 || len(part) == len(parts[0]) {
				parts = append(parts, part)
			}
		}
	}
	if len(parts) == 0 {
		return []map[*port]bool{own}
	}
	return parts
}

func hasSwitch(ends map[*port]bool) bool {
	for p := range ends {
		if p.node.isSwitch() {
			return true
		}
	}
	return false
}

// connected are the end ports to which links lead from one, through switches.
func (s *subnet) connected(from *port, down func(*port) bool) map[*port]bool {
	all := map[*port]bool{from: true}
	for queue := []*port{from}; len(queue) > 0; queue = queue[1:] {
		ports := []*port{queue[0]}
		if n := queue[0].node; n.isSwitch() {
			ports = ports[:0]
			for _, p := range n.ports {
				ports = append(ports, p)
			}
		} else if queue[0] != from {
			continue
		}
		for _, p := range ports {
			if p.peer == nil || down(p) {
				continue
			}
			end := p.peer
			if end.node.isSwitch() {
				end = end.node.ports[0]
			}
			if !all[end] {
				all[end] = true
				queue = append(queue, end)
			}
		}
	}
	return all
}
