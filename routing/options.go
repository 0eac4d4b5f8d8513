// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Options control an engine and its progress reports. The name of an option in OpenSM is in parentheses. The zero value
// has OpenSM's defaults. As in OpenSM, GUIDs and ports that the subnet does not have are ignored.
type Options struct {
	// Progress, if not nil, is called with the number of steps done and their total. A step is one switch in one phase
	// of the engine. Progress must be fast and safe for concurrent use.
	Progress func(done, total int)

	// LMC is the base-2 logarithm of the number of LIDs of a port that get different paths (lmc). If possible, these
	// paths lead through different systems and switches. The number of LIDs that a port has follows from the port's own
	// LMC.
	LMC uint8

	// RootGUIDs are the node GUIDs of the roots for updn and ftree, in the order of the file (root_guid_file). If
	// RootGUIDs is nil, there is no file and the engines find roots themselves.
	RootGUIDs []uint64
	// DetectRoots makes updn find roots in addition to RootGUIDs. OpenSM does so after a line of the file that it
	// cannot parse. ftree then ranks from the hosts.
	DetectRoots bool
	// IDs are numbers by node GUID. updn uses them to order switches of the same rank. The default number of a switch
	// is its GUID (ids_guid_file).
	IDs map[uint64]uint64
	// ConnectRoots makes updn, dnup and ftree route between switches that their rule separates (connect_roots).
	ConnectRoots bool

	// ComputeNodes are the port GUIDs of the compute nodes in the order of the file (cn_guid_file). If ComputeNodes is
	// nil, there is no file, and all adapters except IONodes are compute nodes.
	ComputeNodes []uint64
	// IONodes are the port GUIDs of the I/O nodes (io_guid_file). IONodes is nil if there is no file.
	IONodes []uint64
	// BrokenNodeFile is the name of the option whose file has a line that OpenSM cannot parse: cn_guid_file,
	// io_guid_file, or "" for none. Engines that need this file refuse to route.
	BrokenNodeFile string
	// MaxReverseHops is the maximum number of hops of a path to an I/O node that go against the direction of ftree.
	// Such hops let I/O nodes on upper switches reach one another (max_reverse_hops).
	MaxReverseHops uint16
	// QuasiFtreeIndexing makes ftree number the switches from the roots and not from a leaf (quasi_ftree_indexing).
	QuasiFtreeIndexing bool
	// NoBullMinHop and NoBullSecondary disable Bull's two changes of ftree from 2009. OpenSM has no such options. With
	// NoBullMinHop, ftree keeps a path even if it finds a shorter path later. With NoBullSecondary, secondary paths go
	// up in the order of port groups and not by load. With both options, ftree routes as before 2009 and counts only
	// main paths.
	NoBullMinHop, NoBullSecondary bool

	// RoutingOrder lists the GUIDs of ports to which OpenSM routes before all others (guid_routing_order_file).
	// RoutingOrderNoScatter excludes these ports from ScatterPorts (guid_routing_order_no_scatter).
	RoutingOrder          []uint64
	RoutingOrderNoScatter bool
	// IgnoredPorts are switch ports whose routes are not counted (port_prof_ignore_file).
	IgnoredPorts map[SwitchPort]bool
	// ProfileSwitchNodes also counts routes to switches (port_profile_switch_nodes).
	ProfileSwitchNodes bool
	// ScatterPorts is the seed for a random choice among equally used ports. If it is 0, the first port is chosen
	// (scatter_ports).
	ScatterPorts uint32
	// PortShifting begins the choice of a port at another port in each round, so that the tables of different switches
	// do not use the same ports for the same LIDs (port_shifting).
	PortShifting bool
	// HopWeights are the weights, 1 to 255, of leaving a switch by a port. The default is 1 (hop_weights_file).
	HopWeights map[SwitchPort]uint8
	// PortSearchOrder are the orders in which the ports of switches are searched (port_search_ordering_file).
	PortSearchOrder []PortOrder

	// MaxOpVLs limits the VLs of every link (max_op_vls). Its values are those of OperationalVLs: 1 to 5 for 1, 2, 4, 8
	// and 15 data VLs. 0 means no limit. OpenSM applies the limit from its second sweep on, after it has set the ports.
	MaxOpVLs uint8
	// LASHStartVL is the first SL that lash uses (lash_start_vl).
	LASHStartVL uint8
	// MeshAnalysis makes lash recognise a mesh and order links and switches by its dimensions (do_mesh_analysis).
	MeshAnalysis bool

	// NueMaxVLs is the maximum number of VLs over which nue distributes destinations (nue_max_num_vls). 0 means one VL.
	// AllVLs means all VLs of the subnet.
	NueMaxVLs uint8
	// NueIncludeSwitches makes nue also keep paths to switches free of deadlock (nue_include_switches).
	NueIncludeSwitches bool
	// NoQoS turns quality of service off (qos FALSE). nue then uses one VL.
	NoQoS bool

	// DORVLs makes dor choose SLs so that paths cannot deadlock on the VLs of the subnet. dor then refuses a subnet
	// with too few VLs. OpenSM has no such option.
	DORVLs bool
	// CountVLs makes dfsssp, and dor with DORVLs, count the VLs that their paths need even if the subnet has too few.
	// Without CountVLs, these engines refuse the subnet as soon as the lack of VLs is certain.
	CountVLs bool

	// Counted are tables whose routes count as uses of ports from the start. If an engine refuses after it has computed
	// tables, OpenSM's next engine continues with the counts of these tables.
	Counted *fabric.LFT
	// CountedHops are the hop counts of engines that refused, or nil. OpenSM's next engine starts from these counts.
	// They affect its tables only if ports have hop weights, because the counts ignore hop weights.
	CountedHops LIDHops

	// Existing are the tables on the switches, with one row for each switch of the fabric. A route of these tables is
	// kept if it is one of the shortest routes. If Existing is nil, all routes are computed, as OpenSM does on its
	// first sweep and after most changes.
	Existing *fabric.LFT
}

// AllVLs stands for all VLs of a subnet.
const AllVLs = 0xff

// SwitchPort identifies a port of a switch by the switch's node GUID.
type SwitchPort struct {
	GUID uint64
	Port uint8
}

// PortOrder lists the ports of a switch that are searched first. The other ports follow in ascending order. OpenSM uses
// the first order given for a switch. It ignores an order with a repeated port or with a port that the switch does not
// have.
type PortOrder struct {
	GUID  uint64
	Ports []uint8
}

// Check returns an error if no engine can route a fabric with these options: if an end port has no LID, the LMC is
// above 7, or the existing tables are for another fabric. O(ports).
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
