// SPDX-License-Identifier: Apache-2.0

// Package trace shows the path of packets, hop by hop.
package trace

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// trace is the path of packets between two marked ends.
type trace struct {
	pane.List
	src     Source
	lid     uint16 // the destination LID where one of several was named, else 0
	hops    walk.Path
	ok      bool // there is a path
	why     string
	rows    []traceRow
	errs    map[pane.Place]uint64 // the errors that ports have counted, nil where they are not known
	reading pane.AsyncResult[map[pane.Place]uint64]
	choices []int // counts the ports of a switch that lead on by a shortest path, by hop
}

// traceRow is a hop of a path, or a remark.
type traceRow struct {
	f      *fabric.Fabric
	hop    walk.Hop
	at     int // which hop, -1 for a remark
	last   bool
	other  bool // of a path in another picture
	remark string
	st     draw.Style
	lid    uint16 // of a remark on another LID of the destination, else 0
}

// Source reads the counters of ports of the live fabric.
type Source interface {
	Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading, error)
}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &trace{src: src}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "Trace", Help: "the path of packets, hop by hop", Seat: pane.SeatTrace, Beside: "What-if"},
		draw.Table{ID: func(row int) uint64 { return uint64(row) }}, l.Renew)
	dim := func(int) draw.Style { return t.Dim }
	hop := func(row int) *walk.Hop { return &l.rows[row].hop }
	l.Cols = []draw.Column{
		{Name: "  node", Least: 12, Text: l.nodeText, Look: l.nodeLook},
		{Name: "LID", Wide: 5, Right: true, Rank: 2, Text: func(row int) string { return pane.LidText(hop(row).LID) }, Look: dim},
		{Name: "in", Wide: 4, Right: true, Text: func(row int) string { return portText(l.rows[row].f, hop(row).In) }},
		{Name: "out", Wide: 13, Text: l.outText, Look: l.outLook},
		{Name: "paths", Wide: 10, Right: true, Rank: 1, Hidden: func() bool { return l.Loads == nil }, Text: l.loadText},
		{Name: "ports", Wide: 5, Right: true, Rank: 3, Text: l.portsText, Look: dim},
		{Name: "errors", Wide: 7, Right: true, Rank: 1, Hidden: func() bool { return l.errs == nil }, Text: l.errText, Look: l.errLook},
	}
	l.Match = func(row int) bool {
		r := &l.rows[row]
		if r.at < 0 {
			return l.Filt.Match(strings.ToLower(r.remark))
		}
		return l.Filt.Match(strings.ToLower(r.f.NodeName(r.hop.Node)))
	}
	return l
}

// mark sets the source (0) or the destination (1).
func (t *trace) mark(which int, at pane.Place, lid uint16) {
	t.Ends[which] = at
	if which == 1 {
		t.lid = lid
	}
}

func (t *trace) Update(msg tea.Msg) {
	if msg, ok := msg.(pane.Mark); ok {
		t.mark(0, msg.From, 0)
		t.mark(1, msg.To, msg.LID)
		t.retrace()
	}
}

func (t *trace) Renew() {
	t.rows, t.ok, t.why, t.choices = t.rows[:0], false, "", nil
	t.Follow()
	if t.ok {
		t.countChoices()
		t.remark()
	}
	t.Path, t.Common.Traced = t.nodes(), ""
	if t.ok {
		t.Common.Traced = t.hops.Explain(t.Scene.Picture.Fabric)
	}
	t.Rebuild(len(t.rows))
}

func (t *trace) WhyNotSort() string { return "a path has an order of its own" }

// Follow computes the path. What stands in the way of it is in why.
func (t *trace) Follow() {
	sc := t.Scene
	from, to := t.Ends[0].GUID != 0, t.Ends[1].GUID != 0
	switch {
	case !from && !to:
		t.why = "mark two nodes: t where packets come from, T where they go (2 and / find them)"
	case !from:
		t.why = fmt.Sprintf("to %s: now mark with t where packets come from", t.name(1))
	case !to:
		t.why = fmt.Sprintf("from %s: now mark with T where they go", t.name(0))
	case sc.Why != "":
		t.why = sc.Why
	}
	if t.why != "" {
		return
	}
	f := sc.Picture.Fabric
	src, dst := t.Ends[0].EndPort(f), t.Ends[1].EndPort(f)
	for i, port := range [2]fabric.PortIndex{src, dst} {
		if port == fabric.None {
			t.why = fmt.Sprintf("%s has no node %s", sc.Picture.Kind, t.name(i))
			return
		}
	}
	lid := t.lid
	if lid == 0 || f.PortByLID(lid) != dst {
		lid = f.Ports[dst].LID
	}
	if lid == 0 {
		t.why = fmt.Sprintf("%s has no LID in %s", f.PortName(dst), sc.Picture.Kind)
		return
	}
	t.hops, t.ok = walk.Trace(sc.Picture.Tables, src, lid), true
	t.addHops(f, &t.hops, false)
}

func (t *trace) addHops(f *fabric.Fabric, p *walk.Path, other bool) {
	for i := range p.Hops {
		t.rows = append(t.rows, traceRow{f: f, hop: p.Hops[i], at: i, last: i == len(p.Hops)-1, other: other})
	}
}

// name names an end, by its GUID where the fabric has no such node.
func (t *trace) name(which int) string {
	at := t.Ends[which]
	f := t.Scene.Picture.Fabric
	if node, _ := at.In(f); node != fabric.None {
		return f.NodeName(node)
	}
	return fmt.Sprintf("0x%016x", at.GUID)
}

func (t *trace) Title() string {
	if t.Ends[0].None() || t.Ends[1].None() || t.Scene == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", t.name(0), t.Theme.Arrow, t.name(1))
}

func (t *trace) Picture() *draw.Badge { return t.Badge(t.ok) }

func (t *trace) Figure() string {
	if !t.ok {
		return ""
	}
	return t.hops.Verdict.String()
}

func (t *trace) Empty() string {
	if t.why == "" && !t.Filt.Empty() {
		return t.NoMatch("hop")
	}
	return t.why
}

func (t *trace) hop() (*traceRow, bool) {
	row, ok := t.Selected()
	if !ok || t.rows[row].at < 0 {
		return nil, false
	}
	return &t.rows[row], true
}

// ports are those that the path leaves and enters by.
func (t *trace) ports() []fabric.PortIndex {
	var out []fabric.PortIndex
	for _, h := range t.hops.Hops {
		for _, p := range [2]fabric.PortIndex{h.In, h.Out} {
			if p != fabric.None {
				out = append(out, p)
			}
		}
	}
	return out
}

func (t *trace) Subject() pane.Subject {
	r, ok := t.hop()
	if !ok {
		return pane.Nothing
	}
	return pane.Subject{Fabric: r.f, Node: r.hop.Node, Port: r.hop.In, Link: r.hop.Out, Via: fabric.None}
}

func (t *trace) Enter() (func() tea.Msg, string) {
	row, ok := t.Selected()
	switch {
	case !ok:
		return nil, "no hop is selected"
	case t.rows[row].lid != 0:
		lid := t.rows[row].lid
		return func() tea.Msg {
			t.lid = lid
			return t.traced()
		}, ""
	case t.rows[row].at < 0:
		return nil, "no hop is selected"
	}
	r := t.rows[row]
	return func() tea.Msg { return pane.Follow{Fabric: r.f, Node: r.hop.Node, LID: t.hops.DstLID} }, ""
}

// nodes are the nodes of the path in the fabric of the topology pane.
func (t *trace) nodes() map[fabric.NodeIndex]bool {
	if !t.ok {
		return nil
	}
	on := map[fabric.NodeIndex]bool{}
	for _, h := range t.hops.Hops {
		if n, _ := pane.PlaceOf(t.Scene.Picture.Fabric, h.Node, fabric.None).In(t.Scene.Top.Fabric); n != fabric.None {
			on[n] = true
		}
	}
	return on
}

// firstBetween is the line of the first hop from a switch to another, of the first hop where there is none.
func (t *trace) firstBetween() int {
	for i := range t.rows {
		r := &t.rows[i]
		if r.at < 0 {
			break
		}
		if r.f.Nodes[r.hop.Node].IsSwitch() && r.hop.Out != fabric.None && r.f.PeerSwitch(r.hop.Out) != fabric.None {
			return i
		}
	}
	return 0
}
