// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
	"example.org/ibconsole/shell/session/passage"
	"example.org/ibconsole/tui/pane"
)

// The type other is another path that is compared with the path shown.
type other struct {
	kind     session.Kind
	f        *fabric.Fabric
	path     walk.Path
	passage  *passage.Passage
	why      string // why there is no such path, "" if there is
	reversed bool   // the reverse path, whose end is shown first
	aligned  []walk.HopPair
	byHop    []walk.HopPair // by hop of the path that is shown
}

// align pairs the hops of the other path with the hops of the path shown.
func (o *other) align(f *fabric.Fabric, p *walk.Path) {
	hops := o.path.Hops
	if o.reversed {
		hops = o.path.Backwards()
	}
	o.aligned = walk.Compare(f, p.Hops, o.f, hops)
	o.byHop = make([]walk.HopPair, len(p.Hops))
	for _, b := range o.aligned {
		if b.A >= 0 {
			o.byHop[b.A] = b
		}
	}
}

// hopIndex returns the index of the hop that belongs to a position of the alignment.
func (o *other) hopIndex(at int) int { return prose.When(o.reversed, len(o.path.Hops)-1-at, at) }

// firstDifference returns the first pair of hops that differ. It returns nil if the paths are the same.
func (o *other) firstDifference() *walk.HopPair {
	if i := slices.IndexFunc(o.aligned, func(b walk.HopPair) bool { return b.How != walk.SameHop }); i >= 0 {
		return &o.aligned[i]
	}
	return nil
}

func (t *trace) followBack(g *partitions.Grants) {
	if back, ok := t.hops.Back(t.Scene.Picture.Tables); ok {
		f := t.Scene.Picture.Fabric
		t.back = &other{f: f, path: back, reversed: true, passage: t.passageOf(g, &back)}
		t.back.align(f, &t.hops)
	}
}

// backWords returns a text that describes how the reverse path differs.
func (r *remarks) backWords() string {
	nodes, ports := 0, 0
	for _, b := range r.t.back.aligned {
		switch b.How {
		case walk.OtherPort:
			ports++
		case walk.OtherNode, walk.Alone:
			nodes++
		}
	}
	switch text := r.t.back.path.Explain(r.t.back.f); {
	case !r.t.back.path.Verdict.Arrives():
		return text
	case nodes > 0:
		return text + ", by other switches"
	case ports > 0:
		return text + ", by the same switches and other links"
	}
	return "over the same links"
}

// addBoth adds rows for the hops in both directions.
func (t *trace) addBoth() {
	f := t.Scene.Picture.Fabric
	if t.back == nil {
		t.addRemark(t.Theme.Warn, "there is no reverse path: one of the ends has no LID", nil)
		return
	}
	for _, b := range t.back.aligned {
		r := traceRow{f: f, at: b.A, back: b.B, how: b.How}
		if b.A >= 0 {
			r.hop, r.last = t.hops.Hops[b.A], b.A == len(t.hops.Hops)-1
		}
		if b.B >= 0 {
			r.back = t.back.hopIndex(b.B)
		}
		t.rows = append(t.rows, r)
	}
	t.addRemark(t.verdictStyle(t.hops.Verdict), "forward path: "+t.hops.Explain(f)+slWords(t.passage), func() tea.Msg {
		return pane.ShowKind{Kind: kindPath}
	})
	t.addRemark(t.verdictStyle(t.back.path.Verdict), "reverse path: "+t.remarks.backWords()+slWords(t.back.passage),
		t.exchange)
}

// slWords returns ", SL 3".
func slWords(p *passage.Passage) string {
	switch {
	case p == nil:
		return ""
	case !p.Known():
		return ", SL not read"
	}
	return ", SL " + p.SLs.String()
}

// followOthers traces the same packets in all other states that have tables.
func (t *trace) followOthers() {
	sc := t.Scene
	if strings.HasPrefix(string(sc.Picture.Kind), string(session.Recorded)) {
		t.old = sc.Picture
	}
	if b := sc.Between; b != nil && b.Other().Tables != nil {
		o := t.otherOf(b.Other())
		o.kind = session.Kind(b.OtherSide())
		t.others = append(t.others, o)
	}
	var pictures []*session.Picture
	for _, k := range session.Kinds {
		if p, err := sc.State.TablesOf(k); err == nil && k != sc.Picture.Kind &&
			(k != session.Base || !sameTables(sc.State.Base, sc.State.Live)) {
			pictures = append(pictures, p)
		}
	}
	if t.old != nil && t.old != sc.Picture && t.old.Tables != nil {
		pictures = append(pictures, t.old)
	}
	for _, p := range pictures {
		if p.Tables != sc.Picture.Tables || p.Fabric != sc.Picture.Fabric {
			t.others = append(t.others, t.otherOf(p))
		}
	}
}

func (t *trace) otherOf(p *session.Picture) *other {
	o := &other{kind: p.Kind, f: p.Fabric}
	var err error
	if o.path, err = t.hops.In(t.Scene.Picture.Fabric, p.Tables); err != nil {
		o.why = err.Error()
	}
	o.align(t.Scene.Picture.Fabric, &t.hops)
	return o
}

// chosen returns the other path with which the hops are compared, or nil if there is none.
func (t *trace) chosen() *other {
	if len(t.others) == 0 {
		return nil
	}
	return t.others[max(slices.IndexFunc(t.others, func(o *other) bool { return o.kind == t.against }), 0)]
}

func (t *trace) whyNoOther() string {
	switch {
	case !t.ok:
		return t.why
	case len(t.others) == 0:
		return "there is no other state to compare with: compute routes, simulate a failure, or open an entry of the " +
			"history"
	}
	return ""
}

func (t *trace) againstWord() string {
	if o := t.chosen(); o != nil {
		return "against " + o.kind.Word()
	}
	return "against"
}

// nextAgainst compares with the next state.
func (t *trace) nextAgainst() tea.Msg {
	at := slices.Index(t.others, t.chosen())
	return t.compareWith(t.others[(at+1)%len(t.others)].kind)
}

func (t *trace) compareWith(k session.Kind) tea.Msg {
	t.against = k
	t.Renew()
	return pane.Inform{Text: "the hops are compared with those of " + string(k)}
}

// remarkOther adds a remark about the path in another state.
func (r *remarks) remarkOther(o *other) {
	choose := func() tea.Msg { return r.t.compareWith(o.kind) }
	differs := o.firstDifference()
	switch {
	case o.why != "":
		r.t.addRemark(r.t.Theme.Warn, fmt.Sprintf("%s: %s", o.kind, o.why), choose)
	case !o.path.Verdict.Arrives():
		r.t.addRemark(r.t.Theme.Bad, fmt.Sprintf("%s: %s", o.kind, o.path.Explain(o.f)), choose)
	case differs == nil:
		r.t.addRemark(r.t.Theme.Dim, fmt.Sprintf("%s: the same path", o.kind), choose)
	case !r.t.hops.Verdict.Arrives():
		r.t.addRemark(r.t.Theme.Warn, fmt.Sprintf("%s: %s", o.kind, o.path.Explain(o.f)), choose)
	default:
		at := r.t.Scene.Picture.Fabric.NodeName(r.t.hops.Hops[max(differs.A, 0)].Node)
		if differs.B >= 0 {
			at = o.f.NodeName(o.path.Hops[differs.B].Node)
		}
		r.t.addRemark(r.t.Theme.Warn, fmt.Sprintf("%s: another path from %s on, %s", o.kind, at, o.path.Explain(o.f)),
			choose)
	}
}

// sameTables reports whether two states have the same tables. A nil a counts as having the same tables as b.
func sameTables(a, b *session.Picture) bool {
	return a == nil || a.Fabric == b.Fabric && a.Tables == b.Tables
}
