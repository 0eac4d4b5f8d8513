// SPDX-License-Identifier: Apache-2.0

package tui

// rect is a part of the screen.
type rect struct{ x, y, w, h int }

// placed is a pane and where it stands.
type placed struct {
	id paneID
	rect
}

// form is the way in which the panes share the screen.
type form uint8

// The forms, for smaller and larger screens.
const (
	formSingle form = iota // one pane at a time, two when zoomed
	formPair               // the topology and one more
	formFour               // topology; LFT over trace; log
	formWide               // topology, LFT and trace side by side; log
)

func formOf(w, h int) form {
	switch {
	case w < 100 || h < 20:
		return formSingle
	case h < 30:
		return formPair
	case w < 160:
		return formFour
	}
	return formWide
}

// arrange places the panes on a body of this form. Panes do not overlap; one
// that has no room is left out.
func arrange(f form, body rect, focus, aside paneID, zoom bool) []placed {
	switch {
	case f == formSingle && zoom && body.h >= 10:
		top, bottom := splitRows(body, body.h/2)
		return []placed{{focus, top}, {companion(focus), bottom}}
	case f == formSingle || zoom:
		return []placed{{focus, body}}
	case f == formPair:
		left, right := splitColumns(body, body.w*2/5)
		return []placed{{paneTopology, left}, {aside, right}}
	}
	logRows := max(min(body.h/5, 12), 7)
	if focus == paneLog {
		logRows = body.h / 2
	}
	upper, log := splitRows(body, body.h-logRows)
	if f == formWide {
		left, rest := splitColumns(upper, upper.w*3/10)
		middle, right := splitColumns(rest, rest.w/2)
		return []placed{{paneTopology, left}, {paneLFT, middle}, {paneTrace, right}, {paneLog, log}}
	}
	left, right := splitColumns(upper, upper.w*2/5)
	lft, trace := splitRows(right, right.h-max(right.h*2/5, 5))
	return []placed{{paneTopology, left}, {paneLFT, lft}, {paneTrace, trace}, {paneLog, log}}
}

// companion is the pane that is shown with another on a small screen.
func companion(id paneID) paneID {
	switch id {
	case paneTopology:
		return paneLFT
	case paneLog:
		return paneTrace
	}
	return paneTopology
}

func splitRows(r rect, h int) (top, bottom rect) {
	return rect{r.x, r.y, r.w, h}, rect{r.x, r.y + h, r.w, r.h - h}
}

func splitColumns(r rect, w int) (left, right rect) {
	return rect{r.x, r.y, w, r.h}, rect{r.x + w, r.y, r.w - w, r.h}
}
