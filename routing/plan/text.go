// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"io"
	"strings"
)

// shown is how many nodes of a list the text names.
const shown = 10

// Text writes for a person what the plan writes and what it leaves, a line a
// fact, names escaped.
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
	p.Hit.text(&b)
	nodes := func(label, what string, list []Node) {
		line(len(list), label, "%s: %s", count(len(list), "node"), what)
		for _, n := range list[:min(len(list), shown)] {
			fmt.Fprintf(&b, "  %s\n", n.Name)
		}
		if len(list) > shown {
			fmt.Fprintf(&b, "  and %d more\n", len(list)-shown)
		}
	}
	nodes("cut off", "out of the staged subnet, not written", p.CutOff)
	nodes("kept", "not in the staged tables, not written", p.Kept)
	nodes("not read", "without an answer when the tables were read, not written", p.Unread)
	for _, warning := range p.Warnings {
		line(1, "warning", "%s", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
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
	if p.Hit.Pairs() == 0 {
		text += ", no pair is hit"
	}
	return text
}

func (h *Hit) text(b *strings.Builder) {
	if h.Pairs() == 0 {
		return
	}
	var reasons []string
	if h.Moved > 0 {
		reasons = append(reasons, fmt.Sprintf("%d to ports that lose a LID", h.Moved))
	}
	if h.Down > 0 {
		reasons = append(reasons, fmt.Sprintf("%d whose new way takes links that are down", h.Down))
	}
	fmt.Fprintf(b, "%-16s %s\n", "PAIRS HIT", strings.Join(reasons, ", "))
	for _, e := range h.Examples {
		fmt.Fprintf(b, "  %s -> %s\n", e.Src.Name, e.Dst.Name)
	}
}

var plurals = map[string]string{"switch": "switches", "changed entry": "changed entries", "node": "nodes", "step": "steps", "extra write": "extra writes"}

func count(n int, what string) string {
	if n != 1 {
		what = plurals[what]
	}
	return fmt.Sprintf("%d %s", n, what)
}
