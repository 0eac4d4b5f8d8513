// SPDX-License-Identifier: Apache-2.0

package subnetmap

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

const (
	portPitch = 5  // columns of a port in the front panel
	wideFacts = 90 // width from which on the facts have long words
)

// panel is the front panel of a switch: per ports on each of rows lines.
type panel struct{ per, rows int }

// panelOf returns the front panel of the selected switch in a picture that is w cells wide.
func (s *subnetMap) panelOf(w int) panel {
	sw := s.selectedSwitch()
	if sw == fabric.None {
		return panel{}
	}
	n := int(s.of.Fabric.SwitchNode(sw).NumPorts)
	per := max(w/portPitch, 1)
	rows := max((n+per-1)/per, 1)
	return panel{per: (n + rows - 1) / rows, rows: rows}
}

// panelLines returns the number of lines below the map: a heading, the ports, and the facts. It is the same for all
// switches, so that the map stays in place while the cursor moves.
func (s *subnetMap) panelLines(w, h int) int {
	per := max(w/portPitch, 1)
	switch rows := (s.mostPorts + per - 1) / per; {
	case s.isFolded():
		return min(2, h/2)
	case rows == 0, h < 6:
		return 0
	default:
		return min(rows+2, h*2/3)
	}
}

func (b brush) paintPanel(line int) {
	s := b.s
	sw := s.selectedSwitch()
	if sw == fabric.None {
		return
	}
	x := s.panelOf(s.plan.w)
	facts := prose.When(s.isFolded(), 1, x.rows+1)
	switch {
	case line == 0:
		b.paintHeading(sw)
	case line < facts:
		b.paintPorts(sw, (line-1)*x.per, x.per)
	case line == facts:
		b.paintFacts(sw)
	default:
		b.paintLink(sw, line-facts-1)
	}
}

// paintHeading writes the name of the selected switch, or of the selected zone.
func (b brush) paintHeading(sw fabric.SwitchIndex) {
	s, p := b.s, b.p
	f := s.of.Fabric
	p.Put(p.Dim, p.Line+" ")
	if s.isFolded() {
		b := &s.folded.Blocks[s.folded.BlockOf(sw)]
		p.Put(p.Strong, prose.When(b.Name == "", "", b.Name+"  ")+prose.Count(len(b.Switches), "switch"))
		p.Put("", "  "+b.Words(prose.Count)+" ")
		p.Fill(p.Dim, p.Line, 0)
		return
	}
	n := f.SwitchNode(sw)
	var hosts, peers, lost int
	others := map[fabric.SwitchIndex]bool{}
	for port := range n.Ports() {
		switch {
		case s.isDown(port):
			lost++
		case !f.Ports[port].Linked():
		case f.PeerSwitch(port) == fabric.None:
			hosts++
		default:
			peers++
			others[f.PeerSwitch(port)] = true
		}
	}
	text := fmt.Sprintf("  LID %s  %s, %s", pane.LidText(s.Scene.LID(n.FirstPort)), prose.Count(hosts, "host port"),
		prose.Count(peers, "link")+" to "+
			prose.When(peers == len(others), "", prose.Thousands(len(others))+" ")+"switches")
	p.Keeping(min(draw.Width(text), p.Left/2), func() {
		p.Put(p.Strong, b.short(f.NodeName(f.Switches[sw]), p.Left))
	})
	p.Put("", text)
	if lost > 0 {
		p.Put(p.Bad, fmt.Sprintf(", %d down", lost))
	}
	p.Gap(1)
	p.Fill(p.Dim, p.Line, 0)
}

// short returns a name, shortened in the middle to at most w cells.
func (b brush) short(name string, w int) string {
	return draw.CutMiddle(draw.Clean(name, b.p.ASCII), w, b.p.Ellipsis)
}

// paintPorts writes some ports of a switch, from the port number from+1 on.
func (b brush) paintPorts(sw fabric.SwitchIndex, from, n int) {
	s, p := b.s, b.p
	f, selected := s.of.Fabric, s.selectedPort()
	node := f.SwitchNode(sw)
	m := &measures[s.Kind]
	for num := from + 1; num <= min(from+n, int(node.NumPorts)) && p.Left >= portPitch; num++ {
		port := node.FirstPort + fabric.PortIndex(num)
		here := port == selected
		sign, st := prose.When(here, "[", " "), p.Strong
		if !here && s.Marked(int(s.firstPort[sw])+num-1) {
			sign, st = p.Mark, p.Warn
		}
		p.Put(st, sign)
		onPath := s.isOnPathPort(port)
		number := draw.Style("")
		switch {
		case here:
			number = p.Strong
		case onPath:
			number = p.Key
		case f.PeerSwitch(port) == fabric.None: // of a host
			number = p.Dim
		}
		p.Right(number, fmt.Sprint(num), portPitch-3)
		glyph, st := p.Shades[0], p.Dim
		switch v := s.portValue(m, port); {
		case s.isDown(port):
			glyph, st = p.Failed, p.Bad
		case v.none:
		case v.known:
			glyph, st = p.Shades[m.scale.Shade(v.v)], m.scale.Style(p.Theme, v.v)
		default:
			glyph = "?"
		}
		p.Put(prose.When(here, p.Theme.Cursor, prose.When(onPath, p.Key, st)), glyph)
		p.Put(p.Strong, prose.When(here, "]", " "))
	}
}

// paintFacts writes a line about the selected port, or about the selected switch.
func (b brush) paintFacts(sw fabric.SwitchIndex) {
	s, p := b.s, b.p
	if port := s.selectedPort(); port != fabric.None {
		b.paintPortFacts(port)
		return
	}
	p.Gap(2)
	var known, idle, unread, reasons []string
	for kind := range measures {
		m := &measures[kind]
		v := s.valuesOf(kind)[sw]
		if s.isFolded() {
			if kind != s.Kind {
				continue
			}
			v = s.itemValue(s.itemOf(sw))
		}
		switch {
		case v.none:
			idle = append(idle, m.name)
		case v.known:
			known = append(known, m.name+" "+s.textOf(m, v))
		default:
			why, isUnread := strings.CutPrefix(m.none(&s.network), notRead)
			if !isUnread && why != "" {
				known = append(known, m.name+" "+why)
				continue
			}
			unread = append(unread, m.name)
			reasons = append(reasons, prose.When(why == "", m.name, m.name+" ("+why+")"))
		}
	}
	p.Put("", strings.Join(known, "   "))
	gap := draw.Btoi(known != nil) * 3
	if len(idle) > 0 && !s.hasLinks(sw) {
		p.Gap(gap)
		p.Put("", strings.Join(idle, ", ")+": no link is up")
		gap = 3
	}
	if unread == nil {
		return
	}
	text := notRead + strings.Join(reasons, ", ")
	if draw.Width(text)+gap > p.Left {
		text = notRead + strings.Join(unread, ", ")
	}
	p.Gap(gap)
	p.Put(p.Dim, text)
}

// hasLinks reports whether a link of a switch is up.
func (s *network) hasLinks(sw fabric.SwitchIndex) bool {
	for p := range s.of.Fabric.SwitchNode(sw).Ports() {
		if s.of.Fabric.Ports[p].Linked() && !s.isDown(p) {
			return true
		}
	}
	return false
}

// itemOf returns the cell of a switch.
func (s *subnetMap) itemOf(sw fabric.SwitchIndex) *item {
	row := s.rowOf[sw]
	return &s.plan.lines[s.plan.lineOf[row]].items[s.plan.at[row]]
}

// paintPortFacts writes a port, the port at the other end of its link, and the values of the port.
func (b brush) paintPortFacts(port fabric.PortIndex) {
	s, p := b.s, b.p
	f := s.of.Fabric
	link, _ := pane.LinkText(&f.Ports[port])
	down := s.isDown(port)
	var facts []string
	if f.Ports[port].Linked() && !down {
		if l := s.Loads(); l != nil && len(l.Paths) == len(f.Ports) {
			facts = append(facts, fmt.Sprintf("%5s paths out, %5s in", pane.PathsText(l, port),
				pane.PathsText(l, f.Ports[port].Peer)))
		}
		for kind := range measures {
			m := &measures[kind]
			if v := s.portValue(m, port); v.known || kind == s.Kind && m.none(&s.network) == "" {
				text := s.textOf(m, v)
				if kind == byLoad && s.plan.w < wideFacts {
					text = strings.TrimSuffix(text, " of limit")
				}
				facts = append(facts, prose.When(kind == byLoad, "", m.name+" ")+text)
			}
		}
	}
	p.Right("", f.PortNumber(port), 4)
	p.Put(p.Dim, " "+p.Arrow+" ")
	wide := max(min(30, p.Left/2-10), 8)
	p.Cell(prose.When(down, p.Bad, ""), b.short(s.peerText(port), wide), wide)
	p.Gap(1)
	p.Cell(p.Dim, prose.When(f.Ports[port].Linked(), link, ""), 7)
	if down {
		p.Put(p.Bad, "down")
		return
	}
	p.Put("", strings.Join(facts, "  "))
}

// bundle is a number of parallel cables between the selected switch and another one.
type bundle struct {
	to    fabric.SwitchIndex
	ports []fabric.PortIndex // of the selected switch
}

// bundles returns the bundles of a switch in the order of their first ports, or nil if it has only single cables.
func (s *network) bundles(sw fabric.SwitchIndex) []bundle {
	var all []bundle
	at, several := map[fabric.SwitchIndex]int{}, false
	f := s.of.Fabric
	for p := range f.SwitchNode(sw).Ports() {
		peer := f.PeerSwitch(p)
		if peer == fabric.None {
			continue
		}
		i, known := at[peer]
		if !known {
			i, at[peer] = len(all), len(all)
			all = append(all, bundle{to: peer})
		}
		all[i].ports = append(all[i].ports, p)
		several = several || known
	}
	return prose.When(several, all, nil)
}

// paintBundle writes the switch at the other end of a bundle, and the load of the busiest cable.
func (b brush) paintBundle(x *bundle) {
	s, p := b.s, b.p
	f := s.of.Fabric
	var numbers []int
	down := 0
	busiest, known := 0.0, false
	for _, port := range x.ports {
		numbers = append(numbers, int(f.Ports[port].Num))
		if s.isDown(port) {
			down++
		} else if v, read := s.loadOf(port); read {
			busiest, known = max(busiest, v), true
		}
	}
	p.Right("", fmt.Sprintf("x%d", len(x.ports)), 4)
	p.Put(p.Dim, " "+p.Arrow+" ")
	wide := max(min(30, p.Left/2-8), 8)
	p.Cell(prose.When(down > 0, p.Bad, ""), b.short(f.NodeName(f.Switches[x.to]), wide), wide)
	p.Gap(1)
	if down > 0 {
		p.Put(p.Bad, fmt.Sprintf("%d down  ", down))
	}
	if known {
		p.Put("", measures[byLoad].text(busiest)+"  ")
	}
	p.Put(p.Dim, prose.When(len(numbers) == 1, "port ", "ports ")+prose.Ranges(numbers))
}

// paintLink writes a link of the switch, in a line below the facts. If not all links fit, the lines begin with the link
// of the selected port. If no port is selected and the switch has parallel cables, a line is a bundle of them.
func (b brush) paintLink(sw fabric.SwitchIndex, line int) {
	s := b.s
	if s.selectedPort() == fabric.None {
		if all := s.bundles(sw); all != nil {
			if line < len(all) {
				b.paintBundle(&all[line])
			}
			return
		}
	}
	f, n := s.of.Fabric, s.of.Fabric.SwitchNode(sw)
	first := n.FirstPort + 1
	if at := s.selectedPort(); at != fabric.None {
		first = at + 1
	}
	for port := first; port <= n.FirstPort+fabric.PortIndex(n.NumPorts); port++ {
		if !f.Ports[port].Linked() && !s.lost[port] {
			continue
		}
		if line--; line < 0 {
			b.paintPortFacts(port)
			return
		}
	}
}
