// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Likeness says what stands beside a hop in another path.
type Likeness uint8

// The kinds of likeness.
const (
	Alone     Likeness = iota // nothing: the other path is shorter there
	SameHop                   // the same node, with the same ports
	OtherPort                 // the same node, and another port in or out
	OtherNode                 // another node
)

// String is "same", "port", "switch", or "" for Alone.
func (l Likeness) String() string { return [...]string{"", "same", "port", "switch"}[l] }

// Beside are hops of two paths that stand beside one another, by their indexes, -1 for none.
type Beside struct {
	A, B int
	How  Likeness
}

// Compare lays two paths, maybe of different fabrics, side by side, so that as many nodes as can be stand beside
// themselves. O(hops^2).
func Compare(f *fabric.Fabric, a []Hop, g *fabric.Fabric, b []Hop) []Beside {
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
	var out []Beside
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i == len(a):
			out = append(out, Beside{-1, j, Alone})
			j++
		case j == len(b):
			out = append(out, Beside{i, -1, Alone})
			i++
		case same(i, j):
			how := OtherPort
			if portNum(f, a[i].In) == portNum(g, b[j].In) && portNum(f, a[i].Out) == portNum(g, b[j].Out) {
				how = SameHop
			}
			out = append(out, Beside{i, j, how})
			i, j = i+1, j+1
		case most[i+1][j+1] == most[i][j]:
			out = append(out, Beside{i, j, OtherNode})
			i, j = i+1, j+1
		case most[i+1][j] == most[i][j]:
			out = append(out, Beside{i, -1, Alone})
			i++
		default:
			out = append(out, Beside{-1, j, Alone})
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
	lid := t.Fabric.Ports[t.Fabric.EndPortOf(p.Src)].LID
	if p.Dst == fabric.None || lid == 0 {
		return back, false
	}
	return Trace(t, p.Dst, lid), true
}

// In finds the ends of the path in another fabric: the port that sends and the LID, the one of the same place among
// those of its port.
func (p *Path) In(f, g *fabric.Fabric) (src fabric.PortIndex, lid uint16, err error) {
	if p.Dst == fabric.None {
		return fabric.None, 0, fmt.Errorf("nobody has LID %d", p.DstLID)
	}
	var ends [2]fabric.PortIndex
	for i, port := range [2]fabric.PortIndex{p.Src, p.Dst} {
		node := g.NodeByGUID(f.Nodes[f.Ports[port].Node].GUID)
		if node == fabric.None {
			return fabric.None, 0, fmt.Errorf("%s is not there", f.PortName(port))
		}
		if ends[i] = g.PortAt(node, int(f.Ports[port].Num)); ends[i] == fabric.None {
			return fabric.None, 0, fmt.Errorf("%s is not there", f.PortName(port))
		}
	}
	dst := &g.Ports[ends[1]]
	if dst.LID == 0 {
		return fabric.None, 0, fmt.Errorf("%s has no LID", g.PortName(ends[1]))
	}
	return ends[0], dst.LID + (p.DstLID-f.Ports[p.Dst].LID)&(1<<dst.LMC-1), nil
}
