// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// shown is how many nodes of a list the text names.
const shown = 10

// Text writes for a person what the plan writes and what it leaves, a line a fact, names escaped.
func (p *Plan) Text(w io.Writer) error {
	var b strings.Builder
	t := p.Totals()
	line := func(n int, label, format string, args ...any) {
		if n > 0 {
			fmt.Fprintf(&b, "%-16s %s\n", label, fmt.Sprintf(format, args...))
		}
	}
	if p.Empty() {
		b.WriteString("nothing to write\n")
	}
	line(t.LIDs, "LIDs", "%d to assign", t.LIDs)
	line(t.Ports, "ports", "%d to bring up", t.Ports)
	line(t.Tops, "LinearFDBTop", "on %s", count(t.Tops, "switch"))
	line(t.Blocks+t.Entries, "LFT blocks", "%d on %s, %s%s", t.Blocks, count(t.Switches, "switch"), count(t.Entries, "changed entry"), p.order())
	line(t.SL2VLs, "SL2VL tables", "%d, %s", t.SL2VLs, p.sl2vlOrder())
	line(t.MFTs, "MFT blocks", "%d, %s", t.MFTs, p.multicastOrder())
	p.Hit.text(&b)
	if phases := p.phases(); len(phases) > 1 {
		line(1, "in this order", "%s", strings.Join(phases, "; "))
	}
	nodes := func(label, what string, list []Node) {
		line(len(list), label, "%s: %s", count(len(list), "node"), what)
		some, more := prose.Cut(list, shown)
		for _, n := range some {
			fmt.Fprintf(&b, "  %s\n", n.Name)
		}
		if more != "" {
			fmt.Fprintf(&b, "  %s\n", more)
		}
	}
	nodes("unreachable", "in the staged subnet, not written", p.CutOff)
	nodes("kept", "not in the staged tables, not written", p.Kept)
	nodes("not read", "without an answer when the tables were read, not written", p.Unread)
	for _, warning := range p.Warnings {
		line(1, "warning", "%s", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// phases are the kinds of writes in the order in which they are done.
func (p *Plan) phases() (all []string) {
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

// order says in how many steps blocks are written, and what that costs.
func (p *Plan) order() string {
	text := ""
	if p.Steps > 0 {
		text = ", in " + count(p.Steps, "step")
	}
	if p.Extra > 0 {
		text += " with " + count(p.Extra, "extra write")
	}
	if p.Hit.Pairs()+p.Hit.Unknown == 0 {
		text += ", no pair is hit"
	}
	return text
}

// sl2vlOrder says when SL2VL tables are written.
func (p *Plan) sl2vlOrder() string {
	late := 0
	for _, l := range p.SL2VLs {
		if l.Late {
			late++
		}
	}
	switch {
	case len(p.Blocks) == 0:
		return "on ports of " + count(len(p.sl2vlNodes()), "node")
	case late == 0:
		return "before the LFT blocks"
	case late == len(p.SL2VLs):
		return "behind the LFT blocks"
	}
	return fmt.Sprintf("%d of them before the LFT blocks and %d behind", len(p.SL2VLs)-late, late)
}

func (p *Plan) sl2vlNodes() map[fabric.NodeIndex]bool {
	nodes := map[fabric.NodeIndex]bool{}
	for _, l := range p.SL2VLs {
		nodes[l.Node] = true
	}
	return nodes
}

// multicastOrder says in which order multicast tables are written.
func (p *Plan) multicastOrder() string {
	clears, switches := 0, map[fabric.SwitchIndex]bool{}
	for i := range p.MFTs {
		switches[p.MFTs[i].Switch] = true
		if !p.MFTs[i].Grow {
			clears++
		}
	}
	text := "on " + count(len(switches), "switch")
	if clears > 0 {
		text += fmt.Sprintf(", %d that take branches away before %d that add some", clears, len(p.MFTs)-clears)
	}
	return text + ", no packet circles or comes twice"
}

func (h *Hit) text(b *strings.Builder) {
	if n := len(h.Groups); n > 0 {
		fmt.Fprintf(b, "%-16s %d whose members do not all hear one another for a moment:", "GROUPS HIT", n)
		some, more := prose.Cut(h.Groups, shown)
		for _, lid := range some {
			fmt.Fprintf(b, " 0x%04x", lid)
		}
		fmt.Fprintf(b, "%s\n", strings.TrimRight(" "+more, " "))
	}
	if h.Unknown > 0 {
		fmt.Fprintf(b, "%-16s %d whose new path takes switches whose tables were not read\n", "PAIRS UNKNOWN", h.Unknown)
	}
	if h.Pairs() == 0 {
		return
	}
	var reasons []string
	if h.Moved > 0 {
		reasons = append(reasons, fmt.Sprintf("%d to ports that lose a LID", h.Moved))
	}
	if h.Down > 0 {
		reasons = append(reasons, fmt.Sprintf("%d whose new path takes links that are down", h.Down))
	}
	fmt.Fprintf(b, "%-16s %s\n", "PAIRS HIT", strings.Join(reasons, ", "))
	for _, e := range h.Examples {
		fmt.Fprintf(b, "  %s -> %s\n", e.Src.Name, e.Dst.Name)
	}
}

func count(n int, what string) string { return prose.Count(n, what) }
