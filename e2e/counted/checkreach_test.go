// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strings"
)

// mostTroubles is the number of paths of each kind that check lists.
const mostTroubles = 20

// checkReach compares `check reach`, or `check loops`.
func (x *exam) checkReach(s *state, what string, switches bool) {
	a := x.ask(fmt.Sprintf("check %s of=%s%s", what, s.name, switchesWord(switches)))
	if a.o == nil {
		return
	}
	r := s.reach(switches)
	a.mustLine(what + " of {of.title}: {ends#} end port(s), {pairs#} pair(s), {paths#} path(s)")
	a.figure("ends", r.ends)
	a.figure("pairs", r.pairs)
	a.figure("paths", r.paths)
	a.arrivals(r, what == "loops")
	a.lostPairs(s, r, what == "reach", switches)
	a.troubles(s, r, what == "loops")
	a.ignore("seconds")
	found := "check reach: {bad#} of {paths#} paths do not arrive as they should: " + r.badWords()
	bad := r.bad()
	if what == "loops" {
		found, bad = "check loops: {bad#} of {paths#} paths loop", r.by[loop]
	}
	switch {
	case bad > 0:
		a.judged(s, "found")
		a.fails(found, "bad", bad, "paths", r.paths, "unreachable", r.atOnce, "dead_ends", r.by[deadEnd]-r.atOnce,
			"loops", r.by[loop], "misdelivered", r.by[misdelivered])
	case r.by[unknown] > 0:
		a.judged(s, "unknown")
		a.fails("check "+what+": {unknown#} of {paths#} paths are unknown: {|.*}", "unknown", r.by[unknown],
			"paths", r.paths)
	default:
		a.judged(s, "ok")
		a.succeeds()
	}
	a.done()
}

// same compares a list independent of its order.
func (a *answer) same(what string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if a.x.compared++; !slices.Equal(got, want) {
		a.wrong(what, "-", got, want)
	}
}

// unreadTables returns the switches of the subnet with unread tables, by GUID and name.
func (s *state) unreadTables() (names []string) {
	for _, n := range s.net.nodes {
		if n.isSwitch() && s.lft[n.guid] == nil {
			names = append(names, guidText(n.guid)+" "+n.name)
		}
	}
	return names
}

// lostPairs compares the lost pairs and the unreachable end ports.
func (a *answer) lostPairs(s *state, r *reach, inText, switches bool) {
	if inText && r.lostPairs > 0 {
		a.mustLine("  {lost_pairs#} of {pairs_lost_of#} pair(s) lost")
		a.said("pairs_lost_of", r.pairs)
	}
	a.figure("lost_pairs", r.lostPairs)
	a.figure("unknown_pairs", r.unknownPairs)
	a.figure("luck_pairs", 0)
	if inText && r.unreachable > 0 {
		a.mustLine("  unreachable from {seen_from}: {unreachable_ends#} end port(s): {|.*}")
		a.said("seen_from", s.net.endByGUID[s.net.seenFrom].String())
	}
	if r.unreachable > 0 {
		a.placed("seen_from", s)
	}
	a.figure("unreachable_ends", r.unreachable)
	a.samePlaces("unreachable_ports", s, s.unreachable(switches))
	if inText && r.unassigned > 0 {
		a.mustLine("  without a LID: {unassigned#} end port(s): {|.*}")
	}
	a.figure("unassigned", r.unassigned)
	a.samePlaces("unassigned_ports", s, s.unassigned(switches))
}

// samePlaces compares a list of ports independent of their order.
func (a *answer) samePlaces(path string, s *state, want []string) {
	var got []string
	for i := range a.o.length(path) {
		got = append(got, a.longPlace(path+"."+number(i), s))
	}
	a.same(path, got, want)
}

// unreachable returns the names of the unreachable end ports.
func (s *state) unreachable(switches bool) (names []string) {
	for _, e := range s.ends(switches) {
		if e.own == nil {
			names = append(names, s.longName(e.base))
		}
	}
	return names
}

// longName returns the name of a port, with the GUID of its node if several nodes have its name.
func (s *state) longName(p *port) string {
	for _, n := range s.whole.nodes {
		if n.name == p.node.name && n.guid != p.node.guid {
			return fmt.Sprintf("%v (%s)", p, guidText(p.node.guid))
		}
	}
	return p.String()
}

// longPlace returns the text of a place, with the GUID of its node if several nodes have its name.
func (a *answer) longPlace(path string, s *state) string {
	text := a.placed(path, s)
	guid, _ := a.o.at(path + ".guid")
	name, _ := a.o.at(path + ".name")
	for _, n := range s.whole.nodes {
		if n.name == name && guidText(n.guid) != guid {
			return fmt.Sprintf("%s (%v)", text, guid)
		}
	}
	return text
}

// orDash formats a number, "-" for 0.
func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return number(n)
}

func switchesWord(is bool) string {
	if is {
		return " switches"
	}
	return ""
}

// arrivals compares the ends of paths.
func (a *answer) arrivals(r *reach, loopsOnly bool) {
	if loopsOnly {
		a.mustLine("  {loops#} loop")
		if r.by[unknown] > 0 {
			a.mustLine("  {unknown#} unknown: over tables that were not read")
		}
	} else {
		a.mustLine("  {arrive#} arrive, {not_minimal#} of them over more links than needed")
		a.said("arrive", r.arrive())
		for _, m := range a.all("    {n#} over {links#} link(s)") {
			a.words["links over "+m["links"]] = m["n"]
		}
		if words := r.badWords(); words != "" {
			a.mustLine("  " + words)
		}
		if r.by[unknown] > 0 {
			a.mustLine("  {unknown#} unknown: over tables that were not read")
		}
	}
	a.figure("delivered", r.by[delivered])
	a.figure("unreachable", r.atOnce)
	a.figure("dead_ends", r.by[deadEnd]-r.atOnce)
	a.figure("loops", r.by[loop])
	a.figure("misdelivered", r.by[misdelivered])
	a.figure("too_long", r.by[tooLong])
	a.figure("unknown", r.by[unknown])
	a.figure("not_minimal", r.longer)
	counted := 0
	for i := range a.o.length("links") {
		at := fmt.Sprintf("links.%d.", i)
		links := a.intAt(at + "links")
		a.figure(at+"paths", r.links[links])
		if text, has := a.words["links over "+number(links)]; has != !loopsOnly || has &&
			!sameText(text, r.links[links]) {
			a.wrong(at, text, r.links[links], "the same in text and in JSON")
		}
		counted += r.links[links]
	}
	for _, n := range r.links {
		counted -= n
	}
	if counted != 0 {
		a.wrong("links", "-", counted, 0)
	}
	a.ignore("linear_links", "adaptive_troubles")
}

// mostOf returns the greatest key.
func mostOf(counts map[int]int) int {
	most := 0
	for k := range counts {
		most = max(most, k)
	}
	return most
}

// badWords returns the form of the text that counts paths by how they end, without zero counts.
func (r *reach) badWords() string {
	var words []string
	ended := "unreachable or without a LID"
	switch {
	case r.unassigned == 0:
		ended = "unreachable"
	case r.unreachable == 0:
		ended = "without a LID"
	}
	for _, k := range []struct {
		n    int
		form string
	}{
		{r.atOnce, "{unreachable#} " + ended}, {r.by[deadEnd] - r.atOnce, "{dead_ends#} at a dead end"},
		{r.by[loop], "{loops#} in loops"},
		{r.by[misdelivered], "{misdelivered#} misdelivered"}, {r.by[tooLong], "{too_long#} too long"},
	} {
		if k.n > 0 {
			words = append(words, k.form)
		}
	}
	return strings.Join(words, ", ")
}

// troubles compares the list of paths that do not arrive.
func (a *answer) troubles(s *state, r *reach, loopsOnly bool) {
	type trouble struct {
		from, to string
		lid      int
		ends     string
	}
	all, count := map[trouble]bool{}, map[string]int{}
	for _, l := range r.lost {
		if isListed := l.from.sends() && l.to.sends(); isListed && (!loopsOnly || l.ends == loop) {
			all[trouble{s.longName(l.from.port()), s.longName(l.to.port()), l.lid, l.ends}] = true
			count[l.ends]++
		}
	}
	for i := range a.o.length("troubles") {
		at := "troubles." + number(i)
		value := func(key string) string { v, _ := a.o.at(at + "." + key); return fmt.Sprint(v) }
		x := trouble{a.longPlace(at+".from", s), a.longPlace(at+".to", s), a.intAt(at + ".lid"), value("ending")}
		a.x.compared++
		if !all[x] {
			a.wrong(at, "-", x, "no such path is bad")
		}
		delete(all, x)
		count[x.ends]--
		a.mustLine(fmt.Sprintf("  %s -> %s (LID %s): {%s.why}", x.from, x.to, orDash(x.lid), at))
		a.figure(at+".why", value("why"))
	}
	left := 0
	for ends, n := range count {
		if left += n; n > 0 && n+mostTroubles > 0 && a.listed(ends) < mostTroubles {
			a.wrong("troubles", "-", fmt.Sprintf("%d of %q", a.listed(ends), ends), fmt.Sprintf("%d more", n))
		}
	}
	if left > 0 && a.o.length("troubles") > 0 {
		a.mustLine("  {|and} {more#} more")
		a.said("more", left)
	}
}

// listed returns the number of paths with a verdict in the list.
func (a *answer) listed(ends string) (n int) {
	for i := range a.o.length("troubles") {
		if v, _ := a.o.at("troubles." + number(i) + ".ending"); v == ends {
			n++
		}
	}
	return n
}
