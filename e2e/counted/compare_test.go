// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// compareEngines compares `compare engines` with the staged result of route in a second console after the same
// commands.
func (x *exam) compareEngines(names ...string) {
	a := x.ask("compare engines " + strings.Join(names, " "))
	held := x.state("whatif")
	if held == nil {
		held = x.state("live")
	}
	a.mustLine("compare engines of {of.title}")
	if held.routed() {
		a.read(held)
	} else {
		a.basis(held, 0)
	}
	a.heading("ENGINE MOST PATHS SHIFT BISECTION HOPS VLS CREDIT LOOP CHANGED LOST TIME ALLOCATED")
	a.line("best: {best} (engine {best}; route): {|.*}")
	best, _ := a.o.at("best")
	a.figure("best", best)
	seen := a.o.length("refused")
	for i := range seen {
		at := fmt.Sprintf("refused.%d.", i)
		name, _ := a.o.at(at + "name")
		a.mustLine(fmt.Sprintf("%v does not route this subnet: {%swhy}", name, at))
		why, _ := a.o.at(at + "why")
		a.figure(at+"why", why)
	}
	a.ignore("verdict", "found")
	head := a.o
	x.pathsOfEngines(a, held)
	for _, o := range a.rows("engines") {
		a.take(o)
		a.figure("command", "compare engines")
		a.figure("answer", 1)
		a.figure("kind", "engines")
		name, _ := o.at("name")
		s := held
		if name != "on the switches" {
			seen++
			s = x.routedBy(fmt.Sprint(name))
		}
		a.engineRow(s, x.start())
	}
	if seen != len(names) {
		a.wrong("rows", "-", seen, len(names))
	}
	a.o = head
	a.succeeds()
	a.done()
}

// pathsOfEngines compares the links between switches with the paths of the tables on the switches. The total for an
// engine must be that of its row.
func (x *exam) pathsOfEngines(a *answer, held *state) {
	worst := map[string]int{}
	l := held.allToAll(false)
	for _, o := range a.rows("links") {
		a.take(o)
		a.figure("command", "compare engines")
		a.figure("answer", 1)
		a.figure("kind", "links")
		a.placed("from", held)
		a.placed("to", held)
		text, _ := o.at("from.guid")
		guid, _ := strconv.ParseUint(fmt.Sprint(text), 0, 64)
		p := held.portAt(plug{guid, a.intAt("from.port")})
		if p == nil || p.peer == nil {
			a.wrong("links", "-", o.value, "a link")
			continue
		}
		a.figure("to.guid", guidText(p.peer.node.guid))
		least, most := math.MaxInt, 0
		for i := range a.o.length("engines") {
			name, _ := o.at(fmt.Sprintf("engines.%d", i))
			paths := a.intAt(fmt.Sprintf("paths.%d", i))
			if name == "on the switches" {
				a.figure(fmt.Sprintf("paths.%d", i), l.paths[p])
			}
			least, most = min(least, paths), max(most, paths)
			worst[fmt.Sprint(name)] = max(worst[fmt.Sprint(name)], paths)
		}
		a.figure("least", least)
		a.figure("most", most)
	}
	for _, o := range a.rows("engines") {
		a.take(o)
		name, _ := o.at("name")
		if n, has := worst[fmt.Sprint(name)]; has {
			a.figure("worst_load", n)
		}
	}
}

// start returns the state from which the what-if starts.
func (x *exam) start() *state {
	if s := x.state("base"); s != nil {
		return s
	}
	return x.state("live")
}

// routedBy returns the tables that route stages with one engine, in a second console.
func (x *exam) routedBy(engine string) *state {
	x.t.Helper()
	again := x.console.replay()
	if engine != x.engine {
		command := "engine " + engine
		if x.engine != "" {
			command += fmt.Sprintf(" lmc=%d", x.lmc)
		}
		if err := again.do(command); err != nil {
			x.t.Fatal(err)
		}
	}
	if err := again.do("route"); err != nil {
		x.t.Fatalf("%s: %v", engine, err)
	}
	return readState(x.t, again, "staged", x.start(), x.changes)
}

// engineRow compares the figures of tables.
func (a *answer) engineRow(s, base *state) {
	r, l, hosts := s.reach(false), s.allToAll(false), s.hosts()
	a.figure("worst_load", l.worst(s.net))
	a.figure("pairs", r.pairs)
	a.figure("lost_pairs", r.lostPairs)
	a.figure("unknown_pairs", r.unknownPairs)
	a.figure("luck_pairs", 0)
	a.figure("paths", r.paths)
	a.figure("lost_paths", r.bad())
	a.figure("unknown_paths", r.by[unknown])
	mean, n := 0.0, 0
	for links, paths := range r.links {
		mean, n = mean+float64(links*paths), n+paths
	}
	if n > 0 {
		mean /= float64(n)
	}
	a.figure("max_hops", mostOf(r.links))
	a.figure("mean_hops", mean)
	if len(hosts) >= 2 && a.o.has("shifts_worst") {
		a.shifts(s, hosts, "shifts_", "count")
		a.bisections(s, hosts, "bisections_", "count")
		a.figure("shift_figure", a.intAt("shifts_worst"))
		v, _ := a.o.at("bisections_mean")
		b, _ := a.o.at("effective_bisection")
		if fmt.Sprint(v) != fmt.Sprint(b) {
			a.wrong("effective_bisection", "-", b, v)
		}
	}
	c := s.credits(false, s.unreadSLs || s.unreadVLs)
	if s.unreadSLs || s.unreadVLs || s.hasUnread() {
		a.ignore("vls", "credit_loop")
	} else {
		a.figure("vls", c.least())
		a.figure("credit_loop", c.cyclic > 0)
	}
	if base.routed() {
		d := differ(base, s)
		changed := 0
		for _, lids := range d.entries {
			changed += len(lids)
		}
		a.figure("changed_entries", changed)
		a.figure("unread", len(d.unread()))
	}
	a.ignore("seconds", "allocated_megabytes")
	a.engineLine()
}

// engineLine finds the row of the table. All its figures must be those of the JSON.
func (a *answer) engineLine() {
	value := func(key string) string { v, _ := a.o.at(key); return fmt.Sprint(v) }
	float := func(key, format string) string {
		v, has := a.o.at(key)
		if !has {
			return "-"
		}
		return fmt.Sprintf(format, floatOf(v))
	}
	vls, isLoop, shift, changed, lost := value("vls"), map[string]string{
		"true": "YES", "false": "no",
	}[value("credit_loop")], "-", "-", value("lost_pairs")
	if vls == "<nil>" {
		vls = "unknown"
	}
	if isLoop == "" {
		isLoop = "unknown"
	}
	if a.o.has("shift_figure") {
		shift = value("shift_figure")
	}
	if a.o.has("changed_entries") {
		changed = value("changed_entries")
	}
	if n := a.intAt("unread"); n > 0 {
		changed += fmt.Sprintf(" (%d unread)", n)
	}
	if n := a.intAt("unknown_pairs"); n > 0 {
		lost += fmt.Sprintf(" (%d unknown)", n)
	}
	form := fmt.Sprintf("%s {|+}%s {|+}%s {|+}%s {|+}%s (%s) {|+}%s {|+}%s {|+}%s {|+}%s {|.*}", value("name"),
		value("worst_load"), shift,
		float("effective_bisection", "%.3f"), value("max_hops"), float("mean_hops", "%.2f"), vls, isLoop, changed, lost)
	a.mustLine(form)
	a.x.compared += 9
}
