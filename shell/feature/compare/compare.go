// SPDX-License-Identifier: Apache-2.0

// Package compare routes a subnet with several engines and measures the resulting tables.
package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/settings"
)

// Feature is the command compare engines.
var Feature = feature.Feature{Name: "compare", Keys: []feature.Key{
	{Name: "pane-E", Keys: "E", Pane: "Engines", Help: "routes of each engine and the incremental route, compared; " +
		"Enter uses one"},
}, Commands: []feature.Command{
	{Path: "compare", Group: feature.GroupRoute, Summary: "Compare engines"},
	{
		Path: "compare engines", Summary: "Route with each engine and measure the tables",
		Help: "The tables on the switches are measured, too. Nothing is staged.\nMOST PATHS   over a link between " +
			"switches (edge forwarding index)\nSHIFT        shift figure (see check load)\nBISECTION    " +
			"effective bisection bandwidth, 1 is " +
			"full (see check load)\nHOPS         maximum and mean number of links of a path\nCHANGED      entries " +
			"that differ from those on the switches, of tables that were read\nLOST         pairs of end ports with " +
			"a path that does not arrive; pairs over tables that were not read are counted separately\nVLS and " +
			"CREDIT LOOP of the tables on the switches are unknown if they depend on unread SLs or VLs;\n" +
			"'calibrate' or 'sweep full sl2vl' reads them.\nThe name incremental stands for the tables that 'route " +
			"incremental' would stage.",
		Args: []lang.Arg{{Name: "ENGINE", Kind: lang.KindEngine, Words: []string{comparison.Incremental},
			Optional: true, Repeat: true}},
		Options: []lang.Option{{Name: "with", Kind: lang.KindFile, Value: "FILE|ID|STATE", List: true,
			Summary: "tables to measure too: a file with routes, a history entry, staged, ..."}},
		Examples: []string{
			"compare engines minhop updn",
			"fail switch spine-02; compare engines incremental minhop ftree",
		},
		Answers: []answer.Declared{&decl},
		Run:     run,
	},
}}

// compared is the comparison of engines.
type compared struct {
	Best   answer.Value `key:"best" name:"best" kind:"text" help:"best engine by lost pairs, credit loops and load"`
	Reason answer.Value `name:"reason" kind:"text"`
	Use    string       `name:"use"` // the commands that stage the tables of the best engine

	engines []*engine
	refused []refused
	f       *fabric.Fabric
	best    int // row of the best engine, from 1; 0 for none
	loads   loads
}

// engine is a row: the figures of the tables that an engine computed, or of existing tables.
type engine struct {
	Name         string           `key:"name" name:"ENGINE"`
	Worst        int64            `key:"worst_load" name:"MOST PATHS" help:"edge forwarding index"`
	Shift        answer.Value     `key:"shift_figure" name:"SHIFT" kind:"int" help:"maximum over all shifts"`
	Bisection    answer.Value     `key:"effective_bisection" name:"BISECTION" kind:"float" help:"1 is full"`
	MaxHops      int              `key:"max_hops" help:"maximum number of links of a path"`
	MeanHops     float64          `key:"mean_hops"`
	Hops         string           `name:"HOPS" help:"maximum and mean number of links of a path"`
	Pairs        int64            `key:"pairs"`
	LostPairs    int64            `key:"lost_pairs"`
	LuckPairs    int64            `key:"luck_pairs" help:"pairs with a path that arrives by some adaptive choices only"`
	UnknownPairs int64            `key:"unknown_pairs"`
	LostPaths    int64            `key:"lost_paths"`
	UnknownPaths int64            `key:"unknown_paths" help:"paths over unread tables; not in other figures"`
	Paths        int64            `key:"paths"`
	VLs          answer.Value     `key:"vls" kind:"int"`
	VLsText      string           `name:"VLS"`
	Loop         answer.Value     `key:"credit_loop" kind:"bool"`
	LoopText     string           `name:"CREDIT LOOP" help:"whether links can wait for each other in a cycle"`
	Changed      answer.Value     `key:"changed_entries" kind:"int" help:"entries that differ from the switches"`
	Unread       int              `key:"unread" help:"switches whose tables were not read and not compared"`
	ChangedText  string           `name:"CHANGED" help:"entries that differ from those on the switches"`
	Lost         string           `name:"LOST"`
	Seconds      answer.Value     `key:"seconds" kind:"duration"`
	Time         string           `name:"TIME" help:"time that routing took"`
	Allocated    answer.Value     `key:"allocated_megabytes" kind:"float" unit:"MB"`
	Memory       string           `name:"ALLOCATED" help:"memory that routing allocated"`
	Measures     feature.Measures `prefix:""`

	figures *comparison.Figures
	answer.Lead
}

// refused is an engine that refused to route the subnet.
type refused struct {
	Name string `key:"name" name:"ENGINE"`
	Why  string `key:"why" name:"REASON"`
}

// linkPaths is a direction of a link between switches, with its number of paths under each engine.
type linkPaths struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	Least int64        `key:"least" name:"LEAST" help:"the fewest paths of any of the tables"`
	Most  int64        `key:"most" name:"MOST" help:"the most paths of any of the tables"`
	Names []string     `key:"engines"`
	Paths answer.Value `key:"paths" kind:"list" help:"paths of each of the engines"`
	Text  string       `name:"PATHS"`
	answer.Lead
}

var (
	engineTable = answer.Table[*engine]{
		Key: "engines", Title: "engines", Fields: engineFields(), Stream: true,
	}
	refusedTable = answer.Table[refused]{
		Key: "refused", Title: "engines that refused", Fields: answer.Fields[refused](),
		Row: "{name} does not route this subnet: {why}",
	}
	linkTable = answer.Table[linkPaths]{
		Key: "links", Title: "paths over links", Help: "links between switches, by the difference of " +
			"their paths", Fields: answer.Fields[linkPaths](), Stream: true,
	}
)

// engineFields returns the fields of a row. Text omits the measures.
func engineFields() []answer.Field[*engine] {
	fields := answer.Fields[*engine]()
	for i := range fields {
		if f := &fields[i]; strings.HasPrefix(f.Key, "shifts_") || strings.HasPrefix(f.Key, "bisections_") {
			f.Name = ""
		}
	}
	return fields
}

var decl = answer.Decl[*compared]{
	Command: "compare engines", Help: "figures of the tables of engines, and of those on the switches",
	Facts: answer.Fields[*compared](),
	Layout: []answer.Item[*compared]{
		{Table: answer.Show(&engineTable, func(c *compared) answer.Rows[*engine] {
			rows := answer.Slice(c.engines)
			rows.Best = c.best
			return rows
		})},
		{Table: answer.Show(&refusedTable, func(c *compared) answer.Rows[refused] { return answer.Slice(c.refused) })},
		{Line: "{?best}best: {best} ({use}): among engines with the fewest lost pairs{reason} it has " +
			"the lowest MOST PATHS, then the best BISECTION"},
		{Table: answer.Show(&linkTable, func(c *compared) answer.Rows[linkPaths] { return c.loads.rows(c.f) }),
			When: answer.Hidden[*compared]},
	},
	Verdict: (*compared).verdict, Fails: answer.Asked,
}

// verdict returns Found unless at least one engine routes the subnet without lost pairs and without a credit loop.
func (c *compared) verdict() (answer.Verdict, string) {
	var best *comparison.Figures
	for _, e := range c.engines {
		if e.figures.Beats(best) {
			best = e.figures
		}
	}
	switch {
	case best == nil && len(c.refused) > 0:
		return answer.Found, "no engine routes this subnet"
	case best == nil:
		return answer.OK, ""
	case best.Lost+best.Luck > 0:
		return answer.Found, fmt.Sprintf("each engine loses pairs, %s %d", best.Name, best.Lost+best.Luck)
	case best.Loop == credits.Loop:
		return answer.Found, "each engine that loses fewest pairs has a credit loop"
	case best.Pairs.Unknown > 0 || best.Loop == credits.Unknown:
		return answer.Unknown, "whether an engine loses pairs or has a credit loop is unknown"
	}
	return answer.OK, ""
}

const incrementalRoute = "route incremental"

func run(c *feature.Call) error {
	var with []string
	if list := c.Option("with", ""); list != "" {
		with = strings.Split(list, ",")
	}
	st := c.Session.State()
	p := st.Live
	if st.WhatIf != nil {
		p = st.WhatIf
	}
	x := compared{f: p.Fabric}
	var best *comparison.Figures
	stopped := comparison.Engines(c.Ctx, c.Session, c.Args, with, func(e comparison.Figures) error {
		x.loads.add(&e)
		if e.Refused != "" {
			x.refused = append(x.refused, refused{e.Name, e.Refused})
			return nil
		}
		x.engines = append(x.engines, engineOf(&st.Settings, &e))
		if e.Beats(best) {
			best, x.best = &e, len(x.engines)
		}
		return nil
	})
	switch {
	case stopped != nil && c.Ctx.Err() == nil:
		return stopped
	case stopped != nil || len(x.engines) < 2: // show the engines so far
		x.best = 0
	case best != nil:
		x.Best, x.Use = answer.Text(best.Name), prose.When(best.Name == comparison.Incremental,
			incrementalRoute, "engine "+best.Name+"; route")
		x.Reason = answer.Text([...]string{
			credits.None: " and no credit loop", credits.Loop: ", all with a credit loop,",
			credits.Unknown: ", all of which may have a credit loop,",
		}[best.Loop])
	}
	if err := c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedTables), &x)); err != nil {
		return err
	}
	return stopped
}

func engineOf(set *settings.Settings, e *comparison.Figures) *engine {
	r := &engine{
		Name: e.Name, Time: "-", Memory: "-", Worst: e.Worst, MaxHops: e.MaxHops, MeanHops: e.MeanHops,
		Hops:  fmt.Sprintf("%d (%.2f)", e.MaxHops, e.MeanHops),
		Pairs: e.Pairs.Pairs, LostPairs: e.Lost, LuckPairs: e.Luck, UnknownPairs: e.Pairs.Unknown, LostPaths: e.Bad,
		UnknownPaths: e.UnknownPaths, Paths: e.Paths,
		VLs: answer.NotRead(), VLsText: "unknown", Loop: answer.NotRead(), LoopText: e.Loop.String(), ChangedText: "-",
		Lost:     fmt.Sprint(e.Lost),
		Measures: feature.MeasuresOf(e.Quick), figures: e,
	}
	if e.Computed {
		r.Lead = answer.Lead{Command: prose.When(e.Name == comparison.Incremental, incrementalRoute,
			feature.EngineCommand(set, e.Name))}
		r.Seconds, r.Time = answer.Duration(e.Took), e.Took.Round(time.Millisecond/10).String()
		r.Allocated, r.Memory = answer.Float(float64(e.Allocated)/1e6, 1),
			fmt.Sprintf("%.1f MB", float64(e.Allocated)/1e6)
	}
	if e.Shifts != nil {
		r.Shift, r.Bisection = answer.Int(e.Shifts.Worst), answer.Float(e.Bisections.Mean, 3)
	}
	if e.VLs > 0 {
		r.VLs, r.VLsText = answer.Int(e.VLs), fmt.Sprint(e.VLs)
	}
	if e.Loop != credits.Unknown {
		r.Loop = answer.Bool(e.Loop == credits.Loop)
	}
	if e.Loop == credits.Loop {
		r.LoopText = "YES"
	}
	if e.Changed >= 0 {
		r.Changed, r.Unread, r.ChangedText = answer.Int(e.Changed), e.Unread, fmt.Sprint(e.Changed)
	}
	if r.Unread > 0 {
		r.ChangedText += fmt.Sprintf(" (%d unread)", r.Unread)
	}
	if r.LuckPairs > 0 {
		r.Lost += fmt.Sprintf(" (%d by luck)", r.LuckPairs)
	}
	if r.UnknownPairs > 0 {
		r.Lost += fmt.Sprintf(" (%d unknown)", r.UnknownPairs)
	}
	return r
}

// loads holds the number of paths over each link of one subnet, for each engine.
type loads struct {
	names []string
	of    []*linkload.Loads
}

// add adds the loads of an engine. If the engines route a what-if, add drops the loads of the tables on the switches,
// whose links differ.
func (l *loads) add(e *comparison.Figures) {
	if e.Loads == nil {
		return
	}
	if len(l.of) > 0 && !fabric.Same(l.of[0].Fabric, e.Loads.Fabric) {
		l.names, l.of = nil, nil
	}
	l.names, l.of = append(l.names, e.Name), append(l.of, e.Loads)
}

// rows returns the links between switches. They are sorted by the difference of their numbers of paths, then by load.
func (l *loads) rows(f *fabric.Fabric) answer.Rows[linkPaths] {
	if len(l.of) < 2 || !fabric.Same(f, l.of[0].Fabric) {
		return answer.Rows[linkPaths]{}
	}
	type link struct {
		port        fabric.PortIndex
		least, most int64
	}
	var links []link
	for port := range f.NumPorts() {
		if linkload.ClassOf(f, port) != linkload.BetweenSwitches {
			continue
		}
		x := link{port, l.of[0].Paths[port], l.of[0].Paths[port]}
		for _, o := range l.of[1:] {
			x.least, x.most = min(x.least, o.Paths[port]), max(x.most, o.Paths[port])
		}
		links = append(links, x)
	}
	slices.SortStableFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.most-b.least, a.most-a.least), cmp.Compare(b.most, a.most))
	})
	return answer.Lazy(len(links), func(i int) linkPaths {
		x := links[i]
		paths, texts := make([]answer.Value, len(l.of)), make([]string, len(l.of))
		for j, o := range l.of {
			paths[j], texts[j] = answer.Int(o.Paths[x.port]), fmt.Sprintf("%s %d", l.names[j], o.Paths[x.port])
		}
		return linkPaths{
			answer.Port(f, x.port), answer.Port(f, f.Ports[x.port].Peer), x.least, x.most, l.names, answer.List(paths),
			strings.Join(texts, ", "), feature.ToPort(f, x.port),
		}
	})
}
