// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"example.org/ibconsole/tui/draw"
)

// placed is a pane and where it stands.
type placed struct {
	id paneID
	draw.Rect
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
func arrange(f form, body draw.Rect, focus paneID, s slots, zoom bool, lean int) []placed {
	switch {
	case f == formSingle && zoom && body.H >= 10:
		top, bottom := draw.SplitRows(body, body.H/2)
		return []placed{{focus, top}, {companion(focus), bottom}}
	case f == formSingle || zoom:
		return []placed{{focus, body}}
	case f == formPair:
		left, right := draw.SplitColumns(body, body.W*(40+lean)/100)
		return []placed{{s.home, left}, {s.aside, right}}
	}
	logRows := max(min(body.H/5, 12), 6)
	if focus == paneLog {
		logRows = body.H / 2
	}
	upper, log := draw.SplitRows(body, body.H-logRows)
	home := func(left draw.Rect) []placed {
		n := max(min(s.problems+3, left.H/3), 4)
		if focus == paneProblems {
			n = max(n, min(s.problems+3, left.H*2/3))
		}
		top, rest := draw.SplitRows(left, n)
		return []placed{{paneProblems, top}, {paneTopology, rest}}
	}
	if f == formWide {
		left, rest := draw.SplitColumns(upper, upper.W*(32+lean)/100)
		middle, right := draw.SplitColumns(rest, rest.W*48/100)
		top, bottom := draw.SplitRows(right, right.H/2)
		return append(home(left), placed{paneLFT, middle}, placed{paneTrace, top}, placed{s.side, bottom}, placed{paneLog, log})
	}
	left, right := draw.SplitColumns(upper, upper.W*(42+lean)/100)
	main, trace := draw.SplitRows(right, right.H-max(right.H*9/20, 5))
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
