// SPDX-License-Identifier: Apache-2.0

package draw

// Column is one column of a table.
type Column struct {
	Name string
	Help string // what the figures are, in which unit
	// Wide is its cells. Where it is 0 it shares with its like what the others leave, and has at least least.
	Wide, Least int
	Share       int // how large a part it has among its like, 1 if it is 0
	Right       bool
	Rank        int // above 0 where the column is left out when there is little room, those of the highest rank first
	Text        func(row int) string
	Look        func(row int) Style // nil for the usual
	// Order is what rows are sorted by; nil for the text. It may be called from several goroutines.
	Order    func(row int) int64
	Hidden   func() bool // says now that the column does not apply; nil: it does
	Unsorted bool        // says that rows are not sorted by it
}

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
	var least []int
	if need > w {
		least = t.squeeze(shown, &need, w)
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

// squeeze lets columns go that no rank leaves out, from the right, and takes up to a third of those that share, so that
// what is needed comes down to w cells. It returns what the columns that share have at least.
func (t *Table) squeeze(shown []bool, need *int, w int) []int {
	least, spare := make([]int, len(t.Cols)), 0
	for i := range t.Cols {
		if c := &t.Cols[i]; shown[i] && c.Wide == 0 {
			least[i] = c.Least
			spare += c.Least / 3
		}
	}
	for i := len(t.Cols) - 1; i > 0 && *need-spare > w; i-- {
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

// Shown returns the columns that apply now, whether or not there is room for them.
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

// HasHead reports whether the heads of columns stand above the rows.
func (t *Table) HasHead() bool { return len(t.Cols) > 0 && t.N > 0 }
