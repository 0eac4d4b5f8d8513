// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session/cablecheck"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// HasHead reports whether a line above the tree shows the result of the last check of the cabling. The columns are only
// for sorting, exports and copies.
func (t *topology) HasHead() bool {
	return t.Scene != nil && t.N > 0 && t.Scene.Cabling() != nil
}

// Header writes the cabling fault of the selected row, or the number of faults.
func (t *topology) Header(p *draw.Pen) {
	check := t.Scene.Cabling()
	row, ok := t.Selected()
	if !ok {
		return
	}
	if text := t.cablingText(row); text != "" {
		p.Put(p.Warn, p.Changed+" ")
		p.Cell("", text, p.Left)
		return
	}
	text := fmt.Sprintf("%s%s, %s %s", prose.Count(check.Faults, "cabling fault"),
		prose.When(check.Faults > 0, " (* next, = work list)", ""), check.Plan, when.Format(check.When, "15:04"))
	p.Cell(p.Dim, text, p.Left)
}

// faults returns the cabling faults at a port, or at the host port at its other end.
func (t *topology) faults(port fabric.PortIndex) []cablecheck.Mark {
	check, f := t.Scene.Cabling(), t.Scene.Top.Fabric
	marks := check.At(f, port)
	if peer := f.Ports[port].Peer; len(marks) == 0 && peer != fabric.None && !f.Nodes[f.Ports[peer].Node].IsSwitch() {
		return check.At(f, peer)
	}
	return marks
}

// isRecabled reports whether the cable at a port is not the one that was checked.
func (t *topology) isRecabled(m *cablecheck.Mark, port fabric.PortIndex) bool {
	f := t.Scene.Top.Fabric
	if len(t.Scene.Cabling().At(f, port)) == 0 {
		port = f.Ports[port].Peer
	}
	return !m.IsAt(f, port) && !m.IsAt(t.Scene.Now, port)
}

// portCabling returns the kinds of the faults at a port.
func (t *topology) portCabling(p *draw.Pen, port fabric.PortIndex) (string, draw.Style) {
	marks := t.faults(port)
	switch {
	case len(marks) == 0:
		return "", ""
	case t.isRecabled(&marks[0], port):
		return p.Changed + " recabled", p.Dim
	}
	return p.Changed + " " + kindsOf(marks), p.Warn
}

func kindsOf(marks []cablecheck.Mark) string {
	var kinds []string
	for i := range marks {
		kinds = append(kinds, string(marks[i].Kind))
	}
	return strings.Join(kinds, ", ")
}

// cablingNote returns the number of faults at the ports of a switch.
func (t *topology) cablingNote(p *draw.Pen, node fabric.NodeIndex) (string, draw.Style) {
	n := t.Scene.Cabling().Of(t.Scene.Top.Fabric.Nodes[node].GUID)
	return prose.When(n > 0, fmt.Sprintf("%s %d", p.Changed, n), ""), p.Warn
}

// cablingText describes the cabling faults of a row, or returns "" if there are none.
func (t *topology) cablingText(row int) string {
	f := t.Scene.Top.Fabric
	switch r := &t.rows[row]; r.kind {
	case rowSwitch, rowLoose:
		if n := t.Scene.Cabling().Of(f.Nodes[r.node].GUID); n > 0 {
			return prose.Count(n, "cabling fault") + " at " + f.NodeName(r.node)
		}
	case rowPort, rowIdle:
		marks := t.faults(r.port)
		if len(marks) == 0 {
			return ""
		}
		text := kindsOf(marks) + ", planned: " + cmp.Or(marks[0].Other, "no cable")
		if t.isRecabled(&marks[0], r.port) {
			text = "recabled since " + when.Format(t.Scene.Cabling().When, "15:04") + ", was " + text
		}
		return "p" + f.PortNumber(r.port) + " " + text
	}
	return ""
}

func (t *topology) cablingColumn() draw.Column {
	return draw.Column{
		Name: "cabling", Text: t.cablingText,
		Help: t.Theme.Changed + " faults of the last check: missing, extra, swapped, wrong port, wrong device, " +
			"wrong kind (speed or width), missing device, extra device; recabled: the cable is not the one that was " +
			"checked",
	}
}

// Actions returns the action that goes to the next cabling fault.
func (t *topology) Actions() []pane.Action {
	return []pane.Action{{
		Name: "next-fault", Binding: pane.On("go to the next port with a cabling fault", "*"), Group: "Lists",
		After: "work-list", Label: "next fault", Rank: 3, Own: true, Why: t.whyNoFault, Do: t.nextFault,
	}}
}

func (t *topology) whyNoFault() string {
	check := t.Scene.Cabling()
	switch {
	case check == nil:
		return "the cabling has not been checked: :check cabling PLAN compares it with a plan"
	case check.Faults == 0:
		return "the last check found no cabling fault"
	}
	return ""
}

// nextFault selects the next port with a fault, in the order of the tree. After the last one comes the first one.
func (t *topology) nextFault() tea.Msg {
	f, check := t.Scene.Top.Fabric, t.Scene.Cabling()
	here, _ := t.here()
	t.unhide()
	t.findPlace(here)
	var before, after []pane.Place
	passed := false
	visit := func(at pane.Place, isFaulty bool) {
		switch {
		case isFaulty && passed:
			after = append(after, at)
		case isFaulty:
			before = append(before, at)
		}
		passed = passed || at == here
	}
	for _, r := range t.rows {
		switch r.kind {
		case rowLoose:
			visit(pane.PlaceOf(f, r.node, fabric.None), check.Of(f.Nodes[r.node].GUID) > 0)
		case rowSwitch:
			visit(pane.PlaceOf(f, r.node, fabric.None), false)
			for p := range f.Nodes[r.node].Ports() {
				visit(pane.PlaceOf(f, r.node, p), len(t.faults(p)) > 0)
			}
		}
	}
	all := slices.Concat(after, before)
	if len(all) == 0 {
		return pane.Warn{Text: "the faults are at ports that the tree does not show"}
	}
	t.visitPort(all[0])
	return nil
}
