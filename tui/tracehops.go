// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

func (t *trace) draw(p *pen, line int) {
	r := &t.rows[t.row(line)]
	if r.at < 0 {
		p.gap(1)
		p.put(r.st, r.remark)
		return
	}
	t.table.draw(p, line)
}

func (t *trace) nodeText(row int) string {
	r := &t.rows[row]
	if r.at < 0 {
		return r.remark
	}
	mark := t.theme.rung
	if r.at == 0 || r.last {
		mark = t.theme.onPath
	}
	if r.other {
		mark = t.theme.line + mark
	}
	return mark + " " + r.f.NodeName(r.hop.Node)
}

func (t *trace) nodeLook(row int) style {
	r := &t.rows[row]
	loops := !r.other && t.path.Verdict == walk.Loop && (r.at == t.path.Closes || r.last)
	switch {
	case loops:
		return t.theme.bad
	case r.other:
		return t.theme.dim
	case r.at == 0 || r.last:
		return t.theme.info
	}
	return ""
}

func (t *trace) outText(row int) string {
	r := &t.rows[row]
	if r.at < 0 || r.hop.Out == fabric.None {
		return ""
	}
	port := &r.f.Ports[r.hop.Out]
	if !port.Linked() {
		return portText(r.f, r.hop.Out) + " " + t.theme.failed + " down"
	}
	text, _ := linkText(port)
	return fmt.Sprintf("%-3s %s%s%s", portText(r.f, r.hop.Out), t.theme.line, text, t.theme.arrow)
}

func (t *trace) outLook(row int) style {
	r := &t.rows[row]
	if r.at >= 0 && r.hop.Out != fabric.None && !r.f.Ports[r.hop.Out].Linked() {
		return t.theme.bad
	}
	return ""
}

func (t *trace) loadText(row int) string {
	r := &t.rows[row]
	if r.at < 0 || r.hop.Out == fabric.None || t.loads == nil || t.loads.Fabric != r.f {
		return ""
	}
	return thousands(int(t.loads.Paths[r.hop.Out]))
}

func (t *trace) waysText(row int) string {
	r := &t.rows[row]
	if r.at < 0 || r.other || r.at >= len(t.ways) || t.ways[r.at] == 0 {
		return ""
	}
	return fmt.Sprintf("1/%d", t.ways[r.at])
}

// errText is the errors counted at both ports of a hop.
func (t *trace) errText(row int) string {
	n, known := t.errors(row)
	if !known {
		return ""
	}
	return thousands(int(n))
}

func (t *trace) errors(row int) (n uint64, known bool) {
	r := &t.rows[row]
	if r.at < 0 || r.other {
		return 0, false
	}
	for _, p := range [2]fabric.PortIndex{r.hop.In, r.hop.Out} {
		if p != fabric.None {
			if x, ok := t.errs[placeOf(r.f, r.f.Ports[p].Node, p)]; ok {
				n, known = n+x, true
			}
		}
	}
	return n, known
}

func (t *trace) errLook(row int) style {
	if n, _ := t.errors(row); n > 0 {
		return t.theme.bad
	}
	return t.theme.dim
}

func portText(f *fabric.Fabric, port fabric.PortIndex) string {
	if port == fabric.None {
		return ""
	}
	return fmt.Sprintf("p%d", f.Ports[port].Num)
}

func when(yes bool, a, b style) style {
	if yes {
		return a
	}
	return b
}
