// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"slices"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Name string
	// Wide is its cells. Where it is 0 it shares with its like what the others
	// leave, and has at least least.
	Wide, Least int
	// Share is how large a part it has among its like, 1 if it is 0.
	Share int
	Right bool
	// Rank is above 0 where the column is left out when there is little room, those
	// of the highest rank first.
	Rank int
	Text func(row int) string
	Look func(row int) Style // nil for the usual
	// Order is what rows are sorted by; nil for the text. It may be called from
	// several goroutines.
	Order func(row int) int64
	// Hidden says now that the column does not apply; nil: it does.
	Hidden func() bool
	// Unsorted says that rows are not sorted by it.
	Unsorted bool
}

// Table is a list of rows in columns. It sorts, filters and marks rows, and draws
// only those in the window. Rows are numbered as their owner has them; where a
// method takes a line, it is that of the list as it is sorted and filtered.
type Table struct {
	Window
	Theme *Theme
	Cols  []Column
	Size  int
	Order []int32 // row by line
	keys  sortKeys
	// Sorted is the column that the rows are sorted by, counted from 1, negative
	// for downwards, 0 for the order that they come in.
	Sorted int
	Filt   Filter
	Marks  map[uint64]bool
	// ID tells rows apart for as long as the list is there.
	ID func(row int) uint64
	// kept is the row to stay on, where one is held.
	kept uint64
	Held bool
	// Match says whether a row passes the filter; nil: by the text of any column.
	// prepare is called before.
	Match   func(row int) bool
	Prepare func()
	// Regrow makes the rows anew after another sort, nil where they stay the same.
	Regrow func()
	// Kinds are the manners in which the list can be shown, kind the one that it is.
	Kinds []string
	Kind  int
	// Aside is how many cells, or columns, are moved out of sight to the left.
	Aside int
}

// Hold remembers which row is selected. It is called before rows change.
func (t *Table) Hold() {
	if row, ok := t.Selected(); ok && !t.Held && t.ID != nil && row < t.Size {
		t.kept, t.Held = t.ID(row), true
	}
}

// Build takes it that there are so many rows now, and goes to the one held.
func (t *Table) Build(size int) {
	t.Rebuild(size)
	if t.Held {
		t.Find(t.kept)
	}
	t.Held = false
}

// Again sorts and filters the same rows anew.
func (t *Table) Again() {
	if t.Regrow != nil {
		t.Regrow()
		return
	}
	t.Hold()
	t.Build(t.Size)
}

// Rebuild is build without looking for a row.
func (t *Table) Rebuild(size int) {
	t.Size = size
	t.Order = slices.Grow(t.Order[:0], size)[:size]
	for i := range t.Order {
		t.Order[i] = int32(i)
	}
	if !t.Filt.Empty() {
		t.Sift()
	}
	t.arrange()
	t.Resize(len(t.Order), t.Height)
}

// Sift leaves the rows that the filter lets through.
func (t *Table) Sift() {
	if t.Prepare != nil {
		t.Prepare()
	}
	match := t.Match
	if match == nil {
		match = t.matchText
	}
	keep := make([]bool, t.Size)
	each(t.Size, func(from, to int) {
		for i := from; i < to; i++ {
			keep[i] = match(i)
		}
	})
	t.Order = slices.DeleteFunc(t.Order, func(row int32) bool { return !keep[row] })
}

func (t *Table) matchText(row int) bool {
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.gone() && t.Filt.Hit(strings.ToLower(c.Text(row))) {
			return !t.Filt.Invert
		}
	}
	return t.Filt.Invert
}

func (c *Column) gone() bool { return c.Hidden != nil && c.Hidden() }

// arrange sorts the rows.
func (t *Table) arrange() {
	if t.Sorted == 0 || len(t.Order) == 0 {
		return
	}
	col := &t.Cols[max(t.Sorted, -t.Sorted)-1]
	if col.gone() {
		return
	}
	down := t.Sorted < 0
	if col.Order == nil {
		t.arrangeText(col, down)
		return
	}
	t.keys.of(t.Order, col.Order, down)
	t.keys.sort()
	for i, k := range t.keys.list {
		t.Order[i] = k.row
	}
}

func (t *Table) arrangeText(col *Column, down bool) {
	texts := make(map[int32]string, len(t.Order))
	for _, row := range t.Order {
		texts[row] = col.Text(int(row))
	}
	slices.SortStableFunc(t.Order, func(a, b int32) int {
		c := cmp.Or(Natural(texts[a], texts[b]), cmp.Compare(texts[a], texts[b]))
		if down {
			return -c
		}
		return c
	})
}

// Row is the row of a line.
func (t *Table) Row(line int) int { return int(t.Order[line]) }

// Selected is the row of the cursor.
func (t *Table) Selected() (row int, ok bool) {
	if t.Cursor < 0 || t.Cursor >= len(t.Order) {
		return 0, false
	}
	return int(t.Order[t.Cursor]), true
}

// Find moves the cursor to the row with this identity, if it is shown.
func (t *Table) Find(id uint64) {
	for line, row := range t.Order {
		if t.ID(int(row)) == id {
			t.Reveal(line)
			return
		}
	}
}

// SortBy sorts by a column, counted from 1, or by what rows come in for 0; by
// the one that it is sorted by already, the other way round.
func (t *Table) SortBy(col int) {
	if col != 0 && t.Sorted == col {
		col = -col
	}
	t.Sorted = col
	t.Again()
}

// sortable are the columns that there are to sort by, counted from 1.
func (t *Table) sortable() []int {
	var out []int
	for i := range t.Cols {
		if c := &t.Cols[i]; c.Name != "" && !c.Unsorted && !c.gone() {
			out = append(out, i+1)
		}
	}
	return out
}

// NextSort goes through the columns in turn, each upwards and downwards, and
// says what the list is sorted by then.
func (t *Table) NextSort() string {
	all := t.sortable()
	if len(all) == 0 {
		return ""
	}
	i := slices.Index(all, max(t.Sorted, -t.Sorted))
	switch {
	case t.Sorted > 0:
		t.Sorted = -t.Sorted
	case i+1 < len(all):
		t.Sorted = all[i+1]
	default:
		t.Sorted = 0
	}
	t.Again()
	return t.SortWord()
}

func (t *Table) SortWord() string {
	switch {
	case t.Sorted > 0:
		return "by " + t.Cols[t.Sorted-1].Name + " " + t.Theme.Up
	case t.Sorted < 0:
		return "by " + t.Cols[-t.Sorted-1].Name + " " + t.Theme.Down
	}
	return ""
}

// ToggleMark marks the selected row, or takes its mark.
func (t *Table) ToggleMark() {
	row, ok := t.Selected()
	if !ok || t.ID == nil {
		return
	}
	if t.Marks == nil {
		t.Marks = map[uint64]bool{}
	}
	if id := t.ID(row); t.Marks[id] {
		delete(t.Marks, id)
	} else {
		t.Marks[id] = true
	}
	t.To(t.Cursor + 1)
}

func (t *Table) Marked(row int) bool { return len(t.Marks) > 0 && t.ID != nil && t.Marks[t.ID(row)] }

// Chosen are the lines that are marked, or else the selected one.
func (t *Table) Chosen() []int {
	var out []int
	if len(t.Marks) > 0 {
		for line, row := range t.Order {
			if t.Marked(int(row)) {
				out = append(out, line)
			}
		}
	}
	if len(out) == 0 && t.Cursor < len(t.Order) {
		out = append(out, t.Cursor)
	}
	return out
}

// colGap is how many blanks stand between columns.
const colGap = 2

// widths are the cells of the columns in w cells, 0 for one that is left out.
func (t *Table) widths(w int) []int {
	out := make([]int, len(t.Cols))
	shown := make([]bool, len(t.Cols))
	need, worst := -colGap, 0
	for i := range t.Cols {
		c := &t.Cols[i]
		if shown[i] = !c.gone(); shown[i] {
			need += max(c.Wide, c.Least) + colGap
			worst = max(worst, c.Rank)
		}
	}
	for ; need > w && worst > 0; worst-- {
		for i := len(t.Cols) - 1; i >= 0 && need > w; i-- {
			if c := &t.Cols[i]; shown[i] && c.Rank == worst {
				shown[i] = false
				need -= max(c.Wide, c.Least) + colGap
			}
		}
	}
	free, flexible := max(w-need, 0), 0
	for i := range t.Cols {
		if shown[i] && t.Cols[i].Wide == 0 {
			flexible += max(t.Cols[i].Share, 1)
		}
	}
	for i := range t.Cols {
		c := &t.Cols[i]
		switch {
		case !shown[i]:
		case c.Wide > 0:
			out[i] = c.Wide
		default:
			part := max(c.Share, 1)
			out[i] = c.Least + free*part/flexible
			free -= free * part / flexible
			flexible -= part
		}
	}
	return out
}

// Header writes the heads of the columns.
func (t *Table) Header(p *Pen) {
	first := true
	for i, w := range t.widths(p.Left) {
		if w == 0 {
			continue
		}
		if !first {
			p.Gap(colGap)
		}
		first = false
		name, st := t.Cols[i].Name, p.Dim
		switch t.Sorted {
		case i + 1:
			name, st = name+p.sortUp, p.Key
		case -i - 1:
			name, st = name+p.sortDown, p.Key
		}
		if t.Cols[i].Right {
			p.Right(st, name, w)
		} else {
			p.Cell(st, name, w)
		}
	}
}

// HeadAt is the column, counted from 1, whose head stands at a cell of w, 0 for none.
func (t *Table) HeadAt(x, w int) int {
	at := 0
	for i, cells := range t.widths(w) {
		if cells == 0 {
			continue
		}
		if x >= at && x < at+cells+colGap {
			return i + 1
		}
		at += cells + colGap
	}
	return 0
}

// Draw writes a line.
func (t *Table) Draw(p *Pen, line int) {
	row := t.Row(line)
	first := true
	for i, w := range t.widths(p.Left) {
		if w == 0 {
			continue
		}
		if !first {
			p.Gap(colGap)
		}
		first = false
		c := &t.Cols[i]
		st := Style("")
		if c.Look != nil {
			st = c.Look(row)
		}
		if c.Right {
			p.Right(st, c.Text(row), w)
		} else {
			p.Cell(st, c.Text(row), w)
		}
	}
}

// HasHead says whether the heads of columns stand above the rows.
func (t *Table) HasHead() bool { return len(t.Cols) > 0 && t.N > 0 }

// NoMatch says that the filter lets nothing through.
func (t *Table) NoMatch(what string) string {
	return "no " + what + " passes the filter " + t.Filt.Text + " : Esc shows all"
}

// Show shows the list in another manner, from its first row, unsorted and without marks.
func (t *Table) Show(kind int) {
	t.Kind, t.Sorted, t.Marks, t.Aside = kind, 0, nil, 0
	t.Cursor, t.Top, t.Order, t.Held = 0, 0, t.Order[:0], false
}
