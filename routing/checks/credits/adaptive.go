// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/trees"
)

// lot is the number of LIDs in a batch.
const lot = fabric.BlockSize

// chosen collects the dependencies of packets for all choices of adaptive switches.
func (c *checker) chosen(ctx context.Context, worker func(n int) *worker) error {
	net := choices.NewNet(c.ends.Tables)
	lids := choices.BySwitch(c.ends)
	return routing.ForEach(ctx, (len(lids)+lot-1)/lot, c.opt.Progress, func(n, i int) {
		w := worker(n)
		if w.chooser == nil {
			w.chooser = newChooser(w, net)
		}
		for _, at := range lids[i*lot : min(len(lids), (i+1)*lot)] {
			w.chooser.choices(c.ends.LIDs[at])
		}
	})
}

// explainChosen finds packets that cause each dependency of the ring: packets to the lowest LID that can cause it.
func (c *checker) explainChosen(ctx context.Context, ring []Dependency) error {
	w := newWorker(c)
	chooser := newChooser(w, choices.NewNet(c.ends.Tables))
	chooser.wanted = ring
	for _, l := range c.ends.LIDs {
		if err := ctx.Err(); err != nil {
			return err
		}
		chooser.choices(l)
		if !slices.ContainsFunc(ring, func(d Dependency) bool { return d.LID == 0 }) {
			return nil
		}
	}
	return nil
}

// chooser collects, for one worker, the dependencies of packets at switches that route adaptively.
type chooser struct {
	*worker
	net  *choices.Net
	flow *choices.Flow
	seen []bool
	todo []waiting
	// wanted lists the dependencies for which packets are searched. It is nil if none are searched.
	wanted []Dependency
}

// waiting is a channel from which the search must continue, and an end whose packets reach this channel.
type waiting struct{ channel, end int32 }

func newChooser(w *worker, net *choices.Net) *chooser {
	return &chooser{worker: w, net: net, flow: net.NewFlow(), seen: make([]bool, len(w.used))}
}

// start is the first place of the packets of an end, and the switch port by which they enter.
type start struct {
	at choices.Place
	in uint8
}

// choices adds the dependencies of packets from all ends to one LID.
func (w *chooser) choices(l trees.LID) {
	dst := w.ends.Ports[l.End]
	if w.sls == nil && w.wanted == nil && w.flow.Same(l.LID, dst) {
		return
	}
	var starts [16]map[start]int32
	for end := range w.ends.Ports {
		if int32(end) == l.End || w.ends.Groups[w.ends.GroupOf[end]].At < 0 {
			continue
		}
		for sl := range w.slsOf(int32(end), l.LID) {
			if starts[sl] == nil {
				starts[sl] = map[start]int32{}
			}
			from := start{w.net.First(w.ends.Ports[end], sl), w.ins[end]}
			if w.sl2vl == nil {
				from.in = 0 // it has no effect
			}
			if _, ok := starts[sl][from]; !ok {
				starts[sl][from] = int32(end)
			}
		}
	}
	for sl, from := range starts {
		if from != nil {
			w.flow.Begin(l.LID, dst, uint8(sl))
			w.flood(from, l, uint8(sl))
		}
	}
}

// flood follows packets of one SL to a LID from link to link, by every exit, until it finds no new channel.
func (w *chooser) flood(starts map[start]int32, l trees.LID, sl uint8) {
	f := w.checker.f
	var all []int32
	pass := func(at choices.Place, in uint8, from, end int32) {
		sw, _ := w.net.Switch(at)
		for _, e := range w.flow.Exits(at) {
			if e.To < 0 {
				continue
			}
			vls := w.vlsOf(sw, in, e.Port, sl) &^ uncertain
			if from != fabric.None {
				w.dependAll(from, sw, e.Port, vls)
			}
			for ; vls != 0; vls &= vls - 1 {
				c := w.number(f.SwitchNode(sw).FirstPort+fabric.PortIndex(e.Port), uint8(bits.TrailingZeros16(vls)))
				w.find(from, c, end, l, sl)
				if !w.seen[c] {
					w.seen[c], w.used[c] = true, true
					all, w.todo = append(all, c), append(w.todo, waiting{c, end})
				}
			}
		}
	}
	for s, end := range starts {
		pass(s.at, s.in, fabric.None, end)
	}
	for len(w.todo) > 0 {
		last := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		peer := &f.Ports[f.Ports[last.channel/int32(w.graph.vls)].Peer]
		pass(w.flow.Next(choices.Exit{To: f.Nodes[peer.Node].Switch, In: peer.Num}), peer.Num, last.channel, last.end)
	}
	for _, c := range all {
		w.seen[c] = false
	}
}

// find records the packets from an end port to a LID in each wanted dependency between two channels.
func (w *chooser) find(from, to, end int32, l trees.LID, sl uint8) {
	for i := range w.wanted {
		d := &w.wanted[i]
		if d.LID == 0 && w.number(d.From.Port, d.From.VL) == from && w.number(d.To.Port, d.To.VL) == to {
			d.Src, d.Dst, d.LID, d.SL = w.ends.Ports[end], w.ends.Ports[l.End], l.LID, sl
		}
	}
}
