// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"
)

// Table is a list of rows in columns. It sorts, filters and marks rows, and draws the rows in the window. A row has the
// number that its owner gives it. A line is the position of a row in the sorted and filtered list. (The table of
// bubbles takes 1.7 ms per key press with 48,000 rows, as long as a whole frame of 200x50 takes here.)
type Table struct {
	Window
	Theme *Theme
	Cols  []Column
	// Layouts are the columns of all views, nil if Cols has them.
	Layouts [][]Column
	Picks   []string // the heads of the columns that the user chose, in order; nil for all columns
	Size    int
	Order   []int32 // row by line
	keys    sortKeys
	// sifted is the number of rows to which the filter was applied. Without a filter it is the number of all rows.
	sifted   int
	sorting  *sorting // the sort that is under way, nil for none
	unsorted bool     // the rows are still to be sorted
	// Sorted is the column by which rows are sorted, counted from 1. It is negative for descending order, and 0 for the
	// original order.
	Sorted int
	Filt   Filter
	Marks  map[uint64]bool
	ID     func(row int) uint64 // identifies a row as long as the list exists
	// kept is the ID of the row to which the cursor returns. It is valid if keeps is set.
	kept  uint64
	keeps bool
	// Match reports whether a row passes the filter. If it is nil, the texts of all columns are matched. Prepare is
	// called before Match.
	Match    func(row int) bool
	Prepare  func()
	MakeRows func() // makes the rows again after another sort, nil if they stay the same
	// Kinds are the names of the views of the list. Kind is the index of the present view.
	Kinds  []string
	Kind   int
	Offset int // how many cells, or columns, are scrolled out on the left
	// Slides is set if Offset is a number of columns after the first one, which stays.
	Slides bool
	// Shared are the long beginnings that most names share, see [Prefix].
	Shared []string
}

// KeepRow remembers the selected row. It is called before the rows change.
func (t *Table) KeepRow() {
	if row, ok := t.Selected(); ok && !t.keeps && t.ID != nil && row < t.Size {
		t.kept, t.keeps = t.ID(row), true
	}
}

// Build sets the number of rows, filters and sorts them, and moves the cursor to the remembered row.
func (t *Table) Build(size int) {
	t.Rebuild(size)
	if !t.Working() {
		t.release()
	}
}

// release moves the cursor to the row that [Table.KeepRow] remembered.
func (t *Table) release() {
	if t.keeps {
		t.Find(t.kept)
	}
	t.keeps = false
}

// Again sorts and filters the same rows again.
func (t *Table) Again() {
	if t.MakeRows != nil {
		t.MakeRows()
		return
	}
	t.KeepRow()
	t.Build(t.Size)
}

// Rebuild is [Table.Build] without moving the cursor. If filtering and sorting take longer than a key press may wait,
// [Table.Work] continues between key presses.
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

// Fill sets the number of rows. It shows all rows in their original order.
func (t *Table) Fill(size int) {
	t.Size, t.sifted, t.sorting, t.unsorted = size, size, nil, false
	t.Order = slices.Grow(t.Order[:0], size)[:size]
	for i := range t.Order {
		t.Order[i] = int32(i)
	}
}

func (t *Table) matchText(row int) bool {
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.gone() && t.Filt.Hit(strings.ToLower(c.Cell(row))) {
			return !t.Filt.Invert
		}
	}
	return t.Filt.Invert
}

func (c *Column) gone() bool { return c.Hidden != nil && c.Hidden() }

// Row returns the row of a line.
func (t *Table) Row(line int) int { return int(t.Order[line]) }

// Selected returns the row of the cursor.
func (t *Table) Selected() (row int, ok bool) {
	if t.Cursor < 0 || t.Cursor >= len(t.Order) {
		return 0, false
	}
	return int(t.Order[t.Cursor]), true
}

// Find moves the cursor to the row with the given ID, if this row is shown.
func (t *Table) Find(id uint64) {
	for line, row := range t.Order {
		if t.ID(int(row)) == id {
			t.Reveal(line)
			return
		}
	}
}

// Next returns the nearest line after the cursor that the filter f selects, or before the cursor for by = -1. After the
// last line comes the first. It reports false if the filter selects no line.
func (t *Table) Next(f Filter, by int) (line int, found bool) {
	kept := t.Filt
	defer func() { t.Filt = kept }()
	t.Filt = f
	match := t.matchText
	if t.Match != nil {
		match = t.Match
	}
	if t.Prepare != nil {
		t.Prepare()
	}
	n := len(t.Order)
	for i := 1; i <= n; i++ {
		if line = (t.Cursor + by*i + n) % n; match(t.Row(line)) {
			return line, true
		}
	}
	return 0, false
}

// SortBy sorts by a column, counted from 1. For 0 it restores the original order. A second call with the same column
// reverses the order.
func (t *Table) SortBy(col int) {
	if col != 0 && t.Sorted == col {
		col = -col
	}
	t.Sorted = col
	t.Again()
}

// sortable returns the numbers of the columns by which rows can be sorted, counted from 1.
func (t *Table) sortable() []int {
	var out []int
	for _, i := range t.arranged() {
		if c := &t.Cols[i]; c.Name != "" && !c.Unsorted {
			out = append(out, i+1)
		}
	}
	return out
}

// NextSort sorts by the next column, first ascending, then descending. It returns the new order as text.
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

// SortWord returns the order of the rows as text, or "" for the original order.
func (t *Table) SortWord() string {
	switch {
	case t.Sorted > 0:
		return "by " + t.Cols[t.Sorted-1].Name + " " + t.Theme.Up
	case t.Sorted < 0:
		return "by " + t.Cols[-t.Sorted-1].Name + " " + t.Theme.Down
	}
	return ""
}

// ToggleMark marks the selected row or removes its mark.
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

// MarkRange marks the rows from the cursor up or down to the nearest marked row. It reports false if no row is marked.
func (t *Table) MarkRange() bool {
	if t.ID == nil || len(t.Marks) == 0 {
		return false
	}
	from := -1
	far := func(line int) int { return max(line-t.Cursor, t.Cursor-line) }
	for line := range t.Order {
		if line != t.Cursor && t.Marked(t.Row(line)) && (from < 0 || far(line) < far(from)) {
			from = line
		}
	}
	if from < 0 {
		return false
	}
	for line := min(from, t.Cursor); line <= max(from, t.Cursor); line++ {
		t.Marks[t.ID(t.Row(line))] = true
	}
	return true
}

// Marked reports whether a row is marked.
func (t *Table) Marked(row int) bool { return len(t.Marks) > 0 && t.ID != nil && t.Marks[t.ID(row)] }

// Chosen returns the marked lines. If no line is marked, it returns the selected line.
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

const colGap = 2 // blanks between columns

// NoMatch returns the text that is shown if the filter selects no row.
func (t *Table) NoMatch(what string) string {
	return "no " + what + " matches the filter " + t.Filt.Text + " : Esc shows all"
}

// Show switches to another view. The view starts at its first row, unsorted and without marks.
func (t *Table) Show(kind int) {
	t.Kind, t.Sorted, t.Marks, t.Offset = kind, 0, nil, 0
	t.Cursor, t.Top, t.Order, t.keeps, t.sifted = 0, 0, t.Order[:0], false, t.Size
	t.sorting, t.unsorted = nil, false
}

// Window is the visible part of a list. Rows outside it are not drawn.
type Window struct {
	N      int // rows of the list
	Height int // visible rows
	Cursor int
	Top    int
	Follow bool // the cursor stays on the last row while rows are added
	Wide   int  // cells of a row
	// Lines returns the lines of a wrapped row, none for a row that is not wrapped. If it is nil, no row is wrapped.
	Lines func(row int) []string
}

// tall returns the number of lines of a row, at most those of the window.
func (w *Window) tall(row int) int {
	if w.Lines == nil || row < 0 || row >= w.N {
		return 1
	}
	return max(min(len(w.Lines(row)), w.Height), 1)
}

// Part returns a line of a wrapped row. The last line of a row that is taller than the window has the rest of the row.
func (w *Window) Part(row, part int) string {
	lines := w.Lines(row)
	switch {
	case part >= len(lines):
		return ""
	case part+1 == w.tall(row):
		return strings.Join(lines[part:], " ")
	}
	return lines[part]
}

// span returns the number of rows, from a row downwards for by = 1 or upwards for by = -1, that fit into h lines.
func (w *Window) span(row, by, h int) int {
	if w.Lines == nil {
		return h
	}
	n := 0
	for ; row >= 0 && row < w.N; row += by {
		if h -= w.tall(row); h < 0 {
			break
		}
		n++
	}
	return n
}

// Jump returns by how many rows the cursor moves so that it moves by h lines down, or up for by = -1.
func (w *Window) Jump(by, h int) int { return by * max(w.span(w.Cursor, by, h+1)-1, 1) }

// Fits reports whether the last n rows fit into the window.
func (w *Window) Fits(n int) bool { return n <= w.span(w.N-1, -1, w.Height) }

// RowAt returns the row at a line of the window. It returns N or more if there is none.
func (w *Window) RowAt(line int) int {
	if w.Lines == nil {
		return w.Top + line
	}
	row := w.Top
	for line -= w.tall(row); line >= 0 && row < w.N; line -= w.tall(row) {
		row++
	}
	return row
}

// Resize sets the number of rows and of visible rows.
func (w *Window) Resize(n, height int) {
	if w.Follow && n != w.N {
		w.Cursor = n - 1
	}
	if w.Height == 0 { // nothing was visible yet
		w.Top = w.Cursor - height/2
	}
	w.N, w.Height = n, height
	w.To(w.Cursor)
}

// To moves the cursor to a row. If there is no such row, it moves the cursor to the nearest row.
func (w *Window) To(row int) {
	w.Cursor = max(min(row, w.N-1), 0)
	h := max(w.Height, 1)
	if w.Cursor < w.Top {
		w.Top = w.Cursor
	}
	w.Top = max(w.Top, w.Cursor-w.span(w.Cursor, -1, h)+1)
	w.Top = max(min(w.Top, w.N-w.span(w.N-1, -1, h)), 0)
}

// Reveal moves the cursor to a row and scrolls so that rows around it are visible.
func (w *Window) Reveal(row int) {
	if row < w.Top || row >= w.Top+w.span(w.Top, 1, w.Height) {
		w.Top = row - w.Height/2
	}
	w.To(row)
}

// thumb returns the first line of the scroll bar's thumb, and the line after its last line. If all rows are visible, it
// returns 0, 0.
func (w *Window) thumb() (from, to int) {
	shown := w.span(w.Top, 1, w.Height)
	if w.N <= shown || w.Height < 2 {
		return 0, 0
	}
	size := max(w.Height*shown/w.N, 1)
	from = (w.Height - size) * w.Top / (w.N - shown)
	return from, from + size
}
