// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// remark adds the verdict, the path back, and the same path in other pictures.
func (t *trace) remark() {
	sc := t.Scene
	f := sc.Picture.Fabric
	t.say(t.verdictStyle(t.hops.Verdict), t.hops.Explain(f))
	if back, ok := t.back(); ok {
		switch {
		case !back.Verdict.Arrives():
			t.say(t.Theme.Bad, "back: "+back.Explain(f))
		case sameNodes(back.Hops, t.hops.Hops):
			t.say(t.Theme.Dim, "back: over the same switches")
		default:
			t.say("", "back: "+back.Explain(f)+", another path")
		}
	}
	t.otherLIDs()
	if b := sc.Between; b != nil && b.Other().Tables != nil {
		t.compareWith(b.OtherSide(), b.Other())
	}
	for _, k := range session.Kinds {
		t.compare(k)
	}
}

// otherLIDs says that there are more paths to a destination with several LIDs.
func (t *trace) otherLIDs() {
	f := t.Scene.Picture.Fabric
	if t.hops.Dst == fabric.None || f.Ports[t.hops.Dst].LMC == 0 {
		return
	}
	base := f.Ports[t.hops.Dst].LID
	for lid := base; lid < base+1<<f.Ports[t.hops.Dst].LMC; lid++ {
		if lid == t.hops.DstLID {
			continue
		}
		p := walk.Trace(t.Scene.Picture.Tables, t.hops.Src, lid)
		text := fmt.Sprintf("LID %d: %s", lid, p.Explain(f))
		if n := differsAt(f, &t.hops, f, &p); n >= 0 {
			text += ", another path from " + f.NodeName(p.Hops[min(n, len(p.Hops)-1)].Node) + " on"
		}
		t.rows = append(t.rows, traceRow{f: f, at: -1, remark: text, lid: lid})
	}
}

func (t *trace) say(st draw.Style, text string) {
	t.rows = append(t.rows, traceRow{f: t.Scene.Picture.Fabric, at: -1, remark: text, st: st})
}

func (t *trace) verdictStyle(v walk.Verdict) draw.Style {
	switch {
	case v == walk.Delivered:
		return t.Theme.Good
	case v == walk.TooLong || v == walk.Unknown:
		return t.Theme.Warn
	}
	return t.Theme.Bad
}

func (t *trace) back() (walk.Path, bool) {
	f := t.Scene.Picture.Fabric
	lid := f.Ports[f.EndPortOf(t.hops.Src)].LID
	if t.hops.Dst == fabric.None || lid == 0 {
		return walk.Path{}, false
	}
	return walk.Trace(t.Scene.Picture.Tables, t.hops.Dst, lid), true
}

// sameNodes reports whether one path passes the nodes of the other backwards.
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
	sc := t.Scene
	if k == sc.Picture.Kind || k == session.Base && sameTables(sc.State.Base, sc.State.Live) {
		return
	}
	p, err := sc.State.TablesOf(k)
	if err != nil || p.Tables == sc.Picture.Tables && p.Fabric == sc.Picture.Fabric {
		return
	}
	t.compareWith(string(k), p)
}

// compareWith says how the path goes in another picture of this name.
func (t *trace) compareWith(k string, p *session.Picture) {
	sc := t.Scene
	src, dst := t.Ends[0].EndPort(p.Fabric), t.Ends[1].EndPort(p.Fabric)
	if src == fabric.None || dst == fabric.None || p.Fabric.Ports[dst].LID == 0 {
		t.say(t.Theme.Warn, fmt.Sprintf("%s: one of the two is not there", k))
		return
	}
	other := walk.Trace(p.Tables, src, p.Fabric.Ports[dst].LID)
	hop := differsAt(sc.Picture.Fabric, &t.hops, p.Fabric, &other)
	switch {
	case !other.Verdict.Arrives():
		t.say(t.Theme.Bad, fmt.Sprintf("%s: %s", k, other.Explain(p.Fabric)))
	case hop < 0:
		t.say(t.Theme.Dim, fmt.Sprintf("%s: the same path", k))
	case !t.hops.Verdict.Arrives():
		t.say(t.Theme.Warn, fmt.Sprintf("%s: %s", k, other.Explain(p.Fabric)))
	default:
		h := other.Hops[min(hop, len(other.Hops)-1)]
		t.say(t.Theme.Warn, fmt.Sprintf("%s: another path from %s on, %s", k, p.Fabric.NodeName(h.Node), other.Explain(p.Fabric)))
		t.addHops(p.Fabric, &other, true)
	}
}

// sameTables reports whether two pictures are the same but for their names. None is the same as any.
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
		if pane.PlaceOf(f, x.Node, x.Out) != pane.PlaceOf(g, y.Node, y.Out) {
			return i
		}
	}
	return -1
}
