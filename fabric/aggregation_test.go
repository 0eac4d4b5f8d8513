// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// TestAggregation has one adapter on each port of a switch of 41: what each is follows from the definitions.
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
