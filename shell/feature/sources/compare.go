// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"fmt"
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
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/survey"
)

// Overview holds the figures of a subnet.
type Overview struct {
	Name     string
	Source   string
	Trouble  string // why the subnet could not be read
	Lost     string
	Busy     string
	Switches int
	Hosts    int
	Links    int
	Down     int // [session.State.Down]
	Errors   int
	Warnings int
	// Worst is the number of paths over the busiest link between switches, or -1 if unknown.
	Worst   int64
	Manager string
	// Engine is the engine that computed the live tables, or "" if unknown.
	Engine  string
	Swept   time.Time
	Differs int // differences from most subnets
}

// Comparison holds the figures and the differences of all subnets.
type Comparison struct {
	Subnets []Overview
	// Differences lists the differences between subnets. The places in them refer to Fabrics, which is indexed by
	// subnet.
	Differences []classify.Difference
	Fabrics     []*fabric.Fabric
	// Compared lists what was compared.
	Compared string
}

// Compare compares all subnets. It computes their figures in parallel, and keeps the figures of a subnet until the
// subnet changes.
func Compare(ctx context.Context, all []feature.Subnet) (*Comparison, error) {
	rows, err := overviews(ctx, all)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Subnets: rows, Compared: compared(all)}
	c.Differences, c.Fabrics = differences(all)
	for _, d := range c.Differences {
		rows[d.Subnet].Differs++
	}
	return c, nil
}

// overviews returns the figures of all subnets, computed in parallel.
func overviews(ctx context.Context, all []feature.Subnet) ([]Overview, error) {
	rows := make([]Overview, len(all))
	failed := make([]error, len(all))
	var wait sync.WaitGroup
	var crash parallel.Crash
	for i, n := range all {
		wait.Go(func() { crash.Recover(func() { failed[i] = overview(ctx, n, &rows[i]) }) })
	}
	wait.Wait()
	crash.Repanic()
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func overview(ctx context.Context, n feature.Subnet, o *Overview) error {
	st := n.Session().State()
	*o = Overview{Name: n.Name(), Source: st.Source.String(), Worst: -1, Lost: st.Lost, Busy: st.Busy,
		Swept: st.Live.When, Engine: st.LiveEngine()}
	if err := n.Trouble(); err != nil {
		o.Trouble = err.Error()
		return nil
	}
	memo := n.Session().Analysis()
	structure := memo.Structure(st.Live.Fabric)
	o.Switches, o.Links = structure.Nodes.Switches, st.Live.Fabric.Inventory().InSubnet.Links
	o.Hosts = len(structure.Hosts())
	for _, sm := range st.SMs {
		if sm.State == mad.SMMaster.String() {
			o.Manager = sm.Port
		}
	}
	report, err := survey.Of(ctx, &st, memo, survey.Options{Recorded: n.Session().Recorded().Lately(ctx)})
	if err != nil {
		return fmt.Errorf("%s: %w", n.Name(), err)
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
		return fmt.Errorf("%s: %w", n.Name(), err)
	}
	o.Worst = loads.Summary(0).EdgeForwardingIndex
	return nil
}

// The kinds of differences between the live states of sessions.
const (
	// differentEngine marks a subnet whose engine differs from that of most subnets.
	differentEngine classify.DifferenceKind = "engine"
	// sharedNodes marks nodes that two subnets have in common.
	sharedNodes classify.DifferenceKind = "nodes"
	// notRead marks a subnet that could not be read and is therefore not compared.
	notRead classify.DifferenceKind = "not read"
)

// differences returns the properties in which a live subnet differs from most subnets. It does not compare subnets that
// were not read.
func differences(all []feature.Subnet) (out []classify.Difference, fabrics []*fabric.Fabric) {
	add := func(i int, kind classify.DifferenceKind, what string) {
		out = append(out, classify.Difference{Subnet: i, Node: fabric.None, Port: fabric.None, Kind: kind, What: what})
	}
	var structures []*classify.Structure
	var tables []*fabric.Tables
	var at []int
	engines, engineOf := map[string]int{}, make([]string, len(all))
	for i, n := range all {
		st := n.Session().State()
		fabrics = append(fabrics, st.Live.Fabric)
		if err := n.Trouble(); err != nil {
			add(i, notRead, err.Error())
		}
		if len(st.Live.Fabric.Nodes) == 0 {
			continue
		}
		structures, at = append(structures, n.Session().Analysis().Structure(st.Live.Fabric)), append(at, i)
		tables = append(tables, st.Live.Tables)
		if engineOf[i] = st.LiveEngine(); engineOf[i] != "" {
			engines[engineOf[i]]++
		}
	}
	for _, d := range classify.Compare(structures, tables) {
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
			add(i, differentEngine, fmt.Sprintf("engine %s, most others have %s", engine, usual))
		}
		for m, j := range at[:n] {
			if what := shared(fabrics[i], fabrics[j], tables[n], tables[m], all[j].Name()); what != "" {
				add(i, sharedNodes, what)
				break
			}
		}
	}
	slices.SortStableFunc(out, func(a, b classify.Difference) int { return cmp.Compare(a.Subnet, b.Subnet) })
	return out, fabrics
}

// shared returns a sentence about the nodes that the subnets a and b have in common, or "" if there are none. The
// argument name is the name of b. If the nodes, links, LIDs and tables are equal, the sentence states that both are the
// same subnet.
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
		return fmt.Sprintf("%d of %s have GUIDs of nodes in %s", nodes, prose.Count(len(a.Nodes), "node"), name)
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

// compared returns a text that lists the compared properties.
func compared(all []feature.Subnet) string {
	for _, n := range all {
		if st := n.Session().State(); st.Live.Tables == nil {
			return "hosts, cabling and speeds; forwarding tables were not read"
		}
	}
	return "hosts, cabling, speeds and forwarding tables"
}
