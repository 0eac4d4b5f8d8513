// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
)

// Lose counts what the live fabric has lost since it was whole. before is nil at first.
func (sc *Scene) Lose(before *Scene) {
	live := sc.State.Live.Fabric
	sc.Seen = live
	if before == nil || len(before.Seen.Nodes) == 0 {
		return
	}
	sc.Seen, sc.Down = before.Seen, before.Down
	if sc.State.Live == before.State.Live {
		return
	}
	if sc.Down = DownPorts(sc.Seen, live); len(sc.Down) == 0 && len(Missing(sc.Seen, live)) == 0 {
		sc.Seen = live
	}
}

// Missing names the nodes of f that g has not.
func Missing(f, g *fabric.Fabric) []string {
	var out []string
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet && g.NodeByGUID(f.Nodes[i].GUID) == fabric.None {
			out = append(out, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return out
}

// Downs names the links of f that are not in g.
func Downs(f, g *fabric.Fabric) []string {
	return prose.Words(DownPorts(f, g), func(p fabric.PortIndex) string { return f.PortName(p) + " -- " + f.PortName(f.Ports[p].Peer) })
}

// DownPorts are ports of f, one for each link, whose links are not in g. O(ports).
func DownPorts(f, g *fabric.Fabric) []fabric.PortIndex {
	var out []fabric.PortIndex
	for i := range f.Nodes {
		n := &f.Nodes[i]
		other := g.NodeByGUID(n.GUID)
		for p := range n.Slots() {
			if f.Ports[p].Peer <= p {
				continue
			}
			var q fabric.PortIndex = fabric.None
			if other != fabric.None {
				q = g.PortAt(other, int(f.Ports[p].Num))
			}
			if q == fabric.None || !g.Ports[q].Linked() {
				out = append(out, p)
			}
		}
	}
	return out
}
