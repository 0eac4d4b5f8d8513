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

// seedsTried is the maximum number of switches from which a torus is laid out.
const seedsTried = 48

// Recognise finds the torus or mesh of two or three dimensions that a subnet forms, and returns a configuration for it.
// The origin is the suitable switch with the lowest GUID. Dimensions are in the order of the origin's ports that lead
// along them. The lower port of a dimension leads up. In a mesh the origin is a corner. A ring of four may be
// recognised as two dimensions of size two.
//
// Failed links and switches are allowed if every remaining switch fits and routes exist. Recognise returns a
// [routing.RefusedError] if it finds no torus. O(switches x ports^3).
func Recognise(ctx context.Context, f *fabric.Fabric) (*osm.TorusConf, error) {
	r, err := recognised(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.best.Config(), nil
}

// RecogniseForFailures is like [Recognise], with a seed at every suitable switch, for [Engine.Recognised]. The
// coordinates stay the same as long as the switches of any seed remain.
func RecogniseForFailures(ctx context.Context, f *fabric.Fabric) (*osm.TorusConf, error) {
	r, err := recognised(ctx, f)
	if err != nil {
		return nil, err
	}
	return r.best.config(maxPlaces, true), nil
}

// Fit returns a configuration for a fabric that has had failures since an earlier configuration was made. The new
// configuration keeps the coordinates.
func Fit(ctx context.Context, f *fabric.Fabric, conf *osm.TorusConf) (*osm.TorusConf, error) {
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
		return nil, routing.Refuse(Name, "the subnet is not a torus or mesh of two or three dimensions: no layout "+
			"beginning with one of %d switches contains all others", min(len(r.origins()), seedsTried))
	}
	return r, nil
}

// recogniser searches for the torus that fits a subnet best.
type recogniser struct {
	f       *fabric.Fabric
	members int
	// peers lists the neighbours of each switch in the order of ports. Each neighbour is listed once.
	peers [][]fabric.SwitchIndex
	best  *placer
	unfit fit
}

// fit counts the faults of a torus: places without a switch, links outside the torus, and missing links.
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

// origins returns the switches from which a layout may begin, in the order of GUIDs.
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

// sample returns at most seedsTried of many switches: the first ones, then others at equal intervals.
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

// pair holds the one or two neighbours of a switch in one dimension.
type pair []fabric.SwitchIndex

// pairings returns all ways to divide neighbours into at most three dimensions.
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

// configs returns configurations for the possible shapes around switch s, whose neighbours are divided into dimensions.
// A row with ends can be a mesh, or a ring with a gap.
func (r *recogniser) configs(s fabric.SwitchIndex, pairs []pair) []*osm.TorusConf {
	c := &osm.TorusConf{GroupPorts: osm.DefaultGroupPorts, MaxChanges: osm.DefaultMaxChanges,
		Radix: [dims]uint32{1, 1, 1},
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
	all := []*osm.TorusConf{c}
	for _, d := range open {
		for _, c := range slices.Clone(all) {
			closed := *c
			closed.Mesh[d] = false
			all = append(all, &closed)
		}
	}
	return all
}

// measure walks along dimension d through switch s. It returns the number of switches, how many of them are below s,
// and whether they form a ring. The length is 0 if the path is ambiguous.
func (r *recogniser) measure(s fabric.SwitchIndex, pairs []pair, d int) (length, below int, ring bool) {
	var aside []fabric.SwitchIndex
	for i, p := range pairs {
		if i != d {
			aside = append(aside, p...)
		}
	}
	up, closed, ok := r.walk(s, pairs[d][0], aside)
	if !ok || closed {
		return up + 1, 0, closed
	}
	if len(pairs[d]) == 2 {
		if below, closed, ok = r.walk(s, pairs[d][1], aside); !ok || closed {
			return 0, 0, false
		}
	}
	return up + below + 1, below, false
}

// walk continues straight from s by way of a neighbour, until it comes back to s or the row ends. It returns the number
// of switches after s. The argument aside has the neighbours of s in other dimensions. ok is false if there is more
// than one straight path.
func (r *recogniser) walk(s, next fabric.SwitchIndex, aside []fabric.SwitchIndex) (steps int, closed, ok bool) {
	before, at := s, next
	for steps = 1; steps <= r.members; steps++ {
		var here []fabric.SwitchIndex // neighbours of at in other dimensions
		for _, b := range aside {
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
		before, at, aside = at, straight, here
	}
	return 0, false, false
}

// try lays out the subnet by a configuration. Of the layouts that contain every switch and can be routed, the best is
// kept.
func (r *recogniser) try(ctx context.Context, c *osm.TorusConf) error {
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

// needed returns the value of portgroup_max_ports that suffices for all hosts and parallel links.
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

// sizes returns the shape of a configuration as text, such as "6 x 5m x 1".
func sizes(c *osm.TorusConf) string {
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

// Cache holds the configuration with which a subnet was recognised. It stays valid through failures, so that switches
// keep their coordinates and paths keep their SLs. The zero value is an empty cache.
type Cache struct {
	conf   *osm.TorusConf
	fabric *fabric.Fabric
}

// Config returns the configuration of a subnet. If the subnet has lost switches since the last call, it returns the
// configuration of the state before. It returns nil if the subnet is not a torus.
func (c *Cache) Config(ctx context.Context, base *fabric.Fabric) (*osm.TorusConf, error) {
	if c.conf != nil && c.had(base) {
		return c.conf, nil
	}
	*c = Cache{}
	conf, err := RecogniseForFailures(ctx, base)
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	*c = Cache{conf, base}
	return conf, nil
}

// had reports whether all switches of f were present when the torus was recognised.
func (c *Cache) had(f *fabric.Fabric) bool {
	for sw := range f.Switches {
		n := f.SwitchNode(fabric.SwitchIndex(sw))
		if !n.InSubnet {
			continue
		}
		old := c.fabric.SwitchByGUID(n.GUID)
		if old == fabric.None || !c.fabric.SwitchNode(old).InSubnet {
			return false
		}
	}
	return true
}
