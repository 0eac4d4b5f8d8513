// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"
)

// Table is a list of rows in columns. It sorts, filters and marks rows, and draws only
// those in the window. Rows are numbered as their owner has them; where a method takes a
// line, it is that of the list as it is sorted and filtered. (The table of bubbles takes
// 1.7 ms a key at 48,000 rows, as much as a whole frame of ours in 200x50.)
type Table struct {
	Window
	Theme *Theme
	Cols  []Column
	Size  int
	Order []int32 // row by line
	keys  sortKeys
	// sifted is the number of rows that the filter was applied to: all of them without a filter.
	sifted   int
	sorting  *sorting // the sort that is under way, nil for none
	unsorted bool     // the rows are still to be sorted
	// Sorted is the column that the rows are sorted by, from 1, negative for downwards, 0 for the order they come in.
	Sorted int
	Filt   Filter
	Marks  map[uint64]bool
	ID     func(row int) uint64 // tells rows apart for as long as the list is there
	// kept is the row to stay on, where one is held.
	kept  uint64
	keeps bool
	// Match reports whether a row passes the filter; nil: by the text of any column. prepare is called before.
	Match    func(row int) bool
	Prepare  func()
	MakeRows func() // makes the rows anew after another sort, nil where they stay the same
	// Kinds are the manners in which the list can be shown, kind the one that it is.
	Kinds  []string
	Kind   int
	Offset int // how many cells, or columns, are moved out of sight to the left
}

// Hold remembers which row is selected. It is called before rows change.
func (t *Table) KeepRow() {
	if row, ok := t.Selected(); ok && !t.keeps && t.ID != nil && row < t.Size {
		t.kept, t.keeps = t.ID(row), true
	}
}

// Build takes a new number of rows and goes to the row that is held.
func (t *Table) Build(size int) {
	t.Rebuild(size)
	if !t.Working() {
		t.release()
	}
}

// release goes to the row that is held.
func (t *Table) release() {
	if t.keeps {
		t.Find(t.kept)
	}
	t.keeps = false
}

// Again sorts and filters the same rows anew.
func (t *Table) Again() {
	if t.MakeRows != nil {
		t.MakeRows()
		return
	}
	t.KeepRow()
	t.Build(t.Size)
}

// Rebuild is [Table.Build] without going to a row. It filters and sorts the rows; if that takes longer than a key may
// wait, [Table.Work] continues between keys.
func (t *Table) Rebuild(size int) {
	t.Fill(size)
	t.unsorted = true
	if !t.Filt.Empty() {
		if t.Prepare != nil {
			t.Prepare()
		}
		t.Order, t.sifted = t.Order[:0], 0
	}
	t.work()
}

// Fill takes a new number of rows, all of them in their own order.
func (t *Table) Fill(size int) {
	t.Size, t.sifted, t.sorting, t.unsorted = size, size, nil, false
	t.Order = slices.Grow(t.Order[:0], size)[:size]
	for i := range t.Order {
		t.Order[i] = int32(i)
	}
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

// NextSort goes through the columns in turn, each upwards and downwards, and says what the list is sorted by.
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

// SortWord says what the rows are sorted by, "" for the order that they come in.
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

// Marked reports whether a row is marked.
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

const colGap = 2 // how many blanks stand between columns

// NoMatch says that the filter lets nothing through.
func (t *Table) NoMatch(what string) string {
	return "no " + what + " passes the filter " + t.Filt.Text + " : Esc shows all"
}

// Show shows the list in another manner, from its first row, unsorted and without marks.
func (t *Table) Show(kind int) {
	t.Kind, t.Sorted, t.Marks, t.Offset = kind, 0, nil, 0
	t.Cursor, t.Top, t.Order, t.keeps, t.sifted = 0, 0, t.Order[:0], false, t.Size
	t.sorting, t.unsorted = nil, false
}

// Window is the part of a list that is seen. Rows outside it are never drawn.
type Window struct {
	N      int // rows of the list
	Height int // rows that are seen
	Cursor int
	Top    int
	Follow bool // keeps the cursor on the last row while rows are added
}

// Resize sets how many rows there are and how many are seen.
func (w *Window) Resize(n, height int) {
	if w.Follow && n != w.N {
		w.Cursor = n - 1
	}
	if w.Height == 0 { // nothing was seen yet
		w.Top = w.Cursor - height/2
	}
	w.N, w.Height = n, height
	w.To(w.Cursor)
}

// To moves the cursor to a row, or the nearest there is.
func (w *Window) To(row int) {
	w.Cursor = max(min(row, w.N-1), 0)
	h := max(w.Height, 1)
	if w.Cursor < w.Top {
		w.Top = w.Cursor
	}
	if w.Cursor >= w.Top+h {
		w.Top = w.Cursor - h + 1
	}
	w.Top = max(min(w.Top, w.N-h), 0)
}

// Reveal moves the cursor to a row and shows it with others around it.
func (w *Window) Reveal(row int) {
	if row < w.Top || row >= w.Top+w.Height {
		w.Top = row - w.Height/2
	}
	w.To(row)
}

// thumb returns the rows of the window that a scroll bar marks, from and below to; none where all is seen.
func (w *Window) thumb() (from, to int) {
	if w.N <= w.Height || w.Height < 2 {
		return 0, 0
	}
	size := max(w.Height*w.Height/w.N, 1)
	from = (w.Height - size) * w.Top / (w.N - w.Height)
	return from, from + size
}
