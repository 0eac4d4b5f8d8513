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

// Columns that depend on what stands in them.
const (
	colNode, colOut        = 0, 3 // of the path
	colOther, colHop       = 9, 10
	colOtherBy             = 13
	colThere, colBack      = 0, 5 // of both directions
	leastName, longestName = 12, 28
)

// layOut takes the columns of the manner that is shown: names are not cut for what matters less, and columns of another picture
// have its name.
func (t *trace) layOut() {
	if o := t.chosen(); o != nil {
		cols := t.paths[kindPath]
		cols[colOther].Name, cols[colOtherBy].Name = o.kind.Word(), o.kind.Word()+" by"
	}
	t.Cols = t.paths[t.Kind]
	widest := func(text func(row int) string, least, most int) int {
		for row := range t.rows {
			if r := &t.rows[row]; r.at >= 0 || r.back >= 0 {
				least = max(least, draw.Width(draw.Clean(text(row), false)))
			}
		}
		return min(least, most)
	}
	switch t.Kind {
	case kindPath:
		t.Cols[colNode].Least = widest(t.nodeText, leastName, longestName)
		t.Cols[colOut].Wide = widest(t.outText, 8, 16)
		t.Cols[colHop].Share = widest(t.happensText, 10, longestName)
		t.Cols[colHop].Least = min(t.Cols[colHop].Share, 16)
	case kindBoth:
		t.Cols[colThere].Least = widest(t.nodeText, leastName, longestName-8)
		t.Cols[colBack].Least = widest(t.backNode, leastName, longestName-8)
	}
}

// pathColumns are those of the path alone. Where there is little room those stay that say where it goes and what is wrong with it.
func (t *trace) pathColumns() []draw.Column {
	look := t.Look
	dim := func(int) draw.Style { return look.Dim }
	hop := func(row int) *walk.Hop { return &t.rows[row].hop }
	noBack, noOther := func() bool { return t.back == nil }, func() bool { return t.chosen() == nil }
	return []draw.Column{
		{Name: "  node", Help: "nodes of the path, in order",
			Least: 12, Text: t.nodeText, Look: t.nodeLook},
		{Name: "LID", Help: "local identifier, assigned by the subnet manager",
			Wide: 5, Right: true, Rank: 7, Text: func(row int) string { return pane.LidText(hop(row).LID) }, Look: dim},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Text: func(row int) string { return portText(t.rows[row].f, hop(row).In) }},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 13, Text: t.outText, Look: t.outLook},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 1, Hidden: t.noVLs, Text: t.vlText, Look: t.vlLook},
		{Name: "paths", Help: "paths over the link, all end ports to all others, by the tables of the state shown",
			Wide: 9, Right: true, Rank: 2, Hidden: func() bool { return t.Loads == nil }, Text: t.loadText},
		{Name: "ports", Help: "number of this port among the ports that are as near to the destination",
			Wide: 5, Right: true, Rank: 8, Text: t.portsText, Look: dim},
		{Name: "errors", Help: "errors of the link by the counters of both its ports, since they were cleared",
			Wide: 7, Right: true, Rank: 1, Hidden: func() bool { return t.errs == nil }, Text: t.errText, Look: t.errLook},
		{Name: "LIDs", Help: "LIDs of the destination whose packets leave by the same port",
			Wide: 5, Right: true, Rank: 4, Hidden: func() bool { return len(t.group) < 2 }, Text: t.sharedText, Look: dim},
		{Name: "other", Help: "whether the other state has the same hop, another port of the node, or another switch",
			Wide: 6, Rank: 3, Hidden: noOther, Text: t.otherText, Look: t.otherLook},
		{Name: "hop", Help: "up or down by rank, turns, torus datelines, drops, credit loops",
			Least: 10, Rank: 3, Hidden: t.noHops, Text: t.happensText, Look: t.happensLook},
		{Name: "back", Help: "whether the reverse path has the same hop, another port of the node, or another switch",
			Wide: 6, Rank: 4, Hidden: noBack, Text: t.backText, Look: t.backLook},
		{Name: "back by", Help: "hop of the reverse path",
			Least: 16, Share: 4, Rank: 5, Hidden: noBack, Text: t.backBy, Look: dim},
		{Name: "other by", Help: "hop in the other state",
			Least: 16, Share: 4, Rank: 6, Hidden: noOther, Text: t.otherBy, Look: dim},
		{Name: "use", Help: "share of the data rate sent in the last hour, as recorded",
			Wide: 5, Right: true, Rank: 2, Hidden: func() bool { return t.Recent == nil }, Text: t.useText},
	}
}

// ofPath is a hop of the path itself, nil for another row.
func (t *trace) ofPath(row int) *traceRow {
	r := &t.rows[row]
	if r.at < 0 || r.other {
		return nil
	}
	return r
}

func (t *trace) noVLs() bool {
	return t.passage == nil || !t.passage.Known || t.Scene.Picture.Tables.SL2VL == nil
}

// vlText is the VL by which packets leave, and the one by which they came where that is another.
func (t *trace) vlText(row int) string {
	r := t.ofPath(row)
	if r == nil || t.passage == nil {
		return ""
	}
	return t.passage.Hops[r.at].VL(t.Theme.Arrow)
}

func (t *trace) vlLook(row int) draw.Style {
	if r := t.ofPath(row); r != nil && t.passage != nil && t.passage.Hops[r.at].Out == fabric.DropVL {
		return t.Theme.Bad
	}
	return ""
}

// noHops reports whether nothing happens anywhere beside what the other columns say.
func (t *trace) noHops() bool { return strings.Join(t.happens, "") == "" }

func (t *trace) happensText(row int) string {
	if r := t.ofPath(row); r != nil {
		return t.happens[r.at]
	}
	return ""
}

func (t *trace) happensLook(row int) draw.Style {
	r := t.ofPath(row)
	if r == nil || t.passage == nil {
		return ""
	}
	switch h := &t.passage.Hops[r.at]; {
	case h.Out == fabric.DropVL, h.InLoop:
		return t.Theme.Bad
	case h.Backwards, h.Torus != nil && h.Torus.Illegal:
		return t.Theme.Warn
	}
	return t.Theme.Dim
}

// sharedText is to how many of the LIDs of the destination packets leave by the same port.
func (t *trace) sharedText(row int) string {
	r := t.ofPath(row)
	if r == nil || len(t.group) < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", t.shared[r.at], len(t.group))
}

func (t *trace) backText(row int) string { return t.likeness(row, t.back) }

func (t *trace) backLook(row int) draw.Style { return t.likeLook(t.backText(row), "") }

func (t *trace) backBy(row int) string { return t.by(row, t.back) }

func (t *trace) otherText(row int) string { return t.likeness(row, t.chosen()) }

func (t *trace) otherLook(row int) draw.Style { return t.likeLook(t.otherText(row), t.Theme.Warn) }

func (t *trace) otherBy(row int) string { return t.by(row, t.chosen()) }

// likeness says of a hop what stands beside it in another path.
func (t *trace) likeness(row int, o *other) string {
	r := t.ofPath(row)
	if r == nil || o == nil {
		return ""
	}
	return likeText(o.of[r.at].How)
}

func likeText(how walk.Likeness) string {
	if how == walk.Alone {
		return "-"
	}
	return how.String()
}

func (t *trace) likeLook(text string, differs draw.Style) draw.Style {
	if text == walk.SameHop.String() {
		return t.Theme.Dim
	}
	return differs
}

// by names what stands beside a hop in another path, "" where that is the same.
func (t *trace) by(row int, o *other) string {
	r := t.ofPath(row)
	if r == nil || o == nil {
		return ""
	}
	b := o.of[r.at]
	if b.How == walk.SameHop || b.B < 0 {
		return ""
	}
	h := &o.path.Hops[o.real(b.B)]
	return fmt.Sprintf("%s %s%s%s", o.f.NodeName(h.Node), portText(o.f, h.In), t.Theme.Arrow, portText(o.f, h.Out))
}

// bothColumns are the path and the path back side by side.
func (t *trace) bothColumns() []draw.Column {
	return []draw.Column{
		{Name: "  there", Help: "nodes of the path, in order",
			Least: 12, Text: t.nodeText, Look: t.nodeLook},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Rank: 2, Text: func(row int) string { return t.bothPort(row, false, true) }},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 4, Right: true, Text: func(row int) string { return t.bothPort(row, false, false) }},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 3, Hidden: t.noVLs, Text: t.vlText, Look: t.vlLook},
		{Name: "is", Help: "whether both directions have the same hop, other ports of the node, or other switches",
			Wide: 6, Text: func(row int) string { return likeText(t.rows[row].how) }, Look: func(row int) draw.Style { return t.likeLook(t.rows[row].how.String(), t.Theme.Info) }},
		{Name: "back", Help: "whether the reverse path has the same hop, another port of the node, or another switch",
			Least: 12, Text: t.backNode},
		{Name: "out", Help: "port from which packets leave, and its link",
			Wide: 4, Right: true, Text: func(row int) string { return t.bothPort(row, true, false) }},
		{Name: "in", Help: "port at which packets arrive",
			Wide: 4, Right: true, Rank: 2, Text: func(row int) string { return t.bothPort(row, true, true) }},
		{Name: "VL", Help: "VL by which packets leave, from the SL2VL tables; 0→1 where they arrive by another one",
			Wide: 5, Right: true, Rank: 3, Hidden: t.noVLs, Text: t.backVL},
		{Name: "paths back", Help: "paths over the link in the reverse direction",
			Wide: 10, Right: true, Rank: 4, Hidden: func() bool { return t.Loads == nil }, Text: t.backLoad},
	}
}

// bothPort is the port by which packets come in, or leave, there or back.
func (t *trace) bothPort(row int, back, in bool) string {
	r := &t.rows[row]
	h := &r.hop
	switch {
	case back && r.back < 0, !back && r.at < 0:
		return ""
	case back:
		h = &t.back.path.Hops[r.back]
	}
	if in {
		return portText(r.f, h.In)
	}
	return portText(r.f, h.Out)
}

func (t *trace) backNode(row int) string {
	r := &t.rows[row]
	if r.back < 0 {
		return ""
	}
	return r.f.NodeName(t.back.path.Hops[r.back].Node)
}

func (t *trace) backVL(row int) string {
	r := &t.rows[row]
	if r.back < 0 || t.back.passage == nil {
		return ""
	}
	return t.back.passage.Hops[r.back].VL(t.Theme.Arrow)
}

func (t *trace) backLoad(row int) string {
	r := &t.rows[row]
	if r.back < 0 || t.Loads == nil || t.Loads.Fabric != r.f {
		return ""
	}
	out := t.back.path.Hops[r.back].Out
	if out == fabric.None {
		return ""
	}
	return pane.PathsText(t.Loads, out)
}
