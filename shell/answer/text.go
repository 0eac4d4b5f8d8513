// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

const (
	maxWarnings  = 3    // warnings and causes above the text of an answer
	maxElements  = 20   // elements of a list in text
	measuredRows = 2000 // rows that determine the widths of columns
)

// Canvas writes the text of an answer.
type Canvas struct {
	w    *bufio.Writer
	err  error
	held [][]string // the last lines, if they have tabs
}

// Line writes a line. Values must be escaped. Text after a tab is aligned with the text after the tab in neighbouring
// lines.
func (c *Canvas) Line(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if strings.Contains(line, "\t") {
		c.held = append(c.held, strings.Split(line, "\t"))
		return
	}
	c.align()
	if c.err == nil {
		_, c.err = c.w.WriteString(line + "\n")
	}
}

// align writes the held lines.
func (c *Canvas) align() {
	lines := c.held
	c.held = nil
	most := 0
	for _, cells := range lines {
		most = max(most, len(cells))
	}
	g := grid{c: c, columns: make([]int, most), widths: make([]int, most)}
	for _, cells := range lines {
		g.add(cells)
	}
	g.flush()
}

// flush writes the lines that were held for alignment, and the buffer.
func (c *Canvas) flush() {
	c.align()
	if c.err == nil {
		c.err = c.w.Flush()
	}
}

// Write writes complete, escaped lines.
func (c *Canvas) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.err = err
	return n, err
}

// Text writes the answer for people: the title, warnings, unread parts, and the layout or the drawing. It returns an
// error if w fails or rows cannot be read.
func (a *Answer) Text(w io.Writer) error {
	c := &Canvas{w: bufio.NewWriter(w)}
	c.Line("%s", a.heading())
	a.remarks(c)
	err := a.body(c)
	c.align()
	if err == nil {
		err = c.err
	}
	if ferr := c.w.Flush(); err == nil {
		err = ferr
	}
	return err
}

func (a *Answer) heading() string {
	if a.title != "" {
		parts, err := parseForm(a.title)
		if err != nil {
			return a.command
		}
		line, _ := fill(parts, a.fact)
		return line
	}
	if a.basis.Title == "" {
		return a.command
	}
	return a.command + " of " + plain.EscapeLine(a.basis.Title)
}

// remarks writes the warnings and the unread parts.
func (a *Answer) remarks(c *Canvas) {
	var lines []string
	for _, warning := range a.basis.Warnings {
		lines = append(lines, "warning: "+plain.EscapeLine(warning))
	}
	lines = append(lines, a.basis.Unread.Lines()...)
	shown, more := prose.Cut(lines, maxWarnings)
	for _, line := range shown {
		c.Line("  %s", line)
	}
	if more != "" {
		c.Line("  %s", more)
	}
}

func (a *Answer) body(c *Canvas) error {
	switch {
	case a.draw != nil:
		a.draw(c)
		return nil
	case a.labelled:
		a.labels(c)
		return nil
	}
	return a.eachItem(func(line string) { c.Line("%s", line) }, func(t *boundTable) error { return t.text(c) })
}

// eachItem goes through the layout in order. It calls the function line for each line and table for each table.
func (a *Answer) eachItem(line func(string), table func(*boundTable) error) error {
	for _, e := range a.layout {
		if e.table > 0 {
			if err := table(&a.tables[e.table-1]); err != nil {
				return err
			}
			continue
		}
		parts, err := parseForm(e.form)
		if err != nil {
			return err
		}
		if e.each != "" {
			a.eachLine(line, parts, e.each)
		} else if text, ok := fill(parts, a.fact); ok {
			line(text)
		}
	}
	return nil
}

// eachLine writes a line for each element of a fact that is a list. The argument list is the id of this fact.
func (a *Answer) eachLine(write func(string), parts []formPart, list string) {
	shown, more := prose.Cut(a.fact(list).elements(), maxElements)
	if more != "" {
		shown = append(slices.Clip(shown), more)
	}
	for _, element := range shown {
		line, ok := fill(parts, func(key string) Value {
			if key == list {
				return Text(element) // escaped text does not change when it is escaped again
			}
			return a.fact(key)
		})
		if ok {
			write(line)
		}
	}
}

// labels writes the facts with their labels.
func (a *Answer) labels(c *Canvas) {
	width := 0
	for _, f := range a.facts {
		width = max(width, runewidth.StringWidth(f.Name))
	}
	for _, f := range a.facts {
		if f.Name != "" && !f.Value.IsNone() {
			c.Line("  %s  %s%s", runewidth.FillRight(f.Name, width), f.Value, unitText(f.Unit))
		}
	}
}

func unitText(unit string) string { return prose.When(unit == "", "", " "+unit) }

// text writes the table as text.
func (t *boundTable) text(c *Canvas) error {
	if t.unread {
		c.Line("%s: %s", t.title, NotRead())
		return nil
	}
	if t.form != "" {
		return t.lines(c)
	}
	g := grid{c: c, widths: make([]int, len(t.columns))}
	for i := range t.columns {
		if t.columns[i].Name != "" {
			g.columns = append(g.columns, i)
		}
	}
	heading := make([]string, len(g.columns))
	for i, column := range g.columns {
		heading[i] = t.columns[column].Name
	}
	if t.empty == "" {
		g.add(heading)
	}
	shown, left := 0, t.more
	err := t.rows(func(values []Value) error {
		if t.maxRows > 0 && shown == t.maxRows {
			left++
			return nil
		}
		if shown == 0 && t.empty != "" {
			g.add(heading)
		}
		shown++
		cells := make([]string, len(g.columns))
		for i, column := range g.columns {
			cells[i] = values[column].String()
		}
		g.add(cells)
		return c.err
	})
	g.flush()
	return t.closing(c, shown, left, err)
}

// lines writes a table as text with one line per row.
func (t *boundTable) lines(c *Canvas) error {
	parts, err := parseForm(t.form)
	if err != nil {
		return err
	}
	shown, left := 0, t.more
	if t.live {
		c.flush()
	}
	err = t.rows(func(values []Value) error {
		if t.maxRows > 0 && shown == t.maxRows {
			left++
			return nil
		}
		if line, ok := fill(parts, t.row(values)); ok {
			shown++
			c.Line("%s", line)
			if t.live {
				c.flush()
			}
		}
		return c.err
	})
	return t.closing(c, shown, left, err)
}

// closing writes the line after the rows: the number of rows that are not shown, or the text for an empty table.
func (t *boundTable) closing(c *Canvas, shown int, left int64, err error) error {
	switch {
	case err != nil:
		return err
	case shown == 0 && t.empty != "":
		c.Line("%s", t.empty)
	case left > 0:
		c.Line("  %s", prose.More(left))
	}
	return nil
}

// grid writes cells in aligned columns. The first [measuredRows] rows determine the widths.
type grid struct {
	c       *Canvas
	columns []int
	widths  []int
	held    [][]string // rows that are not written yet
	written bool
}

func (g *grid) add(cells []string) {
	if g.written {
		g.line(cells)
		return
	}
	for i, cell := range cells {
		g.widths[i] = max(g.widths[i], runewidth.StringWidth(cell))
	}
	if g.held = append(g.held, cells); len(g.held) > measuredRows {
		g.flush()
	}
}

func (g *grid) flush() {
	if len(g.held) > 0 {
		g.c.align()
	}
	for _, cells := range g.held {
		g.line(cells)
	}
	g.held, g.written = nil, true
}

func (g *grid) line(cells []string) {
	last := len(cells) - 1
	if g.c.err != nil || last < 0 {
		return
	}
	for i, cell := range cells {
		_, _ = g.c.w.WriteString(cell)
		if i < last {
			_, _ = g.c.w.WriteString(strings.Repeat(" ", max(0, g.widths[i]-runewidth.StringWidth(cell))+2))
		}
	}
	g.c.err = g.c.w.WriteByte('\n')
}
