// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"strings"
	"testing"
)

func TestNodeInfo(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Answer of ibsim 0.10 to smpquery -D nodeinfo 0,1.
		b := golden(t, `01010208 0002c90300a00020 0002c90300a00020 0002c90300a00020
			0008 d2f0 000000a1 04 0002c9`)
		checkAttribute(t, b, NodeInfo{
			BaseVersion: 1, ClassVersion: 1, Type: NodeSwitch, NumPorts: 8,
			SystemImageGUID: 0x0002c90300a00020, NodeGUID: 0x0002c90300a00020, PortGUID: 0x0002c90300a00020,
			PartitionCap: 8, DeviceID: 0xd2f0, Revision: 0xa1, LocalPort: 4, VendorID: 0x0002c9,
		})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `010203291122334455667788223344556677889933445566778899aa1234d2f0456789ab1702c9f3`)
		b[63] = 0x5a // reserved
		checkAttribute(t, b, NodeInfo{
			BaseVersion: 1, ClassVersion: 2, Type: NodeRouter, NumPorts: 0x29,
			SystemImageGUID: 0x1122334455667788, NodeGUID: 0x2233445566778899, PortGUID: 0x33445566778899aa,
			PartitionCap: 0x1234, DeviceID: 0xd2f0, Revision: 0x456789ab, LocalPort: 0x17, VendorID: 0x02c9f3,
			spare: [24]byte{23: 0x5a},
		})
	})
}

func TestNodeInfoVendorIsNarrow(t *testing.T) {
	a := NodeInfo{LocalPort: 7, VendorID: 0xff0002c9}
	b, err := a.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	if b[36] != 7 {
		t.Errorf("a vendor beyond 24 bits made the local port %d, want 7", b[36])
	}
}

func FuzzNodeInfo(f *testing.F) { fuzzAttribute[NodeInfo](f) }

func TestNodeTypeString(t *testing.T) {
	for typ, want := range map[NodeType]string{
		NodeCA: "Channel Adapter", NodeSwitch: "Switch", NodeRouter: "Router", 9: "?(9)?",
	} {
		if got := typ.String(); got != want {
			t.Errorf("NodeType(%d) is %q, want %q", uint8(typ), got, want)
		}
	}
}

func TestNodeDescription(t *testing.T) {
	// Answer of ibsim 0.10 to smpquery -D nodedesc 0,1.
	b := golden(t, `6c656166206f6e65`)
	checkAttribute(t, b, NewNodeDescription("leaf one"))
}

func TestNodeDescriptionString(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"sw1", "sw1"},
		{"one\x00two", "one"},
		{"\x00hidden", ""},
		{"\x1b[2J\xff", "\x1b[2J\xff"},
		{long, long[:64]},
	} {
		d := NewNodeDescription(c.text)
		if got := d.String(); got != c.want {
			t.Errorf("description of %q is %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzNodeDescription(f *testing.F) { fuzzAttribute[NodeDescription](f) }
