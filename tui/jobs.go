// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const reading = "read the subnet" // what the log calls the first reading of the subnet

// jobs runs commands next to the screen, and takes what they write.
type jobs struct {
	m        *model
	running  []*job
	last     int // the number of the job that began last
	pace     pace
	question *question             // of a job, which is being answered; nil for none
	quitting bool                  // q was pressed while something runs
	failure  *pane.PanicError      // of a command, which Run returns
	starting *job                  // reads the subnet for the first time
	unopened *connection.OpenError // why that failed
}

// whyBusy says what keeps the session from another operation.
func (js *jobs) whyBusy() string {
	if busy := js.m.back.State().Busy; busy != "" && (busy != counting || !js.holding()) {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

// holding reports whether a pane keeps the session from other work.
func (js *jobs) holding() bool {
	return slices.ContainsFunc(js.m.all, func(p pane.Pane) bool {
		h, ok := p.(pane.Holder)
		return ok && h.Holding()
	})
}

// yield ends what panes keep the session with, and returns a function that waits for that.
func (js *jobs) yield() (wait func()) {
	wait = func() {}
	for _, p := range js.m.all {
		if h, ok := p.(pane.Holder); ok && h.Holding() {
			before, ended := wait, h.Yield()
			wait = func() { before(); ended() }
		}
	}
	return wait
}

// latest returns the job that began last of those that run, nil for none.
func (js *jobs) latest() *job {
	if len(js.running) == 0 {
		return nil
	}
	return js.running[len(js.running)-1]
}

// say runs a command of the shell. keyed says that a key stood for it.
func (js *jobs) say(text string, keyed bool) tea.Cmd {
	wait := js.yield() // which holds the session while it reads counters
	return js.do(text, keyed, func(ctx context.Context, out *shell.Output) error {
		wait()
		return js.m.back.Run(ctx, text, out)
	})
}

// do runs work beside the screen and logs it under a name.
func (js *jobs) do(name string, keyed bool, work func(context.Context, *shell.Output) error) tea.Cmd {
	js.last++
	j, ctx := newJob(js.m.Ctx, js.last, name, js.m.now())
	j.keyed = keyed
	js.running = append(js.running, j)
	js.m.note(pane.Line{When: j.started, Job: j.id, Kind: pane.LineCommand, Text: name})
	js.m.tellPanes(pane.ShowJob{})
	js.m.inform("")
	out := &shell.Output{W: sink{j, false}, Notes: sink{j, true}, Hear: j.heard, Heed: j.heeded, Ask: j.ask}
	return tea.Batch(func() tea.Msg {
		return j.run(func() error { return work(ctx, out) })
	}, j.listen, j.asked, js.m.tick())
}

// drain moves the output of a job to the log.
func (js *jobs) drain(j *job, all bool) {
	taken := j.take(all)
	lines := make([]pane.Line, 0, len(taken))
	for _, l := range taken {
		kind := prose.When(l.note, pane.LineNote, pane.LineOutput)
		lines = append(lines, pane.Line{Kind: kind, Text: l.text})
		j.hear(l)
	}
	js.noteOf(j, lines...)
}

func (js *jobs) noteOf(j *job, lines ...pane.Line) {
	for i := range lines {
		lines[i].Job = j.id
		j.said += draw.Btoi(lines[i].Kind <= pane.LineNote)
	}
	js.m.note(lines...)
}

// done ends a job: its last output, how it ended, and what follows.
func (js *jobs) done(j *job, err error) tea.Cmd {
	js.drain(j, true)
	if js.question != nil && js.question.job == j {
		js.question, js.m.prompt.typed = nil, nil
	}
	js.m.refresh()
	js.running = slices.DeleteFunc(js.running, func(x *job) bool { return x == j })
	took := js.m.now().Sub(j.started)
	if unopened, ok := errors.AsType[*connection.OpenError](err); ok && j == js.starting && js.m.beside == nil {
		js.unopened = unopened
		return tea.Quit
	}
	switch {
	case errors.Is(err, shell.ErrExit):
		return tea.Quit
	case err == nil:
		js.m.prompt.learnFile(j.text)
		js.m.tellPanes(pane.Ended{Job: j.id, End: draw.Seconds(took), Failed: false})
		js.m.inform(j.summary())
		js.m.status.warned = len(j.warnings) > 0
		if j == js.starting && js.m.st.Interrupted != "" {
			js.m.warn(js.m.st.Interrupted)
		}
		if j.keyed && draw.FirstWord(j.text) == "trace" && js.m.Traced(js.m.sc) != "" {
			js.m.inform(fmt.Sprintf("%s: %s", js.m.sc.State.Title(js.m.sc.Picture), js.m.Traced(js.m.sc)))
		}
		js.takePath(j)
	case errors.Is(err, context.Canceled):
		js.m.tellPanes(pane.Ended{Job: j.id, End: "cancelled", Failed: true})
		text := j.text + ": cancelled"
		if so, ok := errors.AsType[*shell.InterruptedError](err); ok { // it says how far it was
			js.noteOf(j, pane.Line{Kind: pane.LineNote, Text: so.Error()})
			text = "cancelled: " + so.Error()
		}
		js.m.warn(text)
	default:
		js.failed(j, err)
		js.takePath(j) // a trace fails if packets do not arrive
	}
	js.m.pages.endWriting(j, err)
	js.present(j)
	return nil
}

func (js *jobs) failed(j *job, err error) {
	js.m.tellPanes(pane.Ended{Job: j.id, End: "failed", Failed: true})
	lines := []pane.Line{{Job: j.id, Kind: pane.LineError, Text: "error: " + err.Error()}}
	if p, ok := errors.AsType[*pane.PanicError](err); ok {
		for l := range strings.SplitSeq(strings.TrimSpace(string(p.Stack)), "\n") {
			lines = append(lines, pane.Line{Kind: pane.LineNote, Text: l})
		}
		js.failure = p
	}
	js.noteOf(j, lines...)
	text := err.Error()
	if !lang.IsUsage(err) && !strings.HasPrefix(text, draw.FirstWord(j.text)) {
		text = j.text + ": " + text
	}
	js.m.warn(text)
}

// present brings up what there is to read: the tables of an answer, or the log where it is more than the status line
// holds.
func (js *jobs) present(j *job) {
	js.m.fit()
	log := js.m.at(pane.SeatLog)
	room := js.m.all[log].Base().Height
	switch wanted := !j.keyed || j.asks(); {
	case j.traced:
		js.m.jump(func() tea.Cmd { js.m.bring(js.m.at(pane.SeatTrace)); return nil })
	case wanted && js.m.answered(j):
	case wanted && j.said > 1 && (!js.m.visible(log) || j.said+1 > room):
		js.m.bring(log)
	}
	if j.said+1 > js.m.all[log].Base().Height {
		js.m.tellPanes(pane.ShowJob{Job: j.id})
	}
}

// takePath shows the path that a typed trace answered, in the state that it is of.
func (js *jobs) takePath(j *job) {
	if j.path == nil || j.keyed {
		return
	}
	m := js.m
	path, tables := j.path.Walked()
	if path == nil || path.Src == fabric.None || path.Dst == fabric.None {
		return
	}
	of := session.Kind(j.pathOf)
	if shown, err := m.sc.State.Of(of); err != nil {
		return
	} else if shown == m.sc.State.Default() {
		of = ""
	}
	m.choice.of, m.choice.old, m.choice.between = of, nil, nil
	if of != m.sc.Of {
		m.refresh()
	}
	f := tables.Fabric
	mark := pane.Mark{From: pane.PlaceOf(f, f.Ports[path.Src].Node, path.Src),
		To: pane.PlaceOf(f, f.Ports[path.Dst].Node, path.Dst), LID: path.DstLID}
	if m.sc.Picture.Tables == tables {
		mark.Path = path
	}
	m.tellPanes(mark)
	m.collect()
	j.traced = true
}

// cancel ends the command that was begun last.
func (js *jobs) cancel() {
	if len(js.running) == 0 {
		return
	}
	j := js.latest()
	j.cancel()
	js.m.inform("cancelling " + j.text)
}

// hear keeps the line that the status line says of the job at its end.
func (j *job) hear(l outputLine) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !l.note && len(j.lines) < pane.MaxKept {
		j.lines = append(j.lines, l.text)
	}
	text := strings.TrimSpace(l.text)
	switch {
	case slices.Contains(j.warnings, text):
	case l.note:
		j.lastNote = text
	case j.line == "" || !j.keyed:
		j.line = text
	}
}

// summary is the first line of the answer and the last of the notes; of what was asked for in words, the last
// line of the answer; the outcome of what was done. Warnings come before those.
func (j *job) summary() string {
	line := cmp.Or(j.outcome, j.line)
	switch {
	case len(j.warnings) > 1:
		return fmt.Sprintf("%s (8, the log, has %s)", j.warnings[0], draw.Count(len(j.warnings), "warning"))
	case len(j.warnings) == 1:
		return j.warnings[0] + "; " + line
	case line == "":
		return j.text + ": " + cmp.Or(j.lastNote, "done")
	case j.lastNote != "" && j.keyed:
		return line + "; " + j.lastNote
	}
	return line
}
