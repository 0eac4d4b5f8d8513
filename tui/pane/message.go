// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
)

// Messages that panes ask of the screen. They are heeded at once: keys that were typed behind find it done.
type (
	// Run runs a command of the shell, as a key does.
	Run struct {
		Command string
		Typed   bool   // says that it is as if somebody had typed it
		Sheet   string // the title of the table of its answer that is to be shown first, "" for whatever comes first
	}
	// Inform says something in the status line.
	Inform struct{ Text string }
	// Warn says there that something cannot be done.
	Warn struct{ Text string }
	// Open gives a pane the keyboard.
	Open struct{ Name string }
	// GoTo is Open and Visit of the pane at home.
	GoTo struct{ At Place }
	// EnterSubnet shows another subnet, and a place in it, none for the one that it is at.
	EnterSubnet struct {
		At    int
		Place Place
	}
	// ShowKind shows the pane with the keyboard in another manner, with the cursor on a row, the first for 0.
	ShowKind struct {
		Kind int
		Row  uint64
	}
	// Choose shows a picture of the session's state.
	Choose struct{ Kind session.Kind }
	// Recall shows a picture of the history.
	Recall struct{ ID int64 }
	// OpenMoment shows the pictures of before and after an event, the earlier one first where that is asked for.
	OpenMoment struct {
		Moment  timeline.Moment
		Earlier bool
	}
	// Rollback opens the page that takes back the commit of an entry of the history.
	Rollback struct{ ID int64 }
	// Type puts a text into the command line.
	Type struct{ Text string }
	// Several are messages one after the other.
	Several []tea.Msg
)

// Messages that all panes are told.
type (
	// Visit says that a node, or a port of one, is to be shown.
	Visit struct{ At Place }
	// Follow says that packets are followed to a node of a fabric, to this LID, the selected one for 0.
	Follow struct {
		Fabric *fabric.Fabric
		Node   fabric.NodeIndex
		LID    uint16
	}
	// FindLID says that an entry is to be shown.
	FindLID struct{ LID uint16 }
	// Mark says which ends a trace has.
	Mark struct {
		From, To Place
		LID      uint16
		Path     *walk.Path // through the tables that are shown, nil where it is still to be computed
	}
	// Log brings lines to the log.
	Log struct{ Lines []Line }
	// Ended says how a job ended.
	Ended struct {
		Job    int
		End    string
		Failed bool
	}
	// ShowJob says which job is to be shown, the last line for 0.
	ShowJob struct{ Job int }
)

// Line is one line of the log.
type Line struct {
	When   time.Time // set where the line begins something
	Job    int       // 0: of the session
	Kind   lineKind
	Text   string
	End    string // says of a command how it ended, "" while it runs
	Failed bool
}

type lineKind uint8

// The kinds of lines.
const (
	LineOutput lineKind = iota
	LineNote
	LineCommand
	LineError
	LineEvent
)

// MaxTyped is how many characters a typed line holds.
const MaxTyped = 10_000

// TooLong is shown where a key, or a paste, has more.
const TooLong = "not typed: a line holds up to 10,000 characters"

// MaxKept is how many lines of one command's output, and of the log, are kept.
const MaxKept = 10_000
