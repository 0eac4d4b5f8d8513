// SPDX-License-Identifier: Apache-2.0

// Package trace shows the path of packets hop by hop.
package trace

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
	"example.org/ibconsole/shell/session/passage"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// trace shows the path of packets between two marked ends.
type trace struct {
	pane.List
	src     Source
	sets    [2]hostSet // the ends that are sets of hosts
	hops    walk.Path
	passage *passage.Passage
	happens []string // remarks by hop
	ok      bool     // there is a path
	why     string
	rows    []traceRow
	errs    map[pane.Place]uint64 // the errors that ports counted, nil if unknown
	reading pane.AsyncResult[map[pane.Place]uint64]
	net     *choices.Net // prepared tables to follow every choice, nil until needed
	choices []int        // by hop: the ports on a shortest path

	group   []walk.Path // to all LIDs of the destination
	shared  []int       // by hop: how many paths of group leave by the same port
	back    *other      // the reverse path, nil for none
	others  []*other    // the path in other states
	against session.Kind
	old     *session.Picture // the last one of the history that was shown
	loads   *linkload.Loads  // the loads of the rows

	columns columns
	remarks remarks
}

// The views of the pane.
const (
	kindPath = iota
	kindBoth
	kindLIDs
	kindChoices
)

// manners are the names of the views. The last view is available only if adaptive routing is known.
var manners = []string{"path", "both directions", "all LIDs", "every choice"}

// traceRow is a row: a hop of a path, a remark, or the path to another LID.
type traceRow struct {
	f      *fabric.Fabric
	hop    walk.Hop
	at     int // the hop, -1 for none
	last   bool
	other  bool // in another state
	back   int  // the aligned hop of the reverse path, -1 for none
	how    walk.Similarity
	remark string
	st     draw.Style
	open   func() tea.Msg // the action of Enter on a remark, nil for none
}

// Source reads the counters of ports of the live fabric.
type Source interface {
	Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading, error)
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Trace", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &trace{src: src}
	l.columns.t, l.remarks.t = l, l
	l.List = pane.NewList(c, pane.About{Name: "Trace", Seat: pane.SeatTrace, Companion: "What-if"},
		draw.Table{ID: func(row int) uint64 { return uint64(row) }, Kinds: manners[:kindChoices]}, l.Renew)
	l.columns.paths = [4][]draw.Column{l.columns.pathColumns(), l.columns.bothColumns(), l.columns.lidColumns(),
		{{Least: 20, Text: l.columns.nodeText}}}
	l.Cols, l.Layouts = l.columns.paths[kindPath], l.columns.paths[:]
	l.Match = func(row int) bool {
		r := &l.rows[row]
		text := r.remark
		if r.at >= 0 || r.back >= 0 {
			text = l.columns.nodeText(row) + " " + l.columns.backNode(row)
		}
		return l.Filt.Match(strings.ToLower(text))
	}
	return l
}

// mark marks a place as the source (0) or the destination (1). The argument lid is the LID of the destination if it was
// given.
func (t *trace) mark(which int, at pane.Place, lid uint16) {
	t.Ends[which], t.sets[which] = at, hostSet{}
	if which == 1 {
		t.LID = lid
	}
}

func (t *trace) Update(msg tea.Msg) {
	if msg, ok := msg.(pane.Mark); ok {
		t.mark(0, msg.From, 0)
		t.mark(1, msg.To, msg.LID)
		t.TakeTrace(t.Scene, msg.Path)
		t.retrace()
	}
}

func (t *trace) Renew() {
	t.rows, t.ok, t.why, t.choices = t.rows[:0], false, "", nil
	t.hops, t.passage, t.happens, t.shared, t.back, t.others, t.group = walk.Path{}, nil, nil, nil, nil, nil, nil
	t.Follow()
	t.setKinds()
	if t.ok {
		t.analyze()
		t.fill()
	}
	t.columns.layOut()
	t.Rebuild(len(t.rows))
}

// analyze computes the details of the path.
func (t *trace) analyze() {
	sc := t.Scene
	t.loads = t.Loads()
	t.countChoices()
	// This can fail only for partitions that the user has defined.
	g, err := sc.State.Grants(sc.Picture, partitions.Asked{SL: -1})
	if err != nil {
		g = nil
	}
	t.passage = t.passageOf(g, &t.hops)
	t.happens = t.happens[:0]
	for i := range t.hops.Hops {
		text := ""
		if t.passage != nil {
			text = t.passage.Hops[i].String()
		}
		t.happens = append(t.happens, text)
	}
	t.followBack(g)
	t.followOthers()
	t.group = nil
	if t.hops.Dst != fabric.None {
		t.group = walk.TraceAll(sc.Picture.Tables, t.hops.Src, t.hops.Dst)
	}
	t.shared = t.hops.Shared(t.group)
}

func (t *trace) passageOf(g *partitions.Grants, p *walk.Path) *passage.Passage {
	if g == nil {
		return nil
	}
	return passage.Follow(t.Scene.Picture, g, p, t.Memo)
}

// fill makes the rows of the view.
func (t *trace) fill() {
	switch t.Kind {
	case kindBoth:
		t.addBoth()
	case kindLIDs:
		t.addGroup()
	case kindChoices:
		t.addChoices()
	default:
		t.addHops(t.Scene.Picture.Fabric, &t.hops, false)
		t.remarks.add()
	}
}

func (t *trace) WhyNotSort() string {
	return prose.When(t.Kind == kindLIDs && t.N > 0, "", "a path cannot be sorted")
}

// Follow computes the path. If there is none, it sets why to the reason.
func (t *trace) Follow() {
	sc := t.Scene
	from, to := !t.unmarked(0), !t.unmarked(1)
	switch {
	case !from && !to:
		t.why = "mark two nodes: t marks the source, T the destination (2 and / find them)"
	case !from:
		t.why = fmt.Sprintf("to %s: mark the source with t", t.name(1)+t.sets[1].count())
	case !to:
		t.why = fmt.Sprintf("from %s: mark the destination with T", t.name(0)+t.sets[0].count())
	case sc.WhyNoTables != "":
		t.why = sc.WhyNoTables
	case t.hasSet():
		t.why = fmt.Sprintf("from %s to %s: the answer (a) has a row for each pair, Enter shows its hops", t.name(0),
			t.name(1))
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
	t.hops, t.ok = *t.Trace(sc), true
}

func (t *trace) addHops(f *fabric.Fabric, p *walk.Path, other bool) {
	for i := range p.Hops {
		t.rows = append(t.rows, traceRow{f: f, hop: p.Hops[i], at: i, last: i == len(p.Hops)-1, other: other, back: -1})
	}
}

// name returns the name of an end, or its GUID if the fabric does not contain the node.
func (t *trace) name(which int) string {
	if s := &t.sets[which]; s.name != "" {
		return feature.SetPrefix + s.name
	}
	at := t.Ends[which]
	f := t.Scene.Picture.Fabric
	if node, _ := at.In(f); node != fabric.None {
		return f.NodeName(node)
	}
	return fmt.Sprintf("0x%016x", at.GUID)
}

func (t *trace) Title() string {
	if t.unmarked(0) || t.unmarked(1) || t.Scene == nil {
		return ""
	}
	title := fmt.Sprintf("%s %s %s", t.name(0), t.Theme.Arrow, t.name(1))
	if len(t.group) > 1 {
		title += fmt.Sprintf(" LID %d", t.hops.DstLID)
	}
	return title + prose.When(t.Kind != kindPath, ": "+t.Kinds[t.Kind], "")
}

func (t *trace) StateBadge() *draw.Badge { return t.SceneBadge(t.ok) }

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

// ports returns the ports of the path.
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
	row, ok := t.Selected()
	if !ok {
		return pane.Nothing
	}
	r := &t.rows[row]
	switch {
	case r.at >= 0:
		return pane.Subject{Fabric: r.f, Node: r.hop.Node, Port: r.hop.In, Link: r.hop.Out, Via: fabric.None}
	case r.back >= 0:
		h := &t.back.path.Hops[r.back]
		return pane.Subject{Fabric: r.f, Node: h.Node, Port: h.In, Link: h.Out, Via: fabric.None}
	}
	return pane.Nothing
}

func (t *trace) Enter() (func() tea.Msg, string) {
	row, ok := t.Selected()
	if !ok {
		return nil, "no hop is selected"
	}
	r := t.rows[row]
	switch {
	case r.open != nil:
		return r.open, ""
	case r.at >= 0:
		return func() tea.Msg { return pane.Follow{Fabric: r.f, Node: r.hop.Node, LID: t.hops.DstLID} }, ""
	case r.back >= 0:
		h := &t.back.path
		return func() tea.Msg { return pane.Follow{Fabric: r.f, Node: h.Hops[r.back].Node, LID: h.DstLID} }, ""
	}
	return nil, "nothing to open here"
}

// firstBetween returns the line of the first hop between two switches, or the first line if there is no such hop.
func (t *trace) firstBetween() int {
	for i := range t.rows {
		r := &t.rows[i]
		if r.at < 0 {
			break
		}
		if t.Kind == kindPath && r.f.Nodes[r.hop.Node].IsSwitch() && r.hop.Out != fabric.None &&
			r.f.PeerSwitch(r.hop.Out) != fabric.None {
			return i
		}
	}
	return 0
}

// Hidden reports whether no end of a trace is marked.
func (t *trace) Hidden() bool { return t.N == 0 && t.unmarked(0) && t.unmarked(1) }
