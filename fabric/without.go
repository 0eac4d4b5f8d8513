// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// Without returns the fabric as it would be without these links. Indexes stay the same; nodes that are cut
// off from the SM's port are no longer InSubnet. Where the SM's port itself is cut off from every switch, the
// largest part that is left becomes the subnet, seen from port 0 of one of its switches. What the failure
// leaves as it is, is shared with f. O(ports), most of it a copy of them.
func (f *Fabric) Without(links []Link) *Fabric {
	g := *f
	g.Ports = slices.Clone(f.Ports)
	if g.whole = f; f.whole != nil {
		g.whole = f.whole
	}
	g.removed = slices.Concat(f.removed, links)
	for _, l := range links {
		for _, p := range [2]PortIndex{l.A, l.B} {
			g.Ports[p].Peer = None
			g.Ports[p].State = mad.PortDown
		}
	}
	switch gone, ok := g.goneWith(f, links); {
	case !ok:
		g.reachAgain(f)
	case len(gone) > 0:
		g.forget(f, gone)
	}
	return &g
}

// Whole returns the fabric that [Fabric.Without] made this one of, or part of whole; the fabric itself where it was not
// made so.
func (f *Fabric) Whole() *Fabric {
	if f.whole == nil {
		return f
	}
	return f.whole
}

// Removed says which links a fabric is without that another has, where [Fabric.Without] made both of one fabric,
// or part of whole; ok is false where not, and where another port has become the SM's.
func Removed(whole, part *Fabric) (links []Link, ok bool) {
	root := part.whole
	switch {
	case whole == part:
		return nil, true
	case root == nil || whole.SMPort != part.SMPort:
		return nil, false
	case root == whole:
		return part.removed, true
	case root != whole.whole || len(whole.removed) > len(part.removed):
		return nil, false
	}
	for _, l := range whole.removed {
		if !slices.Contains(part.removed, l) {
			return nil, false
		}
	}
	for _, l := range part.removed {
		if !slices.Contains(whole.removed, l) {
			links = append(links, l)
		}
	}
	return links, true
}

// anyUp reports whether one of these links is there.
func (f *Fabric) anyUp(links []Link) bool {
	return slices.ContainsFunc(links, func(l Link) bool { return f.Ports[l.A].Peer == l.B })
}

// goneWith finds the end ports that f has lost with links of was, where these are no
// more than the ends of links to hosts; ok is false where it may be more.
func (f *Fabric) goneWith(was *Fabric, links []Link) (gone map[PortIndex]bool, ok bool) {
	gone = map[PortIndex]bool{}
	for _, l := range links {
		a, b := was.Ports[l.A].Node, was.Ports[l.B].Node
		switch inA, inB := was.Nodes[a].InSubnet, was.Nodes[b].InSubnet; {
		case !inA && !inB:
			continue
		case !was.Nodes[a].IsSwitch() && !was.Nodes[b].IsSwitch(), l.A == was.SMPort, l.B == was.SMPort:
			return nil, false
		case !was.Nodes[a].IsSwitch():
			gone[l.A] = true
		case !was.Nodes[b].IsSwitch():
			gone[l.B] = true
		case !f.joined(a, b, nil):
			return nil, false
		}
	}
	return gone, true
}

// Splits reports whether the subnet falls apart, or loses a host, without these links; then it looks no further.
func (f *Fabric) Splits(links []Link) bool {
	down := make(map[PortIndex]bool, 2*len(links))
	for _, l := range links {
		down[l.A], down[l.B] = true, true
	}
	for _, l := range links {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if !f.Nodes[a].InSubnet && !f.Nodes[b].InSubnet {
			continue
		}
		if !f.Nodes[a].IsSwitch() || !f.Nodes[b].IsSwitch() || !f.joined(a, b, down) {
			return true
		}
	}
	return false
}

// joined reports whether a path through switches leads from one switch to another past ports that are down, and looks
// no further.
func (f *Fabric) joined(a, b NodeIndex, down map[PortIndex]bool) bool {
	seen := make([]bool, len(f.Switches))
	seen[f.Nodes[a].Switch] = true
	queue := []NodeIndex{a}
	for i := 0; i < len(queue); i++ {
		n := &f.Nodes[queue[i]]
		for p := range n.Ports() {
			peer := f.PeerSwitch(p)
			switch {
			case peer == None || seen[peer] || down[p]:
				continue
			case f.Switches[peer] == b:
				return true
			}
			seen[peer] = true
			queue = append(queue, f.Switches[peer])
		}
	}
	return a == b
}

// forget takes end ports of hosts out of the subnet.
func (f *Fabric) forget(was *Fabric, gone map[PortIndex]bool) {
	f.Nodes = slices.Clone(was.Nodes)
	f.keepEnds(was, func(e PortIndex) bool { return !gone[e] })
	for p := range gone {
		n := &f.Nodes[f.Ports[p].Node]
		n.InSubnet = false
		for q := range n.Slots() {
			n.InSubnet = n.InSubnet || f.PortByGUID(f.Ports[q].GUID) == q
		}
	}
}

// reachAgain finds what of the subnet is left.
func (f *Fabric) reachAgain(was *Fabric) {
	f.Nodes = slices.Clone(was.Nodes)
	ends := f.reach()
	if !slices.ContainsFunc(f.Switches, func(n NodeIndex) bool { return f.Nodes[n].InSubnet }) {
		if at := f.largestPartOf(was); at != f.SMPort {
			f.SMPort = at
			ends = f.reach()
		}
	}
	left := make([]bool, len(f.Ports))
	for _, e := range ends {
		left[e] = true
	}
	f.keepEnds(was, func(e PortIndex) bool { return left[e] })
}

// keepEnds makes the lists of end ports out of those of f.
func (f *Fabric) keepEnds(was *Fabric, kept func(endPort PortIndex) bool) {
	f.portGUID = maps.Clone(was.portGUID)
	f.EndPorts = make([]PortIndex, 0, len(was.EndPorts))
	f.MaxLID = 0
	f.lidPort = slices.Clone(was.lidPort)
	for _, e := range was.EndPorts {
		p := &f.Ports[e]
		if kept(e) {
			f.EndPorts = append(f.EndPorts, e)
			if p.LID != 0 {
				f.MaxLID = max(f.MaxLID, p.LID|(1<<p.LMC-1))
			}
			continue
		}
		delete(f.portGUID, p.GUID)
		for lid := int(p.LID); p.LID != 0 && lid < int(p.LID)+1<<p.LMC; lid++ {
			f.lidPort[lid] = None
		}
	}
	f.lidPort = f.lidPort[:int(f.MaxLID)+1]
	f.Unreachable = slices.Clone(f.Unreachable)
	for _, e := range was.EndPorts {
		if !kept(e) {
			f.Unreachable = append(f.Unreachable, e)
		}
	}
	f.sortEnds(f.Unreachable)
}

// largestPartOf returns port 0 of a switch in the part with the most end ports of
// what was the subnet of whole, the SM's port where there is no switch.
func (f *Fabric) largestPartOf(whole *Fabric) PortIndex {
	best, most := f.SMPort, 0
	seen := make([]bool, len(f.Nodes))
	part := *f
	part.Nodes = append([]Node(nil), f.Nodes...)
	for _, n := range f.Switches {
		if seen[n] || !whole.Nodes[n].InSubnet {
			continue
		}
		part.SMPort = f.Nodes[n].FirstPort
		ends := part.reach()
		for _, e := range ends {
			seen[f.Ports[e].Node] = true
		}
		if len(ends) > most {
			best, most = part.SMPort, len(ends)
		}
	}
	return best
}
