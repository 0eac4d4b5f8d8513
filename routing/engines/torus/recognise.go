// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// seedsTried bounds from how many switches a torus is looked for.
const seedsTried = 48

// Recognise finds out which torus or mesh of two or three dimensions a subnet is, and returns a configuration for
// it. Dimensions go in the order of the ports that lead along them on the switch of the lowest GUID that will do,
// which becomes the origin, and up is where its lower port leads; in a mesh the origin is a corner. What can be a
// ring of four or two dimensions of two is either. Failed links and switches do not matter while every switch
// fits and routes are left. It fails with a [routing.RefusedError] where it finds none. O(switches x ports^3).
func Recognise(ctx context.Context, f *fabric.Fabric) (*Config, error) {
	r, err := recognised(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.best.Config(), nil
}

// RecogniseForFailures is [Recognise] with a seed at every switch that can be one,
// for [Engine.Recognised]: it gives the same coordinates while any of them is left.
func RecogniseForFailures(ctx context.Context, f *fabric.Fabric) (*Config, error) {
	r, err := recognised(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.best.config(maxPlaces, true), nil
}

// Fit is the configuration by which a fabric that has had failures since keeps the coordinates of another one.
func Fit(ctx context.Context, f *fabric.Fabric, conf *Config) (*Config, error) {
	seed, err := chooseSeed(f, conf)
	if err != nil {
		return nil, err
	}
	p, err := place(ctx, f, conf, seed)
	if err == nil {
		err = p.check(false)
	}
	if err != nil {
		return nil, err
	}
	return p.Config(), nil
}

func recognised(ctx context.Context, f *fabric.Fabric) (*recogniser, error) {
	r, err := find(ctx, f)
	if _, refused := errors.AsType[*routing.RefusedError](err); err != nil && !refused {
		return nil, fmt.Errorf("recognise a torus: %w", err)
	}
	return r, err
}

func find(ctx context.Context, f *fabric.Fabric) (*recogniser, error) {
	r := newRecogniser(f)
	for _, s := range r.origins() {
		for _, pairs := range pairings(r.peers[s]) {
			for _, c := range r.configs(s, pairs) {
				if err := r.try(ctx, c); err != nil {
					return nil, err
				}
				if r.best != nil && r.unfit == (fit{}) {
					return r, nil
				}
			}
		}
	}
	if r.best == nil {
		return nil, routing.Refuse(Name, "the subnet is no torus or mesh of two or three dimensions: from none of %d "+
			"switches all others fit in", min(len(r.origins()), seedsTried))
	}
	return r, nil
}

// recogniser looks for the torus that fits best.
type recogniser struct {
	f       *fabric.Fabric
	members int
	// peers are the neighbours of each switch, each once, in the order of ports.
	peers [][]fabric.SwitchIndex
	best  *placer
	unfit fit
}

// fit is what a torus lacks: places without a switch, links outside it, and missing links.
type fit struct{ places, links, gaps int }

func (a fit) compare(b fit) int {
	return slices.Compare([]int{a.places, a.links, a.gaps}, []int{b.places, b.links, b.gaps})
}

func newRecogniser(f *fabric.Fabric) *recogniser {
	r := &recogniser{f: f, peers: make([][]fabric.SwitchIndex, len(f.Switches))}
	g := routing.NewGraph(f)
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		if f.SwitchNode(s).InSubnet {
			r.members++
		}
		for _, l := range g.Of(s) {
			if l.Peer != s && !slices.Contains(r.peers[s], l.Peer) {
				r.peers[s] = append(r.peers[s], l.Peer)
			}
		}
	}
	return r
}

// origins are switches to begin with, in the order of GUIDs.
func (r *recogniser) origins() []fabric.SwitchIndex {
	var all []fabric.SwitchIndex
	for s, peers := range r.peers {
		if len(peers) >= 2 && len(peers) <= 2*dims {
			all = append(all, fabric.SwitchIndex(s))
		}
	}
	slices.SortFunc(all, func(a, b fabric.SwitchIndex) int {
		// Corners of a mesh come first.
		if d := len(r.peers[a]) - len(r.peers[b]); d != 0 {
			return d
		}
		if r.f.SwitchNode(a).GUID < r.f.SwitchNode(b).GUID {
			return -1
		}
		return 1
	})
	return r.sample(all)
}

// sample takes some of many switches, from the first on and from all over.
func (r *recogniser) sample(all []fabric.SwitchIndex) []fabric.SwitchIndex {
	if len(all) <= seedsTried {
		return all
	}
	some := slices.Clone(all[:seedsTried/2])
	rest := all[seedsTried/2:]
	for i := range seedsTried / 2 {
		some = append(some, rest[i*len(rest)/(seedsTried/2)])
	}
	return some
}

// pair are the neighbours of a switch in one dimension: one or two.
type pair []fabric.SwitchIndex

// pairings are the ways to make at most three dimensions of neighbours.
func pairings(peers []fabric.SwitchIndex) [][]pair {
	if len(peers) == 0 {
		return [][]pair{nil}
	}
	var all [][]pair
	with := func(first pair, rest []fabric.SwitchIndex) {
		for _, more := range pairings(rest) {
			if len(more) < dims {
				all = append(all, append([]pair{first}, more...))
			}
		}
	}
	for i := 1; i < len(peers); i++ {
		with(pair{peers[0], peers[i]}, slices.Concat(peers[1:i], peers[i+1:]))
	}
	with(pair{peers[0]}, peers[1:])
	return all
}

// configs are the shapes that a switch with neighbours in these dimensions can be
// in: a row that ends can be a mesh, or a ring with a gap.
func (r *recogniser) configs(s fabric.SwitchIndex, pairs []pair) []*Config {
	c := &Config{GroupPorts: osm.DefaultGroupPorts, MaxChanges: osm.DefaultMaxChanges, Radix: [dims]uint32{1, 1, 1},
		Seeds: make([]osm.TorusSeed, 1)}
	places := 1
	var open []int
	for d, p := range pairs {
		length, below, ring := r.measure(s, pairs, d)
		if length < 2 || len(p) == 2 && length == 2 {
			return nil
		}
		places *= length
		c.Radix[d], c.Mesh[d] = uint32(length), !ring || length == 2
		if c.Mesh[d] && length > 2 {
			open = append(open, d)
		}
		seed := &c.Seeds[0]
		seed.Plus[d] = linkOf(r.f, s, p[0])
		if len(p) == 2 {
			seed.Minus[d] = linkOf(r.f, s, p[1])
		}
		seed.Dateline[d] = -int32(below)
	}
	if len(pairs) < 2 || places < r.members || places > maxPlaces {
		return nil
	}
	all := []*Config{c}
	for _, d := range open {
		for _, c := range slices.Clone(all) {
			closed := *c
			closed.Mesh[d] = false
			all = append(all, &closed)
		}
	}
	return all
}

// measure walks along a dimension through a switch: how many switches there are, how many of them below it,
// and whether they close to a ring. 0 is none, where the way is not clear.
func (r *recogniser) measure(s fabric.SwitchIndex, pairs []pair, d int) (length, below int, ring bool) {
	var beside []fabric.SwitchIndex
	for i, p := range pairs {
		if i != d {
			beside = append(beside, p...)
		}
	}
	up, closed, ok := r.walk(s, pairs[d][0], beside)
	if !ok || closed {
		return up + 1, 0, closed
	}
	if len(pairs[d]) == 2 {
		if below, closed, ok = r.walk(s, pairs[d][1], beside); !ok || closed {
			return 0, 0, false
		}
	}
	return up + below + 1, below, false
}

// walk goes straight on from s over next, until it comes back to s or the way ends, and counts the switches after
// s. beside are the neighbours of s in other dimensions. ok is false where more than one way is straight.
func (r *recogniser) walk(s, next fabric.SwitchIndex, beside []fabric.SwitchIndex) (steps int, closed, ok bool) {
	before, at := s, next
	for steps = 1; steps <= r.members; steps++ {
		var here []fabric.SwitchIndex // beside at
		for _, b := range beside {
			for _, x := range r.peers[at] {
				if x != before && slices.Contains(r.peers[b], x) && !slices.Contains(here, x) && x != b {
					here = append(here, x)
				}
			}
		}
		var straight fabric.SwitchIndex = fabric.None
		for _, x := range r.peers[at] {
			switch {
			case x == before || slices.Contains(here, x):
			case straight != fabric.None:
				return 0, false, false
			default:
				straight = x
			}
		}
		switch straight {
		case fabric.None:
			return steps, false, true
		case s:
			return steps, true, true
		}
		before, at, beside = at, straight, here
	}
	return 0, false, false
}

// try lays the subnet out, and keeps the layout that fits best of those that hold every switch and leave routes.
func (r *recogniser) try(ctx context.Context, c *Config) error {
	c.GroupPorts = r.needed()
	if _, err := chooseSeed(r.f, c); err != nil {
		return nil // a ring of four with one neighbour
	}
	p, err := place(ctx, r.f, c, &c.Seeds[0])
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(p.switches) != r.members || p.check(false) != nil {
		return nil
	}
	unfit := fit{places: len(p.at) - len(p.switches)}
	for _, free := range p.find.free {
		if free {
			unfit.links++
		}
	}
	for s := range p.switches {
		for g := range hostGroup {
			if p.gap(int32(s), g) {
				unfit.gaps++
			}
		}
	}
	if r.best == nil || unfit.compare(r.unfit) < 0 {
		r.best, r.unfit = p, unfit
	}
	return nil
}

// needed is the portgroup_max_ports that holds all hosts and parallel links.
func (r *recogniser) needed() uint32 {
	most := osm.DefaultGroupPorts
	g := routing.NewGraph(r.f)
	for s := range fabric.SwitchIndex(len(r.peers)) {
		n := r.f.SwitchNode(s)
		parallel := map[fabric.SwitchIndex]int{}
		for _, l := range g.Of(s) {
			parallel[l.Peer]++
			most = max(most, parallel[l.Peer])
		}
		hosts := 1
		for p := range n.Ports() {
			if r.f.Ports[p].Linked() && r.f.PeerSwitch(p) == fabric.None {
				hosts++
			}
		}
		most = max(most, hosts)
	}
	return uint32(most)
}

// sizes names the shape of a configuration: "6 x 5m x 1".
func sizes(c *Config) string {
	var all []string
	for d, n := range c.Radix {
		text := fmt.Sprint(n)
		if c.Mesh[d] && n > 2 {
			text += "m"
		}
		all = append(all, text)
	}
	return strings.Join(all, " x ")
}
