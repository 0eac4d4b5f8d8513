// SPDX-License-Identifier: Apache-2.0

package tui

// window is the part of a list that is seen. Rows outside it are never drawn.
type window struct {
	n      int // rows of the list
	height int // rows that are seen
	cursor int
	top    int
	// follow keeps the cursor on the last row while rows are added.
	follow bool
}

// resize sets how many rows there are and how many are seen.
func (w *window) resize(n, height int) {
	if w.follow && n != w.n {
		w.cursor = n - 1
	}
	if w.height == 0 { // nothing was seen yet
		w.top = w.cursor - height/2
	}
	w.n, w.height = n, height
	w.to(w.cursor)
}

// to moves the cursor to a row, or the nearest there is.
func (w *window) to(row int) {
	w.cursor = max(min(row, w.n-1), 0)
	h := max(w.height, 1)
	if w.cursor < w.top {
		w.top = w.cursor
	}
	if w.cursor >= w.top+h {
		w.top = w.cursor - h + 1
	}
	w.top = max(min(w.top, w.n-h), 0)
}

// reveal moves the cursor to a row and shows it with others around it.
func (w *window) reveal(row int) {
	if row < w.top || row >= w.top+w.height {
		w.top = row - w.height/2
	}
	w.to(row)
}

// thumb returns the rows of the window that a scroll bar marks, from and below
// to; none where all is seen.
func (w *window) thumb() (from, to int) {
	if w.n <= w.height || w.height < 2 {
		return 0, 0
	}
	size := max(w.height*w.height/w.n, 1)
	from = (w.height - size) * w.top / (w.n - w.height)
	return from, from + size
}
