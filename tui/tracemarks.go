// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
)

func (t *trace) actions() []action {
	return []action{
		{name: "trace-from", keys: []string{"t"}, group: "Trace", label: "from", rank: 1, help: "trace packets from what is selected", why: t.whyNoEnd, do: func() tea.Msg { return t.markSelected(0) }},
		{name: "trace-to", keys: []string{"T"}, group: "Trace", after: "trace-from", label: "to", rank: 2, help: "trace packets to what is selected", why: t.whyNoEnd, do: func() tea.Msg { return t.markSelected(1) }},
		{name: "trace-back", keys: []string{"x"}, group: "Trace", after: "trace-to", label: "way back", rank: 12, help: "exchange source and destination", why: t.whyNoTrace, do: t.exchange},
	}
}

func (t *trace) whyNoEnd() string {
	if t.selected().node == fabric.None {
		return "no switch or host is selected"
	}
	return ""
}

// markSelected makes what is selected the source (0) or the destination (1) of the trace.
func (t *trace) markSelected(which int) tea.Msg {
	s := t.selected()
	var port fabric.PortIndex = fabric.None
	if !s.f.Nodes[s.node].IsSwitch() {
		port = s.port
	}
	t.mark(which, placeOf(s.f, s.node, port), 0)
	return t.traced()
}

// traced shows the trace between the marked ends, and says the command for it
// where there are both.
func (t *trace) traced() tea.Msg {
	t.retrace()
	if !t.ok {
		return informMsg{t.why}
	}
	t.To(t.firstBetween())
	return severalMsg{openMsg{"Trace"}, runMsg{t.command()}}
}

func (t *trace) command() string {
	f := t.sc.pic.Fabric
	return fmt.Sprintf("trace %s %s%s", portWord(f, t.ends[0].endPort(f)), portWord(f, t.ends[1].endPort(f)), t.sc.ofWord())
}

// retrace follows the path anew.
func (t *trace) retrace() {
	t.renew()
	t.To(0)
}

func (t *trace) whyNoTrace() string {
	if t.ends[0].none() || t.ends[1].none() {
		return "there is no trace: t and T mark its ends"
	}
	return ""
}

func (t *trace) exchange() tea.Msg {
	e := t.ends
	t.mark(0, e[1], 0)
	t.mark(1, e[0], 0)
	return t.traced()
}

// errKey is a path whose counters are read.
type errKey struct {
	live  *fabric.Fabric
	ports string
}

func (t *trace) errKey() errKey { return errKey{t.sc.st.Live.Fabric, fmt.Sprint(t.ports())} }

// seek reads what the ports of the path have counted, where there is a subnet that can
// be asked and nothing else runs.
func (t *trace) seek(s stage) tea.Cmd {
	if !t.ok || t.sc.st.Source.Offline() || !s.idle || !s.visible {
		return nil
	}
	live := t.sc.st.Live.Fabric
	var ports []fabric.PortIndex
	for _, p := range t.ports() {
		f := t.sc.pic.Fabric
		if node, port := placeOf(f, f.Ports[p].Node, p).in(live); node != fabric.None && port != fabric.None {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return nil
	}
	return t.reading.want(t.common, t.errKey(), func(ctx context.Context, _ func(int, int)) (map[place]uint64, error) {
		r, err := t.src.Counters(ctx, ports...)
		if err != nil {
			return nil, err
		}
		return errorsOf(r), nil
	})
}

func (t *trace) collect() {
	t.errs = nil
	if t.ok && t.reading.ready(t.errKey()) {
		t.errs = t.reading.value
	}
}

// holding reports whether the session reads counters for the trace; that gives way to
// every command.
func (t *trace) holding() bool { return t.reading.doing != nil }

func (t *trace) yield() (wait func()) { return t.reading.halt() }

// errorsOf sums up the errors of ports; waiting to send is none.
func errorsOf(r *counters.Reading) map[place]uint64 {
	out := map[place]uint64{}
	for i := range r.Ports {
		p := &r.Ports[i]
		var sum uint64
		for c := range (p.Has & counters.Errors &^ counters.Of(counters.XmitWait)).All() {
			sum += p.Values[c]
		}
		out[placeOf(r.Fabric, r.Fabric.Ports[p.Port].Node, p.Port)] = sum
	}
	return out
}
