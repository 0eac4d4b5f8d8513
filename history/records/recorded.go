// SPDX-License-Identifier: Apache-2.0

package records

import (
	"cmp"
	"slices"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/when"
)

// Recorded holds the recorded counts of some counters of a subnet from Since to Until.
type Recorded struct {
	Since, Until time.Time
	// Totals lists the ports that have a counter that grew or has its maximum value. They are in the order in which the
	// ports were first recorded.
	Totals []Total
	// Read contains the ports that have samples. The counts of other ports are unknown.
	Read map[counters.Key]bool
	// Seconds is the time that the samples of each port cover.
	Seconds map[counters.Key]float64
	// Spans lists the periods in which any port was read, in order.
	Spans []Span
}

// Span is a time from Since to Until.
type Span struct{ Since, Until time.Time }

// TotalTime returns the total length of the spans.
func TotalTime(spans []Span) (sum time.Duration) {
	for _, s := range spans {
		sum += s.Until.Sub(s.Since)
	}
	return sum
}

// Within returns the parts of spans from since to until.
func Within(spans []Span, since, until time.Time) (parts []Span) {
	for _, s := range spans {
		s.Since, s.Until = when.Later(s.Since, since), when.Earlier(s.Until, until)
		if s.Since.Before(s.Until) {
			parts = append(parts, s)
		}
	}
	return parts
}

// Gaps returns the periods in which no port was read.
func (r *Recorded) Gaps() (gaps []Span) {
	at := r.Since
	for _, s := range append(slices.Clip(r.Spans), Span{r.Until, r.Until}) {
		if s.Since.Sub(at) >= shortestGap {
			gaps = append(gaps, Span{at, s.Since})
		}
		at = s.Until
	}
	return gaps
}

// shortestGap is the minimum length of a gap.
const shortestGap = time.Second

// SpansOf returns the periods between since and until that the samples of a port cover, in order.
func SpansOf(samples []Sample, since, until time.Time) []Span {
	var c coverage
	for i := range samples {
		x := &samples[i]
		c.add(span{x.Until.UnixMilli() - int64(1000*x.Seconds), x.Until.UnixMilli()})
	}
	return c.spans(since, until)
}

// coverage combines the periods of samples.
type coverage struct {
	all  []span
	last span // the span that ends last
}

func (c *coverage) add(s span) {
	c.all = append(c.all, s)
	if s.until > c.last.until {
		c.last = s
	}
	if len(c.all) == cap(c.all) { // before it grows
		c.all = merged(c.all)
	}
}

// merged sorts spans, combines overlapping ones, and returns the result.
func merged(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.since, b.since) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.since <= out[n-1].until {
			out[n-1].until = max(out[n-1].until, s.until)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// spans returns the covered periods between since and until. The time after the last sample counts as covered if it is
// at most twice as long as the sample, because the next sample is not complete yet.
func (c *coverage) spans(since, until time.Time) (spans []Span) {
	if open := until.UnixMilli() - c.last.until; open > 0 && open <= 2*(c.last.until-c.last.since) {
		c.all = append(c.all, span{c.last.until, until.UnixMilli()})
	}
	for _, s := range merged(c.all) {
		spans = append(spans, Span{time.UnixMilli(s.since), time.UnixMilli(s.until)})
	}
	return Within(spans, since, until)
}
