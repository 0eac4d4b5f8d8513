// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/mad"
)

// AddLink returns a finder that adds a cable between two ports, each given as NODE/PORT.
func AddLink(a, b string) Finder {
	return func(now, _ *fabric.Fabric) ([]Failure, error) {
		from, err := places.Link(now, []string{a})
		if err != nil {
			return nil, err
		}
		to, err := places.Link(now, []string{b})
		if err != nil {
			return nil, err
		}
		if from == to {
			return nil, fmt.Errorf("%s cannot be cabled to itself", now.PortName(from))
		}
		add := OfLink(now, fabric.Link{A: min(from, to), B: max(from, to)})
		add.Added = true
		return []Failure{add}, nil
	}
}

// NewNode is a node to be added.
type NewNode struct {
	Type mad.NodeType
	Name string
	// GUID is the node GUID. If it is 0, the new node gets the highest GUID of its type plus 1.
	GUID uint64
	// Ports is the number of ports. If it is 0, the new node gets as many ports as other nodes of its type.
	Ports int
	// At lists the existing ports, each as NODE/PORT, to which the new node is cabled. Port i+1 of the new node is
	// cabled to At[i].
	At []string
}

// maxPorts is the maximum number of ports of a node (IBA 1.2.1, 14.2.5.3).
const maxPorts = 254

// Add returns a finder that adds a switch or an adapter with its cables.
func Add(n NewNode) Finder {
	return func(now, _ *fabric.Fabric) ([]Failure, error) {
		if len(now.NodesByDescription(n.Name)) > 0 {
			return nil, fmt.Errorf("there is already a node %s", fabric.Escape(n.Name))
		}
		if n.Ports == 0 {
			n.Ports = max(portsOf(now, n.Type), len(n.At))
		}
		if n.Ports < len(n.At) || n.Ports < 1 || n.Ports > maxPorts {
			return nil, fmt.Errorf("%s has %d ports, expected %d to %d", fabric.Escape(n.Name), n.Ports,
				max(len(n.At), 1), maxPorts)
		}
		if n.GUID == 0 {
			n.GUID = nextGUID(now, n.Type)
		}
		what := "node"
		if n.Type == mad.NodeSwitch {
			what = "switch"
		}
		add := Failure{
			What: what, Name: fabric.Escape(n.Name), Added: true, Nodes: []fabric.NodeIndex{now.NumNodes()},
		}
		add.New = []fabric.Node{{GUID: n.GUID, Desc: n.Name, Type: n.Type, NumPorts: uint8(n.Ports),
			NoRevision: true}}
		for i, at := range n.At {
			port, err := places.Link(now, []string{at})
			if err != nil {
				return nil, err
			}
			add.Links = append(add.Links, fabric.Link{A: port, B: now.NumPorts() + 1 + fabric.PortIndex(i)})
		}
		return []Failure{add}, nil
	}
}

// portsOf returns the default number of ports of a new node: 1 for an adapter, and the maximum of all switches for a
// switch.
func portsOf(f *fabric.Fabric, kind mad.NodeType) int {
	most := 1
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Type == kind && n.IsSwitch() {
			most = max(most, int(n.NumPorts))
		}
	}
	return most
}

// nextGUID returns an unused GUID above the node and port GUIDs of all nodes of this type.
func nextGUID(f *fabric.Fabric, kind mad.NodeType) uint64 {
	highest := uint64(0)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Type != kind {
			continue
		}
		highest = max(highest, n.GUID)
		for p := range n.Ports() {
			highest = max(highest, f.Ports[p].GUID)
		}
	}
	next := highest + 1
	for f.NodeByGUID(next) != fabric.None || f.PortByGUID(next+1) != fabric.None {
		next++
	}
	return next
}

// Move returns a finder that moves a cable to another port. The argument node is NODE or NODE/PORT and identifies the
// cable end. The argument to is the new NODE/PORT.
func Move(node, to string) Finder {
	return func(_, whole *fabric.Fabric) ([]Failure, error) {
		at, err := places.Resolve(whole, node)
		if err != nil {
			return nil, err
		}
		port, err := places.Link(whole, []string{to})
		if err != nil {
			return nil, err
		}
		old, ok := whole.LinkOf(at.Port)
		switch {
		case whole.Nodes[at.Node].IsSwitch() && !at.PortNamed:
			return nil, fmt.Errorf("%s has several cables; hint: 'move node %s %s' moves the cable of port 1",
				whole.NodeName(at.Node), places.HintPort(whole, whole.Port(at.Node, 1)), places.HintPort(whole, port))
		case !ok:
			return nil, fmt.Errorf("%s has no cable to move; hint: run 'add link'", whole.PortName(at.Port))
		case port == at.Port:
			return nil, fmt.Errorf("%s cannot be cabled to itself", whole.PortName(port))
		}
		return []Failure{{
			What: "node", Added: true, Moved: true, Left: []fabric.Link{old},
			Name: fmt.Sprintf("%s from %s to %s", whole.PortName(at.Port), whole.PortName(whole.Ports[at.Port].Peer),
				whole.PortName(port)),
			Links: []fabric.Link{{A: min(at.Port, port), B: max(at.Port, port)}},
		}}, nil
	}
}
