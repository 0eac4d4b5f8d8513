// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Similarity says what stands beside a hop in another path.
type Similarity uint8

// The kinds of likeness.
const (
	Alone     Similarity = iota // nothing: the other path is shorter there
	SameHop                     // the same node, with the same ports
	OtherPort                   // the same node, and another port in or out
	OtherNode                   // another node
)

// String is "same", "port", "switch", or "" for Alone.
func (l Similarity) String() string { return [...]string{"", "same", "port", "switch"}[l] }

// HopPair are hops of two paths that stand beside one another, by their indexes, -1 for none.
type HopPair struct {
	A, B int
	How  Similarity
}

// Compare lays two paths, maybe of different fabrics, side by side, so that as many nodes as can be stand beside
// themselves. O(hops^2).
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

// portNum is a port's number, -1 for none.
func portNum(f *fabric.Fabric, port fabric.PortIndex) int {
	if port == fabric.None {
		return -1
	}
	return int(f.Ports[port].Num)
}

// Backwards are the hops of the path from its end on, entered where the path leaves them.
func (p *Path) Backwards() []Hop {
	out := slices.Clone(p.Hops)
	slices.Reverse(out)
	for i := range out {
		out[i].In, out[i].Out = out[i].Out, out[i].In
	}
	return out
}

// Back is the path from the destination to the base LID of the source; ok is false where one of them has no LID.
func (p *Path) Back(t *fabric.Tables) (back Path, ok bool) {
	src := t.Fabric.EndPortOf(p.Src)
	lid := t.Fabric.Ports[src].LID
	if p.Dst == fabric.None || t.Fabric.Ports[p.Dst].LID == 0 || lid == 0 {
		return back, false
	}
	return Between(t, p.Dst, src, lid), true
}

// In traces the path between the same two ports through the tables of another state.
func (p *Path) In(f *fabric.Fabric, t *fabric.Tables) (Path, error) {
	if p.Dst == fabric.None {
		return Path{}, fmt.Errorf("nobody has LID %d", p.DstLID)
	}
	src, dst, lid, err := EndsIn(f, p.Src, p.Dst, p.DstLID, t.Fabric)
	if err != nil {
		return Path{}, err
	}
	return Between(t, src, dst, lid), nil
}

// EndsIn finds the ends of a path in another fabric: the port that sends, the one that receives, and the LID at the
// same place among those of the receiver, 0 where it has none there.
func EndsIn(f *fabric.Fabric, src, dst fabric.PortIndex, lid uint16, g *fabric.Fabric) (fabric.PortIndex,
	fabric.PortIndex, uint16, error) {
	ends := [2]fabric.PortIndex{src, dst}
	for i, port := range ends {
		node := g.NodeByGUID(f.Nodes[f.Ports[port].Node].GUID)
		if node != fabric.None {
			ends[i] = g.PortAt(node, int(f.Ports[port].Num))
		}
		if node == fabric.None || ends[i] == fabric.None {
			return fabric.None, fabric.None, 0, fmt.Errorf("%s is not there", f.PortName(port))
		}
	}
	to := g.LIDOf(ends[1])
	if to != 0 && lid != 0 {
		to += (lid - f.Ports[dst].LID) & (1<<g.Ports[ends[1]].LMC - 1)
	}
	return ends[0], ends[1], to, nil
}
