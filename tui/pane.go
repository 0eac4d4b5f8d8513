// SPDX-License-Identifier: Apache-2.0

package tui

// paneID numbers the panes as their keys do.
type paneID int

// The panes.
const (
	paneTopology paneID = iota + 1
	paneLFT
	paneTrace
	paneLog
	paneCount = int(paneLog)
)

var paneNames = [...]string{paneTopology: "Topology", paneLFT: "LFT", paneTrace: "Trace", paneLog: "Log"}

// pane is a list in a frame. It keeps what it shows between scenes and draws
// only what is seen.
type pane interface {
	// win is the window over the rows.
	win() *window
	// title is what stands behind the pane's name.
	title() string
	// picture says which picture is shown, nil where that does not matter.
	picture() *badge
	// figure stands at the bottom right: a count.
	figure() string
	// draw writes a row.
	draw(p *pen, row int)
	// empty says why there are no rows.
	empty() string
	// subject is what the selected row is about.
	subject() subject
	// filter is the text that rows must hold, setFilter replaces it.
	filter() string
	setFilter(string)
}

// badge is a word that names a picture.
type badge struct {
	st style
	// line is for the frame of a pane that shows the picture, "" for the usual.
	line style
	word string
}
