// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// Packets of smpquery -D nodeinfo 0,1,3 over ibsim 0.10. Behind the two hops of the return path ibsim leaves old
// contents of its memory.
const (
	goldenRequest = `
	01810101 0000 00 02 000000004602f1e6 0011 0000 00000000 0000000000000000 ffff ffff ` + zero28 +
		zero64 + path64 + zero64
	goldenAnswer = `
	01810181 8000 00 02 000000014602f1e6 0011 0000 00000000 0000000000000000 ffff ffff ` + zero28 + `
	010101010002c90300b000300002c90300b000300002c90300b0003100401017000000a1010002c9
	000000000000000000000000000000000000000000000000` + path64 + `
	010401000000000000000000000000000000000000000000000000000000000000000000000000000000000025000000
	000000000040c2f10700000000000000`
	path64 = `
	00010300000000000000000000000000 00000000000000000000000000000000
	00000000000000000000000000000000 00000000000000000000000000000000`
	zero28 = `00000000000000000000000000000000000000000000000000000000`
	zero64 = `
	00000000000000000000000000000000 00000000000000000000000000000000
	00000000000000000000000000000000 00000000000000000000000000000000`
)

func packet(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != Size {
		t.Fatalf("the golden packet has %d bytes", len(b))
	}
	return b
}

// pathOf returns the directed route of a packet from the local node.
func pathOf(s *SMP) Path {
	p, _ := Path{}.Append(s.InitialPath[1 : 1+s.HopCount]...)
	return p
}

func TestSMPRequest(t *testing.T) {
	want := packet(t, goldenRequest)
	req := SMP{BaseVersion: 1, ClassVersion: 1, Method: MethodGet, TID: 0x4602f1e6, Attr: AttrNodeInfo}
	req.SetPath(mustPath(t, "0,1,3"))
	var got [Size]byte
	req.Put(&got)
	if !bytes.Equal(got[:], want) {
		t.Errorf("encoded\n%x, want\n%x", got, want)
	}
	var again SMP
	if err := again.UnmarshalBinary(want); err != nil || again != req {
		t.Errorf("decoded %+v, %v, want %+v", again, err, req)
	}
}

func TestSMPAnswer(t *testing.T) {
	b := packet(t, goldenAnswer)
	var s SMP
	if err := s.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if s.Class != ClassSMPDirected || s.Method != MethodGetResp || !s.Direction || s.Status != StatusOK ||
		s.TID != 0x14602f1e6 || s.Attr != AttrNodeInfo || s.HopPointer != 0 || s.HopCount != 2 ||
		s.DrSLID != PermissiveLID || s.DrDLID != PermissiveLID {
		t.Errorf("decoded %+v", s)
	}
	if p := pathOf(&s); p != mustPath(t, "0,1,3") {
		t.Errorf("path %v", p)
	}
	if s.ReturnPath[1] != 4 || s.ReturnPath[2] != 1 {
		t.Errorf("return path %v", s.ReturnPath)
	}
	var info NodeInfo
	if err := info.UnmarshalBinary(s.Data[:]); err != nil || info.NodeGUID != 0x0002c90300b00030 {
		t.Errorf("data %+v, %v", info, err)
	}
	var again [Size]byte
	if s.Put(&again); !bytes.Equal(again[:], b) {
		t.Errorf("encoded\n%x, want\n%x", again, b)
	}
}

func TestSMPStatusAndDirection(t *testing.T) {
	s := SMP{Status: 0xffff, Method: MethodGetResp}
	var b [Size]byte
	s.Put(&b)
	if b[4] != 0x7f || b[5] != 0xff {
		t.Errorf("status 0xffff without direction is %x, want 7fff", b[4:6])
	}
	s.Direction = true
	if s.Put(&b); b[4] != 0xff {
		t.Errorf("status 0xffff with direction is %x, want ffff", b[4:6])
	}
}

func TestSMPRefuses(t *testing.T) {
	b := packet(t, goldenRequest)
	var s SMP
	for _, wrong := range [][]byte{nil, {}, b[:64], b[:Size-1], append(bytes.Clone(b), 0)} {
		if err := s.UnmarshalBinary(wrong); !errors.Is(err, ErrLength) {
			t.Errorf("%d bytes: %v, want %v", len(wrong), err, ErrLength)
		}
	}
	b[OffHopCount] = MaxHops + 1
	if err := s.UnmarshalBinary(b); !errors.Is(err, ErrHops) {
		t.Errorf("64 hops: %v, want %v", err, ErrHops)
	}
	b[OffClass] = uint8(ClassSMPLID)
	if err := s.UnmarshalBinary(b); err != nil {
		t.Errorf("LID routed, where there are no hops: %v", err)
	}
}

func FuzzSMP(f *testing.F) {
	f.Add(packet(f, goldenRequest))
	f.Add(packet(f, goldenAnswer))
	f.Add(bytes.Repeat([]byte{0xff}, Size))
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second SMP
		if err := first.UnmarshalBinary(b); err != nil {
			return
		}
		var again [Size]byte
		first.Put(&again)
		if err := second.UnmarshalBinary(again[:]); err != nil || second != first {
			t.Fatalf("decoded again: %+v, %v, want %+v", second, err, first)
		}
	})
}

func TestMethodString(t *testing.T) {
	for m, want := range map[Method]string{MethodGet: "Get", MethodSet: "Set", MethodGetResp: "GetResp",
		0x42: "method 0x42"} {
		if got := m.String(); got != want {
			t.Errorf("0x%02x is %q, want %q", uint8(m), got, want)
		}
	}
}

func TestStatusError(t *testing.T) {
	for status, want := range map[Status]string{
		StatusOK:                 "no error (MAD status 0x0000)",
		StatusBusy:               "busy, discarded (MAD status 0x0001)",
		StatusBadVersion:         "base or class version not supported (MAD status 0x0004)",
		StatusMethodUnsupported:  "method not supported (MAD status 0x0008)",
		StatusMethodAttrMismatch: "method with this attribute not supported (MAD status 0x000c)",
		StatusInvalidValue:       "invalid value in attribute or modifier (MAD status 0x001c)",
		0x0010:                   "reserved code 4 (MAD status 0x0010)",
		0x0200:                   "class specific 0x02 (MAD status 0x0200)",
		0x011f: "busy, discarded, redirected to another agent (not followed), invalid " +
			"value in attribute or modifier, class specific 0x01 (MAD status 0x011f)",
		0x0020: "reserved bits (MAD status 0x0020)",
	} {
		if got := status.Error(); got != want {
			t.Errorf("0x%04x is %q, want %q", uint16(status), got, want)
		}
	}
}
