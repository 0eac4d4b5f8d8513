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

// Messages from panes to the screen. The screen handles them immediately, before the next key press.
type (
	// Run runs a command of the shell, as a key press can do.
	Run struct {
		Command string
		Typed   bool   // as if the user had typed it
		Sheet   string // the title of the table of its answer to show first, "" for the first one
		Before  string // a command that runs first, whose answer is not shown, "" for none
		Done    string // shown in the status line instead of the answer, "" to show the answer
	}
	// Inform shows a text in the status line.
	Inform struct{ Text string }
	// Warn shows in the status line why something cannot be done.
	Warn struct{ Text string }
	// Open gives the keyboard to a pane.
	Open struct{ Name string }
	// GoTo opens the topology and shows a place in it.
	GoTo struct{ At Place }
	// EnterSubnet shows another subnet and a place in it. For the zero place, it shows the present place.
	EnterSubnet struct {
		At    int
		Place Place
	}
	// ShowKind shows another view of the focused pane, with the cursor on the row with the ID Row. For 0 it is the
	// first row.
	ShowKind struct {
		Kind int
		Row  uint64
	}
	// Choose shows a state of the session.
	Choose struct{ Kind session.Kind }
	// Recall shows a state of the history.
	Recall struct{ ID int64 }
	// OpenMoment shows the state before or after an event.
	OpenMoment struct {
		Moment  timeline.Moment
		Earlier bool
	}
	// Rollback opens the page on which a commit of the history can be rolled back.
	Rollback struct{ ID int64 }
	// Type puts a text into the command line.
	Type struct{ Text string }
	// Several are messages one after the other.
	Several []tea.Msg
)

// Messages to all panes.
type (
	// Visit shows a node, or a port of it.
	Visit struct{ At Place }
	// Follow shows the next switch on the path of packets to a LID. LID 0 means the selected LID.
	Follow struct {
		Fabric *fabric.Fabric
		Node   fabric.NodeIndex
		LID    uint16
	}
	// FindLID shows the entry of a LID.
	FindLID struct{ LID uint16 }
	// Mark sets the ends of the trace.
	Mark struct {
		From, To Place
		LID      uint16
		Path     *walk.Path // through the tables shown, nil if it is to be computed
	}
	// Log adds lines to the log.
	Log struct{ Lines []Line }
	// Ended reports how a job ended.
	Ended struct {
		Job    int
		End    string
		Failed bool
	}
	// ShowJob shows the lines of a job. Job 0 means the last line of the log.
	ShowJob struct{ Job int }
)

// Line is one line of the log.
type Line struct {
	When   time.Time // set for the first line of a command or event
	Job    int       // 0: of the session
	Kind   lineKind
	Text   string
	End    string // how a command ended, "" while it runs
	Failed bool
}

type lineKind uint8

// The kinds of lines.
const (
	// The kinds of lines.
	LineOutput lineKind = iota
	LineNote
	LineCommand
	LineError
	LineEvent
)

// MaxTyped is the maximum number of characters in an input line.
const MaxTyped = 10_000

// TooLong is shown if a key press or a paste would exceed MaxTyped.
const TooLong = "not typed: a line holds up to 10,000 characters"

// MaxKept is the maximum number of lines that are kept of a command's output, and of the log.
const MaxKept = 10_000
