// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"bytes"
	"errors"
	"testing"

	"example.org/ibconsole/mad"
)

// Computed by hand from ibsim's include/ibsim.h; the other tests use a real ibsim.
func TestControl(t *testing.T) {
	c := control{kind: ctlConnect, data: connectData(0x01020304, "H-1", false)}
	want := make([]byte, 80)
	copy(want, "\xef\xbe\xad\xde\x00\x00\x00\x00\x01\x00\x00\x00\x2c\x00\x00\x00\x04\x03\x02\x01")
	copy(want[28:], "H-1")
	if got := c.encode(); !bytes.Equal(got, want) {
		t.Errorf("encoded\n%x, want\n%x", got, want)
	}
	want[79] = 5
	r, err := decodeReply(want)
	if err != nil || r.sequence != 5<<24 {
		t.Fatalf("%+v, %v", r, err)
	}
	data, err := r.to(ctlConnect)
	if err != nil {
		t.Fatal(err)
	}
	if id, node := decodeConnect(data); id != 0x01020304 || node != "H-1" {
		t.Errorf("decoded %d, %q", id, node)
	}
}

func TestReplyRefused(t *testing.T) {
	ok := (&control{kind: ctlDisconnect}).encode()
	refused := (&control{kind: ctlError}).encode()
	magic := bytes.Clone(ok)
	magic[0]++
	for _, c := range []struct {
		b    []byte
		want error
	}{
		{ok, nil}, {refused, errRefused}, {magic, errNotIbsim}, {nil, errNotIbsim}, {ok[:79], errNotIbsim},
		{append(bytes.Clone(ok), 0), errNotIbsim}, {(&control{kind: 7}).encode(), errNotIbsim},
	} {
		r, err := decodeReply(c.b)
		if err == nil {
			_, err = r.to(ctlDisconnect)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%x: %v, want %v", c.b, err, c.want)
		}
	}
}

func FuzzDecodeReply(f *testing.F) {
	f.Add((&control{kind: ctlConnect, data: connectData(3, "node 7", true)}).encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeReply(b)
		if err != nil {
			return
		}
		data, err := r.to(ctlConnect)
		if err != nil {
			return
		}
		if _, node := decodeConnect(data); len(node) > nodeIDSize {
			t.Errorf("node %q", node)
		}
	})
}

func TestPacket(t *testing.T) {
	var p packet
	for i := range p {
		p[i] = 0xee // of the packet before
	}
	f := mad.Frame{DLID: mad.PermissiveLID}
	f.Data[0], f.Data[255] = 1, 2
	p.encode(&f)
	want := make([]byte, packetSize)
	copy(want, "\xff\xff\x00\x00\xff\xff")
	want[30] = 1 // 256, big-endian
	want[32], want[287] = 1, 2
	if !bytes.Equal(p[:], want) {
		t.Errorf("encoded\n%x, want\n%x", p, want)
	}
	f.DLID = 0x1234
	p.encode(&f)
	if !bytes.Equal(p[:8], []byte("\x12\x34\x00\x00\x00\x00\x00\x00")) {
		t.Errorf("LIDs %x", p[:8])
	}
	p[offStatus+3] = 110
	got := mad.Frame{Timeout: 1}
	p.decode(&got)
	if got.Status != 110 || got.Data != f.Data || got.Timeout != 0 {
		t.Errorf("decoded %+v", got)
	}
}

// Offsets in a MAD of subnet administration.
const (
	offRMPP    = 24 // version, type, flags, status
	offSegment = 28
	offClassHd = 36
	offSAData  = 56
)

// umad2sim passes on an answer of OpenSM 3.3.23 without segmentation: its header only has the flag of a segmented
// transfer.
func TestFillIn(t *testing.T) {
	answer := func(length int) (p packet) {
		p[offLength+6], p[offLength+7] = uint8(length>>8), uint8(length)
		copy(p[offMAD:], "\x01\x03\x02\x92")
		p[offMAD+offRMPP+2] = mad.RMPPActive
		for i := offSAData; i < mad.Size; i++ {
			p[offMAD+i] = 0xee
		}
		return p
	}
	for length, want := range map[int]string{
		56:  "\x01\x01\x07\x00\x00\x00\x00\x01\x00\x00\x00\x14",
		120: "\x01\x01\x07\x00\x00\x00\x00\x01\x00\x00\x00\x54",
		256: "\x01\x01\x07\x01\x00\x00\x00\x01\x00\x00\x00\xdc", // possibly truncated
	} {
		p := answer(length)
		var f mad.Frame
		p.decode(&f)
		if got := f.Data[offRMPP:offClassHd]; string(got) != want {
			t.Errorf("%d bytes: %x, want %x", length, got, want)
		}
		if length < mad.Size && f.Data[length] != 0 || length > 56 && f.Data[length-1] != 0xee {
			t.Errorf("%d bytes: %x", length, f.Data)
		}
	}
	p := answer(120)
	p[offMAD+offSegment+3] = 7 // already segmented
	var f mad.Frame
	if p.decode(&f); f.Data[offRMPP+2] != mad.RMPPActive || f.Data[offSegment+3] != 7 {
		t.Errorf("became %x", f.Data[offRMPP:offClassHd])
	}
	for _, length := range []int{0, 55, 1 << 15} {
		p := answer(length)
		p.decode(&f) // does not panic
	}
}

func TestControlOfSegmentsIsNotSent(t *testing.T) {
	var f mad.Frame
	copy(f.Data[:], "\x01\x03\x02\x12")
	if mad.ControlsSegments(&f.Data) {
		t.Error("a request counts as one")
	}
	f.Data[offRMPP+1], f.Data[offRMPP+2] = mad.RMPPAck, mad.RMPPActive
	if !mad.ControlsSegments(&f.Data) {
		t.Error("an acknowledgement does not count as one")
	}
}
