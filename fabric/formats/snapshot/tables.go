// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// encodeLFT encodes the forwarding tables. The pieces refer to the rows of t, without copies.
func encodeLFT(t *fabric.Tables) (pieces [][]byte) {
	e := &encoder{}
	e.string(t.Origin)
	e.uint(uint64(t.LFT.MaxLID))
	for sw := range t.Fabric.NumSwitches() {
		e.bool(t.Known[sw])
		e.uint(uint64(t.Top[sw]))
		pieces = append(pieces, e.b, t.LFT.Row(sw)[:int(t.LFT.MaxLID)+1])
		e.b = nil
	}
	return append(pieces, e.b)
}

func decodeLFT(f *fabric.Fabric, d *decoder) (*fabric.Tables, error) {
	t := &fabric.Tables{
		Fabric: f, Origin: d.string(), Top: make([]uint16, len(f.Switches)), Known: make([]bool, len(f.Switches)),
	}
	most := uint16(d.uint(fabric.MaxUnicastLID))
	if need := len(f.Switches) * (int(most) + 3); d.err != nil || d.size() < int64(need) {
		return nil, fmt.Errorf("lft: %w", errShort)
	}
	t.LFT = fabric.NewLFT(len(f.Switches), most)
	for sw := range f.NumSwitches() {
		t.Known[sw], t.Top[sw] = d.bool(), uint16(d.uint(0xffff))
		d.into(t.LFT.Row(sw)[:int(most)+1])
	}
	if d.err != nil {
		return nil, fmt.Errorf("lft: %w", d.err)
	}
	return t, nil
}

// eachVLs calls the function visit for every SL2VL table of a fabric, in the order of the file.
func eachVLs(f *fabric.Fabric, visit func(node fabric.NodeIndex, in, out uint8)) {
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		ins := 1
		if n.IsSwitch() {
			ins = int(n.NumPorts) + 1
		}
		for in := range ins {
			for out := range int(n.NumPorts) + 1 {
				visit(i, uint8(in), uint8(out))
			}
		}
	}
}

func encodeSL2VL(f *fabric.Fabric, t *fabric.SL2VL) []byte {
	e := &encoder{}
	eachVLs(f, func(node fabric.NodeIndex, in, out uint8) {
		vls := t.VLs(node, in, out)
		e.bytes(vls[:])
	})
	return e.b
}

func decodeSL2VL(f *fabric.Fabric, d *decoder) (*fabric.SL2VL, error) {
	if d.size() < slotsOf(f)*int64(len(fabric.VLs{})) {
		return nil, fmt.Errorf("sl2vl: %w", errShort)
	}
	t := fabric.NewSL2VL(f)
	different := map[fabric.VLs]bool{}
	eachVLs(f, func(node fabric.NodeIndex, in, out uint8) {
		var vls fabric.VLs
		d.into(vls[:])
		if different[vls] = true; len(different) > maxVLs {
			d.fail(fmt.Errorf("more than %d different tables", maxVLs))
		}
		if d.err == nil {
			t.Set(node, in, out, vls)
		}
	})
	if d.err != nil {
		return nil, fmt.Errorf("sl2vl: %w", d.err)
	}
	return t, nil
}

// slotsOf returns the number of SL2VL tables of a fabric.
func slotsOf(f *fabric.Fabric) (n int64) {
	for i := range f.Nodes {
		ports := int64(f.Nodes[i].NumPorts) + 1
		if f.Nodes[i].IsSwitch() {
			ports *= ports
		}
		n += ports
	}
	return n
}

// maxVLs is the maximum number of different SL2VL tables in a file.
const maxVLs = 1 << 15

func encodeMFT(f *fabric.Fabric, t *fabric.MFT) []byte {
	e := &encoder{}
	e.uint(uint64(t.LIDs()))
	for sw := range f.NumSwitches() {
		for i := range t.LIDs() {
			for _, w := range t.Ports(sw, fabric.FirstMLID+uint16(i)) {
				e.uint(w)
			}
		}
	}
	return e.b
}

func decodeMFT(f *fabric.Fabric, d *decoder) (*fabric.MFT, error) {
	lids := int(d.uint(0xffff - fabric.FirstMLID))
	if d.err != nil || d.size() < int64(lids)*int64(len(f.Switches)) {
		return nil, fmt.Errorf("mft: %w", errShort)
	}
	if need := fabric.MFTSize(f, lids); need > maxMFT {
		return nil, fmt.Errorf("mft: %d multicast LIDs take %d MB, expected at most %d", lids, need>>20, maxMFT>>20)
	}
	t := fabric.NewMFT(f, uint16(fabric.FirstMLID+lids-1))
	for sw := range f.NumSwitches() {
		for i := range lids {
			set := t.Ports(sw, fabric.FirstMLID+uint16(i))
			for w := range set {
				set[w] = d.uint(1<<64 - 1)
			}
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("mft: %w", d.err)
	}
	return t, nil
}

func encodeMFTUnread(t *fabric.MFT) []byte {
	e := &encoder{}
	for _, unread := range t.Unread {
		e.bool(unread)
	}
	return e.b
}

func decodeMFTUnread(f *fabric.Fabric, t *fabric.MFT, d *decoder) error {
	t.Unread = make([]bool, len(f.Switches))
	for sw := range t.Unread {
		t.Unread[sw] = d.bool()
	}
	return d.err
}

// maxMFT is the maximum memory of multicast tables in bytes. It is enough for all 16 K multicast LIDs on 3,000 switches
// with up to 127 ports.
const maxMFT = 800 << 20

func encodeUnread(u fabric.Unread) []byte {
	e := &encoder{}
	e.bool(u.SLs)
	e.bool(u.SL2VL)
	return e.b
}

func decodeUnread(d *decoder) (fabric.Unread, error) {
	u := fabric.Unread{SLs: d.bool(), SL2VL: d.bool()}
	if d.err != nil {
		return fabric.Unread{}, fmt.Errorf("unread: %w", d.err)
	}
	return u, nil
}
