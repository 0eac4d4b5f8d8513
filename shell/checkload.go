// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
)

const (
	patternWords = "shift:K, shifts[:N], random:SEED, bisection[:N], pairs:FILE, hosts:FILE, hosts:@SET or all; all to all without it"
	loadHelp     = "The load is that of all to all, or of a pattern. Patterns take the hosts in the order of their names.\n" +
		"  shift:K        host i sends to host i+K\n" +
		"  shifts[:N]     N of all shifts, or all: the shift figure\n" +
		"  random:SEED    a random permutation\n" +
		"  bisection[:N]  N random bisections, 100 without a number: the effective bisection bandwidth\n" +
		"  pairs:FILE     the pairs of a file, a line each: SRC DST\n" +
		"  hosts:FILE     all to all among the hosts of a file, as of a job\n" +
		"  hosts:@SET     all to all among the hosts of a set (see hosts)\n" +
		"  all            all to all, and as many shifts and bisections as are quick"
)

// How much of many figures there is where nobody says.
const (
	worstLinks   = 5
	pairsOnWorst = 5
)

type loadAnswer struct {
	checked
	Pattern string `json:"pattern"`
	// Hosts is the number of hosts that take part.
	Hosts int   `json:"hosts"`
	Paths int64 `json:"paths"`
	Lost  int64 `json:"lost"`
	// Unknown counts the paths that meet a table that was not read. The figures leave them out.
	Unknown int64 `json:"unknown"`
	// WorstLoad and Share are those of a pattern.
	WorstLoad int64   `json:"worst_load,omitempty"`
	Share     float64 `json:"share,omitempty"`
	*linkload.Summary
	Worst []linkLoad `json:"worst,omitempty"`
	measures
	Seconds float64 `json:"seconds"`
	// Shared is nil where no switch routes adaptively, and of patterns.
	Shared *sharedLoad `json:"adaptive,omitempty"`

	loads *linkload.Loads // nil where there are figures alone
}

// Tables has the loads of all links, the most loaded ones first.
func (a *loadAnswer) Tables() []Table {
	if a.loads == nil {
		return nil
	}
	f := a.loads.Fabric
	tables := []Table{tableOf("links by paths", []string{"FROM", "TO", "PATHS", "LIDS"}, a.loads.Summary(len(f.Ports)).Worst, func(l linkload.Link) plainRow {
		return plainRow{leads{toPort(f, l.Port)}, []any{f.PortName(l.Port), f.PortName(f.Ports[l.Port].Peer), l.Paths, l.Destinations}}
	})}
	if a.Shared != nil {
		tables = append(tables, a.Shared.table(f))
	}
	return tables
}

type linkLoad struct {
	From         string     `json:"from"`
	To           string     `json:"to"`
	Paths        int64      `json:"paths"`
	Destinations int32      `json:"destinations"`
	Pairs        []loadPair `json:"pairs,omitempty"`
}

func (l *linkLoad) text() string {
	return fmt.Sprintf("%s to %s over %s -> %s", count(int(l.Paths), "path"), count(int(l.Destinations), "LID"), l.From, l.To)
}

type loadPair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (c *call) checkLoad(st *session.State, p *session.Picture) error {
	a := loadAnswer{checked: checkedOf("load", st, p, verdict.OK), Pattern: c.Option("pattern", "all-to-all")}
	start := time.Now()
	hosts, err := c.patternHosts(p)
	if err != nil {
		return err
	}
	a.Hosts = len(linkload.WithoutGaps(hosts))
	word, arg, hasArg := strings.Cut(c.Option("pattern", ""), ":")
	g, err := c.grants(st, p)
	if err != nil {
		return err
	}
	switch word {
	case "all", "shifts", "bisection":
		if g != nil {
			return c.Misused("sl= and pkey= are for all to all and for patterns of pairs")
		}
	}
	switch {
	case g != nil && word == "" && a.Hosts > mostGranted:
		return fmt.Errorf("the paths of %d hosts are too many to ask for each (try: pattern=hosts:FILE, with %d at most)", a.Hosts, mostGranted)
	case g != nil && word == "":
		err = c.loadPattern(&a, p, granted(g, p.Fabric, linkload.Among(p.Fabric, linkload.WithoutGaps(hosts))))
	case g != nil:
		var pairs []linkload.Pair
		if pairs, err = c.loadPairs(p, hosts, word, arg, hasArg); err == nil {
			err = c.loadPattern(&a, p, granted(g, p.Fabric, pairs))
		}
	default:
		err = c.loadOf(&a, p, hosts, word, arg, hasArg)
	}
	if err != nil {
		return err
	}
	a.Seconds = time.Since(start).Seconds()
	unknown := max(a.Unknown, a.measures.unknown())
	a.Verdict = verdict.Of(false, unknown > 0)
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	return c.judge(a.Verdict, "", fmt.Sprintf("the load is unknown: %s over forwarding tables that were not read", prose.Count(unknown, "path")))
}

// mostGranted is of how many hosts each pair is looked at.
const mostGranted = 5000

// granted are the pairs that have a path of those that were asked for.
func granted(g *session.Grants, f *fabric.Fabric, pairs []linkload.Pair) []linkload.Pair {
	return slices.DeleteFunc(pairs, func(p linkload.Pair) bool {
		_, _, err := g.Of(p.Src, cmp.Or(p.LID, f.Ports[p.Dst].LID))
		return err != nil
	})
}

// loadOf is the load of a pattern, whatever service levels its paths have.
func (c *call) loadOf(a *loadAnswer, p *session.Picture, hosts []fabric.PortIndex, word, arg string, hasArg bool) (err error) {
	switch word {
	case "":
		err = c.loadAll(a, p)
	case "all":
		if err = c.loadAll(a, p); err == nil {
			var q linkload.Quick
			q, err = linkload.Quickly(c.ctx, p.Tables, hosts, c.seed(), nil)
			a.measures = measures(q)
		}
	case "shifts", "bisection":
		err = c.loadMany(a, p, hosts, word, arg, hasArg)
	default:
		var pairs []linkload.Pair
		if pairs, err = c.loadPairs(p, hosts, word, arg, hasArg); err == nil {
			err = c.loadPattern(a, p, pairs)
		}
	}
	return err
}

func (c *call) loadAll(a *loadAnswer, p *session.Picture) error {
	l, err := c.session.Analysis().Load(c.ctx, p.Tables, linkload.Options{Switches: c.Flag("switches")})
	if err != nil {
		return err
	}
	a.summarize(l, p)
	if p.Tables.Adaptive == nil {
		return nil
	}
	shares, err := c.session.Analysis().Shares(c.ctx, p.Tables, choices.Options{Switches: c.Flag("switches")})
	if err == nil {
		a.Shared = sharedLoadOf(shares, l)
	}
	return err
}

// patternHosts are the hosts in the order in which a pattern takes them, with
// gaps where it is the ca-order.
func (c *call) patternHosts(p *session.Picture) ([]fabric.PortIndex, error) {
	switch {
	case c.Option("order", "name") == "name":
		return linkload.Hosts(p.Fabric), nil
	case p.CAOrder == nil:
		return nil, session.ErrNoCAOrder
	}
	return p.CAOrder, nil
}

func (c *call) seed() uint64 { return uint64(c.Int("seed", 1)) }

func (a *loadAnswer) summarize(l *linkload.Loads, p *session.Picture) {
	s := l.Summary(worstLinks)
	a.loads = l
	a.Summary, a.Paths, a.Lost, a.Unknown = &s, l.Delivered, l.Lost, l.Unknown
	for _, w := range s.Worst {
		a.Worst = append(a.Worst, linkLoad{
			From: p.Fabric.PortName(w.Port), To: p.Fabric.PortName(p.Fabric.Ports[w.Port].Peer), Paths: w.Paths, Destinations: w.Destinations,
		})
	}
}

func (c *call) loadMany(a *loadAnswer, p *session.Picture, hosts []fabric.PortIndex, word, arg string, hasArg bool) error {
	n := 0
	if hasArg {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			return c.Misused("%q is no number of %s", arg, word)
		}
	}
	if a.Hosts < 2 {
		return fmt.Errorf("%s of %s: two are needed", word, count(a.Hosts, "host"))
	}
	var err error
	if word == "shifts" {
		a.Shifts, err = linkload.Shifts(c.ctx, p.Tables, hosts, n, nil)
		return err
	}
	if !hasArg {
		n = linkload.SomeBisections
	}
	a.Bisections, err = linkload.Bisections(c.ctx, p.Tables, linkload.WithoutGaps(hosts), n, c.seed(), nil)
	return err
}

// loadPairs are the pairs of a pattern.
func (c *call) loadPairs(p *session.Picture, hosts []fabric.PortIndex, word, arg string, hasArg bool) ([]linkload.Pair, error) {
	wrong := c.Misused("%q is no pattern: want %s", c.Option("pattern", ""), patternWords)
	if !hasArg || arg == "" {
		return nil, wrong
	}
	switch word {
	case "shift":
		k, err := strconv.Atoi(arg)
		if err != nil {
			return nil, c.Misused("%q is no whole number of hosts to shift by", arg)
		}
		if len(hosts) > 0 && k%len(hosts) == 0 {
			return nil, c.Misused("shift:%d of %s sends each to itself, expected 1 to %d", k, count(len(hosts), "host"), len(hosts)-1)
		}
		return linkload.Shift(hosts, k), nil
	case "random":
		seed, err := strconv.ParseUint(arg, 0, 64)
		if err != nil {
			return nil, c.Misused("%q is no seed: want a number from 0 up", arg)
		}
		return linkload.Permutation(linkload.WithoutGaps(hosts), rand.New(rand.NewPCG(seed, 0))), nil
	case "pairs":
		named, err := session.ReadPairs(c.ctx, p.Fabric, arg)
		pairs := make([]linkload.Pair, 0, len(named))
		for _, n := range named {
			pairs = append(pairs, linkload.Pair(n))
		}
		return pairs, err
	case "hosts":
		if name, isSet := strings.CutPrefix(arg, "@"); isSet {
			st := c.session.State()
			job, err := setMembers(&st, p.Fabric, name)
			return linkload.Among(p.Fabric, job), err
		}
		job, err := readHosts(c.ctx, p.Fabric, arg)
		return linkload.Among(p.Fabric, job), err
	}
	return nil, wrong
}

func (c *call) loadPattern(a *loadAnswer, p *session.Picture, pairs []linkload.Pair) error {
	m, err := linkload.Measure(c.ctx, p.Tables, pairs)
	if err != nil {
		return err
	}
	a.summarize(&m.Loads, p)
	a.WorstLoad, a.Share = m.Worst, m.Share
	hosts := map[fabric.PortIndex]bool{}
	for _, pair := range pairs {
		hosts[pair.Src], hosts[pair.Dst] = true, true
	}
	a.Hosts = len(hosts)
	if len(a.Summary.Worst) > 0 {
		for _, on := range linkload.On(p.Tables, pairs, a.Summary.Worst[0].Port, pairsOnWorst) {
			a.Worst[0].Pairs = append(a.Worst[0].Pairs, loadPair{p.Fabric.PortName(on.Src), p.Fabric.PortName(on.Dst)})
		}
	}
	return nil
}

func (a *loadAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("load of %s: %s, %s", a.Of, fabric.Escape(a.Pattern), count(a.Hosts, "host"))
	a.tablesNotRead.text(w)
	if a.Summary != nil {
		a.summaryText(line)
	}
	a.measures.text(w)
}

func (a *loadAnswer) summaryText(line func(format string, args ...any)) {
	if a.Lost > 0 {
		line("  %s, and %d that do not arrive and are not counted", count(int(a.Paths), "path"), a.Lost)
	} else {
		line("  %s", count(int(a.Paths), "path"))
	}
	if a.Unknown > 0 {
		line("  %d unknown: over tables that were not read; the figures leave them out", a.Unknown)
	}
	if a.WorstLoad > 0 {
		line("  at worst %s over a link; a path has %.3f of its bandwidth on average", count(int(a.WorstLoad), "path"), a.Share)
	} else {
		line("  edge forwarding index %d (the most paths over a link between switches)", a.EdgeForwardingIndex)
	}
	for _, k := range a.Kinds {
		unknown := prose.When(k.Unknown > 0, fmt.Sprintf(", %d unknown", k.Unknown), "")
		line("  %s, %s%s: %s, %d to %d paths, mean %.1f, std dev %.1f, %d unused%s",
			k.Class, k.Width, k.Speed, count(k.Links, "direction"), k.Min, k.Max, k.Mean, k.StdDev, k.Unused, unknown)
	}
	a.Shared.text(line)
	for _, l := range a.Worst {
		line("  %s", l.text())
		for _, p := range l.Pairs {
			line("    %s -> %s", p.From, p.To)
		}
	}
}
