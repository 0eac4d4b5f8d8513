// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// node, port and link are rows, with the line that they stand on.
type node struct {
	fabric.Node
	line int
}

type port struct {
	fabric.Port
	node uint64
	line int
}

type link struct {
	guid [2]uint64
	port [2]int
	line int
}

// maxSlots bounds the memory that a file can ask for by the port counts of its nodes.
const maxSlots = 4 << 20

func (p *parser) node(v *values) error {
	var n [7]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 8, 4, 64, 5, 32, 6, 16, 7, 32); err != nil {
		return p.refuse("%w", err)
	}
	if n[1] < 1 || n[1] > 3 {
		return p.refuse("node type %d, expected 1 to 3", n[1])
	}
	p.nodes = append(p.nodes, node{fabric.Node{GUID: n[0], Type: mad.NodeType(n[1]), NumPorts: uint8(n[2]), SystemGUID: n[3],
		VendorID: uint32(n[4]), DeviceID: uint16(n[5]), Revision: uint32(n[6]), Desc: string(v.text[3])}, p.line})
	return nil
}

func (p *parser) port(v *values) error {
	var n [12]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 64, 3, 16, 4, 3, 5, 16, 6, 32, 7, 4, 8, 8, 10, 4, 11, 4, 12, 4); err != nil {
		return p.refuse("%w", err)
	}
	speed, err := v.number(9, 32)
	if err != nil {
		return p.refuse("%w", err)
	}
	p.ports = append(p.ports, port{fabric.Port{Num: uint8(n[1]), GUID: n[2], LID: uint16(n[3]), LMC: uint8(n[4]), SMLID: uint16(n[5]),
		CapMask: uint32(n[6]), State: mad.PortState(n[7]), Width: widthOf(n[8]), Speed: speedOf(speed),
		MTU: uint8(n[9]), VLCap: uint8(n[10]), OperVLs: uint8(n[11])}, n[0], p.line})
	return nil
}

func (p *parser) link(v *values) error {
	var n [4]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8, 2, 64, 3, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.links = append(p.links, link{[2]uint64{n[0], n[2]}, [2]int{int(n[1]), int(n[3])}, p.line})
	return nil
}

func (p *parser) enhanced(v *values) error {
	var n [2]uint64
	if err := v.numbers(n[:], 0, 64, 1, 8); err != nil {
		return p.refuse("%w", err)
	}
	p.enp0[n[0]] = n[1] != 0
	return nil
}

// widthOf reads LinkWidthActv (IBA 1.2.1, 14.2.5.6, and its supplement for 2x).
func widthOf(code uint64) fabric.Width {
	switch code {
	case 1:
		return 1
	case 2:
		return 4
	case 4:
		return 8
	case 8:
		return 12
	case 16:
		return 2
	}
	return 0
}

// speeds are the bits of LinkSpeedActv, the fastest first: a byte for each family of speeds.
var speeds = []struct {
	bit   uint64
	speed fabric.Speed
}{
	{0x1000000, fabric.XDR},
	{0x800, fabric.NDR}, {0x400, fabric.HDR}, {0x200, fabric.EDR}, {0x100, fabric.FDR},
	{0x10000, fabric.FDR10},
	{4, fabric.QDR}, {2, fabric.DDR}, {1, fabric.SDR},
}

func speedOf(code uint64) fabric.Speed {
	for _, s := range speeds {
		if code&s.bit != 0 {
			return s.speed
		}
	}
	return fabric.SpeedUnknown
}

// build makes the fabric of all rows.
func (p *parser) build() (*fabric.Fabric, error) {
	var b fabric.Builder
	lines := map[fabric.NodeIndex]int{}
	slots := 0
	for _, n := range p.nodes {
		if slots += int(n.NumPorts) + 1; slots > maxSlots {
			return nil, fmt.Errorf("%s:%d: more than %d ports", fabric.Escape(p.name), n.line, maxSlots)
		}
		n.EnhancedPort0 = p.enp0[n.GUID]
		i, err := b.AddNode(n.Node)
		if err != nil {
			if err = p.refuseAt(n.line, "%w", err); err != nil {
				return nil, err
			}
			continue
		}
		lines[i] = n.line
		if n.IsSwitch() {
			b.Port(i, 0).State = mad.PortActive
		}
	}
	if err := p.fill(&b); err != nil {
		return nil, err
	}
	if err := p.join(&b); err != nil {
		return nil, err
	}
	p.down(&b)
	if p.found != nil {
		for _, e := range b.Settle() {
			p.found.Clash(p.name, lines[e.Node], e, b.Node(e.Node).GUID)
		}
	}
	return b.Build()
}

// fill takes what the rows of PORTS say.
func (p *parser) fill(b *fabric.Builder) error {
	for i := range p.ports {
		r := &p.ports[i]
		n := b.NodeByGUID(r.node)
		var at *fabric.Port
		if n != fabric.None {
			at = b.Port(n, int(r.Num))
		}
		if at == nil {
			if err := p.refuseAt(r.line, "port %d of node 0x%016x, which is not among the nodes", r.Num, r.node); err != nil {
				return err
			}
			continue
		}
		if b.Node(n).IsSwitch() {
			r.GUID = at.GUID
		}
		r.Port.Node, r.Peer = at.Node, at.Peer
		if r.Num == 0 && r.State == 0 {
			r.State = at.State
		}
		*at = r.Port
		if r.LID != 0 && r.LID == r.SMLID {
			if err := b.SetSMPort(n, int(r.Num)); err != nil {
				return err
			}
		}
	}
	return nil
}

// join takes the rows of LINKS.
func (p *parser) join(b *fabric.Builder) error {
	for _, l := range p.links {
		x, y := b.NodeByGUID(l.guid[0]), b.NodeByGUID(l.guid[1])
		err := error(nil)
		if x == fabric.None || y == fabric.None {
			err = fmt.Errorf("a cable between 0x%016x and 0x%016x, which are not both among the nodes", l.guid[0], l.guid[1])
		} else {
			err = b.Connect(x, l.port[0], y, l.port[1])
		}
		if err != nil {
			if err = p.refuseAt(l.line, "%w", err); err != nil {
				return err
			}
			continue
		}
		up(b, x, l.port[0])
		up(b, y, l.port[1])
	}
	return nil
}

// up sets the state of a port that has a cable, where the file does not say it: active where its LID is known, as of
// ibnetdiscover's files, else initialised.
func up(b *fabric.Builder, n fabric.NodeIndex, num int) {
	at := b.Port(n, num)
	if at.State != 0 {
		return
	}
	lid := at.LID
	if b.Node(n).IsSwitch() {
		lid = b.Port(n, 0).LID
	}
	at.State = mad.PortInit
	if lid != 0 {
		at.State = mad.PortActive
	}
}

// down sets the state of all other ports of which the file does not say one.
func (p *parser) down(b *fabric.Builder) {
	for _, n := range p.nodes {
		i := b.NodeByGUID(n.GUID)
		for num := range int(b.Node(i).NumPorts) + 1 {
			if at := b.Port(i, num); at != nil && at.State == 0 {
				at.State = mad.PortDown
			}
		}
	}
}
