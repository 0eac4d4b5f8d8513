// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strings"
)

// between returns the path from an end port to the k-th LID of another one. It ends at once if one of them is
// unreachable or the destination has no LID.
func (s *state) between(src, dst endPort, k int) path {
	if src.own == nil || dst.own == nil || len(dst.own.lids()) == 0 {
		from := src.port()
		lid := 0
		if lids := s.shownLIDs(dst); len(lids) > 0 {
			lid = lids[k]
		}
		return path{src: from, lid: lid, ends: deadEnd, hops: []hop{{node: from.node}}}
	}
	return s.walk(src.own, dst.own.lids()[k])
}

// why returns the end of a path between two end ports, in the words of answers.
func (s *state) why(src, dst endPort, p path) string {
	last := p.hops[len(p.hops)-1]
	switch {
	case src.own == nil && dst.sends() && !src.base.node.isSwitch() && !s.isPlugged(src.base):
		return fmt.Sprintf("dead end: the link of %v is down", src.base)
	case src.own == nil:
		return fmt.Sprintf("dead end: %v is unreachable: no links join it to the subnet", src.base)
	case dst.own == nil:
		return fmt.Sprintf("dead end: %v is unreachable: no links join it to the subnet", dst.base)
	case src.own.lid == 0:
		return fmt.Sprintf("dead end: %v has no LID", src.own)
	case dst.own.lid == 0:
		return fmt.Sprintf("dead end: %v has no LID", dst.own)
	}
	switch p.ends {
	case delivered:
		return "delivered over " + switchesText(len(p.switches()))
	case loop:
		first := slices.IndexFunc(p.hops, func(h hop) bool { return h.node == last.node })
		return fmt.Sprintf("loop of %s: %v sends it back to %s", switchesText(len(p.hops)-1-first),
			p.hops[len(p.hops)-2].out, last.node.name)
	case misdelivered:
		end := last.node.ports[0]
		if !last.node.isSwitch() {
			end = last.in
		}
		return fmt.Sprintf("misdelivered: ends at %s with LID %d, which does not own LID %d", last.node.name,
			end.lid, p.lid)
	case unknown:
		return fmt.Sprintf("unknown: the table of %s was not read", last.node.name)
	}
	num, has := s.lft[last.node.guid][p.lid]
	switch {
	case !has:
		return fmt.Sprintf("dead end: %s has no entry for LID %d", last.node.name, p.lid)
	case num > last.node.count:
		return fmt.Sprintf("dead end: %s has port %d for LID %d and no such port", last.node.name, num, p.lid)
	}
	return fmt.Sprintf("dead end: the link of %s/%d is down", last.node.name, num)
}

// isPlugged reports whether a port has a link that has not failed.
func (s *state) isPlugged(p *port) bool {
	for c := range s.whole.cables {
		if slices.Contains(c[:], plugOf(p)) {
			return true
		}
	}
	return false
}

func switchesText(n int) string {
	if n == 1 {
		return "1 switch"
	}
	return fmt.Sprintf("%d switches", n)
}

// word returns an end port as a word for commands.
func (e endPort) word() string { return fmt.Sprintf("guid:0x%x", e.port().guid) }

// trace compares `trace SRC DST` with the path back, the paths to all LIDs, and the path in another state.
func (x *exam) trace(s *state, src, dst endPort, against *state) {
	a := x.ask(fmt.Sprintf("trace %s %s of=%s back lids against=%s", src.word(), dst.word(), s.name, against.name))
	for _, e := range []endPort{src, dst} {
		if against.end(e.port().guid).port() == nil {
			a.fails(fmt.Sprintf("trace: {|.*}: the other state does not have %v", e.port()))
			return
		}
	}
	if a.o == nil {
		a.wrong("answer", a.err, "-", "a path")
		return
	}
	p := s.between(src, dst, 0)
	if p.lid == 0 {
		a.mustLine("{from} -> {to}, LID -{|.*}, of {of.title}")
	} else {
		a.mustLine("{from} -> {to}, LID {lid#}{|.*}, of {of.title}")
	}
	a.meets(s, &p)
	a.said("from", a.placed("from", s))
	a.said("from", src.port().String())
	a.said("to", a.placed("to", s))
	a.said("to", dst.port().String())
	a.figure("lid", p.lid)
	a.figure("ending", p.ends)
	a.figure("arrives", p.arrives())
	a.figure("why", s.why(src, dst, p))
	if !slices.Contains(a.lines, "  "+s.why(src, dst, p)) {
		a.wrong("why", "none", "-", s.why(src, dst, p))
	}
	a.line("  " + s.why(src, dst, p))
	a.hops(s, src, dst, &p)
	a.back(s, src, dst)
	a.against(against, src, dst, &p)
	a.lids(s, src, dst, &p)
	a.ignore("sl", "sls", "sl_means")
	a.figure("choices_tree", []string{}) // no switch routes adaptively
	a.figure("counters_not_read", []string{})
	found := ""
	if p.arrives() {
		a.succeeds()
		a.figure("verdict", "ok")
	} else {
		found = fmt.Sprintf("%v -> %v: %s", src.port(), dst.port(), s.why(src, dst, p))
		a.fails("trace: " + found)
		a.figure("verdict", verdictOf(p.ends))
	}
	a.figure("found", found)
	a.done()
}

// verdictOf returns the verdict on a path that does not arrive.
func verdictOf(ends string) string {
	if ends == unknown {
		return "unknown"
	}
	return "found"
}

// meets compares the head, in which the unread table on the path must be listed.
func (a *answer) meets(s *state, p *path) {
	if p.ends != unknown {
		a.basis(s, 0)
		return
	}
	at := p.hops[len(p.hops)-1].node
	a.mustLine("  not read: 1 forwarding table: " + at.name)
	a.basis(s, 1)
	a.figure("of.unread.causes.0.what", "forwarding table")
	a.figure("of.unread.causes.0.why", "")
	a.figure("of.unread.causes.0.count", 1)
	a.figure("of.unread.causes.0.at.0.name", at.name)
	a.figure("of.unread.causes.0.at.0.guid", guidText(at.guid))
	a.ignore("of.unread.causes.0.at.0.lid")
}

// hops compares the nodes on the path.
func (a *answer) hops(s *state, src, dst endPort, p *path) {
	if n := a.o.length("hops"); n != len(p.hops) {
		a.wrong("hops", "-", n, len(p.hops))
		return
	}
	lids := [2]int{s.shownLID(src), p.lid}
	sl, isKnown := s.slsOf(lids)[0], !s.unreadSLs && !s.unreadVLs
	if v, has := a.o.at("sl"); has && !s.unreadSLs && src.own != nil && dst.own != nil {
		if sl = a.intAt("sl"); !slices.Contains(s.slsOf(lids), sl) {
			a.wrong("sl", "-", v, s.slsOf(lids))
		}
		a.figure("sls", s.slsText(lids))
	}
	for i, h := range p.hops {
		at := fmt.Sprintf("hops.%d.", i)
		a.place(at+"node", s, h.node.guid, -1)
		a.figure(at+"lid", s.hopLID(src, h))
		ports, link := a.hopPorts(s, at, h, p, i, dst)
		a.hopLine(h.node.name, s.hopLID(src, h), ports, link)
		for _, key := range []string{"turn", "against_ranks", "in_credit_loop", "in_vl", "dropped", "torus_at",
			"torus_along", "torus_crosses", "torus_unmarked", "torus_turns_from", "torus_illegal_turn"} {
			a.ignore(at + key)
		}
		if _, has := a.o.at(at + "vl"); has && isKnown && h.node.isSwitch() {
			a.figure(at+"vl", s.vl(h.node.ports[0].guid, numberOf(h.in), a.intAt(at+"out"), sl))
		}
	}
}

// hopLID returns the LID of a node on a path: of port 0 of a switch, otherwise of the port by which packets leave or
// enter.
func (s *state) hopLID(src endPort, h hop) int {
	switch {
	case h.node.isSwitch() && s.reachable(h.node.guid):
		return h.node.ports[0].lid
	case h.in != nil:
		return h.in.lid
	}
	return s.shownLID(src)
}

// hopPorts compares the ports of a hop, and returns them and the link as in the text.
func (a *answer) hopPorts(s *state, at string, h hop, p *path, i int, dst endPort) (ports, link string) {
	in, out := numberOf(h.in), numberOf(h.out)
	// the port of a link that is down is listed
	if i == len(p.hops)-1 && p.ends == deadEnd && h.node.isSwitch() && dst.own != nil {
		if num, has := s.lft[h.node.guid][p.lid]; has && num <= h.node.count {
			out = num
		}
	}
	if p.ends == deadEnd && len(p.hops) == 1 && !h.node.isSwitch() {
		out = a.intAt(at + "out")
	}
	a.figure(at+"in", in)
	a.figure(at+"out", out)
	a.figure(at+"link", linkOf(h.out))
	a.figure(at+"in_link", linkOf(h.in))
	switch {
	case in > 0 && out > 0:
		ports = fmt.Sprintf("p%d -> p%d", in, out)
	case in > 0:
		ports = fmt.Sprintf("p%d", in)
	case out > 0:
		ports = fmt.Sprintf("p%d", out)
	}
	return ports, linkOf(h.out)
}

func linkOf(p *port) string {
	if p == nil {
		return ""
	}
	return p.link
}

// hopLine finds the line of a hop. After the link it may have VLs, turns and positions on a torus.
func (a *answer) hopLine(name string, lid int, ports, link string) {
	lidWord := number(lid)
	if lid == 0 {
		lidWord = "-"
	}
	want := strings.Fields(fmt.Sprintf("%s LID %s %s %s", name, lidWord, ports, link))
	for i, line := range a.text.lines {
		words := strings.Fields(line)
		if !a.known[i] && strings.HasPrefix(line, "  ") && len(words) >= len(want) &&
			slices.Equal(words[:len(want)], want) {
			a.known[i] = true
			a.x.compared += 2
			return
		}
	}
	a.wrong("a line of a hop", "none", "-", strings.Join(want, " "))
}

// back compares the path from the destination to the base LID of the source.
func (a *answer) back(s *state, src, dst endPort) {
	if dst.port().lid == 0 || src.port().lid == 0 {
		a.compared("back", "  reverse path: ", nil, "")
		return
	}
	p := s.between(dst, src, 0)
	a.compared("back", "  reverse path: ", &p, s.why(dst, src, p))
}

// against compares the path between the same ports in another state.
func (a *answer) against(other *state, src, dst endPort, p *path) {
	from, to := other.end(src.port().guid), other.end(dst.port().guid)
	q := other.between(from, to, 0)
	a.compared("against", "  "+other.name, &q, other.why(from, to, q))
	if _, has := a.o.at("against_same"); has && len(p.hops)+len(q.hops) > 2 { // else both end at once
		a.figure("against_same", len(p.hops) == len(q.hops) && slices.EqualFunc(p.hops, q.hops, sameHop))
	}
}

// end returns an end port of the state by GUID.
func (s *state) end(guid uint64) endPort { return endPort{s.net.endByGUID[guid], s.had[guid]} }

func sameHop(a, b hop) bool {
	return a.node.guid == b.node.guid && numberOf(a.in) == numberOf(b.in) && numberOf(a.out) == numberOf(b.out)
}

// compared shows how another path ends, whose hops are shown next to those of the path.
func (a *answer) compared(key, label string, p *path, why string) {
	if p == nil {
		if a.o.has(key + "_ending") {
			a.wrong(key, "-", "a path", "none")
		}
		a.figure(key+"_hops", []string{})
		return
	}
	if !a.o.has(key + "_ending") {
		a.wrong(key, "-", "none", "a path")
		return
	}
	a.figure(key+"_ending", p.ends)
	a.figure(key+"_why", why)
	a.ignore(key+"_of", key+"_same")
	nodes := 0
	for i := range a.o.length(key + "_hops") {
		at := fmt.Sprintf("%s_hops.%d.", key, i)
		if a.o.has(at + "other") {
			nodes++
		}
		for _, node := range []string{"node", "other"} {
			a.ignore(at+node+".name", at+node+".guid", at+node+".lid")
		}
		a.ignore(at+"other_in", at+"other_out", at+"how", at+"other_only")
	}
	if a.x.compared++; nodes != len(p.hops) {
		a.wrong(key+"_hops", "-", nodes, len(p.hops))
	}
	isFound := false
	for i, line := range a.text.lines {
		if !a.known[i] && strings.HasPrefix(line, label) &&
			(strings.HasSuffix(line, ": "+why) || strings.HasSuffix(line, ": "+why+", with the same hops")) {
			a.known[i], isFound = true, true
			for j := i + 1; j < len(a.text.lines) && strings.HasPrefix(a.text.lines[j], "    "); j++ {
				a.known[j] = true
			}
			break
		}
	}
	if !isFound {
		a.wrong(key, "none", "-", label+why)
	}
}

// lids compares the paths to all LIDs of the destination, and the links that they have in common with the path.
func (a *answer) lids(s *state, src, dst endPort, p *path) {
	all := s.shownLIDs(dst)
	if n := a.o.length("lids"); n != len(all) {
		a.wrong("lids", "-", n, len(all))
		return
	}
	isSame := a.line(fmt.Sprintf("  all %d LIDs have the same path", len(all)))
	for k, lid := range all {
		q := s.between(src, dst, k)
		at := fmt.Sprintf("lids.%d.", k)
		shared := 0
		for _, h := range q.leaves() {
			if slices.Contains(p.leaves(), h) {
				shared++
			}
		}
		var names []string
		for _, n := range q.switches() {
			names = append(names, n.name)
		}
		if !isSame {
			form := fmt.Sprintf("  LID {%slid#} {|+}{%sshared#} of {%shops#} {|links?|hops?} shared "+
				"{|+}{%sending}: {|+}%s", at, at, at, at, strings.Join(names, " "))
			if len(names) == 0 {
				form = fmt.Sprintf("  LID {%slid#} {|+}{%sshared#} of {%shops#} {|links?|hops?} shared {|+}{%sending}:",
					at, at, at, at)
			}
			a.mustLine(form)
		} else if shared != q.links() {
			a.wrong(at, "the same path", "-", "another one")
		}
		a.figure(at+"lid", lid)
		a.figure(at+"ending", q.ends)
		a.figure(at+"why", s.why(src, dst, q))
		a.figure(at+"shared", shared)
		a.figure(at+"hops", q.links())
		a.figure(at+"path", names)
	}
}
