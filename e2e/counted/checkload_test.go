// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// checkLoad compares `check load`, with all shifts and bisections where a pattern says so.
func (x *exam) checkLoad(s *state, pattern string, switches bool) {
	command := fmt.Sprintf("check load of=%s%s", s.name, switchesWord(switches))
	if pattern != "" {
		command += " pattern=" + pattern
	}
	a := x.ask(command)
	hosts := s.hosts()
	if a.o == nil {
		if len(hosts) >= 2 {
			a.wrong("answer", a.err, "-", fmt.Sprintf("figures of %d hosts", len(hosts)))
		}
		return
	}
	word, arg, _ := strings.Cut(pattern, ":")
	a.mustLine("load of {of}: {pattern}, {hosts#} host(s)")
	a.title("of", s)
	a.figure("check", "load")
	a.figure("stale", x.isStale(s))
	a.notRead(s)
	a.figure("hosts", len(hosts))
	switch word {
	case "":
		a.figure("pattern", "all-to-all")
		a.allToAll(s, switches)
	case "all":
		a.figure("pattern", pattern)
		a.allToAll(s, switches)
		a.measures(s, hosts)
	case "shifts", "bisection":
		a.figure("pattern", pattern)
		a.measures(s, hosts)
		a.figure("paths", 0)
		a.figure("lost", 0)
	case "shift":
		a.figure("pattern", pattern)
		a.pairs(s, shift(hosts, decimal(arg)))
	}
	a.ignore("seconds")
	if n := max(a.intAt("unknown"), a.intAt("shifts.unknown")+a.intAt("bisections.unknown")); n > 0 {
		a.figure("verdict", "unknown")
		a.fails("check load: the load is unknown: {unknown#} path(s) over forwarding tables that were not read", "unknown", n)
	} else {
		a.figure("verdict", "ok")
		a.succeeds()
	}
	a.done()
}

// allToAll compares the loads of all paths.
func (a *answer) allToAll(s *state, switches bool) {
	l := s.allToAll(switches)
	a.loadFigures(s, l)
	a.mustLine("  edge forwarding index {edge_forwarding_index#} (the most paths over a link between switches)")
	a.figure("edge_forwarding_index", l.worst(s.net))
}

func (a *answer) loadFigures(s *state, l *loads) {
	if l.lost > 0 {
		a.mustLine("  {paths#} path(s), and {lost#} that do not arrive and are not counted")
	} else {
		a.mustLine("  {paths#} path(s)")
	}
	a.figure("paths", l.arrive)
	a.figure("lost", l.lost)
	if l.unknown > 0 {
		a.mustLine("  {unknown#} unknown: over tables that were not read; the figures leave them out")
	}
	a.figure("unknown", l.unknown)
	a.loadsByKind(s, l, "classes", func(p *port) string { return class(p) })
	a.loadsByKind(s, l, "kinds", func(p *port) string { return class(p) + ", " + p.link })
	a.mostLoaded(s, l)
}

// loadsByKind compares the loads of the directions of each kind.
func (a *answer) loadsByKind(s *state, l *loads, list string, kind func(*port) string) {
	by, unknowns := map[string][]int{}, map[string]int{}
	for _, p := range s.net.directions("") {
		if by[kind(p)] == nil {
			by[kind(p)] = []int{}
		}
		if l.known(s, p) {
			by[kind(p)] = append(by[kind(p)], l.paths[p])
		} else {
			unknowns[kind(p)]++
		}
	}
	if n := a.o.length(list); n != len(by) {
		a.wrong(list, "-", n, len(by))
	}
	for i := range a.o.length(list) {
		at := list + "." + number(i) + "."
		name, _ := a.o.at(at + "class")
		key := fmt.Sprint(name)
		if list == "kinds" {
			width, _ := a.o.at(at + "width")
			speed, _ := a.o.at(at + "speed")
			key = fmt.Sprintf("%v, %v%v", name, width, speed)
			form := "  " + key + ": {AT.links#} direction(s), {AT.min#} to {AT.max#} paths, mean {AT.mean%}, std dev {AT.std_dev%}, {AT.unused#} unused"
			if unknowns[key] > 0 {
				form += ", {AT.unknown#} unknown"
			}
			a.mustLine(strings.ReplaceAll(form, "AT.", at))
		}
		if by[key] == nil {
			a.wrong(at, "-", key, "no such links")
			continue
		}
		st := statsOf(by[key])
		a.figure(at+"links", st.n+unknowns[key])
		a.figure(at+"unknown", unknowns[key])
		a.figure(at+"unused", st.unused)
		a.figure(at+"min", st.min)
		a.figure(at+"max", st.max)
		a.figure(at+"mean", st.mean)
		a.figure(at+"std_dev", st.deviation)
	}
}

// mostWorst is how many of the most loaded links check lists.
const mostWorst = 5

// mostLoaded compares the list of the links between switches with most paths.
func (a *answer) mostLoaded(s *state, l *loads) {
	var used []*port
	for _, p := range s.net.directions(between) {
		if l.paths[p] > 0 {
			used = append(used, p)
		}
	}
	slices.SortStableFunc(used, func(p, q *port) int { return l.paths[q] - l.paths[p] })
	if n := a.o.length("worst"); n != min(mostWorst, len(used)) {
		a.wrong("worst", "-", n, min(mostWorst, len(used)))
		return
	}
	for i := range a.o.length("worst") {
		at := "worst." + number(i) + "."
		p := a.portAt(s, at+"from", nil)
		if p == nil || p.peer == nil {
			continue
		}
		a.mustLine(fmt.Sprintf("  {%spaths#} path(s) to {%sdestinations#} LID(s) over %v -> %v", at, at, p, p.peer))
		a.figure(at+"to", p.peer.String())
		a.figure(at+"paths", l.paths[p])
		a.figure(at+"destinations", len(l.lids[p]))
		if l.paths[p] != l.paths[used[i]] {
			a.wrong(at, p, l.paths[p], fmt.Sprintf("one of %d paths", l.paths[used[i]]))
		}
	}
}

// portAt is the port of the state that JSON names; where several have the name, one of those in a set.
func (a *answer) portAt(s *state, path string, of map[*port]bool) *port {
	v, _ := a.o.at(path)
	var found *port
	for _, n := range s.net.nodes {
		for _, p := range n.ports {
			if p.String() == v && (found == nil || of[p]) {
				found = p
			}
		}
	}
	if found == nil {
		a.wrong(path, "-", v, "no such port")
	}
	return found
}

// measures compares shifts and random bisections.
func (a *answer) measures(s *state, hosts []endPort) {
	if len(hosts) < 2 {
		return
	}
	if a.o.has("shifts") {
		a.shifts(s, hosts, "")
	}
	if a.o.has("bisections") {
		a.bisections(s, hosts, "")
	}
}

// shifts compares the figures of all shifts, which are at a path of the JSON.
func (a *answer) shifts(s *state, hosts []endPort, at string) {
	worst, by, lost, unknowns, free, sum := 0, 0, 0, 0, 0, 0
	for k := 1; k < len(hosts); k++ {
		p := s.send(shift(hosts, k))
		if p.worst > worst {
			worst, by = p.worst, k
		}
		if p.worst <= 1 {
			free++
		}
		sum += p.worst
		lost += p.lost
		unknowns += p.unknown
	}
	form := "  shift figure {shifts.worst#} (the most paths over a link), by {shifts.worst_by#}; mean {shifts.mean%}; {shifts.contention_free#} of {shifts.shifts#} shift(s) without contention"
	a.line(form + lostWords("shifts", lost, unknowns))
	a.figure(at+"shifts.hosts", len(hosts))
	a.figure(at+"shifts.shifts", len(hosts)-1)
	a.figure(at+"shifts.worst", worst)
	a.figure(at+"shifts.worst_by", by)
	a.figure(at+"shifts.mean", float64(sum)/float64(len(hosts)-1))
	a.figure(at+"shifts.contention_free", free)
	a.figure(at+"shifts.lost", lost)
	a.figure(at+"shifts.unknown", unknowns)
}

// lostWords is the form of the words for the paths that are lost or unknown.
func lostWords(key string, lost, unknown int) (form string) {
	if lost > 0 {
		form = "; lost: {" + key + ".lost#} path(s)"
	}
	if unknown > 0 {
		form += "; unknown: {" + key + ".unknown#} path(s)"
	}
	return form
}

// bisections compares those of random bisections.
func (a *answer) bisections(s *state, hosts []endPort, at string) {
	n, seed := a.intAt(at+"bisections.bisections"), a.intAt(at+"bisections.seed")
	var shares []float64
	worst, lost, unknowns := 0, 0, 0
	for i := range n {
		p := s.send(bisection(hosts, uint64(seed), uint64(i)))
		shares = append(shares, p.share)
		worst = max(worst, p.worst)
		lost += p.lost
		unknowns += p.unknown
	}
	mean, squares := 0.0, 0.0
	for _, x := range shares {
		mean += x / float64(n)
	}
	for _, x := range shares {
		squares += (x - mean) * (x - mean) / float64(n)
	}
	form := "  effective bisection bandwidth {bisections.mean%} of full ({bisections.min%} to {bisections.max%}, std dev {bisections.std_dev%}) over {bisections.bisections#} random bisection(s), " +
		"seed {bisections.seed#}; at worst {bisections.worst#} path(s) over a link"
	a.line(form + lostWords("bisections", lost, unknowns))
	a.figure(at+"bisections.hosts", len(hosts))
	a.figure(at+"bisections.bisections", n)
	a.figure(at+"bisections.seed", seed)
	a.figure(at+"bisections.mean", mean)
	a.figure(at+"bisections.min", slices.Min(shares))
	a.figure(at+"bisections.max", slices.Max(shares))
	a.figure(at+"bisections.std_dev", math.Sqrt(squares))
	a.figure(at+"bisections.worst", worst)
	a.figure(at+"bisections.lost", lost)
	a.figure(at+"bisections.unknown", unknowns)
}

// intAt is a whole number of the JSON.
func (a *answer) intAt(path string) int {
	v, ok := a.o.at(path)
	if !ok || !isNumber(fmt.Sprint(v)) {
		return 0
	}
	return decimal(fmt.Sprint(v))
}

// mostPairs is how many pairs of the most loaded link are listed.
const mostPairs = 5

// pairs compares the load of pairs that send at once.
func (a *answer) pairs(s *state, pairs [][2]endPort) {
	p := s.send(pairs)
	a.loadFigures(s, p.loads)
	a.figure("edge_forwarding_index", p.loads.worst(s.net))
	if p.worst > 0 {
		a.mustLine("  at worst {worst_load#} path(s) over a link; a path has {share%} of its bandwidth on average")
	} else {
		a.mustLine("  edge forwarding index {edge_forwarding_index#} (the most paths over a link between switches)")
	}
	a.figure("worst_load", p.worst)
	a.figure("share", p.share)
	if a.o.length("worst") > 0 {
		a.pairsOn(s, p, pairs, a.portAt(s, "worst.0.from", nil))
	}
}

// pairsOn compares the pairs that take the most loaded link.
func (a *answer) pairsOn(s *state, p pattern, pairs [][2]endPort, link *port) {
	on := map[string]bool{}
	for _, pair := range pairs {
		if pair[0].own == nil || pair[1].own == nil {
			continue
		}
		way := s.walk(pair[0].own, pair[1].own.lid)
		if way.arrives() && slices.Contains(way.leaves(), link) {
			on[fmt.Sprint(pair[0].own, " -> ", pair[1].own)] = true
		}
	}
	if n := a.o.length("worst.0.pairs"); n != min(mostPairs, len(on)) {
		a.wrong("worst.0.pairs", "-", n, min(mostPairs, len(on)))
	}
	for i := range a.o.length("worst.0.pairs") {
		at := "worst.0.pairs." + number(i)
		from, _ := a.o.at(at + ".from")
		to, _ := a.o.at(at + ".to")
		pair := fmt.Sprint(from, " -> ", to)
		a.mustLine("    " + pair)
		if a.x.compared++; !on[pair] {
			a.wrong(at, "-", pair, "takes another path")
		}
	}
}
