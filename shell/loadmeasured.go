// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func measuredCommand() Spec {
	return Spec{
		Name: "measured", Summary: "what links between switches sent, beside what the tables put there: where the two part, the most first", Run: onTables((*call).loadMeasured),
		Help: "What is expected is what all of them sent together, shared out by the paths that the tables lay over each: of all to all, or of a\n" +
			"set of hosts, as of a job, over the links that its paths take. It is of what was recorded since=, or without that of two readings of the counters now.\n",
		Options: []lang.Option{
			{Name: "pattern", Kind: lang.KindText, Value: "hosts:FILE|hosts:@SET", Summary: "paths among these hosts; all to all without it"},
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "of what was recorded from then on; " + whenHelp},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "up to then; now"},
			{Name: "limit", Kind: lang.KindInt, Summary: "how many to list; 20"},
		},
	}
}

// sent is what a port sent.
type sent struct {
	port  fabric.PortIndex
	bytes float64 // a second
	waits float64 // a second
}

// used is the part of the link's rate.
func (x *sent) used(f *fabric.Fabric) float64 {
	if g := f.Ports[x.port].Gbps(); g > 0 {
		return x.bytes * 8 / (g * 1e9)
	}
	return 0
}

// sentNow is what ports of links between switches sent between two readings of the counters.
func sentNow(counted *session.Counted, f *fabric.Fabric) []sent {
	var all []sent
	for i := range counted.Deltas {
		d := &counted.Deltas[i]
		port := counters.KeyOf(counted.Reading.Fabric, d.Port).In(f)
		if port != fabric.None && d.Seconds > 0 && linkload.ClassOf(f, port) == linkload.BetweenSwitches {
			all = append(all, sent{port, d.PerSecond(counters.XmitData) * 4, d.PerSecond(counters.XmitWait)})
		}
	}
	return all
}

// sentThen is what they sent in a time that was recorded, of those that were read.
func (c *call) sentThen(f *fabric.Fabric, since, until time.Time) ([]sent, error) {
	recorded, err := c.session.Recorded(c.ctx, counters.Of(counters.XmitData), since, until)
	if err != nil {
		return nil, err
	}
	rates := map[counters.Key]float64{}
	for _, x := range recorded.Totals {
		rates[x.Key] = 4 * x.Counts[0].PerSecond()
	}
	var all []sent
	for port := range f.NumPorts() {
		if k := counters.KeyOf(f, port); linkload.ClassOf(f, port) == linkload.BetweenSwitches && recorded.Read[k] {
			all = append(all, sent{port: port, bytes: rates[k]})
		}
	}
	return all, nil
}

// partedRow is a direction of a link that sent other than was expected.
type partedRow struct {
	leads
	Port string `json:"port"`
	To   string `json:"to"`
	// Sent and Expected are in 10^9 bytes a second, Used the part of the link's rate that was sent, Apart that of the difference.
	Sent     float64 `json:"gigabytes_per_second"`
	Expected float64 `json:"expected_gigabytes_per_second"`
	Used     float64 `json:"used"`
	Apart    float64 `json:"apart"`
	Paths    int64   `json:"paths"`
	Note     string  `json:"note,omitempty"`
}

func (r *partedRow) Cells() []any {
	return []any{r.Port, r.To, fmt.Sprintf("%.3f", r.Sent), fmt.Sprintf("%.3f", r.Expected), fmt.Sprintf("%.1f %%", 100*r.Used), fmt.Sprintf("%+.1f %%", 100*r.Apart), r.Paths, orDash(r.Note)}
}

// measuredAnswer is traffic beside tables.
type measuredAnswer struct {
	Of      string `json:"of"`
	Pattern string `json:"pattern"`
	// Links counts the directions of links that were read, NotRead those that were not.
	Links   int `json:"links"`
	NotRead int `json:"not_read"`
	// Sent is what all links sent together, in 10^9 bytes a second.
	Sent float64 `json:"gigabytes_per_second"`
	// Correlation is Pearson's of traffic and paths, null where one of them never varies.
	Correlation *float64     `json:"correlation"`
	Parted      []*partedRow `json:"parted"` // links that are apart by a hundredth of their rate or more
	most        int
	tablesNotRead
}

// noticed is by which part of its rate a link must send more or less than expected to be told.
const noticed = 0.01

func (c *call) loadMeasured(st *session.State, p *session.Picture) error {
	limit, err := c.atLeast("limit", maxListed, 1)
	if err != nil {
		return err
	}
	paths, pattern, err := c.measuredPaths(p)
	if err != nil {
		return err
	}
	var all []sent
	if c.Option("since", "") == "" && c.Option("until", "") == "" {
		if err := c.countTwice(); err != nil {
			return err
		}
		all = sentNow(c.session.State().Counted, p.Fabric)
	} else {
		since, until, err := c.spanOf("1h")
		if err != nil {
			return err
		}
		if all, err = c.sentThen(p.Fabric, since, until); err != nil {
			return err
		}
	}
	if c.Option("pattern", "") != "" { // other links are for others
		all = slices.DeleteFunc(all, func(x sent) bool { return paths[x.port] == 0 })
	}
	a := &measuredAnswer{Of: st.Title(p), Pattern: pattern, Links: len(all), Parted: []*partedRow{}, most: limit, tablesNotRead: tablesNotReadOf(p.Tables)}
	for port := range p.Fabric.NumPorts() {
		if linkload.ClassOf(p.Fabric, port) == linkload.BetweenSwitches && (c.Option("pattern", "") == "" || paths[port] > 0) {
			a.NotRead++
		}
	}
	a.NotRead -= len(all)
	a.part(p.Fabric, all, paths)
	return c.out.Answer(a)
}

// measuredPaths are the paths over each link, of all to all or among some hosts.
func (c *call) measuredPaths(p *session.Picture) (paths []int64, pattern string, err error) {
	word, arg, given := strings.Cut(c.Option("pattern", ""), ":")
	switch {
	case word == "":
		l, err := c.session.Analysis().Load(c.ctx, p.Tables, linkload.Options{})
		if err != nil {
			return nil, "", err
		}
		return l.Paths, "all to all", nil
	case word != "hosts" || !given:
		return nil, "", c.Misused("pattern=%q, expected hosts:FILE or hosts:@SET", c.Option("pattern", ""))
	}
	hosts, err := c.patternHosts(p)
	if err != nil {
		return nil, "", err
	}
	pairs, err := c.loadPairs(p, hosts, word, arg, true)
	if err != nil {
		return nil, "", err
	}
	m, err := linkload.Measure(c.ctx, p.Tables, pairs)
	if err != nil {
		return nil, "", err
	}
	return m.Paths, c.Option("pattern", ""), nil
}

// part shares what all sent out by paths, and takes the links that sent other than that.
func (a *measuredAnswer) part(f *fabric.Fabric, all []sent, paths []int64) {
	var bytes, sum float64
	rates, weights := make([]float64, len(all)), make([]float64, len(all))
	for i, x := range all {
		rates[i], weights[i] = x.bytes, float64(paths[x.port])
		bytes, sum = bytes+x.bytes, sum+weights[i]
	}
	a.Sent = bytes / 1e9
	if k, ok := correlation(rates, weights); ok {
		a.Correlation = &k
	}
	for i, x := range all {
		expected := sent{port: x.port}
		if sum > 0 {
			expected.bytes = bytes * weights[i] / sum
		}
		r := &partedRow{
			leads: leads{toPort(f, x.port)}, Port: f.PortName(x.port), To: f.PortName(f.Ports[x.port].Peer),
			Sent: x.bytes / 1e9, Expected: expected.bytes / 1e9, Used: x.used(f), Apart: x.used(f) - expected.used(f), Paths: paths[x.port],
		}
		switch {
		case r.Paths == 0 && x.bytes > 0:
			r.Note = prose.When(a.tablesNotRead.NotRead == nil, "no path leads here", "no known path leads here")
		case r.Paths > 0 && x.bytes == 0 && bytes > 0:
			r.Note = "nothing was sent"
		}
		if math.Abs(r.Apart) >= noticed {
			a.Parted = append(a.Parted, r)
		}
	}
	slices.SortStableFunc(a.Parted, func(x, y *partedRow) int { return cmp.Compare(math.Abs(y.Apart), math.Abs(x.Apart)) })
}

var measuredColumns = []string{"PORT", "TO", "GB/S", "EXPECTED", "USED", "APART", "PATHS", "NOTE"}

func (a *measuredAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%d directions of links between switches sent %.4g GB/s together; expected by the paths of %s (%s)\n", a.Links, a.Sent, fabric.Escape(a.Pattern), a.Of)
	if a.NotRead > 0 {
		_, _ = fmt.Fprintf(w, "not read: what %s sent\n", count(a.NotRead, "other direction"))
	}
	a.tablesNotRead.text(w)
	if a.Correlation != nil {
		_, _ = fmt.Fprintf(w, "correlation of traffic and paths: %.2f (1: traffic is where the tables lay paths)\n", *a.Correlation)
	}
	if len(a.Parted) == 0 {
		_, _ = fmt.Fprintln(w, "each sent what was expected, but for a hundredth of its rate")
		return
	}
	(&List{Columns: measuredColumns, Rows: eachRow(a.Parted[:min(len(a.Parted), a.most)])}).Text(w)
	if more := len(a.Parted) - a.most; more > 0 {
		_, _ = fmt.Fprintf(w, "and %d more (limit=N)\n", more)
	}
}

// Tables has all links that are apart.
func (a *measuredAnswer) Tables() []Table {
	return []Table{{Title: "measured beside expected", Columns: measuredColumns, Rows: rowsOf(a.Parted)}}
}
