// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
)

// maxNamed is how many things of a kind an event names.
const maxNamed = 4

// tell logs what changed in the session since the scene before: what sweeps
// found, and tables that went stale. alone says that no command runs, which
// would tell that itself.
func (m *model) tell(before *scene, alone bool) {
	old, st := &before.st, &m.sc.st
	if st.Live != old.Live {
		m.tellLive(old.Live.Fabric, st.Live.Fabric)
	}
	m.tellLost(old.Lost, st.Lost)
	if st.Interrupted != "" && st.Interrupted != old.Interrupted {
		m.event(st.Interrupted)
		if alone {
			m.warn(st.Interrupted)
		}
	}
	if st.Stale && !old.Stale && alone {
		m.event("the staged tables are stale: the fabric under them has changed; r routes again")
	}
	known := map[string]bool{}
	for _, h := range append(append([]string{}, old.Unanswered...), old.Warnings...) {
		known[h] = true
	}
	m.tellNew("no answer: ", st.Unanswered, known)
	m.tellNew("warning: ", st.Warnings, known)
}

// tellLost says that the connection is lost, what is shown then, and that it is back.
func (m *model) tellLost(before, now string) {
	switch {
	case before == "" && now != "":
		text := fmt.Sprintf("the connection is lost; what is shown was read at %s: ", m.sc.st.Live.When.Format(time.TimeOnly))
		m.event(text + now)
		m.warn(text + now)
	case before != "" && now == "":
		m.event("the connection is back, and the subnet was read again")
		m.inform("the connection is back, and the subnet was read again")
	}
}

func (m *model) tellNew(label string, list []string, known map[string]bool) {
	shown, more := prose.Cut(slices.DeleteFunc(slices.Clone(list), func(x string) bool { return known[x] }), maxNamed)
	for _, x := range shown {
		m.event(label + x)
	}
	if more != "" {
		m.event(label + more + " (show holes, summary)")
	}
}

func (m *model) event(text string) {
	m.log.add(logLine{when: m.now(), kind: lineEvent, text: text})
}

// tellLive says which nodes and links a new live fabric has lost or gained.
func (m *model) tellLive(old, live *fabric.Fabric) {
	if m.seen == nil || len(m.seen.Nodes) == 0 {
		m.seen = live
		return
	}
	m.namesOf("node gone", missing(old, live))
	m.namesOf("node new", missing(live, old))
	m.namesOf("link down", downs(old, live))
	m.namesOf("link up", downs(live, old))
	m.lost = len(downPorts(m.seen, live))
	if m.problems.lost = lostLinks(m.seen, live); len(m.problems.lost) == 0 {
		m.seen = live
	}
}

func (m *model) namesOf(what string, names []string) {
	shown, more := prose.Cut(names, maxNamed)
	for _, n := range shown {
		m.event(what + ": " + n)
	}
	if more != "" {
		m.event(what + ": " + more)
	}
}

// missing names the nodes of f that g has not.
func missing(f, g *fabric.Fabric) []string {
	var out []string
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet && g.NodeByGUID(f.Nodes[i].GUID) == fabric.None {
			out = append(out, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return out
}

// downs names the links of f that are not in g.
func downs(f, g *fabric.Fabric) []string {
	var out []string
	for _, p := range downPorts(f, g) {
		out = append(out, f.PortName(p)+" -- "+f.PortName(f.Ports[p].Peer))
	}
	return out
}

// downPorts are ports of f, one for each link, whose links are not in g. O(ports).
func downPorts(f, g *fabric.Fabric) []fabric.PortIndex {
	var out []fabric.PortIndex
	for i := range f.Nodes {
		n := &f.Nodes[i]
		other := g.NodeByGUID(n.GUID)
		for p := range n.Slots() {
			if f.Ports[p].Peer <= p {
				continue
			}
			var q fabric.PortIndex = fabric.None
			if other != fabric.None {
				q = g.PortAt(other, int(f.Ports[p].Num))
			}
			if q == fabric.None || !g.Ports[q].Linked() {
				out = append(out, p)
			}
		}
	}
	return out
}
