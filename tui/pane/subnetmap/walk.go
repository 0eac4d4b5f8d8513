// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Walk moves the cursor by cells. Downwards it goes from the last line of the map to the front panel. If dy is at least
// the number of rows, the cursor goes to the first or last switch.
func (s *subnetMap) Walk(dx, dy int) {
	if s.plan == nil || s.N == 0 {
		return
	}
	switch {
	case dy <= -s.N:
		s.selectItemAt(0, 1)
		return
	case dy >= s.N:
		s.selectItemAt(len(s.switches)-1, -1)
		return
	}
	step := func(d int) int { return prose.When(d < 0, -1, 1) }
	for range min(max(dx, -dx), len(s.switches)) {
		s.stepAside(step(dx))
	}
	for range min(max(dy, -dy), len(s.plan.lines)) {
		if !s.stepDown(step(dy)) {
			return
		}
	}
}

// selectItemAt selects the first switch that the filter shows, from a row on in one direction.
func (s *subnetMap) selectItemAt(row, by int) {
	for row >= 0 && row < len(s.switches) && !s.selectRow(row) {
		row += by
	}
}

// stepAside goes to the next cell of the line that the filter shows, or to the first or last cell of another line.
func (s *subnetMap) stepAside(by int) {
	sw, port := s.selectedSwitch(), s.selectedPort()
	if port != fabric.None {
		n := s.of.Fabric.SwitchNode(sw)
		if to := int(port-n.FirstPort) + by; to >= 1 && to <= int(n.NumPorts) {
			s.selectRow(int(s.firstPort[sw]) + to - 1)
		}
		return
	}
	row := s.rowOf[sw]
	line, at := int(s.plan.lineOf[row]), int(s.plan.at[row])+by
	for line >= 0 && line < len(s.plan.lines) {
		l := &s.plan.lines[line]
		if l.kind == lineCells {
			for ; at >= 0 && at < len(l.items); at += by {
				if s.selectItem(&l.items[at]) {
					return
				}
			}
		}
		line += by
		if line >= 0 && line < len(s.plan.lines) {
			at = prose.When(by > 0, 0, len(s.plan.lines[line].items)-1)
		}
	}
}

// stepDown goes to the nearest cell of the next line. It reports whether the cursor has moved.
func (s *subnetMap) stepDown(by int) bool {
	sw, port := s.selectedSwitch(), s.selectedPort()
	if port != fabric.None {
		return s.stepInPanel(sw, port, by)
	}
	row := s.rowOf[sw]
	from := s.itemOf(sw)
	for line := int(s.plan.lineOf[row]) + by; line >= 0 && line < len(s.plan.lines); line += by {
		if l := &s.plan.lines[line]; l.kind == lineCells && s.selectNear(l, int(from.x)) {
			return true
		}
	}
	if by > 0 && !s.isFolded() && s.panelLines(s.plan.w, s.window.Height) > 0 {
		x := s.panelOf(s.plan.w)
		num := max(1, min((int(from.x)+s.plan.names)/portPitch+1, x.per))
		return s.selectRow(int(s.firstPort[sw]) + num - 1)
	}
	return false
}

// stepInPanel goes to the port above or below. From the first line, it returns to the switch.
func (s *subnetMap) stepInPanel(sw fabric.SwitchIndex, port fabric.PortIndex, by int) bool {
	n := s.of.Fabric.SwitchNode(sw)
	x := s.panelOf(s.plan.w)
	num := int(port-n.FirstPort) + by*x.per
	switch {
	case num < 1:
		return s.selectRow(int(s.rowOf[sw]))
	case num > int(n.NumPorts):
		return false
	}
	return s.selectRow(int(s.firstPort[sw]) + num - 1)
}

// selectNear selects the cell of a line that is nearest to a column.
func (s *subnetMap) selectNear(l *planLine, x int) bool {
	best, off := -1, 0
	for i := range l.items {
		it := &l.items[i]
		d := max(int(it.x)-x, x-int(it.x))
		if it.sw != fabric.None && s.shows(it.sw) && (best < 0 || d < off) {
			best, off = i, d
		}
	}
	return best >= 0 && s.selectItem(&l.items[best])
}

// selectItem selects a cell, unless the filter hides it.
func (s *subnetMap) selectItem(it *item) bool {
	return it.sw != fabric.None && s.selectRow(int(s.rowOf[it.sw]))
}

// PickAt selects the switch or port at a cell of the picture.
func (s *subnetMap) PickAt(x, line int) (found, same bool) {
	if s.plan == nil {
		return false, false
	}
	was, _ := s.Selected()
	room := max(s.window.Height-s.panelLines(s.plan.w, s.window.Height), 1)
	shown := min(room, len(s.plan.lines)-s.window.Top)
	switch {
	case line < shown:
		l := &s.plan.lines[line+s.window.Top]
		for i := range l.items {
			from := s.plan.names + int(l.items[i].x)
			if (l.kind == lineCells || l.kind == lineNames) && x >= from && x < from+s.plan.pitch {
				found = s.selectItem(&l.items[i])
			}
		}
	default:
		sw := s.selectedSwitch()
		if sw == fabric.None || s.isFolded() {
			return false, false
		}
		pn := s.panelOf(s.plan.w)
		num := (line-shown-1)*pn.per + x/portPitch + 1
		if line-shown >= 1 && line-shown <= pn.rows && x/portPitch < pn.per &&
			num <= int(s.of.Fabric.SwitchNode(sw).NumPorts) {
			found = s.selectRow(int(s.firstPort[sw]) + num - 1)
		}
	}
	is, _ := s.Selected()
	return found, found && is == was
}
