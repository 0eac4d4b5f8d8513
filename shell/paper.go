// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func paperCommands() []Spec {
	things := func(verb string, run func(what string) func(*call) error) []Spec {
		return []Spec{
			{Name: "link", Summary: verb + " the link of a port", Run: run("link"),
				Args: []lang.Arg{{Name: "NODE", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true}}},
			{Name: "switch", Summary: verb + " a switch with all its links", Run: run("switch"), Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
			{Name: "node", Summary: verb + " a node with all its links", Run: run("node"), Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		}
	}
	random := Spec{Name: "random", Summary: "fail N links between switches, chosen by a seed", Run: fail("random"),
		Args:    []lang.Arg{{Name: "N", Kind: lang.KindInt}},
		Options: []lang.Option{{Name: "seed", Kind: lang.KindInt, Summary: "which ones"}}}
	director := Spec{Name: "director", Summary: "fail all switches of one system: those with the system image GUID of SYSTEM, or whose names begin with PREFIX*", Run: fail("director"),
		Args: []lang.Arg{{Name: "SYSTEM|PREFIX*", Kind: lang.KindSwitch}}}
	all := Spec{Name: "all", Summary: "restore everything: the paper is empty again", Run: restoreAll}
	return append(addCommands(), []Spec{
		{Name: "fail", Summary: "let something fail on paper", Subcommands: append(things("fail", fail), director, random,
			guidedSpec("let fail", func(c *call) *guided.Flow { return guided.Fail(c.session) }))},
		{Name: "restore", Summary: "take a failure on paper back, or repair a part of one", Subcommands: append(things("restore", restore), all)},
		{Name: "undo", Summary: "undo one failure, repair or addition on paper: the last one, or that of a number (show failures)",
			Args: []lang.Arg{{Name: "N", Kind: lang.KindInt, Optional: true}}, Run: runUndo},
		{Name: "whatif", Summary: "list what has failed, was repaired and added on paper, as show failures does", Run: runWhatIf},
		diffCommand(),
	}...)
}

// fail lets something of a kind fail on paper.
func fail(what string) func(*call) error {
	return func(c *call) error {
		failed, err := c.session.Fail(c.ctx, failures.Named(what, c.Args, uint64(c.Int("seed", 1))))
		if err != nil {
			return c.feature().Misnamed(err)
		}
		return c.failures("failed", failed...)
	}
}

var errNoFailure = errors.New("nothing has failed on paper")

func restoreAll(c *call) error {
	st := c.session.State()
	if st.Base == nil {
		return errNoFailure
	}
	gone, err := c.session.RestoreAll(c.ctx)
	if err != nil {
		return err
	}
	for _, f := range gone {
		if err := c.out.Answer(failureRowOf(f, goneWord(f))); err != nil {
			return err
		}
	}
	return c.failures("")
}

// goneWord says what became of something that is no longer on paper.
func goneWord(f failures.Failure) string {
	if f.Added || f.Repair {
		return "undone"
	}
	return "restored"
}

// restore takes failures of something of a kind back, or repairs a part of one.
func restore(what string) func(*call) error {
	return func(c *call) error {
		st := c.session.State()
		if st.Base == nil {
			return errNoFailure
		}
		match, repair, err := failures.ToRestore(st.Whole(), what, c.Args)
		if err != nil {
			return c.feature().Misnamed(err)
		}
		gone, err := c.session.Restore(c.ctx, match, repair)
		switch {
		case err != nil:
			return fmt.Errorf("%s %w", fabric.Escape(c.Arg(0)), err)
		case gone[0].Repair:
			return c.failures("repaired", gone...)
		}
		return c.failures("restored", gone...)
	}
}

func runUndo(c *call) error {
	number := 0
	if len(c.Args) > 0 {
		if number, _ = strconv.Atoi(c.Arg(0)); number < 1 {
			return c.Misused("%s is no number of a failure (show failures lists them)", c.Arg(0))
		}
	}
	gone, err := c.session.Undo(c.ctx, number)
	if err != nil {
		return err
	}
	return c.failures("undone", gone)
}

type failureRow struct {
	leads
	Number int    `json:"number"`
	Repair bool   `json:"repair,omitempty"`
	Added  bool   `json:"added,omitempty"`
	Moved  bool   `json:"moved,omitempty"`
	What   string `json:"what"`
	Name   string `json:"name"`
	Links  int    `json:"links"`
	State  string `json:"state"`
}

func (r failureRow) Text(w io.Writer) {
	onPaper := prose.When(slices.Contains([]string{"failed", "repaired", "added", "moved"}, r.State), " on paper", "")
	_, _ = fmt.Fprintf(w, "%s%s: %s %s", r.State, onPaper, r.What, r.Name)
	if r.What != "link" && !r.Moved {
		_, _ = fmt.Fprintf(w, " with %s", count(r.Links, "link"))
	}
	_, _ = fmt.Fprintln(w)
}

// Cells are the line of a list.
func (r failureRow) Cells() []any {
	return []any{fmt.Sprintf("%3d  %-8s  %s %s (%s)", r.Number, r.State, r.What, r.Name, count(r.Links, "link"))}
}

var failureDetails = []string{"NUMBER", "STATE", "WHAT", "NAME", "LINKS"}

// Detail is the row in cells.
func (r failureRow) Detail() []any { return []any{r.Number, r.State, r.What, r.Name, r.Links} }

func failureRowOf(f failures.Failure, state string) failureRow {
	return failureRow{leads{}, f.Number, f.Repair, f.Added, f.Moved, f.What, f.Name, len(f.Links), state}
}

func (c *call) failures(state string, all ...failures.Failure) error {
	for _, f := range all {
		if err := c.out.Answer(failureRowOf(f, state)); err != nil {
			return err
		}
	}
	st := c.session.State()
	if st.WhatIf != nil {
		if at, was := st.WhatIf.Fabric.SMPort, st.Whole(); at != was.SMPort {
			c.out.note("%s, which the session sits on, is unreachable; the rest is seen from %s",
				was.PortName(was.SMPort), st.WhatIf.Fabric.PortName(at))
		}
		if cut := len(st.WhatIf.Unreachable()); cut > 0 {
			c.out.note("unreachable: %s", count(cut, "node"))
		}
	}
	if st.Stale {
		c.out.note("the staged tables are stale now: route again")
	}
	return nil
}

// runWhatIf lists failures, repairs and additions in their order.
func runWhatIf(c *call) error {
	st := c.session.State()
	if st.WhatIf == nil {
		return c.say(object{"failures": 0}, "nothing has failed on paper (try: fail link SWITCH PORT)")
	}
	var rows []failureRow
	for _, f := range st.Failures {
		row := failureRowOf(f, f.Verb())
		if len(f.Links) > 0 && int(f.Links[0].A) < len(st.Base.Fabric.Ports) {
			row.leads = leads{toPort(st.Base.Fabric, f.Links[0].A)}
		}
		rows = append(rows, row)
	}
	if err := c.out.Answer(&List{Rows: eachRow(rows), Details: failureDetails}); err != nil {
		return err
	}
	if c.out.Row != nil {
		if err := c.out.Answer(Part{unreachableNodes{&st}}); err != nil {
			return err
		}
	}
	over, err := c.failover(&st)
	if err != nil {
		return err
	}
	if over != nil {
		if err := c.out.Answer(Part{over}); err != nil {
			return err
		}
	}
	if file := st.TopologyFile(); file != "" {
		c.out.note("the topology is that of %s", file)
	}
	c.out.note("%s unreachable; base: %s as of %s", count(len(st.WhatIf.Unreachable()), "node"), st.Source, st.Base.When.Format("15:04:05"))
	return nil
}

// unreachableNodes are the unreachable nodes, for faces that show tables.
type unreachableNodes struct{ st *session.State }

// Text is nothing: a note says how many there are.
func (unreachableNodes) Text(io.Writer) {}

// Tables names them, with where they were attached.
func (a unreachableNodes) Tables() []Table {
	f := a.st.Whole()
	return []Table{tableOf("unreachable nodes", []string{"NODE", "TYPE", "LID", "SWITCH"}, a.st.WhatIf.Unreachable(), func(n fabric.NodeIndex) plainRow {
		node := &f.Nodes[n]
		at := "-"
		for p := range node.Ports() {
			if !node.IsSwitch() && f.Ports[p].Linked() {
				at = leafOf(f, p)
				break
			}
		}
		return plainRow{leads{toNode(f, n)}, []any{f.NodeName(n), feature.TypeWord(node.Type), lidText(feature.NodeLID(f, node)), at}}
	})}
}
