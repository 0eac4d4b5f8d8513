// SPDX-License-Identifier: Apache-2.0

package lash

import (
	"context"

	"example.org/ibconsole/routing"
)

// layers are the lanes and which pair of switches is in which.
type layers struct {
	*channels
	lanes []*lane
	// laneOf is by pair, s*n+d; the way back is in the same lane.
	laneOf      []uint8
	there, back []int32 // scratch: the paths of a pair
}

// newLayers puts every pair of switches, in the order of numbers, into the first
// lane that stays without cycles. A lane tries the pairs that the one before it did
// not take, one row of pairs later, so that lanes work at the same time. progress
// is told of rows of pairs.
func newLayers(ctx context.Context, p *paths, progress func(done int)) (*layers, error) {
	c := newChannels(p)
	l := &layers{channels: c, lanes: []*lane{newLane(c)}, laneOf: make([]uint8, p.n*p.n)}
	waiting := make([]queue, 1) // by lane
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
			l.lanes = append(l.lanes, newLane(c))
		}
		for i := len(waiting) - 1; i > 0; i-- {
			waiting[i].in, waiting[i-1].out = waiting[i-1].out, waiting[i].in
		}
		progress(min(int(row)+1, p.n))
	}
}

// pair is two switches.
type pair struct{ s, d int32 }

// queue is the pairs that a lane is to try, and those that it did not take.
type queue struct {
	in, out     []pair
	there, back []int32 // scratch
}

func (l *layers) try(q *queue, at int) {
	q.out = q.out[:0]
	for _, p := range q.in {
		q.there = l.follow(q.there[:0], p.s, p.d)
		q.back = l.follow(q.back[:0], p.d, p.s)
		if l.lanes[at].join(q.there, q.back) {
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
	l.laneOf[int(s)*l.n+int(d)], l.laneOf[int(d)*l.n+int(s)] = uint8(at), uint8(at)
}

const (
	// evenEnough is the difference in pairs at which lanes are left as they are.
	evenEnough = 6
	// countless is from how many pairs on OpenSM does not see that a lane is the
	// emptiest.
	countless = 9999
)

// balance moves pairs that are drawn by lot from the fullest lane to the
// emptiest as long as they differ much and pairs are left that were not tried. It
// draws as OpenSM's first sweep does (balance_virtual_lanes).
func (l *layers) balance(ctx context.Context, opt *routing.Options) error {
	if len(l.lanes) == 1 {
		return nil
	}
	b := balancer{layers: l, random: routing.NewRandom(opt.ScatterPorts), tried: make([]uint32, l.n*l.n), round: make([]uint32, len(l.lanes))}
	for i := range b.round {
		b.round[i] = 1
	}
	b.emptiest = len(l.lanes) - 1
	b.left = l.lanes[0].pairs
	for steps := 0; ; steps++ {
		if steps%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !b.step() || b.left <= 0 || l.lanes[b.fullest].pairs-l.lanes[b.emptiest].pairs < evenEnough {
			return nil
		}
		b.choose()
	}
}

type balancer struct {
	*layers
	random            routing.Random
	fullest, emptiest int
	// left is how many pairs may still fail to move.
	left int
	// tried is by pair the round of its lane in which it failed to move.
	tried []uint32
	round []uint32 // by lane
}

// step tries to move one pair, false where none is left. (OpenSM then draws for
// ever.)
func (b *balancer) step() bool {
	s, d, ok := b.draw()
	if !ok {
		return false
	}
	b.pair(s, d)
	if !b.lanes[b.emptiest].join(b.there, b.back) {
		round := b.round[b.fullest]
		b.tried[int(s)*b.n+int(d)], b.tried[int(d)*b.n+int(s)] = round, round
		b.left -= 2
		return true
	}
	b.lanes[b.fullest].leave(b.there, b.back)
	b.place(s, d, b.emptiest)
	b.tried[int(s)*b.n+int(d)], b.tried[int(d)*b.n+int(s)] = 0, 0
	return true
}

// draw is a pair of the fullest lane that was not tried: the next one after two
// switches drawn by lot. It is not ok where there is none.
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
	return s != d && int(b.laneOf[i]) == b.fullest && b.tried[i] != b.round[b.fullest]
}

// choose looks which lanes are the fullest and the emptiest now. Where one of
// them is another, pairs that failed may be tried anew.
func (b *balancer) choose() {
	emptiest, fullest := b.emptiest, b.fullest
	fewest, most := countless, 0
	for i, lane := range b.lanes {
		if lane.pairs < fewest {
			fewest, b.emptiest = lane.pairs, i
		}
		if lane.pairs > most {
			most, b.fullest = lane.pairs, i
		}
	}
	if b.emptiest != emptiest {
		b.left = b.lanes[b.fullest].pairs
		b.round[b.fullest]++
	}
	if b.fullest != fullest {
		b.left = b.lanes[b.fullest].pairs
		b.round[fullest]++
	}
}
