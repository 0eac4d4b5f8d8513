// SPDX-License-Identifier: Apache-2.0

// Package moved compares the paths of pairs in two states, and finds the links that moved them. Nodes and ports are
// matched by GUID.
package moved

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/routing/checks/walk"
)

var endings = map[walk.Verdict]traces.Ending{
	walk.Delivered: traces.Delivered, walk.TooLong: traces.TooLong, walk.Loop: traces.Loop,
	walk.Misdelivered: traces.Misdelivered, walk.Unknown: traces.Unknown,
}

var deadEnds = map[walk.Cause]traces.Ending{
	walk.NoEntry: traces.NoEntry, walk.NoSuchPort: traces.NoSuchPort, walk.NoLink: traces.NoLink,
	walk.Unreachable: traces.Unreachable, walk.NoLID: traces.NoLID,
}

var liveEndings = map[livetrace.Verdict]traces.Ending{
	livetrace.Delivered: traces.Delivered, livetrace.Loop: traces.Loop, livetrace.Misdelivered: traces.Misdelivered,
	livetrace.NoEntry: traces.NoEntry, livetrace.NoSuchPort: traces.NoSuchPort, livetrace.LinkDown: traces.NoLink,
	livetrace.Silent: traces.Unknown, livetrace.Moved: traces.Unreachable,
}

// Row returns a path through the tables of a state as a row. Its hops are appended to a part of the argument hops,
// which may be nil.
func Row(f *fabric.Fabric, p *walk.Path, hops []traces.Hop) traces.Row {
	r := traces.Row{Src: f.Ports[p.Src].GUID, LID: p.DstLID, Ending: deadEnds[p.Cause], Hops: hops[:0]}
	if p.Verdict != walk.DeadEnd {
		r.Ending = endings[p.Verdict]
	}
	if p.Dst != fabric.None {
		r.Dst = f.Ports[p.Dst].GUID
	}
	for i := range p.Hops {
		h := &p.Hops[i]
		r.Hops = append(r.Hops, traces.Hop{GUID: f.Nodes[h.Node].GUID, In: num(f, h.In), Out: num(f, h.Out)})
	}
	return r
}

func num(f *fabric.Fabric, port fabric.PortIndex) int16 {
	if port == fabric.None {
		return traces.NoPort
	}
	return int16(f.Ports[port].Num)
}

// LiveRow returns a path through the switches as a row. f is the fabric of the last sweep.
func LiveRow(f *fabric.Fabric, p *livetrace.Path) traces.Row {
	r := traces.Row{Src: f.Ports[p.Src].GUID, LID: p.LID, Ending: liveEndings[p.Verdict]}
	if dst := f.PortByLID(p.LID); dst != fabric.None {
		r.Dst = f.Ports[dst].GUID
	}
	for i := range p.Hops {
		h := &p.Hops[i]
		r.Hops = append(r.Hops, traces.Hop{GUID: h.GUID, In: int16(h.In), Out: int16(h.Out)})
	}
	if r.Hops == nil {
		r.Hops = []traces.Hop{{GUID: f.Nodes[f.Ports[p.Src].Node].GUID, In: traces.NoPort, Out: traces.NoPort}}
	}
	return r
}

// Trace returns the path between the same ports in a state. The LID is the one at the same position among the LIDs of
// the destination. ok is false if the state has no such port. The argument hops is that of [Row].
func Trace(t *fabric.Tables, k traces.Key, hops []traces.Hop) (r traces.Row, ok bool) {
	f := t.Fabric
	src := f.PortByGUID(k.Src)
	if src == fabric.None {
		return r, false
	}
	src = f.EndPortOf(src)
	if k.Dst == 0 {
		p := walk.Trace(t, src, k.LID)
		return Row(f, &p, hops), true
	}
	dst := f.PortByGUID(k.Dst)
	if dst == fabric.None {
		return r, false
	}
	dst = f.EndPortOf(dst)
	lid := f.LIDOf(dst)
	if lid != 0 && k.LID != 0 {
		lid += (k.LID - lid) & (1<<f.Ports[dst].LMC - 1)
	}
	p := walk.Between(t, src, dst, lid)
	return Row(f, &p, hops), true
}

// Link is a link, with its ends in the order of their node GUIDs and ports.
type Link struct{ A, B fabric.End }

// Missing returns the first link of a path that a fabric does not have.
func Missing(f *fabric.Fabric, r *traces.Row) (Link, bool) {
	for i := range len(r.Hops) - 1 {
		a, b := r.Hops[i], r.Hops[i+1]
		l := Link{fabric.End{GUID: a.GUID, Port: int(a.Out)}, fabric.End{GUID: b.GUID, Port: int(b.In)}}
		if a.GUID > b.GUID || a.GUID == b.GUID && a.Out > b.In {
			l.A, l.B = l.B, l.A
		}
		from, to := portOf(f, l.A), portOf(f, l.B)
		if from == fabric.None || to == fabric.None || f.Ports[from].Peer != to {
			return l, true
		}
	}
	return Link{}, false
}

func portOf(f *fabric.Fabric, e fabric.End) fabric.PortIndex {
	node := f.NodeByGUID(e.GUID)
	if node == fabric.None {
		return fabric.None
	}
	return f.PortAt(node, e.Port)
}

// Parts returns the index of the last hop at which two paths are still at the same node. It is -1 if they begin at
// different nodes.
func Parts(a, b *traces.Row) int {
	at := -1
	for i := range min(len(a.Hops), len(b.Hops)) {
		x, y := a.Hops[i], b.Hops[i]
		if x.GUID != y.GUID {
			break
		}
		if at = i; x.Out != y.Out {
			break
		}
	}
	return at
}

// Match returns the pairs of rows of two sets with the same source and destination: first those with the same LID, then
// the others of the same ports in the order of their LIDs. Rows without a counterpart are in pairs with -1. The pairs
// are in the order of the first set, followed by the rest of the second.
func Match(a, b *traces.Set) [][2]int {
	type ends struct{ src, dst uint64 }
	byKey, rest := map[traces.Key]int{}, map[ends][]int{}
	for i := range b.Len() {
		byKey[b.Key(i)] = i
	}
	var pairs [][2]int
	taken := make([]bool, b.Len())
	for i := range a.Len() {
		k := a.Key(i)
		j, ok := byKey[k]
		if !ok || taken[j] {
			j = -1
		} else {
			taken[j] = true
		}
		pairs = append(pairs, [2]int{i, j})
	}
	for j := range b.Len() {
		if k := b.Key(j); !taken[j] {
			rest[ends{k.Src, k.Dst}] = append(rest[ends{k.Src, k.Dst}], j)
		}
	}
	for i := range pairs {
		k := a.Key(pairs[i][0])
		if left := rest[ends{k.Src, k.Dst}]; pairs[i][1] < 0 && k.Dst != 0 && len(left) > 0 {
			pairs[i][1], taken[left[0]] = left[0], true
			rest[ends{k.Src, k.Dst}] = left[1:]
		}
	}
	for j, is := range taken {
		if !is {
			pairs = append(pairs, [2]int{-1, j})
		}
	}
	return pairs
}
