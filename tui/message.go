// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// What panes ask of the screen. It is done at once: keys that were typed behind find it
// done.
type (
	// runMsg runs a command of the shell, as a key does.
	runMsg struct{ command string }
	// informMsg says something in the status line, warnMsg that something cannot be done.
	informMsg struct{ text string }
	warnMsg   struct{ text string }
	// openMsg gives a pane the keyboard.
	openMsg struct{ name string }
	// goToMsg is openMsg and visitMsg of the pane at home.
	goToMsg struct{ at place }
	// kindMsg shows the pane with the keyboard in another manner, with the cursor on a
	// row, the first for 0.
	kindMsg struct {
		kind int
		row  uint64
	}
	// chooseMsg shows a picture of the session's state, recallMsg one of the history.
	chooseMsg struct{ kind session.Kind }
	recallMsg struct{ id int64 }
	// typeMsg puts a text into the command line.
	typeMsg struct{ text string }
	// severalMsg are messages one after the other.
	severalMsg []tea.Msg
)

// What all panes are told.
type (
	// visitMsg says that a node, or a port of one, is to be shown.
	visitMsg struct{ at place }
	// followMsg says that packets are followed to a node of a fabric, to this LID, or to
	// the one that is selected for 0.
	followMsg struct {
		f    *fabric.Fabric
		node fabric.NodeIndex
		lid  uint16
	}
	// findLIDMsg says that an entry is to be shown.
	findLIDMsg struct{ lid uint16 }
	// markMsg says which ends a trace has.
	markMsg struct {
		from, to place
		lid      uint16
	}
	// logMsg brings lines to the log, endedMsg how a job ended, jobMsg the job that is to
	// be shown, the last line for 0.
	logMsg   struct{ lines []logLine }
	endedMsg struct {
		job    int
		end    string
		failed bool
	}
	jobMsg struct{ job int }
)

// logLine is one line of the log.
type logLine struct {
	when time.Time // set where the line begins something
	job  int       // 0: of the session
	kind lineKind
	text string
	// end says of a command how it ended, "" while it runs.
	end    string
	failed bool
}

type lineKind uint8

// The kinds of lines.
const (
	lineOutput lineKind = iota
	lineNote
	lineCommand
	lineError
	lineEvent
)
