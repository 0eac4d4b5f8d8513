// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// placer lays out a fabric as a torus, beginning with a seed.
type placer struct {
	*Torus
	find  finder
	steps *steps
	// along lists the dimensions with more than one place.
	along []int
	// joined holds, for each dimension and each lower place, the state of the links to the next place. whole marks the
	// cubes of which all corners are known.
	joined [dims][]joint
	whole  []bool
	// overfull marks, by number, the switches between which there are more links than the configuration allows.
	overfull map[int32]bool
}

// joint is the state of the links between two places.
type joint uint8

const (
	unjoined joint = iota // one of the two is not known yet
	joined
	overfull // the group had no space for all
)

// place lays out the torus that a configuration describes. The switches of the seed must be present.
func place(ctx context.Context, f *fabric.Fabric, conf *osm.TorusConf, seed *osm.TorusSeed) (*placer, error) {
	radix := [dims]int{}
	for d, n := range conf.Radix {
		radix[d] = int(n)
	}
	p := &placer{
		Torus: newTorus(f, radix, conf.Mesh), steps: newSteps(),
		find: finder{f: f, free: make([]bool, len(f.Ports))}, overfull: map[int32]bool{},
	}
	for i := range f.NumPorts() {
		n := &f.Nodes[f.Ports[i].Node]
		p.find.free[i] = n.InSubnet && f.Ports[i].Linked() && f.PeerSwitch(i) != fabric.None && n.IsSwitch()
	}
	p.conf, p.seed = conf, *seed
	p.whole = make([]bool, len(p.at))
	for d := range dims {
		p.joined[d] = make([]joint, len(p.at))
		if radix[d] > 1 {
			p.along = append(p.along, d)
		}
	}
	if err := p.placeSeed(seed); err != nil {
		return nil, err
	}
	for before := -1; before != p.links; {
		before = p.links
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.places(p.complete)
	}
	return p, p.attach()
}

// placeSeed puts the switches of the seed at their places.
func (p *placer) placeSeed(seed *osm.TorusSeed) error {
	var at Coordinates
	for d := range at {
		at[d] = wrap(-int(seed.Dateline[d]), p.Radix[d])
	}
	allPlaced := true
	for d := range dims {
		for i, l := range []osm.TorusLink{seed.Plus[d], seed.Minus[d]} {
			if l.Given {
				ok := p.install(at, p.member(l.From)) && p.install(at.moved(d, 1-2*i), p.member(l.To))
				allPlaced = allPlaced && ok
			}
		}
	}
	if !allPlaced {
		return routing.Refuse(Name, "a switch of the seed is missing along a dimension of radix 1 (ERR 4E57)")
	}
	if p.number(at) == absent {
		return routing.RefuseFile(Name, "the configuration has no seed, on which OpenSM crashes")
	}
	return nil
}

// member returns the switch of the subnet that has a GUID, or None.
func (p *placer) member(guid uint64) fabric.SwitchIndex { return member(p.f, guid) }

func member(f *fabric.Fabric, guid uint64) fabric.SwitchIndex {
	if sw := f.SwitchByGUID(guid); sw != fabric.None && f.SwitchNode(sw).InSubnet {
		return sw
	}
	return fabric.None
}

// install puts a switch at a place. It reports whether the place has a switch afterwards.
func (p *placer) install(c Coordinates, sw fabric.SwitchIndex) bool {
	i := p.place(c)
	if p.at[i] == absent && sw != fabric.None {
		p.at[i] = int32(len(p.switches))
		p.switches = append(p.switches, placed{sw: sw, at: p.around(c)})
	}
	return p.at[i] != absent
}

// complete finds all corners of the cube at a place that follow from the known corners.
func (p *placer) complete(c Coordinates) {
	for d := range dims {
		if p.Mesh[d] && p.Radix[d] > 1 && c[d] == p.Radix[d]-1 {
			return
		}
	}
	whole := &p.whole[p.place(c)]
	for !*whole {
		p.joinCube(c)
		missing := p.missingOf(c)
		*whole = missing == 0
		if !slices.ContainsFunc(p.stepsFor(missing), func(s step) bool { return p.take(c, s) }) {
			p.joinCube(c)
			return
		}
	}
}

// missingOf returns the missing corners of the cube of a place.
func (p *placer) missingOf(c Coordinates) (missing uint8) {
	for i := range uint8(1) << len(p.along) {
		if p.number(p.corner(c, i)) == absent {
			missing |= 1 << i
		}
	}
	return missing
}

func (p *placer) stepsFor(missing uint8) []step {
	switch len(p.along) {
	case 3:
		return p.steps.solid[missing]
	case 2:
		return p.steps.flat[missing]
	}
	return nil
}

// corner returns the place of corner i of the cube at place c. Corners are numbered along the existing dimensions.
func (p *placer) corner(c Coordinates, i uint8) Coordinates {
	for bit, d := range p.along {
		c[d] += int(i >> bit & 1)
	}
	return c
}

// take takes a step. It reports whether the step found a switch.
func (p *placer) take(c Coordinates, s step) bool {
	target, base := p.corner(c, s.corner), p.corner(c, s.around[1])
	sides := []fabric.SwitchIndex{p.switchAt(p.corner(c, s.around[0]))}
	if s.around[2] != noSide {
		sides = append(sides, p.switchAt(p.corner(c, s.around[2])))
	}
	if !s.line {
		return p.install(target, p.find.corner(sides[0], p.switchAt(base), sides[1]))
	}
	along, behind := 0, base
	for d := range dims {
		if target[d] != base[d] {
			along = d
			behind[d] = 2*base[d] - target[d]
		}
	}
	if !p.safe(base, along) || p.number(behind) == absent {
		return false
	}
	return p.install(target, p.find.line(p.switchAt(base), sides, p.switchAt(behind)))
}

// switchAt returns the switch at a place where a switch is known.
func (p *placer) switchAt(c Coordinates) fabric.SwitchIndex { return p.switches[p.number(c)].sw }

// safe reports whether a line along a dimension cannot be confused with the rings at a right angle to it. They can be
// confused if a ring has four links, because it is also a square, until two of its links are in the torus.
func (p *placer) safe(c Coordinates, along int) bool {
	for d := range dims {
		if d != along && !p.safeRing(c, d) {
			return false
		}
	}
	return true
}

func (p *placer) safeRing(c Coordinates, d int) bool {
	if p.Radix[d] != 4 || p.Mesh[d] {
		return true
	}
	known := 0
	for by := 1; by <= 3; by++ {
		if p.number(c.moved(d, by)) != absent {
			known++
		}
	}
	if known < 2 {
		return false
	}
	safe := true
	for by := 2; by <= 5; by++ {
		safe = p.join(d, c.moved(d, by), c.moved(d, by+1)) && safe
	}
	return safe
}

// joinCube adds the links between the known corners of a cube to the torus.
func (p *placer) joinCube(c Coordinates) {
	for d := range dims {
		a, b := (d+1)%dims, (d+2)%dims
		if a > b {
			a, b = b, a
		}
		for i := range 4 {
			low := c.moved(a, i&1).moved(b, i>>1)
			p.join(d, low, low.moved(d, 1))
		}
	}
}

// join adds the links between two neighbouring places to the torus if both switches are known. It reports whether there
// was space for all links.
func (p *placer) join(d int, low, high Coordinates) bool {
	at := &p.joined[d][p.place(low)]
	if *at == unjoined {
		if a, b := p.number(low), p.number(high); a != absent && b != absent {
			*at = p.joinSwitches(d, a, b)
		}
	}
	return *at != overfull
}

func (p *placer) joinSwitches(d int, a, b int32) joint {
	if a == b {
		return joined
	}
	f := p.f
	up, down := &p.switches[a].groups[2*d+1], &p.switches[b].groups[2*d]
	n := f.SwitchNode(p.switches[a].sw)
	for i := range n.Ports() {
		if !p.find.free[i] || f.PeerSwitch(i) != p.switches[b].sw {
			continue
		}
		if p.full(*up) || p.full(*down) {
			p.overfull[a], p.overfull[b] = true, true
			return overfull
		}
		near, far := &f.Ports[i], &f.Ports[f.Ports[i].Peer]
		*up, *down = append(*up, near.Num), append(*down, far.Num)
		p.group[i], p.group[near.Peer] = uint8(2*d+1), uint8(2*d)
		p.find.free[i], p.find.free[near.Peer] = false, false
		p.links++
	}
	return joined
}

func (p *placer) full(group []uint8) bool { return uint32(len(group)) == p.conf.GroupPorts }

// attach adds port 0 of the switches and their hosts to the torus.
func (p *placer) attach() (err error) {
	p.places(func(c Coordinates) {
		if s := p.number(c); err == nil && s != absent {
			err = p.attachTo(s)
		}
	})
	return err
}

func (p *placer) attachTo(s int32) error {
	f, sw := p.f, p.switches[s].sw
	if other := p.of[sw]; other != absent {
		return routing.Refuse(Name, "the torus found does not fit: %s is at %s too; the sizes or the mesh suffixes "+
			"may be wrong (ERR 4E1C)",
			p.name(s), p.switches[other].at)
	}
	p.of[sw] = s
	n := f.SwitchNode(sw)
	hosts := &p.switches[s].groups[hostGroup]
	for i := range n.Slots() {
		peer := f.PeerNode(i)
		if i != n.FirstPort && (peer == fabric.None || f.Nodes[peer].IsSwitch()) {
			continue
		}
		if p.full(*hosts) {
			return routing.Refuse(Name, "%s has more than the %d hosts that portgroup_max_ports allows (%s)", p.name(s),
				int(p.conf.GroupPorts)-1, map[bool]string{true: "ERR 4E1D", false: "ERR 4E1E"}[i == n.FirstPort])
		}
		*hosts = append(*hosts, f.Ports[i].Num)
		p.group[i] = hostGroup
		if i != n.FirstPort {
			p.links++
		}
	}
	return nil
}
