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

	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// say runs a command of the shell. keyed says that a key stood for it.
func (m *model) say(text string, keyed bool) tea.Cmd {
	wait := m.yield() // which holds the session while it reads counters
	return m.do(text, keyed, func(ctx context.Context, out *shell.Output) error {
		wait()
		return m.back.Run(ctx, text, out)
	})
}

const reading = "read the subnet" // what the log calls the first reading of the subnet

// do runs work beside the screen and logs it under a name.
func (m *model) do(name string, keyed bool, work func(context.Context, *shell.Output) error) tea.Cmd {
	m.lastJob++
	j, ctx := newJob(m.Ctx, m.lastJob, name, m.now())
	j.keyed = keyed
	m.jobs = append(m.jobs, j)
	m.note(pane.Line{When: j.started, Job: j.id, Kind: pane.LineCommand, Text: name})
	m.tellPanes(pane.ShowJob{})
	m.inform("")
	out := &shell.Output{W: sink{j, false}, Notes: sink{j, true}, Hear: j.heard, Heed: j.heeded, Ask: j.ask}
	return tea.Batch(func() tea.Msg { return j.run(func() error { return work(ctx, out) }) }, j.listen, j.asked, m.tick())
}

// drain moves the output of a job to the log.
func (m *model) drain(j *job, all bool) {
	var lines []pane.Line
	for _, l := range j.take(all) {
		kind := prose.When(l.note, pane.LineNote, pane.LineOutput)
		lines = append(lines, pane.Line{Kind: kind, Text: l.text})
		j.hear(l)
	}
	m.noteOf(j, lines...)
}

func (m *model) noteOf(j *job, lines ...pane.Line) {
	for i := range lines {
		lines[i].Job = j.id
		j.said += draw.Btoi(lines[i].Kind <= pane.LineNote)
	}
	m.note(lines...)
}

// done ends a job: its last output, how it ended, and what follows.
func (m *model) done(j *job, err error) tea.Cmd {
	m.drain(j, true)
	if m.question != nil && m.question.job == j {
		m.question, m.typed = nil, nil
	}
	m.refresh()
	m.jobs = slices.DeleteFunc(m.jobs, func(x *job) bool { return x == j })
	took := m.now().Sub(j.started)
	if unopened, ok := errors.AsType[*connection.OpenError](err); ok && j == m.starting && m.beside == nil {
		m.unopened = unopened
		return tea.Quit
	}
	switch {
	case errors.Is(err, shell.ErrExit):
		return tea.Quit
	case err == nil:
		m.learnFile(j.text)
		m.tellPanes(pane.Ended{Job: j.id, End: draw.Seconds(took), Failed: false})
		m.inform(j.summary())
		m.status.warned = len(j.warnings) > 0
		if j == m.starting && m.st.Interrupted != "" {
			m.warn(m.st.Interrupted)
		}
		if j.keyed && draw.FirstWord(j.text) == "trace" && m.Traced != "" {
			m.inform(fmt.Sprintf("%s: %s", m.sc.State.Title(m.sc.Picture), m.Traced))
		}
		m.learn(j)
	case errors.Is(err, context.Canceled):
		m.tellPanes(pane.Ended{Job: j.id, End: "cancelled", Failed: true})
		text := j.text + ": cancelled"
		if so, ok := errors.AsType[*shell.InterruptedError](err); ok { // it says how far it was
			m.noteOf(j, pane.Line{Kind: pane.LineNote, Text: so.Error()})
			text = "cancelled: " + so.Error()
		}
		m.warn(text)
	default:
		m.failed(j, err)
	}
	m.endWriting(j, err)
	m.present(j)
	return nil
}

func (m *model) failed(j *job, err error) {
	m.tellPanes(pane.Ended{Job: j.id, End: "failed", Failed: true})
	lines := []pane.Line{{Job: j.id, Kind: pane.LineError, Text: "error: " + err.Error()}}
	if p, ok := errors.AsType[*pane.PanicError](err); ok {
		for l := range strings.SplitSeq(strings.TrimSpace(string(p.Stack)), "\n") {
			lines = append(lines, pane.Line{Kind: pane.LineNote, Text: l})
		}
		m.failure = p
	}
	m.noteOf(j, lines...)
	text := err.Error()
	if !lang.IsUsage(err) && !strings.HasPrefix(text, draw.FirstWord(j.text)) {
		text = j.text + ": " + text
	}
	m.warn(text)
}

// present brings up what there is to read: the tables of an answer, or the log where it is more than the status line holds.
func (m *model) present(j *job) {
	m.fit()
	log := m.at(pane.SeatLog)
	room := m.all[log].Base().Height
	switch wanted := !j.keyed || j.asks(); {
	case j.traced:
		m.jump(func() tea.Cmd { m.bring(m.at(pane.SeatTrace)); return nil })
	case wanted && m.answered(j):
	case wanted && j.said > 1 && (!m.visible(log) || j.said+1 > room):
		m.bring(log)
	}
	if j.said+1 > m.all[log].Base().Height {
		m.tellPanes(pane.ShowJob{Job: j.id})
	}
}

// bring gives a pane the keyboard, so that Esc goes back from there.
func (m *model) bring(at int) {
	if was := m.focus; was != at {
		m.setFocus(at)
		m.leave = was
	}
}

// learn takes over the ends of a trace that was asked for in words.
func (m *model) learn(j *job) {
	stmts, err := lang.Parse("", j.text)
	if err != nil || j.keyed {
		return
	}
	for _, s := range stmts {
		if s.Words[0] != "trace" || len(s.Words) < 3 {
			continue
		}
		of := m.of
		for _, w := range s.Words[3:] {
			if k, ok := strings.CutPrefix(w, "of="); ok {
				of = session.Kind(k)
			}
		}
		j.traced = m.traceWords(of, s.Words[1], s.Words[2]) || j.traced
	}
}

// traceWords shows the path between two places, and reports whether there are such.
func (m *model) traceWords(of session.Kind, src, dst string) bool {
	p, err := m.sc.State.Of(of)
	if err != nil {
		return false
	}
	from, err1 := places.Resolve(p.Fabric, src)
	to, err2 := places.Resolve(p.Fabric, dst)
	if err1 != nil || err2 != nil {
		return false
	}
	m.of, m.old, m.between = of, nil, nil
	if m.of != m.sc.Of {
		m.refresh()
	}
	m.tellPanes(pane.Mark{From: pane.PlaceOf(p.Fabric, from.Node, from.Port), To: pane.PlaceOf(p.Fabric, to.Node, to.Port), LID: to.LID})
	m.collect()
	return true
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
