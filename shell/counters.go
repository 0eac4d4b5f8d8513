// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func counterCommands() []spec {
	return []spec{{
		Name: "clear", Summary: "set something to 0 in the subnet", Subcommands: []spec{
			{Name: "counters", Summary: "the error counters of a node's ports, or of all; this writes to the subnet", Run: runClear,
				Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
				Options: []lang.Option{{Name: "data", Kind: lang.KindFlag, Summary: "the counters of packets and data, too"}}},
		}}}
}

// portsOf are the ports that a place names, nil for none: a node's name stands for
// all its ports.
func (c *call) portsOf(f *fabric.Fabric) ([]fabric.PortIndex, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	p, err := session.Resolve(f, c.Arg(0))
	if err != nil {
		return nil, err
	}
	if p.PortNamed {
		return []fabric.PortIndex{p.Port}, nil
	}
	var ports []fabric.PortIndex
	for _, port := range counters.AllPorts(f) {
		if f.Ports[port].Node == p.Node {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

type counterRow struct {
	Port     string             `json:"port"`
	Peer     string             `json:"peer,omitempty"`
	Counters map[string]uint64  `json:"counters"`
	PerSec   map[string]float64 `json:"per_second,omitempty"`
	texts    []string
}

func (r *counterRow) Cells() []any { return []any{r.Port, r.Peer, strings.Join(r.texts, ", ")} }

// showCounters lists ports with errors; of the ports that are named, everything.
func (c *call) showCounters() error {
	f := c.session.State().Live.Fabric
	ports, err := c.portsOf(f)
	if err != nil {
		return err
	}
	reading, deltas, err := c.session.Counters(c.ctx, ports...)
	if err != nil {
		return err
	}
	grown := map[fabric.PortIndex]*counters.Delta{}
	for i := range deltas {
		grown[deltas[i].Port] = &deltas[i]
	}
	var rows []*counterRow
	for i := range reading.Ports {
		p := &reading.Ports[i]
		which := p.Has
		everything := ports != nil || c.Flag("all")
		if !everything {
			which = p.Beyond(&counters.Values{})
		}
		row := &counterRow{Port: f.PortName(p.Port), Counters: map[string]uint64{}}
		if peer := f.Ports[p.Port].Peer; peer != fabric.None {
			row.Peer = f.PortName(peer)
		}
		row.texts = counterTexts(p, which, grown[p.Port], row)
		switch {
		case len(row.texts) > 0:
		case !everything:
			continue
		default:
			row.texts = []string{"all 0"}
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		if err := c.list([]string{"PORT", "TO", "COUNTERS"}, eachRow(rows)); err != nil {
			return err
		}
	}
	for _, h := range reading.Holes {
		c.out.note("not read: %v", h)
	}
	c.out.note("%s read, %d shown", count(len(reading.Ports), "port"), len(rows))
	return nil
}

// counterTexts says what a port has counted, and fills in the row.
func counterTexts(p *counters.Port, which counters.Set, grown *counters.Delta, row *counterRow) []string {
	var text []string
	for k := range which.All() {
		v := p.Values[k]
		row.Counters[k.String()] = v
		if v == 0 {
			continue
		}
		word := fmt.Sprintf("%v %d", k, v)
		if p.Stopped.Has(k) {
			word += " (its greatest value)"
		}
		if grown != nil && grown.Seconds > 0 && grown.Increase[k] > 0 {
			if row.PerSec == nil {
				row.PerSec = map[string]float64{}
			}
			row.PerSec[k.String()] = grown.PerSecond(k)
			word += fmt.Sprintf(" (+%.3g/s)", grown.PerSecond(k))
		}
		text = append(text, word)
	}
	return text
}

func runClear(c *call) error {
	f := c.session.State().Live.Fabric
	ports, err := c.portsOf(f)
	if err != nil {
		return err
	}
	unanswered, err := c.session.ClearCounters(c.ctx, c.Flag("data"), ports...)
	if err != nil {
		return err
	}
	n := len(ports)
	if ports == nil {
		n = len(counters.AllPorts(f))
	}
	var silent []string
	for _, h := range unanswered {
		n -= h.Count
		silent = append(silent, h.String())
	}
	return c.out.Answer(clearedCounters{n, silent})
}

type clearedCounters struct {
	Cleared    int      `json:"cleared"`
	Unanswered []string `json:"unanswered,omitempty"`
}

func (a clearedCounters) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "counters of %s cleared\n", count(a.Cleared, "port"))
	list(w, "unanswered", a.Unanswered)
}

// targetName says whom a target is: by a directed route the node at its end in the
// fabric, if that is known, and the route.
func targetName(f *fabric.Fabric, t *mad.Target) string {
	if t.LID != 0 {
		return destinationName(f, t.LID)
	}
	route := "route " + t.Path.String()
	if f.SMPort == fabric.None {
		return route
	}
	node := f.Ports[f.SMPort].Node
	for i := range t.Path.Len() {
		out := f.PortAt(node, int(t.Path.Hop(i)))
		if out == fabric.None || !f.Ports[out].Linked() {
			return route
		}
		node = f.Ports[f.Ports[out].Peer].Node
	}
	return fmt.Sprintf("%s by %s", f.NodeName(node), route)
}

// worstFirst orders targets by what they owe: answers that never came, then those that
// took more than one try, then the slowest one.
func worstFirst(a, b mad.TargetStats) int {
	return cmp.Or(cmp.Compare(b.TimedOut, a.TimedOut), cmp.Compare(b.Retried, a.Retried), cmp.Compare(b.MaxRTT, a.MaxRTT))
}

type targetRow struct {
	Target  string  `json:"target"`
	Sent    uint64  `json:"sent"`
	Again   uint64  `json:"again"`
	Answers uint64  `json:"answers"`
	Silent  uint64  `json:"no_answer"`
	Late    uint64  `json:"late"`
	Mean    float64 `json:"mean_seconds"`
	Longest float64 `json:"longest_seconds"`
	of      *mad.TargetStats
}

func (r targetRow) Cells() []any {
	return []any{r.Target, r.Sent, r.Again, r.Answers, r.Silent, r.Late, seconds(r.of.MeanRTT), seconds(r.of.MaxRTT)}
}

// showTargets lists whom the client asks, the worst to answer first.
func (c *call) showTargets() error {
	f := c.session.State().Live.Fabric
	stats := c.session.WireStats()
	targets := c.session.Targets()
	slices.SortStableFunc(targets, worstFirst)
	var rows []targetRow
	for i := range targets {
		s := &targets[i]
		rows = append(rows, targetRow{targetName(f, &s.Target), s.Sent, s.Retried, s.Received, s.TimedOut, s.Late, s.MeanRTT.Seconds(), s.MaxRTT.Seconds(), s})
	}
	c.out.note("in all: %d sent, %d of them again, %d answers, %d without answer, %d late", stats.Sent, stats.Retried, stats.Received, stats.TimedOut, stats.Late)
	return c.list([]string{"TARGET", "SENT", "AGAIN", "ANSWERS", "NO ANSWER", "LATE", "MEAN", "LONGEST"}, eachRow(rows))
}
