// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// The classes of directions of links.
const (
	fromHosts = "from hosts"
	toHosts   = "to hosts"
	between   = "between switches"
)

// class returns the class of the direction that leaves a port.
func class(p *port) string {
	switch {
	case !p.node.isSwitch():
		return fromHosts
	case !p.peer.node.isSwitch():
		return toHosts
	}
	return between
}

// loads counts the paths by the port by which they leave a node.
type loads struct {
	paths map[*port]int
	lids  map[*port]map[int]bool // their destination LIDs
	// arrive, lost and unknown count the paths. open holds the ports by which unknown ones leave.
	arrive, lost, unknown int
	open                  map[*port]bool
}

func (l *loads) add(p *path) {
	switch {
	case p.ends == unknown:
		l.unknown++
		for _, out := range p.leaves() {
			l.open[out] = true
		}
		return
	case !p.arrives():
		l.lost++
		return
	}
	l.arrive++
	for _, out := range p.leaves() {
		l.paths[out]++
		if l.lids[out] == nil {
			l.lids[out] = map[int]bool{}
		}
		l.lids[out][p.lid] = true
	}
}

func newLoads() *loads {
	return &loads{paths: map[*port]int{}, lids: map[*port]map[int]bool{}, open: map[*port]bool{}}
}

// allToAll returns the loads of all paths between end ports.
func (s *state) allToAll(switches bool) *loads {
	l := newLoads()
	for _, p := range s.everyPath(switches) {
		l.add(&p)
	}
	l.lost = s.reach(switches).paths - l.arrive - l.unknown
	return l
}

// directions returns the ports of all links of the subnet, of a class, "" for all.
func (s *subnet) directions(of string) (all []*port) {
	for a, b := range s.links() {
		for _, p := range []*port{a, b} {
			if of == "" || class(p) == of {
				all = append(all, p)
			}
		}
	}
	return all
}

// known reports whether anything is known of the paths that leave by a port: not if the table of its switch, or of that
// of its host, was not read, or if all paths by it are unknown.
func (l *loads) known(s *state, p *port) bool {
	sw := p.node
	if !sw.isSwitch() {
		sw = p.peer.node
	}
	return (!sw.isSwitch() || s.lft[sw.guid] != nil) && (!l.open[p] || l.paths[p] > 0)
}

// worst returns the maximum number of paths over a link between switches.
func (l *loads) worst(s *subnet) int {
	most := 0
	for _, p := range s.directions(between) {
		most = max(most, l.paths[p])
	}
	return most
}

// stats summarizes numbers.
type stats struct {
	n, unused, min, max int
	mean, deviation     float64
}

func statsOf(numbers []int) stats {
	s := stats{n: len(numbers)}
	if s.n == 0 {
		return s
	}
	s.min, s.max = slices.Min(numbers), slices.Max(numbers)
	sum := 0.0
	for _, x := range numbers {
		if x == 0 {
			s.unused++
		}
		sum += float64(x)
	}
	s.mean = sum / float64(s.n)
	squares := 0.0
	for _, x := range numbers {
		squares += (float64(x) - s.mean) * (float64(x) - s.mean)
	}
	s.deviation = math.Sqrt(squares / float64(s.n))
	return s
}

// hosts returns the end ports of HCAs of the base and the state, without aggregation nodes, by name with numbers by
// value.
func (s *state) hosts() (all []endPort) {
	for _, e := range s.ends(false) {
		if n := e.port().node; n.kind != kindRouter && !n.isAggregation() {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b endPort) int {
		x, y := a.port(), b.port()
		return cmp.Or(byNumber(x.node.name, y.node.name), cmp.Compare(x.num, y.num), cmp.Compare(x.guid, y.guid))
	})
	return all
}

// byNumber compares names, with numbers in them by value.
func byNumber(a, b string) int {
	split := func(s string) (words []string) {
		for s != "" {
			digit := isDigit(s[0])
			n := strings.IndexFunc(s, func(r rune) bool { return isDigit(byte(r)) != digit })
			if n < 0 {
				n = len(s)
			}
			words, s = append(words, s[:n]), s[n:]
		}
		return words
	}
	return slices.CompareFunc(split(a), split(b), func(x, y string) int {
		if isDigit(x[0]) && isDigit(y[0]) {
			return cmp.Or(cmp.Compare(decimal(x), decimal(y)), cmp.Compare(len(x), len(y)))
		}
		return cmp.Compare(x, y)
	})
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// pattern is the result for pairs that send at the same time.
type pattern struct {
	*loads
	worst int     // the maximum number of paths over a link
	share float64 // the mean share of its bandwidth that a path has
}

// send makes each source send to the base LID of its destination.
func (s *state) send(pairs [][2]endPort) pattern {
	p := pattern{loads: newLoads()}
	var arrive []path
	for _, pair := range pairs {
		if pair[0].own == nil || pair[1].own == nil || pair[1].own.lid == 0 {
			p.lost++
			continue
		}
		way := s.walk(pair[0].own, pair[1].own.lid)
		p.add(&way)
		if way.arrives() {
			arrive = append(arrive, way)
		}
	}
	for _, way := range arrive {
		most := 1
		for _, out := range way.leaves() {
			most = max(most, p.paths[out])
		}
		p.worst = max(p.worst, most)
		p.share += 1 / float64(most) / float64(len(arrive))
	}
	return p
}

// shift makes each host send to the one k further on.
func shift(hosts []endPort, k int) (pairs [][2]endPort) {
	for i := range hosts {
		if to := (i + k) % len(hosts); to != i {
			pairs = append(pairs, [2]endPort{hosts[i], hosts[to]})
		}
	}
	return pairs
}

// bisection makes each host of a random half send to one of the other half.
func bisection(hosts []endPort, seed, nth uint64) (pairs [][2]endPort) {
	order := rand.New(rand.NewPCG(seed, nth)).Perm(len(hosts))
	half := len(hosts) / 2
	for i := range half {
		pairs = append(pairs, [2]endPort{hosts[order[i]], hosts[order[half+i]]})
	}
	return pairs
}
