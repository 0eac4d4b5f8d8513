// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/changes/transition"
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
		drained, more := prose.Cut(prose.Words(a.Transition.Drained, func(lid uint16) string {
			return rep.Credits.Fabric.PortName(rep.Credits.Fabric.PortByLID(lid))
		}), mostNodes)
		what := "%s unreachable during the writes: %s"
		if a.Transition.Method == transition.OtherLIDs {
			what = "%s with a LID that has no path during the writes; connections must move to the other LIDs: %s"
		}
		add(len(a.Transition.Drained), "drained", what, prose.Count(len(a.Transition.Drained), "port"),
			strings.TrimRight(strings.Join(append(drained, more), " "), " "))
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
		texts["in this order"] = strings.Join(all, "; ")
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

// phases returns the phases of writing with the number of writes, in their order.
func phases(p *plan.Plan) (all []string) {
	add := func(n int, what string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", what, n))
		}
	}
	steps, vls, falls, late, grow := make([]int, p.Steps+1), make([]int, p.Steps+1), 0, 0, 0
	for i := range p.Blocks {
		steps[p.Blocks[i].Step]++
	}
	for i := range p.Tops {
		if p.Tops[i].Falls() {
			falls++
		}
	}
	for _, l := range p.SL2VLs {
		if l.Step > p.Steps {
			late++
		} else {
			vls[l.Step]++
		}
	}
	for i := range p.MFTs {
		if p.MFTs[i].Grow {
			grow++
		}
	}
	add(len(p.LIDs), "LIDs")
	add(len(p.States), "ports up")
	add(len(p.Tops)-falls, "LinearFDBTops raised")
	if p.CutFirst {
		add(len(p.MFTs)-grow, "multicast branches removed")
	}
	for step, n := range steps {
		add(vls[step], "SL2VL tables")
		add(n, fmt.Sprintf("LFT blocks of step %d", step))
	}
	add(falls, "LinearFDBTops lowered")
	add(late, "SL2VL tables")
	if !p.CutFirst {
		add(len(p.MFTs)-grow, "multicast branches removed")
	}
	add(grow, "multicast branches added")
	add(len(p.Controls), "port controls")
	return all
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
