// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

func encodeLFT(t *fabric.Tables) []byte {
	e := &encoder{}
	e.string(t.Origin)
	e.uint(uint64(t.LFT.MaxLID))
	for sw := range t.Fabric.NumSwitches() {
		e.bool(t.Known[sw])
		e.uint(uint64(t.Top[sw]))
		e.bytes(t.LFT.Row(sw)[:int(t.LFT.MaxLID)+1])
	}
	return e.b
}

func decodeLFT(f *fabric.Fabric, b []byte) (*fabric.Tables, error) {
	d := &decoder{b: b}
	t := &fabric.Tables{Fabric: f, Origin: d.string(), Top: make([]uint16, len(f.Switches)), Known: make([]bool, len(f.Switches))}
	most := uint16(d.uint(fabric.MaxUnicastLID))
	if need := len(f.Switches) * (int(most) + 3); d.err != nil || len(d.b) < need {
		return nil, fmt.Errorf("lft: %w", errShort)
	}
	t.LFT = fabric.NewLFT(len(f.Switches), most)
	for sw := range f.NumSwitches() {
		t.Known[sw], t.Top[sw] = d.bool(), uint16(d.uint(0xffff))
		copy(t.LFT.Row(sw), d.bytes(int(most)+1))
	}
	if d.err != nil {
		return nil, fmt.Errorf("lft: %w", d.err)
	}
	return t, nil
}

// eachVLs calls visit for every SL2VL table of a fabric, in order.
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

func decodeSL2VL(f *fabric.Fabric, b []byte) (*fabric.SL2VL, error) {
	d := &decoder{b: b}
	t := fabric.NewSL2VL(f)
	different := map[fabric.VLs]bool{}
	eachVLs(f, func(node fabric.NodeIndex, in, out uint8) {
		var vls fabric.VLs
		copy(vls[:], d.bytes(len(vls)))
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

// maxVLs is how many different SL2VL tables a file may have.
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

func decodeMFT(f *fabric.Fabric, b []byte) (*fabric.MFT, error) {
	d := &decoder{b: b}
	lids := int(d.uint(0xffff - fabric.FirstMLID))
	if d.err != nil || len(d.b) < lids*len(f.Switches) {
		return nil, fmt.Errorf("mft: %w", errShort)
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

func encodeUnread(u fabric.Unread) []byte {
	e := &encoder{}
	e.bool(u.SLs)
	e.bool(u.SL2VL)
	return e.b
}

func decodeUnread(b []byte) (fabric.Unread, error) {
	d := &decoder{b: b}
	u := fabric.Unread{SLs: d.bool(), SL2VL: d.bool()}
	if d.err != nil {
		return fabric.Unread{}, fmt.Errorf("unread: %w", d.err)
	}
	return u, nil
}
