// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"maps"
	"slices"

	"example.org/ibconsole/mad"
)

// Without returns the fabric without these links. Indexes do not change. Nodes that the SM's port can no longer reach
// are not InSubnet. If the SM's port cannot reach any switch, the largest remaining part becomes the subnet, and port 0
// of one of its switches becomes the SM's port. Unchanged data are shared with f. O(ports), mostly for copying them.
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
	switch lost, ok := g.lostHostPorts(f, links); {
	case !ok:
		g.rediscover(f)
	case len(lost) > 0:
		g.dropHosts(f, lost)
	}
	return &g
}

// Whole returns the fabric from which [Fabric.Without] made f. If Without did not make f, it returns f itself.
func (f *Fabric) Whole() *Fabric {
	if f.whole == nil {
		return f
	}
	return f.whole
}

// Removed returns the links that the fabric whole has and the fabric part lacks. It requires that [Fabric.Without] made
// the second from the first, or both from the same fabric. Otherwise, or if their SM ports differ, ok is false.
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

// anyUp reports whether any of these links is up in f.
func (f *Fabric) anyUp(links []Link) bool {
	return slices.ContainsFunc(links, func(l Link) bool { return f.Ports[l.A].Peer == l.B })
}

// lostHostPorts returns the end ports that were lost when links were removed from a fabric. This works only if nothing
// but hosts at the ends of these links was lost. Otherwise ok is false.
func (f *Fabric) lostHostPorts(before *Fabric, links []Link) (lost map[PortIndex]bool, ok bool) {
	lost = map[PortIndex]bool{}
	for _, l := range links {
		a, b := before.Ports[l.A].Node, before.Ports[l.B].Node
		switch inA, inB := before.Nodes[a].InSubnet, before.Nodes[b].InSubnet; {
		case !inA && !inB:
			continue
		case !before.Nodes[a].IsSwitch() && !before.Nodes[b].IsSwitch(), l.A == before.SMPort, l.B == before.SMPort:
			return nil, false
		case !before.Nodes[a].IsSwitch():
			lost[l.A] = true
		case !before.Nodes[b].IsSwitch():
			lost[l.B] = true
		case !f.connected(a, b, nil):
			return nil, false
		}
	}
	return lost, true
}

// Splits reports whether the subnet would lose a host or fall into separate parts without these links.
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
		if !f.Nodes[a].IsSwitch() || !f.Nodes[b].IsSwitch() || !f.connected(a, b, down) {
			return true
		}
	}
	return false
}

// connected reports whether switches a and b are connected by links whose ports are not in the set down, and through
// switches only. The search ends when it reaches b.
func (f *Fabric) connected(a, b NodeIndex, down map[PortIndex]bool) bool {
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

// dropHosts removes lost end ports from the subnet.
func (f *Fabric) dropHosts(before *Fabric, lost map[PortIndex]bool) {
	f.Nodes = slices.Clone(before.Nodes)
	f.keepEnds(before, func(e PortIndex) bool { return !lost[e] })
	for p := range lost {
		n := &f.Nodes[f.Ports[p].Node]
		n.InSubnet = false
		for q := range n.Slots() {
			n.InSubnet = n.InSubnet || f.PortByGUID(f.Ports[q].GUID) == q
		}
	}
}

// rediscover computes the remaining subnet.
func (f *Fabric) rediscover(before *Fabric) {
	f.Nodes = slices.Clone(before.Nodes)
	ends := f.reach()
	if !slices.ContainsFunc(f.Switches, func(n NodeIndex) bool { return f.Nodes[n].InSubnet }) {
		if at := f.largestPartOf(before); at != f.SMPort {
			f.SMPort = at
			ends = f.reach()
		}
	}
	left := make([]bool, len(f.Ports))
	for _, e := range ends {
		left[e] = true
	}
	f.keepEnds(before, func(e PortIndex) bool { return left[e] })
}

// keepEnds sets the lists of end ports. It moves the end ports of before for which kept returns false to Unreachable.
func (f *Fabric) keepEnds(before *Fabric, kept func(endPort PortIndex) bool) {
	f.portGUID = maps.Clone(before.portGUID)
	f.EndPorts = make([]PortIndex, 0, len(before.EndPorts))
	f.MaxLID = 0
	f.lidPort = slices.Clone(before.lidPort)
	for _, e := range before.EndPorts {
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
	for _, e := range before.EndPorts {
		if !kept(e) {
			f.Unreachable = append(f.Unreachable, e)
		}
	}
	f.sortEnds(f.Unreachable)
}

// largestPartOf returns port 0 of a switch in the connected part that has the most end ports of whole's subnet. It
// returns the SM's port if there is no switch.
func (f *Fabric) largestPartOf(whole *Fabric) PortIndex {
	best, most := f.SMPort, 0
	seen := make([]bool, len(f.Nodes))
	part := *f
	part.Nodes = slices.Clone(f.Nodes)
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
