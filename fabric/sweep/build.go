// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// builder builds a fabric from the results of a sweeper.
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

// arrange puts the nodes into breadth-first order from the local port.
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

// fill copies the properties of a port. It resolves conflicts of the port's GUID and LIDs with other ports.
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
	b.claimGUID(in, out)
	out.SMLID = a.MasterSMLID
	if a.PortState == mad.PortActive || n.isSwitch() {
		b.b.SetGIDPrefix(a.GIDPrefix)
	}
	out.LID, out.LMC = b.claimLIDs(out, a)
}

// link returns the width and speed of a port's link. Both are zero if the link is down.
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
	return fabric.Width(a.LinkWidthActive.Lanes()), fabric.SpeedOf(speed)
}

// claimGUID gives a port GUID to the first port that reports it. Later ports with this GUID are ignored.
func (b *builder) claimGUID(in *port, out *fabric.Port) {
	if out.GUID == 0 {
		return
	}
	other, taken := b.guids[out.GUID]
	if taken {
		in.shadowed = true
		b.duplicate(DuplicatePortGUID, out.GUID, b.order[out.Node], int(out.Num))
		b.warn("port GUID 0x%016x is used by both %s and %s; the second is ignored", out.GUID, b.name(b.order[other]),
			b.portName(b.order[out.Node], out.Num))
		return
	}
	b.guids[out.GUID] = out.Node
}

// claimLIDs returns the LID and LMC of a port. Both are 0 if the LIDs are invalid or belong to another port.
func (b *builder) claimLIDs(p *fabric.Port, a *mad.PortInfo) (lid uint16, lmc uint8) {
	last := int(a.LID) + 1<<a.LMC - 1
	name := b.portName(b.order[p.Node], p.Num)
	switch {
	case fabric.AssignedLID(uint64(a.LID)) == 0:
		return 0, 0
	case last > fabric.MaxUnicastLID:
		b.warn("%s has LID %d with LMC %d, above the highest unicast LID %d; the LID is ignored", name, a.LID, a.LMC,
			fabric.MaxUnicastLID)
		return 0, 0
	case a.LID&(1<<a.LMC-1) != 0:
		b.warn("%s has LID %d with LMC %d, which is not a multiple of %d; the LID is ignored", name, a.LID, a.LMC,
			1<<a.LMC)
		return 0, 0
	}
	for l := int(a.LID); l <= last; l++ {
		if other := b.lids[l]; other != 0 {
			b.duplicate(DuplicateLID, uint64(l), b.order[p.Node], int(p.Num))
			b.warn("LID %d is claimed by both %s and %s; the second LID is ignored", l, b.name(b.order[other-1]),
				name)
			return 0, 0
		}
	}
	for l := int(a.LID); l <= last; l++ {
		b.lids[l] = p.Node + 1
	}
	return a.LID, a.LMC
}

// connect adds the links of a node to the fabric. It omits links of a port whose GUID belongs to another port, because
// a fabric cannot contain both ports.
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

// DuplicateKind is a kind of value that must be unique in a subnet.
type DuplicateKind string

// Kinds of duplicates.
const (
	DuplicateNodeGUID DuplicateKind = "node GUID"
	DuplicatePortGUID DuplicateKind = "port GUID"
	DuplicateLID      DuplicateKind = "LID"
)

// Duplicate reports a GUID or LID that a second node or port uses. Node, GUID and Port identify the second node or
// port. If the value is a node GUID, they identify the port behind which the second node answered.
type Duplicate struct {
	Kind  DuplicateKind
	Value uint64
	Node  string // escaped name
	GUID  uint64
	Port  int
	Text  string // the warning

	node    int32
	warning int
}

// duplicate records a duplicate. The next warning becomes the text of the duplicate.
func (s *sweeper) duplicate(kind DuplicateKind, value uint64, node int32, port int) {
	s.duplicates = append(s.duplicates, Duplicate{Kind: kind, Value: value, GUID: s.nodes[node].info.NodeGUID,
		Port: port, node: node, warning: len(s.warnings)})
}

// namedDuplicates returns the duplicates with names and texts. The names of nodes are known only at the end of a sweep.
func (s *sweeper) namedDuplicates() []Duplicate {
	for i := range s.duplicates {
		d := &s.duplicates[i]
		d.Node, d.Text = fmt.Sprint(s.name(d.node)), s.warnings[d.warning].String()
	}
	return s.duplicates
}

// limits returns, by port index, the widths and speeds that the ports of the fabric support and have enabled.
func (b *builder) limits() []fabric.LinkLimit {
	out := make([]fabric.LinkLimit, len(b.fabric.Ports))
	for node, i := range b.order {
		n := b.nodes[i]
		for num := range n.ports {
			if n.ports[num].known && n.ports[num].linked() {
				out[b.fabric.Port(fabric.NodeIndex(node), uint8(num))] = n.limit(num)
			}
		}
	}
	return out
}

// limit returns the limits of a port. FDR10 has no bit in PortInfo. A port that runs at FDR10 is assumed to support and
// enable it.
func (n *node) limit(num int) fabric.LinkLimit {
	p := &n.ports[num]
	caps := &p.info
	if n.isSwitch() {
		caps = &n.ports[0].info
	}
	speed := func(set mad.LinkSpeed) fabric.Speed {
		if p.fdr10 {
			set |= mad.SpeedFDR10
		}
		return fabric.SpeedOf(set)
	}
	return fabric.LinkLimit{
		WidthEnabled:   fabric.Width(p.info.LinkWidthEnabled.Lanes()),
		WidthSupported: fabric.Width(p.info.LinkWidthSupported.Lanes()),
		SpeedEnabled:   speed(p.info.SpeedEnabled(caps)), SpeedSupported: speed(p.info.SpeedSupported(caps)),
	}
}

// nodeName and portName look up a name only when they are formatted, because the descriptions of nodes arrive late in a
// sweep.
type nodeName struct {
	s    *sweeper
	node int32
}

type portName struct {
	nodeName
	num uint8
}

func (n nodeName) String() string { return n.s.nameNow(n.node) }

func (p portName) String() string { return fmt.Sprintf("%s/%d", p.nodeName, p.num) }

func (s *sweeper) name(i int32) nodeName                { return nodeName{s, i} }
func (s *sweeper) portName(i int32, num uint8) portName { return portName{s.name(i), num} }

// nameNow returns the escaped description of a node. If the description is empty, it returns the GUID.
func (s *sweeper) nameNow(i int32) string {
	n := s.nodes[i]
	if text := n.text.String(); text != "" {
		return fabric.Escape(text)
	}
	return fmt.Sprintf("0x%016x", n.info.NodeGUID)
}
