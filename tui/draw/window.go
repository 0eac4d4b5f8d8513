// SPDX-License-Identifier: Apache-2.0

package draw

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
