// SPDX-License-Identifier: Apache-2.0

// Package log shows the commands that were run and their output.
package log

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// logbook holds commands, their output, and events of the session. It is a list instead of the viewport that pages use,
// because its lines can be selected, filtered and recalled.
type logbook struct {
	pane.List
	lines   []pane.Line
	dropped int // lines that are no longer kept
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Log", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	l := &logbook{}
	l.List = pane.NewList(c, pane.About{Name: "Log", Fixed: true, Seat: pane.SeatLog, Companion: "Trace",
		Enter: "recall"},
		draw.Table{ID: func(row int) uint64 { return uint64(row + l.dropped) }}, l.Renew)
	l.Cols = []draw.Column{
		{Name: "time", Help: "start of the command",
			Text: func(row int) string {
				if l.lines[row].When.IsZero() {
					return ""
				}
				return when.Clock(l.lines[row].When)
			}},
		{Name: "line", Help: "command, and its output",
			Text: func(row int) string { return l.lines[row].Text }},
	}
	l.Match = func(row int) bool { return l.Filt.Match(strings.ToLower(l.lines[row].Text)) }
	return l
}

func (l *logbook) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.Log:
		l.add(msg.Lines...)
	case pane.Ended:
		l.ended(msg.Job, msg.End, msg.Failed)
	case pane.ShowJob:
		if msg.Job == 0 {
			l.To(l.N - 1)
		} else if l.Filt.Empty() {
			l.job(msg.Job)
		}
	}
}

func (l *logbook) Sideways(by int) {
	if l.Lines == nil {
		l.Offset = max(l.Offset+by, 0)
	}
}

func (l *logbook) Show(*pane.Scene, bool) {}
func (l *logbook) HasHead() bool          { return false }
func (l *logbook) WhyNotSort() string     { return "the log cannot be sorted" }

func (l *logbook) Renew() {
	l.refresh()
	l.To(l.N - 1)
}

func (l *logbook) Enter() (func() tea.Msg, string) {
	if l.N == 0 {
		return nil, "the log is empty"
	}
	return func() tea.Msg {
		id := l.line(l.Cursor).Job
		for i := range l.lines {
			if x := &l.lines[i]; x.Job == id && x.Kind == pane.LineCommand {
				return pane.Type{Text: x.Text}
			}
		}
		return pane.Warn{Text: "no command belongs to this line"}
	}, ""
}

// add inserts lines after the existing lines of their job. These need not be the last lines of the log.
func (l *logbook) add(lines ...pane.Line) {
	if len(lines) == 0 {
		return
	}
	at := len(l.lines)
	if job := lines[0].Job; job > 0 && lines[0].Kind != pane.LineCommand {
		for at > 0 && l.lines[at-1].Job != job {
			at--
		}
		if at == 0 {
			at = len(l.lines)
		}
	}
	last := l.Cursor >= l.N-1
	if !last && l.Filt.Empty() && at <= l.Cursor {
		l.Cursor, l.Top = l.Cursor+len(lines), l.Top+len(lines)
	}
	l.lines = slices.Insert(l.lines, at, lines...)
	if extra := len(l.lines) - pane.MaxKept; extra > pane.MaxKept/10 {
		l.lines = slices.Delete(l.lines, 0, extra)
		l.dropped += extra
		l.Cursor -= extra
	}
	l.Follow = last
	l.refresh()
}

func (l *logbook) refresh() {
	l.Rebuild(len(l.lines))
	l.Follow = false
}

// job selects the first line of a job and scrolls so that it is at the top.
func (l *logbook) job(id int) {
	for i := range l.N {
		if l.line(i).Job == id {
			l.To(l.N - 1)
			l.To(i)
			return
		}
	}
}

func (l *logbook) line(at int) *pane.Line { return &l.lines[l.Row(at)] }

func (l *logbook) Figure() string {
	return prose.When(l.dropped > 0, prose.Count(l.N, "line")+", older ones dropped", prose.Count(l.N, "line"))
}

func (l *logbook) Empty() string {
	if !l.Filt.Empty() {
		return l.NoMatch("line")
	}
	return "no commands yet: press : for a command, ? for the keys"
}

func (l *logbook) Draw(p *draw.Pen, row int) {
	x := l.line(row)
	if x.When.IsZero() {
		p.Gap(clockWide)
	} else {
		p.Put(p.Dim, when.Clock(x.When))
		p.Gap(2)
	}
	text := draw.Clean(x.Text, p.ASCII)
	if l.Lines != nil {
		text = l.Part(row, 0)
	}
	if x.Kind == pane.LineCommand {
		l.drawCommand(p, x, text)
		return
	}
	st := style(p, x)
	p.Gap(signWide)
	p.PutFrom(st, text, l.Offset)
}

// The cells before the text: the time, and the prompt of a command.
const (
	clockWide = 10
	signWide  = 2
)

func style(p *draw.Pen, x *pane.Line) draw.Style {
	switch x.Kind {
	case pane.LineNote:
		return p.Dim
	case pane.LineCommand:
		return p.Command
	case pane.LineError:
		return p.Bad
	case pane.LineEvent:
		return p.Info
	}
	return ""
}

func (l *logbook) drawCommand(p *draw.Pen, x *pane.Line, text string) {
	end := ended(x)
	p.Put(p.Command, p.Prompt+" ")
	p.Cell(p.Command, text, p.Left-draw.Width(end)-2)
	p.Gap(1)
	p.Put(prose.When(x.Failed && x.End != "", p.Bad, p.Dim), end)
}

func ended(x *pane.Line) string { return cmp.Or(x.End, "running") }

// WhyNotWrap implements [pane.Wrapper].
func (l *logbook) WhyNotWrap() string { return prose.When(l.N == 0, "the log is empty", "") }

// Wrap implements [pane.Wrapper].
func (l *logbook) Wrap(row int) []string {
	x := l.line(row)
	w := l.Wide - clockWide - signWide
	if x.Kind == pane.LineCommand {
		w -= draw.Width(ended(x)) + 2
	}
	return draw.Fold(draw.Clean(x.Text, l.Look.ASCII), w)
}

// DrawPart implements [pane.Wrapper].
func (l *logbook) DrawPart(p *draw.Pen, row, part int) {
	p.Gap(clockWide + signWide)
	p.Put(style(p, l.line(row)), l.Part(row, part))
}

// ended records how a job ended.
func (l *logbook) ended(id int, end string, failed bool) {
	for i := len(l.lines) - 1; i >= 0; i-- {
		if x := &l.lines[i]; x.Job == id && x.Kind == pane.LineCommand {
			x.End, x.Failed = end, failed
			return
		}
	}
}
