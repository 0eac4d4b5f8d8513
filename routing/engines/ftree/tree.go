// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// tree is a fabric seen as a fat-tree. Slices are indexed by switch unless their comment says otherwise.
type tree struct {
	f   *fabric.Fabric
	opt *routing.Options
	g   *routing.Graph

	// adapters lists the linked ports of channel adapters in the order of node GUIDs (fabric.LEKey) and port numbers.
	adapters []adapter
	// adapterAt maps an end port to its index in adapters.
	adapterAt map[fabric.PortIndex]int32
	// addresses is the highest address of an adapter.
	addresses uint32

	rank []uint32
	// tuple holds the index that OpenSM assigns to each switch, one digit per byte, the highest digit first. It is
	// noTuple if a switch has no index.
	tuple []uint64
	// maxRank is the rank of the lowest tier. leafRank is the rank of the switches with compute nodes.
	maxRank, leafRank uint8

	// The groups of links of each switch: down leads to adapters and lower switches, side to switches of the same rank,
	// up to upper switches. The groups are in OpenSM's order at all times.
	down, side, up [][]group
	ports          []port

	// isLeaf marks the switches that have compute nodes.
	isLeaf []bool
	// leaves lists switches of the leaf rank by tuple, from the first switch with compute nodes to the last.
	leaves []fabric.SwitchIndex
	// maxCNs is the maximum number of compute nodes on a switch of leaves.
	maxCNs int
	// maxLID is the highest LID of switches and adapters.
	maxLID uint16
}

// adapter is a linked port of a channel adapter.
type adapter struct {
	end fabric.PortIndex
	// sw is the switch to which the adapter is attached, port is the port of this switch.
	sw   fabric.SwitchIndex
	port uint8
	// cn is set for a compute node, io for an I/O node.
	cn, io bool
	// address orders the adapters of a switch as addresses in OpenSM's memory do.
	address uint32
}

// group is the set of links of a switch to one neighbour, a switch or an adapter.
type group struct {
	// key orders the groups of a switch. Its high half is the number of paths counted on the group, in units of
	// onePath. Its low half is the place of the neighbour's tuple among all tuples.
	key uint64
	// remote is the neighbour. It is fabric.None if the neighbour is an adapter.
	remote fabric.SwitchIndex
	// first is the index of the group's first port in tree.ports. If the neighbour is an adapter, first is its index in
	// tree.adapters.
	first int32
	// slot is the index of the neighbour in a column, see setSlots.
	slot int32
	// n is the number of ports.
	n uint8
	// near is the number of the first port of the switch, far the number of the port at the other end of its link.
	near, far uint8
}

// onePath is the increment of group.key for one path.
const onePath = 1 << 32

// port is one link of a group of several.
type port struct {
	near, far uint8
	// up counts the paths towards upper switches, down those towards lower switches.
	up, down uint32
}

// ranked reports whether a switch is in the tree.
func (t *tree) ranked(s fabric.SwitchIndex) bool { return t.rank[s] != unranked }

// newTree returns the tree of a fabric, or the reason why OpenSM does not accept the fabric. The warnings describe
// broken rules that OpenSM does not check.
func newTree(f *fabric.Fabric, opt *routing.Options, inMemory []uint64) (*tree, []string, error) {
	t := &tree{f: f, opt: opt, g: routing.NewGraph(f)}
	t.findAdapters()
	t.setAddresses(inMemory)
	if ps := t.basicProblems(); len(ps) > 0 {
		return nil, nil, refuse(ps)
	}
	t.rankSwitches()
	if ps := t.rootProblems(); len(ps) > 0 {
		return nil, nil, refuse(ps)
	}
	t.findGroups()
	t.findLeaves()
	pure := opt.RootGUIDs == nil
	var uneven []Problem
	if pure {
		uneven = t.unevenness()
	}
	if ps := t.rankProblems(); len(ps) > 0 {
		return nil, nil, refuse(append(ps, uneven...))
	}
	t.assignTuples()
	if p := t.listLeaves(); p != nil {
		return nil, nil, refuse(append([]Problem{*p}, uneven...))
	}
	if pure {
		if first := t.firstUneven(); first != nil {
			return nil, nil, refuse(moveToFront(*first, uneven))
		}
	}
	return t, warn(uneven), nil
}

// findAdapters lists the ports of channel adapters that are attached to switches.
func (t *tree) findAdapters() {
	for _, e := range t.f.EndPorts {
		n := &t.f.Nodes[t.f.Ports[e].Node]
		if sw, num := t.f.AttachedSwitch(e); isAdapter(n) && sw != fabric.None {
			t.adapters = append(t.adapters, adapter{end: e, sw: sw, port: num})
		}
	}
	slices.SortFunc(t.adapters, func(a, b adapter) int {
		p, q := &t.f.Ports[a.end], &t.f.Ports[b.end]
		return cmp.Or(cmp.Compare(fabric.LEKey(t.f.Nodes[p.Node].GUID), fabric.LEKey(t.f.Nodes[q.Node].GUID)),
			cmp.Compare(p.Num, q.Num))
	})
	cns, ios := set(t.opt.ComputeNodes), set(t.opt.IONodes)
	for i := range t.adapters {
		a := &t.adapters[i]
		guid := t.f.Ports[a.end].GUID
		a.cn = cns == nil || cns[guid]
		if ios[guid] && (cns == nil || !a.cn) {
			a.cn, a.io = false, true
		}
	}
}

// set returns nil for a nil list.
func set(guids []uint64) map[uint64]bool {
	if guids == nil {
		return nil
	}
	m := make(map[uint64]bool, len(guids))
	for _, g := range guids {
		m[g] = true
	}
	return m
}

// ranks returns the ranks for the result.
func (t *tree) ranks() []int32 {
	out := make([]int32, len(t.rank))
	for s := range out {
		out[s] = routing.Unranked
		if t.ranked(fabric.SwitchIndex(s)) {
			out[s] = int32(t.rank[s])
		}
	}
	return out
}

func (t *tree) roots() []fabric.SwitchIndex {
	var out []fabric.SwitchIndex
	for s, r := range t.rank {
		if r == 0 {
			out = append(out, fabric.SwitchIndex(s))
		}
	}
	return out
}
