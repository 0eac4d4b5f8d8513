// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// Column is one column of a table.
type Column struct {
	Name string
	// Called is the head by which [Table.Picks] names the column, if Name changes.
	Called string
	Help   string // the meaning of the values, and their unit
	// Wide is the width of the column in cells. If it is 0, the column shares the rest of the line with other such
	// columns, and has at least Least cells.
	Wide, Least int
	Share       int // its part of the rest, 1 if it is 0
	Right       bool
	Rank        int                  // above 0: left out if there is little space, the highest rank first
	Text        func(row int) string // nil: Order with separators of thousands
	Look        func(row int) Style  // nil: the style of other text, or dim
	Dim         bool
	// Order returns the number by which rows are sorted. If it is nil, rows are sorted by their text. Several
	// goroutines may call Order and Text concurrently.
	Order    func(row int) int64
	Hidden   func() bool // nil: always shown
	Unsorted bool        // rows cannot be sorted by the column
	Drawn    bool        // a bar or a graph, which exports and copies leave out
	Naming   bool        // names the row; if no shown column does, the first column with a head names it
	// Plain returns the text for exports and copies. If it is nil, they have the text of the screen.
	Plain func(row int) string
}

// arranged returns the indexes of the columns to show, from left to right. The user's choice has no effect if it names
// none of them. Columns without a head cannot be chosen, and stay on the left. So does the column that names the row,
// if the choice has no such column.
func (t *Table) arranged() []int {
	shown := make([]int, 0, len(t.Cols))
	var bare, picked []int
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.gone() {
			shown = append(shown, i)
			if t.Picks != nil && c.Name == "" {
				bare = append(bare, i)
			}
		}
	}
	for _, head := range t.Picks {
		for _, i := range shown {
			if c := &t.Cols[i]; c.Name != "" && c.Is(head) {
				picked = append(picked, i)
			}
		}
	}
	if picked == nil {
		return shown
	}
	if naming := t.naming(shown); !slices.ContainsFunc(picked, func(i int) bool { return slices.Contains(naming, i) }) {
		bare = append(bare, naming[0])
	}
	return append(bare, picked...)
}

// naming returns those of the shown columns that name the row. At least one of them must have a head.
func (t *Table) naming(shown []int) (out []int) {
	first := -1
	for _, i := range shown {
		switch c := &t.Cols[i]; {
		case c.Naming:
			out = append(out, i)
		case first < 0 && c.Name != "":
			first = i
		}
	}
	if out == nil {
		return []int{first}
	}
	return out
}

// Is reports whether a column has a head, without regard to case.
func (c *Column) Is(head string) bool {
	return strings.EqualFold(strings.TrimSpace(c.Name), head) || strings.EqualFold(c.Called, head)
}

// Slide scrolls the columns after the first one, until a line shows all columns that follow.
func (t *Table) Slide(by int) {
	if shown, all := t.Fitting(t.Wide); by < 0 || shown+t.Offset < all {
		t.Offset = max(min(t.Offset+by, all-2), 0)
	}
}

// Fitting returns the number of columns that a line of w cells shows, and the number of all columns.
func (t *Table) Fitting(w int) (shown, all int) {
	for _, w := range t.widths(w) {
		shown += Btoi(w > 0)
	}
	return shown, len(t.arranged())
}

// widths returns the widths of the columns in a line of w cells. The width of a column that is not shown is 0.
func (t *Table) widths(w int) []int {
	out := make([]int, len(t.Cols))
	shown := make([]bool, len(t.Cols))
	need, worst := -colGap, 0
	order := t.arranged()
	if t.Slides && len(order) > 1 {
		order = slices.Delete(order, 1, min(1+t.Offset, len(order)-1))
	}
	for _, i := range order {
		c := &t.Cols[i]
		shown[i] = true
		need += max(c.Wide, c.Least) + colGap
		worst = max(worst, c.Rank)
	}
	if t.Slides && t.Offset > 0 {
		worst = 0 // the next columns in their order, so that each is shown at some offset
	}
	for ; need > w && worst > 0; worst-- {
		for k := len(order) - 1; k >= Btoi(t.Picks != nil) && need > w; k-- {
			if c := &t.Cols[order[k]]; shown[order[k]] && c.Rank == worst {
				shown[order[k]] = false
				need -= max(c.Wide, c.Least) + colGap
			}
		}
	}
	var least []int
	if need > w {
		least = t.squeeze(order, shown, &need, w)
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
			if out[i] = c.Least; least != nil {
				out[i] = least[i]
			}
			out[i] += free * part / flexible
			free -= free * part / flexible
			flexible -= part
		}
	}
	return out
}

// squeeze reduces the needed width until it fits into w cells. It removes columns without a rank, from the right, and
// takes up to a third of the width of columns that share the rest of the line. It returns the minimum widths of these
// columns.
func (t *Table) squeeze(order []int, shown []bool, need *int, w int) []int {
	least, spare := make([]int, len(t.Cols)), 0
	for i := range t.Cols {
		if c := &t.Cols[i]; shown[i] && c.Wide == 0 {
			least[i] = c.Least
			spare += c.Least / 3
		}
	}
	for k := len(order) - 1; k > 0 && *need-spare > w; k-- {
		i := order[k]
		if c := &t.Cols[i]; shown[i] {
			shown[i] = false
			*need -= max(c.Wide, c.Least) + colGap
			spare -= least[i] / 3
			least[i] = 0
		}
	}
	for i := range least {
		if over := *need - w; over > 0 && least[i] > 0 {
			less := min(least[i]/3, over)
			least[i] -= less
			*need -= less
		}
	}
	return least
}

// Shown returns the columns that are not hidden, including columns that are left out for lack of space or by the user.
func (t *Table) Shown() []*Column {
	var shown []*Column
	for i := range t.Cols {
		if c := &t.Cols[i]; !c.gone() && c.Name != "" {
			shown = append(shown, c)
		}
	}
	return shown
}

// Header writes the heads of the columns.
func (t *Table) Header(p *Pen) {
	first := true
	widths := t.widths(p.Left)
	for _, i := range t.arranged() {
		w := widths[i]
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

// HeadAt returns the number of the column, counted from 1, whose head is at cell x in a line of w cells. It returns 0
// if there is none.
func (t *Table) HeadAt(x, w int) int {
	at, widths := 0, t.widths(w)
	for _, i := range t.arranged() {
		cells := widths[i]
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
	widths := t.widths(p.Left)
	for _, i := range t.arranged() {
		w := widths[i]
		if w == 0 {
			continue
		}
		if !first {
			p.Gap(colGap)
		}
		first = false
		c := &t.Cols[i]
		st := prose.When(c.Dim, p.Theme.Dim, "")
		if c.Look != nil {
			st = c.Look(row)
		}
		text := c.Cell(row)
		switch {
		case c.Right:
			p.Right(st, text, w)
		case c.Drawn:
			p.Cell(st, text, w)
		default:
			p.PutName(st, text, w, t.Shared)
		}
	}
}

// Cell returns the text of a row.
func (c *Column) Cell(row int) string {
	if c.Text == nil {
		return prose.Thousands(int(c.Order(row)))
	}
	return c.Text(row)
}

// HasHead reports whether the column heads are shown above the rows.
func (t *Table) HasHead() bool { return len(t.Cols) > 0 && t.N > 0 }
