// SPDX-License-Identifier: Apache-2.0

package tui

import "example.org/ibconsole/fabric"

// lose counts what the live fabric has lost since it was whole. before is nil at first.
func (sc *scene) lose(before *scene) {
	live := sc.st.Live.Fabric
	sc.seen = live
	if before == nil || len(before.seen.Nodes) == 0 {
		return
	}
	sc.seen, sc.down = before.seen, before.down
	if sc.st.Live == before.st.Live {
		return
	}
	if sc.down = downPorts(sc.seen, live); len(sc.down) == 0 && len(missing(sc.seen, live)) == 0 {
		sc.seen = live
	}
}

// missing names the nodes of f that g has not.
func missing(f, g *fabric.Fabric) []string {
	var out []string
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet && g.NodeByGUID(f.Nodes[i].GUID) == fabric.None {
			out = append(out, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return out
}

// downs names the links of f that are not in g.
func downs(f, g *fabric.Fabric) []string {
	var out []string
	for _, p := range downPorts(f, g) {
		out = append(out, f.PortName(p)+" -- "+f.PortName(f.Ports[p].Peer))
	}
	return out
}

// downPorts are ports of f, one for each link, whose links are not in g. O(ports).
func downPorts(f, g *fabric.Fabric) []fabric.PortIndex {
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
