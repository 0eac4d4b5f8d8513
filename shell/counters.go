// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
)

func counterCommands() []Spec {
	return []Spec{{
		Name: "clear", Summary: "set something to 0 in the subnet", Subcommands: []Spec{
			{Name: "counters", Summary: "the error counters of a node's ports, or of all; this writes to the subnet", Run: runClear,
				Args:    []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
				Options: []lang.Option{{Name: "data", Kind: lang.KindFlag, Summary: "the counters of packets and data, too"}}},
		}}}
}

// portsOf are the ports that a place names, nil for none: a node's name stands for all its ports.
func (c *call) portsOf(f *fabric.Fabric) ([]fabric.PortIndex, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	p, err := places.Resolve(f, c.Arg(0))
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
	leads
	Port     string             `json:"port"`
	Peer     string             `json:"peer,omitempty"`
	Counters map[string]uint64  `json:"counters"`
	PerSec   map[string]float64 `json:"per_second,omitempty"`
	// Stopped is since when counters were seen at their greatest value: they tell nothing from then on.
	Stopped map[string]time.Time `json:"stopped,omitempty"`
	texts   []string
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
	standing := c.session.State().Standing
	var rows []*counterRow
	for i := range reading.Ports {
		p := &reading.Ports[i]
		which := p.Has
		everything := ports != nil || c.Flag("all")
		if !everything {
			which = p.Beyond(&counters.Values{})
		}
		row := &counterRow{leads: leads{toPort(f, p.Port)}, Port: f.PortName(p.Port), Counters: map[string]uint64{}}
		if peer := f.Ports[p.Port].Peer; peer != fabric.None {
			row.Peer = f.PortName(peer)
		}
		for _, x := range standing[counters.KeyOf(f, p.Port)] {
			if row.Stopped == nil {
				row.Stopped = map[string]time.Time{}
			}
			row.Stopped[x.Counter.String()] = x.Since
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
	a := countersRead{When: time.Now().Format(time.RFC3339), Ports: len(reading.Ports), Shown: len(rows), NotRead: notReadPorts(reading)}
	if err := c.out.Answer(a); err != nil {
		return err
	}
	return feature.NoneRead(reading)
}

// countersRead says how many ports were read, and which were not.
type countersRead struct {
	When    string        `json:"when"`
	Ports   int           `json:"ports_read"`
	Shown   int           `json:"shown"`
	NotRead []notReadPort `json:"not_read"`
}

// notReadPort is a port whose counters could not be read, or the first of Ports of a node.
type notReadPort struct {
	Port  string `json:"port"`
	Ports int    `json:"ports"`
	Why   string `json:"why"`
}

func notReadPorts(r *counters.Reading) []notReadPort {
	list := []notReadPort{}
	for _, h := range r.Unanswered {
		list = append(list, notReadPort{h.Name, h.Count, fabric.Escape(h.Why().Error())})
	}
	return list
}

func (a countersRead) Text(w io.Writer) {
	sum := 0
	for _, n := range a.NotRead {
		sum += n.Ports
	}
	notRead := prose.When(sum > 0, fmt.Sprintf(", %d not read", sum), "")
	_, _ = fmt.Fprintf(w, "%s read, %d shown%s\n", count(a.Ports, "port"), a.Shown, notRead)
	list(w, "not read", prose.Words(a.NotRead, func(n notReadPort) string {
		return n.Port + prose.When(n.Ports > 1, fmt.Sprintf(", %s", count(n.Ports, "port")), "") + ": " + n.Why
	}))
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
			word = fmt.Sprintf("%v at least %d", k, v)
			if since, known := row.Stopped[k.String()]; known {
				word += " since " + since.Format(time.TimeOnly)
			}
			word += " (its greatest value; clear counters to see more)"
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
	if err := c.out.Answer(clearedCounters{n, silent}); err != nil || n > 0 || silent == nil {
		return err
	}
	return fmt.Errorf("no counters were cleared: %s", silent[0])
}

type clearedCounters struct {
	Cleared    int      `json:"cleared"`
	Unanswered []string `json:"unanswered,omitempty"`
}

func (a clearedCounters) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "counters of %s cleared\n", count(a.Cleared, "port"))
	list(w, "unanswered", a.Unanswered)
}
