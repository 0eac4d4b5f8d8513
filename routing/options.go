// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Options control an engine and its progress reports. OpenSM's name of an option is in parentheses. The zero value has
// OpenSM's defaults. GUIDs and ports that the subnet does not have are ignored, as in OpenSM.
type Options struct {
	// Progress, if not nil, is called with the steps done and their total. A step is one switch in one phase of the
	// engine. It must be fast and safe for concurrent use.
	Progress func(done, total int)

	// LMC is the base-2 logarithm of the number of LIDs of a port that get different paths, through different systems
	// and switches if possible (lmc). The number of LIDs that a port has follows from its own LMC.
	LMC uint8

	// RootGUIDs are the node GUIDs of the roots for updn and ftree, in the order of the file (root_guid_file). Nil is
	// no file: the engines find roots themselves.
	RootGUIDs []uint64
	// DetectRoots makes updn find roots in addition to RootGUIDs, as OpenSM does after a line that it cannot parse;
	// ftree then ranks from the hosts.
	DetectRoots bool
	// IDs are the numbers by which updn orders switches of one rank, by node GUID. The default number of a switch is
	// its GUID (ids_guid_file).
	IDs map[uint64]uint64
	// ConnectRoots makes updn, dnup and ftree route between switches that their rule separates (connect_roots).
	ConnectRoots bool

	// ComputeNodes are the port GUIDs of the compute nodes in the order of the file (cn_guid_file). Nil is no file:
	// then all adapters except IONodes are compute nodes.
	ComputeNodes []uint64
	// IONodes are the port GUIDs of the I/O nodes (io_guid_file), nil for no file.
	IONodes []uint64
	// BrokenNodeFile names the option, cn_guid_file or io_guid_file, whose file has a line that OpenSM cannot parse, ""
	// for none. Engines that need the file refuse then.
	BrokenNodeFile string
	// MaxReverseHops is the number of hops of a path to an I/O node that may go against the direction of ftree, so that
	// I/O nodes on upper switches reach one another (max_reverse_hops).
	MaxReverseHops uint16
	// QuasiFtreeIndexing makes ftree number the switches from the roots instead of from a leaf (quasi_ftree_indexing).
	QuasiFtreeIndexing bool
	// NoBullMinHop and NoBullSecondary disable Bull's two changes of ftree of 2009. OpenSM has no such options. With
	// NoBullMinHop, ftree keeps a path that it found even if it finds a shorter path later. With NoBullSecondary,
	// secondary paths go up in the order of port groups instead of by load. With both options, ftree routes as before
	// 2009, and counts only main paths.
	NoBullMinHop, NoBullSecondary bool

	// RoutingOrder are port GUIDs that are routed before all others (guid_routing_order_file).
	// RoutingOrderNoScatter excludes them from ScatterPorts (guid_routing_order_no_scatter).
	RoutingOrder          []uint64
	RoutingOrderNoScatter bool
	// IgnoredPorts are switch ports for which routes are not counted (port_prof_ignore_file).
	IgnoredPorts map[SwitchPort]bool
	// ProfileSwitchNodes counts routes to switches too (port_profile_switch_nodes).
	ProfileSwitchNodes bool
	// ScatterPorts is the seed for a random choice among equally used ports; 0 chooses the first (scatter_ports).
	ScatterPorts uint32
	// PortShifting begins the choice at another port in each round, so that tables of different switches do not align
	// (port_shifting).
	PortShifting bool
	// HopWeights are the weights, 1 to 255, of leaving by a port; the default is 1 (hop_weights_file).
	HopWeights map[SwitchPort]uint8
	// PortSearchOrder are the orders in which the ports of switches are searched (port_search_ordering_file).
	PortSearchOrder []PortOrder

	// MaxOpVLs limits the VLs of every link by the code of OperationalVLs: 1 to 5 for 1, 2, 4, 8 and 15 data VLs
	// (max_op_vls). 0 is no limit. OpenSM applies it from its second sweep on, after it has set the ports.
	MaxOpVLs uint8
	// LASHStartVL is the first SL that lash uses (lash_start_vl).
	LASHStartVL uint8
	// MeshAnalysis makes lash look for a mesh and order links and switches by its dimensions (do_mesh_analysis).
	MeshAnalysis bool

	// NueMaxVLs limits the number of VLs over which nue distributes destinations. 0 means one VL, AllVLs means all VLs
	// of the subnet (nue_max_num_vls).
	NueMaxVLs uint8
	// NueIncludeSwitches makes nue keep paths to switches free of deadlock, too (nue_include_switches).
	NueIncludeSwitches bool
	// NoQoS turns quality of service off (qos FALSE): nue then uses one VL.
	NoQoS bool

	// DORVLs makes dor choose SLs with which paths cannot deadlock on the VLs of the subnet, and refuse if there are
	// too few VLs. OpenSM has no such option.
	DORVLs bool
	// CountVLs makes dfsssp, and dor with DORVLs, count the VLs that their paths need even if the subnet has too few.
	// Without CountVLs, these engines refuse the subnet as soon as the lack of VLs is certain.
	CountVLs bool

	// Counted are tables whose routes count as use of ports from the start. If an engine refuses after it has computed
	// tables, OpenSM's next engine continues with its counts.
	Counted *fabric.LFT
	// CountedHops are the hops that refusing engines have counted, nil for none. OpenSM's next engine starts from these
	// counts. They affect the tables of that engine only if ports have hop weights, because the counts ignore hop
	// weights.
	CountedHops LIDHops

	// Existing are the tables on the switches: a route is kept while it is one of the shortest routes. Nil computes all
	// routes, as OpenSM does on its first sweep and after most changes. The tables have one row for each switch of the
	// fabric.
	Existing *fabric.LFT
}

// AllVLs stands for all VLs of a subnet.
const AllVLs = 0xff

// SwitchPort identifies a port of a switch by the switch's node GUID.
type SwitchPort struct {
	GUID uint64
	Port uint8
}

// PortOrder lists the ports of a switch to search first; the others follow in ascending order. OpenSM uses the first
// order of a switch, and ignores one with a repeated port or a port that the switch does not have.
type PortOrder struct {
	GUID  uint64
	Ports []uint8
}

// Check returns an error if no engine can route a fabric with these options: an end port without a LID, an LMC above 7,
// existing tables of another fabric. O(ports).
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
