// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"strings"

	"example.org/ibconsole/mad"
)

const vendorBull = 0x119f

// MayAdapt reports whether switches of a vendor may have the adaptive-routing attributes. These attributes are specific
// to NVIDIA.
func MayAdapt(vendor uint32) bool { return vendor == VendorMellanox }

// KnowsFDR10 reports whether OpenSM 3.3.23 and ibnetdiscover ask a node of this device for MellanoxExtendedPortInfo.
// Without this attribute, FDR10 looks like QDR. The list is that of is_mlnx_ext_port_info_supported in libibnetdisc of
// rdma-core.
func KnowsFDR10(vendor uint32, device uint16) bool {
	switch d := device; {
	case d >= 0xc738 && d <= 0xc73b, d == 0xc839, d == 0xcb20, d == 0xcf08, d == 0xcf09, d == 0xd2f0, d == 0xa2d2,
		d >= 0x1003 && d <= 0x101b:
		return true
	case vendor != vendorBull:
		return false
	}
	switch d := device; d {
	case 0x1b02, 0x1b33, 0x1b40, 0x1b41, 0x1b50, 0x1b60, 0x1b61, 0x1b73, 0x1b83, 0x1b93, 0x1b94, 0x1ba0, 0x1bb4,
		0x1bb5, 0x1bf0:
		return true
	default:
		return d >= 0x1bc4 && d <= 0x1bc6 || d >= 0x1bd0 && d <= 0x1bd5
	}
}

// qdr is the code for QDR in the field LinkSpeedActive of PortInfo. FDR10 has the same code.
const qdr = 4

// MayBeFDR10 reports whether a port that reports QDR must be asked for MellanoxExtendedPortInfo.
func MayBeFDR10(port *mad.PortInfo, vendor uint32, device uint16) bool {
	return port.LinkSpeedActive == qdr && port.LinkSpeedExtActive == 0 && KnowsFDR10(vendor, device)
}

// The criteria by which a channel adapter is identified as an aggregation node.
const (
	AggregationByName   = "its description names an aggregation node"
	AggregationByDevice = "its device id is that of an aggregation node"
	AggregationBySystem = "it is part of the switch that it is attached to"
	AggregationByPort   = "it is attached to an internal port of its switch"
)

// tickRule is how switch ASICs of a family count XmitWait.
type tickRule struct {
	bytes   float64 // of one count
	perLane bool    // of each lane
}

// tickRules holds the rules by device ID. Quantum switches count once for each 8 bytes that the port could have sent,
// older ones once for each 32 bytes of each lane (NVIDIA, ibdiagnet manual 2.13, "Congestion Assessment on InfiniBand
// Links"). PortSamplesControl has one less than these bytes as Tick.
var tickRules = map[uint16]tickRule{
	0xc738: {32, true}, 0xcb20: {32, true}, 0xcf08: {32, true}, // SwitchX, Switch-IB, Switch-IB 2
	0xd2f0: {8, false}, 0xd2f2: {8, false}, 0xd2f4: {8, false}, // Quantum, Quantum-2, Quantum-3
}

// WaitBytes returns the bytes that a port of a device could have sent in one count of its XmitWait. The argument tick
// is the Tick of the port's PortSamplesControl. It returns false if the rule of the device is unknown.
func WaitBytes(vendor uint32, device uint16, width Width, tick uint8) (float64, bool) {
	rule, known := tickRules[device]
	switch {
	case !known || vendor != VendorMellanox:
		return 0, false
	case rule.perLane:
		return (float64(tick) + 1) * float64(width), width > 0
	}
	return float64(tick) + 1, true
}

// Tick returns the Tick of PortSamplesControl of the switches of a device, 7 for an unknown device.
func Tick(device uint16) uint8 {
	if rule, known := tickRules[device]; known {
		return uint8(rule.bytes) - 1
	}
	return 7
}

// VendorMellanox is the vendor ID of NVIDIA's switches and adapters.
const VendorMellanox = 0x2c9

// models names NVIDIA's switches and adapters by device ID. The source is the PCI ID database (pci-ids.ucw.cz), where
// the vendor is 15b3.
var models = map[uint16]string{
	0xbd36: "InfiniScale IV", 0xc738: "SwitchX", 0xcb20: "Switch-IB", 0xcf08: "Switch-IB 2", 0xd2f0: "Quantum",
	0xd2f2: "Quantum-2", 0xd2f4: "Quantum-3", aggregationDevice: "Quantum aggregation node",
	0x673c: "ConnectX-2", 0x1003: "ConnectX-3", 0x1007: "ConnectX-3 Pro", 0x1011: "Connect-IB", 0x1013: "ConnectX-4",
	0x1017: "ConnectX-5", 0x1019: "ConnectX-5 Ex", 0x101b: "ConnectX-6", 0x1021: "ConnectX-7", 0x1023: "ConnectX-8",
	0xa2d2: "BlueField", 0xa2d6: "BlueField-2", 0xa2dc: "BlueField-3",
}

// Model returns the name of the device of a node, "" if it is unknown.
func (n *Node) Model() string {
	if n.VendorID != VendorMellanox {
		return ""
	}
	return models[n.DeviceID]
}

// IsGeneric reports whether the description of a host does not identify the host.
func (f *Fabric) IsGeneric(node NodeIndex) bool {
	n := &f.Nodes[node]
	return n.Type == mad.NodeCA && isGeneric(n.Desc) && !f.IsAggregation(node)
}

// isGeneric reports whether a description is one of the firmware, or of a host without a name. It is called for each
// host whenever problems are listed, so it does not use a regular expression.
func isGeneric(desc string) bool {
	desc = strings.ToLower(desc)
	const vendor, series = "mellanox technologies", "mt"
	switch {
	case strings.Trim(desc, " \t\n\f\r") == "", strings.Contains(desc, vendor), strings.HasPrefix(desc, "connectx"),
		strings.HasPrefix(desc, "infiniband hca"):
		return true
	case strings.HasPrefix(desc, series):
		return len(desc) > len(series) && desc[len(series)] >= '0' && desc[len(series)] <= '9'
	}
	for _, unnamed := range []string{"localhost", "(none)"} {
		if rest, found := strings.CutPrefix(desc, unnamed); found {
			return rest == "" || rest[0] != '_' && (rest[0] < '0' || rest[0] > '9') && (rest[0] < 'a' || rest[0] > 'z')
		}
	}
	return false
}

// aggregationDevice is the device ID 53001 of the aggregation nodes in Quantum switches.
const aggregationDevice = 0xcf09

// internalPort contains the numbers of internal ports. A Mellanox switch with 41, 65 or 129 ports has no connector for
// its last port.
var internalPort = map[uint8]bool{41: true, 65: true, 129: true}

// Aggregation returns the criterion by which a node is identified as an aggregation node, "" for all other nodes. An
// aggregation node is a channel adapter inside a switch that reduces data in the network (SHARP). It is not a host.
// O(1).
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
	case sw.VendorID == VendorMellanox && internalPort[sw.NumPorts] && f.Ports[f.Ports[p].Peer].Num == sw.NumPorts:
		return AggregationByPort
	}
	return ""
}

// IsAggregation reports whether a node is an aggregation node.
func (f *Fabric) IsAggregation(node NodeIndex) bool { return f.Aggregation(node) != "" }
