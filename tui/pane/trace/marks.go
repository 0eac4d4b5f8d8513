// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/pane"
)

func (t *trace) Actions() []pane.Action {
	return []pane.Action{
		{Name: "trace-from", Binding: pane.On("trace packets from the selected or marked nodes, or among the "+
			"hosts of the selected job", "t"), Group: "Trace",
			Label: "from", Rank: 1, Why: t.whyNoEnd, Do: func() tea.Msg {
				return t.markSelected(0)
			}},
		{Name: "trace-to", Binding: pane.On("trace packets to the selected or marked nodes, or to the hosts "+
			"of the selected job", "T"), Group: "Trace",
			After: "trace-from", Label: "to", Rank: 2, Why: t.whyNoEnd, Do: func() tea.Msg {
				return t.markSelected(1)
			}},
		{Name: "trace-back", Binding: pane.On("exchange source and destination", "x"), Group: "Trace",
			After: "trace-to", Label: "reverse path", Rank: 12, Why: t.whyNoTrace, Do: t.exchange},
		{Name: "trace-against",
			Binding: pane.On("choose the state with which the trace is compared: live, base, whatif, staged, or "+
				"the last shown entry of the history", "V"), Group: "Trace", After: "trace-back",
			Label: "compare with", Rank: 12,
			Word: t.againstWord, Own: true, Why: t.whyNoOther, Do: t.nextAgainst},
	}
}

func (t *trace) whyNoEnd() string {
	if _, nodes := t.MarkedNodes(); len(nodes) > 0 {
		return ""
	}
	if job, _ := t.JobSet(); job != "" {
		return ""
	}
	return prose.When(t.Focused().Node == fabric.None, "no switch, host or job is selected", "")
}

// markSelected marks the selected object, or the set of the marked rows or of the selected job, as the source (0) or
// the destination (1) of the trace.
func (t *trace) markSelected(which int) tea.Msg {
	f, nodes := t.MarkedNodes()
	job, create := t.JobSet()
	s := t.Focused()
	switch {
	case len(nodes) > 1:
		chosen := feature.Choose(f, nodes)
		if why := chosen.WhyNoSet(); why != "" {
			return pane.Warn{Text: "the marked rows have " + why}
		}
		t.mark(which, pane.Place{}, 0)
		name := setNames[which]
		t.sets[which] = hostSet{name: name, size: chosen.String(), create: "hosts " + name + " " + chosen.Words}
		t.Unmark()
		return t.traced()
	case len(nodes) == 1:
		s = pane.Subject{Fabric: f, Node: nodes[0], Port: fabric.None}
	case job != "":
		t.mark(which, pane.Place{}, 0)
		if t.sets[which] = (hostSet{name: job, create: create}); which == 0 { // among its hosts
			t.mark(1, pane.Place{}, 0)
			t.sets[1].name = job
		}
		return t.traced()
	}
	var port fabric.PortIndex = fabric.None
	if !s.Fabric.Nodes[s.Node].IsSwitch() {
		port = s.Port
	}
	t.mark(which, pane.PlaceOf(s.Fabric, s.Node, port), 0)
	return t.traced()
}

// traced shows the path between the marked ends, and runs the corresponding trace command.
func (t *trace) traced() tea.Msg {
	t.retrace()
	if t.hasSet() {
		return t.tracedSets()
	}
	if !t.ok {
		return pane.Inform{Text: t.why}
	}
	t.To(t.firstBetween())
	return pane.Several{pane.Open{Name: "Trace"}, pane.Run{Command: t.command()}}
}

func (t *trace) command() string { return "trace " + t.endWords() + t.Scene.OfWord() }

// endWords returns the marked ends in the form that commands accept.
func (t *trace) endWords() string {
	f := t.Scene.Picture.Fabric
	return pane.PortWord(f, t.Ends[0].EndPort(f)) + " " + pane.PortWord(f, t.Ends[1].EndPort(f))
}

// retrace computes the path again.
func (t *trace) retrace() {
	t.Base().Show(kindPath)
	t.Renew()
	t.To(0)
}

func (t *trace) whyNoTrace() string {
	return prose.When(t.unmarked(0) || t.unmarked(1), "there is no trace: t and T mark its ends", "")
}

func (t *trace) exchange() tea.Msg {
	e, sets := t.Ends, t.sets
	t.mark(0, e[1], 0)
	t.mark(1, e[0], 0)
	t.sets = [2]hostSet{sets[1], sets[0]}
	return t.traced()
}

// errKey identifies the counters of a path.
type errKey struct {
	live  *fabric.Fabric
	ports string
}

func (t *trace) errKey() errKey { return errKey{t.Scene.State.Live.Fabric, fmt.Sprint(t.ports())} }

// Seek reads the counters of the ports of the path, if the subnet is online and the session is idle.
func (t *trace) Seek(s pane.Stage) tea.Cmd {
	if !t.ok || t.Scene.State.Source.Offline() || !s.Idle || !s.Visible {
		return nil
	}
	live := t.Scene.State.Live.Fabric
	var ports []fabric.PortIndex
	for _, p := range t.ports() {
		f := t.Scene.Picture.Fabric
		if node, port := pane.PlaceOf(f, f.Ports[p].Node, p).In(live); node != fabric.None && port != fabric.None {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return nil
	}
	return t.reading.Start(t.Common, t.errKey(), func(ctx context.Context, _ func(int, int)) (map[pane.Place]uint64,
		error) {
		r, err := t.src.Counters(ctx, ports...)
		if err != nil {
			return nil, err
		}
		return errorsOf(r), nil
	})
}

func (t *trace) Collect() {
	t.errs = nil
	if t.ok && t.reading.Ready(t.errKey()) {
		t.errs = t.reading.Value
	}
	if t.ok && (t.loads != t.Loads() || t.passage != nil && t.passage.IsOutdated(t.Scene.Picture.Tables, t.Memo)) {
		t.Renew()
	}
}

// UsesSession reports whether the session is reading counters for this pane. Every command interrupts this.
func (t *trace) UsesSession() bool { return t.reading.Doing != nil }

func (t *trace) Release() (wait func()) { return t.reading.CancelAndWait() }

// errorsOf returns the number of errors by port. XmitWait does not count as an error.
func errorsOf(r *counters.Reading) map[pane.Place]uint64 {
	out := map[pane.Place]uint64{}
	for i := range r.Ports {
		p := &r.Ports[i]
		var sum uint64
		for c := range (p.Has & counters.Errors &^ counters.Of(counters.XmitWait)).All() {
			sum += p.Values[c]
		}
		out[pane.PlaceOf(r.Fabric, r.Fabric.Ports[p.Port].Node, p.Port)] = sum
	}
	return out
}
