// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// Columns whose width depends on the contents of their cells.
const (
	colNode, colOut        = 0, 3 // of the path
	colOther, colHop       = 9, 10
	colOtherBy             = 13
	colThere, colBack      = 0, 5 // of both directions
	leastName, longestName = 12, 28
)

// columns creates the columns of the pane, with the text and style of their cells.
type columns struct {
	t     *trace
	paths [4][]draw.Column // by view
}

// layOut sets the columns of the view. Less important columns are left out before names are cut. The columns for
// another state are named after this state.
func (c *columns) layOut() {
	if o := c.t.chosen(); o != nil {
		cols := c.paths[kindPath]
		cols[colOther].Name, cols[colOtherBy].Name = o.kind.Word(), o.kind.Word()+" hop"
	}
	c.t.Cols = c.paths[c.t.Kind]
	widest := func(text func(row int) string, least, most int) int {
		for row := range c.t.rows {
			if r := &c.t.rows[row]; r.at >= 0 || r.back >= 0 {
				least = max(least, draw.Width(draw.Clean(text(row), false)))
			}
		}
		return min(least, most)
	}
	switch c.t.Kind {
	case kindPath:
		c.t.Cols[colNode].Least = widest(c.nodeText, leastName, longestName)
		c.t.Cols[colOut].Wide = widest(c.outText, 8, 16)
		c.t.Cols[colHop].Share = widest(c.happensText, 10, longestName)
		c.t.Cols[colHop].Least = min(c.t.Cols[colHop].Share, 16)
	case kindBoth:
		c.t.Cols[colThere].Least = widest(c.nodeText, leastName, longestName-8)
		c.t.Cols[colBack].Least = widest(c.backNode, leastName, longestName-8)
	}
}

// pathColumns returns the columns for the path. In a narrow pane, only those for nodes, ports and faults remain.
func (c *columns) pathColumns() []draw.Column {
	hop := func(row int) *walk.Hop { return &c.t.rows[row].hop }
	noBack, noOther := func() bool { return c.t.back == nil }, func() bool { return c.t.chosen() == nil }
	return []draw.Column{
		{Name: "  node", Help: "nodes of the path, in order",
			Least: 12, Text: c.nodeText, Plain: c.nodePlain, Look: c.nodeLook},
		{Name: "LID", Help: "local identifier, assigned by the subnet manager",
			Wide: 5, Right: true, Rank: 7, Text: func(row int) string { return pane.LidText(hop(row).LID) }, Dim: true},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Text: func(row int) string { return portText(c.t.rows[row].f, hop(row).In) }},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 13, Text: c.outText, Plain: c.outPlain, Look: c.outLook},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 1, Hidden: c.noVLs, Text: c.vlText, Look: c.vlLook},
		{Name: "paths", Help: "paths over the link, all end ports to all others, by the tables of the state shown",
			Wide: 9, Right: true, Rank: 2, Hidden: func() bool {
				return c.t.Loads() == nil
			}, Text: c.loadText},
		{Name: "ports", Help: "number of this port among the ports that are as near to the destination",
			Wide: 5, Right: true, Rank: 8, Text: c.portsText, Dim: true},
		{Name: "errors", Help: "errors of the link by the counters of both its ports, since they were cleared",
			Wide: 7, Right: true, Rank: 1, Hidden: func() bool {
				return c.t.errs == nil
			}, Text: c.errText, Look: c.errLook},
		{Name: "LIDs", Help: "LIDs of the destination whose packets leave by the same port",
			Wide: 5, Right: true, Rank: 4, Hidden: func() bool {
				return len(c.t.group) < 2
			}, Text: c.sharedText, Dim: true},
		{Name: "other", Called: "other",
			Help: "whether the other state has the same hop, another port of the node, or another switch",
			Wide: 6, Rank: 3, Hidden: noOther, Text: c.otherText, Look: c.otherLook},
		{Name: "remark", Help: "up or down by rank, turns, torus datelines, drops, credit loops",
			Least: 10, Rank: 3, Hidden: c.noHops, Text: c.happensText, Look: c.happensLook},
		{Name: "reverse",
			Help: "whether the reverse path has the same hop, another port of the node, or another switch",
			Wide: 7, Rank: 4, Hidden: noBack, Text: c.backText, Look: c.backLook},
		{Name: "reverse hop", Help: "hop of the reverse path",
			Least: 16, Share: 4, Rank: 5, Hidden: noBack, Text: c.backBy, Dim: true},
		{Name: "other hop", Called: "other hop", Help: "hop in the other state",
			Least: 16, Share: 4, Rank: 6, Hidden: noOther, Text: c.otherBy, Dim: true},
		{Name: "used", Help: "share of the data rate used in the last hour, as recorded",
			Wide: 5, Right: true, Rank: 2, Hidden: func() bool { return c.t.Scene.Recent() == nil }, Text: c.useText},
	}
}

// ofPath returns the row if it is a hop of the path itself, otherwise nil.
func (c *columns) ofPath(row int) *traceRow {
	r := &c.t.rows[row]
	if r.at < 0 || r.other {
		return nil
	}
	return r
}

func (c *columns) noVLs() bool {
	return c.t.passage == nil || !c.t.passage.Known() || c.t.Scene.Picture.Tables.SL2VL == nil
}

// vlText returns the VL on which packets leave. If they arrived on another VL, the text includes that VL.
func (c *columns) vlText(row int) string {
	r := c.ofPath(row)
	if r == nil || c.t.passage == nil {
		return ""
	}
	return c.t.passage.Hops[r.at].VL(c.t.Theme.Arrow)
}

func (c *columns) vlLook(row int) draw.Style {
	if r := c.ofPath(row); r != nil && c.t.passage != nil && c.t.passage.Hops[r.at].Out == fabric.DropVL {
		return c.t.Theme.Bad
	}
	return ""
}

// noHops reports whether the column with notes on hops is empty.
func (c *columns) noHops() bool { return strings.Join(c.t.happens, "") == "" }

func (c *columns) happensText(row int) string {
	if r := c.ofPath(row); r != nil {
		return c.t.happens[r.at]
	}
	return ""
}

func (c *columns) happensLook(row int) draw.Style {
	r := c.ofPath(row)
	if r == nil || c.t.passage == nil {
		return ""
	}
	switch h := &c.t.passage.Hops[r.at]; {
	case h.Out == fabric.DropVL, h.InLoop:
		return c.t.Theme.Bad
	case h.Backwards, h.Torus != nil && h.Torus.Illegal:
		return c.t.Theme.Warn
	}
	return c.t.Theme.Dim
}

// sharedText returns the number of LIDs of the destination whose packets leave through the same port.
func (c *columns) sharedText(row int) string {
	r := c.ofPath(row)
	if r == nil || len(c.t.group) < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.t.shared[r.at], len(c.t.group))
}

func (c *columns) backText(row int) string { return c.likeness(row, c.t.back) }

func (c *columns) backLook(row int) draw.Style { return c.likeLook(c.backText(row), "") }

func (c *columns) backBy(row int) string { return c.otherHopText(row, c.t.back) }

func (c *columns) otherText(row int) string { return c.likeness(row, c.t.chosen()) }

func (c *columns) otherLook(row int) draw.Style { return c.likeLook(c.otherText(row), c.t.Theme.Warn) }

func (c *columns) otherBy(row int) string { return c.otherHopText(row, c.t.chosen()) }

// The method likeness returns a text that states whether another path has the same hop.
func (c *columns) likeness(row int, o *other) string {
	r := c.ofPath(row)
	if r == nil || o == nil {
		return ""
	}
	return likeText(o.byHop[r.at].How)
}

func likeText(how walk.Similarity) string {
	if how == walk.Alone {
		return "-"
	}
	return how.String()
}

func (c *columns) likeLook(text string, differs draw.Style) draw.Style {
	if text == walk.SameHop.String() {
		return c.t.Theme.Dim
	}
	return differs
}

// otherHopText returns the hop of another path that replaces the hop in this row, or "" if the hop is the same.
func (c *columns) otherHopText(row int, o *other) string {
	r := c.ofPath(row)
	if r == nil || o == nil {
		return ""
	}
	b := o.byHop[r.at]
	if b.How == walk.SameHop || b.B < 0 {
		return ""
	}
	h := &o.path.Hops[o.hopIndex(b.B)]
	return fmt.Sprintf("%s %s%s%s", o.f.NodeName(h.Node), portText(o.f, h.In), c.t.Theme.Arrow, portText(o.f, h.Out))
}

// bothColumns returns the columns for the path and the reverse path.
func (c *columns) bothColumns() []draw.Column {
	return []draw.Column{
		{Name: "  forward", Help: "nodes of the path, in order",
			Least: 12, Text: c.nodeText, Plain: c.nodePlain, Look: c.nodeLook},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Rank: 2, Text: func(row int) string { return c.bothPort(row, false, true) }},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 4, Right: true, Text: func(row int) string { return c.bothPort(row, false, false) }},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 3, Hidden: c.noVLs, Text: c.vlText, Look: c.vlLook},
		{Name: "is", Help: "whether both directions have the same hop, other ports of the node, or other switches",
			Wide: 6, Text: func(row int) string {
				return likeText(c.t.rows[row].how)
			}, Look: func(row int) draw.Style { return c.likeLook(c.t.rows[row].how.String(), c.t.Theme.Info) }},
		{Name: "reverse",
			Help:  "whether the reverse path has the same hop, another port of the node, or another switch",
			Least: 12, Text: c.backNode},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 4, Right: true, Text: func(row int) string { return c.bothPort(row, true, false) }},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Rank: 2, Text: func(row int) string { return c.bothPort(row, true, true) }},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 3, Hidden: c.noVLs, Text: c.backVL},
		{Name: "paths", Help: "paths over the link in the reverse direction",
			Wide: 10, Right: true, Rank: 4, Hidden: func() bool {
				return c.t.Loads() == nil
			}, Text: c.backLoad},
	}
}

// bothPort returns the port at which packets arrive if in is set, otherwise the port from which they leave. The
// argument back selects the reverse path.
func (c *columns) bothPort(row int, back, in bool) string {
	r := &c.t.rows[row]
	h := &r.hop
	switch {
	case back && r.back < 0, !back && r.at < 0:
		return ""
	case back:
		h = &c.t.back.path.Hops[r.back]
	}
	if in {
		return portText(r.f, h.In)
	}
	return portText(r.f, h.Out)
}

func (c *columns) backNode(row int) string {
	r := &c.t.rows[row]
	if r.back < 0 {
		return ""
	}
	return r.f.NodeName(c.t.back.path.Hops[r.back].Node)
}

func (c *columns) backVL(row int) string {
	r := &c.t.rows[row]
	if r.back < 0 || c.t.back.passage == nil {
		return ""
	}
	return c.t.back.passage.Hops[r.back].VL(c.t.Theme.Arrow)
}

func (c *columns) backLoad(row int) string {
	r := &c.t.rows[row]
	if r.back < 0 || c.t.Loads() == nil || c.t.Loads().Fabric != r.f {
		return ""
	}
	out := c.t.back.path.Hops[r.back].Out
	if out == fabric.None {
		return ""
	}
	return pane.PathsText(c.t.Loads(), out)
}
