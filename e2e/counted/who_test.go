// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// thing is a link, or all links of a node: words for a command, and the ports of its links.
type thing struct {
	words, name string
	ports       map[*port]bool
	node        *node
}

// linkThing returns the link of a port.
func linkThing(p *port) thing {
	return thing{
		fmt.Sprintf("%s %d", p.node.word(), p.num), fmt.Sprintf("%v -- %v", p, p.peer),
		map[*port]bool{p: true, p.peer: true}, nil,
	}
}

// nodeThing returns a node with all its links.
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

// isOn reports whether a path uses the link or the node.
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
	a.mustLine("{what} of {of.title}: {paths#} of {all#} path(s) use it, from {sources#} end port(s) to " +
		"{destinations#} end port(s)")
	a.read(s)
	a.figure("what", what.name)
	a.figure("paths", len(users))
	a.figure("all", all)
	a.figure("unknown", 0)
	a.figure("sources", len(from))
	a.figure("destinations", len(to))
	if unknowns > 0 {
		a.mustLine("  {unknown#} more path(s) may use it: their tables were not read")
	}
	a.figure("unknown", unknowns)
	a.directions(s, what)
	a.users(s, "from", from)
	a.users(s, "to", to)
	a.examples(s, users)
	a.unreachableWithout(s, what)
	a.ignore("seconds")
	a.succeeds()
	a.done()
}

// directions compares the loads of the links in each direction. Unreachable links have none.
func (a *answer) directions(s *state, what thing) {
	want := map[string]*port{}
	for p := range what.ports {
		want[fmt.Sprint(p, " -> ", p.peer)] = p
	}
	if what.node != nil && what.node.isSwitch() {
		clear(want)
	} else if what.node != nil {
		for _, c := range s.whole.at(what.node.guid) {
			for _, name := range []string{s.plugName(c[0]) + " -> " + s.plugName(c[1]), s.plugName(c[1]) + " -> " +
				s.plugName(c[0])} {
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
		name := a.placed(at+"from", s) + " -> " + a.placed(at+"to", s)
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
	mostListed = 20   // in text
	mostPaths  = 2000 // in JSON
)

// users compares the list of the end ports with most paths from or to them.
func (a *answer) users(s *state, kind string, count map[*port]int) {
	head := a.o
	rows := a.rows(kind)
	if len(rows) != len(count) {
		a.wrong(kind, "-", len(rows), len(count))
	}
	left := maps.Clone(count)
	for i, o := range rows {
		is := a.userRow(s, o, kind)
		if is == nil || left[is] == 0 {
			a.wrong(kind, "-", o.value, "a port with a path, once")
			continue
		}
		if i < mostListed {
			a.mustLine(fmt.Sprintf("  %s: %v (LID {lid#}), {paths#} path(s)", kind, is))
		}
		a.figure("lid", is.lid)
		a.figure("paths", count[is])
		delete(left, is)
	}
	a.o = head
	a.more(len(rows) - mostListed)
}

// more compares the line with the number of rows that are not in the text.
func (a *answer) more(n int) {
	if n > 0 {
		a.mustLine("  {|and} " + thousands(n) + " more")
	}
}

// userRow reads a row with an end port, the switch to which it is attached, and its LID.
func (a *answer) userRow(s *state, o *object, kind string) *port {
	a.take(o)
	a.figure("command", "who uses")
	a.figure("answer", 1)
	a.figure("kind", kind)
	text, _ := o.at("port.guid")
	guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
	if s.net.byGUID[guid] == nil {
		return nil
	}
	p := s.portAt(plug{guid, a.intAt("port.port")})
	a.placed("port", s)
	if p != nil && p.peer != nil {
		a.place("switch", s, p.peer.node.guid, p.peer.num)
	}
	return p
}

// examples compares the listed paths.
func (a *answer) examples(s *state, users []path) {
	are := map[string]bool{}
	for _, p := range users {
		to := s.net.owner[p.lid]
		are[fmt.Sprint(guidText(p.src.node.guid), p.src.num, guidText(to.node.guid), to.num, p.lid)] = true
	}
	head := a.o
	rows := a.rows("examples")
	if len(rows) != min(mostPaths, len(users)) {
		a.wrong("examples", "-", len(rows), min(mostPaths, len(users)))
	}
	for i, o := range rows {
		a.take(o)
		a.figure("command", "who uses")
		a.figure("answer", 1)
		a.figure("kind", "examples")
		text := fmt.Sprintf("%s -> %s (LID %d)", a.placed("from", s), a.placed("to", s), a.intAt("lid"))
		from, _ := o.at("from.guid")
		to, _ := o.at("to.guid")
		key := fmt.Sprint(from, a.intAt("from.port"), to, a.intAt("to.port"), a.intAt("lid"))
		if a.x.compared++; !are[key] {
			a.wrong("examples", "-", text, "takes another path, or is listed twice")
		}
		delete(are, key)
		if i < mostListed {
			a.mustLine("  " + text)
		}
	}
	a.o = head
	a.more(len(users) - mostListed)
}

// unreachableWithout compares the end ports that would be unreachable without the links.
func (a *answer) unreachableWithout(s *state, what thing) {
	var gone map[string]int
	n, rows, head := 0, a.rows("unreachable"), a.o
	text := func(o *object) string {
		p := o.value["port"].(map[string]any)
		return fmt.Sprintf("%v/%v", p["guid"], p["port"])
	}
	for _, left := range s.net.reachableWithout(func(p *port) bool { return what.ports[p] }) {
		gone, n = map[string]int{}, 0
		for p := range s.net.ends(false) {
			if !left[p] {
				gone[fmt.Sprintf("%s/%d", guidText(p.node.guid), p.num)]++
				n++
			}
		}
		if !slices.ContainsFunc(rows, func(o *object) bool { return gone[text(o)] == 0 }) {
			break // of parts of equal size any may be the subnet
		}
	}
	if n == 0 {
		a.mustLine("  without it no end port is unreachable")
	} else {
		a.mustLine("  without it {unreachable_count#} end port(s) unreachable:")
	}
	a.figure("unreachable_count", n)
	if len(rows) != n {
		a.wrong("unreachable", "-", len(rows), n)
	}
	for i, o := range rows {
		p := a.userRow(s, o, "unreachable")
		if p == nil || gone[text(o)] == 0 {
			a.wrong("unreachable", "-", text(o), "reachable")
			continue
		}
		a.figure("lid", p.lid)
		a.figure("paths", 0)
		gone[text(o)]--
		if i < mostListed {
			a.mustLine(fmt.Sprintf("  unreachable: %v", p))
		}
	}
	a.o = head
	a.more(n - mostListed)
}

// reachableWithout returns the end ports that the subnet has without the links of some ports: those connected through
// switches to the port from which it is read, or, if there is no switch, the largest part. It returns all of several
// largest parts.
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

// connected returns the end ports that are connected to one, through switches.
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
