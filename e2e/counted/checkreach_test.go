// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"strings"
)

// mostTroubles is how many paths of each kind check lists.
const mostTroubles = 20

// checkReach compares `check reach`, or `check loops`.
func (x *exam) checkReach(s *state, what string, switches bool) {
	a := x.ask(fmt.Sprintf("check %s of=%s%s", what, s.name, switchesWord(switches)))
	if a.o == nil {
		return
	}
	r := s.reach(switches)
	a.mustLine("{check} of {of}: {ends#} end port(s), {pairs#} pair(s), {paths#} path(s)")
	a.figure("check", what)
	a.title("of", s)
	a.figure("stale", x.isStale(s))
	a.figure("ends", r.ends)
	a.figure("pairs", r.pairs)
	a.figure("paths", r.paths)
	a.figure("unassigned", r.unassigned)
	a.arrivals(r, what == "loops")
	a.troubles(s, r, what == "loops")
	a.ignore("seconds")
	found := what == "loops" && r.by[loop] > 0 || what == "reach" && r.bad() > 0
	a.figure("verdict", map[bool]string{true: "found", false: "ok"}[found])
	switch {
	case what == "loops" && r.by[loop] > 0:
		a.fails("check loops: {loops#} of {paths#} paths loop", "loops", r.by[loop], "paths", r.paths)
	case what == "reach" && r.bad() > 0:
		a.fails("check reach: {bad#} of {paths#} paths do not arrive as they should: "+r.badWords(), "bad", r.bad(), "paths", r.paths, "unreachable", r.by[deadEnd], "loops", r.by[loop])
	default:
		a.succeeds()
	}
	a.done()
}

func switchesWord(is bool) string {
	if is {
		return " switches"
	}
	return ""
}

// arrivals compares how paths end.
func (a *answer) arrivals(r *reach, loopsOnly bool) {
	if loopsOnly {
		a.mustLine("  {loops#} loop")
	} else {
		a.mustLine("  {arrive#} arrive, {not_minimal#} of them over more links than needed")
		a.said("arrive", r.arrive())
		for _, m := range a.all("    {n#} over {links#} link(s)") {
			a.words["links."+m["links"]] = m["n"]
		}
		if words := r.badWords(); words != "" {
			a.mustLine("  " + words)
		}
	}
	a.figure("delivered", r.by[delivered])
	a.figure("unreachable", r.by[deadEnd])
	a.figure("loops", r.by[loop])
	a.figure("misdelivered", r.by[misdelivered])
	a.figure("too_long", r.by[tooLong])
	a.figure("unknown", r.by[unknown])
	a.figure("not_minimal", r.longer)
	for links := range max(a.o.length("links"), 1+mostOf(r.links)) {
		a.figure("links."+number(links), r.links[links])
	}
}

// mostOf is the greatest key.
func mostOf(counts map[int]int) int {
	most := 0
	for k := range counts {
		most = max(most, k)
	}
	return most
}

// badWords is the form of the words that count paths by how they end, those of which there are any.
func (r *reach) badWords() string {
	var words []string
	for _, k := range []struct{ ends, form string }{
		{deadEnd, "{unreachable#} unreachable"}, {loop, "{loops#} in loops"}, {misdelivered, "{misdelivered#} misdelivered"},
		{tooLong, "{too_long#} too long"}, {unknown, "{unknown#} over tables that were not read"},
	} {
		if r.by[k.ends] > 0 {
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
		if !loopsOnly || l.ends == loop {
			all[trouble{l.from.port().String(), l.to.port().String(), l.lid, l.ends}] = true
			count[l.ends]++
		}
	}
	for i := range a.o.length("troubles") {
		at := "troubles." + number(i)
		value := func(key string) string { v, _ := a.o.at(at + "." + key); return fmt.Sprint(v) }
		x := trouble{value("from"), value("to"), decimal(value("lid")), value("verdict")}
		a.x.compared++
		if !all[x] {
			a.wrong(at, "-", x, "no such path is bad")
		}
		delete(all, x)
		count[x.ends]--
		a.mustLine(fmt.Sprintf("  %s -> %s (LID %d): {%s.why}", x.from, x.to, x.lid, at))
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

// listed is how many of a verdict are in the list.
func (a *answer) listed(ends string) (n int) {
	for i := range a.o.length("troubles") {
		if v, _ := a.o.at("troubles." + number(i) + ".verdict"); v == ends {
			n++
		}
	}
	return n
}
