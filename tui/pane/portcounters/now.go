// SPDX-License-Identifier: Apache-2.0

package portcounters

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/pane"
)

// sampleEvery is the interval at which the visible ports are read.
const sampleEvery = 5 * time.Second

// sampler holds the readings of the visible ports while the pane is open. They are not recorded.
type sampler struct {
	reading pane.AsyncResult[*counters.Reading]
	taken   any               // the input of the reading that was taken last
	rows    *recording.Growth // all ports, if nothing was recorded
	ledger  counters.Ledger
	rates   map[counters.Key]counters.Delta // between the last two readings of a port
	read    map[counters.Key]bool           // the ports that responded to the last reading
}

// sampleKey is the input of a reading.
type sampleKey struct {
	at    int64 // in units of sampleEvery
	live  *fabric.Fabric
	ports string // the indexes of the ports
}

// samples reports whether the pane reads the visible ports.
func (l *list) samples() bool {
	if l.Scene == nil || l.Scene.Recalled() != nil || l.Scene.State.Source.Offline() {
		return false
	}
	_, running := l.src.Recording()
	return !running
}

// sample begins the next reading of the visible ports, if it is due.
func (l *list) sample() tea.Cmd {
	if !l.samples() || l.taken == nil || l.N == 0 {
		l.now.reading.Cancel()
		return nil
	}
	f := l.Scene.State.Live.Fabric
	var ports []fabric.PortIndex
	for line := l.Top; line < min(l.Top+max(l.Height, 1), l.N); line++ {
		if p := l.row(int(l.Order[line])).Key.In(f); p != fabric.None {
			ports = append(ports, p)
		}
	}
	if len(ports) == 0 {
		return nil
	}
	k := sampleKey{l.Scene.Clock().UnixNano() / int64(sampleEvery), f, fmt.Sprint(ports)}
	if was, is := l.now.reading.Doing.(sampleKey); is && was.live == k.live && was.ports == k.ports {
		return nil // it takes longer than the interval
	}
	return l.now.reading.Start(l.Common, k, func(ctx context.Context, _ func(int, int)) (*counters.Reading, error) {
		return l.src.Sample(ctx, f, counters.Errors|counters.Of(counters.XmitData), ports)
	})
}

// take takes a new reading. It returns false if there is none.
func (n *sampler) take() bool {
	if n.reading.Of == n.taken {
		return false
	}
	n.taken, n.read = n.reading.Of, map[counters.Key]bool{}
	if n.rates == nil {
		n.rates = map[counters.Key]counters.Delta{}
	}
	r := n.reading.Value
	if n.reading.Err != nil || r == nil {
		return true
	}
	for _, d := range n.ledger.Take(r) {
		n.rates[counters.KeyOf(r.Fabric, d.Port)] = d
	}
	for i := range r.Ports {
		n.read[counters.KeyOf(r.Fabric, r.Ports[i].Port)] = true
	}
	return true
}

// all returns all ports of a fabric.
func (n *sampler) all(f *fabric.Fabric) *recording.Growth {
	if n.rows == nil || n.rows.Fabric != f {
		n.rows = &recording.Growth{Fabric: f}
		for _, p := range counters.AllPorts(f) {
			x := recording.Growing{Port: p, Use: -1}
			x.Key = counters.KeyOf(f, p)
			n.rows.Ports = append(n.rows.Ports, x)
		}
	}
	return n.rows
}

// rate returns the rate of the counters of the view at a port, and false if it is unknown.
func (l *list) rate(row int) (perSecond float64, isLeast, ok bool) {
	key, what := l.row(row).Key, kinds[l.Kind].what
	d, known := l.now.rates[key]
	if !known || !l.now.read[key] || d.Seconds <= 0 || d.Has&what == 0 {
		return 0, false, false
	}
	for c := range (d.Has & what).All() {
		perSecond += d.PerSecond(c)
	}
	return perSecond, d.AtLeast()&what != 0, true
}

// nowText returns the rate as text. A port that did not respond is "not read", and one with a single reading "...".
func (l *list) nowText(row int) string {
	rate, isLeast, ok := l.rate(row)
	switch {
	case !ok && l.now.read[l.row(row).Key]:
		return "..."
	case !ok:
		return "not read"
	}
	text := "0"
	switch {
	case l.Kind == ofTraffic:
		text = bytesText(4 * rate)
	case rate > 0:
		text = figure(rate) + "/s"
	}
	if isLeast {
		text += "+"
	}
	return text
}

func (l *list) nowOrder(row int) int64 {
	rate, _, ok := l.rate(row)
	if !ok {
		return -1
	}
	return int64(1000 * rate)
}

// nowFigure returns a text with the number of ports that are read, and how often.
func (l *list) nowFigure() string {
	switch {
	case !l.samples() || l.now.taken == nil:
		return ""
	case l.now.reading.Err != nil:
		return "; visible ports not read"
	}
	return fmt.Sprintf("; %s read every %v", prose.Count(len(l.now.read), "visible port"), sampleEvery)
}
