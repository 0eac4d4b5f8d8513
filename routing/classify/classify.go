// SPDX-License-Identifier: Apache-2.0

// Package classify finds the purpose of the nodes of a subnet: which switches are leaves and which are roots, which
// adapters compute and which provide services. [Recognise] finds the structure of the subnet. [Suggest] makes the GUID
// files that OpenSM's fat-tree routing needs, and tries them.
//
// Aggregation nodes are adapters inside switches, including spines. Without a cn_guid_file OpenSM takes every adapter
// for a compute node, and rejects a fat-tree with aggregation nodes on its spines.
package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// Layer is the place of a switch in a tree.
type Layer uint8

// The layers. Unreachable is the layer of switches to which no path leads from a leaf.
const (
	Leaf Layer = iota
	Middle
	Root
	Unreachable
)

// String returns the layer as a word.
func (l Layer) String() string { return [...]string{"leaf", "middle", "root", "unreachable"}[l] }

// Role is the purpose of an adapter.
type Role uint8

// The roles.
const (
	Compute     Role = iota
	Service          // an I/O, login, management or other service node
	Aggregation      // part of a switch, for reductions in the network
)

// String returns the role as a word.
func (r Role) String() string { return [...]string{"compute", "service", "aggregation"}[r] }

// Switch holds the findings about a switch.
type Switch struct {
	Layer Layer
	// Rank is the distance from the nearest leaf in links. It is [routing.Unranked] outside the subnet.
	Rank int32
	// Degree is the number of cables to other switches. Neighbours is the number of these switches.
	Degree, Neighbours int
	// Hosts is the number of ports with adapters that are not aggregation nodes.
	Hosts int
	// Pattern is the name of the switch with # for each number: "leaf-#-#".
	Pattern string
}

// Adapter describes a linked port of a channel adapter.
type Adapter struct {
	// End is the port. Switch is the switch to which the port is attached.
	End    fabric.PortIndex
	Switch fabric.SwitchIndex
	Role   Role
	// Kind is the purpose of a service node, if known.
	Kind Kind
	// Reason is the reason why the adapter has its role. It is "" for [Compute].
	Reason string
	// Pattern is the host's name with # for each number: "node-#".
	Pattern string
}

// Classes holds the classes of all switches, indexed by switch, and of the adapters, in the order of the fabric's end
// ports.
type Classes struct {
	Fabric   *fabric.Fabric
	Switches []Switch
	Adapters []Adapter

	graph  *routing.Graph
	groups *Parts // the groups of a Dragonfly+, nil for other structures
	hints  *Hints
	hinted map[fabric.NodeIndex]Role // roles from hints
}

// classesOf classifies a subnet. The leaves are the switches with compute nodes, and similar switches without compute
// nodes. The roots are the switches farthest from the leaves. O(ports x neighbours).
func classesOf(f *fabric.Fabric, hints *Hints) *Classes {
	c := &Classes{Fabric: f, hints: hints, Switches: make([]Switch, len(f.Switches)), graph: routing.NewGraph(f)}
	c.findAdapters()
	for s := range c.Switches {
		sw := &c.Switches[s]
		sw.Pattern = pattern(f.SwitchNode(fabric.SwitchIndex(s)).Desc)
		sw.Degree, sw.Neighbours = c.degree(fabric.SwitchIndex(s))
	}
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role != Aggregation {
			c.Switches[a.Switch].Hosts++
		}
	}
	leaves, widest := c.findLeaves()
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role == Compute && a.Reason != byHint && !leaves[a.Switch] {
			a.Role, a.Reason = Service, byPlace
		}
	}
	if c.isFlat(leaves) {
		leaves = slices.Repeat([]bool{true}, len(leaves))
	}
	c.layer(leaves, c.rank(leaves, widest))
	return c
}

// rank returns the rank of each switch. It adds the leaves without hosts to the argument leaves.
func (c *Classes) rank(leaves []bool, widest int) []int32 {
	var ranks []int32
	if c.groups = c.dragonflyPlus(leaves); c.groups != nil {
		ranks = c.distances(leaves)
	} else {
		ranks = c.climb(leaves)
		for c.addDrained(leaves, ranks, widest) {
			ranks = c.climb(leaves)
		}
		c.addEmptyLeaves(leaves, ranks, widest)
		c.rankByName(ranks)
	}
	for s, h := range c.hints.switches(c.Fabric) {
		if h.Tier != nil {
			ranks[s] = *h.Tier
			leaves[s] = ranks[s] == 0
		}
	}
	return ranks
}

// findAdapters finds the roles of adapters by their properties and names.
func (c *Classes) findAdapters() {
	f := c.Fabric
	for _, e := range f.EndPorts {
		n := &f.Nodes[f.Ports[e].Node]
		sw, num := f.AttachedSwitch(e)
		if n.Type != mad.NodeCA || sw == fabric.None || num == 0 {
			continue
		}
		a := Adapter{End: e, Switch: sw, Pattern: pattern(hostName(n.Desc))}
		if why := f.Aggregation(f.Ports[e].Node); why != "" {
			a.Role, a.Reason, a.Pattern = Aggregation, why, pattern(n.Desc)
		} else if word := serviceWord(hostName(n.Desc)); word != "" {
			a.Role, a.Kind, a.Reason = Service, serviceWords[word], "its name contains "+word
		}
		c.Adapters = append(c.Adapters, a)
	}
	c.findManyPorted()
	c.hintRoles()
}

// Reasons for a role that do not come from names and hints.
const (
	byPorts = "more of its ports are linked than of other nodes'"
	byPlace = "it is attached above the leaf switches"
	byRank  = "its switch is not as far from the roots as the others"
)

// usualShare limits the nodes that count as service nodes because they have more linked ports than usual. At most one
// in usualShare nodes may count.
const usualShare = 8

// findManyPorted marks nodes with more linked ports than most nodes as service nodes, such as gateways and file
// servers. It marks them only if they are few.
func (c *Classes) findManyPorted() {
	linked := map[fabric.NodeIndex]int{}
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role == Compute {
			linked[c.Fabric.Ports[a.End].Node]++
		}
	}
	nodes := map[int]int{}
	for _, n := range linked {
		nodes[n]++
	}
	usual, more := mostOf(nodes), 0
	for n, many := range nodes {
		if n > usual {
			more += many
		}
	}
	if more*usualShare > len(linked) {
		return
	}
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role == Compute && linked[c.Fabric.Ports[a.End].Node] > usual {
			a.Role, a.Reason = Service, byPorts
		}
	}
}

// degree returns the number of cables from a switch to other switches, and the number of these switches.
func (c *Classes) degree(s fabric.SwitchIndex) (cables, neighbours int) {
	seen := map[fabric.SwitchIndex]bool{}
	for _, l := range c.graph.Of(s) {
		if l.Peer != s {
			cables++
			seen[l.Peer] = true
		}
	}
	return cables, len(seen)
}

// layer sets the rank and layer of the switches.
func (c *Classes) layer(leaves []bool, ranks []int32) {
	top := slices.Max(append(ranks, 0))
	for s := range c.Switches {
		sw := &c.Switches[s]
		sw.Rank = ranks[s]
		switch {
		case sw.Rank == routing.Unranked:
			sw.Layer = Unreachable
		case leaves[s]:
			sw.Layer = Leaf
		case sw.Rank == top:
			sw.Layer = Root
		default:
			sw.Layer = Middle
		}
	}
}
