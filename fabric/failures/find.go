// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
)

// Finder finds the next changes to simulate. The argument now is the simulated subnet, whole is the same subnet without
// failures.
type Finder func(now, whole *fabric.Fabric) ([]Failure, error)

// Named returns a finder for the parts of the subnet that a command names. The argument what is the kind, the argument
// words has the words after it: "link" NODE PORT or NODE/PORT, "switch" NODE, "node" NODE, "director" SYSTEM or
// PREFIX*, or "random" N. With "random" the finder chooses N links between switches by the seed.
func Named(what string, words []string, seed uint64) Finder {
	return func(now, whole *fabric.Fabric) ([]Failure, error) {
		switch what {
		case "link":
			port, err := places.Link(now, words)
			if err != nil {
				return nil, err
			}
			return Link(port)(now, whole)
		case "random":
			n, _ := strconv.Atoi(words[0])
			return Random(n, seed)(now, whole)
		case "director":
			nodes, name, err := places.ResolveSystem(now, words[0])
			if err != nil {
				return nil, err
			}
			return Nodes(what, name, nodes...)(now, whole)
		}
		node, err := places.NodeOrSwitch(now, what, words[0])
		if err != nil {
			return nil, err
		}
		return Nodes(what, now.NodeName(node), node)(now, whole)
	}
}

// Link finds the link of a port.
func Link(port fabric.PortIndex) Finder {
	return func(now, whole *fabric.Fabric) ([]Failure, error) {
		l, ok := now.LinkOf(port)
		switch {
		case ok:
			return []Failure{OfLink(now, l)}, nil
		case whole.Ports[port].Linked():
			return nil, fmt.Errorf("the link of %s has already failed in the what-if", now.PortName(port))
		}
		return nil, fmt.Errorf("%s has no link", now.PortName(port))
	}
}

// Nodes returns a finder for the failure of nodes with all their links. The failure gets a kind and a name.
func Nodes(what, name string, nodes ...fabric.NodeIndex) Finder {
	return func(now, whole *fabric.Fabric) ([]Failure, error) {
		if len(linksOf(now, nodes)) == 0 {
			return nil, fmt.Errorf("%s has no links, or they have already failed in the what-if", name)
		}
		// The failure includes links that have already failed. They then remain failed when the earlier failure is
		// undone.
		return []Failure{OfNodes(whole, what, name, nodes...)}, nil
	}
}

// Random returns a finder for the failure of n links between switches, which it chooses by a seed.
func Random(n int, seed uint64) Finder {
	return func(now, _ *fabric.Fabric) ([]Failure, error) {
		var links []fabric.Link
		for _, l := range now.Links() {
			if now.Nodes[now.Ports[l.A].Node].IsSwitch() && now.Nodes[now.Ports[l.B].Node].IsSwitch() {
				links = append(links, l)
			}
		}
		if n < 1 || n > len(links) {
			return nil, fmt.Errorf("fail %d links at random: the subnet has %s between switches", n,
				prose.Count(len(links), "link"))
		}
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		var out []Failure
		for _, l := range links[:n] {
			out = append(out, OfLink(now, l))
		}
		return out, nil
	}
}

// ToRestore interprets the words of a restore command as [Named] does. The function match reports whether a failure is
// the one to undo. If no failure matches, the named part is only a part of a failure, such as a node of a director, and
// the result repair is the failure that repairs that part.
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
