// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
)

// pane is a list in a frame, with a state of its own. It keeps what it shows between
// scenes and draws only what is seen. The screen asks it, and tells it what happens; it
// never asks the screen.
type pane interface {
	about() about
	// base is the list itself.
	base() *draw.Table
	// show takes a new scene; changed says that pictures are others than in the one before.
	show(sc *scene, changed bool)
	// seek begins to compute what the pane wants and has not got.
	seek(s stage) tea.Cmd
	// collect takes what was computed, for itself and for the other panes.
	collect()
	// update takes what the screen or another pane tells all.
	update(msg tea.Msg)
	// renew makes the rows anew after another filter or manner of showing them.
	renew()
	// leaving is called before the list is shown in another manner.
	leaving()
	// title is what stands behind the pane's name.
	title() string
	// picture says which picture is shown, nil where that does not matter.
	picture() *draw.Badge
	// figure stands at the bottom right: a count.
	figure() string
	HasHead() bool
	Header(p *draw.Pen)
	// Draw writes a line.
	Draw(p *draw.Pen, line int)
	// empty says why there are no rows.
	empty() string
	// alarm is how many rows are errors.
	alarm() int
	// subject is what the selected row is about.
	subject() subject
	// spot is what the pane is about as a whole, for the way back to it, and its name.
	spot() (at place, label string)
	// fileName says what is exported, "" where the name of the pane does.
	fileName() string
	// whyNotSort says why the rows cannot be sorted, "" if they can.
	whyNotSort() string
	// enter is what Enter does on the selected row; else why says why it does nothing.
	enter() (act func() tea.Msg, why string)
	// escape is what Esc does before it cancels commands, nil for nothing; idle says that
	// none runs. word stands in the footer, "" for nothing.
	escape(idle bool) (act func() tea.Msg, word string)
	// actions are what keys do that are the pane's own.
	actions() []action
}

// Panes may do more.
type (
	// pointer is a pane whose selection others follow.
	pointer interface{ pointed() place }
	// follower shows what a pointer has selected.
	follower interface{ follow(at place) }
	// mover does something of its own with the keys left and right.
	mover interface{ sideways(by int) }
	// differ is a pane whose selected row can be compared.
	differ interface {
		diff() (command string, ok bool)
	}
	// holder keeps the session from other work now and then.
	holder interface {
		holding() bool
		// yield ends that, and returns a function that waits for it.
		yield() (wait func())
	}
)

// about is what is always so of a pane.
type about struct {
	// name leads to it in messages. short stands in the line of panes where there is no
	// room for the name.
	name, short string
	help        string
	seat        seat
	// beside is the pane that is shown with it on a small screen, the topology for "".
	beside string
	// enter is what the footer calls Enter, "" for open.
	enter string
}

// seat says where a pane stands on the screen.
type seat uint8

// The seats.
const (
	seatSide  seat = iota // beside the main pane, or instead of it; many panes share it
	seatHead              // above the home
	seatHome              // at the left
	seatMain              // in the middle
	seatTrace             // at the right
	seatLog               // at the bottom
)

// stage says how a pane stands on the screen now.
type stage struct {
	visible, focused bool
	// idle says that nothing else wants the session.
	idle bool
}

// common is what the panes of a screen share.
type common struct {
	ctx context.Context
	// running is how many results are computed beside the screen.
	running int
	// selected is what the selected row of the pane with the keyboard is about.
	selected func() subject

	// ends are the marked source and destination of a trace; a zero GUID is none. path
	// are the nodes of the path between them in the fabric of the topology, nil without.
	ends [2]place
	path map[fabric.NodeIndex]bool
	// traced says in words how the packets of the trace go, "" where there is none.
	traced string
	// loads are the paths over each link by the tables of the scene, nil where they are
	// not known, busiest those of the busiest link between switches, and counted those
	// that were counted last, of whatever tables.
	loads, counted *linkload.Loads
	busiest        int64
}

// list is a table that is a pane, as far as panes are alike.
type list struct {
	draw.Table
	*common
	sc *scene
}

func (l *list) base() *draw.Table                    { return &l.Table }
func (l *list) renew()                               { l.Again() }
func (l *list) seek(stage) tea.Cmd                   { return nil }
func (l *list) collect()                             {}
func (l *list) update(tea.Msg)                       {}
func (l *list) leaving()                             {}
func (l *list) title() string                        { return "" }
func (l *list) picture() *draw.Badge                 { return nil }
func (l *list) alarm() int                           { return 0 }
func (l *list) subject() subject                     { return nothing }
func (l *list) spot() (place, string)                { return place{}, "" }
func (l *list) fileName() string                     { return "" }
func (l *list) actions() []action                    { return nil }
func (l *list) escape(bool) (func() tea.Msg, string) { return nil, "" }

func (l *list) whyNotSort() string {
	if l.N == 0 {
		return "there are no rows to sort"
	}
	return ""
}

// action is something that a key does. The footer, the help page, the list of keys
// in the documents and what a configuration file can rebind are made of these.
type action struct {
	name  string   // by which it is bound
	keys  []string // the first stands for them in the footer
	group string
	// after is the action behind which one of a pane stands in the list of keys.
	after string
	// label stands in the footer, those of low rank first; "" keeps it out of there. word
	// is what it is now, nil for the same always.
	label string
	word  func() string
	rank  int
	help  string
	// panes are where the key works; nil for everywhere.
	panes []string
	// session says that it wants the session for itself.
	session bool
	// why says why the action cannot be done now, "" if it can; nil: always.
	why func() string
	// do is what one of a pane does, run what one of the screen does.
	do  func() tea.Msg
	run func() tea.Cmd
}
