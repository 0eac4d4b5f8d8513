// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/walk"
	"example.org/ibconsole/shell/session"
)

// trace is the path of packets between two marked ends.
type trace struct {
	window
	sc    *scene
	theme *theme
	// ends are the marked source and destination; a zero GUID is none.
	ends [2]place
	// lid is the destination LID where one of several was named, else 0.
	lid  uint16
	path walk.Path
	ok   bool // there is a path
	why  string
	rows []traceRow
	text string
}

// traceRow is a hop, or a remark where hop is -1.
type traceRow struct {
	hop    int
	remark string
	st     style
}

func newTrace(t *theme) *trace { return &trace{theme: t} }

func (t *trace) win() *window   { return &t.window }
func (t *trace) filter() string { return t.text }

func (t *trace) setFilter(text string) {
	t.text = strings.ToLower(text)
	t.show(t.sc)
}

// mark sets the source (0) or the destination (1).
func (t *trace) mark(which int, at place, lid uint16) {
	t.ends[which] = at
	if which == 1 {
		t.lid = lid
	}
}

func (t *trace) show(sc *scene) {
	t.sc = sc
	t.rows, t.ok, t.why = t.rows[:0], false, ""
	t.follow()
	if t.ok {
		t.remark()
	}
	if t.text != "" {
		t.rows = slices.DeleteFunc(t.rows, func(r traceRow) bool { return !strings.Contains(strings.ToLower(t.rowText(r)), t.text) })
	}
	t.resize(len(t.rows), t.height)
}

func (t *trace) rowText(r traceRow) string {
	if r.hop < 0 {
		return r.remark
	}
	return t.sc.pic.Fabric.NodeName(t.path.Hops[r.hop].Node)
}

// follow computes the path. What stands in the way of it is in why.
func (t *trace) follow() {
	sc := t.sc
	from, to := t.ends[0].guid != 0, t.ends[1].guid != 0
	switch {
	case !from && !to:
		t.why = "mark two nodes: t where packets come from, T where they go"
	case !from:
		t.why = fmt.Sprintf("to %s: now mark with t where packets come from", t.name(1))
	case !to:
		t.why = fmt.Sprintf("from %s: now mark with T where they go", t.name(0))
	case sc.why != "":
		t.why = sc.why
	}
	if t.why != "" {
		return
	}
	f := sc.pic.Fabric
	src, dst := t.ends[0].endPort(f), t.ends[1].endPort(f)
	for i, port := range [2]int32{src, dst} {
		if port == fabric.None {
			t.why = fmt.Sprintf("%s has no node %s", sc.pic.Kind, t.name(i))
			return
		}
	}
	lid := t.lid
	if lid == 0 || f.PortByLID(lid) != dst {
		lid = f.Ports[dst].LID
	}
	if lid == 0 {
		t.why = fmt.Sprintf("%s has no LID in %s", f.PortName(dst), sc.pic.Kind)
		return
	}
	t.path, t.ok = walk.Trace(sc.pic.Tables, src, lid), true
	for i := range t.path.Hops {
		t.rows = append(t.rows, traceRow{hop: i})
	}
}

// name names an end, by its GUID where the fabric has no such node.
func (t *trace) name(which int) string {
	at := t.ends[which]
	f := t.sc.pic.Fabric
	if node, _ := at.in(f); node != fabric.None {
		return f.NodeName(node)
	}
	return fmt.Sprintf("0x%016x", at.guid)
}

// remark adds the verdict, the way back, and the same path in other pictures.
func (t *trace) remark() {
	sc := t.sc
	f := sc.pic.Fabric
	t.say(t.verdictStyle(t.path.Verdict), t.path.Explain(f))
	if back, ok := t.back(); ok {
		switch {
		case !back.Verdict.Arrives():
			t.say(t.theme.bad, "back: "+back.Explain(f))
		case sameNodes(back.Hops, t.path.Hops):
			t.say(t.theme.dim, "back: over the same switches")
		default:
			t.say("", "back: "+back.Explain(f)+", another way")
		}
	}
	for _, k := range session.Kinds {
		t.compare(k)
	}
}

func (t *trace) say(st style, text string) {
	t.rows = append(t.rows, traceRow{hop: -1, remark: text, st: st})
}

func (t *trace) verdictStyle(v walk.Verdict) style {
	switch {
	case v == walk.Delivered:
		return t.theme.good
	case v == walk.TooLong || v == walk.Unknown:
		return t.theme.warn
	}
	return t.theme.bad
}

func (t *trace) back() (walk.Path, bool) {
	f := t.sc.pic.Fabric
	lid := f.Ports[f.EndPortOf(t.path.Src)].LID
	if t.path.Dst == fabric.None || lid == 0 {
		return walk.Path{}, false
	}
	return walk.Trace(t.sc.pic.Tables, t.path.Dst, lid), true
}

// sameNodes says whether one path passes the nodes of the other backwards.
func sameNodes(back, forth []walk.Hop) bool {
	if len(back) != len(forth) {
		return false
	}
	for i := range back {
		if back[i].Node != forth[len(forth)-1-i].Node {
			return false
		}
	}
	return true
}

// compare says how the path goes in another picture that has tables.
func (t *trace) compare(k session.Kind) {
	sc := t.sc
	if k == sc.pic.Kind || k == session.Base && sameTables(sc.st.Base, sc.st.Live) {
		return
	}
	p, err := sc.st.TablesOf(k)
	if err != nil || p.Tables == sc.pic.Tables && p.Fabric == sc.pic.Fabric {
		return
	}
	src, dst := t.ends[0].endPort(p.Fabric), t.ends[1].endPort(p.Fabric)
	if src == fabric.None || dst == fabric.None || p.Fabric.Ports[dst].LID == 0 {
		t.say(t.theme.warn, fmt.Sprintf("%s: one of the two is not there", k))
		return
	}
	other := walk.Trace(p.Tables, src, p.Fabric.Ports[dst].LID)
	hop := differsAt(sc.pic.Fabric, &t.path, p.Fabric, &other)
	switch {
	case !other.Verdict.Arrives():
		t.say(t.theme.bad, fmt.Sprintf("%s: %s", k, other.Explain(p.Fabric)))
	case hop < 0:
		t.say(t.theme.dim, fmt.Sprintf("%s: the same path", k))
	case !t.path.Verdict.Arrives():
		t.say(t.theme.warn, fmt.Sprintf("%s: %s", k, other.Explain(p.Fabric)))
	default:
		h := other.Hops[min(hop, len(other.Hops)-1)]
		t.say(t.theme.warn, fmt.Sprintf("%s: another path from %s on, %s", k, p.Fabric.NodeName(h.Node), other.Explain(p.Fabric)))
	}
}

// sameTables says whether two pictures are the same but for their names. None is
// the same as any.
func sameTables(a, b *session.Picture) bool {
	return a == nil || a.Fabric == b.Fabric && a.Tables == b.Tables
}

// differsAt is the first hop at which two paths part, -1 where they do not.
func differsAt(f *fabric.Fabric, a *walk.Path, g *fabric.Fabric, b *walk.Path) int {
	for i := range max(len(a.Hops), len(b.Hops)) {
		if i >= len(a.Hops) || i >= len(b.Hops) {
			return i
		}
		x, y := a.Hops[i], b.Hops[i]
		if placeOf(f, x.Node, x.Out) != placeOf(g, y.Node, y.Out) {
			return i
		}
	}
	return -1
}

func (t *trace) title() string {
	if t.ends[0].guid == 0 || t.ends[1].guid == 0 || t.sc == nil {
		return ""
	}
	return fmt.Sprintf("%s %s %s", t.name(0), t.theme.arrow, t.name(1))
}

func (t *trace) picture() *badge {
	if !t.ok {
		return nil
	}
	return t.theme.pictureBadge(&t.sc.st, t.sc.pic)
}

func (t *trace) figure() string {
	if !t.ok {
		return ""
	}
	return t.path.Verdict.String()
}

func (t *trace) empty() string {
	if t.why == "" && t.text != "" {
		return fmt.Sprintf("no hop is called *%s*: Esc shows all", t.text)
	}
	return t.why
}

// hop is the hop of the selected row.
func (t *trace) hop() (walk.Hop, bool) {
	if t.cursor >= len(t.rows) || t.rows[t.cursor].hop < 0 {
		return walk.Hop{}, false
	}
	return t.path.Hops[t.rows[t.cursor].hop], true
}

func (t *trace) subject() subject {
	h, ok := t.hop()
	if !ok {
		return nothing
	}
	return subject{f: t.sc.pic.Fabric, node: h.Node, port: h.In, link: h.Out, via: fabric.None}
}

// nodes are the nodes of the path in the fabric of the topology pane.
func (t *trace) nodes() map[int32]bool {
	if !t.ok {
		return nil
	}
	on := map[int32]bool{}
	for _, h := range t.path.Hops {
		if n, _ := placeOf(t.sc.pic.Fabric, h.Node, fabric.None).in(t.sc.top.f); n != fabric.None {
			on[n] = true
		}
	}
	return on
}

func (t *trace) draw(p *pen, row int) {
	r := t.rows[row]
	if r.hop < 0 {
		p.gap(1)
		p.put(r.st, r.remark)
		return
	}
	f := t.sc.pic.Fabric
	h := t.path.Hops[r.hop]
	loops := t.path.Verdict == walk.Loop && (r.hop == t.path.Closes || r.hop == len(t.path.Hops)-1)
	mark, st := p.frame.v, p.dim
	if f.Nodes[h.Node].Switch == fabric.None || r.hop == 0 || r.hop == len(t.path.Hops)-1 {
		mark, st = p.onPath, p.info
	}
	if loops {
		st = p.bad
	}
	p.gap(1)
	p.put(st, mark+" ")
	name := max(p.left-11-14-12, 8)
	p.cell(when(loops, p.bad, ""), f.NodeName(h.Node), name)
	p.right(p.dim, "LID "+lidText(h.LID), 11)
	p.gap(2)
	p.right("", portText(f, h.In), 4)
	if h.In != fabric.None && h.Out != fabric.None {
		p.put(p.dim, " "+p.arrow+" ")
	} else {
		p.gap(3)
	}
	p.cell("", portText(f, h.Out), 5)
	t.drawLink(p, h)
}

func (t *trace) drawLink(p *pen, h walk.Hop) {
	f := t.sc.pic.Fabric
	switch {
	case h.Out == fabric.None:
	case !f.Ports[h.Out].Linked():
		p.put(p.bad, p.failed+" down")
	default:
		text, _ := linkText(&f.Ports[h.Out])
		p.put(p.dim, p.line+text+p.line+p.arrow)
	}
}

func portText(f *fabric.Fabric, port int32) string {
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
