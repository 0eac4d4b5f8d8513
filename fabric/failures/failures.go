// SPDX-License-Identifier: Apache-2.0

// Package failures simulates changes of a subnet. Links, switches, hosts and directors fail, either named or chosen at
// random. Failed parts are repaired. Cables, switches and adapters are added or moved.
package failures

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// Failure is one simulated change: a failure, a repair of a part of an earlier failure, an addition, or a move.
type Failure struct {
	Number int           // identifies it, also after others are undone
	Repair bool          // its links work again
	Added  bool          // its links are new, and its nodes unless Moved
	Moved  bool          // from the links in Left
	What   string        // "link", "switch", "node" or "director"
	Name   string        // for people, escaped
	Links  []fabric.Link // failed or new ones, in the indexes of [Simulation].Whole
	Nodes  []fabric.NodeIndex
	New    []fabric.Node // new nodes
	Left   []fabric.Link // removed links
}

// fails reports whether the change is a failure, not a repair, addition or move.
func (f *Failure) fails() bool { return !f.Repair && !f.Added }

// Verb returns the kind of the change: "failed", "repaired", "added" or "moved".
func (f *Failure) Verb() string {
	switch {
	case f.Moved:
		return "moved"
	case f.Added:
		return "added"
	case f.Repair:
		return "repaired"
	}
	return "failed"
}

// InvolvesNode reports whether the change is a failure of this node, alone or together with other nodes.
func (f *Failure) InvolvesNode(node fabric.NodeIndex) bool {
	return f.fails() && slices.Contains(f.Nodes, node)
}

// InvolvesLink reports whether the change is a failure of this link alone.
func (f *Failure) InvolvesLink(l fabric.Link) bool {
	return f.fails() && len(f.Nodes) == 0 && slices.Contains(f.Links, l)
}

// OfLink returns the failure of one link.
func OfLink(f *fabric.Fabric, l fabric.Link) Failure {
	return Failure{What: "link", Name: f.PortName(l.A) + " -- " + f.PortName(l.B), Links: []fabric.Link{l}}
}

// OfNodes returns the failure of nodes with all their links. The failure gets a kind and a name.
func OfNodes(f *fabric.Fabric, what, name string, nodes ...fabric.NodeIndex) Failure {
	return Failure{What: what, Name: name, Links: linksOf(f, nodes), Nodes: nodes}
}

// linksOf returns the links of nodes, each once.
func linksOf(f *fabric.Fabric, nodes []fabric.NodeIndex) (links []fabric.Link) {
	seen := map[fabric.Link]bool{}
	for _, node := range nodes {
		n := &f.Nodes[node]
		for p := range n.Slots() {
			if l, ok := f.LinkOf(p); ok && !seen[l] {
				seen[l] = true
				links = append(links, l)
			}
		}
	}
	return links
}

// Split returns the changes for which match returns true, and the other changes.
func Split(all []Failure, match func(Failure) bool) (yes, no []Failure) {
	for _, f := range all {
		if match(f) {
			yes = append(yes, f)
		} else {
			no = append(no, f)
		}
	}
	return yes, no
}
