// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
)

// CounterTexts returns a text for each counter in the set that is not 0. The argument grown is the increase since the
// previous reading, or nil if it is unknown. The argument atMaximum holds, for counters that are at their maximum, the
// time since when.
func CounterTexts(p *counters.Port, which counters.Set, grown *counters.Delta,
	atMaximum map[counters.Counter]time.Time) []string {
	var text []string
	for k := range which.All() {
		v := p.Values[k]
		if v == 0 {
			continue
		}
		word := fmt.Sprintf("%v %d", k, v)
		if p.Stopped.Has(k) {
			word = fmt.Sprintf("%v at least %d", k, v)
			if since, known := atMaximum[k]; known {
				word += " since " + when.Clock(since)
			}
			word += " (the maximum; clear counters to count on)"
		}
		if IsGrown(grown, k) {
			word += fmt.Sprintf(" (+%.3g/s)", grown.PerSecond(k))
		}
		text = append(text, word)
	}
	return text
}

// IsGrown reports whether a counter is known to have increased.
func IsGrown(d *counters.Delta, k counters.Counter) bool {
	return d != nil && d.Seconds > 0 && d.Increase[k] > 0
}

// GrowthText returns a text for the increase n of a counter. Data and packets are shown as rates.
func GrowthText(c counters.Counter, n uint64, perSecond float64, cleared, stopped bool) string {
	least := ""
	if cleared || stopped {
		least = "at least "
	}
	text := fmt.Sprintf("%v %s%d", c, least, n)
	switch c {
	case counters.XmitData, counters.RcvData: // in words of four bytes
		text = fmt.Sprintf("%v %s%s/s", c, least, BytesText(4*perSecond))
	case counters.XmitPackets, counters.RcvPackets:
		text = fmt.Sprintf("%v %s%.3g/s", c, least, perSecond)
	}
	switch {
	case stopped:
		text += " (at the maximum; clear counters to count on)"
	case cleared:
		text += " (cleared meanwhile)"
	}
	return text
}

// BytesText returns a number of bytes as text, such as "1.5 TB".
func BytesText(n float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for n >= 999.5 && len(units) > 1 { // 999.5 is the first number that three digits show as 1000
		n, units = n/1000, units[1:]
	}
	return fmt.Sprintf("%.3g %s", n, units[0])
}

// PortGrowth is the recorded increase of the counters of a port in a time span.
type PortGrowth struct {
	Name        string           // of the port
	Port        fabric.PortIndex // [fabric.None] if the fabric does not have the port
	Counts      []records.Count
	Sum         uint64
	PerHour     float64
	First, Last time.Time // first and last reading with an increase, zero for none
	Text        string
}

// PortGrowthOf returns the increase of the counters of a recorded port.
func PortGrowthOf(f *fabric.Fabric, x *records.Total) PortGrowth {
	c := PortGrowth{Name: fabric.Escape(x.Name), Port: x.Key.In(f), Counts: x.Counts}
	if c.Port != fabric.None {
		c.Name = f.PortName(c.Port)
	}
	var words []string
	for _, n := range x.Counts {
		c.Sum += n.Increase
		c.PerHour += n.PerSecond() * 3600
		if n.Increase > 0 && (c.First.IsZero() || n.First.Before(c.First)) {
			c.First = n.First
		}
		if n.Increase > 0 && n.Last.After(c.Last) {
			c.Last = n.Last
		}
		words = append(words, GrowthText(n.Counter, n.Increase, n.PerSecond(), false, false)+
			prose.When(n.AtLeast, " at least", ""))
	}
	c.Text = strings.Join(words, ", ")
	return c
}

// GrowthRow is a [PortGrowth] in the form of a row of an answer.
type GrowthRow struct {
	Name     string       `name:"PORT"`
	Port     answer.Value `key:"port" kind:"place" help:"none if the subnet does not have the port"`
	To       answer.Value `key:"to" name:"TO" kind:"place" help:"port at the other end"`
	Text     string       `name:"COUNTED" help:"increase of the counters"`
	Rate     string       `name:"AN HOUR" help:"sum of the increases per hour"`
	First    answer.Value `key:"first" name:"FIRST BY" kind:"time" help:"first reading with an increase"`
	Last     answer.Value `key:"last" name:"LAST BY" kind:"time" help:"last reading with an increase"`
	Counters answer.Value `key:"counters" kind:"map" help:"increase of the counters"`
	PerHour  answer.Value `key:"per_hour" kind:"map" help:"by counter, in its unit: 4 bytes for data"`
	AtLeast  []string     `key:"at_least" help:"counters that were cleared or reached their maximum"`
	answer.Lead
}

// rateText returns the increase per hour, in bytes if only data was counted.
func (c *PortGrowth) rateText() string {
	for _, n := range c.Counts {
		if n.Counter != counters.XmitData && n.Counter != counters.RcvData {
			return fmt.Sprintf("%.3g", c.PerHour)
		}
	}
	return BytesText(4 * c.PerHour)
}

// GrowthRowOf returns the row of a port.
func GrowthRowOf(f *fabric.Fabric, x *PortGrowth) GrowthRow {
	c := GrowthRow{
		Name: x.Name, Port: answer.Port(f, x.Port), Text: x.Text, Rate: x.rateText(),
		First: answer.Time(x.First), Last: answer.Time(x.Last),
		AtLeast: []string{}, Lead: ToPort(f, x.Port),
	}
	if x.Port != fabric.None {
		c.To = answer.Port(f, f.Ports[x.Port].Peer)
	}
	var values, rates []answer.Named
	for _, n := range x.Counts {
		name := n.Counter.String()
		values = append(values, answer.Named{Name: name, Value: answer.Int(int64(n.Increase))})
		rates = append(rates, answer.Named{Name: name, Value: answer.Float(n.PerSecond()*3600, 3)})
		if n.AtLeast {
			c.AtLeast = append(c.AtLeast, name)
		}
	}
	c.Counters, c.PerHour = answer.Map(values), answer.Map(rates)
	return c
}

// To returns the name of the port at the other end of the link, or "" if that port is unknown.
func (c *PortGrowth) To(f *fabric.Fabric) string {
	if c.Port == fabric.None || f.Ports[c.Port].Peer == fabric.None {
		return ""
	}
	return f.PortName(f.Ports[c.Port].Peer)
}

// RankedGrowth returns the increases of ports, the largest first.
func RankedGrowth(f *fabric.Fabric, all []records.Total) []PortGrowth {
	out := make([]PortGrowth, len(all))
	for i := range all {
		out[i] = PortGrowthOf(f, &all[i])
	}
	slices.SortStableFunc(out, func(a, b PortGrowth) int { return cmp.Compare(b.Sum, a.Sum) })
	return out
}

const maxGaps = 3 // unrecorded spans in text

// SpansText returns time spans as text, such as "2026-01-01 03:00:00 to 2026-01-01 04:00:00". The longest spans come
// first.
func SpansText(spans []records.Span) string {
	long := func(s records.Span) time.Duration { return s.Until.Sub(s.Since) }
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b records.Span) int { return cmp.Compare(long(b), long(a)) })
	return prose.List(prose.Words(spans, func(s records.Span) string {
		return when.Text(s.Since) + " to " + when.Text(s.Until)
	}), maxGaps)
}

// NotRecorded returns a text with the parts of a time span that were not recorded, or "" if all of it was recorded.
func NotRecorded(r *records.Recorded) string {
	if gaps := r.Gaps(); gaps != nil {
		return "it was not recorded from " + SpansText(gaps)
	}
	return ""
}

// Downtime returns the bounds of a downtime as text: "at least 3m0s, at most 4m0s".
func Downtime(least, most time.Duration, bounded bool) string {
	text := "at least " + least.Round(time.Second).String()
	if bounded {
		text += ", at most " + most.Round(time.Second).String()
	}
	return text
}
