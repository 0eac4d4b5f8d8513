// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
)

// Set is the set of all possible paths of packets from an end port to a LID.
type Set struct {
	Src, Dst fabric.PortIndex
	LID      uint16
	SL       uint8
	Outcome  Outcome
	// FewestSwitches and MostSwitches are the numbers of switches on the shortest and on the longest path that arrives.
	// MostSwitches is -1 if packets can loop.
	FewestSwitches, MostSwitches int32
	// Rows is the tree of paths, with each switch expanded once. Places at the same depth with the same continuation
	// form one row.
	Rows []Row
}

// Row is one place of the tree, or several places with the same continuation.
type Row struct {
	Depth    int
	Switches []fabric.SwitchIndex // ascending; empty for the end port
	Table    uint8                // the table of the switches that is used
	Ports    []uint8              // the ports by which packets leave the first of the switches
	State    fabric.AdaptiveState
	// Share is the share of the pair's packets that pass here if all choices are equally likely, or 0 if packets can
	// loop.
	Share   float64
	Static  bool // the path of the linear tables uses one of the switches
	Outcome Outcome
	Again   bool // expanded above
	Stop    bool // packets end here, as Outcome describes
	// At is the end port where packets end, or None.
	At fabric.PortIndex
}

// Of returns the set of all paths of packets with an SL from an end port to a LID. O(ports in groups).
func (n *Net) Of(src fabric.PortIndex, lid uint16, sl uint8) *Set {
	f := n.Tables.Fabric
	s := &Set{Src: src, Dst: f.PortByLID(lid), LID: lid, SL: sl}
	host := f.Nodes[f.Ports[src].Node].Switch == fabric.None
	if host && f.PeerSwitch(src) == fabric.None || s.Dst == fabric.None || src == s.Dst && host {
		return s // there is no switch with a choice
	}
	u := unfolding{net: n, flow: n.NewFlow(), set: s, seen: map[Place]bool{}, shares: map[Place]float64{},
		static: map[fabric.SwitchIndex]bool{}}
	u.flow.Begin(lid, s.Dst, sl)
	at := n.First(src, sl)
	u.outcome = u.flow.OutcomesFrom(at)
	s.Outcome = *u.outcome(at)
	if s.Outcome.Endings&Arrives != 0 {
		_, local := f.AttachedSwitch(s.Dst)
		last := int32(1)
		if local != 0 {
			last = 0
		}
		s.FewestSwitches, s.MostSwitches = s.Outcome.Fewest+last, s.Outcome.Most+last
		if s.Outcome.Most < 0 {
			s.MostSwitches = -1
		}
	}
	if host {
		s.Outcome.Fewest++
		if s.Outcome.Most >= 0 {
			s.Outcome.Most++
		}
	}
	u.share(at)
	path := walk.Trace(n.Tables, src, lid)
	for _, h := range path.Hops {
		if sw := f.Nodes[h.Node].Switch; sw != fabric.None {
			u.static[sw] = true
		}
	}
	u.unfold([]Place{at}, 0)
	return s
}

// Many reports whether there is a choice.
func (s *Set) Many() bool { return s.Outcome.Paths != 1 }

// String returns a summary such as "6 paths, all delivered, over 3 to 5 switches".
func (s *Set) String() string {
	loops := s.Outcome.Endings&Loops != 0
	paths := "infinitely many paths"
	if !loops {
		paths = fmt.Sprintf("%.0f %s", s.Outcome.Paths, prose.When(s.Outcome.Paths == 1, "path", "paths"))
	}
	how := "all delivered"
	switch {
	case s.Outcome.Endings&Arrives == 0:
		return paths + ", none delivered"
	case loops:
		how = "some delivered: packets can loop"
	case s.Outcome.Endings.Reach() != Sure:
		how = fmt.Sprintf("%.3g %% of packets delivered", s.Outcome.Share*100)
	}
	span := fmt.Sprintf("%d to %d switches", s.FewestSwitches, s.MostSwitches)
	switch {
	case s.MostSwitches < 0:
		span = "at least " + prose.Count(s.FewestSwitches, "switch")
	case s.FewestSwitches == s.MostSwitches:
		span = prose.Count(s.FewestSwitches, "switch")
	}
	return fmt.Sprintf("%s, %s, over %s", paths, how, span)
}

// unfolding builds the rows of a set.
type unfolding struct {
	net     *Net
	flow    *Flow
	set     *Set
	outcome func(Place) *Outcome
	seen    map[Place]bool
	shares  map[Place]float64
	static  map[fabric.SwitchIndex]bool
}

// share computes the share of packets that pass each place.
func (u *unfolding) share(first Place) {
	g := u.flow.g
	if g.cyclic {
		return
	}
	u.shares[first] = 1
	for _, at := range slices.Backward(g.order) {
		for _, e := range g.out[at] {
			if e.To >= 0 {
				u.shares[u.flow.Next(e)] += u.shares[at] / float64(len(g.out[at]))
			}
		}
	}
}

// unfold adds rows for the places that packets reach from one row, and for the places after them.
func (u *unfolding) unfold(places []Place, depth int) {
	for _, group := range u.group(places) {
		first := group[0]
		row := Row{Depth: depth, State: u.flow.Why(first), Outcome: *u.outcome(first), Again: u.seen[first],
			At: fabric.None}
		_, row.Table = u.net.Switch(first)
		var next []Place
		var ends []Exit
		for _, e := range u.flow.Exits(first) {
			row.Ports = append(row.Ports, e.Port)
			if e.To >= 0 {
				next = append(next, u.flow.Next(e))
			} else {
				ends = append(ends, e)
			}
		}
		for _, at := range group {
			sw, _ := u.net.Switch(at)
			row.Switches = append(row.Switches, sw)
			row.Share += u.shares[at]
			row.Static = row.Static || u.static[sw]
			u.seen[at] = true
		}
		slices.Sort(row.Switches)
		u.set.Rows = append(u.set.Rows, row)
		if row.Again {
			continue
		}
		slices.Sort(next)
		u.unfold(slices.Compact(next), depth+1)
		for _, e := range ends {
			u.end(e, depth+1, row.Share/float64(len(row.Ports)))
		}
	}
}

// end adds a row where packets end.
func (u *unfolding) end(e Exit, depth int, share float64) {
	row := Row{Depth: depth, Share: share, Stop: true, Outcome: u.flow.OutcomeOf(e), At: fabric.None}
	if e.To < walk.Unread {
		row.At = walk.PortOf(e.To)
		row.Static = u.flow.Ends(e)
	}
	if last := len(u.set.Rows) - 1; last >= 0 && u.set.Rows[last].Stop && u.set.Rows[last].At == row.At &&
		u.set.Rows[last].Outcome.Endings == row.Outcome.Endings && u.set.Rows[last].Depth == depth {
		u.set.Rows[last].Share += share
		return
	}
	u.set.Rows = append(u.set.Rows, row)
}

// group divides places into groups with the same continuation. The places of a group have the same table and state, and
// the same number of ports to each next place. Either all or none of them were seen before.
func (u *unfolding) group(places []Place) [][]Place {
	type kind struct {
		seen  bool
		table uint8
		state fabric.AdaptiveState
		exits string
	}
	var order []kind
	groups := map[kind][]Place{}
	for _, at := range places {
		_, table := u.net.Switch(at)
		k := kind{seen: u.seen[at], table: table, exits: u.leadsTo(at)}
		k.state = u.flow.Why(at)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], at)
	}
	lists := make([][]Place, 0, len(order))
	for _, k := range order {
		lists = append(lists, groups[k])
	}
	return lists
}

// leadsTo returns the targets to which the exits of a place lead, encoded as a string for comparison. Each exit counts.
func (u *unfolding) leadsTo(at Place) string {
	var to []int64
	for _, e := range u.flow.Exits(at) {
		if e.To >= 0 {
			to = append(to, int64(u.flow.Next(e)))
		} else {
			to = append(to, int64(e.To))
		}
	}
	slices.SortFunc(to, cmp.Compare[int64])
	b := make([]byte, 0, len(to)*8)
	for _, t := range to {
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(t>>shift))
		}
	}
	return string(b)
}

// Words returns the row as text. The argument what lists its switches, or describes how packets end there. The argument
// by names the ports by which packets leave, or is "" if they do not leave. Example: "leaf-01", "by ports 3-4 (2,
// free)".
func (r *Row) Words(f *fabric.Fabric) (what, by string) {
	switch {
	case !r.Stop:
		what = r.switches(f)
	case r.At != fabric.None && r.Outcome.Endings == Arrives:
		return "delivered at " + f.PortName(r.At), ""
	case r.At != fabric.None:
		return "delivered to the wrong port " + f.PortName(r.At), ""
	case r.Outcome.Endings == Unread:
		return "a switch whose table was not read", ""
	default:
		return "no onward path", ""
	}
	if r.Again {
		return what + ", as above", ""
	}
	switch ports := len(r.Ports); {
	case ports == 1 && len(r.Switches) > 1:
		by = "each by one port"
	case len(r.Switches) > 1:
		by = fmt.Sprintf("each by %d ports (%s)", ports, r.State)
	case ports == 1:
		by = fmt.Sprintf("by port %d", r.Ports[0])
	default:
		by = fmt.Sprintf("by ports %s (%d, %s)", prose.Ranges(r.Ports), ports, r.State)
	}
	if r.Table > 0 {
		by += fmt.Sprintf(", private table %d", r.Table)
	}
	return what, by
}

// switches returns the names of up to three switches. If the row has more, it returns the names of the first and the
// last.
func (r *Row) switches(f *fabric.Fabric) string {
	names := prose.Words(r.Switches, func(s fabric.SwitchIndex) string { return f.NodeName(f.Switches[s]) })
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d switches: %s ... %s", len(names), names[0], names[len(names)-1])
}
