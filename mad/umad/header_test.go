// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"example.org/ibconsole/mad"
)

// Computed by hand from Linux's asm-generic/ioctl.h: direction, size, magic, number.
func TestIoctls(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("numbers of x86 and arm64")
	}
	for _, c := range []struct {
		name      string
		got, want uint
	}{
		{"IB_USER_MAD_REGISTER_AGENT", registerAgent, 0xc01c1b01},
		{"IB_USER_MAD_UNREGISTER_AGENT", unregisterAgent, 0x40041b02},
		{"IB_USER_MAD_ENABLE_PKEY", enablePKey, 0x1b03},
		{"IB_USER_MAD_REGISTER_AGENT2", registerAgent2, 0xc0281b04},
	} {
		if c.got != c.want {
			t.Errorf("%s is 0x%08x, want 0x%08x", c.name, c.got, c.want)
		}
	}
}

// Laid out by hand from struct ib_user_mad_hdr.
func TestHeader(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("bytes of a little-endian machine")
	}
	h := header{agent: 0x01020304, timeout: 200, qp: 1, lid: 0x1234, sl: 5, pkey: 0x0607}
	copy(h.gid[:], "\xfe\x80\x00\x00\x00\x00\x00\x00ABCDEFGH")
	var b [headerSize]byte
	for i := range b {
		b[i] = 0xee // of the packet before
	}
	h.encode(&b)
	want := "\x04\x03\x02\x01" + "\x00\x00\x00\x00" + "\xc8\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" +
		"\x00\x00\x00\x01" + "\x80\x01\x00\x00" + "\x12\x34" + "\x05\x00" + "\x01\x00\x01\x00" +
		"\xfe\x80\x00\x00\x00\x00\x00\x00ABCDEFGH" + "\x00\x00\x00\x00" + "\x07\x06" + "\x00\x00\x00\x00\x00\x00"
	if string(b[:]) != want {
		t.Errorf("encoded\n%x, want\n%x", b, want)
	}
	var got header
	if got.decode(&b); got != h {
		t.Errorf("decoded %+v, want %+v", got, h)
	}
	h = header{lid: mad.PermissiveLID}
	h.encode(&b)
	if b[offHasGRH] != 0 || b[offQKey] != 0 {
		t.Errorf("an SMP has a GRH or a Q_Key: %x", b)
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]uint32{
		-time.Second: 0, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, 200 * time.Millisecond: 200,
		1 << 62: 1<<31 - 1,
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v is %d ms, want %d", d, got, want)
		}
	}
}

// packet returns the bytes that a device returns.
func packet(h header, status uint32, data []byte) []byte {
	var b [headerSize]byte
	h.encode(&b)
	binary.NativeEndian.PutUint32(b[offStatus:], status)
	return append(b[:], data...)
}

func TestDecodePacket(t *testing.T) {
	mad256 := bytes.Repeat([]byte{0xab}, mad.Size)
	h := header{agent: 3, qp: 1, lid: 7, sl: 2, pkey: 1}
	for name, c := range map[string]struct {
		b    []byte
		want mad.Frame
		ok   bool
	}{
		"answer": {packet(h, 0, mad256), mad.Frame{SLID: 7, QP: 1, SL: 2, PKey: 1}, true},
		"sent back, 6.1's kernel": {
			packet(h, 110, mad256[:24]), mad.Frame{DLID: 7, QP: 1, SL: 2, PKey: 1, Status: 110}, true,
		},
		"sent back whole": {
			packet(h, 110, mad256), mad.Frame{DLID: 7, QP: 1, SL: 2, PKey: 1, Status: 110}, true,
		},
		"less than a common header": {packet(h, 110, mad256[:23]), mad.Frame{}, false},
		"a truncated answer":        {packet(h, 0, mad256[:255]), mad.Frame{}, false},
		"a MAD of Omni-Path":        {packet(h, 0, make([]byte, 2048)), mad.Frame{}, false},
		"nothing":                   {nil, mad.Frame{}, false},
	} {
		if c.ok {
			copy(c.want.Data[:], c.b[headerSize:])
		}
		var got mad.Frame
		if ok := decodePacket(c.b, &got); ok != c.ok || got != c.want {
			t.Errorf("%s: %v, %+v, want %v, %+v", name, ok, got, c.ok, c.want)
		}
	}
}

// TestDecodeUnsegmented decodes answers of OpenSM 3.3.23 that libumad2sim passes on, by their lengths: 120 bytes of a
// path record, and 14 node records, complete or truncated.
func TestDecodeUnsegmented(t *testing.T) {
	for length, want := range map[int]string{
		120:         "\x01\x01\x07\x00\x00\x00\x00\x01\x00\x00\x00\x54",
		256:         "\x01\x01\x07\x01\x00\x00\x00\x01\x00\x00\x00\xdc",
		56 + 14*112: "\x01\x01\x07\x01\x00\x00\x00\x01\x00\x00\x00\xdc",
	} {
		data := make([]byte, length)
		copy(data, "\x01\x03\x02\x92")
		data[26] = mad.RMPPActive
		var f mad.Frame
		if !decodePacket(packet(header{qp: 1, lid: 7}, 0, data), &f) || string(f.Data[24:36]) != want || f.SLID != 7 {
			t.Errorf("%d bytes: %+v", length, f)
		}
	}
}

func FuzzDecodePacket(f *testing.F) {
	f.Add(packet(header{agent: 1, qp: 1, lid: 7}, 0, make([]byte, mad.Size)))
	f.Add(packet(header{lid: 0xffff}, 110, make([]byte, 24)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		old := mad.Frame{DLID: 0xabcd}
		frame := old
		if !decodePacket(b, &frame) {
			if frame != old {
				t.Error("changed a frame without a packet")
			}
			return
		}
		if frame.Status == 0 && len(b) != packetSize {
			if mad.Class(b[headerSize+1]) != mad.ClassSA {
				t.Errorf("an answer of %d bytes", len(b))
			}
			return
		}
		if frame.Status == 0 && mad.Class(b[headerSize+1]) == mad.ClassSA {
			return // may have been completed
		}
		if n := len(b) - headerSize; !bytes.Equal(frame.Data[:n], b[headerSize:]) ||
			len(bytes.Trim(frame.Data[n:], "\x00")) > 0 {
			t.Errorf("MAD %x of %x", frame.Data, b)
		}
	})
}

// Laid out by hand from struct ib_user_mad_reg_req and ib_user_mad_reg_req2.
func TestRequests(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("bytes of a little-endian machine")
	}
	a := agent{class: mad.ClassSA, version: 2, qp: 1}
	want := make([]byte, 40)
	copy(want[4:], "\x01\x00\x00\x00\x03\x02")
	if got := a.request2(); !bytes.Equal(got[:], want) {
		t.Errorf("request2 %x, want %x", got, want)
	}
	want = make([]byte, 28)
	copy(want[20:], "\x01\x03\x02")
	if got := a.request(); !bytes.Equal(got[:], want) {
		t.Errorf("request %x, want %x", got, want)
	}
	a = agent{class: mad.ClassSMPLID, version: 1, takes: 1 << 5} // traps
	if got := a.request2(); got[16] != 0x20 {
		t.Errorf("request2 for traps %x", got)
	}
	if got := a.request(); got[4] != 0x20 {
		t.Errorf("request for traps %x", got)
	}
}
