// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// Time returns the time of an option.
func (c *Call) Time(name, otherwise string, now time.Time) (time.Time, error) {
	t, err := when.Parse(c.Option(name, otherwise), now)
	if err != nil {
		return t, c.Misused("%s: %v", name, err)
	}
	return t, nil
}

// TimeAhead returns the time of an option. This time must be in the future.
func (c *Call) TimeAhead(name, otherwise string, now time.Time) (time.Time, error) {
	t, err := when.ParseAhead(c.Option(name, otherwise), now)
	if err != nil {
		return t, c.Misused("%s: %v", name, err)
	}
	return t, nil
}

// Span returns the times that the options since= and until= set. The argument otherwise is the default of since=.
func (c *Call) Span(otherwise string) (since, until time.Time, err error) {
	now := time.Now()
	if since, err = c.Time("since", otherwise, now); err != nil {
		return since, until, err
	}
	if until, err = c.Time("until", "now", now); err != nil {
		return since, until, err
	}
	if !since.Before(until) {
		return since, until, c.Misused("since=%q is not before %s", c.Option("since", otherwise),
			when.Text(until))
	}
	return since, until, nil
}

// AtLeast returns the value of a numeric option, or the argument otherwise if the option is missing. It returns an
// error if the value is below the argument least.
func (c *Call) AtLeast(name string, otherwise, least int) (int, error) {
	if _, given := c.Options[name]; !given {
		return otherwise, nil
	}
	n := c.Int(name, otherwise)
	if n < least {
		return 0, c.Misused("%s=%d, expected %d or more", name, n, least)
	}
	return n, nil
}

const readingInterval = time.Second // between two readings of counters

// CountTwice reads the counters, so that there are two readings to compare. If there was no earlier reading, it waits a
// second and reads them again.
func (c *Call) CountTwice() error {
	first, _, err := c.Session.Counters(c.Ctx)
	if err == nil && !c.Session.State().Source.Offline() {
		err = ReadingError(first)
	}
	if err != nil {
		return err
	}
	st := c.Session.State()
	switch {
	case st.Counted != nil:
		return nil
	case st.Source.Offline():
		return errors.New("the file has one reading of the counters: rates are unknown")
	}
	select {
	case <-c.Ctx.Done():
		return c.Ctx.Err()
	case <-time.After(readingInterval):
	}
	second, _, err := c.Session.Counters(c.Ctx)
	if err != nil {
		return err
	}
	return ReadingError(second)
}

// ReadingError returns an error if no port responded to a reading of the counters, otherwise nil.
func ReadingError(r *counters.Reading) error {
	switch {
	case len(r.Ports) > 0:
		return nil
	case len(r.Unanswered) == 0:
		return errors.New("no port has counters")
	}
	first := r.Unanswered[0]
	return fmt.Errorf("no counters were read: %s: %w", first.Name, first.Why())
}

// Traffic is the rate at which a port sends.
type Traffic struct {
	Port  fabric.PortIndex
	Bytes float64 // per second
	Waits float64 // XmitWait per second
}

// Used returns the utilization of the link, from 0 to 1.
func (x *Traffic) Used(f *fabric.Fabric) float64 {
	if g := f.Ports[x.Port].Gbps(); g > 0 {
		return x.Bytes * 8 / (g * 1e9)
	}
	return 0
}

// TrafficNow returns the traffic of links between switches, computed from the last two readings of the counters.
func TrafficNow(counted *session.Counted, f *fabric.Fabric) []Traffic {
	var all []Traffic
	for i := range counted.Deltas {
		d := &counted.Deltas[i]
		port := counters.KeyOf(counted.Reading.Fabric, d.Port).In(f)
		if port != fabric.None && d.Seconds > 0 && linkload.ClassOf(f, port) == linkload.BetweenSwitches {
			all = append(all, Traffic{port, d.PerSecond(counters.XmitData) * 4, d.PerSecond(counters.XmitWait)})
		}
	}
	return all
}

// Correlation returns Pearson's correlation of two series. ok is false if a series is constant.
func Correlation(x, y []float64) (k float64, ok bool) {
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/float64(len(x)), my+y[i]/float64(len(x))
	}
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0, false
	}
	return xy / math.Sqrt(xx*yy), true
}

// PathsAmong returns the number of paths among end ports by the port that sends, for the tables of a state. If the
// paths cannot be followed, the result why is the reason.
func PathsAmong(ctx context.Context, p *session.Picture, ends []fabric.PortIndex) (paths []int64, why string,
	err error) {
	switch {
	case p.Tables == nil:
		return nil, "there are no tables", nil
	case len(ends) > MaxFilteredHosts:
		return nil, prose.Count(len(ends), "host") + " are too many to follow all paths among them", nil
	}
	m, err := linkload.Measure(ctx, p.Tables, linkload.Among(p.Fabric, ends))
	if err != nil {
		return nil, "", err
	}
	return m.Paths, "", nil
}

// NoteRelativeWaits warns that the waits of some ports are relative.
func NoteRelativeWaits(b *answer.Basis, ports int) {
	if ports > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("the unit of PortXmitWait is not known for %s; their waits are "+
			"relative", prose.Count(ports, "waiting port")))
	}
}
