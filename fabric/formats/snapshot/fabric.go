// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Flags of a node.
const (
	enhancedPort0 = 1 << iota
	noRevision
)

// EncodeFabric encodes a fabric. Equal fabrics have equal encodings. O(ports).
func EncodeFabric(f *fabric.Fabric) []byte {
	e := &encoder{b: make([]byte, 0, 64*len(f.Nodes)+24*len(f.Ports))} // usual sizes
	encodeIndex(e, f.SMPort)
	e.uint(uint64(len(f.Nodes)))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		e.uint(n.GUID)
		e.uint(n.SystemGUID)
		e.string(n.Desc)
		e.uint(uint64(n.VendorID))
		e.uint(uint64(n.Revision))
		e.uint(uint64(n.DeviceID))
		e.uint(uint64(n.Type))
		e.uint(uint64(n.NumPorts))
		e.uint(prose.When[uint64](n.EnhancedPort0, enhancedPort0, 0) | prose.When[uint64](n.NoRevision, noRevision, 0))
		for p := 0; p <= int(n.NumPorts); p++ {
			e.port(&f.Ports[n.FirstPort+fabric.PortIndex(p)])
		}
	}
	if len(f.Unreachable) > 0 {
		e.uint(uint64(len(f.Unreachable)))
		for _, p := range f.Unreachable {
			encodeIndex(e, p)
		}
	}
	return e.b
}

func (e *encoder) port(p *fabric.Port) {
	e.uint(p.GUID)
	encodeIndex(e, p.Peer)
	e.uint(uint64(p.LID))
	e.uint(uint64(p.SMLID))
	e.uint(uint64(p.CapMask))
	for _, v := range []uint8{p.LMC, uint8(p.State), uint8(p.Width), uint8(p.Speed), p.MTU, p.VLCap, p.OperVLs} {
		e.uint(uint64(v))
	}
}

// DecodeFabric is the inverse of [EncodeFabric]. It returns an error if b is not an encoded fabric.
func DecodeFabric(b []byte) (*fabric.Fabric, error) {
	return decodeFabric(&decoder{b: b})
}

func decodeFabric(d *decoder) (*fabric.Fabric, error) {
	r := &fabricReader{d: d}
	f, err := r.read()
	if d.err != nil {
		err = d.err
	}
	if err != nil {
		return nil, fmt.Errorf("fabric: %w", err)
	}
	return f, nil
}

// fabricReader builds a fabric from a decoder.
type fabricReader struct {
	d *decoder
	b fabric.Builder
	// owner, num and peer hold the node, the port number and the peer of each port slot.
	owner []fabric.NodeIndex
	peer  []int32
	num   []uint8
}

// The limits of a fabric. 48 K hosts and 3,000 switches with 254 ports have 900,000 port slots of about 30 bytes.
const (
	maxPorts  = 1 << 21
	maxNodes  = 1 << 17
	MaxFabric = 64 << 20
)

func (r *fabricReader) read() (*fabric.Fabric, error) {
	d := r.d
	sm := decodeIndex[int32](d, maxPorts)
	nodes := d.uint(maxNodes)
	for range nodes {
		if d.err != nil {
			return nil, d.err
		}
		if err := r.node(); err != nil {
			return nil, err
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if err := r.connect(); err != nil {
		return nil, err
	}
	if err := r.unreachable(); err != nil {
		return nil, err
	}
	if n := d.size(); n > 0 {
		return nil, fmt.Errorf("%d unexpected bytes after the end", n)
	}
	if sm != fabric.None {
		if int(sm) >= len(r.owner) {
			return nil, fmt.Errorf("the port index of the SM is %d, but the snapshot has %d ports", sm, len(r.owner))
		}
		if err := r.b.SetSMPort(r.owner[sm], int(r.num[sm])); err != nil {
			return nil, err
		}
	}
	return r.b.Build()
}

func (r *fabricReader) node() error {
	d := r.d
	n := fabric.Node{GUID: d.uint(math.MaxUint64), SystemGUID: d.uint(math.MaxUint64), Desc: d.string()}
	n.VendorID, n.Revision = uint32(d.uint(math.MaxUint32)), uint32(d.uint(math.MaxUint32))
	n.DeviceID, n.Type = uint16(d.uint(math.MaxUint16)), mad.NodeType(d.uint(math.MaxUint8))
	n.NumPorts = uint8(d.uint(254))
	flags := d.uint(enhancedPort0 | noRevision)
	n.EnhancedPort0, n.NoRevision = flags&enhancedPort0 != 0, flags&noRevision != 0
	if d.err != nil {
		return d.err
	}
	if len(r.owner)+int(n.NumPorts) >= maxPorts {
		return fmt.Errorf("more than %d ports", maxPorts)
	}
	i, err := r.b.AddNode(n)
	if err != nil {
		return err
	}
	for p := 0; p <= int(n.NumPorts); p++ {
		port := r.b.Port(i, p)
		if port == nil {
			port = new(fabric.Port)
		}
		r.peer = append(r.peer, r.port(port))
		r.owner, r.num = append(r.owner, i), append(r.num, uint8(p))
	}
	return nil
}

// port decodes a port and returns its peer.
func (r *fabricReader) port(p *fabric.Port) (peer int32) {
	d := r.d
	p.GUID = d.uint(math.MaxUint64)
	peer = decodeIndex[int32](d, maxPorts)
	p.LID, p.SMLID, p.CapMask = uint16(d.uint(math.MaxUint16)), uint16(d.uint(math.MaxUint16)),
		uint32(d.uint(math.MaxUint32))
	p.LMC, p.State = uint8(d.uint(7)), mad.PortState(d.uint(math.MaxUint8))
	p.Width, p.Speed = fabric.Width(d.uint(math.MaxUint8)), fabric.Speed(d.uint(math.MaxUint8))
	p.MTU, p.VLCap, p.OperVLs = uint8(d.uint(math.MaxUint8)), uint8(d.uint(math.MaxUint8)), uint8(d.uint(math.MaxUint8))
	return peer
}

// unreachable decodes the unreachable end ports. They follow the nodes and may be absent.
func (r *fabricReader) unreachable() error {
	if r.d.size() == 0 {
		return nil
	}
	var ports []fabric.PortIndex
	for range r.d.uint(maxPorts) {
		if ports = append(ports, decodeIndex[fabric.PortIndex](r.d, maxPorts)); r.d.err != nil {
			return r.d.err
		}
	}
	return r.b.SetUnreachable(ports)
}

func (r *fabricReader) connect() error {
	for i, peer := range r.peer {
		if int(peer) <= i {
			continue
		}
		if int(peer) >= len(r.peer) {
			return fmt.Errorf("a link to port index %d, but the snapshot has %d ports", peer, len(r.peer))
		}
		if err := r.b.Connect(r.owner[i], int(r.num[i]), r.owner[peer], int(r.num[peer])); err != nil {
			return err
		}
	}
	return nil
}
