// SPDX-License-Identifier: Apache-2.0

// Package answer shows the answers of commands as tables.
package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// answers shows the answers of the last commands, one answer at a time.
type answers struct {
	pane.List
	kept     []*kept // the oldest first
	at       int     // the one that is shown
	freezing pane.AsyncResult[[]pane.Sheet]
}

// kept is an answer and its view.
type kept struct {
	pane.Answered
	sheet, row int
	columns    [][]draw.Column // by sheet, nil before it is shown
	frozen     bool            // the sheets do not refer to the subnet
}

const (
	most  = 30 // answers that are kept
	fresh = 2  // answers before the last that keep their subnet in memory
)

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Answer", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	a := &answers{}
	a.List = pane.NewList(c, pane.About{Name: "Answer", Fixed: true, Enter: "open", Broad: true},
		draw.Table{ID: func(row int) uint64 { return uint64(row) }}, a.Renew)
	return a
}

// shownAnswer returns the answer that is shown, or nil before the first answer.
func (a *answers) shownAnswer() *kept {
	if len(a.kept) == 0 {
		return nil
	}
	return a.kept[a.at]
}

func (a *answers) sheet() *pane.Sheet {
	if k := a.shownAnswer(); k != nil {
		return &k.Sheets[k.sheet]
	}
	return nil
}

func (a *answers) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case pane.Answered:
		a.leave()
		a.kept = append(a.kept[:min(a.at+1, len(a.kept))],
			&kept{Answered: msg, sheet: msg.First, columns: make([][]draw.Column, len(msg.Sheets))})
		if len(a.kept) > most {
			a.kept = a.kept[1:]
		}
		a.turn(len(a.kept) - 1)
	case pane.Visit:
		for i, k := range a.kept {
			if k.place() == msg.At && i != a.at {
				a.leave()
				a.turn(i)
			}
		}
	}
}

// Seek replaces older answers by copies of their texts, so that they do not keep their subnets in memory.
func (a *answers) Seek(pane.Stage) tea.Cmd {
	i := slices.IndexFunc(a.kept[:max(len(a.kept)-1-fresh, 0)], func(k *kept) bool { return !k.frozen })
	if i < 0 {
		return nil
	}
	old := a.kept[i]
	return a.freezing.Start(a.Common, old, func(context.Context, func(int, int)) ([]pane.Sheet, error) {
		frozen := make([]pane.Sheet, len(old.Sheets))
		for i := range frozen {
			frozen[i] = old.Sheets[i].Frozen()
		}
		return frozen, nil
	})
}

func (a *answers) Collect() {
	if old, ok := a.freezing.Of.(*kept); ok && !old.frozen && a.freezing.Err == nil {
		copy(old.Sheets, a.freezing.Value)
		old.frozen, a.freezing.Value = true, nil
	}
}

// leave remembers the view of the answer.
func (a *answers) leave() {
	if k := a.shownAnswer(); k != nil {
		k.sheet, k.row = a.Kind, a.Cursor
	}
}

// The method turn shows one of the answers, in the view that was used for it last.
func (a *answers) turn(at int) {
	a.at = at
	k := a.shownAnswer()
	a.Kinds = nil
	for i := range k.Sheets {
		a.Kinds = append(a.Kinds, k.Sheets[i].Title)
	}
	a.Filt = draw.Filter{}
	a.Base().Show(k.sheet)
	a.Renew()
	a.To(k.row)
}

// place represents an answer in the trail.
func (k *kept) place() pane.Place { return pane.Place{GUID: uint64(k.Job), Port: answerPort} }

const answerPort = 255 // no node has this port

func (a *answers) Spot() (pane.Place, string) {
	if k := a.shownAnswer(); k != nil {
		return k.place(), k.Command
	}
	return pane.Place{}, ""
}

func (a *answers) Renew() {
	k := a.shownAnswer()
	if k == nil {
		a.Build(0)
		return
	}
	k.sheet = a.Kind
	s := a.sheet()
	a.KeepRow()
	if k.columns[k.sheet] == nil {
		k.columns[k.sheet] = Columns(s)
	}
	a.Cols, a.Slides = k.columns[k.sheet], !a.isText()
	a.Build(s.Len())
}

// Columns returns the columns of a sheet. Numbers are aligned to the right. A text column is as wide as the texts in
// the first rows.
func Columns(s *pane.Sheet) []draw.Column {
	n := len(s.Columns)
	if n == 0 {
		return []draw.Column{{Least: 20, Text: func(row int) string { return s.Cell(row, 0) }}}
	}
	out := make([]draw.Column, n)
	for i := range out {
		name := strings.ToLower(s.Columns[i].Name)
		wide, figures := draw.Width(name)+1, true // with the mark of the sort
		for row := range min(s.Len(), measured) {
			text := s.Cell(row, i)
			wide = max(wide, draw.Width(draw.Clean(text, false)))
			figures = figures && isFigure(text)
		}
		out[i] = draw.Column{Name: name, Help: s.Columns[i].Help, Right: figures, Text: func(row int) string {
			return s.Cell(row, i)
		}}
		switch {
		case figures || wide <= narrow:
			out[i].Wide = wide
		default:
			out[i].Least, out[i].Share = min(wide, broad), wide
		}
		out[i].Rank = draw.Btoi(i > 1 && figures) // an arrow scrolls out the second column first
	}
	if s.Best > 0 {
		markBest(&out[0], s)
	}
	return out
}

// isFigure reports whether the text is a number, possibly with a unit, or the sign of an unknown one.
func isFigure(text string) bool {
	switch strings.Trim(text, "0123456789.,-+%x ") {
	case "", "MB", "s", "ms", "µs":
		return text != ""
	}
	return false
}

// measured is the number of rows from which the widths of columns are determined.
const measured = 2000

// markBest marks the best row in the first column.
func markBest(c *draw.Column, s *pane.Sheet) {
	text := c.Text
	c.Text = func(row int) string { return text(row) + prose.When(row+1 == s.Best, " (best)", "") }
	c.Wide, c.Least = 0, max(c.Wide, c.Least)+len(" (best)")
}

const (
	narrow = 14 // cells of a column that is never cut
	broad  = 24 // cells of a column for which columns of figures are left out
)

func (a *answers) Show(sc *pane.Scene, _ bool) { a.Scene = sc }

func (a *answers) Title() string {
	k := a.shownAnswer()
	if k == nil {
		return ""
	}
	return k.Command + prose.When(len(k.Sheets) > 1, ": "+a.sheet().Title, "")
}

// StateBadge returns the badge of the state that the answer is about.
func (a *answers) StateBadge() *draw.Badge {
	if s := a.sheet(); s != nil && a.Scene != nil {
		return a.Scene.AnswerBadge(a.Theme, &s.Of)
	}
	return nil
}

func (a *answers) HasHead() bool {
	s := a.sheet()
	return s != nil && len(s.Columns) > 0 && a.N > 0
}

func (a *answers) Figure() string {
	s := a.sheet()
	if s == nil {
		return ""
	}
	text := prose.Count(a.N, "row")
	if s.More > 0 {
		text = prose.Count(s.Len(), "row") + " of " + prose.Thousands(s.Len()+s.More)
	}
	if shown, all := a.Fitting(a.Wide); a.HasHead() && shown < all {
		text += fmt.Sprintf(", %d of %s (%s %s)", shown, prose.Count(all, "column"), a.Look.KeyName("left"),
			a.Look.KeyName("right"))
	}
	return text
}

// Sideways scrolls the columns of a table, or long lines.
func (a *answers) Sideways(by int) {
	switch {
	case !a.isText():
		a.Slide(cmp.Compare(by, 0))
	case a.Lines == nil:
		a.Offset = max(a.Offset+by, 0)
	}
}

func (a *answers) Empty() string {
	switch {
	case a.shownAnswer() == nil:
		return "no answers yet: press : to type a command, p for the paths over a link, or d for differences"
	case !a.Filt.Empty():
		return a.NoMatch("row")
	}
	return "there are no rows"
}

// isText reports whether the sheet that is shown has lines of text.
func (a *answers) isText() bool {
	s := a.sheet()
	return s != nil && len(s.Columns) == 0
}

// WhyNotWrap implements [pane.Wrapper].
func (a *answers) WhyNotWrap() string {
	switch {
	case a.N == 0:
		return "there are no lines to wrap"
	case !a.isText():
		return fmt.Sprintf("the rows of a table are not wrapped: %s and %s scroll its columns, z gives them more space",
			a.Look.KeyName("left"), a.Look.KeyName("right"))
	}
	return ""
}

// Wrap implements [pane.Wrapper].
func (a *answers) Wrap(line int) []string {
	if !a.isText() {
		return nil
	}
	return draw.Fold(draw.Clean(a.sheet().Cell(a.Row(line), 0), a.Look.ASCII), a.Wide)
}

// DrawPart implements [pane.Wrapper].
func (a *answers) DrawPart(p *draw.Pen, line, part int) { p.Put("", a.Part(line, part)) }

func (a *answers) Draw(p *draw.Pen, line int) {
	switch {
	case a.isText() && a.Lines != nil:
		a.DrawPart(p, line, 0)
	case a.isText() && a.Offset > 0:
		p.PutFrom("", draw.Clean(a.sheet().Cell(a.Row(line), 0), a.Look.ASCII), a.Offset)
	default:
		a.Table.Draw(p, line)
	}
}

// Hidden reports whether there is no answer yet.
func (a *answers) Hidden() bool { return a.shownAnswer() == nil }

func (a *answers) FileName() string {
	if k := a.shownAnswer(); k != nil {
		return strings.Join(strings.FieldsFunc(k.Command, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}), "-")
	}
	return ""
}

// lead returns the target of the selected row. ok is false if no row is selected.
func (a *answers) lead() (to pane.Place, command string, sheet int, ok bool) {
	s := a.sheet()
	row, selected := a.Selected()
	if s == nil || !selected {
		return pane.Place{}, "", 0, false
	}
	to, command, sheet = s.Lead(row)
	return to, command, sheet, true
}

// Job returns the job that the selected row is about, or the first one that it names, "" for none.
func (a *answers) Job() string {
	_, command, _, ok := a.lead()
	if !ok {
		return ""
	}
	for _, path := range []string{"job ", "hosts "} {
		if job, leads := strings.CutPrefix(command, path); leads {
			return job
		}
	}
	s := a.sheet()
	row, _ := a.Selected()
	for _, name := range []string{"JOB", "VICTIM JOBS", "JOBS"} {
		i := slices.IndexFunc(s.Columns, func(c answer.Column) bool { return c.Name == name })
		if i < 0 {
			continue
		}
		job, _, _ := strings.Cut(strings.TrimPrefix(s.Cell(row, i), "possibly "), ",")
		if feature.HostSetName.MatchString(job) {
			return job
		}
	}
	return ""
}

// JobSet returns the set of the hosts of the selected job, and the command that creates the set, "" if it exists.
func (a *answers) JobSet() (set, create string) {
	job := a.Job()
	if _, command, _, ok := a.lead(); ok && job != "" && strings.HasPrefix(command, "job ") {
		return feature.JobSet(job), command
	}
	return job, ""
}

// Subject returns the place that is the target of the selected row.
func (a *answers) Subject() pane.Subject {
	to, _, _, ok := a.lead()
	if !ok || a.Scene == nil {
		return pane.Nothing
	}
	if s := a.sheet(); to.None() && len(s.Columns) == 0 {
		row, _ := a.Selected()
		return a.Scene.Mentioned(s.Cell(row, 0))
	}
	return a.Scene.SubjectAt(to)
}

func (a *answers) Enter() (func() tea.Msg, string) {
	_, command, sheet, ok := a.lead()
	switch {
	case !ok:
		return nil, "no row is selected"
	case sheet > 0:
		return func() tea.Msg { return pane.ShowKind{Kind: sheet} }, ""
	case command != "":
		return func() tea.Msg { return pane.Run{Command: command, Typed: true} }, ""
	}
	return a.GoTo(a.Subject(), "no row is selected", "nothing to open here")
}

// Escape returns to the previous answer.
func (a *answers) Escape(idle bool) (func() tea.Msg, string) {
	if !idle || a.at == 0 {
		return nil, ""
	}
	return func() tea.Msg {
		a.leave()
		a.turn(a.at - 1)
		return nil
	}, "previous answer"
}
