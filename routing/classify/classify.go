// SPDX-License-Identifier: Apache-2.0

// Package classify finds out what the nodes of a subnet are for: which switches are leaves and which are roots,
// which adapters compute and which serve. From that it makes the files that OpenSM's fat-tree routing wants, and
// tries them.
//
// Aggregation nodes, adapters that are part of a switch, are attached to spines too. OpenSM takes every
// adapter for a compute node unless told, and no fabric with them for a fat-tree.
package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// Layer says where in a tree a switch is.
type Layer uint8

// The layers. Apart are switches to which no path leads from a leaf.
const (
	Leaf Layer = iota
	Middle
	Root
	Apart
)

// String is the layer as a word.
func (l Layer) String() string { return [...]string{"leaf", "middle", "root", "apart"}[l] }

// Role says what an adapter is for.
type Role uint8

// The roles.
const (
	Compute     Role = iota
	Service          // an I/O, login, management or other service node
	Aggregation      // part of a switch, for reductions in the network
)

// String is the role as a word.
func (r Role) String() string { return [...]string{"compute", "service", "aggregation"}[r] }

// Switch is what was found out of one.
type Switch struct {
	Layer Layer
	// Rank is the distance from the nearest leaf, [routing.Unranked] outside the subnet.
	Rank int32
	// Degree is the number of cables to other switches, Neighbours that of the switches at their ends.
	Degree, Neighbours int
	// Hosts is the number of ports with adapters that are no aggregation nodes.
	Hosts int
	// Pattern is the name with every number as #: "leaf-#-#".
	Pattern string
}

// Adapter is what was found out of a linked port of a channel adapter.
type Adapter struct {
	// End is the port, and Switch the one that it is attached to.
	End    fabric.PortIndex
	Switch fabric.SwitchIndex
	Role   Role
	// Kind is what a service node serves for, as far as that is known.
	Kind Kind
	// Reason says by what the role was told, "" for [Compute].
	Reason string
	// Pattern is the host's name with every number as #: "node-#".
	Pattern string
}

// Classes are the classes of all switches, by switch index, and adapters, in the order of the fabric's end ports.
type Classes struct {
	Fabric   *fabric.Fabric
	Switches []Switch
	Adapters []Adapter

	graph  *routing.Graph
	groups *Parts // those of a Dragonfly+, nil for others
	hints  *Hints
	hinted map[fabric.NodeIndex]Role // the roles that hints gave
}

// Of classifies a subnet. The leaves are the switches with compute nodes and
// those like them without any, the roots are those farthest from them. O(ports x neighbours).
func Of(f *fabric.Fabric) *Classes { return classesOf(f, nil) }

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

// rank ranks the switches, and adds leaves that have no hosts.
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

// findAdapters tells roles by what adapters are, and by their names.
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
			a.Role, a.Kind, a.Reason = Service, serviceWords[word], "its name says "+word
		}
		c.Adapters = append(c.Adapters, a)
	}
	c.findManyPorted()
	c.hintRoles()
}

// The reasons beside names.
const (
	byPorts = "more of its ports are linked than of other nodes'"
	byPlace = "it is attached above the leaf switches"
	byRank  = "its switch is not as far from the roots as the others"
)

// usualShare is how many of so many nodes may have more linked ports than the others and be taken for service nodes.
const usualShare = 8

// findManyPorted takes the few nodes with more linked ports than most for service nodes: gateways, file servers.
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
	usual := 0
	for n, many := range nodes {
		if many > nodes[usual] || many == nodes[usual] && n > usual {
			usual = n
		}
	}
	more := 0
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

// degree counts the cables of a switch to others, and those others.
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

// layer puts the switches into layers by their ranks.
func (c *Classes) layer(leaves []bool, ranks []int32) {
	top := slices.Max(append(ranks, 0))
	for s := range c.Switches {
		sw := &c.Switches[s]
		sw.Rank = ranks[s]
		switch {
		case sw.Rank == routing.Unranked:
			sw.Layer = Apart
		case leaves[s]:
			sw.Layer = Leaf
		case sw.Rank == top:
			sw.Layer = Root
		default:
			sw.Layer = Middle
		}
	}
}
