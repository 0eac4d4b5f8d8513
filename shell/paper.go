// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func paperCommands() []command {
	things := func(restore bool) []lang.Spec {
		verb := "fail"
		if restore {
			verb = "restore"
		}
		return []lang.Spec{
			{Name: "link", Summary: verb + " the link of a port",
				Args: []lang.Arg{{Name: "NODE", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true}}},
			{Name: "switch", Summary: verb + " a switch with all its links", Args: []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
			{Name: "node", Summary: verb + " a node with all its links", Args: []lang.Arg{{Name: "NODE", Kind: lang.KindNode}}},
		}
	}
	random := lang.Spec{Name: "random", Summary: "fail N links between switches, chosen by a seed",
		Args:    []lang.Arg{{Name: "N", Kind: lang.KindInt}},
		Options: []lang.Option{{Name: "seed", Kind: lang.KindInt, Summary: "which ones"}}}
	director := lang.Spec{Name: "director", Summary: "fail all switches of one system: those with the system image GUID of SYSTEM, or whose names begin with PREFIX*",
		Args: []lang.Arg{{Name: "SYSTEM|PREFIX*", Kind: lang.KindSwitch}}}
	all := lang.Spec{Name: "all", Summary: "restore everything: the paper is empty again"}
	return []command{
		{lang.Spec{Name: "fail", Summary: "let something fail on paper", Subcommands: append(things(false), director, random, guidedSpec("let fail"))}, runFail},
		{lang.Spec{Name: "restore", Summary: "take a failure on paper back, or repair a part of one", Subcommands: append(things(true), all)}, runRestore},
		{lang.Spec{Name: "undo", Summary: "undo one failure or repair on paper: the last one, or that of a number (show failures)",
			Args: []lang.Arg{{Name: "N", Kind: lang.KindInt, Optional: true}}}, runUndo},
		{lang.Spec{Name: "whatif", Summary: "list what has failed and was repaired on paper, as show failures does"}, runWhatIf},
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

func runFail(c *call) error {
	if c.Spec.Name == guidedWord {
		return c.guide(FailFlow(c.session))
	}
	st := c.session.State()
	f := st.Paper()
	var failed []session.Failure
	switch what := c.Spec.Name; what {
	case "link":
		port, err := c.link(f)
		if err != nil {
			return err
		}
		one, err := c.session.FailLink(c.ctx, port)
		if err != nil {
			return err
		}
		failed = append(failed, one)
	case "random":
		n, seed := atoi(c.Arg(0)), uint64(c.Int("seed", 1))
		many, err := c.session.FailRandom(c.ctx, n, seed)
		if err != nil {
			return err
		}
		failed = many
	case "director":
		nodes, name, err := session.ResolveSystem(f, c.Arg(0))
		if err != nil {
			return err
		}
		one, err := c.session.FailNodes(c.ctx, what, name, nodes)
		if err != nil {
			return err
		}
		failed = append(failed, one)
	default:
		node, err := c.node(f)
		if err != nil {
			return err
		}
		one, err := c.session.FailNode(c.ctx, what, node)
		if err != nil {
			return err
		}
		failed = append(failed, one)
	}
	return c.failures("failed on paper", failed)
}

// node finds the node that the first argument names; a switch where the
// command is about switches.
func (c *call) node(f *fabric.Fabric) (fabric.NodeIndex, error) {
	if c.Spec.Name != "switch" {
		return session.ResolveNode(f, c.Arg(0))
	}
	sw, err := session.ResolveSwitch(f, c.Arg(0))
	if err != nil {
		return fabric.None, err
	}
	return f.Switches[sw], nil
}

func runRestore(c *call) error {
	st := c.session.State()
	if st.Base == nil {
		return fmt.Errorf("nothing has failed on paper")
	}
	if c.Spec.Name == "all" {
		gone, err := c.session.RestoreAll(c.ctx)
		if err != nil {
			return err
		}
		return c.failures("restored", gone)
	}
	f := st.Base.Fabric
	match, repair, err := c.failureOf(f)
	if err != nil {
		return err
	}
	gone, err := c.session.Restore(c.ctx, match, repair)
	switch {
	case err != nil:
		return fmt.Errorf("%s %w", fabric.Escape(c.Arg(0)), err)
	case gone[0].Repair:
		return c.failures("repaired on paper", gone)
	}
	return c.failures("restored", gone)
}

// failureOf says which failures the arguments mean, and what is repaired where it is
// only a part of them.
func (c *call) failureOf(f *fabric.Fabric) (match func(session.Failure) bool, repair session.Failure, err error) {
	if c.Spec.Name == "link" {
		port, err := c.link(f)
		if err != nil {
			return nil, repair, err
		}
		l, ok := f.LinkOf(port)
		if ok {
			repair = session.LinkRepair(f, l)
		}
		return func(x session.Failure) bool { return ok && x.InvolvesLink(l) }, repair, nil
	}
	node, err := c.node(f)
	if err != nil {
		return nil, repair, err
	}
	alone := func(x session.Failure) bool { return x.What != "director" && x.InvolvesNode(node) }
	return alone, session.NodeRepair(f, c.Spec.Name, node), nil
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
	return c.failures("undone", []session.Failure{gone})
}

type failureRow struct {
	Number int    `json:"number"`
	Repair bool   `json:"repair,omitempty"`
	What   string `json:"what"`
	Name   string `json:"name"`
	Links  int    `json:"links"`
	State  string `json:"state"`
}

func (c *call) failures(state string, all []session.Failure) error {
	for _, f := range all {
		err := c.out.answer(failureRow{f.Number, f.Repair, f.What, f.Name, len(f.Links), state}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%s: %s %s", state, f.What, f.Name)
			if f.What != "link" {
				_, _ = fmt.Fprintf(w, " with %s", count(len(f.Links), "link"))
			}
			_, _ = fmt.Fprintln(w)
		})
		if err != nil {
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
		return c.out.answer(struct {
			Failures int `json:"failures"`
		}{}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "nothing has failed on paper (try: fail link SWITCH PORT)") })
	}
	for _, f := range st.Failures {
		err := c.out.answer(failureRow{f.Number, f.Repair, f.What, f.Name, len(f.Links), failureWord(f)}, func(w io.Writer) {
			_, _ = fmt.Fprintf(w, "%3d  %-8s  %s %s (%s)\n", f.Number, failureWord(f), f.What, f.Name, count(len(f.Links), "link"))
		})
		if err != nil {
			return err
		}
	}
	c.out.note("%s cut off; base: %s as of %s", count(st.WhatIf.CutOff(st.Base), "node"), st.Source, st.Base.When.Format("15:04:05"))
	return nil
}
