// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/live"
	"example.org/ibconsole/shell/session/pairs"
)

// liveTitle is the title of the state in which paths use the present tables of the switches.
const liveTitle = "the switches now"

// liveBasis returns the basis of answers about paths through the present tables of the switches.
func liveBasis(st *session.State) answer.Basis {
	b := st.Basis(st.Live, 0)
	b.Title = liveTitle
	return b
}

// traceLive traces a pair by requests to the switches. It compares the result with the path between the same ports in a
// state.
func traceLive(c *feature.Call, st *session.State, s *session.Picture, noTables error, r *request) error {
	pair := r.pairs[0]
	if err := pairs.Addressed(st.Live.Fabric, pair); err != nil {
		return err
	}
	var of livetrace.Path
	if err := live.Trace(c.Ctx, c.Session, []pairs.Pair{pair}, func(_ int, p *livetrace.Path) { of = *p }); err != nil {
		return err
	}
	p := livePath(st, &of)
	p.basis.Warnings = append(p.basis.Warnings, r.warnings...)
	p.Adaptive = adaptive(st)
	if err := p.countErrors(c, st.Live.Fabric, &of); err != nil {
		return err
	}
	if noTables == nil {
		p.Parts = answer.Optional(liveDifference(st, &of, s, pair))
		if p.Parts.IsNone() {
			p.SameAs = answer.Text(st.Title(s))
		}
	}
	return c.Answer(pathDecl.Answer(p.basis, p))
}

// livePath returns the answer for a path that was traced by requests to the switches.
func livePath(st *session.State, of *livetrace.Path) *path {
	f := st.Live.Fabric
	p := &path{
		From: answer.Port(f, of.Src), To: answer.Port(f, f.PortByLID(of.LID)),
		ToName: feature.DestinationName(f, of.LID), LID: of.LID, result: liveResult(f, of), basis: liveBasis(st),
	}
	for i := range of.Hops {
		h := &of.Hops[i]
		x := hop{
			Node: liveNode(f, h), In: portNumber(f, h.Node, h.In), Out: portNumber(f, h.Node, h.Out),
			InLabel:  answer.PortLabel(f, portOf(f, h.Node, h.In)),
			OutLabel: answer.PortLabel(f, portOf(f, h.Node, h.Out)),
			Link:     answer.Optional(h.Sends.String()), InLink: answer.Optional(h.Receives.String()),
			name: h.Name(f), lead: answer.Lead{GUID: h.GUID},
		}
		switch {
		case i == 0:
			x.LID = f.Ports[of.Src].LID
		case h.Node != fabric.None:
			x.LID = hopLID(f, h)
		}
		p.hops = append(p.hops, x)
	}
	noteSilent(&p.basis, f, of)
	return p
}

func liveResult(f *fabric.Fabric, of *livetrace.Path) result {
	return result{of.Verdict.String(), of.Verdict == livetrace.Delivered, of.Explain(f)}
}

// noteSilent adds the node that did not respond to a basis.
func noteSilent(b *answer.Basis, f *fabric.Fabric, of *livetrace.Path) {
	if of.Verdict == livetrace.Silent && len(of.Hops) > 0 {
		place, _ := liveNode(f, &of.Hops[len(of.Hops)-1]).Place()
		b.Unread.Note("node", "no response", 1, place)
	}
}

// portNumber returns the number of a port of a node, which may be [fabric.None] for an unknown node.
func portNumber(f *fabric.Fabric, node fabric.NodeIndex, num int) answer.Value {
	switch port := portOf(f, node, num); {
	case num == livetrace.NoPort:
		return answer.None()
	case port == fabric.None:
		return answer.Int(num)
	default:
		return answer.PortNumber(f, port)
	}
}

func portOf(f *fabric.Fabric, node fabric.NodeIndex, num int) fabric.PortIndex {
	if node == fabric.None {
		return fabric.None
	}
	return f.PortAt(node, num)
}

// hopLID returns the LID of the end port of a hop whose node is known.
func hopLID(f *fabric.Fabric, h *livetrace.Hop) uint16 {
	num := 0
	if !f.Nodes[h.Node].IsSwitch() {
		num = max(h.In, h.Out)
	}
	if port := f.PortAt(h.Node, num); port != fabric.None {
		return f.Ports[port].LID
	}
	return 0
}

// countErrors adds the error counters of the ports through which packets enter and leave nodes. It lists the ports that
// did not respond. The requests for counters use LID routing, so they depend on the tables.
func (p *path) countErrors(c *feature.Call, f *fabric.Fabric, of *livetrace.Path) error {
	places := map[fabric.PortIndex][]*answer.Value{}
	var ports []fabric.PortIndex
	at := func(h *livetrace.Hop, num int, text *answer.Value) {
		if h.Node == fabric.None || num <= 0 {
			return
		}
		port := f.PortAt(h.Node, num)
		if port == fabric.None || f.Ports[f.EndPortOf(port)].LID == 0 {
			return
		}
		if places[port] == nil {
			ports = append(ports, port)
		}
		places[port] = append(places[port], text)
		*text = answer.NotRead()
	}
	for i := range of.Hops {
		h := &of.Hops[i]
		at(h, h.In, &p.hops[i].InErrors)
		at(h, h.Out, &p.hops[i].Errors)
	}
	if len(ports) == 0 {
		return nil
	}
	reading, deltas, err := c.Session.Counters(c.Ctx, ports...)
	if err != nil {
		return err
	}
	for _, h := range reading.Unanswered {
		p.unread = append(p.unread, h.String())
	}
	grown := map[fabric.PortIndex]*counters.Delta{}
	for i := range deltas {
		grown[deltas[i].Port] = &deltas[i]
	}
	for i := range reading.Ports {
		port := &reading.Ports[i]
		for _, text := range places[port.Port] {
			*text = answer.Optional(strings.Join(feature.CounterTexts(port, port.Beyond(&counters.Values{}),
				grown[port.Port], nil), ", "))
		}
	}
	return nil
}

// liveDifference describes how the live path of a pair differs from the path between the same ports in a state. It
// returns "" if they are equal.
func liveDifference(st *session.State, live *livetrace.Path, s *session.Picture, pair pairs.Pair) string {
	there, err := pair.In(st.Live.Fabric, s.Fabric)
	if err != nil {
		return fmt.Sprintf("differs from %s: %v", st.Title(s), err)
	}
	planned := there.Trace(s.Tables)
	return difference(st.Live.Fabric, live, s.Fabric, &planned, st.Title(s))
}

// difference describes the first difference between a live path and the planned path in a state. It returns "" if they
// are equal.
func difference(f *fabric.Fabric, live *livetrace.Path, g *fabric.Fabric, planned *walk.Path, title string) string {
	for i := range live.Hops {
		h := &live.Hops[i]
		if i == len(planned.Hops) {
			return fmt.Sprintf("differs from %s: there the path ends before %s", title, h.Name(f))
		}
		want := planned.Hops[i]
		switch {
		case g.Nodes[want.Node].GUID != h.GUID:
			return fmt.Sprintf("differs from %s: there %s is next, not %s", title, g.NodeName(want.Node), h.Name(f))
		case outOf(g, want.Out) != h.Out:
			return fmt.Sprintf("differs from %s at %s: %s there, %s now", title, h.Name(f), byPort(outOf(g, want.Out)),
				byPort(h.Out))
		}
	}
	if len(planned.Hops) > len(live.Hops) {
		return fmt.Sprintf("differs from %s: there the path continues to %s", title,
			g.NodeName(planned.Hops[len(live.Hops)].Node))
	}
	return ""
}

// outOf returns the number of the port through which packets leave a node. It returns NoPort for a switch that is the
// destination.
func outOf(f *fabric.Fabric, port fabric.PortIndex) int {
	if port == fabric.None || f.Ports[port].Num == 0 {
		return livetrace.NoPort
	}
	return int(f.Ports[port].Num)
}

func byPort(n int) string {
	if n == livetrace.NoPort {
		return "no port"
	}
	return fmt.Sprintf("port %d", n)
}
