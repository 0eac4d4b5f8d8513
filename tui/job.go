// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const outputPause = 30 * time.Millisecond // how long output is collected before the screen takes it

// job is a command that runs or has run.
type job struct {
	id      int
	text    string
	started time.Time
	cancel  context.CancelFunc
	byKey   bool // a key stands for the command

	questions chan *question

	wake chan struct{} // holds an element while there is output
	done chan struct{} // closed when the command has ended

	mu      sync.Mutex
	pending []outputLine
	dropped int
	partial [2][]byte // lines that have not ended, of the answer and the notes

	// For the status line and the log:
	lineCount      int // lines of the answer and the notes
	line, lastNote string
	outcome        string // of the last answer, if it is an action
	warnings       []string

	sheets     []pane.Sheet // the tables of the answer
	hasAnswer  bool         // of tables, which may be empty
	basis      answer.Basis // of the first answer about a state
	lines      []string     // the text of the answer
	path       pane.Traced  // of the last answer, nil for none
	pathOf     string       // the state of the path
	showsPath  bool         // the trace pane shows the path
	pageShown  bool         // the page that follows the commit was shown
	instead    string       // shown in the status line instead of the answer, "" to show the answer
	firstSheet string       // the title of the table to show first, "" for the summary
}

// outputLine is one line of output.
type outputLine struct {
	text string
	note bool
}

type (
	// outputMsg reports that a job has output.
	outputMsg struct{ job *job }
	// doneMsg reports that a job has ended.
	doneMsg struct {
		job *job
		err error
	}
)

func newJob(ctx context.Context, id int, text string, now time.Time) (*job, context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	return &job{
		id: id, text: text, started: now, cancel: cancel, questions: make(chan *question), wake: make(chan struct{}, 1),
		done: make(chan struct{}),
	}, ctx
}

// run runs the command and returns a message with its result. A panic becomes an error.
func (j *job) run(work func() error) tea.Msg {
	_, err := pane.Shielded(func() (struct{}, error) { return struct{}{}, work() })
	j.cancel()
	close(j.done)
	return doneMsg{j, err}
}

// listen waits for output of the command. It returns nil when the job has ended.
func (j *job) listen() tea.Msg {
	select {
	case <-j.wake:
	case <-j.done:
		return nil
	}
	select {
	case <-time.After(outputPause):
	case <-j.done:
	}
	return outputMsg{j}
}

// sink is the writer to which a command writes its answer or its notes.
type sink struct {
	job  *job
	note bool
}

// Write stores output. If more than MaxKept lines were not yet read, it drops the oldest of them, so that a long answer
// delays neither the command nor the screen.
func (s sink) Write(b []byte) (int, error) {
	j := s.job
	j.mu.Lock()
	defer j.mu.Unlock()
	part := &j.partial[draw.Btoi(s.note)]
	*part = append(*part, b...)
	for {
		line, rest, found := bytes.Cut(*part, []byte("\n"))
		if !found {
			break
		}
		j.add(outputLine{strings.TrimSuffix(string(line), "\r"), s.note})
		*part = rest
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (j *job) add(l outputLine) {
	j.pending = append(j.pending, l)
	if len(j.pending) >= 2*pane.MaxKept {
		n := len(j.pending) - pane.MaxKept
		j.dropped += n
		j.pending = append(j.pending[:0], j.pending[n:]...)
	}
}

// The method take returns the output since the last call. If the argument all is set, it includes an incomplete last
// line.
func (j *job) take(all bool) []outputLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.partial {
		if all && len(j.partial[i]) > 0 {
			j.pending = append(j.pending, outputLine{string(j.partial[i]), i == 1})
			j.partial[i] = nil
		}
	}
	out := j.pending
	j.pending = nil
	if j.dropped > 0 {
		out = append([]outputLine{
			{fmt.Sprintf("%s left out here: write long answers to a file", prose.Count(j.dropped, "line")), true},
		}, out...)
		j.dropped = 0
	}
	return out
}
