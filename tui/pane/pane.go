// SPDX-License-Identifier: Apache-2.0

// Package pane says what a pane of the screen is, and holds what panes share: the scene that
// they draw, places and subjects in it, indexes of fabrics, results that are computed beside
// the screen, and the messages by which panes and screen talk.
package pane

import (
	"context"
	"sync/atomic"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/tui/draw"
)

// Pane is a list in a frame, with a state of its own. It keeps what it shows between scenes and draws only
// what is seen. The screen asks it, and tells it what happens; it never asks the screen.
type Pane interface {
	About() About
	// Base is the list itself.
	Base() *draw.Table
	// Show takes a new scene; changed says that pictures are others than in the one before.
	Show(sc *Scene, changed bool)
	// Seek begins to compute what the pane wants and has not got.
	Seek(s Stage) tea.Cmd
	// Collect takes what was computed, for itself and for the other panes.
	Collect()
	// Update takes what the screen or another pane tells all.
	Update(msg tea.Msg)
	// Renew makes the rows anew after another filter or manner of showing them.
	Renew()
	// Leaving is called before the list is shown in another manner.
	Leaving()
	// Title is what stands behind the pane's name.
	Title() string
	// Picture says which picture is shown, nil where that does not matter.
	StateBadge() *draw.Badge
	// Figure stands at the bottom right: a count.
	Figure() string
	HasHead() bool
	Header(p *draw.Pen)
	// Draw writes a line.
	Draw(p *draw.Pen, line int)
	// Empty says why there are no rows.
	Empty() string
	// Alarm is how many rows are errors.
	Alarm() int
	// Subject is what the selected row is about.
	Subject() Subject
	// Spot is what the pane is about as a whole, for the way back to it, and its name.
	Spot() (at Place, label string)
	// FileName says what is exported, "" where the name of the pane does.
	FileName() string
	// WhyNotSort says why the rows cannot be sorted, "" if they can.
	WhyNotSort() string
	// Enter is what Enter does on the selected row; else why says why it does nothing.
	Enter() (act func() tea.Msg, why string)
	// Escape is what Esc does before it cancels commands, nil for nothing; idle says that
	// none runs. word stands in the footer, "" for nothing.
	Escape(idle bool) (act func() tea.Msg, word string)
	// Actions are what keys do that are the pane's own.
	Actions() []Action
}

// Panes may do more.
type (
	// Pointer is a pane whose selection others follow.
	Pointer interface{ Pointed() Place }
	// Follower shows what a pointer has selected.
	Follower interface{ Follow(at Place) }
	// Mover does something of its own with the keys left and right.
	Mover interface{ Sideways(by int) }
	// Columnar has things side by side in a row. Column goes to the one at a cell of the selected row, of so many, and
	// reports whether it was selected already.
	Columnar interface{ Column(x, wide int) bool }
	// Stepper goes from one thing to the next with them.
	Stepper interface{ Step(by int) tea.Msg }
	// Differ is a pane whose selected row can be compared.
	Differ interface {
		Diff() (command string, ok bool)
	}
	// Beyond is a pane about more than the subnet of the screen, which there need not be.
	Global interface{ Global() }
	// Vacant is a pane that gives its room away before it was asked for something.
	Hideable interface{ Hidden() bool }
	// Holder keeps the session from other work now and then.
	SessionUser interface {
		UsesSession() bool
		// Yield ends that, and returns a function that waits for it.
		Release() (wait func())
	}
)

// About is what is always so of a pane.
type About struct {
	// Name leads to it in messages. short stands in the line of panes where there is no room for the name.
	Name, Short string
	Seat        Seat
	Broad       bool   // says that its rows are long
	Companion   string // the pane that is shown with it on a small screen, the topology for ""
	Enter       string // what the footer calls Enter, "" for open
}

// Maker makes a pane. The key that leads to the pane, and its help, are those of a feature whose key has its name.
type Maker[S any] struct {
	Name string
	New  func(c *Common, src S) Pane // src is what the pane asks of the session
}

// Seat says where a pane stands on the screen.
type Seat uint8

// The seats.
const (
	SeatSide  Seat = iota // beside the main pane, or instead of it; many panes share it
	SeatHead              // above the home
	SeatHome              // at the left
	SeatMain              // in the middle
	SeatTrace             // at the right
	SeatLog               // at the bottom
)

// Stage says how a pane stands on the screen now.
type Stage struct {
	Visible, Focused bool
	Idle             bool // says that nothing else wants the session
}

// Common is what the panes of a screen share.
type Common struct {
	Look    *draw.Theme // how everything looks
	Ctx     context.Context
	Running int            // how many results are computed beside the screen
	Focused func() Subject // what the selected row of the pane with the keyboard is about

	Memo *analysis.Memo // what the session knows to follow from tables

	// Ends are the marked source and destination of a trace; a zero GUID is none. LID is the one of the destination
	// that was named where it has several, else 0.
	Ends [2]Place
	LID  uint16

	loads atomic.Pointer[loads]
	trace traced
}

// PathsText is how many paths leave by a port, "?" where that is not known.
func PathsText(l *linkload.Loads, port fabric.PortIndex) string {
	if !l.Known(port) {
		return "?"
	}
	return draw.Thousands(int(l.Paths[port]))
}

// List is a table that is a pane, as far as panes are alike.
type List struct{ list }

type list struct {
	draw.Table
	*Common
	Scene *Scene
	is    About
	renew func()
}

// NewList makes a list; renew makes its rows for a scene whose pictures are new.
func NewList(c *Common, is About, t draw.Table, renew func()) List {
	t.Theme = c.Look
	return List{list{Table: t, Common: c, is: is, renew: renew}}
}

func (l *list) About() About                         { return l.is }
func (l *list) Base() *draw.Table                    { return &l.Table }
func (l *list) Renew()                               { l.Again() }
func (l *list) Seek(Stage) tea.Cmd                   { return nil }
func (l *list) Collect()                             {}
func (l *list) Update(tea.Msg)                       {}
func (l *list) Leaving()                             {}
func (l *list) Title() string                        { return "" }
func (l *list) StateBadge() *draw.Badge              { return nil }
func (l *list) Alarm() int                           { return 0 }
func (l *list) Subject() Subject                     { return Nothing }
func (l *list) Spot() (Place, string)                { return Place{}, "" }
func (l *list) FileName() string                     { return "" }
func (l *list) Actions() []Action                    { return nil }
func (l *list) Escape(bool) (func() tea.Msg, string) { return nil, "" }

// Badge names the scene's picture, nil where that is not shown.
func (l *list) SceneBadge(shown bool) *draw.Badge {
	if l.Scene == nil || !shown {
		return nil
	}
	return l.Scene.PictureBadge(l.Theme, l.Scene.Picture)
}

func (l *list) Show(sc *Scene, changed bool) {
	if l.Scene = sc; changed {
		l.renew()
	}
}

func (l *list) WhyNotSort() string { return prose.When(l.N == 0, "there are no rows to sort", "") }

// GoTo is what Enter does on a row about s; else none, without rows, or other says why it does nothing.
func (l *list) GoTo(s Subject, none, other string) (func() tea.Msg, string) {
	if _, ok := l.Selected(); !ok {
		return nil, none
	}
	if s.Node == fabric.None {
		return nil, other
	}
	return func() tea.Msg { return GoTo{placeIn(s.Fabric, s.Node, s.Link)} }, ""
}

// Action is something that a key does. The footer, the help page, the list of keys
// in the documents and what a configuration file can rebind are made of these.
type Action struct {
	// Binding is its keys, the first of which stands for them in the footer, and its help.
	key.Binding
	Name  string // by which it is bound
	Group string
	After string // the action behind which one of a pane stands in the list of keys
	// Label stands in the footer, those of low rank first; "" keeps it out of there. word
	// is what it is now, nil for the same always.
	Label   string
	Word    func() string
	Rank    int
	Panes   []string      // where the key works; nil for everywhere
	Session bool          // says that it wants the session for itself
	Why     func() string // says why the action cannot be done now, "" if it can; nil: always
	// Do is what one of a pane does, run what one of the screen does.
	Do  func() tea.Msg
	Run func() tea.Cmd
}

// On binds keys to what an action is described as.
func On(help string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp("", help))
}
