// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strings"
)

// hostSet compares `hosts NAME` for a set of end ports of the base.
func (x *exam) hostSet(s *state, set []*port) {
	var words []string
	for _, p := range set {
		words = append(words, fmt.Sprintf("guid:0x%x", p.guid))
	}
	if _, _, err := x.run("hosts job "+strings.Join(words, " ")+" of=base", false); err != nil {
		x.contradict(fmt.Sprintf("hosts job: %v", err))
		return
	}
	a := x.ask("hosts job of=" + s.name)
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	a.read(s)
	l, all := newLoads(), s.allToAll(false)
	leaves, unreachable, missing, paths := map[*node]bool{}, 0, 0, 0
	members := map[*port]bool{}
	for _, dst := range set {
		to := s.net.endByGUID[dst.guid]
		if to == nil && s.had[dst.guid] != nil {
			unreachable++
		} else if to == nil {
			missing++
		} else if to.peer.node.isSwitch() {
			leaves[to.peer.node] = true
		}
		if to != nil {
			members[to] = true
		}
		for _, src := range set {
			from := s.net.endByGUID[src.guid]
			switch {
			case src == dst:
				continue
			case from == nil || to == nil || to.lid == 0:
				paths += max(1, len(s.end(dst.guid).port().lids()))
				continue
			}
			for _, lid := range to.lids() {
				p := s.walk(from, lid)
				l.add(&p)
				paths++
			}
		}
	}
	l.lost = paths - l.arrive - l.unknown
	a.mustLine("{set} of {of.title}: {hosts#} host(s) on {switches#} switch(es), {paths#} path(s) among them")
	a.title("of.title", s)
	a.figure("set", "job")
	a.figure("hosts", len(set)-missing)
	a.figure("switches", len(leaves))
	a.figure("paths", l.arrive)
	a.line("  {unreachable#} of them unreachable")
	a.figure("unreachable", unreachable)
	a.line("  {not_in_subnet#} host(s) not in the subnet")
	a.figure("not_in_subnet", missing)
	a.line("  lost: {lost#} more do not arrive")
	a.figure("lost", l.lost)
	if l.unknown > 0 {
		a.mustLine("  unknown: {unknown#} more, over tables that were not read")
	}
	a.figure("unknown", l.unknown)
	a.setLinks(s, l, all)
	a.setMembers(s, members)
	if rows := a.rows("lost_paths"); len(rows) != min(mostPaths, l.lost) {
		a.wrong("lost_paths", "-", len(rows), l.lost)
	}
	for _, o := range a.rows("lost_paths") {
		a.take(o)
		a.streamed("lost_paths")
		from, to := s.plugAt(o, "from"), s.plugAt(o, "to")
		a.place("from", s, from.guid, from.num)
		a.place("to", s, to.guid, to.num)
		lid := a.intAt("lid")
		if src := s.portAt(from); src != nil && s.portAt(to) != nil && s.net.owner[lid] == s.portAt(to) {
			a.x.compared++
			if p := s.walk(src, lid); p.arrives() || p.ends == unknown {
				a.wrong("lost_paths", "-", o.value, "a path that does not arrive")
			}
		}
	}
	a.succeeds()
	a.done()
}

// setMembers compares the hosts of the set that are in the subnet.
func (a *answer) setMembers(s *state, members map[*port]bool) {
	rows := a.rows("members")
	if len(rows) != len(members) {
		a.wrong("members", "-", len(rows), len(members))
	}
	for _, o := range rows {
		a.take(o)
		a.streamed("members")
		at := s.plugAt(o, "port")
		p := s.portAt(at)
		if p == nil || !members[p] {
			a.wrong("members", "-", o.value, "a host of the set, once")
			continue
		}
		delete(members, p)
		a.place("port", s, at.guid, at.num)
		a.figure("lid", p.lid)
		if p.peer != nil && p.peer.node.isSwitch() {
			a.place("switch", s, p.peer.node.guid, p.peer.num)
		}
	}
}

// setLinks compares the links between switches that paths of a set use.
func (a *answer) setLinks(s *state, l, all *loads) {
	var used []int
	shared := 0
	for _, p := range s.net.directions(between) {
		if l.paths[p] > 0 {
			used = append(used, l.paths[p])
		}
		if l.paths[p] > 0 && all.paths[p] > l.paths[p] {
			shared++
		}
	}
	a.line("  links: {links#} direction(s) between switches, {shared#} of them shared with others")
	a.figure("links", len(used))
	a.figure("shared", shared)
	rows := a.rows("used_links")
	if len(rows) != len(used) {
		a.wrong("used_links", "-", len(rows), len(used))
	}
	if len(used) == 0 {
		a.mustLine("  no path among them leaves its switch")
		a.figure("worst_own", nil)
		return
	}
	worst := s.portAt(s.plugAt(a.o, "worst_from"))
	if worst == nil {
		a.wrong("worst_from", "-", "none", "a port of a switch")
		return
	}
	a.mustLine(fmt.Sprintf("  at worst {worst_own#} path(s) of it over %v -> %v, of {worst_all#} that take this link",
		worst, worst.peer))
	a.place("worst_from", s, worst.node.guid, worst.num)
	a.place("worst_to", s, worst.peer.node.guid, worst.peer.num)
	a.figure("worst_own", slices.Max(used))
	a.figure("worst_all", all.paths[worst])
	a.figure("worst_others", all.paths[worst]-slices.Max(used))
	seen := map[*port]bool{}
	for _, o := range rows {
		a.take(o)
		a.streamed("used_links")
		p := s.portAt(s.plugAt(o, "from"))
		if p == nil || p.peer == nil || seen[p] {
			a.wrong("used_links", "-", o.value, "a link, once")
			continue
		}
		seen[p] = true
		a.place("from", s, p.node.guid, p.num)
		a.place("to", s, p.peer.node.guid, p.peer.num)
		a.figure("own", l.paths[p])
		a.figure("all", all.paths[p])
		a.figure("others", all.paths[p]-l.paths[p])
	}
}
