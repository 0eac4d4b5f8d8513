// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/parallel"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func subnetsCommands() []Spec {
	return []Spec{
		{Name: "sources", Summary: "list the subnets of this console side by side", Run: runSources, Bare: true,
			Help: "Where the console was opened with several sources, each is a subnet with a session of its own. Most that they have must be alike for rails of the same hosts: sources differ says what is not.",
			Subcommands: []Spec{
				{Name: "now", Summary: "list them without waiting for those that are still being read", Run: runSourcesNow},
				{Name: "differ", Summary: "say what a subnet has otherwise than most of them: hosts, cabling, speeds, tables", Run: runDiffer},
			}},
		{Name: "source", Summary: "say on which subnet commands act that name none, or choose it", Run: runSource,
			Args: []lang.Arg{{Name: "SUBNET", Kind: lang.KindSubnet, Optional: true}}},
		{Name: onCommand, Summary: "run a command on a subnet, or on all at once: on all summary",
			Help: "The answers come in the order of the subnets. A subnet that does not answer holds up no other. With --json each object says its subnet. It fails where one has failed. What writes to switches names one subnet.",
			Run:  func(c *call) error { return c.Misused("no command") },
			Args: []lang.Arg{{Name: "SUBNET", Kind: lang.KindSubnet}, {Name: "COMMAND", Kind: lang.KindCommand, Repeat: true}}},
	}
}

// runSource says which subnet is chosen, or chooses another.
func runSource(c *call) error {
	s := c.shell.among
	if name := c.Arg(0); name != "" {
		at, err := s.Find(name)
		if err != nil {
			return err
		}
		s.Choose(at)
	}
	st := c.session.State()
	name := ""
	if s != nil {
		n := s.current()
		st, name = n.session.State(), n.Shell.Name()
	}
	return c.say(object{"subnet": name, "source": st.Source.String()}, "%s", fabric.Escape(strings.TrimSpace(name+" "+st.Source.String())))
}

// Overview is a subnet among others, in figures.
type Overview struct {
	Name     string `json:"subnet"`
	Source   string `json:"source"`
	Trouble  string `json:"error,omitempty"` // why nothing is known of it
	Lost     string `json:"lost,omitempty"`
	Busy     string `json:"busy,omitempty"`
	Switches int    `json:"switches"`
	Hosts    int    `json:"hosts"`
	Links    int    `json:"links"`
	Down     int    `json:"down"` // [session.State.Down]
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	// Worst is how many paths go over the busiest link between switches, -1 where that is not known.
	Worst   int64  `json:"worst_load"`
	Manager string `json:"manager"`
	// Engine is that of the live tables, "" where it is not known.
	Engine  string    `json:"engine,omitempty"`
	Swept   time.Time `json:"swept"`
	Differs int       `json:"differs"` // what it has otherwise than most
}

// Cells are the columns of the table.
func (o *Overview) Cells() []any {
	if o.Trouble != "" {
		return []any{o.Name, "-", "-", "-", "-", "-", "-", "-", o.Trouble}
	}
	worst := prose.When(o.Worst < 0, "-", fmt.Sprint(o.Worst))
	return []any{o.Name, o.Switches, o.Hosts, o.Links, o.Down, fmt.Sprintf("%d/%d", o.Errors, o.Warnings), worst, o.Differs, o.state()}
}

// state is the manager and when the subnet was read, or what is wrong with that.
func (o *Overview) state() string {
	read := "read " + o.Swept.Format(time.TimeOnly)
	switch {
	case o.Lost != "":
		read = "OLD, " + read + ": " + o.Lost
	case o.Busy != "":
		read += ", " + o.Busy + " runs"
	}
	return strings.Join(slices.DeleteFunc([]string{o.Manager, read}, func(s string) bool { return s == "" }), "; ")
}

// runSources lists the subnets once all were read, or could not be.
func runSources(c *call) error {
	if s := c.shell.among; s != nil {
		if err := s.wait(c.ctx); err != nil {
			return err
		}
	}
	return runSourcesNow(c)
}

// wait waits until all were read for the first time.
func (s *Subnets) wait(ctx context.Context) error {
	for _, n := range s.all {
		if err := n.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func runSourcesNow(c *call) error {
	all := c.shell.among
	if all == nil {
		all = &Subnets{all: []*Subnet{{Shell: c.shell, name: c.session.State().Source.String()}}}
	}
	compared, err := all.Compare(c.ctx)
	if err != nil {
		return err
	}
	return c.list([]string{"subnet", "switches", "hosts", "links", "down", "errors/warnings", "worst load", "differs", "state"}, pointers(compared.Subnets))
}

func pointers(rows []Overview) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
}

// overviews are those of all subnets, looked at at once.
func (s *Subnets) overviews(ctx context.Context) ([]Overview, error) {
	rows := make([]Overview, len(s.all))
	failed := make([]error, len(s.all))
	var wait sync.WaitGroup
	var crash parallel.Crash
	for i, n := range s.all {
		wait.Go(func() { crash.Keep(func() { failed[i] = n.overview(ctx, &rows[i]) }) })
	}
	wait.Wait()
	crash.Again()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (n *Subnet) overview(ctx context.Context, o *Overview) error {
	st := n.session.State()
	*o = Overview{Name: n.name, Source: st.Source.String(), Worst: -1, Lost: st.Lost, Busy: st.Busy, Swept: st.Live.When, Engine: st.LiveEngine()}
	if err := n.Trouble(); err != nil {
		o.Trouble = err.Error()
		return nil
	}
	memo := n.session.Analysis()
	structure := memo.Structure(st.Live.Fabric)
	o.Switches, o.Links = structure.Nodes.Switches, len(st.Live.Fabric.Links())
	o.Hosts = len(structure.Hosts())
	for _, sm := range st.SMs {
		if sm.State == mad.SMMaster.String() {
			o.Manager = "manager " + sm.Port
		}
	}
	report, err := st.Problems(ctx, memo, session.ProblemOptions{Recorded: n.session.RecordedLately(ctx)})
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	for _, p := range report.Problems {
		o.Errors += prose.When(p.Severity == problems.Error, 1, 0)
		o.Warnings += prose.When(p.Severity == problems.Warning, 1, 0)
	}
	o.Down = st.Down()
	if st.Live.Tables == nil {
		return nil
	}
	loads, err := memo.Load(ctx, st.Live.Tables, linkload.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	o.Worst = loads.Summary(0).EdgeForwardingIndex
	return nil
}

// The kinds of differences between the live states of sessions.
const (
	// differentEngine is an engine that is not that of most.
	differentEngine classify.DifferenceKind = "engine"
	// sharedNodes are nodes of one subnet that another has, too.
	sharedNodes classify.DifferenceKind = "nodes"
	// notRead is a subnet that could not be read, and is not compared.
	notRead classify.DifferenceKind = "not read"
)

// differences are what each live subnet has otherwise than most of them; subnets of which nothing is known are left out.
func (s *Subnets) differences() (out []classify.Difference, fabrics []*fabric.Fabric) {
	add := func(i int, kind classify.DifferenceKind, what string) {
		out = append(out, classify.Difference{Subnet: i, Node: fabric.None, Port: fabric.None, Kind: kind, What: what})
	}
	var all []*classify.Structure
	var tables []*fabric.Tables
	var at []int
	engines, engineOf := map[string]int{}, make([]string, len(s.all))
	for i, n := range s.all {
		st := n.session.State()
		fabrics = append(fabrics, st.Live.Fabric)
		if err := n.Trouble(); err != nil {
			add(i, notRead, err.Error())
		}
		if len(st.Live.Fabric.Nodes) == 0 {
			continue
		}
		all, at = append(all, n.session.Analysis().Structure(st.Live.Fabric)), append(at, i)
		tables = append(tables, st.Live.Tables)
		if engineOf[i] = st.LiveEngine(); engineOf[i] != "" {
			engines[engineOf[i]]++
		}
	}
	for _, d := range classify.Compare(all, tables) {
		d.Subnet = at[d.Subnet]
		out = append(out, d)
	}
	usual := ""
	for engine, n := range engines {
		if n > engines[usual] || n == engines[usual] && engine < usual {
			usual = engine
		}
	}
	for n, i := range at {
		if engine := engineOf[i]; engine != "" && engine != usual {
			add(i, differentEngine, fmt.Sprintf("its tables are of %s, those of most others are of %s", engine, usual))
		}
		for m, j := range at[:n] {
			if what := shared(fabrics[i], fabrics[j], tables[n], tables[m], s.all[j].name); what != "" {
				add(i, sharedNodes, what)
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b classify.Difference) int { return cmp.Compare(a.Subnet, b.Subnet) })
	return out, fabrics
}

// shared says which nodes a subnet has in common with another one of some name, "" for none. They are the same subnet where
// nodes, links, LIDs and tables are.
func shared(a, b *fabric.Fabric, t, u *fabric.Tables, name string) string {
	nodes := 0
	for i := range a.Nodes {
		if b.NodeByGUID(a.Nodes[i].GUID) != fabric.None {
			nodes++
		}
	}
	if nodes == 0 {
		return ""
	}
	if nodes < max(len(a.Nodes), len(b.Nodes)) {
		return fmt.Sprintf("%d of %s have GUIDs of nodes of %s", nodes, prose.Count(len(a.Nodes), "node"), name)
	}
	links, lids := 0, 0
	for _, c := range fabric.Changes(b, a) {
		switch c.Kind {
		case fabric.LinkDown, fabric.LinkUp:
			links++
		case fabric.LIDChanged:
			lids++
		}
	}
	var entries diff.Entries
	if t != nil && u != nil {
		entries = diff.Count(u, t)
	}
	words := slices.DeleteFunc([]string{
		prose.When(links > 0, prose.Count(links, "link"), ""), prose.When(lids > 0, prose.Count(lids, "LID"), ""),
		prose.When(entries.Changed > 0, prose.Count(entries.Changed, "forwarding entry"), ""),
	}, func(w string) bool { return w == "" })
	switch {
	case len(words) > 0:
		return fmt.Sprintf("has the nodes of %s, but differs from it in %s", name, strings.Join(words, ", "))
	case t == nil || u == nil || entries.Unread > 0:
		return fmt.Sprintf("has the nodes, links and LIDs of %s; not all forwarding tables were read", name)
	}
	return "is the same subnet as " + name
}

type difference struct {
	Subnet string                  `json:"subnet"`
	Kind   classify.DifferenceKind `json:"kind"`
	What   string                  `json:"what"`
}

func (d difference) Cells() []any { return []any{d.Subnet, d.Kind, d.What} }

func runDiffer(c *call) error {
	if c.shell.among == nil || len(c.shell.among.all) < 2 {
		return c.say(object{"differences": []difference{}}, "there is but one subnet")
	}
	var rows []difference
	if err := c.shell.among.wait(c.ctx); err != nil {
		return err
	}
	read := len(c.shell.among.all)
	found, _ := c.shell.among.differences()
	for _, d := range found {
		if d.Kind == notRead {
			read--
		}
		rows = append(rows, difference{c.shell.among.all[d.Subnet].name, d.Kind, d.What})
	}
	err := c.out.Answer(&List{Columns: []string{"subnet", "differs in", "what"}, Rows: eachRow(rows), Empty: "all subnets are alike: " + c.shell.among.compared()})
	if err == nil && read < 2 {
		err = fmt.Errorf("compare subnets: %d of %d could be read", read, len(c.shell.among.all))
	}
	return err
}

// compared lists what is compared.
func (s *Subnets) compared() string {
	for _, n := range s.all {
		if st := n.session.State(); st.Live.Tables == nil {
			return "hosts, cabling and speeds; no forwarding tables are known"
		}
	}
	return "hosts, cabling, speeds and forwarding tables"
}

// Glance is what is known of a subnet without looking further.
type Glance struct {
	Name    string
	Trouble string // why nothing is known of it
	Lost    string
	Busy    string
	Paper   string // which pictures there are beside the live one
	Read    time.Time
	Stamp   string // changes with what an overview depends on
}

// Glances are those of all subnets. They wait for nothing.
func (s *Subnets) Glances() []Glance {
	var all []Glance
	for _, n := range s.all {
		st := n.session.State()
		g := Glance{Name: n.name, Lost: st.Lost, Busy: st.Busy}
		if err := n.Trouble(); err != nil {
			g.Trouble = err.Error()
		}
		if len(st.Live.Fabric.Nodes) > 0 {
			g.Read = st.Live.When
		}
		switch {
		case st.Staged != nil && !st.Written:
			g.Paper = "routes staged"
		case len(st.Failures) > 0:
			g.Paper = count(len(st.Failures), "failure") + " on paper"
		}
		g.Stamp = fmt.Sprintf("%p %p %s %s %s", st.Live.Fabric, st.Live.Tables, g.Trouble, g.Lost, st.LiveEngine())
		all = append(all, g)
	}
	return all
}

// Comparison is all subnets side by side.
type Comparison struct {
	Subnets []Overview
	// Differences are places in Fabrics, which are by subnet.
	Differences []classify.Difference
	Fabrics     []*fabric.Fabric
	// Compared lists what was compared.
	Compared string
}

// Compare looks at all subnets at once. What it finds of each is remembered for as long as that stays the same.
func (s *Subnets) Compare(ctx context.Context) (*Comparison, error) {
	rows, err := s.overviews(ctx)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Subnets: rows, Compared: s.compared()}
	c.Differences, c.Fabrics = s.differences()
	for _, d := range c.Differences {
		rows[d.Subnet].Differs++
	}
	return c, nil
}
