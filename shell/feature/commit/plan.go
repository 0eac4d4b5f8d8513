// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/commits"
)

// planTexts returns texts that describe the writes of a plan, by the id of their label.
func planTexts(rep *commits.Report) map[string]string {
	p := rep.Plan
	texts, t := map[string]string{}, p.Totals()
	add := func(n int, id, format string, args ...any) {
		if n > 0 {
			texts[id] = fmt.Sprintf(format, args...)
		}
	}
	add(t.LIDs, "LIDs", "%d to assign", t.LIDs)
	add(t.Ports, "ports", "%d to bring up", t.Ports)
	add(t.Tops, "LinearFDBTop", "on %s", prose.Count(t.Tops, "switch"))
	add(t.Blocks+t.Entries, "LFT blocks", "%d on %s, %s%s", t.Blocks, prose.Count(t.Switches, "switch"),
		prose.Count(t.Entries, "changed entry"), order(rep))
	add(t.SL2VLs, "SL2VL tables", "%d, %s", t.SL2VLs, sl2vlOrder(p))
	add(t.MFTs, "MFT blocks", "%d, %s", t.MFTs, multicastOrder(p))
	if a := rep.Avoidance; a != nil && a.Taken {
		texts["method"] = transitionText(rep.Credits.Fabric, p, a.Transition)
	}
	if a := rep.Avoidance; a != nil && a.Drains() {
		what := prose.When(a.Taken, "%s unreachable during the writes:", "%s would be unreachable during the writes:")
		if a.Transition.Method == transition.OtherLIDs {
			what = "%s with a LID that has no path during the writes; connections must move to the other LIDs:"
		}
		add(len(a.Transition.Drained), "drained", what, prose.Count(len(a.Transition.Drained), "port"))
	}
	h := &p.Hit
	groups, more := prose.Cut(prose.Words(h.Groups, feature.MLIDText), mostNodes)
	add(len(h.Groups), "groups", "%s whose members lose packets while its tree changes: %s",
		prose.Count(len(h.Groups), "multicast group"), strings.TrimRight(strings.Join(append(groups, more), " "), " "))
	add(int(h.Unknown), "unknown interrupted", "%d whose new path takes switches whose tables were not read", h.Unknown)
	var reasons []string
	if h.Moved > 0 {
		reasons = append(reasons, fmt.Sprintf("%d to ports that lose a LID", h.Moved))
	}
	if h.Down > 0 {
		reasons = append(reasons, fmt.Sprintf("%d whose new path takes links that are down", h.Down))
	}
	add(len(reasons), "interrupted", "pairs that lose packets: %s", strings.Join(reasons, ", "))
	if all := phases(p); len(all) > 1 {
		texts["in this order"] = inOrder(all)
	}
	nodes := func(id, what string, list []plan.Node) {
		add(len(list), id, "%s: %s", prose.Count(len(list), "node"), what)
	}
	nodes("unreachable", "not in the staged subnet, not written", p.Unreachable)
	nodes("kept", "not in the staged tables, not written", p.Kept)
	nodes("not read", "no response when the tables were read, not written", p.Unread)
	return texts
}

// transitionText returns a text with the method of the steps, and the time that they wait.
func transitionText(live *fabric.Fabric, p *plan.Plan, t *transition.Plan) string {
	text := t.Method.String()
	if t.Method == transition.Tree {
		text += " with the root " + live.NodeName(live.Switches[t.Root])
	}
	n := len(p.Settles)
	if p.CutFirst {
		n++ // before branches are added
	}
	if n > 0 {
		text += fmt.Sprintf("; waits %s for %v until earlier packets have left: %s of the longest path, times their "+
			"packet life time", prose.Count(n, "time"), p.SettleTime, prose.Count(t.Longest, "switch"))
	}
	return text
}

// phase is a group of writes that begins when the previous one is complete.
type phase struct {
	what  string
	step  int // of blocks of forwarding tables, otherwise 0
	waits bool
	items []fabricwrite.Item
}

// phaseRow is a row of the table of phases.
type phaseRow struct {
	Number int    `key:"number" name:"NUMBER"`
	What   string `key:"what" name:"DATA"`
	Writes int    `key:"writes" name:"WRITES"`
	Nodes  int    `key:"nodes" name:"NODES" help:"nodes that are written to"`
	Waits  bool   `key:"waits" name:"WAITS" help:"begins only when packets that met earlier entries have left"`
}

// phases returns the phases of writing, in their order.
func phases(p *plan.Plan) (all []phase) {
	add := func(what string, step int, waits bool, items []fabricwrite.Item) {
		if len(items) > 0 {
			all = append(all, phase{what, step, waits, items})
		}
	}
	falls := func(t *fabricwrite.Top) bool { return t.Falls() }
	grows := func(b *fabricwrite.MFTBlock) bool { return b.Grow }
	cut := pick(p.MFTs, func(b *fabricwrite.MFTBlock) bool { return !b.Grow })
	add("LIDs", 0, false, pick[fabricwrite.LID](p.LIDs, nil))
	add("ports up", 0, false, pick[fabricwrite.State](p.States, nil))
	add("LinearFDBTops raised", 0, false, pick(p.Tops, func(t *fabricwrite.Top) bool { return !t.Falls() }))
	if p.CutFirst {
		add("multicast branches removed", 0, false, cut)
	}
	for step := range p.Steps + 1 {
		waits := slices.Contains(p.Settles, step)
		vls := pick(p.SL2VLs, func(l *fabricwrite.SL2VL) bool { return l.Step == step })
		add("SL2VL tables", 0, waits, vls)
		add(fmt.Sprintf("LFT blocks of step %d", step), step, waits && len(vls) == 0,
			pick(p.Blocks, func(b *fabricwrite.Block) bool { return b.Step == step }))
	}
	add("LinearFDBTops lowered", 0, false, pick(p.Tops, falls))
	add("SL2VL tables", 0, slices.Contains(p.Settles, p.Steps+1),
		pick(p.SL2VLs, func(l *fabricwrite.SL2VL) bool { return l.Step > p.Steps }))
	if !p.CutFirst {
		add("multicast branches removed", 0, false, cut)
	}
	add("multicast branches added", 0, p.CutFirst, pick(p.MFTs, grows))
	add("port controls", 0, false, pick[fabricwrite.Control](p.Controls, nil))
	return all
}

// pick returns the items for which the function match returns true, all if it is nil.
func pick[T any, P interface {
	*T
	fabricwrite.Item
}](items []T, match func(P) bool) (some []fabricwrite.Item) {
	for i := range items {
		if match == nil || match(&items[i]) {
			some = append(some, P(&items[i]))
		}
	}
	return some
}

func (p *phase) String() string { return fmt.Sprintf("%s (%d)", p.what, len(p.items)) }

// mostSteps is the number of steps above which the text of a plan combines them.
const mostSteps = 4

// inOrder returns the phases as a text. Many steps in a row become one.
func inOrder(all []phase) string {
	var texts []string
	for i := 0; i < len(all); i++ {
		last, writes := i, len(all[i].items)
		for all[i].step > 0 && last+1 < len(all) && all[last+1].step > 0 {
			last++
			writes += len(all[last].items)
		}
		if last-i < mostSteps {
			texts = append(texts, all[i].String())
			continue
		}
		texts = append(texts, fmt.Sprintf("LFT blocks of steps %d to %d (%d)", all[i].step, all[last].step, writes))
		i = last
	}
	return strings.Join(texts, "; ")
}

// phaseRows returns the table of phases.
func (x *Change) phaseRows() answer.Rows[phaseRow] {
	all := phases(x.Plan)
	return answer.Lazy(len(all), func(i int) phaseRow {
		nodes := map[fabric.NodeIndex]bool{}
		for _, item := range all[i].items {
			nodes[x.live.Ports[item.Target(x.live)].Node] = true
		}
		return phaseRow{i + 1, all[i].what, len(all[i].items), len(nodes), all[i].waits}
	})
}

// order returns a text with the number of steps in which blocks are written, and with the pairs that the writes
// interrupt.
func order(rep *commits.Report) string {
	p, text := rep.Plan, ""
	if p.Steps > 0 {
		text = ", in " + prose.Count(p.Steps, "step")
	}
	if p.Extra > 0 {
		text += " with " + prose.Count(p.Extra, "extra write")
	}
	drains := rep.Avoidance != nil && rep.Avoidance.Taken && rep.Avoidance.Drains()
	if p.Hit.Pairs()+p.Hit.Unknown == 0 && !drains {
		text += prose.When(rep.Lost+rep.Unknown > 0, ", pairs that keep a path are not interrupted",
			", no pair is interrupted")
	}
	return text
}

// sl2vlOrder returns a text that states when SL2VL tables are written, relative to the blocks.
func sl2vlOrder(p *plan.Plan) string {
	late, nodes := 0, map[fabric.NodeIndex]bool{}
	between := 0
	for _, l := range p.SL2VLs {
		nodes[l.Node] = true
		switch {
		case l.Step > p.Steps:
			late++
		case l.Step > 1:
			between = l.Step
		}
	}
	switch {
	case len(p.Blocks) == 0:
		return "on ports of " + prose.Count(len(nodes), "node")
	case between > 0:
		return fmt.Sprintf("before the LFT blocks of step %d", between)
	case late == 0:
		return "before the LFT blocks"
	case late == len(p.SL2VLs):
		return "after the LFT blocks"
	}
	return fmt.Sprintf("%d of them before the LFT blocks and %d after", len(p.SL2VLs)-late, late)
}

// multicastOrder returns a text that states the order in which multicast tables are written.
func multicastOrder(p *plan.Plan) string {
	clears, switches := 0, map[fabric.SwitchIndex]bool{}
	for i := range p.MFTs {
		switches[p.MFTs[i].Switch] = true
		if !p.MFTs[i].Grow {
			clears++
		}
	}
	text := "on " + prose.Count(len(switches), "switch")
	if clears > 0 {
		text += fmt.Sprintf(", %d that remove branches before %d that add some", clears, len(p.MFTs)-clears)
	}
	return text + ", no packet circulates or arrives twice"
}
