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

// maxSubnetPorts is the maximum number of ports. It limits the memory that a file can request by the port counts of its
// nodes.
const maxSubnetPorts = 4 << 20

// ReadSubnet reads opensm-subnet.lst and files of ibdiagnet in the same format. The argument name identifies the file
// in errors. Nodes keep the order of their first occurrence. The SM's port is the first port marked "-SM", otherwise
// the default of [fabric.Builder.Build]. Properties that the format does not have are 0, such as LMC and capabilities.
// Ports without a link are not listed. The speed "??" is unknown. Each link must be listed by both ends.
//
// ReadSubnet skips unreadable parts and adds them to the argument found. Such parts are invalid lines, lines that
// contradict an earlier line, and repeated LIDs and GUIDs, which the first port keeps. If the argument found is nil,
// ReadSubnet returns the first fault as an error. A link that only one end lists is accepted, but reported. A file
// without a link is always an error. O(file size).
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

// refuse records a fault of the latest line. If found is nil, refuse returns the fault as an error.
func (p *subnetParser) refuse(err error) error {
	if err == nil {
		return nil
	}
	f, ok := errors.AsType[unread.Finding](err)
	if !ok {
		f = unread.At(p.lines.name, p.lines.line, "%w", err)
	}
	if p.found == nil {
		return f
	}
	p.found.Add(f)
	return nil
}

// subnetPort is a port in the Builder.
type subnetPort struct {
	node fabric.NodeIndex
	num  uint8
}

type subnetParser struct {
	lines *lineReader
	found *unread.List
	b     fabric.Builder
	// nodes holds, by node index, the line number of the first occurrence of each node.
	nodes []int
	// near maps a port to the line number of the line in which the port is the near end.
	near  map[subnetPort]int
	links []subnetLink
	ports int

	sm    subnetPort
	smLID uint16
}

// subnetLink is the link in a line.
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

// port returns the port at an end of a link. It adds the node if the node does not exist yet.
func (p *subnetParser) port(e *subnetEnd) (subnetPort, error) {
	node := p.b.NodeByGUID(e.node.GUID)
	if node == fabric.None {
		var err error
		if node, err = p.add(e); err != nil {
			return subnetPort{}, err
		}
	} else if what := e.differs(p.b.Node(node)); what != "" {
		if err := p.refuse(fmt.Errorf("the %s of node 0x%016x differs from its value in line %d", what, e.node.GUID,
			p.nodes[node])); err != nil {
			return subnetPort{}, err
		}
	}
	at := subnetPort{node, e.num}
	port := p.b.Port(node, int(e.num))
	if port == nil || e.num == 0 {
		return at, fmt.Errorf("bad port %d of %s, expected 1 to %d", e.num, p.name(at), e.node.NumPorts)
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

// address sets the GUID of a port and the LID of the end port of the same node (argument addressed). If earlier lines
// have set them, address compares the values instead.
func (p *subnetParser) address(e *subnetEnd, port, addressed *fabric.Port) error {
	if port.GUID == 0 {
		port.GUID, addressed.LID = e.guid, e.lid
	}
	if port.GUID != e.guid {
		return fmt.Errorf("the port has GUID 0x%016x here and GUID 0x%016x in an earlier line", e.guid, port.GUID)
	}
	if addressed.LID != e.lid {
		return fmt.Errorf("the port has LID %d here and LID %d in an earlier line", e.lid, addressed.LID)
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
	if portErr, ok := errors.AsType[*fabric.PortError](err); ok {
		return nil, fmt.Errorf("%s:%d: %w", name, p.lineOf(portErr), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// lineOf returns the number of the line that describes a port.
func (p *subnetParser) lineOf(e *fabric.PortError) int {
	if line, ok := p.near[subnetPort{e.Node, e.Num}]; ok {
		return line
	}
	return p.nodes[e.Node]
}

// oneEnded checks that both ends list each link. It also checks whether the file is truncated.
func (p *subnetParser) oneEnded() error {
	whole := p.found == nil || p.found.Count == 0
	open := map[fabric.NodeIndex]bool{}
	for _, l := range p.links {
		if _, ok := p.near[l.far]; ok {
			continue
		}
		err := fmt.Errorf("port %d of %s is linked to port %d of %s, but that port has no line; expected a "+
			"line for each port of a link",
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
		why = "truncated: the last line has no newline"
	case whole:
		why = fmt.Sprintf("truncated? Links of %s are listed only by the other end", prose.Count(len(open), "node"))
	default:
		return nil
	}
	f := unread.At(p.lines.name, p.lines.line, "%s; expected the whole file", why)
	f.Kind = unread.Truncated
	p.found.Add(f)
	return nil
}

// setSM sets the SM's port and the SM LID of all ports if the file marks the SM.
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
