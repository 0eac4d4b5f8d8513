// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// maxSubnetPorts bounds the memory that a file can ask for by the port counts of its nodes.
const maxSubnetPorts = 4 << 20

// ReadSubnet reads opensm-subnet.lst and files in the same form from ibdiagnet. Nodes keep the order in which the
// file first names them. The SM's port is the first one marked "-SM", else the Builder's default. What the format
// has no words for is 0: LMC, capabilities, ports without a link; the speed "??" is unknown. Each link must stand
// there from both its ends; name stands for the file.
//
// What cannot be read is left out and added to found: a line that is none, what contradicts an earlier line, a LID
// or GUID twice, which the first keeps. A link that one end names is taken. Where found is nil the first such thing
// is the error. A file without a link is one always. O(file size).
func ReadSubnet(r io.Reader, name string, found *unread.List) (*fabric.Fabric, error) {
	p := subnetParser{
		lines: newLineReader(r, name), found: found, near: map[subnetPort]int{}, sm: subnetPort{node: fabric.None},
	}
	for {
		text, err := p.lines.next()
		switch {
		case err == io.EOF:
			return p.finish()
		case err != nil && (found == nil || p.lines.broken):
			return nil, err
		case err != nil:
			err = p.refuse(errors.Unwrap(err))
		default:
			err = p.refuse(p.line(text))
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *subnetParser) line(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil
	}
	return p.link(text)
}

// refuse lists what is wrong with the latest line; where that ends the reading it is
// given back with the line.
func (p *subnetParser) refuse(err error) error {
	if err == nil {
		return nil
	}
	f, told := errors.AsType[unread.Finding](err)
	if !told {
		f = unread.At(p.lines.name, p.lines.line, "%w", err)
	}
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// subnetPort is a port of the Builder's.
type subnetPort struct {
	node fabric.NodeIndex
	num  uint8
}

type subnetParser struct {
	lines *lineReader
	found *unread.List
	b     fabric.Builder
	// nodes holds the line that first names each node.
	nodes []int
	// near holds the line that has a port as its near end.
	near  map[subnetPort]int
	links []subnetLink
	ports int

	sm    subnetPort
	smLID uint16
}

// subnetLink is a line's link, seen from its near end.
type subnetLink struct{ near, far subnetPort }

func (p *subnetParser) link(text []byte) error {
	var ends [2]subnetEnd
	rest := text
	for i := range ends {
		var err error
		if rest, err = ends[i].parse(rest, i == 1); err == nil {
			err = p.refuse(ends[i].checkLID())
		}
		if err != nil {
			return err
		}
	}
	rate, err := parseSubnetRate(rest)
	if err != nil {
		return err
	}
	var l [2]subnetPort
	for i := range ends {
		if l[i], err = p.port(&ends[i]); err != nil {
			return err
		}
	}
	return p.join(l[0], l[1], rate)
}

func (p *subnetParser) join(near, far subnetPort, rate subnetRate) error {
	if line, ok := p.near[near]; ok {
		return fmt.Errorf("port %d of %s is already the near end in line %d", near.num, p.name(near), line)
	}
	p.near[near] = p.lines.line
	if err := p.b.Connect(near.node, int(near.num), far.node, int(far.num)); err != nil {
		return err
	}
	p.links = append(p.links, subnetLink{near, far})
	port := p.b.Port(near.node, int(near.num))
	port.State, port.Width, port.Speed = rate.state, rate.width, rate.speed
	return nil
}

func (p *subnetParser) name(port subnetPort) string {
	return fabric.Escape(p.b.Node(port.node).Desc)
}

// port finds or adds the port of an end, with its node.
func (p *subnetParser) port(e *subnetEnd) (subnetPort, error) {
	node := p.b.NodeByGUID(e.node.GUID)
	if node == fabric.None {
		var err error
		if node, err = p.add(e); err != nil {
			return subnetPort{}, err
		}
	} else if what := e.differs(p.b.Node(node)); what != "" {
		if err := p.refuse(fmt.Errorf("node 0x%016x has another %s here than in line %d", e.node.GUID, what,
			p.nodes[node])); err != nil {
			return subnetPort{}, err
		}
	}
	at := subnetPort{node, e.num}
	port := p.b.Port(node, int(e.num))
	if port == nil || e.num == 0 {
		return at, fmt.Errorf("port %d of %s, which has ports 1 to %d", e.num, p.name(at), e.node.NumPorts)
	}
	addressed := at
	if e.node.IsSwitch() {
		addressed.num = 0
	}
	if err := p.address(e, port, p.b.Port(node, int(addressed.num))); err != nil {
		if err = p.refuse(fmt.Errorf("port %d of %s: %w", e.num, p.name(at), err)); err != nil {
			return at, err
		}
	}
	if e.sm && p.sm.node == fabric.None {
		p.sm, p.smLID = addressed, e.lid
	}
	return at, nil
}

func (p *subnetParser) add(e *subnetEnd) (fabric.NodeIndex, error) {
	if p.ports += int(e.node.NumPorts) + 1; p.ports > maxSubnetPorts {
		return fabric.None, fmt.Errorf("more than %d ports", maxSubnetPorts)
	}
	node, err := p.b.AddNode(e.node)
	if err != nil {
		return fabric.None, err
	}
	p.nodes = append(p.nodes, p.lines.line)
	for num := 0; num <= int(e.node.NumPorts); num++ {
		port := p.b.Port(node, num)
		if port == nil {
			continue
		}
		port.State = mad.PortDown
		if e.node.IsSwitch() {
			port.GUID = e.guid
			p.b.Port(node, 0).LID = e.lid
		}
	}
	if e.node.IsSwitch() {
		p.b.Port(node, 0).State = mad.PortActive
	}
	return node, nil
}

// address notes the GUID of a port and the LID of the port that has one for it.
func (p *subnetParser) address(e *subnetEnd, port, addressed *fabric.Port) error {
	if port.GUID == 0 {
		port.GUID, addressed.LID = e.guid, e.lid
	}
	if port.GUID != e.guid {
		return fmt.Errorf("port GUID 0x%016x, but 0x%016x in a line before", e.guid, port.GUID)
	}
	if addressed.LID != e.lid {
		return fmt.Errorf("LID %d, but %d in a line before", e.lid, addressed.LID)
	}
	return nil
}

func (p *subnetParser) finish() (*fabric.Fabric, error) {
	name := p.lines.name
	if len(p.links) == 0 {
		if p.found != nil && len(p.found.Findings) > 0 {
			return nil, p.found.Findings[0]
		}
		return nil, fmt.Errorf("%s: no link, expected lines \"{ SW Ports:... } { CA Ports:... } PHY=... LOG=... "+
			"SPD=...\"", name)
	}
	if err := p.oneEnded(); err != nil {
		return nil, err
	}
	if err := p.setSM(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if p.found != nil {
		for _, e := range p.b.ResolveConflicts() {
			p.found.Clash(name, p.lineOf(e), e, p.b.Node(e.Node).GUID)
		}
	}
	f, err := p.b.Build()
	if wrong, ok := errors.AsType[*fabric.PortError](err); ok {
		return nil, fmt.Errorf("%s:%d: %w", name, p.lineOf(wrong), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// lineOf returns the line that describes a port.
func (p *subnetParser) lineOf(e *fabric.PortError) int {
	if line, ok := p.near[subnetPort{e.Node, e.Num}]; ok {
		return line
	}
	return p.nodes[e.Node]
}

// oneEnded sees that each link stands there from both ends, and whether the file stops
// in the middle.
func (p *subnetParser) oneEnded() error {
	whole := p.found == nil || p.found.Count == 0
	open := map[fabric.NodeIndex]bool{}
	for _, l := range p.links {
		if _, ok := p.near[l.far]; ok {
			continue
		}
		err := fmt.Errorf("port %d of %s is linked to port %d of %s, but no line has that as its near end; expected "+
			"each link from both ends",
			l.near.num, p.name(l.near), l.far.num, p.name(l.far))
		if p.found == nil {
			return fmt.Errorf("%s:%d: %w", fabric.Escape(p.lines.name), p.near[l.near], err)
		}
		p.found.Add(unread.At(p.lines.name, p.near[l.near], "%w", err))
		near, far := p.b.Port(l.near.node, int(l.near.num)), p.b.Port(l.far.node, int(l.far.num))
		far.State, far.Width, far.Speed = near.State, near.Width, near.Speed
		open[l.far.node] = true
	}
	why := ""
	switch {
	case p.found == nil || p.found.Count == 0:
		return nil
	case !p.lines.ended:
		why = "truncated: the last line has no end"
	case whole:
		why = fmt.Sprintf("truncated? Links of %s stand there from the other end alone", prose.Count(len(open), "node"))
	default:
		return nil
	}
	f := unread.At(p.lines.name, p.lines.line, "%s; expected all of the file", why)
	f.Kind = unread.Truncated
	p.found.Add(f)
	return nil
}

// setSM tells all ports of the SM that the file marks, if it marks one.
func (p *subnetParser) setSM() error {
	if p.sm.node == fabric.None {
		return nil
	}
	for i := range p.nodes {
		for num := 0; num <= int(p.b.Node(fabric.NodeIndex(i)).NumPorts); num++ {
			if port := p.b.Port(fabric.NodeIndex(i), num); port != nil && port.GUID != 0 {
				port.SMLID = p.smLID
			}
		}
	}
	return p.b.SetSMPort(p.sm.node, int(p.sm.num))
}
