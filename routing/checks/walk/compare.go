// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Similarity describes how similar a hop is to the hop of another path.
type Similarity uint8

// The kinds of similarity.
const (
	Alone     Similarity = iota // the other path has no hop there
	SameHop                     // the same node, with the same ports
	OtherPort                   // the same node, and another port in or out
	OtherNode                   // another node
)

// String returns "same", "port", "switch", or "" for Alone.
func (l Similarity) String() string { return [...]string{"", "same", "port", "switch"}[l] }

// HopPair is an aligned pair of hops of two paths. A and B are the indexes of the hops, or -1 if a path has no hop
// there.
type HopPair struct {
	A, B int
	How  Similarity
}

// Compare aligns two paths, which may belong to different fabrics. It pairs as many nodes as possible with the same
// node of the other path. O(hops^2).
func Compare(f *fabric.Fabric, a []Hop, g *fabric.Fabric, b []Hop) []HopPair {
	same := func(i, j int) bool { return f.Nodes[a[i].Node].GUID == g.Nodes[b[j].Node].GUID }
	most := make([][]int, len(a)+1) // of the nodes that a[i:] and b[j:] have in common, in order
	most[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		most[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if most[i][j] = max(most[i+1][j], most[i][j+1]); same(i, j) {
				most[i][j] = most[i+1][j+1] + 1
			}
		}
	}
	var out []HopPair
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i == len(a):
			out = append(out, HopPair{-1, j, Alone})
			j++
		case j == len(b):
			out = append(out, HopPair{i, -1, Alone})
			i++
		case same(i, j):
			how := OtherPort
			if portNum(f, a[i].In) == portNum(g, b[j].In) && portNum(f, a[i].Out) == portNum(g, b[j].Out) {
				how = SameHop
			}
			out = append(out, HopPair{i, j, how})
			i, j = i+1, j+1
		case most[i+1][j+1] == most[i][j]:
			out = append(out, HopPair{i, j, OtherNode})
			i, j = i+1, j+1
		case most[i+1][j] == most[i][j]:
			out = append(out, HopPair{i, -1, Alone})
			i++
		default:
			out = append(out, HopPair{-1, j, Alone})
			j++
		}
	}
	return out
}

// portNum returns the number of a port, or -1 if the argument port is None.
func portNum(f *fabric.Fabric, port fabric.PortIndex) int {
	if port == fabric.None {
		return -1
	}
	return int(f.Ports[port].Num)
}

// Backwards returns the hops of the path in reverse order, with In and Out exchanged.
func (p *Path) Backwards() []Hop {
	out := slices.Clone(p.Hops)
	slices.Reverse(out)
	for i := range out {
		out[i].In, out[i].Out = out[i].Out, out[i].In
	}
	return out
}

// Back returns the path from the destination to the base LID of the source. ok is false if the source or the
// destination has no LID.
func (p *Path) Back(t *fabric.Tables) (back Path, ok bool) {
	src := t.Fabric.EndPortOf(p.Src)
	lid := t.Fabric.Ports[src].LID
	if p.Dst == fabric.None || t.Fabric.Ports[p.Dst].LID == 0 || lid == 0 {
		return back, false
	}
	return Between(t, p.Dst, src, lid), true
}

// In returns the path between the same two ports through the tables t of another state. f is the fabric of p.
func (p *Path) In(f *fabric.Fabric, t *fabric.Tables) (Path, error) {
	if p.Dst == fabric.None {
		return Path{}, fmt.Errorf("no port has LID %d", p.DstLID)
	}
	src, dst, lid, err := EndsIn(f, p.Src, p.Dst, p.DstLID, t.Fabric)
	if err != nil {
		return Path{}, err
	}
	return Between(t, src, dst, lid), nil
}

// EndsIn returns the ends of a path in another fabric g: the source, the destination, and the LID at the same position
// among the LIDs of the destination. The LID is 0 if the destination has no LID there.
func EndsIn(f *fabric.Fabric, src, dst fabric.PortIndex, lid uint16, g *fabric.Fabric) (fabric.PortIndex,
	fabric.PortIndex, uint16, error) {
	ends := [2]fabric.PortIndex{src, dst}
	for i, port := range ends {
		node := g.NodeByGUID(f.Nodes[f.Ports[port].Node].GUID)
		if node != fabric.None {
			ends[i] = g.PortAt(node, int(f.Ports[port].Num))
		}
		if node == fabric.None || ends[i] == fabric.None {
			return fabric.None, fabric.None, 0, fmt.Errorf("the other state does not have %s", f.PortName(port))
		}
	}
	to := g.LIDOf(ends[1])
	if to != 0 && lid != 0 {
		to += (lid - f.Ports[dst].LID) & (1<<g.Ports[ends[1]].LMC - 1)
	}
	return ends[0], ends[1], to, nil
}
