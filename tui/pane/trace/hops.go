// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

func (t *trace) Draw(p *draw.Pen, line int) {
	r := &t.rows[t.Row(line)]
	if r.at < 0 && r.back < 0 && t.Kind != kindLIDs {
		p.Gap(1)
		p.Put(r.st, r.remark)
		return
	}
	t.Table.Draw(p, line)
}

func (c *columns) nodeText(row int) string {
	r := &c.t.rows[row]
	switch {
	case r.at < 0 && r.back >= 0:
		return ""
	case r.at < 0:
		return r.remark
	}
	mark := prose.When(r.at == 0 || r.last, c.t.Theme.OnPath, c.t.Theme.Rung)
	if r.other {
		mark = c.t.Theme.Line + mark
	}
	return mark + " " + r.f.NodeName(r.hop.Node)
}

// nodePlain is [columns.nodeText] without marks.
func (c *columns) nodePlain(row int) string {
	if r := &c.t.rows[row]; r.at >= 0 {
		return r.f.NodeName(r.hop.Node)
	}
	return c.nodeText(row)
}

func (c *columns) nodeLook(row int) draw.Style {
	r := &c.t.rows[row]
	loops := !r.other && r.at >= 0 && c.t.hops.Verdict == walk.Loop && (r.at == c.t.hops.Closes || r.last)
	switch {
	case loops:
		return c.t.Theme.Bad
	case r.other:
		return c.t.Theme.Dim
	case r.at == 0 || r.last:
		return c.t.Theme.Info
	}
	return ""
}

func (c *columns) outText(row int) string {
	r := &c.t.rows[row]
	if r.at < 0 || r.hop.Out == fabric.None {
		return ""
	}
	port := &r.f.Ports[r.hop.Out]
	if !port.Linked() {
		return portText(r.f, r.hop.Out) + " " + c.t.Theme.Failed + " down"
	}
	text, _ := pane.LinkText(port)
	return fmt.Sprintf("%-3s %s%s%s", portText(r.f, r.hop.Out), c.t.Theme.Line, text, c.t.Theme.Arrow)
}

// outPlain is [columns.outText] without lines.
func (c *columns) outPlain(row int) string {
	r := &c.t.rows[row]
	if r.at < 0 || r.hop.Out == fabric.None {
		return ""
	}
	text, _ := pane.LinkText(&r.f.Ports[r.hop.Out])
	return portText(r.f, r.hop.Out) + " " + prose.When(r.f.Ports[r.hop.Out].Linked(), text, "down")
}

func (c *columns) outLook(row int) draw.Style {
	r := &c.t.rows[row]
	if r.at >= 0 && r.hop.Out != fabric.None && !r.f.Ports[r.hop.Out].Linked() {
		return c.t.Theme.Bad
	}
	return ""
}

func (c *columns) loadText(row int) string {
	r := &c.t.rows[row]
	if r.at < 0 || r.hop.Out == fabric.None || c.t.Loads() == nil || c.t.Loads().Fabric != r.f {
		return ""
	}
	return pane.PathsText(c.t.Loads(), r.hop.Out)
}

func (c *columns) portsText(row int) string {
	r := &c.t.rows[row]
	if r.at < 0 || r.other || r.at >= len(c.t.choices) || c.t.choices[r.at] == 0 {
		return ""
	}
	return fmt.Sprintf("1/%d", c.t.choices[r.at])
}

// errText returns the number of errors counted at both ports of a hop.
func (c *columns) errText(row int) string {
	n, known := c.errors(row)
	if !known {
		return ""
	}
	return prose.Thousands(int(n))
}

func (c *columns) errors(row int) (n uint64, known bool) {
	r := &c.t.rows[row]
	if r.at < 0 || r.other {
		return 0, false
	}
	for _, p := range [2]fabric.PortIndex{r.hop.In, r.hop.Out} {
		if p != fabric.None {
			if x, ok := c.t.errs[pane.PlaceOf(r.f, r.f.Ports[p].Node, p)]; ok {
				n, known = n+x, true
			}
		}
	}
	return n, known
}

// useText returns the utilization of the link in send direction in the last hour.
func (c *columns) useText(row int) string {
	r := &c.t.rows[row]
	if r.at < 0 || r.other {
		return ""
	}
	_, text := c.t.Scene.RecentUse(r.f, r.hop.Out)
	return text
}

func (c *columns) errLook(row int) draw.Style {
	if n, _ := c.errors(row); n > 0 {
		return c.t.Theme.Bad
	}
	return c.t.Theme.Dim
}

func portText(f *fabric.Fabric, port fabric.PortIndex) string {
	if port == fabric.None {
		return ""
	}
	return "p" + f.PortNumber(port)
}

// countChoices counts, at each switch of the path, the ports on a shortest path to the destination. It takes O(ports)
// time.
func (t *trace) countChoices() {
	f := t.Scene.Picture.Fabric
	t.choices = make([]int, len(t.hops.Hops))
	if t.hops.Dst == fabric.None {
		return
	}
	to, _ := f.AttachedSwitch(t.hops.Dst)
	if to == fabric.None {
		return
	}
	away := distances(f, to)
	for i, h := range t.hops.Hops {
		s := f.Nodes[h.Node].Switch
		if s == fabric.None || away[s] == fabric.None {
			continue
		}
		if s == to {
			t.choices[i] = 1
			continue
		}
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			if q := f.PeerSwitch(p); q != fabric.None && away[q] == away[s]-1 {
				t.choices[i]++
			}
		}
	}
}

// distances returns the number of links from each switch to one switch, or None if there is no path.
func distances(f *fabric.Fabric, to fabric.SwitchIndex) []int32 {
	away := make([]int32, len(f.Switches))
	for s := range away {
		away[s] = fabric.None
	}
	away[to] = 0
	for queue := []fabric.SwitchIndex{to}; len(queue) > 0; queue = queue[1:] {
		n := f.SwitchNode(queue[0])
		for p := range n.Ports() {
			if q := f.PeerSwitch(p); q != fabric.None && away[q] == fabric.None {
				away[q] = away[queue[0]] + 1
				queue = append(queue, q)
			}
		}
	}
	return away
}
