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
	line(t.Tops, "LinearFDBTop", "on %s", count(t.Tops, "switch"))
	line(t.Blocks+t.Entries, "LFT blocks", "%d on %s, %s", t.Blocks, count(t.Switches, "switch"), count(t.Entries, "changed entry"))
	line(t.Ports, "ports", "%d to bring up", t.Ports)
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

var plurals = map[string]string{"switch": "switches", "changed entry": "changed entries", "node": "nodes"}

func count(n int, what string) string {
	if n != 1 {
		what = plurals[what]
	}
	return fmt.Sprintf("%d %s", n, what)
}
