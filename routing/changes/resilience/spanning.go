// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// span finds a tree of links through the switches, or one through each part of them that hangs together. O(links).
func (s *Study) span() {
	graph := s.base.Graph
	s.spanning = make([]bool, len(s.next))
	met := make([]bool, graph.Switches())
	var queue []fabric.SwitchIndex
	for root := range fabric.SwitchIndex(len(met)) {
		if met[root] {
			continue
		}
		met[root] = true
		queue = append(queue[:0], root)
		for i := 0; i < len(queue); i++ {
			for _, l := range graph.Of(queue[i]) {
				if !met[l.Peer] {
					met[l.Peer] = true
					s.spanning[s.first[queue[i]]+fabric.PortIndex(l.Port)] = true
					s.spanning[s.first[l.Peer]+fabric.PortIndex(l.PeerPort)] = true
					queue = append(queue, l.Peer)
				}
			}
		}
	}
}

// splits reports whether the subnet falls apart, or loses a host, without the links of a failure: only where one of the
// tree is among them is that looked at.
func (s *Study) splits(links []fabric.Link) bool {
	if s.all.kind != Switches && !slices.ContainsFunc(links, func(l fabric.Link) bool { return s.spanning[l.A] }) {
		return false
	}
	return s.base.Tables.Fabric.Splits(links)
}
