// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func paperCommands() []Spec {
	things := func(verb string, link func(*call) error, node func(what string) func(*call) error) []Spec {
		return []Spec{
			{Name: "link", Summary: verb + " the link of a port", Run: link,
				Args: []lang.Arg{{Name: "NODE", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true}}},
			{Name: "switch", Summary: verb + " a switch with all its links", Run: node("switch"), Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
			{Name: "node", Summary: verb + " a node with all its links", Run: node("node"), Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		}
	}
	random := Spec{Name: "random", Summary: "fail N links between switches, chosen by a seed", Run: failRandom,
		Args:    []lang.Arg{{Name: "N", Kind: lang.KindInt}},
		Options: []lang.Option{{Name: "seed", Kind: lang.KindInt, Summary: "which ones"}}}
	director := Spec{Name: "director", Summary: "fail all switches of one system: those with the system image GUID of SYSTEM, or whose names begin with PREFIX*", Run: failDirector,
		Args: []lang.Arg{{Name: "SYSTEM|PREFIX*", Kind: lang.KindSwitch}}}
	all := Spec{Name: "all", Summary: "restore everything: the paper is empty again", Run: restoreAll}
	return []Spec{
		{Name: "fail", Summary: "let something fail on paper", Subcommands: append(things("fail", failLink, failNode), director, random,
			guidedSpec("let fail", func(c *call) *guided.Flow { return guided.Fail(c.session) }))},
		{Name: "restore", Summary: "take a failure on paper back, or repair a part of one", Subcommands: append(things("restore", restoreLink, restoreNode), all)},
		{Name: "undo", Summary: "undo one failure or repair on paper: the last one, or that of a number (show failures)",
			Args: []lang.Arg{{Name: "N", Kind: lang.KindInt, Optional: true}}, Run: runUndo},
		{Name: "whatif", Summary: "list what has failed and was repaired on paper, as show failures does", Run: runWhatIf},
		diffCommand(),
	}
}

// link finds the link that two words name: NODE PORT, or NODE/PORT.
func (c *call) link(f *fabric.Fabric) (fabric.PortIndex, error) {
	p, err := session.Resolve(f, c.Arg(0))
	if err != nil {
		return fabric.None, err
	}
	if len(c.Args) > 1 {
		num, err := strconv.Atoi(c.Arg(1))
		if err != nil {
			return fabric.None, c.Misused("%q is no port number", c.Arg(1))
		}
		if p.Port = f.PortAt(p.Node, num); p.Port == fabric.None {
			return fabric.None, fmt.Errorf("%s has no port %d", f.NodeName(p.Node), num)
		}
	} else if !p.PortNamed && f.Nodes[p.Node].NumPorts > 1 {
		return fabric.None, c.Misused("which port of %s?", f.NodeName(p.Node))
	}
	if f.Ports[p.Port].Num == 0 {
		return fabric.None, fmt.Errorf("port 0 of %s is no link", f.NodeName(p.Node))
	}
	return p.Port, nil
}

func failLink(c *call) error {
	port, err := c.link(c.paper())
	if err != nil {
		return err
	}
	return c.failed(c.session.FailLink(c.ctx, port))
}

func failNode(what string) func(*call) error {
	return func(c *call) error {
		node, err := c.node(what, c.paper())
		if err != nil {
			return err
		}
		return c.failed(c.session.FailNode(c.ctx, what, node))
	}
}

func failDirector(c *call) error {
	nodes, name, err := session.ResolveSystem(c.paper(), c.Arg(0))
	if err != nil {
		return err
	}
	return c.failed(c.session.FailNodes(c.ctx, "director", name, nodes))
}

func failRandom(c *call) error {
	many, err := c.session.FailRandom(c.ctx, atoi(c.Arg(0)), uint64(c.Int("seed", 1)))
	if err != nil {
		return err
	}
	return c.failures("failed on paper", many...)
}

// paper is the fabric in which things fail.
func (c *call) paper() *fabric.Fabric {
	st := c.session.State()
	return st.Paper()
}

func (c *call) failed(f session.Failure, err error) error {
	if err != nil {
		return err
	}
	return c.failures("failed on paper", f)
}

// node finds the node that the first argument names; a switch where that is what.
func (c *call) node(what string, f *fabric.Fabric) (fabric.NodeIndex, error) {
	if what != "switch" {
		return session.ResolveNode(f, c.Arg(0))
	}
	sw, err := session.ResolveSwitch(f, c.Arg(0))
	if err != nil {
		return fabric.None, err
	}
	return f.Switches[sw], nil
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
	return c.failures("restored", gone...)
}

func restoreLink(c *call) error {
	st := c.session.State()
	if st.Base == nil {
		return errNoFailure
	}
	f := st.Base.Fabric
	port, err := c.link(f)
	if err != nil {
		return err
	}
	l, ok := f.LinkOf(port)
	var repair session.Failure
	if ok {
		repair = session.LinkRepair(f, l)
	}
	return c.restore(func(x session.Failure) bool { return ok && x.InvolvesLink(l) }, repair)
}

func restoreNode(what string) func(*call) error {
	return func(c *call) error {
		st := c.session.State()
		if st.Base == nil {
			return errNoFailure
		}
		node, err := c.node(what, st.Base.Fabric)
		if err != nil {
			return err
		}
		alone := func(x session.Failure) bool { return x.What != "director" && x.InvolvesNode(node) }
		return c.restore(alone, session.NodeRepair(st.Base.Fabric, what, node))
	}
}

// restore takes back the failures that match, or repairs a part of one.
func (c *call) restore(match func(session.Failure) bool, repair session.Failure) error {
	gone, err := c.session.Restore(c.ctx, match, repair)
	switch {
	case err != nil:
		return fmt.Errorf("%s %w", fabric.Escape(c.Arg(0)), err)
	case gone[0].Repair:
		return c.failures("repaired on paper", gone...)
	}
	return c.failures("restored", gone...)
}

func runUndo(c *call) error {
	number := 0
	if len(c.Args) > 0 {
		if number = atoi(c.Arg(0)); number < 1 {
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
	Number int    `json:"number"`
	Repair bool   `json:"repair,omitempty"`
	What   string `json:"what"`
	Name   string `json:"name"`
	Links  int    `json:"links"`
	State  string `json:"state"`
}

func (r failureRow) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s: %s %s", r.State, r.What, r.Name)
	if r.What != "link" {
		_, _ = fmt.Fprintf(w, " with %s", count(r.Links, "link"))
	}
	_, _ = fmt.Fprintln(w)
}

// Cells are the line of a list.
func (r failureRow) Cells() []any {
	return []any{fmt.Sprintf("%3d  %-8s  %s %s (%s)", r.Number, r.State, r.What, r.Name, count(r.Links, "link"))}
}

func failureRowOf(f session.Failure, state string) failureRow {
	return failureRow{f.Number, f.Repair, f.What, f.Name, len(f.Links), state}
}

func (c *call) failures(state string, all ...session.Failure) error {
	for _, f := range all {
		if err := c.out.Answer(failureRowOf(f, state)); err != nil {
			return err
		}
	}
	st := c.session.State()
	if st.WhatIf != nil {
		if at := st.WhatIf.Fabric.SMPort; at != st.Base.Fabric.SMPort {
			c.out.note("%s, which the session sits on, is cut off; the rest is seen from %s",
				st.Base.Fabric.PortName(st.Base.Fabric.SMPort), st.WhatIf.Fabric.PortName(at))
		}
		if cut := st.WhatIf.CutOff(st.Base); cut > 0 {
			c.out.note("cut off from the subnet: %s", count(cut, "node"))
		}
	}
	if st.Stale {
		c.out.note("the staged tables are stale now: route again")
	}
	return nil
}

func failureWord(f session.Failure) string {
	if f.Repair {
		return "repaired"
	}
	return "failed"
}

// runWhatIf lists failures and repairs in their order.
func runWhatIf(c *call) error {
	st := c.session.State()
	if st.WhatIf == nil {
		return c.out.Answer(nothingFailed{})
	}
	var rows []failureRow
	for _, f := range st.Failures {
		rows = append(rows, failureRowOf(f, failureWord(f)))
	}
	if err := c.list(nil, eachRow(rows)); err != nil {
		return err
	}
	c.out.note("%s cut off; base: %s as of %s", count(st.WhatIf.CutOff(st.Base), "node"), st.Source, st.Base.When.Format("15:04:05"))
	return nil
}

type nothingFailed struct {
	Failures int `json:"failures"`
}

func (nothingFailed) Text(w io.Writer) {
	_, _ = fmt.Fprintln(w, "nothing has failed on paper (try: fail link SWITCH PORT)")
}
