// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
)

// Kind is a kind of failures.
type Kind string

// The kinds of failures.
const (
	Links    Kind = "links"
	Switches Kind = "switches"
	Pairs    Kind = "pairs"
)

// failures numbers the possible failures.
type failures struct {
	f     *fabric.Fabric
	kind  Kind
	links []fabric.Link
	// switches holds nodes.
	switches []fabric.NodeIndex
}

// listFailures lists the possible failures of a kind: links between switches of the subnet, in ascending order of their
// lower port, or switches by index.
func listFailures(f *fabric.Fabric, kind Kind) (*failures, error) {
	all := &failures{f: f, kind: kind}
	switch kind {
	case Links, Pairs:
		for _, l := range f.Links() {
			a, b := &f.Nodes[f.Ports[l.A].Node], &f.Nodes[f.Ports[l.B].Node]
			if a.IsSwitch() && b.IsSwitch() && a.InSubnet && b.InSubnet {
				all.links = append(all.links, l)
			}
		}
	case Switches:
		for _, n := range f.Switches {
			if f.Nodes[n].InSubnet {
				all.switches = append(all.switches, n)
			}
		}
	default:
		return nil, fmt.Errorf("unknown kind of failures %q: expected %s, %s or %s", kind, Links, Switches, Pairs)
	}
	return all, nil
}

// Count returns the number of failures of a kind. O(ports).
func Count(f *fabric.Fabric, kind Kind) (int, error) {
	all, err := listFailures(f, kind)
	if err != nil {
		return 0, err
	}
	return all.count(), nil
}

// count returns the number of failures.
func (a *failures) count() int {
	switch n := len(a.links); a.kind {
	case Links:
		return n
	case Pairs:
		return n * (n - 1) / 2
	}
	return len(a.switches)
}

// pair returns the indexes i < j of the two links of pair n. Pairs are numbered so that n = j(j-1)/2 + i: pair 0 is
// links 0 and 1, pair 1 is links 0 and 2, pair 2 is links 1 and 2, and so on.
func pair(n int) (i, j int) {
	j = int((1 + math.Sqrt(float64(8*n+1))) / 2)
	for j*(j-1)/2 > n {
		j--
	}
	for (j+1)*j/2 <= n {
		j++
	}
	return n - j*(j-1)/2, j
}

// removed returns the links that failure n removes.
func (a *failures) removed(n int) []fabric.Link {
	switch a.kind {
	case Links:
		return a.links[n : n+1]
	case Pairs:
		i, j := pair(n)
		return []fabric.Link{a.links[i], a.links[j]}
	}
	node := &a.f.Nodes[a.switches[n]]
	var gone []fabric.Link
	for p := range node.Slots() {
		if l, ok := a.f.LinkOf(p); ok && (l.A == p || a.f.Ports[l.A].Node != a.switches[n]) {
			gone = append(gone, l)
		}
	}
	return gone
}

// name returns the escaped name of failure n.
func (a *failures) name(n int) string {
	link := func(l fabric.Link) string { return a.f.PortName(l.A) + " -- " + a.f.PortName(l.B) }
	switch a.kind {
	case Links:
		return link(a.links[n])
	case Pairs:
		i, j := pair(n)
		return link(a.links[i]) + ", " + link(a.links[j])
	}
	return a.f.NodeName(a.switches[n])
}
