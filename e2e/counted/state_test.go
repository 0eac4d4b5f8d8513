// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// state is one state of a subnet: the subnet and its tables belong together.
type state struct {
	name string // live, base, whatif or staged
	net  *subnet
	// had holds the end ports that count even when unreachable, by GUID: those of the base, and added ones.
	had map[uint64]*port
	// whole includes unreachable nodes and links.
	whole *whole
	tables
	// unreadSLs and unreadVLs are set if the service levels of paths, or the VLs, are in no file.
	unreadSLs, unreadVLs bool
	paths                map[bool][]path
	lids                 map[plug]int // the LIDs that answers show, by lidAt
}

// endPort is an end port of a state. own is nil if it is unreachable. base is that of the base, or of the added node,
// nil while that is reachable.
type endPort struct{ own, base *port }

// port returns its own port, or otherwise that of the base.
func (e endPort) port() *port { return cmp.Or(e.own, e.base) }

// sends reports whether it sends and receives packets: it is reachable and has a LID.
func (e endPort) sends() bool { return e.own != nil && e.own.lid != 0 }

// readState reads a state from the output of dumps.
func readState(t testing.TB, c *console, name string, base *state, changes []change) *state {
	t.Helper()
	text, err := c.dump("topology", name)
	if err != nil {
		t.Fatalf("dump topology of=%s: %v", name, err)
	}
	s := &state{name: name, net: readSubnet(t, text), paths: map[bool][]path{}}
	if base == nil {
		s.had, s.whole = s.net.endByGUID, wholeOf(s.net, nil)
	} else {
		s.had, s.whole = maps.Clone(base.had), base.whole.with(changes)
		for _, c := range changes {
			if c.node != nil {
				end := c.node.ports[c.node.endNumber()]
				s.had[end.guid] = end
			}
		}
	}
	if text, err = c.dump("lfts", name); err != nil {
		return s
	}
	s.lft, s.top = readLFTs(t, text)
	if text, err = c.dump("sls", name); err == nil {
		s.sls = readSLs(t, text)
	} else {
		s.unreadSLs = !strings.Contains(err.Error(), "no service levels of their own")
	}
	if text, err = c.dump("sl2vl", name); err == nil {
		s.sl2vl = readSL2VL(t, text)
	}
	return s
}

// routed reports whether it has tables.
func (s *state) routed() bool { return s.lft != nil }

// ends returns the end ports of the base and of the state, by LID and GUID, optionally with those of switches.
func (s *state) ends(switches bool) []endPort {
	var all []endPort
	for p := range s.net.ends(switches) {
		all = append(all, endPort{p, s.had[p.guid]})
	}
	for guid, p := range s.had {
		if s.net.endByGUID[guid] == nil && (switches || !p.node.isSwitch()) {
			all = append(all, endPort{nil, p})
		}
	}
	slices.SortFunc(all, func(a, b endPort) int {
		return cmp.Or(cmp.Compare(a.port().lid, b.port().lid), cmp.Compare(a.port().guid, b.port().guid))
	})
	return all
}

// shownLIDs returns the LIDs that answers show for an end port: none for an unreachable one if another port has one of
// them now.
func (s *state) shownLIDs(e endPort) []int {
	if e.own == nil && slices.ContainsFunc(e.port().lids(), func(lid int) bool { return s.net.owner[lid] != nil }) {
		return nil
	}
	return e.port().lids()
}

// shownLID returns the first of them, 0 for none.
func (s *state) shownLID(e endPort) int {
	if lids := s.shownLIDs(e); len(lids) > 0 {
		return lids[0]
	}
	return 0
}

// everyPath returns the paths between all pairs of reachable end ports, one for each LID of the destination.
func (s *state) everyPath(switches bool) []path {
	if all, ok := s.paths[switches]; ok {
		return all
	}
	var all []path
	for dst := range s.net.ends(switches) {
		for _, lid := range dst.lids() {
			for src := range s.net.ends(switches) {
				if src != dst {
					all = append(all, s.walk(src, lid))
				}
			}
		}
	}
	s.paths[switches] = all
	return all
}

// fewest returns the fewest links from each switch to an end port. Other nodes forward nothing.
func fewest(to *port) map[*node]int {
	far := map[*node]int{}
	var queue []*node
	if to.node.isSwitch() {
		far[to.node] = 0
		queue = append(queue, to.node)
	} else if to.peer.node.isSwitch() {
		far[to.peer.node] = 1
		queue = append(queue, to.peer.node)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, p := range queue[0].ports {
			if p.peer == nil || !p.peer.node.isSwitch() {
				continue
			}
			if _, known := far[p.peer.node]; !known {
				far[p.peer.node] = far[queue[0]] + 1
				queue = append(queue, p.peer.node)
			}
		}
	}
	return far
}

// fewestFrom returns the fewest links from an end port, given those from switches.
func fewestFrom(src *port, far map[*node]int) int {
	switch {
	case src.node.isSwitch():
		return far[src.node]
	case !src.peer.node.isSwitch():
		return 1
	}
	return far[src.peer.node] + 1
}

// reach holds the figures of all paths.
type reach struct {
	ends, unreachable, unassigned, pairs, paths int
	lostPairs, unknownPairs                     int
	by                                          map[string]int // by how they end
	// dead ends of paths from or to an end port that is unreachable or has no LID
	atOnce int
	longer int
	links  map[int]int // paths that arrive, by links
	lost   []lostPath
}

// lostPath is a path that does not arrive. lid is 0 if the destination has none.
type lostPath struct {
	from, to endPort
	lid      int
	ends     string
}

// arrive returns the number of paths that arrive.
func (r *reach) arrive() int { return r.by[delivered] + r.by[tooLong] }

// bad returns the number of paths with a fault, without unknown ones.
func (r *reach) bad() int { return r.paths - r.by[delivered] - r.by[unknown] }

// pair counts a pair by how its paths end.
func (r *reach) pair(ends map[string]bool) {
	switch {
	case ends[deadEnd] || ends[loop] || ends[misdelivered] || ends[tooLong]:
		r.lostPairs++
	case ends[unknown]:
		r.unknownPairs++
	}
}

// reach follows every path.
func (s *state) reach(switches bool) *reach {
	r := &reach{by: map[string]int{}, links: map[int]int{}}
	ends := s.ends(switches)
	r.ends = len(ends)
	r.pairs = len(ends) * (len(ends) - 1)
	for _, dst := range ends {
		if dst.own == nil {
			r.unreachable++
		}
		lids := dst.port().lids()
		if len(lids) == 0 {
			lids = []int{0}
			if dst.own != nil {
				r.unassigned++
			}
		}
		var far map[*node]int
		if dst.own != nil {
			far = fewest(dst.own)
		}
		for _, src := range ends {
			if src == dst {
				continue
			}
			how := map[string]bool{}
			for _, lid := range lids {
				r.paths++
				x := lostPath{src, dst, lid, deadEnd}
				if src.own != nil && dst.own != nil && lid != 0 {
					p := s.walk(src.own, lid)
					x.ends = p.ends
					if p.arrives() {
						r.links[p.links()]++
					}
					if p.arrives() && p.links() > fewestFrom(src.own, far) {
						r.longer++
					}
				}
				if src.own == nil || dst.own == nil || lid == 0 || src.own.lid == 0 {
					r.atOnce++
				}
				r.by[x.ends]++
				how[x.ends] = true
				if x.ends != delivered {
					r.lost = append(r.lost, x)
				}
			}
			r.pair(how)
		}
	}
	return r
}

// unassigned returns the names of the reachable end ports without a LID.
func (s *state) unassigned(switches bool) (names []string) {
	for _, e := range s.ends(switches) {
		if e.own != nil && e.own.lid == 0 {
			names = append(names, s.longName(e.own))
		}
	}
	return names
}

// hasUnreachable reports whether a failure made end ports of the state unreachable.
func (s *state) hasUnreachable() bool {
	return slices.ContainsFunc(s.ends(true), func(e endPort) bool { return e.own == nil })
}
