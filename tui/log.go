// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"strings"
	"time"
)

// logbook is what was run, what it said, and what the session told.
type logbook struct {
	window
	theme *theme
	lines []logLine
	// rows are the lines that the filter lets through, nil where that is all.
	rows []int
	text string
	// aside is how many cells the lines are moved to the left.
	aside int
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

func newLog(t *theme) *logbook { return &logbook{theme: t} }

func (l *logbook) win() *window     { return &l.window }
func (l *logbook) title() string    { return "" }
func (l *logbook) picture() *badge  { return nil }
func (l *logbook) subject() subject { return nothing }
func (l *logbook) filter() string   { return l.text }

func (l *logbook) setFilter(text string) {
	l.text = strings.ToLower(text)
	l.refresh()
	l.to(l.n - 1)
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
	if !last && l.text == "" && at <= l.cursor {
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
	l.rows = nil
	n := len(l.lines)
	if l.text != "" {
		l.rows = []int{}
		for i := range l.lines {
			if strings.Contains(strings.ToLower(l.lines[i].text), l.text) {
				l.rows = append(l.rows, i)
			}
		}
		n = len(l.rows)
	}
	l.resize(n, l.height)
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

func (l *logbook) line(row int) *logLine {
	if l.rows != nil {
		return &l.lines[l.rows[row]]
	}
	return &l.lines[row]
}

func (l *logbook) figure() string {
	if l.dropped > 0 {
		return count(l.n, "line") + ", older ones let go"
	}
	return count(l.n, "line")
}

func (l *logbook) empty() string {
	if l.text != "" {
		return "no line holds " + l.text + ": Esc shows all"
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

// move shifts the lines by so many cells.
func (l *logbook) move(by int) { l.aside = max(l.aside+by, 0) }
