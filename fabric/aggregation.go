// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"strings"

	"example.org/ibconsole/mad"
)

// The reasons for which a channel adapter is taken for an aggregation node.
const (
	AggregationByName   = "its name says so"
	AggregationByDevice = "its device id is that of an aggregation node"
	AggregationBySystem = "it is part of the switch that it is attached to"
	AggregationByPort   = "it is attached to the port of its switch that no cable fits"
)

// VendorMellanox is the vendor id of NVIDIA's switches and adapters.
const VendorMellanox = 0x2c9

const (
	// aggregationDevice is the device id of the aggregation nodes of Quantum switches, 53001.
	aggregationDevice = 0xcf09
)

// hiddenPort is the last port of the switches by Mellanox that have an odd number of them, to which no cable fits.
var hiddenPort = map[uint8]bool{41: true, 65: true, 129: true}

// Aggregation says by what a node is known for an aggregation node: a channel adapter inside a switch that reduces
// data in the network (SHARP), and is no host. It is "" for all other nodes. O(1).
func (f *Fabric) Aggregation(node NodeIndex) string {
	n := &f.Nodes[node]
	switch {
	case n.Type != mad.NodeCA:
		return ""
	case strings.Contains(strings.ToLower(n.Desc), "aggregation node"):
		return AggregationByName
	case n.VendorID == VendorMellanox && n.DeviceID == aggregationDevice:
		return AggregationByDevice
	case n.NumPorts == 0:
		return ""
	}
	p := n.FirstPort + 1
	peer := f.PeerNode(p)
	if peer == None || !f.Nodes[peer].IsSwitch() {
		return ""
	}
	sw := &f.Nodes[peer]
	switch {
	case n.SystemGUID != 0 && n.SystemGUID == sw.SystemGUID:
		return AggregationBySystem
	case sw.VendorID == VendorMellanox && hiddenPort[sw.NumPorts] && f.Ports[f.Ports[p].Peer].Num == sw.NumPorts:
		return AggregationByPort
	}
	return ""
}

// IsAggregation reports whether a node is an aggregation node.
func (f *Fabric) IsAggregation(node NodeIndex) bool { return f.Aggregation(node) != "" }
