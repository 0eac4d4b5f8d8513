// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// details adds the rows about the selected block. For a switch these are its ports, for other blocks the bundles of
// cables. For a cell of a matrix, they are its cables.
func (s *subnetMap) details() {
	d := s.drawn
	b := &d.Blocks[s.at]
	heading := func(text string) { s.rows = append(s.rows, row{kind: rowHeading, text: text}) }
	if s.at != s.with {
		heading(fmt.Sprintf("cables between %s and %s", s.title(s.at), s.title(s.with)))
		s.ports(s.at, s.with)
		return
	}
	heading(s.title(s.at) + ": " + s.figures(b))
	for i := range d.Bundles {
		if w := &d.Bundles[i]; w.A == s.at || w.B == s.at {
			s.rows = append(s.rows, row{kind: rowBundle, bundle: w})
		}
	}
	if b.Switch() != fabric.None {
		heading("ports of " + b.Name)
		s.ports(s.at, drawing.Vacant)
	}
}

// ports adds the linked ports of the first block. It adds only ports that lead to the second block, unless that is
// [drawing.Vacant].
func (s *subnetMap) ports(of, to int32) {
	f := s.of.Fabric
	for _, sw := range s.drawn.Blocks[of].Switches {
		for p := range f.SwitchNode(sw).Ports() {
			peer := f.PeerSwitch(p)
			if f.Ports[p].Num == 0 || f.Ports[p].Peer == fabric.None || to != drawing.Vacant &&
				(peer == fabric.None || s.drawn.BlockOf(peer) != to) {
				continue
			}
			s.rows = append(s.rows, row{kind: rowPort, port: p})
		}
	}
}

// title returns the name of a block, together with the name of its row.
func (s *subnetMap) title(at int32) string {
	b := &s.drawn.Blocks[at]
	i := slices.IndexFunc(s.drawn.Rows, func(r drawing.Row) bool { return slices.Contains(r.Blocks, at) })
	switch {
	case i < 0 || s.drawn.Kind == drawing.Groups && b.Folded:
		return b.Name
	case b.Name == "":
		return s.drawn.Rows[i].Name
	}
	return b.Name + ", " + s.drawn.Rows[i].Name
}

// figures counts the nodes in a block.
func (s *subnetMap) figures(b *drawing.Block) string {
	if b.Folded {
		return draw.Count(len(b.Switches), "switch") + ", " + b.Words(draw.Count)
	}
	return b.Words(draw.Count)
}

// text returns a row as text for filters, copies and exports.
func (s *subnetMap) text(i int) string {
	r := &s.rows[i]
	switch r.kind {
	case rowHeading:
		return r.text
	case rowBundle:
		return s.bundleText(r.bundle)
	case rowPort:
		f := s.of.Fabric
		return fmt.Sprintf("port %s to %s", f.PortNumber(r.port), f.PortName(f.Ports[r.port].Peer))
	case rowMatrix:
		return s.title(r.group)
	}
	words := []string{s.drawn.Rows[r.of].Name}
	for _, at := range s.blocks(r) {
		if at != drawing.Vacant {
			words = append(words, s.label(at))
		}
	}
	return strings.Join(words, "  ")
}

// label returns a block in a few words.
func (s *subnetMap) label(at int32) string {
	b := &s.drawn.Blocks[at]
	if !b.Folded {
		return b.Name
	}
	return prose.When(b.Name == "", "", b.Name+" ") + draw.Count(len(b.Switches), "switch")
}

func (s *subnetMap) bundleText(w *drawing.Bundle) string {
	text := "within: "
	if w.A != w.B {
		text = "to " + s.title(other(w, s.at)) + ": "
	}
	text += w.Words(draw.Count)
	if w.Wraps {
		text += ", across the dateline"
	}
	if s.drawn.Most > 0 {
		text += fmt.Sprintf(", at most %s paths over one", draw.Thousands(int(w.Load)))
	}
	if w.OnPath {
		text += ", on the traced path"
	}
	return text
}

func (s *subnetMap) Title() string {
	if s.drawn == nil {
		return ""
	}
	return s.drawn.Title
}

func (s *subnetMap) StateBadge() *draw.Badge { return s.SceneBadge(s.Scene != nil) }

func (s *subnetMap) HasHead() bool {
	return s.drawn != nil && s.drawn.Kind == drawing.Groups && s.N > 0
}

func (s *subnetMap) Figure() string {
	if s.drawn == nil || len(s.drawn.Blocks) == 0 {
		return ""
	}
	text := draw.Count(len(s.drawn.Blocks), "block")
	if s.drawn.Most > 0 {
		text += fmt.Sprintf("; at most %s paths over a cable", draw.Thousands(int(s.drawn.Most)))
	}
	return text
}

func (s *subnetMap) Empty() string {
	switch {
	case s.Scene == nil || len(s.Scene.Top.Fabric.Nodes) == 0:
		return "no subnet has been read yet"
	case !s.Filt.Empty():
		return s.NoMatch("row")
	}
	return "there are no switches to draw"
}

// WhyNotSort returns the reason why the rows cannot be sorted: their order is that of the subnet.
func (s *subnetMap) WhyNotSort() string { return "the map cannot be sorted" }

var _ pane.Mover = (*subnetMap)(nil)
