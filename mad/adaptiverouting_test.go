// SPDX-License-Identifier: Apache-2.0

package mad

import "testing"

// The bytes here were laid out by hand from the bit positions in the doc comments.

func TestAdaptiveRoutingInfo(t *testing.T) {
	checkAttribute(t, golden(t, ``), AdaptiveRoutingInfo{})
	// Bits 0, 3, 4, 28 and sub-groups 2; cap 0x800, top 0x123; SLs 0xfffe of 4 sub-groups; UD excluded; 30 us.
	checkAttribute(t, golden(t, `10000219 00123800 fffe0400 00000001 0000001e`), AdaptiveRoutingInfo{
		Enabled: true, Fallback: true, FallbackEnabled: true, BySL: true, SubGroups: 2, GroupCap: 0x800,
		GroupTop:           0x123,
		SubGroupsSupported: 4, SLs: 0xfffe, Excluded: 1, Ageing: 30,
	})
	b := golden(t, `ffffffff ffffffff ffffffff ffffffff ffffffff`)
	b[DataSize-1] = 0xa5
	var info AdaptiveRoutingInfo
	if err := info.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	checkAttribute(t, b, info)
	if !info.GlobalGroups || !info.ByTransport || !info.ARN || !info.FRN || !info.BySLSupported ||
		info.GroupTables != 15 || info.GroupTop != 0xfff {
		t.Errorf("%+v", info)
	}
}

func TestAdaptiveRoutingGroupTable(t *testing.T) {
	b := golden(t, ``)
	b[31], b[0], b[63] = 0x02, 0x80, 0x11 // ports 1 and 255 of the first group, 0 and 4 of the second
	var want AdaptiveRoutingGroupTable
	want[0].Add(1)
	want[0].Add(255)
	want[1].Add(0)
	want[1].Add(4)
	checkAttribute(t, b, want)
	if m := want[0]; !m.Has(1) || !m.Has(255) || m.Has(0) || m.Has(65) {
		t.Errorf("%x", m)
	}
}

func TestAdaptiveRoutingLFT(t *testing.T) {
	// LID 0: free, group 0x12, port 3. LID 1: static, port 7. LID 2: hash, table 5. LID 3: bounded. LID 4: bits without
	// a name.
	checkAttribute(t, golden(t, `40030012 80070007 c5000000 00000000 3000f000`), AdaptiveRoutingLFT{
		{State: LIDFree, Group: 0x12, Port: 3}, {State: LIDStatic, Group: 7, Port: 7}, {State: LIDHash, Table: 5}, {},
		{spare: 0x3000f000},
	})
}

func TestPrivateLFTInfo(t *testing.T) {
	checkAttribute(t, golden(t, `01020701`), PrivateLFTInfo{Mode: 1, ModeCap: 7, Tables: 2, NoFallback: true})
	checkAttribute(t, golden(t, `fe00f8f8 ffff`), PrivateLFTInfo{
		spare: [DataSize]byte{0xfe, 0, 0xf8, 0xf8, 0xff, 0xff},
	})
}

func FuzzAdaptiveRoutingInfo(f *testing.F)       { fuzzAttribute[AdaptiveRoutingInfo](f) }
func FuzzAdaptiveRoutingGroupTable(f *testing.F) { fuzzAttribute[AdaptiveRoutingGroupTable](f) }
func FuzzAdaptiveRoutingLFT(f *testing.F)        { fuzzAttribute[AdaptiveRoutingLFT](f) }
func FuzzPrivateLFTInfo(f *testing.F)            { fuzzAttribute[PrivateLFTInfo](f) }
