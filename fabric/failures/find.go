// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
)

// Finder finds what is to happen next, in a subnet as it is on paper and as it would be without failures.
type Finder func(paper, whole *fabric.Fabric) ([]Failure, error)

// Named is what words name: "link" NODE PORT or NODE/PORT, "switch" NODE, "node" NODE,
// "director" SYSTEM or PREFIX*, or of the links between switches "random" N by a seed.
func Named(what string, words []string, seed uint64) Finder {
	return func(paper, whole *fabric.Fabric) ([]Failure, error) {
		switch what {
		case "link":
			port, err := places.Link(paper, words)
			if err != nil {
				return nil, err
			}
			return Link(port)(paper, whole)
		case "random":
			n, _ := strconv.Atoi(words[0])
			return Random(n, seed)(paper, whole)
		case "director":
			nodes, name, err := places.ResolveSystem(paper, words[0])
			if err != nil {
				return nil, err
			}
			return Nodes(what, name, nodes...)(paper, whole)
		}
		node, err := places.NodeOrSwitch(paper, what, words[0])
		if err != nil {
			return nil, err
		}
		return Nodes(what, paper.NodeName(node), node)(paper, whole)
	}
}

// Link is the link of a port.
func Link(port fabric.PortIndex) Finder {
	return func(paper, whole *fabric.Fabric) ([]Failure, error) {
		l, ok := paper.LinkOf(port)
		switch {
		case ok:
			return []Failure{OfLink(paper, l)}, nil
		case whole.Ports[port].Linked():
			return nil, fmt.Errorf("the link of %s has already failed on paper", paper.PortName(port))
		}
		return nil, fmt.Errorf("%s has no link", paper.PortName(port))
	}
}

// Nodes are nodes with all their links as one thing, which goes by a name.
func Nodes(what, name string, nodes ...fabric.NodeIndex) Finder {
	return func(paper, whole *fabric.Fabric) ([]Failure, error) {
		if len(linksOf(paper, nodes)) == 0 {
			return nil, fmt.Errorf("%s has no links, or they have already failed on paper", name)
		}
		// Those that have failed already are among them: they stay failed when the other is undone.
		return []Failure{OfNodes(whole, what, name, nodes...)}, nil
	}
}

// Random are n links between switches, chosen by seed.
func Random(n int, seed uint64) Finder {
	return func(paper, _ *fabric.Fabric) ([]Failure, error) {
		var links []fabric.Link
		for _, l := range paper.Links() {
			if paper.Nodes[paper.Ports[l.A].Node].IsSwitch() && paper.Nodes[paper.Ports[l.B].Node].IsSwitch() {
				links = append(links, l)
			}
		}
		if n < 1 || n > len(links) {
			return nil, fmt.Errorf("cannot fail %d links at random: there are %d between switches", n, len(links))
		}
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		var out []Failure
		for _, l := range links[:n] {
			out = append(out, OfLink(paper, l))
		}
		return out, nil
	}
}

// ToRestore says which failures words mean, as [Named] takes them, and what is repaired
// where it is only a part of them. Nodes of a director are such a part.
func ToRestore(whole *fabric.Fabric, what string, words []string) (match func(Failure) bool, repair Failure,
	err error) {
	if what == "link" {
		port, err := places.Link(whole, words)
		if err != nil {
			return nil, repair, err
		}
		l, ok := whole.LinkOf(port)
		if ok {
			repair = OfLink(whole, l)
		}
		return func(x Failure) bool { return ok && x.InvolvesLink(l) }, repair, nil
	}
	node, err := places.NodeOrSwitch(whole, what, words[0])
	if err != nil {
		return nil, repair, err
	}
	alone := func(x Failure) bool { return x.What != "director" && x.InvolvesNode(node) }
	return alone, OfNodes(whole, what, whole.NodeName(node), node), nil
}
