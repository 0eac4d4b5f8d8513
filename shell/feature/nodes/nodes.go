// SPDX-License-Identifier: Apache-2.0

// Package nodes lists nodes and their ports.
package nodes

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature provides the commands "show nodes", "show switches", "show ports" and "show where".
var Feature = feature.Feature{Name: "nodes", Keys: []feature.Key{
	{Name: "pane-2", Keys: "2", Pane: "Topology", Nouns: "switches nodes", Help: "switches, and hosts below them"},
}, Commands: []feature.Command{
	{
		Path: "show", Group: feature.GroupLook, Summary: "List what is in the subnet",
		Options:  []lang.Option{feature.OfOption()},
		Examples: []string{"show nodes", "show links leaf-01"},
	},
	{
		Path:     "show nodes",
		Summary:  "List all nodes, or show one node",
		Args:     []lang.Arg{{Name: "NODE", Kind: lang.KindNode, Optional: true}},
		Examples: []string{"show nodes", "show nodes leaf-01"},
		Answers:  []answer.Declared{nodesDecl},
		Run:      func(c *feature.Call) error { return run(c, nodesDecl, false) },
	},
	{
		Path:     "show switches",
		Summary:  "List the switches",
		Examples: []string{"show switches", "show switches of=live"},
		Answers:  []answer.Declared{switchesDecl},
		Run:      func(c *feature.Call) error { return run(c, switchesDecl, true) },
	},
	{
		Path:     "show ports",
		Summary:  "List the ports of a node",
		Args:     []lang.Arg{{Name: "NODE", Kind: lang.KindNode}},
		Examples: []string{"show ports leaf-01", "show ports node-0001"},
		Answers:  []answer.Declared{&portsDecl},
		Run:      runPorts,
	},
	whereCommand,
}}

// list holds nodes of a fabric.
type list struct {
	f           *fabric.Fabric
	unreachable map[fabric.NodeIndex]bool
	nodes       []fabric.NodeIndex
}

// node is a row of the table.
type node struct {
	f           *fabric.Fabric
	unreachable map[fabric.NodeIndex]bool
	at          fabric.NodeIndex
}

func (n node) of() *fabric.Node { return &n.f.Nodes[n.at] }

func declare(command, key string) *answer.Decl[list] {
	table := &answer.Table[node]{
		Key: key, Title: key, Stream: true,
		Fields: []answer.Field[node]{
			{Key: "lid", Name: "LID", Kind: answer.KindLID, Help: "LID of port 0 of a switch, of the first port " +
				"with a LID of others",
				Value: func(n node) answer.Value { return answer.LID(feature.NodeLID(n.f, n.of())) }},
			{Name: "GUID", Kind: answer.KindGUID, Value: func(n node) answer.Value { return answer.GUID(n.of().GUID) }},
			{Key: "type", Name: "TYPE", Kind: answer.KindText, Help: "switch, ca or router",
				Value: func(n node) answer.Value { return answer.Text(feature.TypeWord(n.of().Type)) }},
			{Name: "UP/PORTS", Kind: answer.KindText, Help: "ports with a link, and all ports",
				Value: func(n node) answer.Value {
					return answer.Text(fmt.Sprintf("%d/%d", n.f.LinkedPorts(n.of()), n.of().NumPorts))
				}},
			{Key: "up", Kind: answer.KindInt, Help: "ports with a link", Value: func(n node) answer.Value {
				return answer.Int(n.f.LinkedPorts(n.of()))
			}},
			{Key: "ports", Kind: answer.KindInt, Value: func(n node) answer.Value {
				return answer.Int(n.of().NumPorts)
			}},
			{Name: "NAME", Kind: answer.KindText, Help: "from the node-name map, else the node description",
				Value: name},
			{Key: "node", Kind: answer.KindPlace, Value: func(n node) answer.Value { return answer.Node(n.f, n.at) }},
			{Key: "in_subnet", Kind: answer.KindBool, Help: "links connect it with the port of the subnet manager",
				Value: func(n node) answer.Value { return answer.Bool(n.of().InSubnet) }},
		},
		Lead: func(n node) answer.Lead { return feature.ToNode(n.f, n.at) },
		ID:   func(n node) uint64 { return n.of().GUID },
	}
	return &answer.Decl[list]{Command: command, Help: "the " + key + " of a state", Layout: []answer.Item[list]{{
		Table: answer.Show(table, func(l list) answer.Rows[node] {
			return answer.Lazy(len(l.nodes), func(i int) node { return node{l.f, l.unreachable, l.nodes[i]} })
		}),
	}}}
}

var (
	nodesDecl    = declare("show nodes", "nodes")
	switchesDecl = declare("show switches", "switches")
)

func run(c *feature.Call, decl *answer.Decl[list], switches bool) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	only, err := c.NodeArg(p.Fabric)
	if err != nil {
		return err
	}
	l := list{f: p.Fabric, unreachable: p.Fabric.UnreachableNodes()}
	for i := range p.Fabric.Nodes {
		at := fabric.NodeIndex(i)
		if (!switches || p.Fabric.Nodes[i].IsSwitch()) && (only == fabric.None || only == at) {
			l.nodes = append(l.nodes, at)
		}
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), l))
}

// name returns the name of a node. It marks nodes that the port of the subnet manager cannot reach over links.
func name(n node) answer.Value {
	place, _ := answer.Node(n.f, n.at).Place()
	text := place.String()
	switch {
	case n.of().InSubnet:
	case n.unreachable[n.at]:
		text += "  (unreachable)"
	default:
		text += "  (not in the subnet)"
	}
	return answer.Text(text)
}

// ports holds the ports of a node.
type ports struct {
	node
	picture *session.Picture
	at      []fabric.PortIndex
}

// port is a row of the table.
type port struct {
	f       *fabric.Fabric
	picture *session.Picture
	at      fabric.PortIndex
}

func (p port) of() *fabric.Port { return &p.f.Ports[p.at] }

var portTable = answer.Table[port]{
	Key: "ports", Title: "ports", Stream: true,
	Fields: []answer.Field[port]{
		{Key: "port", Name: "PORT", Kind: answer.KindInt, Help: "number, from 1; 0 is the management port of a switch",
			Value: func(p port) answer.Value { return answer.PortNumber(p.f, p.at) }},
		{Key: "label", Kind: answer.KindText, Help: "printed at the port",
			Value: func(p port) answer.Value { return answer.PortLabel(p.f, p.at) }},
		{Key: "guid", Kind: answer.KindGUID, Help: "of the port", Value: func(p port) answer.Value {
			if p.of().GUID == 0 {
				return answer.None()
			}
			return answer.GUID(p.of().GUID)
		}},
		{Key: "state", Name: "STATE", Kind: answer.KindText, Help: "logical state of the port",
			Value: func(p port) answer.Value { return feature.PortState(p.picture, p.at) }},
		{Key: "lid", Name: "LID", Kind: answer.KindLID, Value: func(p port) answer.Value {
			return answer.LID(p.of().LID)
		}},
		{Name: "LINK", Kind: answer.KindText, Help: "width and speed", Value: func(p port) answer.Value {
			return feature.WidthSpeed(p.f, p.at)
		}},
		{Key: "width", Kind: answer.KindText, Value: func(p port) answer.Value { return feature.Width(p.f, p.at) }},
		{Key: "speed", Kind: answer.KindText, Value: func(p port) answer.Value { return feature.Speed(p.f, p.at) }},
		{Key: "peer", Name: "PEER", Kind: answer.KindPlace, Help: "the port at the other end of its link",
			Value: func(p port) answer.Value { return answer.Port(p.f, p.of().Peer) }},
	},
	Lead: func(p port) answer.Lead { return feature.ToPort(p.f, p.at) },
}

var portsDecl = answer.Decl[ports]{
	Command: "show ports", Help: "the ports of a node", Title: "ports of {node}, {of}",
	Facts: []answer.Field[ports]{{Key: "node", Name: "node", Kind: answer.KindPlace,
		Value: func(p ports) answer.Value { return answer.Node(p.f, p.node.at) }}},
	Layout: []answer.Item[ports]{{Table: answer.Show(&portTable, func(p ports) answer.Rows[port] {
		return answer.Lazy(len(p.at), func(i int) port { return port{p.f, p.picture, p.at[i]} })
	})}},
}

func runPorts(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	at, err := places.ResolveNode(p.Fabric, c.Arg(0))
	if err != nil {
		return err
	}
	all := ports{node: node{f: p.Fabric, at: at}, picture: p}
	for num := range int(p.Fabric.Nodes[at].NumPorts) + 1 {
		if i := p.Fabric.PortAt(at, num); i != fabric.None {
			all.at = append(all.at, i)
		}
	}
	return c.Answer(portsDecl.Answer(st.Basis(p, session.NeedLinks), all))
}
