// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func diffCommand() Spec {
	return Spec{
		Name: "diff", Summary: "say what changes from A to B: entries, pairs, links",
		Help: "A is the base of the paper, else the live picture, where it is not given; B is staged if there, else whatif, else live.",
		Args: []lang.Arg{
			{Name: "A", Kind: lang.KindPicture, Optional: true},
			{Name: "B", Kind: lang.KindPicture, Optional: true}},
		Options: []lang.Option{{Name: "entries", Kind: lang.KindFlag, Summary: "list every table entry that changes"}},
		Run:     runDiff,
	}
}

func runDiff(c *call) error {
	from, to := session.Kind(c.Arg(0)), session.Kind(c.Arg(1))
	if c.Flag("entries") {
		return c.diffEntries(from, to)
	}
	res, err := c.session.Diff(c.ctx, from, to, c.named())
	if err != nil {
		return err
	}
	answer := newDiffAnswer(res, nil, slices.Concat(comparedNames, notComparedData))
	if before, after, err := c.session.Pair(from, to); err == nil {
		answer.compare(before, after)
		if st := c.session.State(); before == st.Base && after == st.WhatIf {
			if answer.Failover, err = c.failover(&st); err != nil {
				return err
			}
		}
	}
	return c.out.Answer(answer)
}

// What is compared always, by changes alone, and never.
var (
	comparedAlways  = []string{"links", "end ports", "LIDs", "forwarding tables", "paths"}
	comparedNames   = []string{"node names", "link widths and speeds"}
	notComparedData = []string{"counters", "cables", "temperatures", "error correction"}
)

func newDiffAnswer(res *diff.Result, alsoCompared, notCompared []string) *diffAnswer {
	return &diffAnswer{Result: res, Verdict: res.Verdict(), Compared: slices.Concat(comparedAlways, alsoCompared), NotCompared: notCompared}
}

type diffAnswer struct {
	*diff.Result
	// Verdict is unknown where tables were not read and nothing else differs.
	Verdict verdict.Verdict `json:"verdict"`
	// Compared and NotCompared name what was compared and what was not, for either picture does not have it or diff
	// does not look at it.
	Compared    []string `json:"compared"`
	NotCompared []string `json:"not_compared"`
	VLs         *vlDiff  `json:"vls,omitempty"`
	// Adaptive is nil where no switch routes adaptively.
	Adaptive *diff.Adaptive `json:"adaptive,omitempty"`
	// Failover is nil but from the base to the what-if, by the same tables.
	Failover *failover `json:"before_manager,omitempty"`

	before, after *session.Picture
}

func (a diffAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "from %s to %s\n", a.Old, a.New)
	switch {
	case !a.same():
		a.body(w)
	case a.Verdict == verdict.Unknown:
		_, _ = fmt.Fprintf(w, "no difference in %s, as far as was read\n", strings.Join(a.Compared, ", "))
		a.body(w)
	default:
		_, _ = fmt.Fprintf(w, "no difference in %s\n", strings.Join(a.Compared, ", "))
	}
	_, _ = fmt.Fprintf(w, "%-25s %s\n", "not compared", strings.Join(a.NotCompared, ", "))
}

// compare adds what is beside forwarding tables.
func (a *diffAnswer) compare(before, after *session.Picture) {
	a.VLs = vlsBetween(before.Tables, after.Tables)
	a.Adaptive = diff.AdaptiveBetween(before.Tables, after.Tables)
	a.before, a.after = before, after
	if !a.same() {
		a.Verdict = verdict.Found
	}
	a.alsoCompared("multicast tables", a.Multicast != nil)
	a.alsoCompared("SL2VL tables", a.VLs != nil && a.VLs.SL2VL != nil)
	a.alsoCompared("service levels of paths", a.VLs != nil && a.VLs.SLs != nil)
	a.alsoCompared("adaptive routing", a.Adaptive != nil)
}

// alsoCompared notes whether something was compared that not every picture has.
func (a *diffAnswer) alsoCompared(what string, was bool) {
	list := prose.When(was, &a.Compared, &a.NotCompared)
	*list = append(slices.Clip(*list), what)
}

// same reports whether nothing is known to differ.
func (a *diffAnswer) same() bool { return a.Same() && a.VLs.same() && a.Adaptive.Same() }

// body is what is other.
func (a diffAnswer) body(w io.Writer) {
	_ = a.Result.Text(w)
	if a.VLs != nil {
		a.VLs.text(w)
	}
	adaptiveDiffText(w, a.Adaptive)
	if a.Failover != nil {
		a.Failover.Text(w)
	}
}

// groupEntryRow is an entry of a multicast table: the ports that it loses and gets.
type groupEntryRow struct {
	leads
	Switch string `json:"switch"`
	MLID   string `json:"mlid"`
	Gone   []int  `json:"ports_gone"`
	Come   []int  `json:"ports_come"`
}

func (r groupEntryRow) Cells() []any {
	return []any{r.Switch, r.MLID, orDash(prose.Ranges(r.Gone)), orDash(prose.Ranges(r.Come)), "multicast"}
}

type entryRow struct {
	leads
	Switch string `json:"switch"`
	LID    uint16 `json:"lid"`
	Old    *uint8 `json:"old"`
	New    *uint8 `json:"new"`
	To     string `json:"destination,omitempty"`
}

func (r entryRow) Cells() []any {
	return []any{r.Switch, r.LID, entryText(r.Old), entryText(r.New), orDash(r.To)}
}

func (c *call) diffEntries(from, to session.Kind) error {
	before, after, err := c.session.Pair(from, to)
	if err != nil {
		return err
	}
	st := c.session.State()
	c.out.note("from %s to %s", st.Title(before), st.Title(after))
	f := after.Fabric
	return c.list([]string{"SWITCH", "LID", "PORT WAS", "PORT IS", "DESTINATION"}, func(yield func(Row, error) bool) {
		for e := range diff.Changes(before.Tables, after.Tables) {
			if err := c.ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			r := entryRow{leads: leads{feature.ToNode(f, f.Switches[e.SwitchNew])}, Switch: f.NodeName(f.Switches[e.SwitchNew]), LID: e.LID, Old: entry(e.Old), New: entry(e.New)}
			if p := f.PortByLID(e.LID); p != fabric.None {
				r.To = f.PortName(p)
			}
			if !yield(r, nil) {
				return
			}
		}
		for m := range mcast.Changes(before.Tables, after.Tables) {
			if !yield(groupEntryRow{leads{feature.ToNode(f, f.Switches[m.Switch])}, f.NodeName(f.Switches[m.Switch]), feature.MLIDText(m.MLID), ints(m.Gone), ints(m.Come)}, nil) {
				return
			}
		}
	})
}

func entry(port uint8) *uint8 {
	if port == fabric.NoPath {
		return nil
	}
	return &port
}

func entryText(port *uint8) string {
	if port == nil {
		return "-"
	}
	return fmt.Sprint(*port)
}
