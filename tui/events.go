// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
)

// events logs changes of the session.
type events struct{ m *model }

const maxNamed = 4 // how many objects of a kind an event names

// report logs the changes since the previous scene: the results of sweeps, and tables that became stale. The argument
// alone is set if no command is running, because a command reports such changes itself.
func (ev *events) report(before *pane.Scene, alone bool) {
	old, st := &before.State, &ev.m.sc.State
	if st.Live != old.Live {
		ev.reportLive(old.Live.Fabric, st.Live.Fabric)
	}
	ev.reportLost(old.Lost, st.Lost)
	if st.Interrupted != "" && st.Interrupted != old.Interrupted {
		ev.add(st.Interrupted)
		if alone {
			ev.m.warn(st.Interrupted)
		}
	}
	if st.Elsewhere != "" && st.Elsewhere != old.Elsewhere {
		ev.add("note: " + st.Elsewhere)
	}
	if st.Stale && !old.Stale && alone {
		ev.add("the staged tables are stale: the subnet has changed; r computes them again")
	}
	if text := diverged(st); text != "" && text != diverged(old) {
		ev.add(text)
		if alone {
			ev.m.warn(text)
		}
	}
	known := map[string]bool{}
	for _, h := range append(append([]string{}, old.Unanswered...), old.Warnings...) {
		known[h] = true
	}
	if st.Unread.Count != old.Unread.Count {
		ev.reportNew("", st.Unread.Lines(maxNamed), nil)
	}
	ev.reportNew("no response: ", st.Unanswered, known)
	ev.reportNew("warning: ", st.Warnings, known)
}

// diverged describes the changes of the live subnet that the default state lacks, "" for none.
func diverged(st *session.State) string { return st.Diverged(st.Default()) }

// reportLost logs that the connection was lost or is working again.
func (ev *events) reportLost(before, now string) {
	switch {
	case before == "" && now != "":
		text := fmt.Sprintf("the connection is lost; what is shown was read at %s: ",
			when.Clock(ev.m.sc.State.Live.When))
		ev.add(text + now)
		ev.m.warn(text + now)
	case before != "" && now == "":
		ev.add("the connection is back; the subnet was read again")
		ev.m.inform("the connection is back; the subnet was read again")
	}
}

func (ev *events) reportNew(label string, list []string, known map[string]bool) {
	shown, more := prose.Cut(slices.DeleteFunc(slices.Clone(list), func(x string) bool { return known[x] }), maxNamed)
	for _, x := range shown {
		ev.add(label + x)
	}
	if more != "" {
		ev.add(label + more + " (show unanswered, summary)")
	}
}

func (ev *events) add(text string) {
	ev.m.note(pane.Line{When: ev.m.now(), Kind: pane.LineEvent, Text: text})
}

// reportLive logs the nodes and links that a new live fabric has lost or gained.
func (ev *events) reportLive(old, live *fabric.Fabric) {
	if len(old.Nodes) == 0 {
		return
	}
	ev.reportNames("node gone", pane.Missing(old, live))
	ev.reportNames("node new", pane.Missing(live, old))
	ev.reportNames("link down", pane.Downs(old, live))
	ev.reportNames("link up", pane.Downs(live, old))
}

func (ev *events) reportNames(what string, names []string) {
	shown, more := prose.Cut(names, maxNamed)
	for _, n := range shown {
		ev.add(what + ": " + n)
	}
	if more != "" {
		ev.add(what + ": " + more)
	}
}
