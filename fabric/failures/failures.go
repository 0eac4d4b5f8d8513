// SPDX-License-Identifier: Apache-2.0

// Package failures says what happens to a subnet on paper, and what it is then: links, switches, hosts and
// directors fail that somebody named, or chose at random, parts of them are repaired, and cables, switches and
// adapters are added or moved.
package failures

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// Failure is one thing that failed on paper, was repaired although part of something that failed before, or was
// added or moved.
type Failure struct {
	Number int           // tells it apart, and stays while others are undone
	Repair bool          // its links work again
	Added  bool          // its links are new, and so are its nodes unless it moved
	Moved  bool          // it has left another link for its new one
	What   string        // "link", "switch", "node" or "director"
	Name   string        // the failed thing in words, escaped
	Links  []fabric.Link // those that go with it, or come, in the indexes of [Paper.Whole]
	Nodes  []fabric.NodeIndex
	New    []fabric.Node // the nodes that are new
	Left   []fabric.Link // the links that are no more
}

// fails reports whether it is a failure, and no repair or addition.
func (f *Failure) fails() bool { return !f.Repair && !f.Added }

// Verb returns "failed", "repaired", "added" or "moved".
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

// InvolvesNode reports whether the failure is that of a node, alone or with others.
func (f *Failure) InvolvesNode(node fabric.NodeIndex) bool {
	return f.fails() && slices.Contains(f.Nodes, node)
}

// InvolvesLink reports whether the failure is that of this link alone.
func (f *Failure) InvolvesLink(l fabric.Link) bool {
	return f.fails() && len(f.Nodes) == 0 && slices.Contains(f.Links, l)
}

// OfLink is the failure of one link.
func OfLink(f *fabric.Fabric, l fabric.Link) Failure {
	return Failure{What: "link", Name: f.PortName(l.A) + " -- " + f.PortName(l.B), Links: []fabric.Link{l}}
}

// OfNodes is the failure of nodes with all their links as one thing, which goes by a name.
func OfNodes(f *fabric.Fabric, what, name string, nodes ...fabric.NodeIndex) Failure {
	return Failure{What: what, Name: name, Links: linksOf(f, nodes), Nodes: nodes}
}

// linksOf are the links of nodes, each once.
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

// Split are those that match, and the others.
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
