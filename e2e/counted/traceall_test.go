// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// traced holds the paths of a trace of many pairs.
type traced struct {
	pairs, lost, unknown int
	paths, arrive        int
	by                   map[string]int
	links                map[int]int
	// alike holds the paths that arrive by their first and last switch, and by all their switches.
	alike map[[2]*node]map[string]int
	// places counts the paths of reachable ends that do not arrive, by how and at which switch they end. placesOf holds
	// those of the paths of each pair, as "A -> B".
	places   map[ending]int
	placesOf map[string]map[ending]bool
	listed   map[ending]bool
	// bad lists the paths that do not arrive, as "A -> B".
	bad map[string]int
	// ends holds the ends of the paths of a pair, as "A -> B".
	ends map[string]map[string]bool
}

// traceOf follows the paths from some end ports to others.
func (s *state) traceOf(from, to []endPort) *traced {
	t := &traced{
		by: map[string]int{}, links: map[int]int{}, alike: map[[2]*node]map[string]int{}, places: map[ending]int{},
		placesOf: map[string]map[ending]bool{}, listed: map[ending]bool{}, bad: map[string]int{},
		ends: map[string]map[string]bool{},
	}
	for _, src := range from {
		for _, dst := range to {
			if src == dst {
				continue
			}
			t.pairs++
			how := map[string]bool{}
			for k := range max(1, len(dst.port().lids())) {
				p := path{ends: deadEnd}
				if src.own != nil && dst.own != nil && dst.own.lid != 0 {
					p = s.walk(src.own, dst.own.lids()[k])
				}
				how[p.ends] = true
				t.add(src, dst, &p)
			}
			switch {
			case how[deadEnd] || how[loop] || how[misdelivered]:
				t.lost++
			case how[unknown]:
				t.unknown++
			}
		}
	}
	return t
}

func (t *traced) add(src, dst endPort, p *path) {
	t.paths++
	t.by[p.ends]++
	passed := p.switches()
	switch {
	case p.arrives():
		t.arrive++
		t.links[p.links()]++
		if len(passed) == 0 {
			return
		}
		key := [2]*node{passed[0], passed[len(passed)-1]}
		if t.alike[key] == nil {
			t.alike[key] = map[string]int{}
		}
		t.alike[key][names(passed)]++
		return
	}
	pair := fmt.Sprint(src.port(), " -> ", dst.port())
	t.bad[pair]++
	if t.ends[pair] == nil {
		t.ends[pair] = map[string]bool{}
	}
	t.ends[pair][p.ends] = true
	if len(passed) > 0 {
		at := p.ending()
		t.places[at]++
		if t.placesOf[pair] == nil {
			t.placesOf[pair] = map[ending]bool{}
		}
		t.placesOf[pair][at] = true
	}
}

// ending is how and at which switch a path ends.
type ending struct {
	ends string
	at   *node
}

// ending returns the last switch of a path that does not arrive, for a loop its first switch in the order of OpenSM: by
// the bytes of the GUID, the last one first.
func (p *path) ending() ending {
	passed := p.switches()
	last := passed[len(passed)-1]
	if p.ends != loop {
		return ending{p.ends, last}
	}
	ring := passed[slices.Index(passed, last):]
	return ending{
		loop, slices.MinFunc(ring, func(a, b *node) int {
			return cmp.Compare(bits.ReverseBytes64(a.guid), bits.ReverseBytes64(b.guid))
		}),
	}
}

func names(nodes []*node) string {
	var words []string
	for _, n := range nodes {
		words = append(words, n.name)
	}
	return strings.Join(words, " ")
}

// mostAlike is the number of switch pairs, and places of each kind, in the list.
const mostAlike = 20

// traceMany compares `trace` of many pairs: all of them, those from an end port, or those to one.
func (x *exam) traceMany(s *state, words string, from, to []endPort, isAll bool) {
	a := x.ask(fmt.Sprintf("trace %s of=%s", words, s.name))
	if a.o == nil {
		a.wrong("answer", a.err, "-", "paths")
		return
	}
	t := s.traceOf(from, to)
	a.mustLine("{pairs#} pair(s), {paths#} path(s) traced, of {of.title}: {arrive#} arrive")
	if t.by[unknown] > 0 {
		a.read(s)
	} else {
		a.basis(s, 0)
	}
	a.figure("pairs", t.pairs)
	a.figure("paths", t.paths)
	a.figure("arrive", t.arrive)
	a.figure("lost_pairs", t.lost)
	a.figure("unknown_pairs", t.unknown)
	a.figure("unknown", t.by[unknown])
	a.figure("not_traced", 0)
	for _, ends := range []string{delivered, deadEnd, loop, misdelivered, unknown, tooLong} {
		a.figure("verdicts."+ends, t.by[ends])
	}
	for _, m := range a.all("  {n#} over {links#} link(s)") {
		a.words["links."+m["links"]] = m["n"]
	}
	over := 0
	for links := range max(a.o.length("links"), 1+mostOf(t.links)) {
		a.figure("links."+number(links), t.links[links])
		if t.links[links] > 0 {
			at := fmt.Sprintf("paths_by_links.%d.", over)
			a.figure(at+"links", links)
			a.figure(at+"paths", t.links[links])
			over++
		}
	}
	if n := a.o.length("paths_by_links"); n != over {
		a.wrong("paths_by_links", "-", n, over)
	}
	a.alike(s, t)
	a.lostPaths(s, t, isAll)
	a.figure("part", 0)
	a.figure("luck_pairs", 0) // no switch routes adaptively
	a.figure("parting", []string{})
	a.figure("adaptive_troubles", []string{})
	lost, found := t.paths-t.arrive-t.by[unknown], ""
	switch {
	case lost > 0:
		found = fmt.Sprintf("%d of %d paths do not arrive", lost, t.paths)
		a.fails("trace: " + found)
		a.figure("verdict", "found")
	case t.by[unknown] > 0:
		found = fmt.Sprintf("%d of %d paths are unknown", t.by[unknown], t.paths)
		a.fails("trace: " + found)
		a.figure("verdict", "unknown")
	default:
		a.succeeds()
		a.figure("verdict", "ok")
	}
	a.figure("found", found)
	a.done()
}

// alike compares the paths that arrive by their first and last switches.
func (a *answer) alike(s *state, t *traced) {
	sequences := 0
	for _, all := range t.alike {
		sequences += len(all)
	}
	if len(t.alike) > 0 {
		a.mustLine("{switch_pairs#} pair(s) of first and last switches, {sequences#} sequence(s) of switches")
	}
	a.figure("switch_pairs", len(t.alike))
	a.figure("sequences", sequences)
	n := a.o.length("alike")
	if n != min(mostAlike, len(t.alike)) {
		a.wrong("alike", "-", n, min(mostAlike, len(t.alike)))
	}
	least := 1 << 30
	for i := range n {
		at := fmt.Sprintf("alike.%d.", i)
		from, to := s.plugAt(a.o, at+"from").guid, s.plugAt(a.o, at+"to").guid
		all, is := map[string]int(nil), false
		for key, paths := range t.alike {
			if key[0].guid == from && key[1].guid == to {
				all, is = paths, true
			}
		}
		if !is {
			a.wrong(at, "-", fmt.Sprint(from, " -> ", to), "no path")
			continue
		}
		a.place(at+"from", s, from, -1)
		a.place(at+"to", s, to, -1)
		sum, most := 0, 0
		for _, paths := range all {
			sum, most = sum+paths, max(most, paths)
		}
		if sum > least {
			a.wrong(at, "-", sum, fmt.Sprintf("no more than %d, of the one before", least))
		}
		least = sum
		a.alikePath(s, at, all, sum, most, s.nodeOf(from).name, s.nodeOf(to).name)
	}
	if left := len(t.alike) - n; left > 0 {
		a.mustLine("  and {more_alike#} more")
		a.said("more_alike", left)
	}
}

// alikePath compares the paths between two switches, and the most frequent sequence of switches.
func (a *answer) alikePath(s *state, at string, all map[string]int, sum, most int, from, to string) {
	var passed []string
	for i := range a.o.length(at + "path") {
		guid := s.plugAt(a.o, at+"path."+number(i)).guid
		a.place(at+"path."+number(i), s, guid, -1)
		passed = append(passed, s.nodeOf(guid).name)
	}
	shown := strings.Join(passed, " ")
	if a.x.compared++; all[shown] != most {
		a.wrong(at+"path", "-", shown, fmt.Sprintf("one of %d paths", most))
	}
	over := "over "
	if len(all) > 1 {
		over = "over {" + at + "sequences#} sequences, most over "
	}
	a.mustLine("  " + from + " -> " + to + ": {" + at + "paths#} path(s) " + over + shown)
	a.figure(at+"paths", sum)
	a.figure(at+"sequences", len(all))
}

// lostPaths compares the paths that do not arrive: one by one, or for all pairs by the place where they end.
func (a *answer) lostPaths(s *state, t *traced, isAll bool) {
	if t.paths > t.arrive {
		form := "{do_not#} do not, {lost_pairs#} pair(s) lost"
		if t.by[unknown] > 0 {
			form += "; {unknown#} unknown, {unknown_pairs#} pair(s)"
		}
		if a.o.length("troubles") > 0 {
			form += ":"
		}
		a.mustLine(form)
		a.said("do_not", t.paths-t.arrive-t.by[unknown])
	}
	gone, silent := s.unreachable(false), s.unassigned(false)
	if !isAll {
		gone, silent = nil, nil
	}
	if len(gone) > 0 {
		a.mustLine("unreachable from {seen_from}: {unreachable#} end port(s): {|.*}")
		a.said("seen_from", s.net.endByGUID[s.net.seenFrom].String())
		a.placed("seen_from", s)
		a.said("unreachable", len(gone))
	}
	if isAll {
		a.samePlaces("unreachable_ports", s, gone)
		a.samePlaces("unassigned_ports", s, silent)
	}
	if len(silent) > 0 {
		a.mustLine("without a LID: {without_lid#} end port(s): {|.*}")
	}
	a.figure("without_lid", len(silent))
	for i := range a.o.length("troubles") {
		at := fmt.Sprintf("troubles.%d.", i)
		why, _ := a.o.at(at + "why")
		name := a.placed(at+"from", s) + " -> " + a.placed(at+"to", s)
		a.ignore(at + "lid")
		if a.x.compared++; t.bad[name] == 0 {
			a.wrong(at, "-", name, "arrives")
		}
		if !isAll {
			ends, _ := a.o.at(at + "ending")
			if a.x.compared++; !t.ends[name][fmt.Sprint(ends)] {
				a.wrong(at+"ending", "-", ends, "how one of its paths ends")
			}
		}
		switch {
		case isAll:
			a.mustLine(fmt.Sprintf("  {%spaths#} as %s: %v", at, name, why))
			a.endsAt(t, at, name)
		case i < mostListed:
			a.mustLine(fmt.Sprintf("  %s: %v", name, why))
		}
	}
	a.placesOf(t, isAll)
}

// endsAt compares the number of paths that end at a listed place, by an example. Each place is listed once.
func (a *answer) endsAt(t *traced, at, pair string) {
	verdict, _ := a.o.at(at + "ending")
	paths := a.intAt(at + "paths")
	a.x.compared++
	for p := range t.placesOf[pair] {
		if p.ends == verdict && t.places[p] == paths && !t.listed[p] {
			t.listed[p] = true
			return
		}
	}
	a.wrong(at+"paths", "-", paths, fmt.Sprintf("paths that end where one of %s does", pair))
}

// placesOf compares the number of places, and of paths that end at the listed ones.
func (a *answer) placesOf(t *traced, isAll bool) {
	n := a.o.length("troubles")
	if !isAll {
		a.figure("places", 0)
		if want := t.paths - t.arrive; n != want {
			a.wrong("troubles", "-", n, want)
		}
		if n > mostListed {
			a.mustLine("  and {more_troubles#} more")
			a.said("more_troubles", n-mostListed)
		}
		return
	}
	places, listed, all := a.intAt("places"), 0, 0
	for i := range n {
		listed += a.intAt(fmt.Sprintf("troubles.%d.paths", i))
	}
	for _, paths := range t.places {
		all += paths
	}
	a.figure("places", len(t.places))
	if a.x.compared++; places == n && listed != all || listed > all {
		a.wrong("troubles", "-", listed, all)
	}
	if places > n {
		a.mustLine("  and at {more_places#} more place(s) {|; hint: limit=N lists more}")
		a.said("more_places", places-n)
	}
}
