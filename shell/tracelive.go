// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// traceLive asks the switches about a pair of the live fabric, and compares with the path between the same ports in a
// picture.
func (c *call) traceLive(st *session.State, p *session.Picture, noTables error, pair session.Pair) error {
	if err := session.Addressed(st.Live.Fabric, pair); err != nil {
		return err
	}
	var path livetrace.Path
	if err := c.session.TraceLive(c.ctx, []session.Pair{pair}, func(_ int, p *livetrace.Path) { path = *p }); err != nil {
		return err
	}
	answer := liveAnswerOf(st.Live.Fabric, &path)
	answer.Adaptive = adaptive(st)
	if err := c.countErrors(st.Live.Fabric, &path, answer); err != nil {
		return err
	}
	if noTables == nil {
		answer.Parts = partsBeside(st, &path, p, pair)
		if answer.Parts == "" {
			answer.SameAs = st.Title(p)
		}
	}
	if err := c.out.Answer(answer); err != nil {
		return err
	}
	return c.judgeTrace(answer)
}

// countErrors adds what the ports by which a packet comes and leaves have counted,
// and which of them did not tell: counters are asked for by LID, through the tables.
func (c *call) countErrors(f *fabric.Fabric, path *livetrace.Path, answer *traceAnswer) error {
	places := map[fabric.PortIndex][]*string{}
	var ports []fabric.PortIndex
	at := func(h *livetrace.Hop, num int, text *string) {
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
	}
	for i := range path.Hops {
		h := &path.Hops[i]
		at(h, h.In, &answer.Hops[i].InErrors)
		at(h, h.Out, &answer.Hops[i].Errors)
	}
	if len(ports) == 0 {
		return nil
	}
	reading, deltas, err := c.session.Counters(c.ctx, ports...)
	if err != nil {
		return err
	}
	for _, h := range reading.Unanswered {
		answer.Unread = append(answer.Unread, h.String())
	}
	grown := map[fabric.PortIndex]*counters.Delta{}
	for i := range deltas {
		grown[deltas[i].Port] = &deltas[i]
	}
	for i := range reading.Ports {
		p := &reading.Ports[i]
		for _, text := range places[p.Port] {
			*text = strings.Join(feature.CounterTexts(p, p.Beyond(&counters.Values{}), grown[p.Port], nil), ", ")
		}
	}
	return nil
}

// partsBeside returns where the live path of a pair leaves the path between the same ports in a picture, "" where it does not.
func partsBeside(st *session.State, live *livetrace.Path, p *session.Picture, pair session.Pair) string {
	there, err := pair.In(st.Live.Fabric, p.Fabric)
	if err != nil {
		return fmt.Sprintf("parts from %s: %v", st.Title(p), err)
	}
	planned := there.Trace(p.Tables)
	return parts(st.Live.Fabric, live, p.Fabric, &planned, st.Title(p))
}

// parts says where a live path leaves that of a picture, "" where it does not.
func parts(f *fabric.Fabric, live *livetrace.Path, g *fabric.Fabric, planned *walk.Path, title string) string {
	for i := range live.Hops {
		h := &live.Hops[i]
		if i == len(planned.Hops) {
			return fmt.Sprintf("parts from %s: there the path ends before %s", title, h.Name(f))
		}
		want := planned.Hops[i]
		switch {
		case g.Nodes[want.Node].GUID != h.GUID:
			return fmt.Sprintf("parts from %s: there %s comes next, not %s", title, g.NodeName(want.Node), h.Name(f))
		case outOf(g, want.Out) != h.Out:
			return fmt.Sprintf("parts from %s at %s: %s there, %s now", title, h.Name(f), byPort(outOf(g, want.Out)), byPort(h.Out))
		}
	}
	if len(planned.Hops) > len(live.Hops) {
		return fmt.Sprintf("parts from %s: there the path goes on to %s", title, g.NodeName(planned.Hops[len(live.Hops)].Node))
	}
	return ""
}

// outOf is the number of the port by which a hop leaves; a switch that keeps a
// packet does not let it leave.
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
