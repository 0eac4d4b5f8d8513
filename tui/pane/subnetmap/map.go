// SPDX-License-Identifier: Apache-2.0

// Package subnetmap draws the subnet: each switch is a cell, coloured by load, errors, utilization or temperature.
// Below the cells is the front panel of the selected switch, with a cell for each port.
package subnetmap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// subnetMap is the picture with a cursor. The rows of its table are the switches in the order of the picture, followed
// by the ports of all switches.
type subnetMap struct {
	pane.List
	network
	src      Source
	marked   map[uint64]bool // kept while the colour changes
	cursor   uint64          // likewise
	reading  pane.AsyncResult[struct{}]
	around   around
	plan     *plan
	zoom     int // index of scales, or zoomFit
	window   draw.Window
	visible  bool
	late     bool // the scene has changed since the picture was made
	drawn    any  // the loads that are drawn
	path     any  // the path that is drawn
	recent   *recording.Recent
	followed pane.Place // the last place to follow
	behind   bool       // the cursor has not moved there yet
}

// Source is the interface through which the pane reads recorded counters.
type Source interface {
	// ReadRecent reads the counters recorded in the hour before a time, and stores them in the state of the session.
	ReadRecent(ctx context.Context, until time.Time) error
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Map", New: New}

// New makes the pane. The source may be nil.
func New(c *pane.Common, src Source) pane.Pane {
	s := &subnetMap{src: src, zoom: zoomFit, network: network{common: c}}
	s.List = pane.NewList(c, pane.About{Name: "Map", Fixed: true, Companion: "LFT", Picture: true},
		draw.Table{Kinds: measureNames(), ID: s.id, Match: s.match}, s.Renew)
	s.Cols = s.columns()
	return s
}

func (s *subnetMap) columns() []draw.Column {
	port := func(row int) fabric.PortIndex {
		if at := row - len(s.switches); at >= 0 {
			return s.ports[at]
		}
		return fabric.None
	}
	cols := []draw.Column{
		{Name: "switch", Help: "name of the switch", Least: 14, Text: func(row int) string {
			return s.of.Fabric.NodeName(s.node(row))
		}},
		{Name: "port", Help: "port number", Wide: 5, Text: func(row int) string {
			if p := port(row); p != fabric.None {
				return s.of.Fabric.PortNumber(p)
			}
			return ""
		}},
		{Name: "to", Help: "port at the other end of the link", Least: 14, Text: func(row int) string {
			if p := port(row); p != fabric.None {
				return s.peerText(p)
			}
			return ""
		}},
	}
	for kind := range measures {
		m := &measures[kind]
		cols = append(cols, draw.Column{Name: m.name, Help: m.help, Wide: 12, Right: true, Text: func(row int) string {
			if p := port(row); p != fabric.None {
				return s.textOf(m, s.portValue(m, p))
			}
			return s.textOf(m, s.valuesOf(kind)[s.switches[row]])
		}})
	}
	return cols
}

// node returns the switch of a row.
func (s *subnetMap) node(row int) fabric.NodeIndex {
	if at := row - len(s.switches); at >= 0 {
		return s.of.Fabric.Ports[s.ports[at]].Node
	}
	return s.of.Fabric.Switches[s.switches[row]]
}

func (s *subnetMap) id(row int) uint64 {
	port := fabric.PortIndex(fabric.None)
	if at := row - len(s.switches); at >= 0 {
		port = s.ports[at]
	}
	return pane.PlaceOf(s.of.Fabric, s.node(row), port).ID()
}

func (s *subnetMap) match(row int) bool { return s.Filt.Match(s.of.Search[s.node(row)]) }

func (s *subnetMap) Show(sc *pane.Scene, changed bool) {
	s.Scene = sc
	if changed {
		if s.late = !s.visible; !s.late {
			s.Renew()
		}
	}
}

// Seek updates the picture if the scene changed while the pane was hidden, and counts the paths over each link.
func (s *subnetMap) Seek(stage pane.Stage) tea.Cmd {
	if s.visible = stage.Visible; s.visible && s.late {
		s.Renew()
	}
	if !s.visible || s.Scene == nil {
		return nil
	}
	return tea.Batch(s.count(), s.readRecent())
}

// count counts the paths over each link.
func (s *subnetMap) count() tea.Cmd {
	t := s.Scene.Picture.Tables
	if t == nil || t.Fabric.MaxLID == 0 || s.Loads() != nil {
		return nil
	}
	return s.counting.Start(s.Common, t, func(ctx context.Context, progress func(int, int)) (*linkload.Loads, error) {
		return s.Memo.Load(ctx, t, linkload.Options{Progress: progress})
	})
}

// readRecent reads the recorded counters once a minute, if they colour the cells.
func (s *subnetMap) readRecent() tea.Cmd {
	if s.src == nil || s.Kind != byErrors && s.Kind != byUse || s.Scene.Recalled() != nil {
		return nil
	}
	type input struct {
		live   *fabric.Fabric
		minute int64
	}
	now := s.Scene.Clock()
	return s.reading.Start(s.Common, input{s.Scene.State.Live.Fabric, now.Unix() / 60},
		func(ctx context.Context, _ func(int, int)) (struct{}, error) {
			err := s.src.ReadRecent(ctx, now)
			return struct{}{}, err
		})
}

// Collect draws the map again if the loads or the traced path have changed.
func (s *subnetMap) Collect() {
	if s.unread = s.reading.Err; errors.Is(s.unread, recorded.ErrNone) {
		s.unread = nil
	}
	if s.Scene != nil && s.visible && (s.drawn != any(s.Loads()) || s.path != any(s.Traced()) ||
		s.recent != s.Scene.Recent()) {
		s.Renew()
	}
}

// Leaving remembers the cursor and the marks, which stay when another measure colours the cells.
func (s *subnetMap) Leaving() {
	if row, ok := s.Selected(); ok {
		s.cursor, s.marked = s.id(row), s.Marks
	}
}

func (s *subnetMap) Renew() {
	if s.Scene == nil {
		return
	}
	s.late = false
	s.KeepRow()
	s.show(s.Scene)
	s.drawn, s.path, s.recent, s.around = s.Loads(), s.Traced(), s.Scene.Recent(), around{}
	s.Build(len(s.switches) + len(s.ports))
	s.replan()
	if s.cursor != 0 {
		s.Marks = s.marked
		s.Find(s.cursor)
		s.cursor, s.marked = 0, nil
	}
	s.catchUp()
}

// selectedSwitch returns the switch of the cursor, or None.
func (s *subnetMap) selectedSwitch() fabric.SwitchIndex {
	if row, ok := s.Selected(); ok {
		return s.of.Fabric.Nodes[s.node(row)].Switch
	}
	return fabric.None
}

// selectedPort returns the port of the cursor, or None if the cursor is not in the front panel.
func (s *subnetMap) selectedPort() fabric.PortIndex {
	if row, ok := s.Selected(); ok && row >= len(s.switches) {
		return s.ports[row-len(s.switches)]
	}
	return fabric.None
}

// Pointed returns the switch of the cursor.
func (s *subnetMap) Pointed() pane.Place {
	if sw := s.selectedSwitch(); sw != fabric.None {
		return pane.PlaceOf(s.of.Fabric, s.of.Fabric.Switches[sw], fabric.None)
	}
	return pane.Place{}
}

// Follow moves the cursor to the switch that was selected in another pane, or to the switch of a selected host.
func (s *subnetMap) Follow(at pane.Place) {
	if at != s.followed {
		s.followed, s.behind = at, true
		s.catchUp()
	}
}

// catchUp moves the cursor to the place to follow, if the picture is up to date.
func (s *subnetMap) catchUp() {
	if !s.behind || s.of == nil || s.late {
		return
	}
	s.behind = false
	at, f := s.followed, s.of.Fabric
	node, _ := at.In(f)
	if at.None() || node == fabric.None {
		return
	}
	sw := f.Nodes[node].Switch
	for p := range f.Nodes[node].Ports() {
		if sw == fabric.None {
			sw = f.PeerSwitch(p)
		}
	}
	if sw != fabric.None && sw != s.selectedSwitch() {
		s.selectRow(int(s.rowOf[sw]))
	}
}

// selectRow moves the cursor to a row. It reports whether the filter shows the row.
func (s *subnetMap) selectRow(row int) bool {
	line := s.lineOf(row)
	if line >= 0 {
		s.To(line)
	}
	return line >= 0
}

// lineOf returns the line of a row in the table, or -1 if the filter hides the row. Rows are never sorted.
func (s *subnetMap) lineOf(row int) int {
	if line, ok := slices.BinarySearch(s.Order, int32(row)); ok && line < s.N {
		return line
	}
	return -1
}

// Subject returns the switch or port of the cursor. A folded zone is no subject.
func (s *subnetMap) Subject() pane.Subject {
	row, ok := s.Selected()
	if !ok || s.Scene == nil || s.isFolded() {
		return pane.Nothing
	}
	port := s.selectedPort()
	return s.Scene.SubjectAt(pane.PlaceOf(s.of.Fabric, s.node(row), port))
}

// Enter goes from a switch to its front panel, and from a port to its row in the topology. It unfolds a folded zone.
func (s *subnetMap) Enter() (func() tea.Msg, string) {
	sw := s.selectedSwitch()
	switch {
	case sw == fabric.None:
	case s.isFolded():
		return func() tea.Msg { return s.setZoom(0) }, ""
	case s.selectedPort() == fabric.None && s.of.Fabric.SwitchNode(sw).NumPorts > 0:
		return func() tea.Msg { s.selectRow(int(s.firstPort[sw])); return nil }, ""
	}
	return s.GoTo(s.Subject(), "nothing is drawn", "nothing to open here")
}

// Escape returns from the front panel to the switch, or to the size at which the picture fits.
func (s *subnetMap) Escape(bool) (func() tea.Msg, string) {
	switch {
	case s.selectedPort() != fabric.None:
		return func() tea.Msg { s.selectRow(int(s.rowOf[s.selectedSwitch()])); return nil }, "switch"
	case s.zoom != zoomFit:
		return func() tea.Msg { return s.setZoom(zoomFit) }, "fit"
	}
	return nil, ""
}

// Actions returns the keys that change the size of cells.
func (s *subnetMap) Actions() []pane.Action {
	why := func(by int) func() string {
		return func() string {
			if at := s.scaleAt() + by; s.N == 0 || at >= len(scales) || at < s.leastScale() {
				return prose.When(by > 0, "the cells have their full size", "the cells have their smallest size")
			}
			return ""
		}
	}
	by := func(n int) func() tea.Msg { return func() tea.Msg { return s.setZoom(s.scaleAt() + n) } }
	return []pane.Action{
		{Binding: pane.On("in the map, show larger cells, with names and figures", "|"), Name: "zoom-in",
			Group: "Lists", After: "by", Label: "larger", Rank: 9,
			Own: true, Why: why(1), Do: by(1)},
		{Binding: pane.On("in the map, show smaller cells, down to a cell for each pod", "_"), Name: "zoom-out",
			Group: "Lists", After: "zoom-in", Label: "smaller", Rank: 9, Own: true, Why: why(-1), Do: by(-1)},
	}
}

func (s *subnetMap) setZoom(scale int) tea.Msg {
	s.zoom = scale
	s.replan()
	return nil
}

func (s *subnetMap) Title() string {
	if s.structure == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s, %s", s.structure.Title(), prose.Count(s.of.Switches, "switch"),
		prose.Count(s.of.Hosts, "host"))
}

func (s *subnetMap) StateBadge() *draw.Badge { return s.SceneBadge(s.Scene != nil) }

func (s *subnetMap) HasHead() bool { return s.N > 0 }

// Figure names the port with the largest value.
func (s *subnetMap) Figure() string {
	if s.N == 0 || s.of == nil {
		return ""
	}
	m := &measures[s.Kind]
	worst := s.worst(s.Kind)
	if worst == fabric.None {
		return prose.Count(len(s.switches), "switch")
	}
	v := s.valuesOf(s.Kind)[worst]
	name := s.of.Fabric.NodeName(s.of.Fabric.Switches[worst])
	if v.port != fabric.None {
		name = s.of.Fabric.PortName(v.port)
	}
	return fmt.Sprintf("highest: %s, %s", name, s.textOf(m, v))
}

func (s *subnetMap) Empty() string {
	switch {
	case s.Scene == nil || len(s.Scene.Top.Fabric.Nodes) == 0:
		return "no subnet has been read yet"
	case !s.Filt.Empty():
		return s.NoMatch("switch")
	}
	return "there are no switches to draw"
}

// WhyNotSort returns the reason why the rows cannot be sorted: their order is that of the subnet.
func (s *subnetMap) WhyNotSort() string { return "the map cannot be sorted" }

var (
	_ pane.Pictured = (*subnetMap)(nil)
	_ pane.Follower = (*subnetMap)(nil)
)
