// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

const measuredHelp = "The total traffic is divided among the links in proportion to their numbers of paths. The " +
	"command compares this\nexpected traffic with the measured traffic of each link. The paths are those between all " +
	"hosts, or between the hosts\nof a set such as a job. The traffic comes from recorded counters (since=), or from " +
	"two readings now.\n"

// measuredLoad is the answer that compares the measured traffic of links between switches with their numbers of paths.
type measuredLoad struct {
	Pattern     string       `key:"pattern" name:"pattern"`
	Links       int          `key:"links" name:"links" help:"directions of links that were read"`
	NotRead     int          `key:"not_read" name:"not read" help:"directions of links that were not read"`
	Sent        float64      `key:"gigabytes_per_second" name:"sent" unit:"GB/s" help:"total traffic"`
	SentText    string       `name:"sent together"`
	Silent      bool         `name:"silent"`
	Correlation answer.Value `key:"correlation" name:"correlation" kind:"float" help:"of traffic and paths"`

	deviations []deviation // of 1 % of the rate or more
	limit      int         // number of rows in text
	partial    bool        // tables were not read
}

// deviation is a direction of a link whose traffic is higher or lower than expected from its number of paths.
type deviation struct {
	Port     answer.Value `key:"port" name:"PORT" kind:"place"`
	To       answer.Value `key:"to" name:"TO" kind:"place"`
	Sent     answer.Value `key:"gigabytes_per_second" name:"GB/S" kind:"float"`
	Expected answer.Value `key:"expected_gigabytes_per_second" name:"EXPECTED" kind:"float"`
	Used     float64      `key:"used" help:"utilization of the link, from 0 to 1"`
	UsedText string       `name:"USED"`
	Apart    float64      `key:"deviation" help:"difference divided by the rate"`
	ApartIn  string       `name:"DEVIATION"`
	Paths    int64        `key:"paths" name:"PATHS"`
	Note     answer.Value `key:"note" name:"NOTE" kind:"text"`
	answer.Lead
}

var deviationTable = answer.Table[deviation]{
	Key: "deviations", Title: "measured and expected", Fields: answer.Fields[deviation](),
	Empty: "no link deviates by 1 % of its rate or more",
}

var measuredDecl = answer.Decl[*measuredLoad]{
	Command: "check load measured", Help: "traffic of links between switches, compared with their paths",
	Title: "{links|direction of links} between switches sent {sent together} GB/s together; expected by the paths " +
		"of {pattern} ({of})",
	Facts: answer.Fields[*measuredLoad](),
	Layout: []answer.Item[*measuredLoad]{
		{Line: "{?silent}no traffic to compare"},
		{Line: "[not read: {not_read|other direction}]"},
		{Line: "{?correlation}correlation of traffic and paths: {correlation} (1: traffic follows the paths)"},
		{Table: answer.Show(&deviationTable, func(m *measuredLoad) answer.Rows[deviation] {
			rows := answer.Slice(m.deviations)
			rows.Shown = m.limit
			return rows
		}), When: func(m *measuredLoad) bool { return !m.Silent }},
	},
}

// recordedTraffic returns the recorded traffic of links between switches in a time span.
func recordedTraffic(c *feature.Call, f *fabric.Fabric, since, until time.Time) ([]feature.Traffic, error) {
	recorded, err := c.Session.Recorded().Between(c.Ctx, counters.Of(counters.XmitData), since, until)
	if err != nil {
		return nil, err
	}
	rates := map[counters.Key]float64{}
	for _, x := range recorded.Totals {
		rates[x.Key] = 4 * x.Counts[0].PerSecond()
	}
	var all []feature.Traffic
	for port := range f.NumPorts() {
		if k := counters.KeyOf(f, port); linkload.ClassOf(f, port) == linkload.BetweenSwitches && recorded.Read[k] {
			all = append(all, feature.Traffic{Port: port, Bytes: rates[k]})
		}
	}
	return all, nil
}

// minDeviation is the smallest deviation that is reported, as a difference in the utilization of a link (which is from
// 0 to 1).
const minDeviation = 0.01

func measured(c *feature.Call, st *session.State, p *session.Picture) error {
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	paths, pattern, warnings, err := measuredPaths(c, p)
	if err != nil {
		return err
	}
	var all []feature.Traffic
	if c.Option("since", "") == "" && c.Option("until", "") == "" {
		if err := c.CountTwice(); err != nil {
			return err
		}
		all = feature.TrafficNow(c.Session.State().Counted, p.Fabric)
	} else {
		since, until, err := c.Span("1h")
		if err != nil {
			return err
		}
		if all, err = recordedTraffic(c, p.Fabric, since, until); err != nil {
			return err
		}
	}
	if c.Option("pattern", "") != "" { // other hosts use the other links
		all = slices.DeleteFunc(all, func(x feature.Traffic) bool { return paths[x.Port] == 0 })
	}
	m := &measuredLoad{Pattern: pattern, Links: len(all), limit: limit, partial: len(p.Tables.NotRead()) > 0}
	for port := range p.Fabric.NumPorts() {
		if linkload.ClassOf(p.Fabric, port) == linkload.BetweenSwitches &&
			(c.Option("pattern", "") == "" || paths[port] > 0) {
			m.NotRead++
		}
	}
	m.NotRead -= len(all)
	m.compare(p.Fabric, all, paths)
	b := basis(st, p)
	b.Warnings = append(b.Warnings, warnings...)
	return c.Answer(measuredDecl.Answer(b, m))
}

// measuredPaths returns the number of paths over each link, either of all to all or only among some hosts.
func measuredPaths(c *feature.Call, p *session.Picture) (paths []int64, pattern string,
	warnings []string, err error) {
	word, arg, given := strings.Cut(c.Option("pattern", ""), ":")
	switch {
	case word == "":
		l, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{})
		if err != nil {
			return nil, "", nil, err
		}
		return l.Paths, "all to all", nil, nil
	case word != "hosts" || !given:
		return nil, "", nil, c.Misused("pattern=%q, expected hosts:FILE or hosts:@SET", c.Option("pattern", ""))
	}
	hosts, err := patternHosts(c, p)
	if err != nil {
		return nil, "", nil, err
	}
	pairs, warnings, err := patternPairs(c, p, hosts, word, arg, true)
	if err != nil {
		return nil, "", nil, err
	}
	m, err := linkload.Measure(c.Ctx, p.Tables, pairs)
	if err != nil {
		return nil, "", nil, err
	}
	return m.Paths, c.Option("pattern", ""), warnings, nil
}

// compare computes the expected traffic of each link and collects the deviations.
func (m *measuredLoad) compare(f *fabric.Fabric, all []feature.Traffic, paths []int64) {
	var bytes, sum float64
	rates, weights := make([]float64, len(all)), make([]float64, len(all))
	for i, x := range all {
		rates[i], weights[i] = x.Bytes, float64(paths[x.Port])
		bytes, sum = bytes+x.Bytes, sum+weights[i]
	}
	m.Sent = bytes / 1e9
	m.Silent = bytes == 0
	m.SentText = fmt.Sprintf("%.4g", m.Sent)
	if k, ok := feature.Correlation(rates, weights); ok {
		m.Correlation = answer.Float(k, 2)
	}
	for i, x := range all {
		expected := feature.Traffic{Port: x.Port}
		if sum > 0 {
			expected.Bytes = bytes * weights[i] / sum
		}
		used := x.Used(f)
		apart := used - expected.Used(f)
		if math.Abs(apart) < minDeviation {
			continue
		}
		m.deviations = append(m.deviations, deviation{
			answer.Port(f, x.Port), answer.Port(f, f.Ports[x.Port].Peer), answer.Float(x.Bytes/1e9, 3),
			answer.Float(expected.Bytes/1e9, 3), used, fmt.Sprintf("%.1f %%", 100*used), apart,
			fmt.Sprintf("%+.1f %%", 100*apart), paths[x.Port], m.note(paths[x.Port], x.Bytes, bytes),
			feature.ToPort(f, x.Port),
		})
	}
	slices.SortStableFunc(m.deviations, func(x, y deviation) int {
		return cmp.Compare(math.Abs(y.Apart), math.Abs(x.Apart))
	})
}

// note explains a link that has paths but no traffic, or traffic but no paths.
func (m *measuredLoad) note(paths int64, bytes, together float64) answer.Value {
	switch {
	case paths == 0 && bytes > 0 && m.partial:
		return answer.Text("no known path leads here")
	case paths == 0 && bytes > 0:
		return answer.Text("no path leads here")
	case paths > 0 && bytes == 0 && together > 0:
		return answer.Text("nothing was sent")
	}
	return answer.None()
}
