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

const measuredHelp = "What is expected is what all of them sent together, shared out by the paths that the tables " +
	"lay over each: of all to all, or of a\n" +
	"set of hosts, as of a job, over the links that its paths take. It is of what was recorded since=, or without " +
	"that of two readings of the counters now.\n"

// measuredLoad is what links between switches sent, next to what the tables put there.
type measuredLoad struct {
	Pattern     string       `key:"pattern" name:"pattern"`
	Links       int          `key:"links" name:"links" help:"directions of links that were read"`
	NotRead     int          `key:"not_read" name:"not read" help:"directions of links that were not read"`
	Sent        float64      `key:"gigabytes_per_second" name:"sent" unit:"GB/s" help:"what all links sent together"`
	SentText    string       `name:"sent together"`
	Silent      bool         `name:"silent"`
	Correlation answer.Value `key:"correlation" name:"correlation" kind:"float" help:"of traffic and paths; no key where one of them never varies"`

	parted  []parted // links that are apart by a hundredth of their rate or more
	most    int      // how many people read
	partial bool     // tables were not read
}

// parted is a direction of a link that sent more or less than expected.
type parted struct {
	Port     answer.Value `key:"port" name:"PORT" kind:"place"`
	To       answer.Value `key:"to" name:"TO" kind:"place"`
	Sent     answer.Value `key:"gigabytes_per_second" name:"GB/S" kind:"float"`
	Expected answer.Value `key:"expected_gigabytes_per_second" name:"EXPECTED" kind:"float"`
	Used     float64      `key:"used" help:"the part of the rate of the link that was sent"`
	UsedText string       `name:"USED"`
	Apart    float64      `key:"apart" help:"the difference as a part of the rate"`
	ApartIn  string       `name:"APART"`
	Paths    int64        `key:"paths" name:"PATHS"`
	Note     answer.Value `key:"note" name:"NOTE" kind:"text"`
	lead     answer.Lead
}

var partedTable = answer.Table[parted]{
	Key: "parted", Title: "measured and expected", Fields: answer.Fields[parted](),
	Empty: "none is off by a hundredth of its rate or more",
	Lead:  func(p parted) answer.Lead { return p.lead },
}

var measuredDecl = answer.Decl[*measuredLoad]{
	Command: "check load measured", Help: "what links between switches sent, next to what the tables put there",
	Title: "{links} directions of links between switches sent {sent together} GB/s together; expected by the paths " +
		"of {pattern} ({of})",
	Facts: answer.Fields[*measuredLoad](),
	Layout: []answer.Item[*measuredLoad]{
		{Line: "{?silent}nothing was sent: there is nothing to compare"},
		{Line: "[not read: what {not_read|other direction} sent]"},
		{
			Line: "{?correlation}correlation of traffic and paths: {correlation} (1: traffic is where the tables " +
				"lay paths)",
		},
		{Table: answer.Show(&partedTable, func(m *measuredLoad) answer.Rows[parted] {
			rows := answer.Slice(m.parted)
			rows.Shown = m.most
			return rows
		}), When: func(m *measuredLoad) bool { return !m.Silent }},
	},
}

// sentThen returns what ports of links between switches sent in a time that was recorded, of those that were read.
func sentThen(c *feature.Call, f *fabric.Fabric, since, until time.Time) ([]feature.Traffic, error) {
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

// noticed is by which part of its rate a link must send more or less than expected to be told.
const noticed = 0.01

const mostParted = 20 // links that people read without limit=

func measured(c *feature.Call, st *session.State, p *session.Picture) error {
	limit, err := c.AtLeast("limit", mostParted, 1)
	if err != nil {
		return err
	}
	paths, pattern, err := measuredPaths(c, p)
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
		if all, err = sentThen(c, p.Fabric, since, until); err != nil {
			return err
		}
	}
	if c.Option("pattern", "") != "" { // other links are for others
		all = slices.DeleteFunc(all, func(x feature.Traffic) bool { return paths[x.Port] == 0 })
	}
	m := &measuredLoad{Pattern: pattern, Links: len(all), most: limit, partial: len(p.Tables.NotRead()) > 0}
	for port := range p.Fabric.NumPorts() {
		if linkload.ClassOf(p.Fabric, port) == linkload.BetweenSwitches &&
			(c.Option("pattern", "") == "" || paths[port] > 0) {
			m.NotRead++
		}
	}
	m.NotRead -= len(all)
	m.part(p.Fabric, all, paths)
	return c.Answer(measuredDecl.Answer(basis(st, p), m))
}

// measuredPaths returns the paths over each link, of all to all or among some hosts.
func measuredPaths(c *feature.Call, p *session.Picture) (paths []int64, pattern string, err error) {
	word, arg, given := strings.Cut(c.Option("pattern", ""), ":")
	switch {
	case word == "":
		l, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{})
		if err != nil {
			return nil, "", err
		}
		return l.Paths, "all to all", nil
	case word != "hosts" || !given:
		return nil, "", c.Misused("pattern=%q, expected hosts:FILE or hosts:@SET", c.Option("pattern", ""))
	}
	hosts, err := patternHosts(c, p)
	if err != nil {
		return nil, "", err
	}
	pairs, err := patternPairs(c, p, hosts, word, arg, true)
	if err != nil {
		return nil, "", err
	}
	m, err := linkload.Measure(c.Ctx, p.Tables, pairs)
	if err != nil {
		return nil, "", err
	}
	return m.Paths, c.Option("pattern", ""), nil
}

// part shares what all sent out by paths, and takes the links that sent more or less than that.
func (m *measuredLoad) part(f *fabric.Fabric, all []feature.Traffic, paths []int64) {
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
		if math.Abs(apart) < noticed {
			continue
		}
		m.parted = append(m.parted, parted{
			answer.Port(f, x.Port), answer.Port(f, f.Ports[x.Port].Peer), answer.Float(x.Bytes/1e9, 3),
			answer.Float(expected.Bytes/1e9, 3),
			used, fmt.Sprintf("%.1f %%", 100*used), apart, fmt.Sprintf("%+.1f %%", 100*apart), paths[x.Port],
			m.note(paths[x.Port], x.Bytes, bytes), feature.ToPort(f, x.Port),
		})
	}
	slices.SortStableFunc(m.parted, func(x, y parted) int { return cmp.Compare(math.Abs(y.Apart), math.Abs(x.Apart)) })
}

// note explains a link that carries paths and sent nothing, or the reverse.
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
