// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/lang"
)

func routeCommands() []command {
	return []command{
		{lang.Spec{Name: "engine", Summary: "choose the routing engine",
			Args: []lang.Arg{{Name: "NAME", Kind: lang.KindEngine, Optional: true}}}, runEngine},
		{lang.Spec{Name: "engines", Summary: "list the routing engines"}, runEngines},
		{lang.Spec{Name: "route", Summary: "compute routes for the what-if, else for the live subnet; the result is staged"}, runRoute},
		{lang.Spec{Name: "unstage", Summary: "throw the staged tables away"}, runUnstage},
	}
}

func runEngine(c *call) error {
	if len(c.Args) > 0 {
		if err := c.session.SetEngine(c.Arg(0)); err != nil {
			return err
		}
	}
	name := c.session.State().Engine
	return c.out.answer(struct {
		Engine string `json:"engine"`
	}{name}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "engine %s\n", name) })
}

func runEngines(c *call) error {
	chosen := c.session.State().Engine
	for _, name := range engines.Names() {
		row := struct {
			Engine string `json:"engine"`
			Chosen bool   `json:"chosen"`
		}{name, name == chosen}
		err := c.out.answer(row, func(w io.Writer) {
			mark := " "
			if row.Chosen {
				mark = "*"
			}
			_, _ = fmt.Fprintf(w, "%s %s\n", mark, name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func runRoute(c *call) error {
	rep, err := c.session.Route(c.ctx)
	if err != nil {
		return err
	}
	answer := struct {
		Engine   string   `json:"engine"`
		Seconds  float64  `json:"seconds"`
		Switches int      `json:"switches"`
		Entries  int      `json:"entries"`
		Changed  int      `json:"changed"`
		Against  string   `json:"against,omitempty"`
		Assigned int      `json:"lids_assigned,omitempty"`
		Warnings []string `json:"warnings,omitempty"`
	}{rep.Engine, rep.Took.Seconds(), rep.Switches, rep.Entries, rep.Changed, string(rep.Against), rep.Assigned, rep.Warnings}
	return c.out.answer(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "routed by %s in %s: %s on %s", rep.Engine, seconds(rep.Took), count(rep.Entries, "entry"), count(rep.Switches, "switch"))
		if rep.Against != "" {
			_, _ = fmt.Fprintf(w, ", %d of them other than %s", rep.Changed, rep.Against)
		}
		_, _ = fmt.Fprint(w, "; staged, not written\n")
		if rep.Assigned > 0 {
			_, _ = fmt.Fprintf(w, "  %s without a LID got one as OpenSM would give it\n", count(rep.Assigned, "port"))
		}
		list(w, "warning", rep.Warnings)
	})
}

func runUnstage(c *call) error {
	if c.session.State().Staged == nil {
		return fmt.Errorf("nothing is staged")
	}
	c.session.Unstage()
	return c.out.answer(struct {
		Staged bool `json:"staged"`
	}{}, func(w io.Writer) { _, _ = fmt.Fprintln(w, "nothing is staged now") })
}
