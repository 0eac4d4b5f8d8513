// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"testing"
)

func TestGUIDInfo(t *testing.T) {
	// Answer of ibsim 0.10 for a channel adapter.
	checkAttribute(t, golden(t, `0002c90300b00031`), GUIDInfo{0x0002c90300b00031})
	b := golden(t, `0002c90300b00031`) // the last by hand
	b[63] = 7
	checkAttribute(t, b, GUIDInfo{0x0002c90300b00031, 7: 7})
}

func TestPKeyTable(t *testing.T) {
	// The first is the answer of ibsim 0.10 after OpenSM 3.3.23 ran; the second is laid out by hand.
	checkAttribute(t, golden(t, `ffff`), PKeyTable{PKeyDefault})
	checkAttribute(t, golden(t, `ffff 0001 8001`), PKeyTable{PKeyDefault, 1, 0x8001})
	if k := PKey(0x8001); k.Partition() != 1 || k&PKeyFull == 0 {
		t.Errorf("0x8001 is partition %d", k.Partition())
	}
	// By hand from IBA 14.2.5.7: the port in the upper half, the block in the lower.
	if got := PKeyMod(3, 2); got != 0x00030002 {
		t.Errorf("modifier 0x%08x", got)
	}
}

func TestVLArbitrationTable(t *testing.T) {
	// Answers of ibsim 0.10 for the low and the high table of a switch's port after
	// OpenSM 3.3.23 ran.
	checkAttribute(t, golden(t, `0000 0104 0204 0304 0404 0504 0604 0704`), VLArbitrationTable{
		{VL: 0}, {VL: 1, Weight: 4}, {VL: 2, Weight: 4}, {VL: 3, Weight: 4},
		{VL: 4, Weight: 4}, {VL: 5, Weight: 4}, {VL: 6, Weight: 4}, {VL: 7, Weight: 4},
	})
	checkAttribute(t, golden(t, `0004 0100 0200 0300 0400 0500 0600 0700`), VLArbitrationTable{
		{VL: 0, Weight: 4}, {VL: 1}, {VL: 2}, {VL: 3}, {VL: 4}, {VL: 5}, {VL: 6}, {VL: 7},
	})
	checkAttribute(t, golden(t, `a5ff`), VLArbitrationTable{{VL: 5, Weight: 255, spare: 0xa}})
	// By hand from IBA 14.2.5.9.
	if got := VLArbMod(VLArbHigh, 9); got != 0x00030009 {
		t.Errorf("modifier 0x%08x", got)
	}
}

func TestNotice(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Sent by ibsim 0.10 when a link of the switch with LID 2 goes down.
		checkAttribute(t, golden(t, `81000002 0080 0002 0000 0002`), Notice{
			Generic: true, Type: NoticeUrgent, Producer: uint32(NodeSwitch), Trap: TrapLinkState, IssuerLID: 2,
			Details: [54]byte{1: 2},
		})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `7f123456 789a bcde ffff 01`)
		b[63] = 0x5a
		checkAttribute(t, b, Notice{
			Type: NoticeEmpty, Producer: 0x123456, Trap: 0x789a, IssuerLID: 0xbcde, Toggle: true, Count: 0x7fff,
			Details: [54]byte{0: 1, 53: 0x5a},
		})
	})
}

func TestNoticeString(t *testing.T) {
	gid := NewGID(DefaultGIDPrefix, 0x0002c90300b00031)
	inService := Notice{Generic: true, Trap: TrapGIDInService, IssuerLID: 1}
	copy(inService.Details[6:], gid[:])
	for _, x := range []struct {
		notice Notice
		want   string
	}{
		{Notice{Generic: true, Trap: TrapLinkState, Details: [54]byte{1: 3}}, "link state changed at LID 3"},
		{
			Notice{Generic: true, Trap: TrapBufferOverrun, Details: [54]byte{3: 9, 4: 7}},
			"excessive buffer overrun at LID 9 port 7",
		},
		{
			Notice{Generic: true, Trap: TrapCapabilityMask, Details: [54]byte{3: 9}},
			"capabilities or description changed at LID 9",
		},
		{Notice{Generic: true, Trap: TrapBadPKeyAtSwitch, Details: [54]byte{3: 9, 50: 4}}, "bad P_Key at LID 9 port 4"},
		{inService, "port came into service: fe80::2:c903:b0:31"},
		{Notice{Generic: true, Trap: 999, IssuerLID: 8}, "trap 999 at LID 8"},
		{
			Notice{Type: NoticeSecurity, Producer: 0x2c9, Trap: 5, IssuerLID: 8},
			"security notice of vendor 0x0002c9, device 0x0005, from LID 8",
		},
	} {
		if got := x.notice.String(); got != x.want {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}

func TestGID(t *testing.T) {
	g := NewGID(DefaultGIDPrefix, 0x0002c90300b00041)
	if g.String() != "fe80::2:c903:b0:41" { // as saquery prints it
		t.Errorf("got %v", g)
	}
	if g.Prefix() != DefaultGIDPrefix || g.GUID() != 0x0002c90300b00041 || g.IsMulticast() ||
		!(GID{0xff, 0x12}).IsMulticast() {
		t.Errorf("%v is %x, %x", g, g.Prefix(), g.GUID())
	}
}

func FuzzGUIDInfo(f *testing.F)           { fuzzAttribute[GUIDInfo](f) }
func FuzzPKeyTable(f *testing.F)          { fuzzAttribute[PKeyTable](f) }
func FuzzVLArbitrationTable(f *testing.F) { fuzzAttribute[VLArbitrationTable](f) }
func FuzzNotice(f *testing.F)             { fuzzAttribute[Notice](f) }

// String returns a description of any notice.
func FuzzNoticeString(f *testing.F) {
	f.Add(make([]byte, DataSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n Notice
		if n.UnmarshalBinary(b) == nil && n.String() == "" {
			t.Errorf("%x has no description", b)
		}
	})
}

func TestLinearForwardingTable(t *testing.T) {
	// Answer of ibsim 0.10 to ibroute -D 0,1 after OpenSM 3.3.23 ran.
	b := golden(t, `ff0100030405`)
	for i := 6; i < len(b); i++ {
		b[i] = 0xff
	}
	var want LinearForwardingTable
	for lid := range want {
		want[lid] = NoPort
	}
	want[1], want[2], want[3], want[4], want[5] = 1, 0, 3, 4, 5
	checkAttribute(t, b, want)
}

func FuzzLinearForwardingTable(f *testing.F) { fuzzAttribute[LinearForwardingTable](f) }

func TestMulticastForwardingTable(t *testing.T) {
	// By hand: LID 0xc000 goes to ports 0 and 9, LID 0xc01f to port 15.
	b := golden(t, `0201`)
	b[62], b[63] = 0x80, 0x00
	checkAttribute(t, b, MulticastForwardingTable{0: 1<<9 | 1<<0, 31: 1 << 15})
}

func TestMulticastMod(t *testing.T) {
	// By hand from IBA 14.2.5.12: 9 bits of block, 4 of position.
	if got := MulticastMod(0x1ff, 2); got != 0x200001ff {
		t.Errorf("got 0x%08x, want 0x200001ff", got)
	}
	if got := MulticastMod(0x3ff, 15); got != 0xf00001ff {
		t.Errorf("got 0x%08x, want 0xf00001ff", got)
	}
}

func FuzzMulticastForwardingTable(f *testing.F) { fuzzAttribute[MulticastForwardingTable](f) }

func TestSLToVLTable(t *testing.T) {
	// Answer of ibsim 0.10 to smpquery -D sl2vl 0,1 3 after OpenSM 3.3.23 ran.
	b := golden(t, `0123456789abcde7`)
	want := SLToVLTable{VL: [SLs]uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7}}
	checkAttribute(t, b, want)
	b[63] = 0x5a // reserved
	want.spare[55] = 0x5a
	checkAttribute(t, b, want)
}

func TestSLToVLMod(t *testing.T) {
	// smpquery asks with this modifier for input port 4 and output port 3.
	if got := SLToVLMod(4, 3); got != 0x0403 {
		t.Errorf("got 0x%08x, want 0x00000403", got)
	}
}

func FuzzSLToVLTable(f *testing.F) { fuzzAttribute[SLToVLTable](f) }
