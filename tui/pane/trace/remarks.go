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
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// remarks are the rows below the hops.
type remarks struct{ t *trace }

// add adds remarks about the result, the SL, other paths over the same links, the reverse path, and the path in other
// states.
func (r *remarks) add() {
	f := r.t.Scene.Picture.Fabric
	last := r.t.hops.Hops[len(r.t.hops.Hops)-1]
	r.t.addRemark(r.t.verdictStyle(r.t.hops.Verdict), r.t.hops.Explain(f), func() tea.Msg {
		return pane.Follow{Fabric: f, Node: last.Node, LID: r.t.hops.DstLID}
	})
	r.remarkChoices()
	r.remarkSL()
	r.remarkBusiest()
	for _, o := range r.t.others {
		r.remarkOther(o)
	}
	if r.t.back != nil {
		st := prose.When(r.t.back.path.Verdict.Arrives(), r.t.Theme.Dim, r.t.Theme.Bad)
		r.t.addRemark(st, "reverse path: "+r.backWords(), func() tea.Msg { return pane.ShowKind{Kind: kindBoth} })
	}
	if n := len(r.t.group); n > 1 {
		r.t.addRemark(r.t.Theme.Dim, fmt.Sprintf("LIDs %d to %d: %s", r.t.group[0].DstLID, r.t.group[n-1].DstLID,
			r.groupWords()), func() tea.Msg {
			return pane.ShowKind{Kind: kindLIDs}
		})
	}
	if o := r.t.chosen(); o != nil && o.why == "" && o.firstDifference() != nil && o.path.Verdict.Arrives() &&
		r.t.hops.Verdict.Arrives() {
		r.t.addRemark(r.t.Theme.Dim, fmt.Sprintf("%s, hop by hop:", o.kind), nil)
		r.t.addHops(o.f, &o.path, true)
	}
}

// remarkSL adds a remark about the SL of the packets, its effect, and related data that was not read.
func (r *remarks) remarkSL() {
	p, sc := r.t.passage, r.t.Scene
	if p == nil {
		return
	}
	if at := p.Dropped(); at >= 0 {
		r.t.addRemark(r.t.Theme.Bad, fmt.Sprintf("dropped: %s has SL %d on VL 15",
			sc.Picture.Fabric.NodeName(r.t.hops.Hops[at].Node), p.SL),
			r.asks("show sl2vl "+pane.NodeWord(sc.Picture.Fabric, r.t.hops.Hops[at].Node)))
	}
	switch unread := p.Unread(sc.Picture.Tables); {
	case p.Why != nil:
		r.t.addRemark(r.t.Theme.Warn, "no path record: "+p.Why.Error(), r.asks("show sl "+r.t.endWords()))
	case unread != "":
		try := sc.State.ToKnow(sc.Picture.Tables.Unread)
		open := func() tea.Msg { return pane.Type{Text: try} }
		if try == "" {
			open = r.asks("show sl " + r.t.endWords())
		}
		r.t.addRemark(r.t.Theme.Warn, unread+prose.When(try == "", "", "; hint: run '"+try+"'"), open)
	default:
		r.t.addRemark(r.t.Theme.Dim, fmt.Sprintf("SL %s%s%s", p.SLs, prose.When(p.Means == "", "", ", "+p.Means),
			r.vlWords()),
			r.asks("show sl "+r.t.endWords()))
	}
}

// vlWords returns ", VL 0 and 1".
func (r *remarks) vlWords() string {
	var vls []string
	for _, h := range r.t.passage.Hops {
		if text := fmt.Sprint(h.Out); h.Out != walk.NoVL && !slices.Contains(vls, text) {
			vls = append(vls, text)
		}
	}
	return prose.When(len(vls) == 0, "", ", VL "+strings.Join(vls, " and "))
}

// asks returns the function of a row that runs a command on the state shown.
func (r *remarks) asks(command string) func() tea.Msg {
	command += " of=" + r.t.Scene.Picture.Kind.Word()
	return func() tea.Msg { return pane.Run{Command: command, Typed: true} }
}

// remarkBusiest adds a remark about the link of the path that most other paths use. The link of a host is considered
// only if the path has no other link.
func (r *remarks) remarkBusiest() {
	f, most := r.t.Scene.Picture.Fabric, fabric.PortIndex(fabric.None)
	if r.t.Loads() == nil || r.t.Loads().Fabric != f {
		r.t.addRemark(r.t.Theme.Dim, "shared with: the paths are being counted", nil)
		return
	}
	between := func(p fabric.PortIndex) bool {
		return f.Nodes[f.Ports[p].Node].IsSwitch() && f.PeerSwitch(p) != fabric.None
	}
	for _, h := range r.t.hops.Hops {
		switch p := h.Out; {
		case p == fabric.None || !f.Ports[p].Linked():
		case most == fabric.None, between(p) && !between(most), between(p) == between(most) &&
			r.t.Loads().Paths[p] > r.t.Loads().Paths[most]:
			most = p
		}
	}
	if most == fabric.None {
		r.t.addRemark(r.t.Theme.Dim, "shared with: no link", nil)
		return
	}
	l := &f.Ports[most]
	r.t.addRemark(r.t.Theme.Dim, fmt.Sprintf("shared with: %s over %s %s %s",
		prose.Count(int(r.t.Loads().Paths[most]), "path"), f.PortName(most), r.t.Theme.Arrow,
		f.NodeName(f.Ports[l.Peer].Node)),
		r.asks(fmt.Sprintf("who uses %s %d", pane.NodeWord(f, l.Node), l.Num)))
}

func (t *trace) addRemark(st draw.Style, text string, open func() tea.Msg) {
	t.rows = append(t.rows, traceRow{f: t.Scene.Picture.Fabric, hop: walk.Hop{In: fabric.None, Out: fabric.None},
		at: -1, back: -1, remark: text, st: st, open: open})
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
