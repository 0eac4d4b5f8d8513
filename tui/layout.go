// SPDX-License-Identifier: Apache-2.0

package tui

// rect is a part of the screen.
type rect struct{ x, y, w, h int }

func (r rect) holds(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// placed is a pane and where it stands.
type placed struct {
	id paneID
	rect
}

// slots say which of the panes that share a place on the screen was used last.
type slots struct {
	home  paneID // problems or topology, where there is room for one of them
	main  paneID // the LFT or one of those of side, where there is room for one
	side  paneID // what-if, load, history, resilience or groups, beside the LFT
	aside paneID // any but problems and topology, beside one of those
	// problems is how many of them are listed.
	problems int
}

func (s *slots) take(id paneID) {
	switch id {
	case paneProblems, paneTopology:
		s.home = id
		return
	case paneLFT:
		s.main = id
	case paneWhatIf, paneLoad, paneHistory, paneResilience, paneGroups:
		s.main, s.side = id, id
	}
	s.aside = id
}

// form is the way in which the panes share the screen.
type form uint8

// The forms, for smaller and larger screens.
const (
	formSingle form = iota // one pane at a time, two when zoomed
	formPair               // two beside one another
	formFour               // problems over topology; one over the trace; log
	formWide               // those, the LFT, and the trace over one more, side by side; log
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
// that has no room is left out. lean widens what is at the left.
func arrange(f form, body rect, focus paneID, s slots, zoom bool, lean int) []placed {
	switch {
	case f == formSingle && zoom && body.h >= 10:
		top, bottom := splitRows(body, body.h/2)
		return []placed{{focus, top}, {companion(focus), bottom}}
	case f == formSingle || zoom:
		return []placed{{focus, body}}
	case f == formPair:
		left, right := splitColumns(body, body.w*(40+lean)/100)
		return []placed{{s.home, left}, {s.aside, right}}
	}
	logRows := max(min(body.h/5, 12), 6)
	if focus == paneLog {
		logRows = body.h / 2
	}
	upper, log := splitRows(body, body.h-logRows)
	home := func(left rect) []placed {
		n := max(min(s.problems+3, left.h/3), 4)
		if focus == paneProblems {
			n = max(n, min(s.problems+3, left.h*2/3))
		}
		top, rest := splitRows(left, n)
		return []placed{{paneProblems, top}, {paneTopology, rest}}
	}
	if f == formWide {
		left, rest := splitColumns(upper, upper.w*(32+lean)/100)
		middle, right := splitColumns(rest, rest.w*48/100)
		top, bottom := splitRows(right, right.h/2)
		return append(home(left), placed{paneLFT, middle}, placed{paneTrace, top}, placed{s.side, bottom}, placed{paneLog, log})
	}
	left, right := splitColumns(upper, upper.w*(42+lean)/100)
	main, trace := splitRows(right, right.h-max(right.h*9/20, 5))
	return append(home(left), placed{s.main, main}, placed{paneTrace, trace}, placed{paneLog, log})
}

// companion is the pane that is shown with another on a small screen.
func companion(id paneID) paneID {
	switch id {
	case paneTopology:
		return paneLFT
	case paneLog, paneLoad:
		return paneTrace
	case paneTrace:
		return paneWhatIf
	}
	return paneTopology
}

func splitRows(r rect, h int) (top, bottom rect) {
	return rect{r.x, r.y, r.w, h}, rect{r.x, r.y + h, r.w, r.h - h}
}

func splitColumns(r rect, w int) (left, right rect) {
	return rect{r.x, r.y, w, r.h}, rect{r.x + w, r.y, r.w - w, r.h}
}
