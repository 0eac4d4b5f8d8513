// SPDX-License-Identifier: Apache-2.0

package counted

import "slices"

// channel is a VL of a direction of a link between switches.
type channel struct {
	out *port
	vl  int
}

// waits is a dependency: packets of a path hold one channel while they wait for the other.
type waits struct{ from, to channel }

// creditFigures are the figures of the dependencies between channels.
type creditFigures struct {
	channels map[channel]bool
	edges    map[channel]map[channel]bool
	// holds maps dependencies to the packets, by source, destination LID and SL, that cause them.
	holds map[waits]map[packet]bool
	vls   int
	// cyclic counts the channels on loops, groups the sets of channels on common loops, and shortest is the length of a
	// shortest loop, 0 for none.
	cyclic, groups, shortest int
}

// packet is a source, the destination LID, and the SL.
type packet struct {
	src     *port
	lid, sl int
}

// credits computes the dependencies of all packets that end ports can send, including packets that do not arrive. If
// one is set, all count as packets of one VL.
func (s *state) credits(switches, one bool) *creditFigures {
	c := &creditFigures{
		channels: map[channel]bool{}, edges: map[channel]map[channel]bool{}, holds: map[waits]map[packet]bool{},
	}
	for _, p := range s.everyPath(switches) {
		for _, sl := range s.levels(p.src, p.lid) {
			c.add(s, &p, sl, one)
		}
	}
	vls := map[int]bool{}
	for ch := range c.channels {
		vls[ch.vl] = true
	}
	c.vls = len(vls)
	c.findLoops()
	return c
}

// levels returns the SLs of packets from an end port, by any of its LIDs, to a LID.
func (s *state) levels(src *port, lid int) (all []int) {
	if s.sl2vl == nil || s.sls == nil {
		return []int{0}
	}
	for _, slid := range src.lids() {
		all = append(all, s.slsOf([2]int{slid, lid})...)
	}
	return all
}

func (c *creditFigures) add(s *state, p *path, sl int, one bool) {
	var before *channel
	circled := map[waits]bool{}
	hops := p.hops
	for i := 0; i < len(hops); i++ {
		h := hops[i]
		if p.ends == loop && i == len(hops)-1 { // it continues round the loop by the same ports
			i = slices.IndexFunc(hops, func(x hop) bool { return x.node == h.node })
			h.out = hops[i].out
		}
		if !h.node.isSwitch() {
			continue
		}
		if h.out == nil || !h.out.peer.node.isSwitch() {
			return
		}
		now := channel{h.out, 0}
		if !one {
			now.vl = s.vl(h.node.ports[0].guid, numberOf(h.in), h.out.num, sl)
		}
		if now.vl == dropped {
			return
		}
		c.channels[now] = true
		if before != nil {
			w := waits{*before, now}
			if circled[w] {
				return
			}
			circled[w] = true
			c.wait(w, packet{p.src, p.lid, sl})
		}
		before = &now
	}
}

// dropped is the VL of packets that a switch drops.
const dropped = 15

// numberOf returns the number of a port, 0 for none.
func numberOf(p *port) int {
	if p == nil {
		return 0
	}
	return p.num
}

func (c *creditFigures) wait(w waits, p packet) {
	if c.edges[w.from] == nil {
		c.edges[w.from] = map[channel]bool{}
	}
	c.edges[w.from][w.to] = true
	if c.holds[w] == nil {
		c.holds[w] = map[packet]bool{}
	}
	c.holds[w][p] = true
}

// dependencies returns their number.
func (c *creditFigures) dependencies() int {
	n := 0
	for _, to := range c.edges {
		n += len(to)
	}
	return n
}

// findLoops searches from each channel for a path back to it.
func (c *creditFigures) findLoops() {
	reached := map[channel]map[channel]int{}
	for ch := range c.channels {
		reached[ch] = c.from(ch)
	}
	grouped := map[channel]bool{}
	for ch := range c.channels {
		back, onLoop := reached[ch][ch]
		if !onLoop {
			continue
		}
		c.cyclic++
		if c.shortest == 0 || back < c.shortest {
			c.shortest = back
		}
		if grouped[ch] {
			continue
		}
		c.groups++
		for other := range reached[ch] {
			if _, also := reached[other][ch]; also {
				grouped[other] = true
			}
		}
	}
}

// from returns, for each channel that waiting leads to, the smallest number of steps.
func (c *creditFigures) from(ch channel) map[channel]int {
	steps := map[channel]int{}
	for now, n := []channel{ch}, 1; len(now) > 0; n++ {
		var next []channel
		for _, x := range now {
			for y := range c.edges[x] {
				if _, known := steps[y]; !known {
					steps[y] = n
					next = append(next, y)
				}
			}
		}
		now = next
	}
	return steps
}
