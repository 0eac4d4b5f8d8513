// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"slices"
	"strings"
)

// column is one column of a table.
type column struct {
	name string
	// wide is its cells. Where it is 0 it shares with its like what the others
	// leave, and has at least least.
	wide, least int
	// share is how large a part it has among its like, 1 if it is 0.
	share int
	right bool
	// rank is above 0 where the column is left out when there is little room, those
	// of the highest rank first.
	rank int
	text func(row int) string
	look func(row int) style // nil for the usual
	// order is what rows are sorted by; nil for the text. It may be called from
	// several goroutines.
	order func(row int) int64
	// hidden says now that the column does not apply; nil: it does.
	hidden func() bool
}

// table is a list of rows in columns. It sorts, filters and marks rows, and draws
// only those in the window. Rows are numbered as their owner has them; where a
// method takes a line, it is that of the list as it is sorted and filtered.
type table struct {
	window
	theme *theme
	cols  []column
	size  int
	order []int32 // row by line
	keys  sortKeys
	// sorted is the column that the rows are sorted by, counted from 1, negative
	// for downwards, 0 for the order that they come in.
	sorted int
	filt   filter
	marks  map[uint64]bool
	// id tells rows apart for as long as the list is there.
	id func(row int) uint64
	// kept is the row to stay on, where one is held.
	kept uint64
	held bool
	// match says whether a row passes the filter; nil: by the text of any column.
	// prepare is called before.
	match   func(row int) bool
	prepare func()
	// kinds are the manners in which the list can be shown, kind the one that it is.
	kinds []string
	kind  int
	// aside is how many cells, or columns, are moved out of sight to the left.
	aside int
}

func (t *table) base() *table { return t }

// hold remembers which row is selected. It is called before rows change.
func (t *table) hold() {
	if row, ok := t.selected(); ok && !t.held && t.id != nil && row < t.size {
		t.kept, t.held = t.id(row), true
	}
}

// build takes it that there are so many rows now, and goes to the one held.
func (t *table) build(size int) {
	t.rebuild(size)
	if t.held {
		t.find(t.kept)
	}
	t.held = false
}

// again sorts and filters the same rows anew.
func (t *table) again() {
	t.hold()
	t.build(t.size)
}

// rebuild is build without looking for a row.
func (t *table) rebuild(size int) {
	t.size = size
	t.order = slices.Grow(t.order[:0], size)[:size]
	for i := range t.order {
		t.order[i] = int32(i)
	}
	if !t.filt.empty() {
		t.sift()
	}
	t.arrange()
	t.resize(len(t.order), t.height)
}

// sift leaves the rows that the filter lets through.
func (t *table) sift() {
	if t.prepare != nil {
		t.prepare()
	}
	match := t.match
	if match == nil {
		match = t.matchText
	}
	keep := make([]bool, t.size)
	each(t.size, func(from, to int) {
		for i := from; i < to; i++ {
			keep[i] = match(i)
		}
	})
	t.order = slices.DeleteFunc(t.order, func(row int32) bool { return !keep[row] })
}

func (t *table) matchText(row int) bool {
	for i := range t.cols {
		if c := &t.cols[i]; !c.gone() && t.filt.hit(strings.ToLower(c.text(row))) {
			return !t.filt.invert
		}
	}
	return t.filt.invert
}

func (c *column) gone() bool { return c.hidden != nil && c.hidden() }

// arrange sorts the rows.
func (t *table) arrange() {
	if t.sorted == 0 || len(t.order) == 0 {
		return
	}
	col := &t.cols[max(t.sorted, -t.sorted)-1]
	if col.gone() {
		return
	}
	down := t.sorted < 0
	if col.order == nil {
		t.arrangeText(col, down)
		return
	}
	t.keys.of(t.order, col.order, down)
	t.keys.sort()
	for i, k := range t.keys.list {
		t.order[i] = k.row
	}
}

func (t *table) arrangeText(col *column, down bool) {
	texts := make(map[int32]string, len(t.order))
	for _, row := range t.order {
		texts[row] = col.text(int(row))
	}
	slices.SortStableFunc(t.order, func(a, b int32) int {
		c := cmp.Or(natural(texts[a], texts[b]), cmp.Compare(texts[a], texts[b]))
		if down {
			return -c
		}
		return c
	})
}

// row is the row of a line.
func (t *table) row(line int) int { return int(t.order[line]) }

// selected is the row of the cursor.
func (t *table) selected() (row int, ok bool) {
	if t.cursor < 0 || t.cursor >= len(t.order) {
		return 0, false
	}
	return int(t.order[t.cursor]), true
}

// find moves the cursor to the row with this identity, if it is shown.
func (t *table) find(id uint64) {
	for line, row := range t.order {
		if t.id(int(row)) == id {
			t.reveal(line)
			return
		}
	}
}

// sortBy sorts by a column, counted from 1, or by what rows come in for 0; by
// the one that it is sorted by already, the other way round.
func (t *table) sortBy(col int) {
	if col != 0 && t.sorted == col {
		col = -col
	}
	t.sorted = col
	t.again()
}

// sortable are the columns that there are to sort by, counted from 1.
func (t *table) sortable() []int {
	var out []int
	for i := range t.cols {
		if c := &t.cols[i]; c.name != "" && !c.gone() {
			out = append(out, i+1)
		}
	}
	return out
}

// nextSort goes through the columns in turn, each upwards and downwards, and
// says what the list is sorted by then.
func (t *table) nextSort() string {
	all := t.sortable()
	if len(all) == 0 {
		return ""
	}
	i := slices.Index(all, max(t.sorted, -t.sorted))
	switch {
	case t.sorted > 0:
		t.sorted = -t.sorted
	case i+1 < len(all):
		t.sorted = all[i+1]
	default:
		t.sorted = 0
	}
	t.again()
	return t.sortWord()
}

func (t *table) sortWord() string {
	switch {
	case t.sorted > 0:
		return "by " + t.cols[t.sorted-1].name + " " + t.theme.up
	case t.sorted < 0:
		return "by " + t.cols[-t.sorted-1].name + " " + t.theme.down
	}
	return ""
}

// toggleMark marks the selected row, or takes its mark.
func (t *table) toggleMark() {
	row, ok := t.selected()
	if !ok || t.id == nil {
		return
	}
	if t.marks == nil {
		t.marks = map[uint64]bool{}
	}
	if id := t.id(row); t.marks[id] {
		delete(t.marks, id)
	} else {
		t.marks[id] = true
	}
	t.to(t.cursor + 1)
}

func (t *table) marked(row int) bool { return len(t.marks) > 0 && t.id != nil && t.marks[t.id(row)] }

// chosen are the lines that are marked, or else the selected one.
func (t *table) chosen() []int {
	var out []int
	if len(t.marks) > 0 {
		for line, row := range t.order {
			if t.marked(int(row)) {
				out = append(out, line)
			}
		}
	}
	if len(out) == 0 && t.cursor < len(t.order) {
		out = append(out, t.cursor)
	}
	return out
}

// colGap is how many blanks stand between columns.
const colGap = 2

// widths are the cells of the columns in w cells, 0 for one that is left out.
func (t *table) widths(w int) []int {
	out := make([]int, len(t.cols))
	shown := make([]bool, len(t.cols))
	need, worst := -colGap, 0
	for i := range t.cols {
		c := &t.cols[i]
		if shown[i] = !c.gone(); shown[i] {
			need += max(c.wide, c.least) + colGap
			worst = max(worst, c.rank)
		}
	}
	for ; need > w && worst > 0; worst-- {
		for i := len(t.cols) - 1; i >= 0 && need > w; i-- {
			if c := &t.cols[i]; shown[i] && c.rank == worst {
				shown[i] = false
				need -= max(c.wide, c.least) + colGap
			}
		}
	}
	free, flexible := max(w-need, 0), 0
	for i := range t.cols {
		if shown[i] && t.cols[i].wide == 0 {
			flexible += max(t.cols[i].share, 1)
		}
	}
	for i := range t.cols {
		c := &t.cols[i]
		switch {
		case !shown[i]:
		case c.wide > 0:
			out[i] = c.wide
		default:
			part := max(c.share, 1)
			out[i] = c.least + free*part/flexible
			free -= free * part / flexible
			flexible -= part
		}
	}
	return out
}

// header writes the heads of the columns.
func (t *table) header(p *pen) {
	first := true
	for i, w := range t.widths(p.left) {
		if w == 0 {
			continue
		}
		if !first {
			p.gap(colGap)
		}
		first = false
		name, st := t.cols[i].name, p.dim
		switch t.sorted {
		case i + 1:
			name, st = name+p.sortUp, p.key
		case -i - 1:
			name, st = name+p.sortDown, p.key
		}
		if t.cols[i].right {
			p.right(st, name, w)
		} else {
			p.cell(st, name, w)
		}
	}
}

// headAt is the column, counted from 1, whose head stands at a cell of w, 0 for none.
func (t *table) headAt(x, w int) int {
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

// draw writes a line.
func (t *table) draw(p *pen, line int) {
	row := t.row(line)
	first := true
	for i, w := range t.widths(p.left) {
		if w == 0 {
			continue
		}
		if !first {
			p.gap(colGap)
		}
		first = false
		c := &t.cols[i]
		st := style("")
		if c.look != nil {
			st = c.look(row)
		}
		if c.right {
			p.right(st, c.text(row), w)
		} else {
			p.cell(st, c.text(row), w)
		}
	}
}

// hasHead says whether the heads of columns stand above the rows.
func (t *table) hasHead() bool { return len(t.cols) > 0 && t.n > 0 }
