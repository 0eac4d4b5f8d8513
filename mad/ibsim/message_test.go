// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"bytes"
	"errors"
	"testing"

	"example.org/ibconsole/mad"
)

// By hand from ibsim's include/ibsim.h; the other tests speak to a real one.
func TestControl(t *testing.T) {
	c := control{kind: ctlConnect, data: connectData(0x01020304, "H-1", false)}
	want := make([]byte, 80)
	copy(want, "\xef\xbe\xad\xde\x00\x00\x00\x00\x01\x00\x00\x00\x2c\x00\x00\x00\x04\x03\x02\x01")
	copy(want[28:], "H-1")
	if got := c.encode(); !bytes.Equal(got, want) {
		t.Errorf("encoded\n%x, want\n%x", got, want)
	}
	data, err := decodeReply(want, ctlConnect)
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
		if _, err := decodeReply(c.b, ctlDisconnect); !errors.Is(err, c.want) {
			t.Errorf("%x: %v, want %v", c.b, err, c.want)
		}
	}
}

func FuzzDecodeReply(f *testing.F) {
	f.Add((&control{kind: ctlConnect, data: connectData(3, "node 7", true)}).encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		data, err := decodeReply(b, ctlConnect)
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
