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
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
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

func failureRowOf(f failures.Failure, state string) failureRow {
	return failureRow{f.Number, f.Repair, f.Added, f.Moved, f.What, f.Name, len(f.Links), state}
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
