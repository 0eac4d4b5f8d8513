// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// builder makes a fabric of what a sweeper has collected.
type builder struct {
	*sweeper
	b      fabric.Builder
	order  []int32                     // node of the sweep, by node of the fabric
	index  []fabric.NodeIndex          // node of the fabric, by node of the sweep
	guids  map[uint64]fabric.NodeIndex // node of the fabric, by port GUID
	lids   []fabric.NodeIndex          // node of the fabric plus 1, by LID
	fabric *fabric.Fabric
}

func (b *builder) build() (err error) {
	b.arrange()
	b.guids = make(map[uint64]fabric.NodeIndex, len(b.order))
	b.lids = make([]fabric.NodeIndex, fabric.MaxUnicastLID+1)
	b.b.Grow(len(b.order), b.ports)
	for _, i := range b.order {
		if err := b.addNode(i); err != nil {
			return err
		}
	}
	for _, i := range b.order {
		b.connect(i)
	}
	if err := b.b.SetSMPort(0, int(b.local)); err != nil {
		return err
	}
	b.fabric, err = b.b.Build()
	b.built = true
	return err
}

// arrange finds the order of the nodes: breadth first from the local port.
func (b *builder) arrange() {
	b.index = slices.Repeat([]fabric.NodeIndex{fabric.None}, len(b.nodes))
	visit := func(i int32) {
		if b.index[i] == fabric.None {
			b.index[i] = fabric.NodeIndex(len(b.order))
			b.order = append(b.order, i)
		}
	}
	visit(0)
	for next := 0; next < len(b.order); next++ {
		i := b.order[next]
		n := b.nodes[i]
		for num := range n.ports {
			p := &n.ports[num]
			if p.linked() && (n.isSwitch() || b.isLocal(i, uint8(num))) {
				visit(p.peer)
			}
		}
	}
}

func (b *builder) addNode(i int32) error {
	n := b.nodes[i]
	at, err := b.b.AddNode(fabric.Node{
		GUID:          n.info.NodeGUID,
		SystemGUID:    n.info.SystemImageGUID,
		Desc:          n.text.String(),
		VendorID:      n.info.VendorID,
		Revision:      n.info.Revision,
		DeviceID:      n.info.DeviceID,
		Type:          n.info.Type,
		NumPorts:      n.info.NumPorts,
		EnhancedPort0: n.sw.EnhancedPort0,
	})
	if err != nil {
		return err
	}
	for num := range n.ports {
		if p := b.b.Port(at, num); p != nil {
			b.fill(p, n, uint8(num))
		}
	}
	return nil
}

// fill copies a port and settles whose its GUID and LIDs are.
func (b *builder) fill(out *fabric.Port, n *node, num uint8) {
	in := &n.ports[num]
	a := &in.info
	out.GUID = in.guid
	if n.isSwitch() {
		out.GUID = n.info.PortGUID
	}
	out.State = a.PortState
	out.Width, out.Speed = n.link(num)
	if a.PortState > mad.PortDown {
		out.MTU = uint8(a.NeighborMTU)
	}
	out.VLCap = uint8(a.VLCap)
	out.OperVLs = uint8(a.OperVLs)
	out.CapMask = uint32(a.CapabilityMask)
	if n.isSwitch() != (num == 0) {
		return
	}
	b.own(in, out)
	out.SMLID = a.MasterSMLID
	out.LID, out.LMC = b.claim(out, a)
}

// link is what a port's link has, nothing where it is down.
func (n *node) link(num uint8) (fabric.Width, fabric.Speed) {
	a := &n.ports[num].info
	caps := a
	if n.isSwitch() {
		caps = &n.ports[0].info
	}
	if num == 0 || a.PortState <= mad.PortDown {
		return 0, fabric.SpeedUnknown
	}
	speed := a.SpeedActive(caps, n.ports[num].fdr10)
	return fabric.Width(a.LinkWidthActive.Lanes()), fabric.Speed(bits.Len16(uint16(speed)))
}

// own notes whose a port GUID is: the first one's that has it.
func (b *builder) own(in *port, out *fabric.Port) {
	if out.GUID == 0 {
		return
	}
	other, taken := b.guids[out.GUID]
	if taken {
		in.shadowed = true
		b.duplicate(DuplicatePortGUID, out.GUID, b.order[out.Node], int(out.Num))
		b.warn("port GUID 0x%016x is that of both %s and %s; the second is left out", out.GUID, b.name(b.order[other]),
			b.portName(b.order[out.Node], out.Num))
		return
	}
	b.guids[out.GUID] = out.Node
}

// claim gives a port the LIDs that it says it has, if nobody else has them.
func (b *builder) claim(p *fabric.Port, a *mad.PortInfo) (lid uint16, lmc uint8) {
	last := int(a.LID) + 1<<a.LMC - 1
	name := b.portName(b.order[p.Node], p.Num)
	switch {
	case a.LID == 0:
		return 0, 0
	case last > fabric.MaxUnicastLID:
		b.warn("%s says that it has LID %d with LMC %d, which is above the highest unicast LID %d; it counts as "+
			"having none", name, a.LID, a.LMC, fabric.MaxUnicastLID)
		return 0, 0
	case a.LID&(1<<a.LMC-1) != 0:
		b.warn("%s says that it has LID %d with LMC %d, which is no multiple of %d; it counts as having none", name,
			a.LID, a.LMC, 1<<a.LMC)
		return 0, 0
	}
	for l := int(a.LID); l <= last; l++ {
		if other := b.lids[l]; other != 0 {
			b.duplicate(DuplicateLID, uint64(l), b.order[p.Node], int(p.Num))
			b.warn("LID %d is claimed by both %s and %s; the second counts as having none", l, b.name(b.order[other-1]),
				name)
			return 0, 0
		}
	}
	for l := int(a.LID); l <= last; l++ {
		b.lids[l] = p.Node + 1
	}
	return a.LID, a.LMC
}

// connect makes a node's links, but of ports whose GUID another port has: a subnet cannot hold both.
func (b *builder) connect(i int32) {
	n := b.nodes[i]
	for num := range n.ports {
		p := &n.ports[num]
		if !p.linked() || b.endPort(i, uint8(num)).shadowed || b.endPort(p.peer, p.peerNum).shadowed {
			continue
		}
		if err := b.b.Connect(b.index[i], num, b.index[p.peer], int(p.peerNum)); err != nil {
			b.warn("%v", err)
		}
	}
}

func (b *builder) endPort(i int32, num uint8) *port {
	if b.nodes[i].isSwitch() {
		num = 0
	}
	return &b.nodes[i].ports[num]
}
