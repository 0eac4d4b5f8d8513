// SPDX-License-Identifier: Apache-2.0

// Package failures says what fails in a subnet on paper, and which links do not work then: those of links,
// switches, hosts and directors that somebody named, or chose at random, and of what was repaired of them.
package failures

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// Failure is one thing that failed on paper, or was repaired although part of something that failed before.
type Failure struct {
	Number int           // tells it apart, and stays while others are undone
	Repair bool          // its links work again
	What   string        // "link", "switch", "node" or "director"
	Name   string        // the failed thing in words, escaped
	Links  []fabric.Link // those that go with it, in the indexes of the base
	nodes  []fabric.NodeIndex
}

// InvolvesNode reports whether the failure is that of a node, alone or with others.
func (f *Failure) InvolvesNode(node fabric.NodeIndex) bool {
	return !f.Repair && slices.Contains(f.nodes, node)
}

// InvolvesLink reports whether the failure is that of this link alone.
func (f *Failure) InvolvesLink(l fabric.Link) bool {
	return !f.Repair && len(f.nodes) == 0 && slices.Contains(f.Links, l)
}

// OfLink is the failure of one link.
func OfLink(f *fabric.Fabric, l fabric.Link) Failure {
	return Failure{What: "link", Name: f.PortName(l.A) + " -- " + f.PortName(l.B), Links: []fabric.Link{l}}
}

// OfNodes is the failure of nodes with all their links as one thing, which goes by a name.
func OfNodes(f *fabric.Fabric, what, name string, nodes ...fabric.NodeIndex) Failure {
	return Failure{What: what, Name: name, Links: linksOf(f, nodes), nodes: nodes}
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

// Failed are the links that failures and repairs, one after the other, leave without function.
func Failed(all []Failure) map[fabric.Link]bool {
	failed := map[fabric.Link]bool{}
	for i := range all {
		for _, l := range all[i].Links {
			if all[i].Repair {
				delete(failed, l)
			} else {
				failed[l] = true
			}
		}
	}
	return failed
}
