// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
)

func generate(t *testing.T, spec string) *fabric.Fabric {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func inSubnet(f *fabric.Fabric) int {
	n := 0
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet {
			n++
		}
	}
	return n
}

// TestWithoutKeepsIndexes removes two links of a ring of 5 switches with a host each. The part with the SM, on host 0,
// remains the subnet.
func TestWithoutKeepsIndexes(t *testing.T) {
	f := generate(t, "torus:5")
	var ring []fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			ring = append(ring, l)
		}
	}
	if len(ring) != 5 || inSubnet(f) != 10 {
		t.Fatalf("%d links between switches, %d nodes", len(ring), inSubnet(f))
	}
	g := f.Without(ring[:1])
	if inSubnet(g) != 10 || len(g.Links()) != 9 || fabric.Same(f, g) {
		t.Errorf("one cut: %d nodes, %d links", inSubnet(g), len(g.Links()))
	}
	h := f.Without(ring[:2])
	if n := inSubnet(h); n == 10 || n%2 != 0 || h.SMPort != f.SMPort {
		t.Errorf("two cuts: %d nodes, SM on %s", n, h.PortName(h.SMPort))
	}
	if len(f.Links()) != 10 || !fabric.Same(f, f.Without(nil)) {
		t.Error("the fabric itself changed")
	}
}

// TestWithoutTheSMPort removes the SM's own link. The other nodes remain a subnet.
func TestWithoutTheSMPort(t *testing.T) {
	f := generate(t, "torus:5")
	l, ok := f.LinkOf(f.SMPort)
	if !ok {
		t.Fatal("the SM's port has no link")
	}
	g := f.Without([]fabric.Link{l})
	if inSubnet(g) != 9 || g.Nodes[f.Ports[f.SMPort].Node].InSubnet {
		t.Errorf("%d nodes, want the 9 others", inSubnet(g))
	}
	if all := f.Without(f.Links()); inSubnet(all) != 1 {
		t.Errorf("without any link %d nodes, want one switch or the SM's port", inSubnet(all))
	}
}

func TestAssignLIDs(t *testing.T) {
	f := generate(t, "torus:3")
	g, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	// Worked out by hand: GUIDs of hosts are 0x100000+2n, their port GUIDs one more, those of switches 0x200000+n. The
	// SM's port 0x100001 comes first. The others are sorted by their last byte, then by the first: 0x200000, 0x200001,
	// 0x200002, 0x100003, 0x100005.
	for guid, lid := range map[uint64]uint16{0x100001: 1, 0x200000: 2, 0x200001: 3, 0x200002: 4, 0x100003: 5,
		0x100005: 6} {
		if p := g.PortByGUID(guid); p == fabric.None || g.Ports[p].LID != lid || g.PortByLID(lid) != p {
			t.Errorf("port GUID 0x%x does not have LID %d", guid, lid)
		}
	}
	if again, err := fabric.AssignLIDs(g); err != nil || again != g {
		t.Error("AssignLIDs does not return a fabric with all LIDs unchanged")
	}
	if g.MaxLID != 6 || f.MaxLID != 0 {
		t.Errorf("highest LIDs %d and %d, want 6 and, untouched, 0", g.MaxLID, f.MaxLID)
	}
}

// TestAggregation attaches one adapter at a time to a switch with 41 ports and checks each criterion.
func TestAggregation(t *testing.T) {
	const mellanox, system = 0x2c9, 0x77
	for _, c := range []struct {
		want string
		port int
		node fabric.Node
	}{
		{"", 1, fabric.Node{Desc: "node-1 mlx5_0", VendorID: mellanox, SystemGUID: 1}},
		{fabric.AggregationByName, 2, fabric.Node{Desc: "Mellanox Technologies Aggregation Node"}},
		{fabric.AggregationByDevice, 3, fabric.Node{Desc: "a", VendorID: mellanox, DeviceID: 53001}},
		{"", 4, fabric.Node{Desc: "a", VendorID: 0x119f, DeviceID: 53001}},
		{fabric.AggregationBySystem, 5, fabric.Node{Desc: "a", SystemGUID: system}},
		{fabric.AggregationByPort, 41, fabric.Node{Desc: "a"}},
		{"", 40, fabric.Node{Desc: "a"}},
	} {
		var b fabric.Builder
		sw, err := b.AddNode(fabric.Node{GUID: 0x10, SystemGUID: system, VendorID: mellanox, Type: mad.NodeSwitch,
			NumPorts: 41, Desc: "sw"})
		if err != nil {
			t.Fatal(err)
		}
		c.node.GUID, c.node.Type, c.node.NumPorts = 0x20, mad.NodeCA, 1
		ca, err := b.AddNode(c.node)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Connect(ca, 1, sw, c.port); err != nil {
			t.Fatal(err)
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Aggregation(ca); got != c.want || f.Aggregation(sw) != "" {
			t.Errorf("on port %d: %q, want %q", c.port, got, c.want)
		}
	}
}
