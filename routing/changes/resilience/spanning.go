// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// span finds a tree of links through the switches, or one for each connected component. O(links).
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

// splits reports whether the links of a failure disconnect the subnet or a host. It checks connectivity only if one of
// the links is in the spanning tree.
func (s *Study) splits(links []fabric.Link) bool {
	if s.all.kind != Switches && !slices.ContainsFunc(links, func(l fabric.Link) bool { return s.spanning[l.A] }) {
		return false
	}
	return s.base.Tables.Fabric.Splits(links)
}
