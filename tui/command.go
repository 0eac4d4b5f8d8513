// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
)

// say runs a command of the shell. keyed says that a key stood for it.
func (m *model) say(text string, keyed bool) tea.Cmd {
	wait := m.errs.halt() // which holds the session while it reads counters
	return m.do(text, keyed, func(ctx context.Context, out *shell.Output) error {
		wait()
		return m.back.Run(ctx, text, out)
	})
}

// reading is what the log calls the first reading of the subnet.
const reading = "read the subnet"

// do runs work beside the screen and logs it under a name.
func (m *model) do(name string, keyed bool, work func(context.Context, *shell.Output) error) tea.Cmd {
	m.lastJob++
	j, ctx := newJob(m.ctx, m.lastJob, name, m.now())
	j.keyed = keyed
	m.jobs = append(m.jobs, j)
	m.log.add(logLine{when: j.started, job: j.id, kind: lineCommand, text: name})
	m.log.to(m.log.n - 1)
	m.inform("")
	out := &shell.Output{W: sink{j, false}, Notes: sink{j, true}, Ask: j.ask}
	return tea.Batch(func() tea.Msg { return j.run(func() error { return work(ctx, out) }) }, j.listen, j.asked, m.tick())
}

// drain moves the output of a job to the log.
func (m *model) drain(j *job, all bool) {
	var lines []logLine
	for _, l := range j.take(all) {
		kind := lineOutput
		if l.note {
			kind = lineNote
		}
		lines = append(lines, logLine{job: j.id, kind: kind, text: l.text})
		j.hear(l)
	}
	m.log.add(lines...)
}

// done ends a job: its last output, how it ended, and what follows.
func (m *model) done(j *job, err error) tea.Cmd {
	m.drain(j, true)
	if m.question != nil && m.question.job == j {
		m.question, m.mode = nil, modeKeys
	}
	m.refresh()
	m.jobs = slices.DeleteFunc(m.jobs, func(x *job) bool { return x == j })
	took := m.now().Sub(j.started)
	if unopened, ok := errors.AsType[*connection.OpenError](err); ok && j == m.starting {
		m.unopened = unopened
		return tea.Quit
	}
	switch {
	case errors.Is(err, shell.ErrExit):
		return tea.Quit
	case err == nil:
		m.learnFile(j.text)
		m.log.ended(j.id, seconds(took), false)
		m.inform(j.summary())
		m.status.warned = len(j.warnings) > 0
		if j == m.starting && m.st.Interrupted != "" {
			m.warn(m.st.Interrupted)
		}
		if j.keyed && firstWord(j.text) == "trace" && m.trace.ok {
			m.inform(fmt.Sprintf("%s: %s", m.sc.st.Title(m.sc.pic), m.trace.path.Explain(m.sc.pic.Fabric)))
		}
		m.learn(j)
	case errors.Is(err, context.Canceled):
		m.log.ended(j.id, "cancelled", true)
		text := j.text + ": cancelled"
		if so, ok := errors.AsType[*shell.InterruptedError](err); ok { // it says how far it was
			m.log.add(logLine{job: j.id, kind: lineNote, text: so.Error()})
			text = "cancelled: " + so.Error()
		}
		m.warn(text)
	default:
		m.failed(j, err)
	}
	m.present(j)
	return nil
}

func (m *model) failed(j *job, err error) {
	m.log.ended(j.id, "failed", true)
	lines := []logLine{{job: j.id, kind: lineError, text: "error: " + err.Error()}}
	if p, ok := errors.AsType[*panicError](err); ok {
		for l := range strings.SplitSeq(strings.TrimSpace(string(p.stack)), "\n") {
			lines = append(lines, logLine{job: j.id, kind: lineNote, text: l})
		}
		m.failure = p
	}
	m.log.add(lines...)
	text := err.Error()
	if !lang.IsUsage(err) && !strings.HasPrefix(text, firstWord(j.text)) {
		text = j.text + ": " + text
	}
	m.warn(text)
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// present brings the log up where there is more to read than the status line
// holds: what was asked for in words, or by a key whose answer is text.
func (m *model) present(j *job) {
	said := m.log.said(j.id)
	wanted := !j.keyed || firstWord(j.text) == "diff" || j.text == "whatif" || firstWord(j.text) == "who"
	if wanted && said > 1 && m.focus != paneLog && (!m.visible(paneLog) || said+1 > m.log.height) {
		was := m.focus
		m.setFocus(paneLog)
		m.leave = was
	}
	if said+1 > m.log.height && m.log.filt.empty() {
		m.log.job(j.id)
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
		m.traceWords(of, s.Words[1], s.Words[2])
	}
}

func (m *model) traceWords(of session.Kind, src, dst string) {
	p, err := m.sc.st.Of(of)
	if err != nil {
		return
	}
	from, err1 := places.Resolve(p.Fabric, src)
	to, err2 := places.Resolve(p.Fabric, dst)
	if err1 != nil || err2 != nil {
		return
	}
	m.of, m.old = of, nil
	m.trace.mark(0, placeOf(p.Fabric, from.Node, from.Port), 0)
	m.trace.mark(1, placeOf(p.Fabric, to.Node, to.Port), to.LID)
	m.retrace()
}

// hear keeps what the status line says of the job at its end.
func (j *job) hear(l outputLine) {
	text := strings.TrimSpace(l.text)
	switch commit := firstWord(j.text) == "commit"; {
	case strings.HasPrefix(text, "warning:"):
		j.warnings = append(j.warnings, text)
	case commit && strings.HasPrefix(text, "written in "):
		j.written = text
	case commit && j.written != "" && strings.HasPrefix(text, "history "):
		_, back, _ := strings.Cut(text, "; ")
		j.written = back + "; " + j.written
	case l.note:
		j.lastNote = text
	case j.line == "" || !j.keyed:
		j.line = text
	}
}

// summary is the first line of the answer and the last of the notes; of what was
// asked for in words, the last line of the answer. Warnings, and what was written,
// come before those.
func (j *job) summary() string {
	switch {
	case len(j.warnings) > 1:
		return fmt.Sprintf("%s (8, the log, has %s)", j.warnings[0], count(len(j.warnings), "warning"))
	case len(j.warnings) == 1:
		return j.warnings[0] + "; " + j.line
	case j.written != "":
		return j.written
	case j.line == "":
		return j.text + ": " + orElse(j.lastNote, "done")
	case j.lastNote != "" && j.keyed:
		return j.line + "; " + j.lastNote
	}
	return j.line
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
