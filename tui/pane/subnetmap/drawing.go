// SPDX-License-Identifier: Apache-2.0

// Package subnetmap draws the subnet: tiers as rows of blocks, a torus as planes of a grid, and a dragonfly as a matrix
// of groups. Below the drawing, it lists the links of the selected block, down to single ports.
package subnetmap

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// subnetMap is the drawing with a cursor. Its rows are the rows of the drawing, followed by the details of the block
// that was selected last.
type subnetMap struct {
	pane.List
	drawn    *drawing.Drawing
	of       *pane.Index
	unfolded map[drawing.Key]bool
	rows     []row
	column   int   // of the cursor, in rows of blocks
	at       int32 // the block whose details are shown
	with     int32 // of a matrix the other group of the cell, else the same block
	visible  bool
	late     bool // the scene has changed since it was drawn
	loads    any  // the loads that are drawn
	path     any
}

// row is a row of the drawing, the heading of a plane, or a line of the details.
type row struct {
	kind   rowKind
	of     int              // the row of the drawing
	text   string           // of a heading
	bundle *drawing.Bundle  // of the details
	port   fabric.PortIndex // of the details
	group  int32            // of a matrix: the block of the row
}

type rowKind uint8

const (
	rowBlocks rowKind = iota
	rowMatrix
	rowHeading
	rowBundle
	rowPort
)

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[any]{Name: "Map", New: func(c *pane.Common, _ any) pane.Pane { return New(c) }}

// New makes the pane.
func New(c *pane.Common) pane.Pane {
	s := &subnetMap{unfolded: map[drawing.Key]bool{}}
	s.List = pane.NewList(c, pane.About{Name: "Map", Companion: "LFT", Enter: "unfold"},
		draw.Table{ID: func(r int) uint64 { return uint64(r) }}, s.Renew)
	s.Cols = []draw.Column{{Least: 20, Text: s.text}}
	return s
}

func (s *subnetMap) Show(sc *pane.Scene, changed bool) {
	s.Scene = sc
	if changed {
		if s.of == nil || s.of.Fabric != sc.Top.Fabric {
			s.at, s.with, s.column = 0, 0, 0
		}
		if s.late = !s.visible; !s.late {
			s.Renew()
		}
	}
}

// Seek updates the drawing if it changed while the pane was hidden.
func (s *subnetMap) Seek(stage pane.Stage) tea.Cmd {
	if s.visible = stage.Visible; s.visible && s.late {
		s.Renew()
	}
	return nil
}

// Collect draws the map again if the loads or the traced path have changed.
func (s *subnetMap) Collect() {
	if s.Scene != nil && s.visible && (s.loads != any(s.Loads()) ||
		s.path != any(s.Traced())) {
		s.Renew()
	}
}

func (s *subnetMap) Renew() {
	if s.Scene == nil {
		return
	}
	s.late = false
	s.KeepRow()
	s.of, s.loads, s.path = s.Scene.Top, s.Loads(), s.Traced()
	opt := drawing.Options{Unfolded: s.unfolded, Failed: s.Scene.FailedLinks()}
	if l := s.Loads(); l != nil && len(l.Fabric.Ports) == len(s.of.Fabric.Ports) {
		opt.Loads = l.Paths
	}
	opt.Through = s.Path()
	s.drawn = drawing.Of(s.of.Structure, opt)
	if int(s.at) >= len(s.drawn.Blocks) || int(s.with) >= len(s.drawn.Blocks) {
		s.at, s.with = 0, 0
	}
	s.lines()
	s.Build(len(s.rows))
}

// lines makes the rows.
func (s *subnetMap) lines() {
	d := s.drawn
	s.rows = s.rows[:0]
	switch {
	case len(d.Blocks) == 0:
		return
	case d.Kind == drawing.Groups:
		for _, at := range d.Rows[0].Blocks {
			s.rows = append(s.rows, row{kind: rowMatrix, group: at})
		}
	default:
		plane := 0
		for i := range d.Rows {
			if d.Planes > 1 && (i == 0 || d.Rows[i].Plane != plane) {
				plane = d.Rows[i].Plane
				s.rows = append(s.rows, row{kind: rowHeading, text: drawing.PlaneName(s.of.Structure.Grid.Dims, plane)})
			}
			s.rows = append(s.rows, row{kind: rowBlocks, of: i})
		}
	}
	s.details()
}

// blocks returns the blocks of a row of the drawing.
func (s *subnetMap) blocks(r *row) []int32 {
	switch r.kind {
	case rowBlocks:
		return s.drawn.Rows[r.of].Blocks
	case rowMatrix:
		return s.drawn.Rows[0].Blocks
	}
	return nil
}

// current returns the selected row, or nil if there is none.
func (s *subnetMap) current() *row {
	if i, ok := s.Selected(); ok && i < len(s.rows) {
		return &s.rows[i]
	}
	return nil
}

// cursor returns the block under the cursor, or [drawing.Vacant] if there is none.
func (s *subnetMap) cursor() int32 {
	r := s.current()
	if r == nil {
		return drawing.Vacant
	}
	if b := s.blocks(r); len(b) > 0 {
		return b[min(s.column, len(b)-1)]
	}
	return drawing.Vacant
}

// Sideways moves within a row.
func (s *subnetMap) Sideways(by int) {
	r := s.current()
	if r == nil {
		return
	}
	if n := len(s.blocks(r)); n > 0 {
		s.column = max(0, min(min(s.column, n-1)+sign(by), n-1))
		s.Pointed()
	}
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// Pointed returns the switch under the cursor, and shows the details of this switch.
func (s *subnetMap) Pointed() pane.Place {
	at := s.cursor()
	if at == drawing.Vacant {
		return pane.Place{}
	}
	with := at
	if r := s.current(); r.kind == rowMatrix {
		at = r.group
	}
	if at != s.at || with != s.with {
		s.at, s.with = at, with
		s.lines()
		s.Build(len(s.rows))
	}
	if sw := s.drawn.Blocks[at].Switch(); sw != fabric.None {
		return pane.PlaceOf(s.of.Fabric, s.of.Fabric.Switches[sw], fabric.None)
	}
	return pane.Place{}
}

// Subject returns the switch under the cursor. On a line of the details, it returns the port.
func (s *subnetMap) Subject() pane.Subject {
	r := s.current()
	switch {
	case r == nil || s.Scene == nil:
		return pane.Nothing
	case r.kind == rowPort:
		return s.Scene.SubjectAt(pane.PlaceOf(s.of.Fabric, s.of.Fabric.Ports[r.port].Node, r.port))
	case s.cursor() == drawing.Vacant:
		return pane.Nothing
	}
	if sw := s.drawn.Blocks[s.cursor()].Switch(); sw != fabric.None {
		return s.Scene.SubjectAt(pane.PlaceOf(s.of.Fabric, s.of.Fabric.Switches[sw], fabric.None))
	}
	return pane.Nothing
}

// Enter opens a block, a switch or a port. On a bundle, it goes to the block at the other end.
func (s *subnetMap) Enter() (func() tea.Msg, string) {
	r := s.current()
	if r == nil {
		return nil, "nothing is drawn"
	}
	if r.kind == rowBundle {
		return func() tea.Msg { s.goTo(other(r.bundle, s.at)); return nil }, ""
	}
	if at := s.cursor(); at != drawing.Vacant && s.drawn.Blocks[at].Folded {
		return func() tea.Msg { s.fold(s.drawn.Blocks[at].Key, true); return nil }, ""
	}
	return s.GoTo(s.Subject(), "nothing is drawn", "nothing to open here")
}

// Escape closes the block under the cursor.
func (s *subnetMap) Escape(bool) (func() tea.Msg, string) {
	at := s.at
	if s.drawn == nil || int(at) >= len(s.drawn.Blocks) {
		return nil, ""
	}
	if b := &s.drawn.Blocks[at]; !b.Folded && !b.Lone && s.unfolded[b.Key] {
		return func() tea.Msg { s.fold(b.Key, false); return nil }, "fold"
	}
	return nil, ""
}

// fold opens or closes a block. The cursor stays on this block.
func (s *subnetMap) fold(k drawing.Key, open bool) {
	if open {
		s.unfolded[k] = true
	} else {
		delete(s.unfolded, k)
	}
	s.Renew()
	for i := range s.drawn.Blocks {
		if s.drawn.Blocks[i].Key == k {
			s.goTo(int32(i))
			return
		}
	}
}

// goTo puts the cursor on a block.
func (s *subnetMap) goTo(block int32) {
	for i := range s.rows {
		if s.rows[i].kind == rowMatrix && s.rows[i].group != block {
			continue
		}
		for column, at := range s.blocks(&s.rows[i]) {
			if at == block {
				s.column = column
				s.To(i)
				s.Pointed()
				return
			}
		}
	}
}

// The function other returns the block at the other end of a bundle.
func other(w *drawing.Bundle, at int32) int32 {
	if w.A == at {
		return w.B
	}
	return w.A
}
