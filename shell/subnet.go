// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func subnetCommands() []Spec {
	return []Spec{
		{Name: "sweep", Summary: "read the subnet again: nodes, links, LIDs and forwarding tables; light: only what can have moved",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"full", "light"}, Optional: true}},
			Options: []lang.Option{
				{Name: "sl2vl", Kind: lang.KindFlag, Summary: "and the VLs of service levels, now and at later sweeps; many MADs: ports x ports a switch"},
				{Name: "mft", Kind: lang.KindFlag, Summary: "and the multicast tables, now and at later sweeps"},
				{Name: "sl", Kind: lang.KindFlag, Summary: "and the service levels of paths, which the subnet administration is asked for; they hold until the tables change"},
				{Name: "vlarb", Kind: lang.KindFlag, Summary: "and the VL arbitration tables of all linked ports, now and at later sweeps"},
				{Name: "adaptive", Kind: lang.KindFlag, Summary: "and how switches of NVIDIA's route adaptively, now and at later sweeps; by attributes that nobody here has tried on a switch"},
				{Name: "pkeys", Kind: lang.KindFlag, Summary: "and the P_Keys of all ports, which path records then name, now and at later sweeps"},
			}, Run: runSweep},
		{Name: "names", Summary: "take node names from a node-name map",
			Args: []lang.Arg{{Kind: lang.KindFile}}, Run: runNames},
		{Name: "set", Summary: "set something of the session", Subcommands: []Spec{
			{Name: "sm", Summary: "where the subnet manager sits, from where LIDs are counted (offline); of what kind the one in charge is",
				Args:    []lang.Arg{{Name: "NAME|GUID", Kind: lang.KindPlace, Optional: true}},
				Options: []lang.Option{{Name: "kind", Kind: lang.KindWord, Words: session.ManagerKinds, Summary: "opensm: as OpenFabrics ships it; mlnx: MLNX_OpenSM; it is forgotten when another is in charge"}},
				Run:     runSet}}},
	}
}

func runSweep(c *call) error {
	read := prose.When(c.Arg(0) == "light", c.session.SweepLight, c.session.Sweep)
	if more := readsOf(c.Invocation); more != (session.Reads{}) {
		read = func(ctx context.Context) (session.SweepReport, error) { return c.session.SweepFor(ctx, more) }
	}
	rep, err := read(c.ctx)
	if err != nil {
		return err
	}
	return c.out.Answer(&swept{
		rep.Nodes, rep.Switches, rep.Links, rep.Took.Seconds(), rep.MADs, rep.Changed, rep.Moved, rep.Unread, rep.Unanswered, warnings{rep.Warnings}, rep.Took,
	})
}

func readsOf(v *lang.Invocation) session.Reads {
	return session.Reads{
		SL2VL: v.Flag("sl2vl"), MFT: v.Flag("mft"), PKeys: v.Flag("pkeys"), VLArb: v.Flag("vlarb"), Adaptive: v.Flag("adaptive"), SLs: v.Flag("sl"),
	}
}

// FirstReads returns what a full sweep reads that is the first of the statements, nil where another command is.
func (sh *Shell) FirstReads(stmts []lang.Statement) *session.Reads {
	if len(stmts) == 0 {
		return nil
	}
	s, err := sh.bind(stmts[0])
	if err != nil || s.Command != "sweep" || s.Arg(0) == "light" {
		return nil
	}
	reads := readsOf(s.Invocation)
	return &reads
}

type swept struct {
	Nodes      int      `json:"nodes"`
	Switches   int      `json:"switches"`
	Links      int      `json:"links"`
	Seconds    float64  `json:"seconds"`
	MADs       uint64   `json:"mads"`
	Changed    bool     `json:"changed"`
	Moved      int      `json:"moved"`
	Unread     int      `json:"unread,omitempty"`
	Unanswered []string `json:"unanswered,omitempty"`
	warnings
	took time.Duration
}

func (a *swept) Text(w io.Writer) {
	what := prose.When(a.Changed, "changed", "unchanged")
	if a.Moved > 0 {
		what += fmt.Sprintf(", %s of forwarding tables moved%s", count(a.Moved, "entry"), diff.NotCompared(a.Unread))
	}
	_, _ = fmt.Fprintf(w, "sweep: %s, %s, %s in %s (%d MADs); %s\n", count(a.Nodes, "node"),
		count(a.Switches, "switch"), count(a.Links, "link"), seconds(a.took), a.MADs, what)
	list(w, "unanswered", a.Unanswered)
	list(w, "warning", a.Warnings)
}

func runNames(c *call) error {
	n, err := c.session.LoadNames(c.ctx, c.Arg(0))
	if err != nil {
		return err
	}
	return c.say(object{"named": n}, "%s named from %s", count(n, "node"), quoteFile(c.Arg(0)))
}

func runSet(c *call) error {
	st := c.session.State()
	if kind := c.Option("kind", ""); kind != "" {
		if err := c.session.SetManager(session.ManagerKind(kind)); err != nil {
			return err
		}
		if c.Arg(0) == "" {
			return c.say(object{"kind": kind}, "the subnet manager in charge is of the kind %s", kind)
		}
	}
	if c.Arg(0) == "" {
		return c.Misused("set sm takes a place, kind=, or both")
	}
	p, err := places.Resolve(st.Live.Fabric, c.Arg(0))
	if err != nil {
		return err
	}
	if err := c.session.SetSM(c.ctx, p.Port); err != nil {
		return err
	}
	name := st.Live.Fabric.PortName(p.Port)
	return c.say(object{"sm": name}, "LIDs are counted from %s", name)
}

// Summary writes the summary of the live subnet.
func Summary(ctx context.Context, s *session.Session, out *Output) error {
	return New(s).Run(ctx, "summary", "summary of=live", out)
}
