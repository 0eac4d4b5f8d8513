// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/pane"
)

const maxNamed = 4 // how many things of a kind an event names

// tell logs what changed in the session since the scene before: what sweeps found, and tables that went
// stale. alone says that no command runs, which would tell that itself.
func (m *model) tell(before *pane.Scene, alone bool) {
	old, st := &before.State, &m.sc.State
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
	if st.Unread.Count != old.Unread.Count {
		m.tellNew("", st.Unread.Lines(maxNamed), nil)
	}
	m.tellNew("no answer: ", st.Unanswered, known)
	m.tellNew("warning: ", st.Warnings, known)
}

// tellLost says that the connection is lost, what is shown then, and that it is back.
func (m *model) tellLost(before, now string) {
	switch {
	case before == "" && now != "":
		text := fmt.Sprintf("the connection is lost; what is shown was read at %s: ", m.sc.State.Live.When.Format(time.TimeOnly))
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
		m.event(label + more + " (show unanswered, summary)")
	}
}

func (m *model) event(text string) {
	m.note(pane.Line{When: m.now(), Kind: pane.LineEvent, Text: text})
}

// tellLive says which nodes and links a new live fabric has lost or gained.
func (m *model) tellLive(old, live *fabric.Fabric) {
	if len(old.Nodes) == 0 {
		return
	}
	m.namesOf("node gone", pane.Missing(old, live))
	m.namesOf("node new", pane.Missing(live, old))
	m.namesOf("link down", pane.Downs(old, live))
	m.namesOf("link up", pane.Downs(live, old))
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
