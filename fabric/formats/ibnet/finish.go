// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// The properties that ibsim gives to every node and port. The file format does not contain them.
const (
	revision = 0xa1
	// The bits 20 and 22 are IsVendorClassSupported and IsCapabilityMaskNoticeSupported.
	switchCapMask  = uint32(mad.CapTrap | mad.CapSLMapping | mad.CapExtendedSpeeds | mad.CapCapabilityMask2)
	adapterCapMask = switchCapMask | 1<<20 | 1<<22

	mtu256  = 1
	mtu2048 = 4
	vls0to7 = 4
)

// finish makes a fabric from the records.
func (p *parser) finish() (*File, error) {
	if len(p.records) == 0 {
		if len(p.unread.Findings) > 0 {
			return nil, p.unread.Findings[0]
		}
		p.at = place{}
		return nil, fmt.Errorf("%s: no Switch, Ca or Rt record, expected text as ibnetdiscover prints it or an "+
			"ibsim net", fabric.Escape(p.files[0]))
	}
	p.dropCut()
	b := builder{p: p, asIbsim: p.asIbsim(), otherRates: tally{}, lines: len(p.records), whole: p.unread.Count == 0}
	if !p.options.Strict {
		if err := b.infer(); err != nil {
			return nil, err
		}
	}
	byPort := func(a, b cable) int { return cmp.Compare(a.port, b.port) }
	for _, r := range p.records {
		if cables := r.cables; !slices.IsSortedFunc(cables, byPort) {
			slices.SortStableFunc(cables, byPort)
		}
	}
	if err := b.nodes(); err != nil {
		return nil, err
	}
	if err := b.links(); err != nil {
		return nil, err
	}
	b.truncated()
	f, err := b.build()
	if err != nil {
		return nil, err
	}
	return &File{Fabric: f, Warnings: append(p.warnings, b.remarks()...), Unread: p.unread}, nil
}

// dropCut drops the node or port of a truncated line if another line describes it, because the last number or name in a
// truncated line may be incomplete. The other line is the one at the other end of the cable.
func (p *parser) dropCut() {
	if p.asIbsim() || p.options.Strict {
		return
	}
	for _, at := range p.cuts {
		for i, r := range p.records {
			last := len(r.cables) - 1
			switch {
			case r.at == at && p.describes(r, 0):
				r.name.record = nil
				p.records = slices.Delete(p.records, i, i+1)
			case last >= 0 && r.cables[last].at == at && p.describes(r, r.cables[last].port):
				r.cables = r.cables[:last]
			default:
				continue
			}
			break
		}
	}
}

// describes reports whether a line of another record leads to a port of the record's node. The line must contain the
// description of the node. If the argument port is 0, a line that leads to any port of the node counts.
func (p *parser) describes(r *record, port int) bool {
	for _, other := range p.records {
		for i := range other.cables {
			c := &other.cables[i]
			if c.remote == r.name && (port == 0 || c.remotePort == port) {
				_, desc := p.remoteComment(c)
				return desc != ""
			}
		}
	}
	return false
}

type builder struct {
	p       *parser
	asIbsim bool
	b       fabric.Builder
	record  []*record // of each node
	// lines is the number of records in the file. whole is set if all lines of the file were read.
	lines int
	whole bool
	// missing counts nodes to which cables lead, but which have no record. open counts cables to a port of the last
	// record that has no line of its own.
	missing, open int
	// otherGUIDs counts ports whose GUID in ibsim differs from the GUID in the file. otherRates counts the rates in
	// port lines that ibsim replaces.
	otherGUIDs int
	otherRates tally
	// stated counts the ends of links that have a rate in the file. unstated counts the other ends.
	stated, unstated int
}

// nodes adds the nodes of all records.
func (b *builder) nodes() error {
	b.b.Grow(len(b.p.records), b.p.ports)
	for _, r := range b.p.records {
		has := r.ibsimGUIDs()
		if !b.asIbsim {
			var err error
			if has, err = r.statedGUIDs(); err != nil {
				if err = b.p.refuse(b.p.errorAt(r.at, "%w", err)); err != nil {
					return err
				}
			}
		}
		n := fabric.Node{
			GUID: has.node, SystemGUID: has.system, Desc: b.desc(r), Type: r.typ, NumPorts: uint8(r.ports),
			VendorID: r.vendor, DeviceID: r.device, Revision: revision, NoRevision: !b.asIbsim,
			EnhancedPort0: r.enhanced,
		}
		if err := b.add(r, n, has); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) add(r *record, n fabric.Node, has guids) (err error) {
	if r.node, err = b.b.AddNode(n); err != nil {
		return b.p.refuse(b.nodeTwice(r, n.GUID, err))
	}
	b.record = append(b.record, r)
	b.slots(r.node, r, has)
	return b.cables(r.node, r)
}

func (b *builder) nodeTwice(r *record, guid uint64, err error) error {
	f := unread.At(b.p.files[r.at.file], int(r.at.line), "%w", err)
	f.Kind, f.Node = unread.GUID, guid
	return f
}

func (b *builder) desc(r *record) string {
	if b.asIbsim && len(r.desc) > maxDesc {
		return r.desc[:maxDesc]
	}
	return r.desc
}

// slots sets the properties that all ports of a node have in common.
func (b *builder) slots(node fabric.NodeIndex, r *record, has guids) {
	for num := 0; num <= r.ports; num++ {
		port := b.b.Port(node, num)
		if port == nil {
			continue
		}
		port.State, port.VLCap, port.OperVLs = mad.PortDown, vls0to7, vls0to7
		if r.typ == mad.NodeSwitch {
			port.GUID = has.port
			continue
		}
		port.GUID, port.CapMask = has.node+uint64(num), adapterCapMask
	}
	if r.typ == mad.NodeSwitch {
		port := b.b.Port(node, 0)
		port.CapMask, port.State, port.MTU = switchCapMask, mad.PortActive, mtu256
		port.LID, port.LMC = r.addr.lid, r.addr.lmc
	}
}

// cables sets the properties that the port lines of a record state, such as the LID and the GUID.
func (b *builder) cables(node fabric.NodeIndex, r *record) error {
	for i := range r.cables {
		c := &r.cables[i]
		port := b.b.Port(node, c.port)
		if r.typ == mad.NodeSwitch {
			continue
		}
		if r.typ == mad.NodeCA || !b.asIbsim {
			port.LID, port.LMC = c.addr.lid, c.addr.lmc
		}
		stated, err := b.statedGUID(r, c)
		if err = b.p.refuse(err); err != nil {
			return err
		}
		switch {
		case stated == 0 || stated == port.GUID:
		case b.asIbsim:
			b.otherGUIDs++
		default:
			port.GUID = stated
		}
	}
	return nil
}

// statedGUID returns the GUID of a port. The file states it in the port's own line or in the line of the port's peer.
// The result is 0 if it is in neither line.
func (b *builder) statedGUID(r *record, c *cable) (uint64, error) {
	var atPeer uint64
	peer := b.peer(c)
	if peer != nil {
		atPeer = peer.remoteGUID
	}
	if !b.asIbsim && c.guid != 0 && atPeer != 0 && c.guid != atPeer {
		return c.guid, b.p.errorAt(c.at, "port %d of %s has GUID 0x%016x here, but 0x%016x at %s",
			c.port, quote(r.name.id), c.guid, atPeer, b.p.position(peer.at))
	}
	return cmp.Or(c.guid, atPeer), nil
}

// peer returns the port line at the other end of a cable, nil if there is no such line.
func (b *builder) peer(c *cable) *cable {
	if c.ownAlias != "" || c.remote.record == nil {
		return nil
	}
	return c.remote.record.cableAt(c.remotePort)
}

func (c *cable) leadsTo() string {
	if c.ownAlias != "" {
		return "the port that uses alias " + quote(c.ownAlias)
	}
	return fmt.Sprintf("port %d of %s", c.remotePort, quote(c.remote.id))
}

// rate sets the state, MTU and rate of the two ports of a link.
func (b *builder) rate(node fabric.NodeIndex, r *record, c *cable, remote fabric.NodeIndex, other *record,
	peer *cable) error {
	here, there := b.b.Port(node, c.port), b.b.Port(remote, c.remotePort)
	here.State, there.State = mad.PortInit, mad.PortInit
	here.MTU, there.MTU = mtu2048, mtu2048
	if b.lid(node, c.port) != 0 && b.lid(remote, c.remotePort) != 0 {
		here.State, there.State = mad.PortActive, mad.PortActive
	}
	ends := 1
	if peer.ownAlias != "" {
		ends = 2 // rate is not called for the other end
	}
	if !b.asIbsim {
		if near, far := c.stated.or(peer.stated), peer.stated.or(c.stated); near.word != "" {
			here.Width, here.Speed = near.width, near.speed
			there.Width, there.Speed = far.width, far.speed
			b.stated += ends
			return nil
		}
		b.unstated += ends
	}
	w, s, err := active(c.rate, peer.rate)
	if err != nil && (remote < node || remote == node && c.remotePort < c.port) {
		return nil // already reported for the other end
	}
	if err != nil {
		return b.p.refuse(b.p.errorAt(c.at, "port %d of %s: %w", c.port, quote(r.name.id), err))
	}
	here.Width, there.Width = w, w
	here.Speed, there.Speed = r.seenSpeed(s), other.seenSpeed(s)
	if c.stated.word != "" && (c.stated.width != w || c.stated.speed != here.Speed) {
		b.otherRates[c.stated.word]++
	}
	return nil
}

// seenSpeed returns the speed that PortInfo of this node shows if the port runs at speed s.
func (r *record) seenSpeed(s fabric.Speed) fabric.Speed {
	if s == fabric.FDR10 && !fabric.KnowsFDR10(r.vendor, r.device) {
		return fabric.QDR
	}
	return s
}

func (b *builder) lid(node fabric.NodeIndex, port int) uint16 {
	if b.b.Node(node).IsSwitch() {
		port = 0
	}
	return b.b.Port(node, port).LID
}

func (b *builder) build() (*fabric.Fabric, error) {
	if !b.p.options.Strict {
		if err := b.resolveConflicts(); err != nil {
			return nil, err
		}
	}
	f, err := b.b.Build()
	if portErr, ok := errors.AsType[*fabric.PortError](err); ok {
		return nil, b.p.errorAt(b.placeOf(portErr.Node, portErr.Num), "%w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fabric.Escape(b.p.files[0]), err)
	}
	return f, nil
}

// placeOf returns the position of the line that describes a port.
func (b *builder) placeOf(node fabric.NodeIndex, port uint8) place {
	r := b.record[node]
	if c := r.cableAt(int(port)); c != nil {
		return c.at
	}
	return r.at
}

// remarks returns the warnings that concern the whole file.
func (b *builder) remarks() []string {
	p, name := b.p, fabric.Escape(b.p.files[0])
	var w []string
	warn := func(format string, args ...any) { w = append(w, name+": "+fmt.Sprintf(format, args...)) }
	if n, rates := p.unknownRates.list(); n > 0 {
		warn("%s a rate that is unknown (%s)", prose.Verb(n, "port line", "states", "state"), rates)
	}
	if b.stated > 0 && b.unstated > 0 {
		warn("neither end of %s of %d states a rate; they get the rate that they have in ibsim, 4xSDR if nothing else "+
			"is set", prose.Count(b.unstated/2, "link"), (b.stated+b.unstated)/2)
	}
	var other []string
	if b.otherGUIDs > 0 {
		other = append(other, prose.Verb(b.otherGUIDs, "port", "has", "have")+" another GUID")
	}
	if n, rates := b.otherRates.list(); n > 0 {
		other = append(other, fmt.Sprintf("%s at another rate (%s)", prose.Verb(n, "port", "runs", "run"), rates))
	}
	if len(other) > 0 {
		warn("by ibsim's rules %s than is stated here", strings.Join(other, " and "))
	}
	if len(p.lost) > 0 {
		w = append(w, fmt.Sprintf("%s: the record ends here and ibsim ignores this line and %d more; expected a blank "+
			"line before it", p.position(p.lost[0]), len(p.lost)-1))
	}
	return w
}
