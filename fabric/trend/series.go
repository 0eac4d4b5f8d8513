// SPDX-License-Identifier: Apache-2.0

package trend

import (
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
)

// Folder is the state of a subnet at a time, as an ibdiagnet folder holds it.
type Folder struct {
	Name     string
	When     time.Time
	Fabric   *fabric.Fabric
	Counters *counters.Reading // nil if they were not read
	Health   *health.Report
}

// Reading holds the values of a folder that trends are computed from.
type Reading struct {
	When  time.Time
	ports []portReading
	at    map[counters.Key]int // by port, the place in ports
}

// portReading holds the values of a linked port.
type portReading struct {
	counters.Key
	Link
	name         string
	values       [RxPower + 1]float64 // scaled
	known        [RxPower + 1]bool
	counts       [len(counted)]uint64
	downed       uint64
	has, stopped counters.Set
}

// Link holds the properties of a port that select its limits.
type Link struct {
	Speed  fabric.Speed
	FEC    health.FEC
	Medium Medium
	RxLow  health.Level // limit of the module for the received power
}

// linkOf returns the properties of a port. The argument h is nil if the health of the port was not read.
func linkOf(speed fabric.Speed, h *health.Port) Link {
	l := Link{Speed: speed, FEC: health.Unknown}
	if h != nil {
		l.FEC = h.FEC
		if h.Cable != nil {
			l.Medium, l.RxLow = mediumOf(h.Cable), h.Cable.RxLow
		}
	}
	return l
}

// Read returns the values of a folder. O(ports).
func (f *Folder) Read() *Reading {
	of := map[fabric.PortIndex]*counters.Port{}
	if f.Counters != nil {
		for i := range f.Counters.Ports {
			of[f.Counters.Ports[i].Port] = &f.Counters.Ports[i]
		}
	}
	r := &Reading{When: f.When, at: map[counters.Key]int{}}
	for at := range f.Fabric.NumPorts() {
		c, h := of[at], f.Health.At(at)
		if !f.Fabric.Ports[at].Linked() || c == nil && h == nil {
			continue
		}
		speed := f.Fabric.Ports[at].Speed
		x := portReading{Key: counters.KeyOf(f.Fabric, at), Link: linkOf(speed, h), name: f.Fabric.PortName(at)}
		if c != nil {
			x.has, x.stopped, x.downed = c.Has, c.Stopped, c.Values[counters.LinkDowned]
			for i, k := range counted {
				x.counts[i] = c.Values[k.Counter]
			}
		}
		if h != nil {
			x.set(h)
		}
		r.at[x.Key] = len(r.ports)
		r.ports = append(r.ports, x)
	}
	return r
}

// set sets the values of the health of a port.
func (x *portReading) set(h *health.Port) {
	for q := RawBER; q <= SymbolBER; q++ {
		x.values[q], x.known[q] = q.Scale(h.BER[q].Value), h.BER[q].Known
	}
	if c := h.Cable; c != nil {
		x.values[Temperature], x.known[Temperature] = float64(c.Celsius), c.Measured
		w := c.Weakest()
		x.values[RxPower], x.known[RxPower] = w.Value, w.Known
	}
}

// Port is the history of a port: the readings of each quantity in ascending order of time.
type Port struct {
	Key    counters.Key
	Name   string // the latest
	Link   Link   // the latest
	Points [NumQuantities][]Point
	// Unsettled counts the readings of each quantity that do not count, because the link was not known to be up for
	// [Settled].
	Unsettled [NumQuantities]int

	upSince time.Time // the link is known to be up since then, zero if this is unknown
	before  portReading
	last    time.Time // of the last reading
}

// History collects the readings of ports over time.
type History struct {
	ports map[counters.Key]*Port
	order []counters.Key
}

// Ports returns the ports in the order of their first readings.
func (h *History) Ports() []*Port {
	list := make([]*Port, len(h.order))
	for i, k := range h.order {
		list[i] = h.ports[k]
	}
	return list
}

// Port returns the history of a port. It adds the port if necessary.
func (h *History) Port(k counters.Key) *Port {
	if h.ports == nil {
		h.ports = map[counters.Key]*Port{}
	}
	p := h.ports[k]
	if p == nil {
		p = &Port{Key: k}
		h.ports[k] = p
		h.order = append(h.order, k)
	}
	return p
}

// Add adds a reading of a quantity.
func (p *Port) Add(q Quantity, at time.Time, value float64) {
	if p.upSince.IsZero() || at.Sub(p.upSince) < Settled {
		p.Unsettled[q]++
		return
	}
	p.Points[q] = append(p.Points[q], Point{at, value})
}

// counted lists the error counters whose rates are quantities.
var counted = [...]struct {
	Quantity
	counters.Counter
}{{SymbolErrors, counters.SymbolErrors}, {Recoveries, counters.LinkErrorRecovery}}

// AddReading adds the values of a folder, which must be later than those before. A link is known to be up since the
// first of several folders in which its LinkDowned counter has the same value. O(ports).
func (h *History) AddReading(r *Reading) {
	for i := range r.ports {
		x := &r.ports[i]
		p := h.Port(x.Key)
		p.Name, p.Link = x.name, x.Link
		usable := x.has &^ x.stopped
		switch {
		case !usable.Has(counters.LinkDowned):
			p.upSince = time.Time{}
		case p.upSince.IsZero(), x.downed != p.before.downed:
			p.upSince = r.When
		}
		for q, known := range x.known {
			if known {
				p.Add(Quantity(q), r.When, x.values[q])
			}
		}
		// A counter that decreased was cleared, so its rate is unknown.
		for i, k := range counted {
			hours, n := r.When.Sub(p.last).Hours(), x.counts[i]
			if (usable & p.before.has).Has(k.Counter) && n >= p.before.counts[i] && hours > 0 {
				p.Add(k.Quantity, r.When, float64(n-p.before.counts[i])/hours)
			}
		}
		p.before, p.last = *x, r.When
	}
	for _, p := range h.ports { // links that are down in this folder
		if p.last.Before(r.When) {
			p.upSince = time.Time{}
		}
	}
}

// AddSamples adds recorded increases of error counters in ascending order of time, and the times at which the link came
// up. A sample with an outage does not count, and the link is up since its end.
func (p *Port) AddSamples(samples []counters.Delta, ends []time.Time, ups []time.Time) {
	for i := range samples {
		d, until := &samples[i], ends[i]
		begin := until.Add(-time.Duration(d.Seconds * float64(time.Second)))
		switch {
		case d.Has.Has(counters.LinkDowned) && d.Increase[counters.LinkDowned] > 0:
			p.upSince = until
		case p.upSince.IsZero():
			p.upSince = begin
		}
		for _, up := range ups {
			if up.After(p.upSince) && !up.After(until) {
				p.upSince = up
			}
		}
		if d.Seconds <= 0 || begin.Before(p.upSince) {
			continue
		}
		for _, x := range counted {
			if unusable := d.Cleared | d.Stopped; d.Has.Has(x.Counter) && !unusable.Has(x.Counter) {
				p.Add(x.Quantity, until, float64(d.Increase[x.Counter])*3600/d.Seconds)
			}
		}
	}
}

// Thin combines the points of a quantity into at most n groups of equal numbers, with the mean of their values.
func (p *Port) Thin(q Quantity, n int) {
	points := p.Points[q]
	if len(points) <= n {
		return
	}
	var out []Point
	for i := range n {
		group := points[i*len(points)/n : (i+1)*len(points)/n]
		sum := 0.0
		for _, x := range group {
			sum += x.Value
		}
		out = append(out, Point{group[len(group)/2].At, sum / float64(len(group))})
	}
	p.Points[q] = out
}

// Expected is a forecast for a quantity of a port.
type Expected struct {
	*Port
	Quantity
	Limit
	Forecast
	Outcome
}

// Expect forecasts when the quantities of all ports cross their limits. It lists the forecasts that cross and the
// values beyond their limits, the earliest first, and counts all outcomes.
func (h *History) Expect(limits []Limit) (list []Expected, outcomes [Beyond + 1]int) {
	for _, p := range h.Ports() {
		for q := range NumQuantities {
			l, ok := LimitOf(limits, q, &p.Link)
			if !ok || len(p.Points[q])+p.Unsettled[q] == 0 {
				continue
			}
			f, outcome := Expect(p.Points[q], q.Scale(l.Value), q.Rising())
			outcomes[outcome]++
			if outcome == Crosses || outcome == Beyond {
				list = append(list, Expected{p, q, l, f, outcome})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Expected) int { return int(min(1, max(-1, a.In-b.In))) })
	return list, outcomes
}

// ValuesOf returns the values of a quantity of a port in readings, as texts. A value that a reading lacks is "?".
func ValuesOf(readings []*Reading, k counters.Key, q Quantity) []string {
	texts := make([]string, len(readings))
	for i, r := range readings {
		texts[i] = "?"
		at, found := r.at[k]
		if found && int(q) < len(r.ports[at].known) && r.ports[at].known[q] {
			texts[i] = q.number(q.Value(r.ports[at].values[q]))
		}
	}
	return texts
}
