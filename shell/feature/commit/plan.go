// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/plan"
)

// planTexts returns what a plan writes in words, by the id of a label.
func planTexts(p *plan.Plan) map[string]string {
	said, t := map[string]string{}, p.Totals()
	say := func(n int, id, format string, args ...any) {
		if n > 0 {
			said[id] = fmt.Sprintf(format, args...)
		}
	}
	say(t.LIDs, "LIDs", "%d to assign", t.LIDs)
	say(t.Ports, "ports", "%d to bring up", t.Ports)
	say(t.Tops, "LinearFDBTop", "on %s", prose.Count(t.Tops, "switch"))
	say(t.Blocks+t.Entries, "LFT blocks", "%d on %s, %s%s", t.Blocks, prose.Count(t.Switches, "switch"),
		prose.Count(t.Entries, "changed entry"), order(p))
	say(t.SL2VLs, "SL2VL tables", "%d, %s", t.SL2VLs, sl2vlOrder(p))
	say(t.MFTs, "MFT blocks", "%d, %s", t.MFTs, multicastOrder(p))
	h := &p.Hit
	say(len(h.Groups), "GROUPS HIT", "%d whose members do not all hear one another for a moment: %s", len(h.Groups),
		groupsText(h.Groups))
	say(int(h.Unknown), "unknown hit", "%d whose new path takes switches whose tables were not read", h.Unknown)
	var reasons []string
	if h.Moved > 0 {
		reasons = append(reasons, fmt.Sprintf("%d to ports that lose a LID", h.Moved))
	}
	if h.Down > 0 {
		reasons = append(reasons, fmt.Sprintf("%d whose new path takes links that are down", h.Down))
	}
	say(len(reasons), "PAIRS HIT", "%s", strings.Join(reasons, ", "))
	if all := phases(p); len(all) > 1 {
		said["in this order"] = strings.Join(all, "; ")
	}
	nodes := func(id, what string, list []plan.Node) {
		say(len(list), id, "%s: %s", prose.Count(len(list), "node"), what)
	}
	nodes("unreachable", "not in the staged subnet, not written", p.Unreachable)
	nodes("kept", "not in the staged tables, not written", p.Kept)
	nodes("not read", "without an answer when the tables were read, not written", p.Unread)
	return said
}

// phases are the kinds of writes in the order in which they are done.
func phases(p *plan.Plan) (all []string) {
	add := func(n int, what string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s (%d)", what, n))
		}
	}
	steps, falls, late, grow := make([]int, p.Steps+1), 0, 0, 0
	for i := range p.Blocks {
		steps[p.Blocks[i].Step]++
	}
	for i := range p.Tops {
		if p.Tops[i].Falls() {
			falls++
		}
	}
	for _, l := range p.SL2VLs {
		if l.Late {
			late++
		}
	}
	for i := range p.MFTs {
		if p.MFTs[i].Grow {
			grow++
		}
	}
	add(len(p.LIDs), "LIDs")
	add(len(p.States), "ports up")
	add(len(p.Tops)-falls, "tops that rise")
	add(len(p.SL2VLs)-late, "SL2VL tables")
	for step, n := range steps {
		add(n, fmt.Sprintf("LFT blocks of step %d", step))
	}
	add(falls, "tops that fall")
	add(late, "SL2VL tables")
	add(len(p.MFTs)-grow, "multicast branches away")
	add(grow, "multicast branches added")
	return all
}

// order tells in how many steps blocks are written, and what that costs.
func order(p *plan.Plan) string {
	text := ""
	if p.Steps > 0 {
		text = ", in " + prose.Count(p.Steps, "step")
	}
	if p.Extra > 0 {
		text += " with " + prose.Count(p.Extra, "extra write")
	}
	if p.Hit.Pairs()+p.Hit.Unknown == 0 {
		text += ", no pair is hit"
	}
	return text
}

// sl2vlOrder tells when SL2VL tables are written.
func sl2vlOrder(p *plan.Plan) string {
	late, nodes := 0, map[fabric.NodeIndex]bool{}
	for _, l := range p.SL2VLs {
		nodes[l.Node] = true
		if l.Late {
			late++
		}
	}
	switch {
	case len(p.Blocks) == 0:
		return "on ports of " + prose.Count(len(nodes), "node")
	case late == 0:
		return "before the LFT blocks"
	case late == len(p.SL2VLs):
		return "behind the LFT blocks"
	}
	return fmt.Sprintf("%d of them before the LFT blocks and %d behind", len(p.SL2VLs)-late, late)
}

// multicastOrder tells in which order multicast tables are written.
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
		text += fmt.Sprintf(", %d that take branches away before %d that add some", clears, len(p.MFTs)-clears)
	}
	return text + ", no packet circles or comes twice"
}
