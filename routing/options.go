// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Options are what changes a route, and how to report on the way. In brackets
// stands OpenSM's name of each. The zero value is OpenSM's defaults. What names a
// GUID or port that the subnet does not have is passed over, as OpenSM does.
type Options struct {
	// Progress, where set, is called now and then with the steps done and all there are; a step is one switch
	// in one phase of the engine. It must be quick and may be called from several goroutines.
	Progress func(done, total int)

	// LMC says that 1<<LMC LIDs of each port are routed, and to different systems
	// and switches where that can be (lmc). How many a port has is its own LMC.
	LMC uint8

	// RootGUIDs are the node GUIDs of the roots for updn and ftree, as the file lists them (root_guid_file).
	// Nil is no file: the engines then look for roots themselves.
	RootGUIDs []uint64
	// DetectRoots makes updn look for roots beside those of RootGUIDs, as OpenSM
	// does after a line that it cannot read; ftree then ranks from the hosts.
	DetectRoots bool
	// IDs are the numbers by which updn orders switches of one rank, by node GUID;
	// a switch without takes its GUID (ids_guid_file).
	IDs map[uint64]uint64
	// ConnectRoots lets updn, dnup and ftree route between switches that their rule keeps apart (connect_roots).
	ConnectRoots bool

	// ComputeNodes are the port GUIDs of the compute nodes as the file lists them (cn_guid_file). Nil is no
	// file: then all adapters are compute nodes but those of IONodes.
	ComputeNodes []uint64
	// IONodes are the port GUIDs of the I/O nodes (io_guid_file), nil for no file.
	IONodes []uint64
	// BrokenNodeFile is the option of the two whose file has a line that OpenSM
	// cannot read, "" for none: engines that need the file refuse then.
	BrokenNodeFile string
	// MaxReverseHops is how often a way to an I/O node may turn against the direction of ftree, so that I/O
	// nodes on upper switches reach one another (max_reverse_hops).
	MaxReverseHops uint16
	// QuasiFtreeIndexing makes ftree number the switches from the roots instead of from a leaf (quasi_ftree_indexing).
	QuasiFtreeIndexing bool
	// NoBullMinHop and NoBullSecondary take Bull's two upgrades of 2009 out of ftree, which no option of OpenSM does.
	// Without the first a path that was found stays, also where a shorter one is found later; without the second
	// secondary paths go up in the order of port groups instead of by load. Without both ftree routes as before them,
	// and counts main paths alone.
	NoBullMinHop, NoBullSecondary bool

	// RoutingOrder are port GUIDs that are routed before all others (guid_routing_order_file), and
	// RoutingOrderNoScatter takes them out of ScatterPorts (guid_routing_order_no_scatter).
	RoutingOrder          []uint64
	RoutingOrderNoScatter bool
	// IgnoredPorts are switch ports for which routes are not counted (port_prof_ignore_file).
	IgnoredPorts map[SwitchPort]bool
	// ProfileSwitchNodes counts routes to switches too (port_profile_switch_nodes).
	ProfileSwitchNodes bool
	// ScatterPorts is the seed for a random choice among equally used ports; 0 takes the first (scatter_ports).
	ScatterPorts uint32
	// PortShifting begins the choice at another port each round, so that tables
	// of different switches do not line up (port_shifting).
	PortShifting bool
	// HopWeights are what leaving by a port counts, 1 to 255, instead of 1 (hop_weights_file).
	HopWeights map[SwitchPort]uint8
	// PortSearchOrder are the orders in which the ports of switches are looked through (port_search_ordering_file).
	PortSearchOrder []PortOrder

	// MaxOpVLs bounds the VLs of every link by the code of OperationalVLs: 1 to 5 for 1, 2, 4, 8 and 15 data
	// VLs (max_op_vls). 0 is no bound. OpenSM minds it from its second sweep on, when it has told the ports.
	MaxOpVLs uint8
	// LASHStartVL is the first SL that lash uses (lash_start_vl).
	LASHStartVL uint8
	// MeshAnalysis makes lash look for a mesh and order links and switches by its dimensions (do_mesh_analysis).
	MeshAnalysis bool

	// NueMaxVLs is over how many VLs nue spreads destinations at most, 0 for one, AllVLs for all that the subnet
	// has (nue_max_num_vls).
	NueMaxVLs uint8
	// NueIncludeSwitches makes nue keep paths to switches free of deadlock, too (nue_include_switches).
	NueIncludeSwitches bool
	// NoQoS says that quality of service is off (qos FALSE): nue then takes one VL.
	NoQoS bool

	// DORVLs makes dor give paths SLs by which they cannot deadlock on
	// the VLs of the subnet, and refuse where these are too few. OpenSM's has none.
	DORVLs bool
	// CountVLs makes dfsssp, and dor with DORVLs, count on to how many VLs their paths need where
	// the subnet has too few. Without it they refuse once it is clear that it has.
	CountVLs bool

	// Counted are tables whose routes count as use of ports before there are any: where an engine refuses
	// after it has made tables, OpenSM's next one goes on from its counts.
	Counted *fabric.LFT
	// CountedHops are the hops that engines which refused have counted, nil for none: OpenSM's next one counts over them. They
	// show in its tables where ports have hop weights, which those counts do not have.
	CountedHops LIDHops

	// Existing are the tables that the switches hold: a route stays as it is while
	// it is one of the shortest. Nil computes all anew, as OpenSM does on its first
	// sweep and after most changes. Its rows are those of the fabric's switches.
	Existing *fabric.LFT
}

// AllVLs stands for all VLs that a subnet has.
const AllVLs = 0xff

// SwitchPort names a port of a switch by the switch's node GUID.
type SwitchPort struct {
	GUID uint64
	Port uint8
}

// PortOrder are the first ports to look at on a switch; the others follow in ascending order. OpenSM takes
// the first order of a switch and passes over one that names a port twice or that the switch does not have.
type PortOrder struct {
	GUID  uint64
	Ports []uint8
}

// Check says what in a fabric or in options no engine can route with: an end
// port without a LID, an LMC above 7, existing tables of another fabric. O(ports).
func Check(f *fabric.Fabric, opt *Options) error {
	if opt.LMC > fabric.MaxLMC {
		return fmt.Errorf("LMC %d, expected 0 to %d", opt.LMC, fabric.MaxLMC)
	}
	if t := opt.Existing; t != nil && t.Switches() != len(f.Switches) {
		return fmt.Errorf("existing tables of %d switches, expected %d", t.Switches(), len(f.Switches))
	}
	for _, e := range f.EndPorts {
		if f.Ports[e].LID == 0 {
			return fmt.Errorf("%s has no LID", f.PortName(e))
		}
	}
	return nil
}
