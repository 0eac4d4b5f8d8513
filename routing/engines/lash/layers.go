// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"context"

	"example.org/ibconsole/routing"
)

// layers are the VLs, with the pairs of switches assigned to each.
type layers struct {
	*channels
	list []*layer
	// layerOf holds the VL of the pair (s, d) at index s*n+d. The path in the other direction is in the same VL.
	layerOf     []uint8
	there, back []int32 // scratch: the paths of a pair
}

// newLayers adds every pair of switches, in the order of numbers, to the first VL that stays without a cycle. Each VL
// tries the pairs that the previous VL rejected, one row of pairs later, so that VLs work concurrently. The function
// progress receives the number of finished rows of pairs.
func newLayers(ctx context.Context, p *paths, progress func(done int)) (*layers, error) {
	c := newChannels(p)
	l := &layers{channels: c, list: []*layer{newLayer(c)}, layerOf: make([]uint8, p.n*p.n)}
	waiting := make([]queue, 1) // by VL
	for row := int32(0); ; row++ {
		left := 0
		waiting[0].in = waiting[0].in[:0]
		for d := row + 1; d < int32(p.n); d++ {
			waiting[0].in = append(waiting[0].in, pair{row, d})
		}
		for _, q := range waiting {
			left += len(q.in)
		}
		if left == 0 && row >= int32(p.n) {
			return l, nil
		}
		if err := routing.ForEach(ctx, len(waiting), nil, func(_, i int) { l.try(&waiting[i], i) }); err != nil {
			return nil, err
		}
		if len(waiting[len(waiting)-1].out) > 0 {
			waiting = append(waiting, queue{})
			l.list = append(l.list, newLayer(c))
		}
		for i := len(waiting) - 1; i > 0; i-- {
			waiting[i].in, waiting[i-1].out = waiting[i-1].out, waiting[i].in
		}
		progress(min(int(row)+1, p.n))
	}
}

// pair is a pair of switches.
type pair struct{ s, d int32 }

// queue holds the pairs that a VL must try, and the pairs that it has rejected.
type queue struct {
	in, out     []pair
	there, back []int32 // scratch
}

func (l *layers) try(q *queue, at int) {
	q.out = q.out[:0]
	for _, p := range q.in {
		q.there = l.follow(q.there[:0], p.s, p.d)
		q.back = l.follow(q.back[:0], p.d, p.s)
		if l.list[at].join(q.there, q.back) {
			l.place(p.s, p.d, at)
		} else {
			q.out = append(q.out, p)
		}
	}
}

// pair finds the paths of a pair.
func (l *layers) pair(s, d int32) {
	l.there = l.follow(l.there[:0], s, d)
	l.back = l.follow(l.back[:0], d, s)
}

func (l *layers) place(s, d int32, at int) {
	l.layerOf[int(s)*l.n+int(d)], l.layerOf[int(d)*l.n+int(s)] = uint8(at), uint8(at)
}

const (
	// balanced is the difference in the number of pairs below which two VLs are not balanced further.
	balanced = 6
	// countless is the number of pairs from which on OpenSM does not consider a VL as the emptiest VL.
	countless = 9999
)

// balance moves random pairs from the fullest VL to the emptiest VL. It stops when the difference is small or all pairs
// were tried. It makes the random choices of OpenSM's first sweep (balance_virtual_lanes).
func (l *layers) balance(ctx context.Context, opt *routing.Options) error {
	if len(l.list) == 1 {
		return nil
	}
	b := balancer{layers: l, random: routing.NewRandom(opt.ScatterPorts), tried: make([]uint32, l.n*l.n),
		round: make([]uint32, len(l.list))}
	for i := range b.round {
		b.round[i] = 1
	}
	b.emptiest = len(l.list) - 1
	b.left = l.list[0].pairs
	for steps := 0; ; steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !b.step() || b.left <= 0 || l.list[b.fullest].pairs-l.list[b.emptiest].pairs < balanced {
			return nil
		}
		b.choose()
	}
}

type balancer struct {
	*layers
	random            routing.Random
	fullest, emptiest int
	// left is the number of pairs that were not yet tried in vain.
	left int
	// tried holds, for each pair, the round of its VL in which moving it failed.
	tried []uint32
	round []uint32 // by VL
}

// step tries to move one pair. It returns false if there is no untried pair. (OpenSM would then search for ever.)
func (b *balancer) step() bool {
	s, d, ok := b.draw()
	if !ok {
		return false
	}
	b.pair(s, d)
	if !b.list[b.emptiest].join(b.there, b.back) {
		round := b.round[b.fullest]
		b.tried[int(s)*b.n+int(d)], b.tried[int(d)*b.n+int(s)] = round, round
		b.left -= 2
		return true
	}
	b.list[b.fullest].leave(b.there, b.back)
	b.place(s, d, b.emptiest)
	b.tried[int(s)*b.n+int(d)], b.tried[int(d)*b.n+int(s)] = 0, 0
	return true
}

// draw returns an untried pair of the fullest VL: the next pair after two randomly chosen switches. ok is false if
// there is no such pair.
func (b *balancer) draw() (s, d int32, ok bool) {
	n := int32(b.n)
	s, d = int32(b.random.Next()%uint32(n)), int32(b.random.Next()%uint32(n))
	for rows := n; !b.movable(s, d); rows-- {
		if rows < 0 {
			return 0, 0, false
		}
		start := d
		for d = (d + 1) % n; d != start && !b.movable(s, d); {
			d = (d + 1) % n
		}
		if !b.movable(s, d) {
			s = (s + 1) % n
		}
	}
	return s, d, true
}

func (b *balancer) movable(s, d int32) bool {
	i := int(s)*b.n + int(d)
	return s != d && int(b.layerOf[i]) == b.fullest && b.tried[i] != b.round[b.fullest]
}

// choose finds the fullest VL and the emptiest VL. If one of them is another VL than before, pairs that failed may be
// tried again.
func (b *balancer) choose() {
	emptiest, fullest := b.emptiest, b.fullest
	fewest, most := countless, 0
	for i, layer := range b.list {
		if layer.pairs < fewest {
			fewest, b.emptiest = layer.pairs, i
		}
		if layer.pairs > most {
			most, b.fullest = layer.pairs, i
		}
	}
	if b.emptiest != emptiest {
		b.left = b.list[b.fullest].pairs
		b.round[b.fullest]++
	}
	if b.fullest != fullest {
		b.left = b.list[b.fullest].pairs
		b.round[fullest]++
	}
}
