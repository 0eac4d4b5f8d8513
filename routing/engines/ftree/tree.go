// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// tree is a fabric as a fat-tree. Slices without another index are by switch.
type tree struct {
	f   *fabric.Fabric
	opt *routing.Options
	g   *routing.Graph

	// adapters are the linked ports of channel adapters in the order of node GUIDs (fabric.LEKey) and port numbers.
	adapters []adapter
	// adapterAt holds the index in adapters of an end port.
	adapterAt map[fabric.PortIndex]int32
	// addresses is the highest address of an adapter.
	addresses uint32

	rank []uint32
	// tuple is the index of each switch, one digit per byte, highest first; noTuple if it has none.
	tuple []uint64
	// maxRank is the lowest rank, leafRank that of the switches with compute nodes.
	maxRank, leafRank uint8

	// down, side and up are the port groups of each switch that lead to adapters and lower switches, to switches of the
	// same rank, and to upper ones. They are in OpenSM's order at all times.
	down, side, up [][]group
	ports          []port

	// isLeaf reports that a switch has compute nodes.
	isLeaf []bool
	// leaves are the switches of the leaf rank from the first with compute nodes to the last, by tuple.
	leaves []fabric.SwitchIndex
	// maxCNs is the highest number of compute nodes on one of leaves.
	maxCNs int
	// maxLID is the highest LID of switches and adapters.
	maxLID uint16
}

// adapter is a linked port of a channel adapter.
type adapter struct {
	end fabric.PortIndex
	// sw is the switch that it is attached to, port the port there.
	sw   fabric.SwitchIndex
	port uint8
	// cn reports a compute node, io an I/O node.
	cn, io bool
	// address orders the adapters of a switch as in OpenSM's memory.
	address uint32
}

// group is the set of links of a switch to one neighbour, a switch or an adapter.
type group struct {
	// key orders the groups of a switch: the number of paths counted on the group, in units of onePath, then the place
	// of the neighbour's tuple among all.
	key uint64
	// remote is the neighbour, fabric.None for an adapter.
	remote fabric.SwitchIndex
	// first is the index of the group's first port in tree.ports. For an adapter it is the index in tree.adapters.
	first int32
	// slot is the neighbour's place in columns; see setSlots.
	slot int32
	// n is the number of ports.
	n uint8
	// near and far are the numbers of the first port on both sides.
	near, far uint8
}

// onePath is the increment of group.key for one path.
const onePath = 1 << 32

// port is one link of a group of several.
type port struct {
	near, far uint8
	// up and down count the paths towards upper and lower switches.
	up, down uint32
}

// ranked reports whether a switch is in the tree.
func (t *tree) ranked(s fabric.SwitchIndex) bool { return t.rank[s] != unranked }

// newTree returns the tree of a fabric, or the reason why OpenSM does not accept it. The warnings are broken rules that
// OpenSM does not check.
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
