// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"strings"
)

// compareEngines compares `compare engines` with what route stages in a second console after the same commands.
func (x *exam) compareEngines(names ...string) {
	a := x.ask("compare engines " + strings.Join(names, " "))
	a.heading("ENGINE TIME ALLOCATED WORST SHIFT BISECTION HOPS VLS CREDIT LOOP CHANGED LOST")
	held := x.state("whatif")
	if held == nil {
		held = x.state("live")
	}
	seen := 0
	for _, o := range a.objects {
		a.take(o)
		name, _ := o.at("name")
		if refused, _ := o.at("refused"); refused != nil {
			seen++
			a.mustLine(fmt.Sprintf("%v does not route this subnet: %v", name, refused))
			a.ignoreRest(o)
			continue
		}
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
	a.line("best: {best} (engine {|.*}")
	a.succeeds()
	a.done()
}

// start is the state that the what-if starts from.
func (x *exam) start() *state {
	if s := x.state("base"); s != nil {
		return s
	}
	return x.state("live")
}

// ignoreRest marks all that is left of an object.
func (a *answer) ignoreRest(o *object) { a.ignore(o.unseen()...) }

// routedBy is what route stages with one engine, in a second console.
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
	if len(hosts) >= 2 && a.o.has("shifts") {
		a.shifts(s, hosts, "shifts.", "shifts")
		a.bisections(s, hosts, "bisections.", "bisections")
		a.figure("shift_figure", a.intAt("shifts.worst"))
		v, _ := a.o.at("bisections.mean")
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
	a.ignore("seconds", "allocated_bytes")
	a.engineLine()
}

// engineLine finds the row of the table: all figures are those of the JSON.
func (a *answer) engineLine() {
	value := func(key string) string { v, _ := a.o.at(key); return fmt.Sprint(v) }
	float := func(key, format string) string {
		v, has := a.o.at(key)
		if !has {
			return "-"
		}
		return fmt.Sprintf(format, floatOf(v))
	}
	vls, isLoop, shift, changed, lost := value("vls"), map[string]string{"true": "YES", "false": "no"}[value("credit_loop")], "-", "-", value("lost_pairs")
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
	form := fmt.Sprintf("%s {|.*} %s {|+}%s {|+}%s {|+}%s (%s) {|+}%s {|+}%s {|+}%s {|+}%s", value("name"), value("worst_load"), shift,
		float("effective_bisection", "%.3f"), value("max_hops"), float("mean_hops", "%.2f"), vls, isLoop, changed, lost)
	a.mustLine(form)
	a.x.compared += 9
}
