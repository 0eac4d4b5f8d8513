// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// pathsQuery compares `paths query SRC all`.
func (x *exam) pathsQuery(s *state, src *port) {
	a := x.ask(fmt.Sprintf("paths query guid:0x%x all path of=%s", src.guid, s.name))
	if src.lid == 0 {
		a.fails(fmt.Sprintf("paths query: %v has no LID", src))
		a.done()
		return
	}
	a.mustLine("paths query of {of.title}")
	a.read(s)
	a.row("FROM", "TO", "SL", "MTU", "RATE", "P_KEY", "LIFE", "HOPS", "PATH")
	want := map[int]*path{} // by destination LID
	none := map[string]int{}
	for dst := range s.net.ends(true) {
		if dst == src || dst.lid == 0 { // a path record has LIDs
			continue
		}
		some := false
		for _, lid := range dst.lids() {
			if p := s.walk(src, lid); p.arrives() {
				want[lid] = &p
				some = true
			}
		}
		if !some {
			none[dst.String()]++
		}
	}
	head := a.o
	for _, o := range a.rows("records") {
		a.take(o)
		a.figure("command", "paths query")
		a.figure("answer", 1)
		a.figure("kind", "records")
		a.pathRecord(s, src, want, none)
	}
	a.take(head)
	for lid := range want {
		a.wrong("records", "-", "none", fmt.Sprint("one for LID ", lid))
	}
	for name, n := range none {
		if n > 0 {
			a.wrong("records", "-", "none", "an error for "+name)
		}
	}
	a.succeeds()
	a.done()
}

// pathRecord compares one record, or the error for a destination without one.
func (a *answer) pathRecord(s *state, src *port, want map[int]*path, none map[string]int) {
	if e, _ := a.o.at("error"); e != nil {
		from, to := a.placed("from", s), a.placed("to", s)
		if a.x.compared++; none[to] == 0 || from != src.String() {
			a.wrong("error", "-", e, fmt.Sprint("a path to ", to))
		}
		none[to]--
		a.row(src, to, e)
		a.figure("error", e)
		return
	}
	lids := [2]int{a.intAt("slid"), a.intAt("dlid")}
	p := want[lids[1]]
	if p == nil || !slices.Contains(src.lids(), lids[0]) {
		a.wrong("dlid", "-", lids, "no such record")
		return
	}
	delete(want, lids[1])
	var hops []string
	for _, h := range p.hops {
		if h.node.isSwitch() {
			hops = append(hops, fmt.Sprintf("%s/%d", h.node.name, numberOf(h.out)))
		}
	}
	from, to := fmt.Sprintf("%s lid:%d", a.placed("from", s), lids[0]),
		fmt.Sprintf("%s lid:%d", a.placed("to", s), lids[1])
	owner := s.net.owner[lids[1]]
	a.figure("from.guid", guidText(src.node.guid))
	a.figure("from.port", src.num)
	a.figure("to.guid", guidText(owner.node.guid))
	a.figure("to.port", owner.num)
	a.figure("hops", p.links())
	a.figure("path", hops)
	word := "unknown"
	if sl, _ := a.o.at("sl"); sl != nil {
		word = s.slsText(lids)
		a.figure("sls", word)
		if a.ignore("sl"); !slices.Contains(s.slsOf(lids), a.intAt("sl")) {
			a.wrong("sl", "-", sl, s.slsOf(lids))
		}
	}
	value := func(key string) any { v, _ := a.o.at(key); return v }
	rate := fmt.Sprint(value("gbps"), " Gb/s")
	a.ignore("rate", "life_time", "pkey", "mtu", "sls")
	a.row(from, to, word, value("mtu"), rate, value("pkey"), value("life_time"), p.links(), strings.Join(hops, " "))
}

// pathsBuild compares `paths build`.
func (x *exam) pathsBuild(s *state) {
	file := filepath.Join(x.t.TempDir(), "paths")
	a := x.ask("paths build " + file + " of=" + s.name)
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	ends, lids, switches := 0, 0, 0
	for p := range s.net.ends(true) {
		if p.lid != 0 { // a path record has LIDs
			ends++
			lids += len(p.lids())
		}
	}
	for _, n := range s.whole.nodes {
		if n.isSwitch() {
			switches++
		}
	}
	a.mustLine("path records of {of.title}, built in {|.*}")
	a.read(s)
	a.mustLine("{file}: {size}, path records of {ports#} port(s) ({lids#} LID(s)) by {origin}, state {state#}")
	a.figure("file", file)
	a.figure("ports", ends)
	a.figure("lids", lids)
	a.figure("switches", switches)
	a.mustLine("  records {|.*} {rows#} row(s) of sources, {classes#} kind(s) of paths")
	for _, key := range []string{"rows", "classes", "state"} { // of the form of the file
		a.figure(key, a.intAt(key))
	}
	origin, _ := a.o.at("origin")
	a.figure("origin", origin)
	for _, what := range []string{"ports, LIDs and other tables", "traces", "checksums and older states"} {
		a.mustLine("  " + what + " {|.*}")
	}
	a.ignore("built", "seconds", "table_bytes", "record_bytes", "trace_bytes", "rest_bytes", "bytes")
	a.succeeds()
	a.done()
}
