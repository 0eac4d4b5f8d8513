// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"strings"
)

// problems compares the problems of the live subnet: paths that do not arrive, by how they end, and a credit loop.
func (x *exam) problems() {
	s := x.state("live")
	a := x.ask("problems all")
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	severities, counted := map[string]int{}, map[string]int{}
	isLoop := false
	for i := range a.o.length("problems") {
		at := fmt.Sprintf("problems.%d.", i)
		what, _ := a.o.at(at + "what")
		severity, _ := a.o.at(at + "severity")
		severities[fmt.Sprint(severity)]++
		for ends, words := range map[string]string{
			deadEnd: " paths end before they arrive", loop: " paths come back to a switch",
			misdelivered: " paths end at a port that does not have the LID",
		} {
			if m := match("{n#}"+words+"{|.*}", fmt.Sprint(what)); m != nil {
				counted[ends] = decimal(m["n"])
			}
		}
		if m := match("{n#} links wait for one another in a ring through {|.*}", fmt.Sprint(what)); m != nil {
			isLoop = true
			counted["ring"] = decimal(m["n"])
		}
		if a.x.compared++; !a.saysWhat(fmt.Sprint(what)) {
			a.wrong(at+"what", "none", what, "the same in text and in JSON")
		}
	}
	for word, key := range map[string]string{"error": "errors", "warning": "warnings", "note": "notes"} {
		a.figure(key, severities[word])
	}
	a.mustLine("problems of live{|.*}: {errors#} error(s), {warnings#} warning(s), {notes#} note(s)")
	for word, key := range map[string]string{"error": "errors", "warning": "warnings", "note": "notes"} {
		a.figure(key, severities[word])
	}
	if s.routed() {
		a.pathProblems(s, counted, isLoop)
	}
}

// saysWhat reports whether a line of the text ends with a problem.
func (a *answer) saysWhat(what string) bool {
	for _, line := range a.lines {
		if strings.HasSuffix(line, what) {
			return true
		}
	}
	return false
}

// pathProblems compares the paths that do not arrive, and the links of a credit loop.
func (a *answer) pathProblems(s *state, counted map[string]int, isLoop bool) {
	r := s.reach(false)
	for _, ends := range []string{deadEnd, loop, misdelivered} {
		if a.x.compared++; counted[ends] != r.by[ends] {
			a.wrong("paths: "+ends, "-", counted[ends], r.by[ends])
		}
	}
	if s.unreadSLs || s.unreadVLs || s.hasUnread() {
		return
	}
	c := s.credits(false, false)
	if a.x.compared++; isLoop != (c.cyclic > 0) || isLoop && counted["ring"] != c.shortest {
		a.wrong("credit loop", "-", counted["ring"], c.shortest)
	}
}
