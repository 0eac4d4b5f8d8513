// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// tour guides the user through a session, step by step.
type tour struct {
	step  int
	names [2]string // the hosts between which the tour traces
}

// tourStop is a step of the tour: a task for the user, and a function that reports whether the task is done.
type tourStop struct {
	text func(t *tour) string
	keys func(t *tour) []string // which do it
	done func(m *model) bool
}

func tourSteps() []tourStop {
	fixed := func(s string) func(*tour) string { return func(*tour) string { return s } }
	keys := func(k ...string) func(*tour) []string { return func(*tour) []string { return k } }
	return []tourStop{
		{text: func(t *tour) string {
			return fmt.Sprintf("Find a host: press 2 for the topology, then / and type %s, then Enter.", t.names[0])
		}, keys: func(t *tour) []string { return []string{"2", "/", t.names[0], "enter"} },
			done: func(m *model) bool { return m.prompt.typed == nil && m.pages.over == nil && tourAt(m, 0) }},
		{text: fixed("Press t: this is the source of the packets."), keys: keys("t"), done: func(m *model) bool {
			return !m.Ends[0].None()
		}},
		{text: func(t *tour) string {
			return fmt.Sprintf("Now the destination: / and %s, Enter, then T. The trace is shown.", t.names[1])
		}, keys: func(t *tour) []string {
			return []string{"/", t.names[1], "enter", "T"}
		}, done: func(m *model) bool { return m.Traced(m.sc) != "" }},
		{text: fixed("This is the path, hop by hop: ports, link, paths over it, errors. The cursor is on the " +
			"first link between switches. What if it fails? Press f."),
			keys: keys("f"), done: func(m *model) bool { return len(m.st.Failures) > 0 }},
		{text: fixed("The failure is simulated: nothing was written. The old routes lose packets; the frame shows " +
			"WHAT-IF. Press r to compute new routes."),
			keys: keys("r"), done: func(m *model) bool { return m.st.Staged != nil && !m.st.Stale }},
		{text: fixed("The new routes are STAGED, not written. Press 5 to compare before and after: pairs lost, " +
			"changed entries, the busiest link."),
			keys: keys("5"), done: func(m *model) bool {
				return m.pane().About().Name == "What-if" && m.pane().Base().Size > 1
			}},
		{text: fixed("Press 4 for the trace over another spine, and its live path below it."), keys: keys("4"),
			done: func(m *model) bool {
				return m.hasFocus(pane.SeatTrace)
			}},
		{text: fixed("Press u to undo the failure."), keys: keys("u"), done: func(m *model) bool {
			return len(m.st.Failures) == 0
		}},
		{text: fixed("That was the tour. C shows what a commit would write, 6 the busiest links, ? all keys. Press " +
			"Ctrl-G to end it."),
			keys: keys("ctrl+g"), done: func(*model) bool { return false }},
	}
}

func toggleTour(m *model) tea.Cmd {
	if m.tour != nil {
		m.tour = nil
		m.inform("the tour has ended")
		m.fit()
		return nil
	}
	m.tour = &tour{names: tourHosts(m)}
	if m.pages.onPage() {
		m.pages.cover(nil)
	}
	m.fit()
	return nil
}

// tourHosts returns the words with which two hosts on different switches can be typed.
func tourHosts(m *model) [2]string {
	f := m.sc.Top.Fabric
	var first fabric.NodeIndex = fabric.None
	names := [2]string{"node-0001", "node-0050"}
	var last fabric.NodeIndex = fabric.None
	for node := range f.Nodes {
		n := fabric.NodeIndex(node)
		if f.Nodes[n].IsSwitch() || !f.Nodes[n].InSubnet {
			continue
		}
		if first == fabric.None {
			first = n
		}
		if a, _ := f.AttachedSwitch(pane.FirstLinked(f, n)); a != fabric.None {
			if b, _ := f.AttachedSwitch(pane.FirstLinked(f, first)); a != b {
				last = n
			}
		}
	}
	if first != fabric.None && last != fabric.None {
		names = [2]string{draw.FirstWord(f.NodeName(first)), draw.FirstWord(f.NodeName(last))}
	}
	return names
}

// tourAt reports whether the given host of the tour is selected in the topology.
func tourAt(m *model, which int) bool {
	s := m.pane().Subject()
	return m.hasFocus(pane.SeatHome) && s.Node != fabric.None && draw.FirstWord(s.Fabric.NodeName(s.Node)) ==
		m.tour.names[which]
}

// tourStep goes to the next step of the tour if the present step is done.
func tourStep(m *model) {
	if m.tour == nil {
		return
	}
	if m.tour.step == 0 && len(m.sc.Top.Fabric.Nodes) > 0 {
		m.tour.names = tourHosts(m)
	}
	if steps := tourSteps(); steps[m.tour.step].done(m) {
		m.tour.step = min(m.tour.step+1, len(steps)-1)
	}
}

// tourRows returns the number of lines that the tour takes.
func tourRows(m *model) int { return prose.When(m.tour == nil || m.height < tabsFrom, 0, 3) }

func (v *view) tourLines(w int) []string {
	rows := tourRows(v.m)
	if rows == 0 {
		return nil
	}
	steps := tourSteps()
	t := v.m.Look
	text := draw.Wrap(steps[v.m.tour.step].text(v.m.tour), w-8)
	var out []string
	for i := range rows {
		p := draw.NewPen(t, w)
		if i == 0 {
			p.Badge(t.Frozen, fmt.Sprintf("%d/%d", v.m.tour.step+1, len(steps)))
		} else {
			p.Gap(5)
		}
		p.Gap(1)
		if i < len(text) {
			p.Put(t.Strong, text[i])
		}
		out = append(out, p.Done())
	}
	return out
}
