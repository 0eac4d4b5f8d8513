// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

const (
	patternWords = "shift:K, shifts[:N], random:SEED, bisection[:N], pairs:FILE, hosts:FILE, hosts:@SET or all " +
		"(default: all to all)"
	loadHelp = "Load is the number of paths over each link if every host sends to every other host, or if the hosts " +
		"send by a\npattern. Patterns order the hosts by name.\n  shift:K        host i sends to host i+K\n  " +
		"shifts[:N]     N shifts, or all shifts, and the mean of their highest loads\n  random:SEED    each host " +
		"sends to one other host, by a random permutation\n  bisection[:N]  N random bisections (default 100): the " +
		"effective bisection bandwidth\n  pairs:FILE     the pairs of a file, one per line: SRC DST\n  " +
		"hosts:FILE     all to all among the hosts of a file, such as those of a job\n  hosts:@SET     all to all " +
		"among the hosts of a set (see hosts)\n  all            all to all, and as many shifts and bisections as " +
		"take a few seconds"
)

// The numbers of links that text lists, and of pairs over the most loaded link.
const (
	worstLinks   = 5
	pairsOnWorst = 5
)

// linkLoads is the result of check load.
type linkLoads struct {
	Pattern string           `key:"pattern" name:"pattern"`
	Hosts   int              `key:"hosts" name:"hosts" help:"hosts of the pattern"`
	Figures *figures         `prefix:""` // nil for shifts and bisections
	Measure feature.Measures `prefix:""`
	Shared  *shares          `prefix:"adaptive_"` // nil for patterns, and if no switch routes adaptively
	Took    time.Duration    `key:"seconds"`

	loads    *linkload.Loads
	summary  linkload.Summary
	pairs    []linkload.Pair
	shares   *choices.Loads
	warnings []string
}

// figures summarizes how paths are distributed over links.
type figures struct {
	Paths     int64        `key:"paths" name:"paths"`
	Lost      int64        `key:"lost" name:"lost" help:"paths that do not arrive; they are not counted"`
	Unknown   int64        `key:"unknown" name:"unknown" help:"paths over unread tables; not counted"`
	Edge      int64        `key:"edge_forwarding_index" name:"edge forwarding index" help:"maximum load"`
	WorstLoad answer.Value `key:"worst_load" name:"most paths" kind:"int" help:"maximum of paths, of a pattern"`
	Share     answer.Value `key:"share" name:"share" kind:"float" help:"mean share of bandwidth per path, of a pattern"`
}

// shares holds the expected loads of links if all choices of adaptive routing are equally likely.
type shares struct {
	Worst   answer.Value `key:"worst" name:"worst" kind:"float" help:"paths over a link between switches"`
	Static  int64        `key:"static_worst" name:"worst by the linear tables"`
	Lost    float64      `key:"lost" name:"lost"`
	Looping int64        `key:"looping" name:"looping" help:"pairs that can loop; they are not counted"`
}

// kindRow is the load of all links of a class, optionally only those of one width and speed.
type kindRow struct {
	Class   string       `key:"class" name:"CLASS" help:"from hosts, to hosts, or between switches"`
	Width   answer.Value `key:"width" name:"WIDTH" kind:"text" help:"width of the links"`
	Speed   answer.Value `key:"speed" name:"SPEED" kind:"text" help:"speed of the links"`
	Links   int          `key:"links" name:"LINKS" help:"directions of links"`
	Unknown int          `key:"unknown" name:"UNKNOWN" help:"directions with unknown load; they are not counted"`
	Unused  int          `key:"unused" name:"UNUSED" help:"directions without a path"`
	Min     int64        `key:"min" name:"MIN" help:"minimum of paths over a direction"`
	Max     int64        `key:"max" name:"MAX" help:"maximum of paths over a direction"`
	Mean    answer.Value `key:"mean" name:"MEAN" kind:"float" help:"mean number of paths over a direction"`
	StdDev  answer.Value `key:"std_dev" name:"STD DEV" kind:"float" help:"standard deviation of the number of paths"`
}

func kindRows(kinds []linkload.Kind) answer.Rows[kindRow] {
	return answer.Lazy(len(kinds), func(i int) kindRow {
		k := &kinds[i]
		return kindRow{
			k.Class.String(), answer.Optional(k.Width), answer.Optional(k.Speed), k.Links, k.Unknown, k.Unused,
			k.Min, k.Max, answer.Float(k.Mean, 1), answer.Float(k.StdDev, 1),
		}
	})
}

// link is a direction of a link with its load.
type link struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	Paths int64        `key:"paths" name:"PATHS"`
	LIDs  int32        `key:"destinations" name:"LIDS"`
	answer.Lead
}

// shareOfLink is a direction of a link with its expected load under adaptive routing.
type shareOfLink struct {
	From   answer.Value `key:"from" name:"FROM" kind:"place"`
	To     answer.Value `key:"to" name:"TO" kind:"place"`
	Paths  answer.Value `key:"paths" name:"SHARES" kind:"float" help:"paths, weighted by the share of their pair"`
	Static int64        `key:"static" name:"STATIC" help:"paths by the linear tables"`
	shares float64
	answer.Lead
}

// pair is a pair of end ports with a path over the most loaded link.
type pair struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
}

var (
	classTable = answer.Table[kindRow]{
		Key: "classes", Title: "classes of links", TextOnly: true, Fields: answer.Fields[kindRow](),
	}
	kindTable = answer.Table[kindRow]{
		Key: "kinds", Title: "kinds of links", TextOnly: true, Fields: answer.Fields[kindRow](),
		Row: "  {class}, {width}{speed}: {links|direction}, {min} to {max} paths, mean {mean}, std dev {std_dev}, " +
			"{unused} unused[, {unknown} unknown]",
	}
	linkTable = answer.Table[link]{
		Key: "links", Title: "links by paths", Help: "links between switches, by number of paths",
		Fields: answer.Fields[link](), Stream: true, MaxRows: worstLinks,
		Row: "  {paths|path} to {destinations|LID} over {from} -> {to}",
	}
	pairTable = answer.Table[pair]{Key: "pairs", Title: "pairs over the most loaded link", TextOnly: true,
		Fields: answer.Fields[pair](), Row: "    {from} -> {to}"}
	shareTable = answer.Table[shareOfLink]{
		Key: "adaptive_links", Title: "links between switches by shares", Fields: answer.Fields[shareOfLink](),
		Stream: true,
	}
)

var loadDecl = answer.Decl[*linkLoads]{
	Command: "check load", Help: "the paths over each link",
	Title:  "load of {of}: {pattern}, {hosts|host}",
	Facts:  answer.Fields[*linkLoads](),
	Layout: loadLayout(),
	Verdict: func(l *linkLoads) (answer.Verdict, string) {
		if n := l.unknown(); n > 0 {
			return answer.Unknown, fmt.Sprintf("the load is unknown: %s over forwarding tables that were not read",
				prose.Count(n, "path"))
		}
		return answer.OK, ""
	},
	Fails: answer.Always,
}

func loadLayout() []answer.Item[*linkLoads] {
	layout := []answer.Item[*linkLoads]{
		{Line: "{?paths}  {paths|path}[, and {lost} that do not arrive and are not counted]"},
		{Line: "[  {unknown} unknown: over tables that were not read, not counted]"},
		{Line: "[  at worst {worst_load|path} over a link; a path has {share} of its bandwidth on average]"},
		{
			Line: "  edge forwarding index {edge_forwarding_index} (the most paths over a link between switches)",
			When: func(l *linkLoads) bool { return l.Figures != nil && l.Figures.WorstLoad.Int() == 0 },
		},
		{Table: answer.Show(&classTable, func(l *linkLoads) answer.Rows[kindRow] {
			return kindRows(l.summary.Classes)
		}), When: answer.Hidden[*linkLoads]},
		{Table: answer.Show(&kindTable, func(l *linkLoads) answer.Rows[kindRow] { return kindRows(l.summary.Kinds) })},
		{Line: "{?adaptive_worst}  with adaptive routing, all choices equally likely: at most {adaptive_worst|path} " +
			"over a link between switches, {adaptive_static_worst} by the linear tables"},
		{Line: "[    {adaptive_looping|pair} can loop and are not counted]"},
		{Table: answer.Show(&linkTable, (*linkLoads).links)},
		{Line: "  over the first of these links:", When: func(l *linkLoads) bool { return len(l.pairs) > 0 }},
		{Table: answer.Show(&pairTable, (*linkLoads).pairsOnWorst)},
		{Table: answer.Show(&shareTable, (*linkLoads).sharesOfLinks), When: answer.Hidden[*linkLoads]},
	}
	return append(layout, feature.MeasureLines[*linkLoads]()...)
}

// The method unknown returns the number of paths that use a table that was not read.
func (l *linkLoads) unknown() int64 {
	n := l.Measure.Unknown()
	if l.Figures != nil {
		n = max(n, l.Figures.Unknown)
	}
	return n
}

func (l *linkLoads) links() answer.Rows[link] {
	f := l.loads
	if f == nil {
		return answer.Rows[link]{}
	}
	worst := l.summary.Worst
	return answer.Lazy(len(worst), func(i int) link {
		return link{answer.Port(f.Fabric, worst[i].Port), answer.Port(f.Fabric, f.Fabric.Ports[worst[i].Port].Peer),
			worst[i].Paths, worst[i].Destinations, feature.ToPort(f.Fabric, worst[i].Port)}
	})
}

func (l *linkLoads) pairsOnWorst() answer.Rows[pair] {
	return answer.Lazy(len(l.pairs), func(i int) pair {
		return pair{answer.Port(l.loads.Fabric, l.pairs[i].Src), answer.Port(l.loads.Fabric, l.pairs[i].Dst)}
	})
}

// sharesOfLinks returns the links between switches, sorted by their expected load under adaptive routing.
func (l *linkLoads) sharesOfLinks() answer.Rows[shareOfLink] {
	if l.shares == nil {
		return answer.Rows[shareOfLink]{}
	}
	f := l.shares.Fabric
	var rows []shareOfLink
	for port := range f.NumPorts() {
		if linkload.ClassOf(f, port) == linkload.BetweenSwitches {
			rows = append(rows, shareOfLink{
				answer.Port(f, port), answer.Port(f, f.Ports[port].Peer), answer.Float(l.shares.Paths[port], 3),
				l.loads.Paths[port], l.shares.Paths[port], feature.ToPort(f, port),
			})
		}
	}
	slices.SortStableFunc(rows, func(x, y shareOfLink) int { return cmp.Compare(y.shares, x.shares) })
	return answer.Slice(rows)
}

func load(c *feature.Call, st *session.State, p *session.Picture) error {
	l := linkLoads{Pattern: c.Option("pattern", "all-to-all")}
	start := time.Now()
	hosts, err := patternHosts(c, p)
	if err != nil {
		return err
	}
	l.Hosts = len(linkload.WithoutGaps(hosts))
	word, arg, hasArg := strings.Cut(c.Option("pattern", ""), ":")
	g, err := c.Grants(st, p)
	if err != nil {
		return err
	}
	switch word {
	case "all", "shifts", "bisection":
		if g != nil {
			return c.Misused("sl= and pkey= apply only to all to all and to patterns of pairs")
		}
	}
	switch {
	case g != nil && word == "" && l.Hosts > feature.MaxFilteredHosts:
		return fmt.Errorf("too many hosts for sl= and pkey=: %d, the maximum is %d; hint: 'pattern=hosts:FILE' "+
			"selects hosts", l.Hosts,
			feature.MaxFilteredHosts)
	case g != nil && word == "":
		err = l.measure(c, p, granted(g, p.Fabric, linkload.Among(p.Fabric, linkload.WithoutGaps(hosts))))
	case g != nil:
		var pairs []linkload.Pair
		if pairs, l.warnings, err = patternPairs(c, p, hosts, word, arg, hasArg); err == nil {
			err = l.measure(c, p, granted(g, p.Fabric, pairs))
		}
	default:
		err = l.loadOfPattern(c, p, hosts, word, arg, hasArg)
	}
	if err != nil {
		return err
	}
	l.Took = time.Since(start)
	b := basis(st, p)
	b.Warnings = append(b.Warnings, l.warnings...)
	return c.Answer(loadDecl.Answer(b, &l))
}

// granted returns the pairs that have a path under the partition and service level in g.
func granted(g *partitions.Grants, f *fabric.Fabric, pairs []linkload.Pair) []linkload.Pair {
	return slices.DeleteFunc(pairs, func(p linkload.Pair) bool {
		_, err := g.Of(p.Src, cmp.Or(p.LID, f.Ports[p.Dst].LID))
		return err != nil
	})
}

// loadOfPattern computes the load of the traffic pattern that word names. Service levels are not considered.
func (l *linkLoads) loadOfPattern(c *feature.Call, p *session.Picture, hosts []fabric.PortIndex, word, arg string,
	hasArg bool) (err error) {
	switch word {
	case "":
		err = l.all(c, p)
	case "all":
		if err = l.all(c, p); err == nil {
			var q linkload.Quick
			q, err = linkload.Estimate(c.Ctx, p.Tables, hosts, seed(c), nil)
			l.Measure = feature.MeasuresOf(q)
		}
	case "shifts", "bisection":
		err = l.many(c, p, hosts, word, arg, hasArg)
	default:
		var pairs []linkload.Pair
		if pairs, l.warnings, err = patternPairs(c, p, hosts, word, arg, hasArg); err == nil {
			err = l.measure(c, p, pairs)
		}
	}
	return err
}

// all computes the load of all to all.
func (l *linkLoads) all(c *feature.Call, p *session.Picture) error {
	loads, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{Switches: c.Flag("switches")})
	if err != nil {
		return err
	}
	l.summarize(loads)
	if p.Tables.Adaptive == nil {
		return nil
	}
	if l.shares, err = c.Session.Analysis().Shares(c.Ctx, p.Tables,
		choices.Options{Switches: c.Flag("switches")}); err != nil {
		return err
	}
	worst := 0.0
	for port := range p.Fabric.NumPorts() {
		if linkload.ClassOf(p.Fabric, port) == linkload.BetweenSwitches {
			worst = max(worst, l.shares.Paths[port])
		}
	}
	l.Shared = &shares{answer.Float(worst, 1), l.summary.EdgeForwardingIndex, l.shares.Lost, l.shares.Looping}
	return nil
}

// patternHosts returns the hosts in the order of a pattern. The order of a ca-order file has gaps.
func patternHosts(c *feature.Call, p *session.Picture) ([]fabric.PortIndex, error) {
	switch {
	case c.Option("order", "name") == "name":
		return linkload.Hosts(p.Fabric), nil
	case p.CAOrder == nil:
		return nil, dumps.ErrNoCAOrder
	}
	return p.CAOrder, nil
}

func seed(c *feature.Call) uint64 { return uint64(c.Int("seed", 1)) }

// summarize sets the figures and the links.
func (l *linkLoads) summarize(loads *linkload.Loads) {
	l.loads, l.summary = loads, loads.Summary(len(loads.Fabric.Ports))
	l.Figures = &figures{
		Paths: loads.Delivered, Lost: loads.Lost, Unknown: loads.Unknown, Edge: l.summary.EdgeForwardingIndex,
	}
}

// many computes shifts or bisections.
func (l *linkLoads) many(c *feature.Call, p *session.Picture, hosts []fabric.PortIndex, word, arg string,
	hasArg bool) error {
	n := 0
	if hasArg {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			return c.Misused("%s:%s: expected a number from 1", word, arg)
		}
	}
	if l.Hosts < 2 {
		return fmt.Errorf("%s of %s: expected at least 2 hosts", word, prose.Count(l.Hosts, "host"))
	}
	if word == "shifts" {
		all, err := linkload.Shifts(c.Ctx, p.Tables, hosts, n, nil)
		l.Measure = feature.MeasuresOf(linkload.Quick{Shifts: all})
		return err
	}
	if !hasArg {
		n = linkload.SomeBisections
	}
	some, err := linkload.Bisections(c.Ctx, p.Tables, linkload.WithoutGaps(hosts), n, seed(c), nil)
	l.Measure = feature.MeasuresOf(linkload.Quick{Bisections: some})
	return err
}

// patternPairs returns the pairs of hosts that a traffic pattern consists of. The warnings
// report hosts that it leaves out.
func patternPairs(c *feature.Call, p *session.Picture, hosts []fabric.PortIndex, word, arg string,
	hasArg bool) (of []linkload.Pair, warnings []string, err error) {
	wrong := c.Misused("pattern=%q: expected %s", c.Option("pattern", ""), patternWords)
	if !hasArg || arg == "" {
		return nil, nil, wrong
	}
	switch word {
	case "shift":
		k, err := strconv.Atoi(arg)
		if err != nil {
			return nil, nil, c.Misused("shift:%s: expected a whole number", arg)
		}
		if len(hosts) > 0 && k%len(hosts) == 0 {
			return nil, nil, c.Misused("shift:%d of %s: each host would send to itself, expected 1 to %d", k,
				prose.Count(len(hosts), "host"), len(hosts)-1)
		}
		return linkload.Shift(hosts, k), nil, nil
	case "random":
		seed, err := strconv.ParseUint(arg, 0, 64)
		if err != nil {
			return nil, nil, c.Misused("random:%s: expected a number from 0", arg)
		}
		return linkload.Permutation(linkload.WithoutGaps(hosts), rand.New(rand.NewPCG(seed, 0))), nil, nil
	case "pairs":
		named, err := pairs.Read(c.Ctx, p.Fabric, arg)
		for _, n := range named {
			of = append(of, linkload.Pair(n))
		}
		return of, nil, err
	case "hosts":
		if name, isSet := strings.CutPrefix(arg, feature.SetPrefix); isSet {
			job, err := c.SetMembers(p.Fabric, name)
			if err != nil {
				return nil, nil, err
			}
			return linkload.Among(p.Fabric, job.Ends()), job.Warnings(name), nil
		}
		job, err := feature.ReadHosts(c.Ctx, p.Fabric, arg)
		return linkload.Among(p.Fabric, job), nil, err
	}
	return nil, nil, wrong
}

// measure computes the load of links when the given pairs send at the same time.
func (l *linkLoads) measure(c *feature.Call, p *session.Picture, pairs []linkload.Pair) error {
	m, err := linkload.Measure(c.Ctx, p.Tables, pairs)
	if err != nil {
		return err
	}
	l.summarize(&m.Loads)
	l.Figures.WorstLoad, l.Figures.Share = answer.Int(m.Worst), answer.Float(m.Share, 3)
	hosts := map[fabric.PortIndex]bool{}
	for _, pair := range pairs {
		hosts[pair.Src], hosts[pair.Dst] = true, true
	}
	l.Hosts = len(hosts)
	if len(l.summary.Worst) > 0 {
		l.pairs = linkload.PairsOn(p.Tables, pairs, l.summary.Worst[0].Port, pairsOnWorst)
	}
	return nil
}
