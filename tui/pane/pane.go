// SPDX-License-Identifier: Apache-2.0

// Package pane defines the panes of the screen and their common parts. These are the scene that the panes draw, places
// and subjects in the scene, indexes of fabrics, results that are computed in the background, and the messages between
// panes and screen.
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

// Pane is a list in a frame, with its own state. It keeps its rows from one scene to the next, and draws only the
// visible rows. The screen calls the pane; the pane never calls the screen.
type Pane interface {
	About() About
	// Base returns the list.
	Base() *draw.Table
	// Show accepts a new scene. The argument changed is false if only the progress of operations differs.
	Show(sc *Scene, changed bool)
	// Seek starts the background computations that the pane needs.
	Seek(s Stage) tea.Cmd
	// Collect takes the results.
	Collect()
	// Update takes a message to all panes.
	Update(msg tea.Msg)
	// Renew creates the rows again after the filter or the view has changed.
	Renew()
	// Leaving is called before the view changes.
	Leaving()
	// Title returns the text after the pane's name.
	Title() string
	// StateBadge returns the badge of the state that the pane shows. It returns nil if the pane does not depend on a
	// state.
	StateBadge() *draw.Badge
	// Figure returns the text at the bottom right, usually a count.
	Figure() string
	HasHead() bool
	Header(p *draw.Pen)
	// Draw writes a line.
	Draw(p *draw.Pen, line int)
	// Empty returns why there are no rows.
	Empty() string
	// Alarm returns the number of rows that are errors.
	Alarm() int
	// Subject returns the object that the selected row is about.
	Subject() Subject
	// Spot returns the object that the whole pane is about, and its name. The screen uses the object to return to the
	// pane later.
	Spot() (at Place, label string)
	// FileName returns the object that the file name of an export should contain, or "" for the name of the pane.
	FileName() string
	// WhyNotSort returns the reason why the rows cannot be sorted, or "" if they can.
	WhyNotSort() string
	// Enter returns the function of Enter on the selected row, or the reason why there is none.
	Enter() (act func() tea.Msg, why string)
	// Escape returns the function of Esc, or nil, and its description for the footer. The argument idle is set if no
	// command is running that Esc would cancel.
	Escape(idle bool) (act func() tea.Msg, word string)
	// Actions returns the actions that belong to the pane, with their keys.
	Actions() []Action
}

// Optional methods of panes.
type (
	// JobNamer is a pane whose rows may name jobs. Job returns the job of the selected row, "" for none. JobSet is as
	// in [Common].
	JobNamer interface {
		Job() string
		JobSet() (set, create string)
	}
	// Pointer is a pane whose selected object other panes follow.
	Pointer interface{ Pointed() Place }
	// Follower is a pane that shows the selected object of a [Pointer].
	Follower interface{ Follow(at Place) }
	// Mover handles the keys left and right.
	Mover interface{ Sideways(by int) }
	// Wrapper is a pane whose long lines can be wrapped.
	Wrapper interface {
		// WhyNotWrap returns the reason why the rows cannot be wrapped now, or "" if they can.
		WhyNotWrap() string
		// Wrap returns the lines of a row, none for a row that is not wrapped.
		Wrap(row int) []string
		// DrawPart writes a line of a row after its first line.
		DrawPart(p *draw.Pen, row, part int)
	}
	// Pictured is a pane that draws a picture of its rows. IsPicture reports whether it does so now.
	Pictured interface {
		IsPicture() bool
		// Paint prepares a picture of w by h cells. It returns the window of lines that are visible.
		Paint(w, h int) *draw.Window
		// PaintLine writes a line of the picture.
		PaintLine(p *draw.Pen, line int)
		// Walk moves the cursor by a number of columns and lines.
		Walk(dx, dy int)
		// PickAt selects the object at a cell. It reports whether there is one, and whether it was already selected.
		PickAt(x, line int) (found, same bool)
	}
	// Illustrated is a pane that draws a picture on the left of its rows, if there is space.
	Illustrated interface {
		// Illustrate prepares the picture for a pane of w by h cells. It returns the width of the picture, 0 for none.
		Illustrate(w, h int) int
		// Sketch writes a line of the picture. The line above the rows is -1.
		Sketch(p *draw.Pen, line int)
		// PickSketched selects the row that the picture shows at a cell. It reports whether there is one.
		PickSketched(x, line int) bool
	}
	// Stepper is a pane in which the keys left and right go to the previous or next object.
	Stepper interface{ Step(by int) tea.Msg }
	// Differ is a pane with a command that compares the selected row.
	Differ interface {
		Diff() (command string, ok bool)
	}
	// Global is a pane that does not depend on the subnet that the screen shows.
	Global interface{ Global() }
	// Hideable is a pane that is hidden while it is empty.
	Hideable interface{ Hidden() bool }
	// SessionUser is a pane that at times uses the session for a background operation.
	SessionUser interface {
		UsesSession() bool
		// Release stops using the session. It returns a function that waits until the operation has ended.
		Release() (wait func())
	}
)

// About holds the constant properties of a pane.
type About struct {
	Name      string // in the line of panes and in messages
	Seat      Seat
	Broad     bool   // its rows are long
	Picture   bool   // with the keyboard on a wide screen, it takes the place of all panes but home, head and log
	Fixed     bool   // the user cannot choose its columns
	Companion string // the pane next to it on a small screen, the topology for ""
	Enter     string // the word for Enter in the footer, "" for open
}

// Maker constructs a pane. The key of the pane and its help belong to the feature that has a key with this Name.
type Maker[S any] struct {
	Name string
	New  func(c *Common, src S) Pane // src is what the pane needs from the session
}

// Seat is the position of a pane on the screen.
type Seat uint8

// The seats.
const (
	SeatSide  Seat = iota // next to the main pane or instead of it; shared by many panes
	SeatHead              // above the home
	SeatHome              // at the left
	SeatMain              // in the middle
	SeatTrace             // at the right
	SeatLog               // at the bottom
)

// Stage is how a pane is shown now.
type Stage struct {
	Visible, Focused bool
	Idle             bool // nothing else uses the session
}

// Common holds data that all panes of a screen share.
type Common struct {
	Look    *draw.Theme // how everything looks
	Ctx     context.Context
	Running int            // number of computations in the background
	Focused func() Subject // the object of the selected row of the focused pane
	// MarkedNodes returns the nodes of the marked rows of the focused pane, none if no row is marked. Unmark unmarks
	// the rows. JobSet returns the set of the hosts of the job in its selected row, "" for none, and the command that
	// creates the set, "" if it exists.
	MarkedNodes func() (*fabric.Fabric, []fabric.NodeIndex)
	Unmark      func()
	JobSet      func() (set, create string)

	Memo *analysis.Memo // results derived from tables

	// Ends are the marked source and destination of a trace. An end that is not marked is the zero place. LID is the
	// LID of the destination if it was given, otherwise 0.
	Ends [2]Place
	LID  uint16

	loads atomic.Pointer[loads]
	trace traced
}

// PathsText returns the number of paths that leave through a port, or "?" if it is unknown.
func PathsText(l *linkload.Loads, port fabric.PortIndex) string {
	if !l.Known(port) {
		return "?"
	}
	return prose.Thousands(int(l.Paths[port]))
}

// List is a table together with default methods of a pane.
type List struct{ list }

type list struct {
	draw.Table
	*Common
	Scene *Scene
	is    About
	renew func()
}

// NewList returns a list. The function renew creates its rows when the scene has changed.
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

// Loads returns the number of paths over each link by the tables of the scene, or nil if the paths have not been
// counted yet.
func (l *list) Loads() *linkload.Loads { return l.Common.Loads(l.Scene) }

// Busiest returns the number of paths over the busiest link between switches, but at least twice the mean. It returns 0
// if the paths have not been counted yet.
func (l *list) Busiest() int64 { return l.Common.Busiest(l.Scene) }

// Path returns the set of nodes on the traced path, in the fabric of the topology pane. It returns nil if there is no
// trace.
func (l *list) Path() map[fabric.NodeIndex]bool { return l.Common.Path(l.Scene) }

// Traced returns a text that describes the trace, or "" if there is none.
func (l *list) Traced() string { return l.Common.Traced(l.Scene) }

// SceneBadge returns the badge of the state that the scene shows, or nil if the argument shown is false.
func (l *list) SceneBadge(shown bool) *draw.Badge {
	if l.Scene == nil || !shown {
		return nil
	}
	b := l.Scene.PictureBadge(l.Theme, l.Scene.Picture)
	return &b
}

func (l *list) Show(sc *Scene, changed bool) {
	if l.Scene = sc; changed {
		l.renew()
	}
}

func (l *list) WhyNotSort() string { return prose.When(l.N == 0, "there are no rows to sort", "") }

// GoTo returns the function of Enter on a row about the subject s. If there is none, it returns the reason: the
// argument none if no row is selected, the argument other if the row is about no node.
func (l *list) GoTo(s Subject, none, other string) (func() tea.Msg, string) {
	if _, ok := l.Selected(); !ok {
		return nil, none
	}
	if s.Node == fabric.None {
		return nil, other
	}
	return func() tea.Msg { return GoTo{placeIn(s.Fabric, s.Node, s.Link)} }, ""
}

// Action is a key and the function that the key calls. The footer, the help page, the list of keys in the documents and
// the keys of a configuration file are generated from actions.
type Action struct {
	// Binding holds the keys and the help text. The footer shows the first key.
	key.Binding
	Name  string // in a configuration file
	Group string
	After string // the action after which an action of a pane is listed
	// Label is the word in the footer, which shows actions of low rank first. The footer does not show an action with
	// Label "". Word returns the label if it changes.
	Label   string
	Word    func() string
	Rank    int
	Own     bool          // the key works only in the pane of the action
	Panes   []string      // in which the key works, nil for all
	Session bool          // needs the session for itself
	Why     func() string // why the action is not possible now, "" if it is; nil: always possible
	// Do is the function of an action that belongs to a pane. Run is the function of an action that belongs to the
	// screen.
	Do  func() tea.Msg
	Run func() tea.Cmd
}

// On returns a binding of keys to an action with the given help text.
func On(help string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp("", help))
}
