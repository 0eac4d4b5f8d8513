// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/uses"
)

// Users lists the end ports whose packets can use the target: a set of links and switches.
type Users struct {
	// Paths counts the pairs with packets that can use the target. Packets sums, over these pairs, the share of packets
	// that use the target if all choices are equally likely. Pairs whose packets can loop count only in Paths.
	Paths   int64
	Packets float64
	// Sources and Destinations list the end ports of these pairs. End ports with most packets come first, then the
	// order is by LID.
	Sources      []User
	Destinations []User
	// Examples lists the first pairs, ordered by LID of the destination.
	Examples []Use
}

// User is an end port, with the number of pairs of which it is the source or the destination.
type User struct {
	Port    fabric.PortIndex
	Paths   int64
	Packets float64
}

// Use is a pair, with the share of its packets that use the target.
type Use struct {
	Src, Dst fabric.PortIndex
	LID      uint16
	Share    float64
}

// UsersOf finds users like [uses.Find], but over all choices. Without adaptive routing it counts the same paths, and in
// addition the paths that do not arrive. O(LIDs x ports in groups) on all processors.
func UsersOf(ctx context.Context, t *fabric.Tables, what uses.Target, opt Options) (*Users, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	c := newChecker(t, opt)
	asked := newPassage(t.Fabric, what)
	examples := make([][]Use, len(c.ends.LIDs))
	workers, err := each(ctx, c, func() *userFinder {
		return newUserFinder(c, asked)
	}, func(w *userFinder, places []int32) {
		w.column.lot(places, func(at int32) { examples[at] = w.find(c.ends.LIDs[at]) })
	})
	if err != nil {
		return nil, fmt.Errorf("find the users in %s: %w", t.Origin, err)
	}
	u := &Users{}
	from, to := make([]User, len(c.ends.Ports)), make([]User, len(c.ends.Ports))
	for _, w := range workers {
		u.Paths += w.paths
		u.Packets += w.packets
		for end := range from {
			from[end].add(&w.from[end])
			to[end].add(&w.to[end])
		}
	}
	for _, some := range examples {
		u.Examples = append(u.Examples, some[:min(len(some), opt.Examples-len(u.Examples))]...)
	}
	u.Sources, u.Destinations = c.users(from), c.users(to)
	return u, nil
}

func (u *User) add(o *User) {
	u.Paths += o.Paths
	u.Packets += o.Packets
}

// users returns the ends with at least one path, ordered as in [Users.Sources].
func (c *checker) users(all []User) []User {
	users := []User{}
	for end, u := range all {
		if u.Paths > 0 {
			u.Port = c.ends.Ports[end]
			users = append(users, u)
		}
	}
	f := c.net.Tables.Fabric
	slices.SortStableFunc(users, func(a, b User) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), cmp.Compare(b.Paths, a.Paths),
			cmp.Compare(f.Ports[a.Port].LID, f.Ports[b.Port].LID))
	})
	return users
}

// passage is the target: the ports and switches whose users are searched.
type passage struct {
	ports    []bool // by which packets leave, by port index
	switches []bool
}

func newPassage(f *fabric.Fabric, what uses.Target) *passage {
	p := &passage{make([]bool, len(f.Ports)), make([]bool, len(f.Switches))}
	for _, l := range what.Links {
		p.ports[l.A], p.ports[l.B] = true, true
	}
	for _, s := range what.Switches {
		p.switches[s] = true
	}
	return p
}

// userFinder finds the users by the paths to one LID at a time. It is scratch memory for one goroutine.
type userFinder struct {
	*checker
	asked   *passage
	column  *columns
	paths   int64
	packets float64
	from    []User // by end
	to      []User
	// can and share are indexed by class of SLs and place. can is set if packets from the place can use the target.
	// share is the share of these packets that do.
	can   [][]bool
	share [][]float64
	known []bool // by class, for the current LID
}

func newUserFinder(c *checker, asked *passage) *userFinder {
	classes, places := len(c.net.classes), len(c.net.Tables.Fabric.Switches)*c.net.tables
	w := &userFinder{
		checker: c, asked: asked, column: newColumns(c.net, c.ends), from: make([]User, len(c.ends.Ports)),
		to:  make([]User, len(c.ends.Ports)),
		can: make([][]bool, classes), share: make([][]float64, classes), known: make([]bool, classes),
	}
	for i := range w.can {
		w.can[i], w.share[i] = make([]bool, places), make([]float64, places)
	}
	return w
}

func (w *userFinder) find(l trees.LID) (examples []Use) {
	clear(w.known)
	w.column.each(l, func(s *source, _ *Outcome) {
		var can bool
		var share float64
		if s.group.At >= 0 {
			can, share = w.usage(s)
		}
		for _, end := range s.ends {
			if end == l.End {
				continue
			}
			can, share := can, share
			if w.asked.ports[w.ends.Ports[end]] {
				can, share = true, 1
			}
			if !can {
				continue
			}
			one := User{Paths: 1, Packets: share}
			w.from[end].add(&one)
			w.to[l.End].add(&one)
			w.paths++
			w.packets += share
			if len(examples) < w.opt.Examples {
				examples = append(examples, Use{w.ends.Ports[end], w.ends.Ports[l.End], l.LID, share})
			}
		}
	})
	return examples
}

// usage reports whether the packets of a source can use the target, and the share that does.
func (w *userFinder) usage(s *source) (can bool, share float64) {
	if !w.known[s.class] {
		w.known[s.class] = true
		w.solve(w.column.graphs[s.class], w.can[s.class], w.share[s.class])
	}
	return w.can[s.class][s.at], w.share[s.class][s.at]
}

// solve fills in the fields can and share for all places of a graph, against the direction of packets. For places from
// which packets can loop, it fills in only the field can.
func (w *userFinder) solve(g *graph, can []bool, share []float64) {
	order, loops := g.order, []Place(nil)
	if g.cyclic {
		order, loops = g.peel()
	}
	for _, at := range order {
		can[at], share[at] = w.passes(g, at, can, share)
	}
	for _, at := range loops {
		can[at], share[at] = false, 0
	}
	for changed := true; changed; {
		changed = false
		for _, at := range loops {
			if passes, _ := w.passes(g, at, can, share); passes != can[at] {
				can[at], changed = passes, true
			}
		}
	}
}

// passes reports whether packets that leave a place can use the target, and the share that does. The values of the next
// places must be known.
func (w *userFinder) passes(g *graph, at Place, can []bool, share []float64) (passes bool, part float64) {
	sw, _ := g.net.Switch(at)
	if w.asked.switches[sw] {
		return true, 1
	}
	node := w.net.Tables.Fabric.SwitchNode(sw)
	for _, e := range g.out[at] {
		switch {
		case e.Port <= node.NumPorts && w.asked.ports[node.FirstPort+fabric.PortIndex(e.Port)]:
			passes, part = true, part+1
		case e.To >= 0:
			next := g.net.place(e, g.sl)
			passes, part = passes || can[next], part+share[next]
		}
	}
	return passes, part / float64(len(g.out[at]))
}
