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

// remark adds the verdict, what packets are sent by, who else is on the way, the path back, and the same path in other pictures.
func (t *trace) remark() {
	f := t.Scene.Picture.Fabric
	last := t.hops.Hops[len(t.hops.Hops)-1]
	t.say(t.verdictStyle(t.hops.Verdict), t.hops.Explain(f), func() tea.Msg {
		return pane.Follow{Fabric: f, Node: last.Node, LID: t.hops.DstLID}
	})
	t.remarkChoices()
	t.remarkSL()
	t.remarkBusiest()
	for _, o := range t.others {
		t.remarkOther(o)
	}
	if t.back != nil {
		st := prose.When(t.back.path.Verdict.Arrives(), t.Theme.Dim, t.Theme.Bad)
		t.say(st, "back: "+t.backWords(), func() tea.Msg { return pane.ShowKind{Kind: kindBoth} })
	}
	if n := len(t.group); n > 1 {
		t.say(t.Theme.Dim, fmt.Sprintf("LIDs %d to %d: %s", t.group[0].DstLID, t.group[n-1].DstLID, t.groupWords()), func() tea.Msg { return pane.ShowKind{Kind: kindLIDs} })
	}
	if o := t.chosen(); o != nil && o.why == "" && o.parts() != nil && o.path.Verdict.Arrives() && t.hops.Verdict.Arrives() {
		t.say(t.Theme.Dim, fmt.Sprintf("%s, hop by hop:", o.kind), nil)
		t.addHops(o.f, &o.path, true)
	}
}

// remarkSL says by which SL packets go, what it stands for, and what nobody read.
func (t *trace) remarkSL() {
	p, sc := t.passage, t.Scene
	if p == nil {
		return
	}
	if at := p.Dropped(); at >= 0 {
		t.say(t.Theme.Bad, fmt.Sprintf("dropped: %s has SL %d on VL 15", sc.Picture.Fabric.NodeName(t.hops.Hops[at].Node), p.SL), t.asks("show sl2vl "+pane.NodeWord(sc.Picture.Fabric, t.hops.Hops[at].Node)))
	}
	switch unread := p.Unread(sc.Picture.Tables); {
	case p.Why != nil:
		t.say(t.Theme.Warn, "no path record: "+p.Why.Error(), t.asks("show sl "+t.endWords()))
	case unread != "":
		try := sc.State.ToKnow(sc.Picture.Tables.Unread)
		open := func() tea.Msg { return pane.Type{Text: try} }
		if try == "" {
			open = t.asks("show sl " + t.endWords())
		}
		t.say(t.Theme.Warn, unread+prose.When(try == "", "", ": try "+try), open)
	default:
		t.say(t.Theme.Dim, fmt.Sprintf("SL %d%s%s", p.SL, prose.When(p.Means == "", "", ", "+p.Means), t.vlWords()), t.asks("show sl "+t.endWords()))
	}
}

// vlWords says ", VL 0 and 1".
func (t *trace) vlWords() string {
	var vls []string
	for _, h := range t.passage.Hops {
		if text := fmt.Sprint(h.Out); h.Out != walk.NoVL && !slices.Contains(vls, text) {
			vls = append(vls, text)
		}
	}
	return prose.When(len(vls) == 0, "", ", VL "+strings.Join(vls, " and "))
}

// asks makes a row open the answer of a command on the picture.
func (t *trace) asks(command string) func() tea.Msg {
	command += " of=" + t.Scene.Picture.Kind.Word()
	return func() tea.Msg { return pane.Run{Command: command, Typed: true} }
}

// remarkBusiest says which link of the path most other paths share; that of a host has all of its own, and counts where there is no other.
func (t *trace) remarkBusiest() {
	f, most := t.Scene.Picture.Fabric, fabric.PortIndex(fabric.None)
	if t.Loads == nil || t.Loads.Fabric != f {
		t.say(t.Theme.Dim, "shared with: the paths are being counted", nil)
		return
	}
	between := func(p fabric.PortIndex) bool {
		return f.Nodes[f.Ports[p].Node].IsSwitch() && f.PeerSwitch(p) != fabric.None
	}
	for _, h := range t.hops.Hops {
		switch p := h.Out; {
		case p == fabric.None || !f.Ports[p].Linked():
		case most == fabric.None, between(p) && !between(most), between(p) == between(most) && t.Loads.Paths[p] > t.Loads.Paths[most]:
			most = p
		}
	}
	if most == fabric.None {
		t.say(t.Theme.Dim, "shared with: it takes no link", nil)
		return
	}
	l := &f.Ports[most]
	t.say(t.Theme.Dim, fmt.Sprintf("shared with: %s over %s %s %s", draw.Count(int(t.Loads.Paths[most]), "path"), f.PortName(most), t.Theme.Arrow, f.NodeName(f.Ports[l.Peer].Node)),
		t.asks(fmt.Sprintf("who uses %s %d", pane.NodeWord(f, l.Node), l.Num)))
}

func (t *trace) say(st draw.Style, text string, open func() tea.Msg) {
	t.rows = append(t.rows, traceRow{f: t.Scene.Picture.Fabric, hop: walk.Hop{In: fabric.None, Out: fabric.None}, at: -1, back: -1, remark: text, st: st, open: open})
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
