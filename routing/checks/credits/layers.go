// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// AddPaths adds the dependencies of packets from all hosts to a LID after some entries for this LID have changed. The
// argument wires has the links of the tables, which have one VL. AddPaths returns false if the dependencies close a
// cycle with those of before. It has then added some of them, so the caller must call [Order.TakeBack]. O(switches).
func (o *Order) AddPaths(wires walk.Wires, lid uint16, edits []fabric.Edit) bool {
	if o.edited == nil {
		o.edited, o.passed = make([]uint8, len(o.f.Switches)), make([]bool, len(o.f.Switches))
	}
	for _, e := range edits {
		o.edited[e.Switch] = e.Port
	}
	free := true
	for _, group := range o.ends.Groups {
		if free = o.addPath(wires, lid, group.At); !free {
			break
		}
	}
	for _, e := range edits {
		o.edited[e.Switch] = 0
	}
	clear(o.passed)
	return free
}

// addPath adds the dependencies of packets from a switch, up to a switch that other packets have passed.
func (o *Order) addPath(wires walk.Wires, lid uint16, s fabric.SwitchIndex) bool {
	from := int32(-1)
	for s >= 0 {
		out := o.edited[s]
		if out == 0 {
			out = o.ends.Tables.Port(s, lid)
		}
		next := wires.Next(s, out)
		if out == 0 || next < 0 {
			return true
		}
		if from >= 0 && !o.depend(channelPair{from, s, out, 0}) {
			return false
		}
		if o.passed[s] {
			return true
		}
		o.passed[s] = true
		from, s = o.graph.number(o.f.SwitchNode(s).FirstPort+fabric.PortIndex(out), 0), next
	}
	return true
}

// mostLayers is the highest number of data VLs (IBA 1.2.1, 7.6.2).
const mostLayers = 15

// Layers returns a number of VLs with which the paths of the tables have no credit loop, if the packets to each LID and
// to each multicast group use a single VL. It assigns them one after the other to the first VL where they close no
// loop, so fewer VLs may suffice. It returns 0 if more than 15 VLs would be needed, or if packets to a LID circulate.
// It ignores the VLs and SLs of the tables. O(LIDs x switches x VLs).
func Layers(ctx context.Context, t *fabric.Tables) (int, error) {
	plain := *t
	plain.SL2VL, plain.SLs, plain.Unread = nil, nil, fabric.Unread{}
	c := newChecker(&plain, Options{})
	l := layering{checker: c, wires: walk.NewWires(&plain), seen: make([]bool, len(c.f.Switches))}
	for i, lid := range c.ends.LIDs {
		if i%64 == 0 && ctx.Err() != nil {
			return 0, fmt.Errorf("assign VLs: %w", ctx.Err())
		}
		if !l.assign(l.tree(lid.LID)) {
			return 0, nil
		}
	}
	if m := plain.MFT; m != nil {
		w := newWorker(c)
		for i := range m.LIDs() {
			w.graph = newGraph(c.f, 1)
			w.group(uint16(fabric.FirstMLID + i))
			if !l.assign(l.pairs(w.graph)) {
				return 0, nil
			}
		}
	}
	return max(1, len(l.layers)), nil
}

// layering assigns dependencies to VLs.
type layering struct {
	*checker
	wires  walk.Wires
	layers []*Order
	seen   []bool
}

// tree returns the dependencies of packets from all hosts to a LID.
func (l *layering) tree(lid uint16) (pairs []channelPair) {
	clear(l.seen)
	t := l.ends.Tables
	for _, group := range l.ends.Groups {
		from := int32(-1)
		for s := group.At; s >= 0; {
			out := t.Port(s, lid)
			if out == 0 || l.wires.Next(s, out) < 0 {
				break
			}
			if from >= 0 {
				pairs = append(pairs, channelPair{from, s, out, 0})
			}
			if l.seen[s] {
				break
			}
			l.seen[s] = true
			from, s = int32(l.f.SwitchNode(s).FirstPort)+int32(out), l.wires.Next(s, out)
		}
	}
	return pairs
}

// pairs returns the dependencies of a graph with one VL.
func (l *layering) pairs(g *graph) (pairs []channelPair) {
	for c := range g.rows {
		g.each(int32(c), func(to int32) {
			p := &l.f.Ports[to]
			pairs = append(pairs, channelPair{int32(c), l.f.Nodes[p.Node].Switch, p.Num, 0})
		})
	}
	return pairs
}

// assign adds dependencies to the first VL where they close no loop.
func (l *layering) assign(pairs []channelPair) bool {
	for i := range mostLayers {
		if i == len(l.layers) {
			o := &Order{checker: l.checker, graph: newGraph(l.f, 1)}
			o.seen = make([]bool, len(o.graph.rows))
			o.sort()
			l.layers = append(l.layers, o)
		}
		o, fits := l.layers[i], true
		mark := o.Mark()
		for _, p := range pairs {
			if fits = o.depend(p); !fits {
				break
			}
		}
		if fits {
			return true
		}
		if o.TakeBack(mark); i == len(l.layers)-1 && mark == 0 {
			return false // an empty VL
		}
	}
	return false
}
