// SPDX-License-Identifier: Apache-2.0

package draw

// Rect is a part of the screen.
type Rect struct{ X, Y, W, H int }

// Holds reports whether a cell is in it.
func (r Rect) Holds(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// SplitRows cuts a part in two, the upper h lines high.
func SplitRows(r Rect, h int) (top, bottom Rect) {
	return Rect{r.X, r.Y, r.W, h}, Rect{r.X, r.Y + h, r.W, r.H - h}
}

// SplitColumns cuts a part in two, the left w cells wide.
func SplitColumns(r Rect, w int) (left, right Rect) {
	return Rect{r.X, r.Y, w, r.H}, Rect{r.X + w, r.Y, r.W - w, r.H}
}
