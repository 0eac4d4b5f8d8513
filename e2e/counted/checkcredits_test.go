// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strings"
)

// checkCredits compares `check credits`.
func (x *exam) checkCredits(s *state, switches bool) {
	a := x.ask(fmt.Sprintf("check credits of=%s%s", s.name, switchesWord(switches)))
	if a.o == nil {
		return
	}
	// If SLs or VLs were not read, all packets count as packets of one VL.
	unread := s.unreadSLs || s.unreadVLs
	c := s.credits(switches, unread)
	vls := "{vls#} VL(s)"
	if unread {
		vls = "unknown VLs"
		a.figure("vls", nil)
	} else {
		a.figure("vls", c.least())
	}
	a.mustLine("credits of {of.title}: {channels#} channel(s) between switches on " + vls +
		", {dependencies#} dependencies")
	a.figure("channels", len(c.channels))
	a.figure("dependencies", c.dependencies())
	switch isLoop, _ := a.o.at("loop"); {
	case c.cyclic == 0 && s.hasUnread():
		a.unknownLoop(s)
	case c.cyclic == 0:
		a.mustLine("  no credit loop")
		a.figure("loop", false)
		a.judged(s, "ok")
		a.figure("channels_in_loops", 0)
		a.figure("groups_of_loops", 0)
		a.noRing()
		a.succeeds()
	case unread && isLoop == nil:
		a.unknownLoop(s)
	case unread:
		a.line("  {channels_in_loops#} channel(s) on credit loops; a shortest one:")
		a.ignore("channels_in_loops", "groups_of_loops")
		a.figure("loop", true)
		a.judged(s, "found")
		a.ring(s, c, 0)
	default:
		a.mustLine("  {channels_in_loops#} channel(s) on credit loops; a shortest one:")
		a.figure("loop", true)
		a.judged(s, "found")
		a.figure("channels_in_loops", c.cyclic)
		a.figure("groups_of_loops", c.groups)
		a.ring(s, c, c.shortest)
	}
	a.line("  SLs and VLs avoid the loop; hint: run '{cure}'")
	if cure, _ := a.o.at("cure"); cure != nil {
		a.figure("cure", cure)
	}
	a.ignore("seconds")
	a.done()
}

// least returns the number of VLs, or one if there are paths but none passes two switches.
func (c *creditFigures) least() int { return max(1, c.vls) }

// unknownLoop compares an answer in which it is unknown whether there is a loop.
func (a *answer) unknownLoop(s *state) {
	a.mustLine("  credit loop: unknown: {why}")
	a.figure("loop", nil)
	a.judged(s, "unknown")
	a.ignore("loop", "why", "try")
	a.figure("channels_in_loops", 0)
	a.figure("groups_of_loops", 0)
	a.noRing()
	a.fails("check credits: whether there is a credit loop is unknown: {|.*}")
}

// hasUnread reports whether the table of a switch of the subnet was not read.
func (s *state) hasUnread() bool {
	return slices.ContainsFunc(s.net.nodes, func(n *node) bool { return n.isSwitch() && s.lft[n.guid] == nil })
}

func (a *answer) noRing() {
	if n := a.o.length("ring"); n != 0 {
		a.wrong("ring", "-", n, 0)
	}
}

// ring compares the links of a loop: each waits for the next, with packets that exist.
func (a *answer) ring(s *state, c *creditFigures, shortest int) {
	n := a.o.length("ring")
	a.fails("check credits: a credit loop of {links#} link(s)", "links", n)
	if a.x.compared++; shortest > 0 && n != shortest {
		a.wrong("ring", "-", n, shortest)
	}
	channels := map[string]channel{}
	for ch := range c.channels {
		channels[fmt.Sprintf("%v -> %v VL %d", ch.out, ch.out.peer, ch.vl)] = ch
	}
	var around []channel
	for i := range n {
		at := fmt.Sprintf("ring.%d.", i)
		value := func(key string) string { v, _ := a.o.at(at + key); return fmt.Sprint(v) }
		from, to := a.placed(at+"from", s), a.placed(at+"to", s)
		name := fmt.Sprintf("%s -> %s VL %s", from, to, value("vl"))
		if s.unreadSLs || s.unreadVLs {
			name = name[:strings.LastIndex(name, " ")] + " 0"
		}
		ch, is := channels[name]
		if !is {
			a.wrong(at, "-", name, "no such channel")
			return
		}
		around = append(around, ch)
		a.mustLine(fmt.Sprintf("    %s -> %s VL {%svl#}   waits for the next with %s -> %s (LID {%slid#}) SL {%ssls}",
			from, to, at, a.placed(at+"src", s), a.placed(at+"dst", s), at, at))
		for _, key := range []string{"vl", "lid", "sl"} {
			a.figure(at+key, a.intAt(at+key))
		}
		a.figure(at+"sls", value("sls"))
	}
	for i, ch := range around {
		at := fmt.Sprintf("ring.%d", i)
		w := waits{ch, around[(i+1)%n]}
		a.x.compared++
		if !a.holds(s, c, w, at) {
			a.wrong(at, "-", fmt.Sprint(a.o.value["ring"].([]any)[i]), "no such packet holds the link and waits for "+
				"the next")
		}
	}
}

// holds reports whether the packets in the JSON hold one channel and wait for the next.
func (a *answer) holds(s *state, c *creditFigures, w waits, at string) bool {
	src, dst := a.placed(at+".src", s), a.placed(at+".dst", s)
	lid, sl := a.intAt(at+".lid"), a.intAt(at+".sl")
	sls, _ := a.o.at(at + ".sls")
	for p := range c.holds[w] {
		if p.src.String() == src && p.lid == lid && (p.sl == sl && s.mayHave(p.src, lid, sl, fmt.Sprint(sls)) ||
			s.unreadSLs) && s.net.owner[lid].String() == dst {
			return true
		}
	}
	return false
}

// mayHave reports whether packets from a LID of a port to a LID may have an SL, and have the SLs of the text.
func (s *state) mayHave(src *port, lid, sl int, all string) bool {
	if s.sl2vl == nil || s.sls == nil {
		return all == fmt.Sprint(sl)
	}
	return slices.ContainsFunc(src.lids(), func(slid int) bool {
		pair := [2]int{slid, lid}
		return s.slsText(pair) == all && slices.Contains(s.slsOf(pair), sl)
	})
}
