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
	l, all := newLoads(), s.allToAll(false)
	leaves, unreachable, missing, paths := map[*node]bool{}, 0, 0, 0
	for _, dst := range set {
		to := s.net.endByGUID[dst.guid]
		if to == nil && s.had[dst.guid] != nil {
			unreachable++
		} else if to == nil {
			missing++
		} else if to.peer.node.isSwitch() {
			leaves[to.peer.node] = true
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
	a.mustLine("{set} of {of}: {hosts#} host(s) on {switches#} switch(es), {paths#} paths among them")
	a.title("of", s)
	a.figure("stale", x.isStale(s))
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
	a.succeeds()
	a.done()
}

// setLinks compares the links between switches that paths of a set take.
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
	a.line("  links: {links#} directions between switches, {shared#} of them shared with others")
	a.figure("links", len(used))
	a.figure("shared", shared)
	if len(used) == 0 {
		a.mustLine("  no path among them leaves its switch")
		a.figure("worst", nil)
		return
	}
	if p := a.portAt(s, "worst.from", nil); p != nil {
		a.mustLine("  at worst {worst.own#} path(s) of it over {worst.from} -> {worst.to}, of {worst.all#} that take this link")
		a.figure("worst.from", p.String())
		a.figure("worst.to", p.peer.String())
		a.figure("worst.own", slices.Max(used))
		a.figure("worst.all", all.paths[p])
	}
}
