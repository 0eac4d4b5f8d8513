// SPDX-License-Identifier: Apache-2.0

// Package traffic reads the traffic and waits of ports in a period, for the search for congestion.
package traffic

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recorded"
)

// Window is the traffic of a period in which the tables were the same.
type Window struct {
	From, Until time.Time
	Picture     *session.Picture
	Ports       []congestion.Port // by port of the fabric
	// Saturated holds ports with a counter of data or waits that reached its maximum. NotRead holds linked ports of the
	// subnet of which neither end was read.
	Saturated, NotRead []fabric.PortIndex
	// Relative is the number of waiting ports whose unit of XmitWait is not known.
	Relative int
	// Limits returns the widths and speeds that a port allows, zero if unknown.
	Limits func(fabric.PortIndex) fabric.LinkLimit
}

// sets are the counters that a window needs. The recorder reads the sets at different intervals.
var sets = []counters.Set{
	counters.Of(counters.XmitData, counters.RcvData), counters.Of(counters.XmitWait, counters.SymbolErrors),
}

// count is the increase of a port's counters.
type count struct {
	perSecond [counters.NumCounters]float64
	has       counters.Set
	least     counters.Set // their increase may have been larger
}

// Now returns the traffic between the last two readings of all counters.
func Now(ctx context.Context, s *session.Session) (*Window, error) {
	st := s.State()
	if st.Counted == nil {
		return nil, errors.New("the counters were not read twice")
	}
	r := st.Counted.Reading
	w := &Window{Picture: st.Live, Until: st.Counted.When, From: st.Counted.When}
	counts := map[counters.Key]*count{}
	for i := range st.Counted.Deltas {
		d := &st.Counted.Deltas[i]
		c := &count{has: d.Has, least: d.AtLeast()}
		for k := range d.Has.All() {
			c.perSecond[k] = d.PerSecond(k)
		}
		if d.Seconds > 0 {
			counts[counters.KeyOf(r.Fabric, d.Port)] = c
			if from := w.Until.Add(-time.Duration(d.Seconds * 1e9)); from.Before(w.From) {
				w.From = from
			}
		}
	}
	if len(counts) == 0 {
		return nil, errors.New("no time passed between the two readings of the counters: rates are unknown")
	}
	return w, w.fill(ctx, s, counts)
}

// Recorded returns the recorded traffic of a period with the tables of a state.
func Recorded(ctx context.Context, s *session.Session, p *session.Picture, since, until time.Time) (*Window, error) {
	w := &Window{Picture: p, From: since, Until: until}
	counts := map[counters.Key]*count{}
	var none error
	for _, set := range sets {
		got, err := s.Recorded().Between(ctx, set, since, until)
		if IsNone(err) {
			none = err
			continue
		}
		if err != nil {
			return nil, err
		}
		for key := range got.Read {
			if counts[key] == nil {
				counts[key] = &count{}
			}
			counts[key].has |= set
		}
		for i := range got.Totals {
			c := counts[got.Totals[i].Key]
			for _, n := range got.Totals[i].Counts {
				if c == nil {
					continue
				}
				if c.perSecond[n.Counter] = n.PerSecond(); n.AtLeast {
					c.least |= counters.Of(n.Counter)
				}
			}
		}
	}
	if len(counts) == 0 {
		return nil, none
	}
	return w, w.fill(ctx, s, counts)
}

// fill computes the values of the ports.
func (w *Window) fill(ctx context.Context, s *session.Session, counts map[counters.Key]*count) error {
	f := w.Picture.Fabric
	w.Ports, w.Limits = make([]congestion.Port, len(f.Ports)), w.limits(s)
	var waiting []fabric.PortIndex
	for i := range w.Ports {
		p, peer := fabric.PortIndex(i), f.Ports[i].Peer
		x := &w.Ports[i]
		*x = congestion.Port{Sent: flows.Unknown, Load: flows.Unknown, Wait: flows.Unknown}
		if peer == fabric.None || !f.Nodes[f.Ports[i].Node].InSubnet {
			continue
		}
		own, other := counts[counters.KeyOf(f, p)], counts[counters.KeyOf(f, peer)]
		if own == nil && other == nil {
			w.NotRead = append(w.NotRead, p)
			continue
		}
		saturated := w.sent(x, &f.Ports[p], own, other)
		if own != nil && own.has.Has(counters.XmitWait) {
			x.Wait, x.AtLeast = own.perSecond[counters.XmitWait], own.least.Has(counters.XmitWait)
			if x.Wait > 0 {
				waiting = append(waiting, p)
			} else if x.AtLeast {
				x.Wait = flows.Unknown
			}
		}
		if saturated || x.AtLeast {
			w.Saturated = append(w.Saturated, p)
		}
		x.Faulty = faulty(&f.Ports[p], own) || faulty(&f.Ports[p], other)
		x.Reduced = reduced(f, w.Limits, p)
	}
	return w.scale(ctx, s, waiting)
}

// sent sets what a port sent: by the port itself or by the port that received it, whichever is more. It reports whether
// both counters were full.
func (w *Window) sent(x *congestion.Port, p *fabric.Port, own, other *count) (saturated bool) {
	sides := []struct {
		*count
		counters.Counter
	}{{own, counters.XmitData}, {other, counters.RcvData}}
	for _, side := range sides {
		switch {
		case side.count == nil || !side.has.Has(side.Counter):
		case side.least.Has(side.Counter):
			saturated = true
		default:
			x.Sent = max(x.Sent, 4*side.perSecond[side.Counter])
		}
	}
	if rate := p.DataRate(); x.Sent >= 0 && rate > 0 {
		x.Load = x.Sent / rate
	}
	return saturated && x.Sent < 0
}

func faulty(p *fabric.Port, c *count) bool {
	return c != nil && c.has.Has(counters.SymbolErrors) &&
		c.perSecond[counters.SymbolErrors] > congestion.MaxErrorRate*8*p.DataRate()
}

// limits returns the function Limits.
func (w *Window) limits(s *session.Session) func(fabric.PortIndex) fabric.LinkLimit {
	p := w.Picture
	if p.Limits == nil {
		st := s.State()
		live := st.Live
		return func(port fabric.PortIndex) (l fabric.LinkLimit) {
			if at := counters.KeyOf(p.Fabric, port).In(live.Fabric); at != fabric.None && live.Limits != nil {
				l = live.Limits[at]
			}
			return l
		}
	}
	return func(port fabric.PortIndex) fabric.LinkLimit { return p.Limits[port] }
}

// reduced reports whether a link is narrower or slower than both ends allow.
func reduced(f *fabric.Fabric, limits func(fabric.PortIndex) fabric.LinkLimit, p fabric.PortIndex) bool {
	most := limits(p).Common(limits(f.Ports[p].Peer))
	return most.Known() && (f.Ports[p].Width < most.WidthEnabled || f.Ports[p].Speed < most.SpeedEnabled)
}

// smallestWait is the smallest number of bytes for which a known device counts XmitWait.
const smallestWait = 8

// scale converts the counts of XmitWait of waiting ports to shares of time.
func (w *Window) scale(ctx context.Context, s *session.Session, waiting []fabric.PortIndex) error {
	f := w.Picture.Fabric
	st := s.State()
	var asked []fabric.PortIndex
	at := map[fabric.PortIndex]fabric.PortIndex{} // ports of the live fabric
	for _, p := range waiting {
		n := &f.Nodes[f.Ports[p].Node]
		live := counters.KeyOf(f, p).In(st.Live.Fabric)
		if _, known := fabric.WaitBytes(n.VendorID, n.DeviceID, f.Ports[p].Width, 0); known && live != fabric.None {
			asked, at[p] = append(asked, live), live
		}
	}
	ticks, err := s.Ticks(ctx, asked...)
	if err != nil && ctx.Err() != nil {
		return err
	}
	for _, p := range waiting {
		x, n := &w.Ports[p], &f.Nodes[f.Ports[p].Node]
		bytes, known := float64(smallestWait), false
		if live, wasAsked := at[p]; wasAsked {
			if tick, answered := ticks[live]; answered {
				bytes, known = fabric.WaitBytes(n.VendorID, n.DeviceID, f.Ports[p].Width, tick)
			}
		}
		rate := f.Ports[p].DataRate()
		if rate <= 0 {
			x.Wait = flows.Unknown
			continue
		}
		if x.Wait, x.Relative = min(1, x.Wait*bytes/rate), !known; x.AtLeast && !x.Waits() {
			x.Wait = flows.Unknown
		}
		if x.Relative && x.Waits() {
			w.Relative++
		}
	}
	return nil
}

// Sent returns what each port sent, in bytes per second.
func (w *Window) Sent() []float64 {
	sent := make([]float64, len(w.Ports))
	for i := range w.Ports {
		sent[i] = w.Ports[i].Sent
	}
	return sent
}

// Congestion finds where congestion began in the window. The argument prefer is [flows.Options.Prefer].
func (w *Window) Congestion(ctx context.Context,
	prefer func(linkload.Pair, []fabric.PortIndex) float64) (*congestion.Tree, error) {
	if w.Picture.Tables == nil {
		return nil, ErrNoTables
	}
	all, err := flows.Estimate(ctx, w.Picture.Tables, w.Sent(), flows.Options{Prefer: prefer, Keep: w.needs(prefer)})
	if err != nil {
		return nil, err
	}
	return congestion.Find(all, w.Ports, congestion.Possible(w.Picture.Tables)), nil
}

// needs returns a function that reports whether a flow is over a port that waits or is full, or is preferred.
func (w *Window) needs(prefer func(linkload.Pair, []fabric.PortIndex) float64) func(linkload.Pair,
	[]fabric.PortIndex) bool {
	return func(p linkload.Pair, path []fabric.PortIndex) bool {
		return prefer(p, path) > 1 || slices.ContainsFunc(path, func(at fabric.PortIndex) bool {
			return w.Ports[at].Waits() || w.Ports[at].IsFull()
		})
	}
}

// ErrNoTables is returned for a period whose tables are not known.
var ErrNoTables = errors.New("the forwarding tables of this time are not known")

// IsNone reports whether an error means that nothing was recorded.
func IsNone(err error) bool { return errors.Is(err, recorded.ErrNone) }
