// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/tui/draw"
)

// paneID numbers the panes as their keys do.
type paneID int

// The panes.
const (
	paneProblems paneID = iota + 1
	paneTopology
	paneLFT
	paneTrace
	paneWhatIf
	paneLoad
	paneHistory
	paneLog
	paneResilience
	paneGroups
	paneCount = int(paneGroups)
)

var paneNames = [...]string{
	paneProblems: "Problems", paneTopology: "Topology", paneLFT: "LFT", paneTrace: "Trace", paneWhatIf: "What-if", paneLoad: "Load",
	paneHistory: "History", paneLog: "Log", paneResilience: "Resilience", paneGroups: "Groups",
}

// shortNames stand in the line of panes where the names have no room.
var shortNames = [...]string{
	paneProblems: "Probs", paneTopology: "Topo", paneLFT: "LFT", paneTrace: "Trace", paneWhatIf: "What-if", paneLoad: "Load",
	paneHistory: "Hist", paneLog: "Log", paneResilience: "Resil", paneGroups: "Groups",
}

// key is the digit that leads to a pane: 0 is the tenth.
func (id paneID) key() string { return strconv.Itoa(int(id) % 10) }

// pane is a list in a frame. It keeps what it shows between scenes and draws
// only what is seen.
type pane interface {
	// base is the list itself.
	base() *draw.Table
	// show takes a new scene.
	show(sc *scene)
	// renew makes the rows anew after another filter or manner of showing them.
	renew()
	// title is what stands behind the pane's name.
	title() string
	// picture says which picture is shown, nil where that does not matter.
	picture() *draw.Badge
	// figure stands at the bottom right: a count.
	figure() string
	HasHead() bool
	Header(p *draw.Pen)
	// draw writes a line.
	Draw(p *draw.Pen, line int)
	// empty says why there are no rows.
	empty() string
	// subject is what the selected row is about.
	subject() subject
	// at is the node that the pane is about as a whole, for the way back to it.
	at() place
	// enter is what Enter does on the selected row; else why says why it does nothing.
	enter(m *model) (act func() tea.Cmd, why string)
}

// list is a table that is a pane, as far as panes are alike.
type list struct{ draw.Table }

func (l *list) base() *draw.Table    { return &l.Table }
func (l *list) renew()               { l.Again() }
func (l *list) title() string        { return "" }
func (l *list) picture() *draw.Badge { return nil }
func (l *list) subject() subject     { return nothing }
func (l *list) at() place            { return place{} }

// nodeID tells nodes, and ports of nodes, apart in every fabric.
func (p place) id() uint64 { return p.guid*0x9e3779b97f4a7c15 ^ uint64(p.port)<<1 }

// noPlace says that a place names nothing.
func (p place) none() bool { return p.guid == 0 }

// placeIn is the place of a node or port; none for None.
func placeIn(f *fabric.Fabric, node fabric.NodeIndex, port fabric.PortIndex) place {
	if node == fabric.None {
		return place{}
	}
	return placeOf(f, node, port)
}
