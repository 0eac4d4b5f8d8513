// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
)

// errSkipped marks a record that is not in the fabric. The reason has already been reported.
var errSkipped = errors.New("the record was skipped")

// end is a port line and its record.
type end struct {
	node fabric.NodeIndex
	r    *record
	c    *cable
}

func (e end) key() portKey { return portKey{e.r.name, e.c.port} }

// links connects the ports. It begins with the cables whose two lines agree.
func (b *builder) links() error {
	var left []end
	for _, r := range b.p.records {
		for j := range r.cables {
			e := end{node: r.node, r: r, c: &r.cables[j]}
			if e.c.ownAlias != "" || e.node == fabric.None {
				continue
			}
			err := b.link(e)
			switch {
			case err != nil && b.p.options.Strict:
				return err
			case err != nil:
				left = append(left, e)
			}
		}
	}
	for _, e := range left {
		e.c.hasNoTarget = b.hasNoTarget(e)
	}
	for _, e := range left {
		if err := b.linkByOneEnd(e); err != nil {
			return err
		}
	}
	return nil
}

// link links two ports if both ends agree.
func (b *builder) link(e end) error {
	p, c, r := b.p, e.c, e.r
	remote, other, err := b.remote(e)
	if err == nil && remote == fabric.None {
		err = errSkipped
	}
	if err != nil {
		return err
	}
	peer := other.cableAt(c.remotePort)
	if peer == nil {
		return p.errorAt(c.at, "port %d of %s leads to port %d of %s, which has no line for that port; expected both "+
			"ends "+
			"of each cable", c.port, quote(r.name.id), c.remotePort, quote(other.name.id))
	}
	back := peer.ownAlias == "" && peer.remote == r.name && peer.remotePort == c.port
	if !back && (peer.ownAlias == "" || peer.ownAlias != c.remoteAlias) {
		return p.errorAt(c.at, "port %d of %s leads to port %d of %s, but by %s that leads to %s; expected both ends "+
			"to "+
			"agree", c.port, quote(r.name.id), c.remotePort, quote(other.name.id), p.position(peer.at), peer.leadsTo())
	}
	if err := b.b.Connect(e.node, c.port, remote, c.remotePort); err != nil {
		return p.errorAt(c.at, "%w", err)
	}
	return b.rate(e.node, r, c, remote, other, peer)
}

// remote returns the node to which a cable leads. It returns an error if the node does not have the port.
func (b *builder) remote(e end) (fabric.NodeIndex, *record, error) {
	p, c := b.p, e.c
	other := c.remote.record
	if other == nil {
		return fabric.None, nil, p.errorAt(c.at, "port %d of %s leads to node %s, which is not in the file", c.port,
			quote(e.r.name.id), quote(c.remote.id))
	}
	if c.remotePort > other.ports {
		return fabric.None, other, p.errorAt(c.at, "port %d of %s leads to port %d of %s, which has ports 1 to %d",
			c.port, quote(e.r.name.id), c.remotePort, quote(other.name.id), other.ports)
	}
	return other.node, other, nil
}

// hasNoTarget reports whether a line leads to a port that does not exist.
func (b *builder) hasNoTarget(e end) bool {
	_, _, err := b.remote(e)
	return err != nil
}

// linkByOneEnd handles a line that the line of the other end does not confirm. It links the two ports only if the other
// end has no readable line.
func (b *builder) linkByOneEnd(e end) error {
	c := e.c
	remote, other, err := b.remote(e)
	switch {
	case err == nil && remote == fabric.None, other == nil && c.remote.skipped:
		return nil // already reported with the skipped record
	case err != nil:
		return b.p.refuse(err)
	}
	peer := other.cableAt(c.remotePort)
	reported := other.listed.has(c.remotePort) && (peer == nil || peer.hasNoTarget)
	if peer != nil && !peer.hasNoTarget {
		return b.p.refuse(b.link(e))
	}
	why := b.link(e)
	if err := b.b.Connect(e.node, c.port, remote, c.remotePort); err != nil {
		return b.p.refuse(b.p.errorAt(c.at, "%w", err))
	}
	if !reported {
		if err := b.p.refuse(why); err != nil {
			return err
		}
		if other == b.p.records[b.lines-1] {
			b.open++
		}
	}
	b.copyRemote(e, remote)
	return b.rate(e.node, e.r, c, remote, other, &cable{rate: other.start, ownAlias: "@"})
}

// copyRemote sets the GUID and LID of the port remote, which has no line, to the values in the line e of the other end.
func (b *builder) copyRemote(e end, remote fabric.NodeIndex) {
	port := b.b.Port(remote, e.c.remotePort)
	if b.asIbsim || b.b.Node(remote).IsSwitch() {
		return
	}
	if e.c.remoteGUID != 0 {
		port.GUID = e.c.remoteGUID
	}
	if port.LID == 0 {
		port.LID, _ = b.p.remoteComment(e.c)
	}
}

// truncated records an unreadable part, or adds warnings, if the file appears to be truncated.
func (b *builder) truncated() {
	p := b.p
	at, why := p.end, ""
	switch {
	case len(p.cuts) > 0 && p.unread.Count > 0:
		at, why = p.cuts[len(p.cuts)-1], "truncated: the last line has no newline"
	case b.whole && b.missing > 0:
		why = fmt.Sprintf("truncated? Cables lead to %s without a record", prose.Count(b.missing, "node"))
	case b.whole && b.open > 0:
		why = fmt.Sprintf("truncated? The last record has no line for %s that others have",
			prose.Count(b.open, "cable"))
	default:
		for _, at := range p.cuts {
			p.warn(at, "the last line has no newline: the file may be truncated")
		}
		return
	}
	f := unread.At(p.files[at.file], int(at.line), "%s; expected the whole file", why)
	f.Kind = unread.Truncated
	p.unread.Add(f)
}

// resolveConflicts removes GUIDs and LIDs that an earlier port already has from the later port. It also ensures that
// the SM's port is linked.
func (b *builder) resolveConflicts() error {
	if b.p.unread.Count > 0 {
		if err := b.startLinked(); err != nil {
			return err
		}
	}
	for _, e := range b.b.ResolveConflicts() {
		at := b.placeOf(e.Node, e.Num)
		b.p.unread.Clash(b.p.files[at.file], int(at.line), e, b.b.Node(e.Node).GUID)
	}
	return nil
}

// startLinked moves the SM's port to the first linked port of the file if the first node has lost its links.
func (b *builder) startLinked() error {
	for i := range b.record {
		node := fabric.NodeIndex(i)
		for num := 1; num <= int(b.b.Node(node).NumPorts); num++ {
			if b.b.Port(node, num).Peer == fabric.None {
				continue
			}
			if i == 0 {
				return nil
			}
			if b.b.Node(node).IsSwitch() {
				num = 0
			}
			return b.b.SetSMPort(node, num)
		}
	}
	return nil
}
