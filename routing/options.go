// SPDX-License-Identifier: Apache-2.0

package routing

import "example.org/ibconsole/fabric"

// Options are what changes a route, and how to report on the way. In brackets
// stands OpenSM's name of each. The zero value is OpenSM's defaults. What names a
// GUID or port that the subnet does not have is passed over, as OpenSM does.
type Options struct {
	// Progress, where set, is called now and then with the steps done and all
	// there are; a step is one switch in one phase of the engine. It must be quick
	// and may be called from several goroutines.
	Progress func(done, total int)

	// LMC says that 1<<LMC LIDs of each port are routed, and to different systems
	// and switches where that can be (lmc). How many a port has is its own LMC.
	LMC uint8

	// RootGUIDs are the node GUIDs of the roots for updn, as the file lists them
	// (root_guid_file). Nil is no file: updn then looks for roots itself.
	RootGUIDs []uint64
	// DetectRoots makes updn look for roots beside those of RootGUIDs, as OpenSM
	// does after a line that it cannot read.
	DetectRoots bool
	// IDs are the numbers by which updn orders switches of one rank, by node GUID;
	// a switch without takes its GUID (ids_guid_file).
	IDs map[uint64]uint64
	// ConnectRoots lets updn and dnup route between switches that their rule keeps
	// apart (connect_roots).
	ConnectRoots bool

	// RoutingOrder are port GUIDs that are routed before all others
	// (guid_routing_order_file), and RoutingOrderNoScatter takes them out of
	// ScatterPorts (guid_routing_order_no_scatter).
	RoutingOrder          []uint64
	RoutingOrderNoScatter bool
	// IgnoredPorts are switch ports for which routes are not counted
	// (port_prof_ignore_file).
	IgnoredPorts map[SwitchPort]bool
	// ProfileSwitchNodes counts routes to switches too (port_profile_switch_nodes).
	ProfileSwitchNodes bool
	// ScatterPorts is the seed for a random choice among equally used ports; 0
	// takes the first (scatter_ports).
	ScatterPorts uint32
	// PortShifting begins the choice at another port each round, so that tables
	// of different switches do not line up (port_shifting).
	PortShifting bool
	// HopWeights are what leaving by a port counts, 1 to 255, instead of 1
	// (hop_weights_file).
	HopWeights map[SwitchPort]uint8
	// PortSearchOrder are the orders in which the ports of switches are looked
	// through (port_search_ordering_file).
	PortSearchOrder []PortOrder

	// Existing are the tables that the switches hold: a route stays as it is while
	// it is one of the shortest. Nil computes all anew, as OpenSM does on its first
	// sweep and after most changes. Its rows are those of the fabric's switches.
	Existing *fabric.LFT
}

// SwitchPort names a port of a switch by the switch's node GUID.
type SwitchPort struct {
	GUID uint64
	Port uint8
}

// PortOrder are the first ports to look at on a switch; the others follow in
// ascending order. OpenSM takes the first order of a switch and passes over one
// that names a port twice or that the switch does not have.
type PortOrder struct {
	GUID  uint64
	Ports []uint8
}
