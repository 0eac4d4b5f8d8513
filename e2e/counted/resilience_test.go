// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"path/filepath"
	"strings"
)

// mostTried is the number of links that fail in turn, each in a console of its own.
const mostTried = 200

// outcome is the state after a link has failed and incremental routing has adapted its tables.
type outcome struct {
	lost, gone, worst, changed int
	// at holds the ports by which most paths leave.
	at map[string]bool
	// loop is set if its packets have a credit loop. certain is set if SLs and VLs were read or do not matter.
	loop, certain bool
}

// resilience compares `resilience links` with consoles on a snapshot of the state, in each of which one link fails.
func (x *exam) resilience(s *state) {
	links := map[string]cable{}
	for p := range s.net.links() {
		if p.node.isSwitch() && p.peer.node.isSwitch() {
			links[s.cableName(cableAt(p))] = cableAt(p)
		}
	}
	if len(links) > mostTried {
		return
	}
	file := filepath.Join(x.t.TempDir(), "snapshot")
	if _, _, err := x.run("dump snapshot "+file+" of="+s.name, false); err != nil {
		x.contradict(fmt.Sprintf("dump snapshot of=%s: %v", s.name, err))
		return
	}
	if !x.isSettled(s, file) {
		return
	}
	a := x.ask("resilience links of=" + s.name)
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	l := s.allToAll(false)
	a.mustLine("resilience of {of.title}: {done#} of {failures#} failure(s) ({failing}) simulated; without a failure " +
		"{paths#} path(s), at most {worst_load#} over a link")
	a.read(s)
	a.figure("failing", "links")
	a.figure("failures", len(links))
	a.figure("done", len(links))
	a.figure("paths", l.arrive)
	a.figure("worst_load", l.worst(s.net))
	sum, splitting, losing, overloading, looping, unsure := outcome{}, 0, 0, 0, 0, 0
	head := a.o
	for i, row := range a.rows("failed") {
		a.take(row)
		a.figure("command", "resilience links")
		a.figure("answer", 1)
		a.figure("kind", "failed")
		v, _ := a.o.at("name")
		name := fmt.Sprint(v)
		from, to, _ := strings.Cut(name, " -- ")
		key := name
		if _, is := links[key]; !is {
			key = to + " -- " + from
		}
		c, is := links[key]
		if !is {
			a.wrong("failed", "-", name, "no such link")
			continue
		}
		delete(links, key)
		o := x.without(s, file, c)
		a.outcome(name, &o, i)
		sum.changed += o.changed
		splitting += one(o.gone > 0)
		losing += one(o.lost > 0)
		overloading += one(o.worst > l.worst(s.net))
		said, _ := a.o.at("credit_loop")
		unsure += one(said == "unknown")
		looping += one(said == "loop")
	}
	a.take(head)
	a.more(len(a.rows("failed")) - mostFailures)
	switch {
	case losing > 0:
		a.figure("verdict", "found")
		a.figure("found", fmt.Sprintf("%d of %d failure%s lose paths", losing, a.intAt("done"),
			map[bool]string{true: "", false: "s"}[a.intAt("done") == 1]))
	case looping > 0:
		a.figure("verdict", "found")
		a.figure("found", fmt.Sprintf("%d of %d failure%s have a credit loop", looping, a.intAt("proved"),
			map[bool]string{true: "", false: "s"}[a.intAt("proved") == 1]))
	default:
		a.figure("verdict", "ok")
	}
	if proved := a.intAt("done") - unsure; proved > 0 {
		a.mustLine("  credit loops after {credit_loops#} of {proved#} failure(s) searched")
	}
	if unsure > 0 {
		a.mustLine("  credit loops: unknown after {credit_loops_unknown#} failure(s), because data were not read")
	}
	a.figure("credit_loops", looping)
	a.figure("credit_loops_unknown", unsure)
	a.figure("proved", a.intAt("done")-unsure)
	a.figure("refused", 0)
	a.figure("changed_entries", sum.changed)
	a.mustLine("  {losing#} lose paths, {splitting#} of them {|.*}; {overloading#} raise the most paths over a link")
	a.figure("losing", losing)
	a.figure("splitting", splitting)
	a.figure("overloading", overloading)
	if done := a.intAt("done"); done > 0 {
		a.mustLine("  {mean_changed_entries%} entries change on average")
		a.figure("mean_changed_entries", float64(sum.changed)/float64(done))
	}
	if len(links) > 0 {
		a.wrong("failed", "-", fmt.Sprint(len(links), " links left out"), "each link")
	}
	a.figure("partial", false)
	a.ignore("fabric", "routing", "seconds", "shards", "shard.0")
	a.succeeds()
	a.done()
}

// reopen returns a console on a snapshot that has the engine of the present console.
func (x *exam) reopen(file string) *console {
	x.t.Helper()
	again := open(x.t, "file:"+file)
	if x.engine != "" {
		if err := again.do("engine " + x.engine); err != nil {
			x.t.Fatal(err)
		}
	}
	return again
}

// isSettled reports whether incremental routing changes nothing without failures, in LIDs and tables.
func (x *exam) isSettled(s *state, file string) bool {
	again := x.reopen(file)
	if err := again.do("route incremental"); err != nil {
		return false
	}
	after := readState(x.t, again, "staged", s, nil)
	d := differ(s, after)
	_, _, moved := d.ends()
	lmcs := true
	for p := range s.net.ends(true) {
		q := after.net.endByGUID[p.guid]
		lmcs = lmcs && q != nil && p.lmc == q.lmc
	}
	return len(d.entries)+len(moved) == 0 && lmcs
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// cableName returns the name of a link. Answers may list its ends in the other order.
func (s *state) cableName(c cable) string {
	return s.plugName(c[0]) + " -- " + s.plugName(c[1])
}

// mostFailures is the number of failures in the text.
const mostFailures = 10

// outcome compares the outcome without a link.
func (a *answer) outcome(name string, o *outcome, i int) {
	if i < mostFailures {
		a.mustLine("  " + name + ": {lost_paths#} path(s) lost, {unreachable#} host port(s) {|.*}, at most " +
			"{worst_load#} over a link{|.*}")
	}
	a.figure("lost_paths", o.lost)
	a.figure("unreachable", o.gone)
	a.figure("worst_load", o.worst)
	a.figure("changed_entries", o.changed)
	v, _ := a.o.at("worst_at")
	if a.x.compared++; o.worst > 0 && !o.at[fmt.Sprint(v)] || o.worst == 0 && v != nil {
		a.wrong("worst_at", "-", v, o.at)
	}
	want := map[bool]string{true: "loop", false: "none"}[o.loop]
	if said, _ := a.o.at("credit_loop"); said != want && (said != "unknown" || o.certain) {
		a.wrong("credit_loop", "-", said, want)
	}
	a.ignore("credit_loop")
	if vls, is := a.o.at("vls_needed"); is && vls != nil {
		if n := a.intAt("vls_needed"); !o.loop || n < 2 {
			a.wrong("vls_needed", "-", vls, "at least 2, after a loop")
		}
	}
	a.ignore("vls_needed", "number")
}

// without returns the state with one link less, after incremental routing.
func (x *exam) without(s *state, file string, c cable) outcome {
	x.t.Helper()
	again := x.reopen(file)
	for _, command := range []string{fmt.Sprintf("fail link %q", s.plugName(c[0])), "route incremental"} {
		if err := again.do(command); err != nil {
			x.t.Fatalf("%s on a snapshot: %v", command, err)
		}
	}
	after := readState(x.t, again, "staged", s, []change{{failed: []cable{c}}})
	o := outcome{at: map[string]bool{}}
	arrives := map[[2]uint64]map[int]bool{}
	for _, p := range after.everyPath(false) {
		key := [2]uint64{p.src.guid, uint64(p.lid)}
		arrives[key] = map[int]bool{0: p.arrives()}
	}
	for _, p := range s.everyPath(false) {
		if p.arrives() && !arrives[[2]uint64{p.src.guid, uint64(p.lid)}][0] {
			o.lost++
		}
	}
	for p := range s.net.ends(false) {
		o.gone += one(after.net.endByGUID[p.guid] == nil)
	}
	l := after.allToAll(false)
	o.worst = l.worst(after.net)
	for _, p := range after.net.directions(between) {
		if l.paths[p] == o.worst {
			o.at[p.String()] = true
		}
	}
	unread := after.unreadSLs || after.unreadVLs
	o.loop = after.credits(false, unread).cyclic > 0
	o.certain = !o.loop || !unread
	for guid, row := range s.lft {
		for lid := range max(s.top[guid], after.top[guid]) + 1 {
			was, had := row[lid]
			now, has := after.lft[guid][lid]
			o.changed += one(lid > 0 && after.reachable(guid) && s.reachable(guid) && (had != has || was != now))
		}
	}
	return o
}
