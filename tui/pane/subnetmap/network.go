// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/pane"
)

// network is the subnet that is drawn, with the values of its switches. It does not depend on the size of the picture.
type network struct {
	common    *pane.Common
	sc        *pane.Scene
	of        *pane.Index
	structure *classify.Structure // of bands
	bands     []drawing.Band
	switches  []fabric.SwitchIndex // by row
	rowOf     []int32              // by switch
	ports     []fabric.PortIndex   // by row, after the switches
	firstPort []int32              // the row of port 1, by switch
	mostPorts int                  // of a switch
	folded    *drawing.Drawing     // a block for each zone
	lost      map[fabric.PortIndex]bool
	hops      map[fabric.NodeIndex]int // the position on the traced path
	counting  pane.AsyncResult[*linkload.Loads]
	values    values
	downs     []downs // by switch, nil if not counted yet
	unread    error   // why recorded counters could not be read, nil if they were read or there are none
}

// show takes a scene.
func (s *network) show(sc *pane.Scene) {
	s.sc = sc
	if s.of != sc.Top || s.structure != sc.Top.Structure {
		s.of, s.structure = sc.Top, sc.Top.Structure
		s.lay()
	}
	s.values, s.downs = values{}, nil
	s.folded = drawing.Of(s.structure, drawing.Options{Failed: sc.FailedLinks()})
	s.findLost()
	s.findPath()
}

func (s *network) loads() *linkload.Loads { return s.common.Loads(s.sc) }

// lay puts the switches and ports in the order of the picture.
func (s *network) lay() {
	f := s.of.Fabric
	s.bands = drawing.Bands(s.structure)
	s.switches, s.ports = s.switches[:0], s.ports[:0]
	s.rowOf, s.firstPort = make([]int32, len(f.Switches)), make([]int32, len(f.Switches))
	for b := range s.bands {
		for z := range s.bands[b].Zones {
			for _, row := range s.bands[b].Zones[z].Rows {
				for _, sw := range row.Switches {
					if sw != fabric.None {
						s.rowOf[sw] = int32(len(s.switches))
						s.switches = append(s.switches, sw)
					}
				}
			}
		}
	}
	s.mostPorts = 0
	for _, sw := range s.switches {
		s.mostPorts = max(s.mostPorts, int(f.SwitchNode(sw).NumPorts))
		s.firstPort[sw] = int32(len(s.switches) + len(s.ports))
		for p := range f.SwitchNode(sw).Ports() {
			s.ports = append(s.ports, p)
		}
	}
}

// findLost finds the ports whose link the live subnet has lost.
func (s *network) findLost() {
	f, st := s.of.Fabric, &s.sc.State
	s.lost = map[fabric.PortIndex]bool{}
	for i := range st.Losses {
		x := &st.Losses[i]
		if !x.Link() || x.Unseen {
			continue
		}
		for _, end := range []fabric.End{x.At, x.Peer} {
			if n := f.NodeByGUID(end.GUID); n != fabric.None {
				if p := f.PortAt(n, end.Port); p != fabric.None && !f.Ports[p].Linked() {
					s.lost[p] = true
				}
			}
		}
	}
}

// findPath numbers the nodes of the traced path.
func (s *network) findPath() {
	s.hops = map[fabric.NodeIndex]int{}
	path := s.common.Trace(s.sc)
	if path == nil {
		return
	}
	f := s.sc.Picture.Fabric
	for i := range path.Hops {
		if n, _ := pane.PlaceOf(f, path.Hops[i].Node, fabric.None).In(s.of.Fabric); n != fabric.None {
			s.hops[n] = i
		}
	}
}

// below returns the switch that is one place lower in the second dimension of a grid, or over the dateline.
func (s *network) below(sw fabric.SwitchIndex) fabric.SwitchIndex {
	if sw == fabric.None || s.structure.Grid.At[sw] == nil || len(s.structure.Grid.Dims) < 2 {
		return fabric.None
	}
	g := s.structure.Grid
	want := slices.Clone(g.At[sw])
	want[1] = (want[1] + int32(g.Dims[1]) - 1) % int32(g.Dims[1])
	f := s.of.Fabric
	for p := range f.SwitchNode(sw).Ports() {
		if peer := f.PeerSwitch(p); peer != fabric.None && slices.Equal(g.At[peer], want) {
			return peer
		}
	}
	return fabric.None
}

// isOnPathPort reports whether the traced path uses the link of a port.
func (s *network) isOnPathPort(port fabric.PortIndex) bool {
	path, f := s.common.Trace(s.sc), s.of.Fabric
	if path == nil || len(s.sc.Picture.Fabric.Ports) != len(f.Ports) {
		return false
	}
	for i := range path.Hops {
		if h := &path.Hops[i]; h.In == port || h.Out == port {
			return true
		}
	}
	return false
}

// folds reports whether folding makes fewer cells.
func (s *network) folds() bool {
	return slices.ContainsFunc(s.bands, func(b drawing.Band) bool { return len(b.Zones) > 1 }) &&
		s.folded.Kind != drawing.Grid
}

// wraps reports whether a row of a zone needs several lines.
func (s *network) wraps(pitch, w int) bool {
	for b := range s.bands {
		for z := range s.bands[b].Zones {
			for _, r := range s.bands[b].Zones[z].Rows {
				if len(r.Switches)*pitch > w {
					return true
				}
			}
		}
	}
	return false
}

// matrixLines returns the number of lines of the matrix of groups, or 0 if it is too wide or there are no groups.
func (s *network) matrixLines(w int) int {
	if s.folded.Kind != drawing.Groups {
		return 0
	}
	n := len(s.folded.Rows[0].Blocks)
	return prose.When(w < rowNames+matrixPitch*n, 0, n+2)
}
