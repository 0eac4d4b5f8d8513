// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// checkLoad compares `check load`, with all shifts and bisections if a pattern requires them.
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
	a.mustLine("load of {of.title}: {pattern}, {hosts#} host(s)")
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
		a.ignore("classes", "kinds", "pairs")
		a.figure("paths", 0)
		a.figure("lost", 0)
	case "shift":
		a.figure("pattern", pattern)
		a.pairs(s, shift(hosts, decimal(arg)))
	}
	a.ignore("seconds")
	if n := max(a.intAt("unknown"), a.intAt("shifts_unknown")+a.intAt("bisections_unknown")); n > 0 {
		a.judged(s, "unknown")
		a.fails("check load: the load is unknown: {unknown#} path(s) over forwarding tables that were not read",
			"unknown", n)
	} else {
		a.judged(s, "ok")
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
	if n := a.o.length("pairs"); n != 0 {
		a.wrong("pairs", "-", n, 0)
	}
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
		a.mustLine("  {unknown#} unknown: over tables that were not read, not counted")
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
			form := "  " + key + ": {AT.links#} direction(s), {AT.min#} to {AT.max#} paths, mean {AT.mean%}, std dev " +
				"{AT.std_dev%}, {AT.unused#} unused"
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

// mostWorst is the number of the most loaded links in the text.
const mostWorst = 5

// mostLoaded compares the list of the links between switches that have paths, those with most paths first.
func (a *answer) mostLoaded(s *state, l *loads) {
	head := a.o
	links := map[plug]*port{}
	for _, p := range s.net.directions(between) {
		if l.paths[p] > 0 {
			links[plug{p.node.guid, p.num}] = p
		}
	}
	rows := a.rows("links")
	if len(rows) != len(links) {
		a.wrong("links", "-", len(rows), len(links))
	}
	before := math.MaxInt
	for i, o := range rows {
		a.take(o)
		a.figure("command", "check load")
		a.figure("answer", 1)
		a.figure("kind", "links")
		text, _ := o.at("from.guid")
		guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
		at := plug{guid, a.intAt("from.port")}
		p := links[at]
		if p == nil || p.peer == nil || l.paths[p] > before {
			a.wrong("links", "-", o.value, "a link with paths, once, those with the most first")
			continue
		}
		delete(links, at)
		before = l.paths[p]
		if i < mostWorst {
			a.mustLine(fmt.Sprintf("  {paths#} path(s) to {destinations#} LID(s) over %s -> %s", a.placed("from", s),
				a.placed("to", s)))
		}
		a.figure("to.guid", guidText(p.peer.node.guid))
		a.figure("to.port", p.peer.num)
		a.place("from", s, guid, p.num)
		a.place("to", s, p.peer.node.guid, p.peer.num)
		a.figure("paths", l.paths[p])
		a.figure("destinations", len(l.lids[p]))
	}
	a.o = head
	if more := len(rows) - mostWorst; more > 0 {
		a.mustLine("  and {more#} more")
		a.said("more", more)
	}
}

// measures compares shifts and random bisections.
func (a *answer) measures(s *state, hosts []endPort) {
	if len(hosts) < 2 {
		return
	}
	if a.o.has("shifts_worst") {
		a.shifts(s, hosts, "shifts_", "count")
	}
	if a.o.has("bisections_worst") {
		a.bisections(s, hosts, "bisections_", "count")
	}
}

// shifts compares the figures of all shifts. Their keys in JSON have a prefix.
func (a *answer) shifts(s *state, hosts []endPort, at, count string) {
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
	form := "  shift figure {ATworst#} (the most paths over a link), by {ATworst_by#}; mean {ATmean%}; " +
		"{ATcontention_free#} of {AT" + count + "#} shift(s) without contention"
	a.line(strings.ReplaceAll(form, "AT", at) + lostWords(at, lost, unknowns))
	a.figure(at+"hosts", len(hosts))
	a.figure(at+count, len(hosts)-1)
	a.figure(at+"worst", worst)
	a.figure(at+"worst_by", by)
	a.figure(at+"mean", float64(sum)/float64(len(hosts)-1))
	a.figure(at+"contention_free", free)
	a.figure(at+"lost", lost)
	a.figure(at+"unknown", unknowns)
}

// lostWords returns the form of the text for paths that are lost or unknown.
func lostWords(at string, lost, unknown int) (form string) {
	if lost > 0 {
		form = "; lost: {" + at + "lost#} path(s)"
	}
	if unknown > 0 {
		form += "; unknown: {" + at + "unknown#} path(s)"
	}
	return form
}

// bisections compares the figures of random bisections.
func (a *answer) bisections(s *state, hosts []endPort, at, count string) {
	n, seed := a.intAt(at+count), a.intAt(at+"seed")
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
	form := "  effective bisection bandwidth {ATmean%} of full ({ATmin%} to {ATmax%}, std dev {ATstd_dev%}) over {AT" +
		count + "#} random bisection(s), seed {ATseed#}; at worst {ATworst#} path(s) over a link"
	a.line(strings.ReplaceAll(form, "AT", at) + lostWords(at, lost, unknowns))
	a.figure(at+"hosts", len(hosts))
	a.figure(at+count, n)
	a.figure(at+"seed", seed)
	a.figure(at+"mean", mean)
	a.figure(at+"min", slices.Min(shares))
	a.figure(at+"max", slices.Max(shares))
	a.figure(at+"std_dev", math.Sqrt(squares))
	a.figure(at+"worst", worst)
	a.figure(at+"lost", lost)
	a.figure(at+"unknown", unknowns)
}

// portAt returns a port of the subnet, or nil.
func (s *state) portAt(at plug) *port {
	if s.net.byGUID[at.guid] == nil {
		return nil
	}
	for _, p := range s.net.byGUID[at.guid].ports {
		if p.num == at.num {
			return p
		}
	}
	return nil
}

// intAt returns a whole number of the JSON.
func (a *answer) intAt(path string) int {
	v, ok := a.o.at(path)
	if !ok || !isNumber(fmt.Sprint(v)) {
		return 0
	}
	return decimal(fmt.Sprint(v))
}

// mostPairs is the number of pairs listed for the most loaded link.
const mostPairs = 5

// pairs compares the load of pairs that send at the same time.
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
	if rows := a.rows("links"); len(rows) > 0 {
		first := &answer{x: a.x, command: a.command, o: rows[0]}
		guid, _ := strconv.ParseUint(fmt.Sprint(rows[0].value["from"].(map[string]any)["guid"]), 0, 64)
		a.mustLine("  over the first of these links:")
		a.pairsOn(s, p, pairs, s.portAt(plug{guid, first.intAt("from.port")}))
	} else if n := a.o.length("pairs"); n != 0 {
		a.wrong("pairs", "-", n, 0)
	}
}

// pairsOn compares the pairs that use the most loaded link.
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
	if n := a.o.length("pairs"); n != min(mostPairs, len(on)) {
		a.wrong("pairs", "-", n, min(mostPairs, len(on)))
	}
	for i := range a.o.length("pairs") {
		at := "pairs." + number(i)
		pair := a.placed(at+".from", s) + " -> " + a.placed(at+".to", s)
		a.mustLine("    " + pair)
		if a.x.compared++; !on[pair] {
			a.wrong(at, "-", pair, "takes another path")
		}
	}
}
