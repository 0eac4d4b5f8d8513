// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// logbook is what was run, what it said, and what the session told.
type logbook struct {
	table
	lines []logLine
	// dropped counts lines that were let go.
	dropped int
}

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

const (
	lineOutput lineKind = iota
	lineNote
	lineCommand
	lineError
	lineEvent
)

func newLog(t *theme) *logbook {
	l := &logbook{}
	l.table = table{theme: t, id: func(row int) uint64 { return uint64(row + l.dropped) }}
	l.cols = []column{
		{name: "time", text: func(row int) string {
			if l.lines[row].when.IsZero() {
				return ""
			}
			return l.lines[row].when.Format("15:04:05")
		}},
		{name: "line", text: func(row int) string { return l.lines[row].text }},
	}
	l.match = func(row int) bool { return l.filt.match(strings.ToLower(l.lines[row].text)) }
	return l
}

func (l *logbook) show(*scene)        {}
func (l *logbook) hasHead() bool      { return false }
func (l *logbook) sortWhyNot() string { return "the log has an order of its own" }

func (l *logbook) renew() {
	l.refresh()
	l.to(l.n - 1)
}

func (l *logbook) enter(m *model) (func() tea.Cmd, string) {
	if l.n == 0 {
		return nil, "the log is empty"
	}
	return func() tea.Cmd {
		m.recall()
		return nil
	}, ""
}

// add appends lines to those of their job, which may not be the last ones.
func (l *logbook) add(lines ...logLine) {
	if len(lines) == 0 {
		return
	}
	at := len(l.lines)
	if job := lines[0].job; job > 0 && lines[0].kind != lineCommand {
		for at > 0 && l.lines[at-1].job != job {
			at--
		}
		if at == 0 {
			at = len(l.lines)
		}
	}
	last := l.cursor >= l.n-1
	if !last && l.filt.empty() && at <= l.cursor {
		l.cursor, l.top = l.cursor+len(lines), l.top+len(lines)
	}
	l.lines = slices.Insert(l.lines, at, lines...)
	if extra := len(l.lines) - maxKept; extra > maxKept/10 {
		l.lines = slices.Delete(l.lines, 0, extra)
		l.dropped += extra
		l.to(l.cursor - extra)
	}
	l.follow = last
	l.refresh()
}

func (l *logbook) refresh() {
	cursor := l.cursor
	l.size = len(l.lines)
	l.order = slices.Grow(l.order[:0], l.size)[:l.size]
	for i := range l.order {
		l.order[i] = int32(i)
	}
	if !l.filt.empty() {
		l.sift()
	}
	l.cursor = cursor
	l.resize(len(l.order), l.height)
	l.follow = false
}

// job selects the first line of a job and shows it at the top.
func (l *logbook) job(id int) {
	for i := range l.n {
		if l.line(i).job == id {
			l.to(l.n - 1)
			l.to(i)
			return
		}
	}
}

// said counts the lines that a job said.
func (l *logbook) said(id int) int {
	n := 0
	for i := len(l.lines) - 1; i >= 0; i-- {
		if x := &l.lines[i]; x.job == id && x.kind <= lineNote {
			n++
		}
	}
	return n
}

func (l *logbook) line(at int) *logLine { return &l.lines[l.row(at)] }

func (l *logbook) figure() string {
	if l.dropped > 0 {
		return count(l.n, "line") + ", older ones let go"
	}
	return count(l.n, "line")
}

func (l *logbook) empty() string {
	if !l.filt.empty() {
		return l.noMatch("line")
	}
	return "nothing was run yet: press : for a command, ? for the keys"
}

func (l *logbook) draw(p *pen, row int) {
	x := l.line(row)
	if x.when.IsZero() {
		p.gap(10)
	} else {
		p.put(p.dim, x.when.Format("15:04:05"))
		p.gap(2)
	}
	st := style("")
	switch x.kind {
	case lineNote:
		st = p.dim
	case lineCommand:
		l.drawCommand(p, x)
		return
	case lineError:
		st = p.bad
	case lineEvent:
		st = p.info
	}
	p.gap(2)
	text := clean(x.text, p.ascii)
	if l.aside > 0 && width(text) > l.aside {
		p.put(p.dim, p.ellipsis)
		text = skip(text, l.aside+1)
	} else if l.aside > 0 {
		text = ""
	}
	p.put(st, text)
}

func (l *logbook) drawCommand(p *pen, x *logLine) {
	end, st := x.end, p.dim
	switch {
	case end == "":
		end = "running"
	case x.failed:
		st = p.bad
	}
	p.put(p.command, p.prompt+" ")
	p.cell(p.command, x.text, p.left-width(end)-2)
	p.gap(1)
	p.put(st, end)
}

// ended notes how a job ended.
func (l *logbook) ended(id int, end string, failed bool) {
	for i := len(l.lines) - 1; i >= 0; i-- {
		if x := &l.lines[i]; x.job == id && x.kind == lineCommand {
			x.end, x.failed = end, failed
			return
		}
	}
}
