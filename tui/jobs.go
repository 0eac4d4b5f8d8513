// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const reading = "read the subnet" // the name of the first reading of the subnet in the log

// jobs runs commands in the background and receives their output.
type jobs struct {
	m        *model
	running  []*job
	last     int // the number of the last job
	pace     pace
	question *question             // of a job, which is being answered; nil for none
	quitting bool                  // q was pressed while a command runs
	failure  *pane.PanicError      // of a command, which Run returns
	starting *job                  // reads the subnet for the first time
	unopened *connection.OpenError // why starting failed
}

// whyBusy returns the reason why the session cannot begin another operation, or "".
func (js *jobs) whyBusy() string {
	if busy := js.m.back.State().Busy; busy != "" && (busy != counting || !js.holding()) {
		return busy + " is running: Esc cancels it"
	}
	return ""
}

// holding reports whether a pane is using the session for a background operation.
func (js *jobs) holding() bool {
	return slices.ContainsFunc(js.m.all, func(p pane.Pane) bool {
		h, ok := p.(pane.SessionUser)
		return ok && h.UsesSession()
	})
}

// yield makes all panes stop using the session. It returns a function that waits until they have stopped.
func (js *jobs) yield() (wait func()) {
	wait = func() {}
	for _, p := range js.m.all {
		if h, ok := p.(pane.SessionUser); ok && h.UsesSession() {
			before, ended := wait, h.Release()
			wait = func() { before(); ended() }
		}
	}
	return wait
}

// latest returns the running job that was started last, or nil if no job is running.
func (js *jobs) latest() *job {
	if len(js.running) == 0 {
		return nil
	}
	return js.running[len(js.running)-1]
}

// runCommand runs a command of the shell. byKey is set if a key press caused the command.
func (js *jobs) runCommand(text string, byKey bool) tea.Cmd {
	wait := js.yield() // a pane may be reading counters
	return js.start(text, byKey, func(ctx context.Context, out *shell.Output) error {
		wait()
		return js.m.back.Run(ctx, text, out)
	})
}

// runFor runs a command for a pane.
func (js *jobs) runFor(msg pane.Run) tea.Cmd {
	wait := js.yield()
	cmd := js.start(msg.Command, !msg.Typed, func(ctx context.Context, out *shell.Output) error {
		wait()
		if msg.Before != "" {
			if err := js.m.back.Run(ctx, msg.Before, &shell.Output{W: io.Discard, Notes: out.Notes}); err != nil {
				return err
			}
		}
		return js.m.back.Run(ctx, msg.Command, out)
	})
	j := js.latest()
	j.firstSheet, j.instead = msg.Sheet, msg.Done
	return cmd
}

// start runs a function in the background. The log shows it under a name.
func (js *jobs) start(name string, byKey bool, work func(context.Context, *shell.Output) error) tea.Cmd {
	js.last++
	j, ctx := newJob(js.m.Ctx, js.last, name, js.m.now())
	j.byKey = byKey
	js.running = append(js.running, j)
	js.m.note(pane.Line{When: j.started, Job: j.id, Kind: pane.LineCommand, Text: name})
	js.m.updatePanes(pane.ShowJob{})
	js.m.inform("")
	out := &shell.Output{
		W: sink{j, false}, Notes: sink{j, true},
		OnAnswer: j.takeAnswer, OnWarning: j.takeWarning, Ask: j.ask,
	}
	return tea.Batch(func() tea.Msg {
		return j.run(func() error { return work(ctx, out) })
	}, j.listen, j.asked, js.m.tick())
}

// drain moves the output of a job to the log. If the argument all is set, this includes an incomplete last line.
func (js *jobs) drain(j *job, all bool) {
	taken := j.take(all)
	lines := make([]pane.Line, 0, len(taken))
	for _, l := range taken {
		kind := prose.When(l.note, pane.LineNote, pane.LineOutput)
		lines = append(lines, pane.Line{Kind: kind, Text: l.text})
		j.takeLine(l)
	}
	js.logLines(j, lines...)
}

func (js *jobs) logLines(j *job, lines ...pane.Line) {
	for i := range lines {
		lines[i].Job = j.id
		j.lineCount += draw.Btoi(lines[i].Kind <= pane.LineNote)
	}
	js.m.note(lines...)
}

// The method done handles the end of a job: it takes the last output, reports the result, and starts follow-up actions.
func (js *jobs) done(j *job, err error) tea.Cmd {
	js.drain(j, true)
	if js.question != nil && js.question.job == j {
		js.question, js.m.prompt.typed = nil, nil
	}
	js.m.refresh()
	js.running = slices.DeleteFunc(js.running, func(x *job) bool { return x == j })
	took := js.m.now().Sub(j.started)
	if unopened, ok := errors.AsType[*connection.OpenError](err); ok && j == js.starting && js.m.screens == nil {
		js.unopened = unopened
		return tea.Quit
	}
	switch {
	case errors.Is(err, shell.ErrExit):
		return tea.Quit
	case err == nil:
		js.m.prompt.rememberFile(j.text)
		js.m.updatePanes(pane.Ended{Job: j.id, End: draw.Seconds(took), Failed: false})
		if text := j.summary(); text == j.ended() && js.m.status.bad { // a key was refused meanwhile
			js.m.warn(fmt.Sprintf("%s (%s)", js.m.status.text, text))
		} else {
			js.m.inform(text)
		}
		js.m.status.warned = len(j.warnings) > 0
		if j == js.starting && js.m.st.Interrupted != "" {
			js.m.warn(js.m.st.Interrupted)
		}
		if j.byKey && draw.FirstWord(j.text) == "trace" && js.m.Traced(js.m.sc) != "" {
			js.m.inform(fmt.Sprintf("%s: %s", js.m.sc.State.Title(js.m.sc.Picture), js.m.Traced(js.m.sc)))
		}
		js.takePath(j)
	case errors.Is(err, context.Canceled):
		js.m.updatePanes(pane.Ended{Job: j.id, End: "cancelled", Failed: true})
		text := j.text + ": cancelled"
		if so, ok := errors.AsType[*shell.InterruptedError](err); ok { // with its progress
			js.logLines(j, pane.Line{Kind: pane.LineNote, Text: so.Error()})
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
	js.m.updatePanes(pane.Ended{Job: j.id, End: "failed", Failed: true})
	lines := []pane.Line{{Job: j.id, Kind: pane.LineError, Text: "error: " + err.Error()}}
	if p, ok := errors.AsType[*pane.PanicError](err); ok {
		for l := range strings.SplitSeq(strings.TrimSpace(string(p.Stack)), "\n") {
			lines = append(lines, pane.Line{Kind: pane.LineNote, Text: l})
		}
		js.failure = p
	}
	js.logLines(j, lines...)
	text := err.Error()
	if !lang.IsUsage(err) && !strings.HasPrefix(text, draw.FirstWord(j.text)) {
		text = j.text + ": " + text
	}
	js.m.warn(text)
}

// present shows the tables of an answer. Without tables, it shows the log if the answer is longer than the status line.
func (js *jobs) present(j *job) {
	js.m.fit()
	log := js.m.at(pane.SeatLog)
	list := js.m.all[log].Base()
	switch wanted := !j.byKey || j.wantsAnswer(); {
	case j.showsPath:
		js.m.jump(func() tea.Cmd { js.m.bring(js.m.at(pane.SeatTrace)); return nil })
	case wanted && js.m.showAnswer(j):
	case wanted && j.lineCount > 1 && (!js.m.visible(log) || !list.Fits(j.lineCount+1)):
		js.m.bring(log)
	}
	if !list.Fits(j.lineCount + 1) {
		js.m.updatePanes(pane.ShowJob{Job: j.id})
	}
}

// takePath shows the path of a trace command that the user typed, in the state that the answer is about.
func (js *jobs) takePath(j *job) {
	if j.path == nil || j.byKey {
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
	m.updatePanes(mark)
	m.collect()
	j.showsPath = true
}

// cancel ends the job that started last.
func (js *jobs) cancel() {
	if len(js.running) == 0 {
		return
	}
	j := js.latest()
	j.cancel()
	js.m.inform("cancelling " + j.text)
}

// takeLine stores a line for use in the status line.
func (j *job) takeLine(l outputLine) {
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
	case j.line == "" || !j.byKey:
		j.line = text
	}
}

// summary returns the text for the status line, with warnings first. For an action it is the outcome. Otherwise it is
// the first line of the answer and the last note. For a typed command it is the last line of the answer.
func (j *job) summary() string {
	line := cmp.Or(j.outcome, j.line)
	switch {
	case j.instead != "" && len(j.warnings) == 0:
		return j.instead
	case len(j.warnings) > 1:
		return fmt.Sprintf("%s (8, the log, has %s)", j.warnings[0], prose.Count(len(j.warnings), "warning"))
	case len(j.warnings) == 1:
		return j.warnings[0] + "; " + line
	case line == "" && j.lastNote != "":
		return j.text + ": " + j.lastNote
	case line == "":
		return j.ended()
	case j.lastNote != "" && j.byKey:
		return line + "; " + j.lastNote
	}
	return line
}

// ended is the text for the end of a command that says nothing.
func (j *job) ended() string { return j.text + ": done" }

// answerCommands are the commands whose answers are shown even if a key press caused the command.
var answerCommands = []string{"balance", "check", "compare", "congestion", "diff", "history", "hosts", "jobs",
	"resilience", "show", "whatif", "who", "why"}

// wantsAnswer reports whether the answer of the command is to be shown.
func (j *job) wantsAnswer() bool {
	return j.instead == "" && (j.firstSheet != "" || slices.Contains(answerCommands, draw.FirstWord(j.text)))
}

// takeAnswer stores the tables of an answer, its warnings, and the outcome of an action.
func (j *job) takeAnswer(a *answer.Answer) {
	sheets := pane.SheetsOf(a)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.basis.State == "" && !a.IsAction() {
		j.basis = a.Basis()
	}
	j.hasAnswer = j.hasAnswer || !a.IsAction()
	for i := range sheets {
		if n := len(j.sheets); n == 0 || !j.sheets[n-1].Join(&sheets[i]) {
			j.sheets = append(j.sheets, sheets[i])
		}
	}
	if p, ok := a.Value().(pane.Traced); ok {
		j.path, j.pathOf = p, a.Basis().State
	}
	j.outcome = a.Outcome()
	for _, w := range a.Basis().Warnings {
		j.warnings = append(j.warnings, "warning: "+w)
	}
}

// takeWarning stores a warning for the status line.
func (j *job) takeWarning(warning string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.warnings = append(j.warnings, "warning: "+warning)
}

// showAnswer shows the text and the tables of an answer. It returns false if there is nothing to show.
func (m *model) showAnswer(j *job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	sheets := slices.DeleteFunc(j.sheets, func(s pane.Sheet) bool { return s.Len() == 0 })
	if len(sheets) == 0 && (len(j.lines) < 2 || !j.hasAnswer) {
		return false
	}
	if len(sheets) != 1 || sheets[0].Title != pane.ListTitle {
		sheets = append([]pane.Sheet{pane.Summary(j.lines, j.basis, sheets)}, sheets...)
	}
	first := slices.IndexFunc(sheets, func(s pane.Sheet) bool {
		return s.Title == j.firstSheet || j.firstSheet == "" && s.Best > 0
	})
	first = max(first, 0)
	m.jump(func() tea.Cmd {
		m.updatePanes(pane.Answered{Job: j.id, Command: strings.TrimSpace(j.text), Sheets: sheets, First: first})
		m.bring(m.named("Answer"))
		return nil
	})
	return true
}

// question is a question that a running command asks. Its choices are in the log.
type question struct {
	job    *job
	prompt string
	reply  chan string // takes one answer; closed if there is none
}

// asked waits for a question of a job.
func (j *job) asked() tea.Msg {
	select {
	case q := <-j.questions:
		return q
	case <-j.done:
		return nil
	}
}

// ask shows a question and waits for the answer. It returns io.EOF if the user gives no answer.
func (j *job) ask(ctx context.Context, prompt string) (string, error) {
	q := &question{j, prompt, make(chan string, 1)}
	select {
	case j.questions <- q:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	select {
	case text, ok := <-q.reply:
		if !ok {
			return "", io.EOF
		}
		return text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// openQuestion shows the log and an input line for the answer to a question.
func (js *jobs) openQuestion(q *question) {
	js.drain(q.job, true)
	js.m.bring(js.m.at(pane.SeatLog))
	js.m.updatePanes(pane.ShowJob{})
	js.question = q
	js.m.prompt.open("", q.prompt, js.askKey, tea.KeyEnter, "answer; an empty line takes the value in brackets",
		tea.KeyPgUp, "read", tea.KeyEsc, "cancel")
}

func (js *jobs) askKey(k tea.KeyMsg) tea.Cmd {
	q := js.question
	switch k.Type {
	case tea.KeyEsc, tea.KeyCtrlC:
		close(q.reply)
	case tea.KeyEnter:
		q.reply <- js.m.prompt.typed.Value()
		js.m.note(pane.Line{Job: q.job.id, Kind: pane.LineNote, Text: q.prompt + js.m.prompt.typed.Value()})
	case tea.KeyPgUp, tea.KeyPgDown:
		return js.m.act(k)
	default:
		js.m.prompt.edit(k)
		return nil
	}
	js.question, js.m.prompt.typed = nil, nil
	return q.job.asked
}
