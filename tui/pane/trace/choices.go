// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// setKinds adds the view "every choice" if adaptive routing is known.
func (t *trace) setKinds() {
	t.Kinds = manners[:kindChoices]
	if tables := t.Scene.Picture.Tables; tables != nil && tables.Adaptive != nil {
		t.Kinds = manners
	} else if t.Kind == kindChoices {
		t.Kind = kindPath
	}
}

// set returns all paths that packets can take. It returns nil if no switch is known to route adaptively.
func (t *trace) set() *choices.Set {
	tables := t.Scene.Picture.Tables
	if tables.Adaptive == nil {
		return nil
	}
	if t.net == nil || t.net.Tables != tables {
		t.net = choices.NewNet(tables)
	}
	sl := uint8(0)
	if t.passage != nil {
		sl = t.passage.SL
	}
	if set := t.net.Of(t.hops.Src, t.hops.DstLID, sl); len(set.Rows) > 0 {
		return set
	}
	return nil
}

// remarkChoices adds a remark that summarizes the paths that packets can take.
func (r *remarks) remarkChoices() {
	if set := r.t.set(); set != nil {
		r.t.addRemark(r.setStyle(set), "adaptive: "+set.String(), func() tea.Msg {
			return pane.ShowKind{Kind: kindChoices}
		})
	}
}

func (r *remarks) setStyle(set *choices.Set) draw.Style {
	return prose.When(set.Outcome.Endings.Reach() == choices.Sure, r.t.Theme.Good, r.t.Theme.Warn)
}

// addChoices adds a row for each place in the tree of paths. Places at the same depth that continue in the same way
// share a row. The path by the forwarding tables is marked.
func (t *trace) addChoices() {
	set := t.set()
	if set == nil {
		t.addRemark(t.Theme.Dim, "no switch is known to route adaptively: there is one path (adaptive on simulates "+
			"it; sweep "+
			"full adaptive reads it)", func() tea.Msg {
			return pane.ShowKind{Kind: kindPath}
		})
		return
	}
	f := t.Scene.Picture.Fabric
	for i := range set.Rows {
		r := &set.Rows[i]
		what, by := r.Words(f)
		text := prose.When(r.Static, t.Theme.OnPath, " ") + " " + strings.Repeat("  ", r.Depth) + what +
			prose.When(by == "", "", "  "+by)
		if set.Outcome.Endings&choices.Loops == 0 && !r.Again {
			text += "  " + draw.Percent(r.Share)
		}
		st := prose.When(r.Stop && r.Outcome.Endings != choices.Arrives, t.Theme.Bad,
			prose.When(r.Static, t.Theme.Info, draw.Style("")))
		t.addRemark(st, text, t.leadsTo(f, r))
	}
	t.addRemark(t.remarks.setStyle(set), set.String()+"; "+t.Theme.OnPath+" the path of the forwarding tables",
		func() tea.Msg {
			return pane.ShowKind{Kind: kindPath}
		})
}

// leadsTo returns the function of Enter on a row. It shows the forwarding table of the row's first switch, or the node
// where packets end.
func (t *trace) leadsTo(f *fabric.Fabric, r *choices.Row) func() tea.Msg {
	lid := t.hops.DstLID
	switch {
	case len(r.Switches) > 0:
		return func() tea.Msg { return pane.Follow{Fabric: f, Node: f.Switches[r.Switches[0]], LID: lid} }
	case r.At != fabric.None:
		return func() tea.Msg { return pane.Follow{Fabric: f, Node: f.Ports[r.At].Node, LID: lid} }
	}
	return nil
}
