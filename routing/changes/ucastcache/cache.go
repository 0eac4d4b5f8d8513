// SPDX-License-Identifier: Apache-2.0

// Package ucastcache decides whether routes can be reused without a new computation. It implements OpenSM's unicast
// routing cache (use_ucast_cache, -A; osm_ucast_cache.c of OpenSM 3.3.23).
//
// A leaf is a switch to which a CA was attached when the routes were computed. The tables stay unchanged, including
// entries for LIDs that are gone, as long as only these changes happen:
//
//   - CAs and their links disappear and return.
//   - Whole leaves disappear and return with all their links between switches. A leaf that stays must not have been
//     linked to a leaf that disappears.
//   - Links disappear and return between two sweeps, as when a node restarts.
//
// All other changes make the tables invalid: a switch that is not a leaf disappears, a link between two present
// switches disappears, a new node or link appears, a cable leads elsewhere, a node returns with another LID. If a
// switch returns, the order in which a sweep finds its links matters as well, see [Cache.After].
//
// OpenSM compares each sweep with its notes of earlier sweeps. The cache stays valid depending only on two subnets,
// which this package compares: the subnet for which the routes were computed and the present subnet. Two cases of
// OpenSM are not covered. OpenSM also drops its cache when it cannot route a multicast group over the remaining leaves
// (ERR 0A1E). It also drops the cache on a command to reroute or when it takes over from another subnet manager.
package ucastcache

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Cache holds routes and the subnet for which they were computed. It is a value: if its routes become invalid, the next
// routing creates another Cache. The zero Cache has no routes.
type Cache struct{ tables *fabric.Tables }

// New returns a cache that holds the tables, with their fabric as the subnet.
func New(t *fabric.Tables) Cache { return Cache{t} }

// Next reports whether the cached routes are still valid for the subnet f. If they are valid, it returns the tables
// that OpenSM writes: the unchanged tables of all present switches, including switches that disappeared and returned.
// If they are invalid, the returned tables are nil, and a routing engine must compute new routes.
//
// Nodes are matched by GUID, independent of indexes. The returned tables have no multicast tables if any node or link
// is missing, because OpenSM recomputes them each time. O(ports), and O(switches x LIDs) if a switch is missing or
// indexes differ.
func (c Cache) Next(f *fabric.Fabric) (*fabric.Tables, Verdict) {
	if c.tables == nil {
		return nil, Verdict{Reasons: []Reason{{NoRoutes, "there are no routes yet"}}}
	}
	cmp := compare(c.tables.Fabric, f)
	if !cmp.verdict.Holds() {
		return nil, cmp.verdict
	}
	return c.on(f, cmp), cmp.verdict
}

// on returns the cached tables for another fabric. All nodes of f must exist in the cached fabric.
func (c Cache) on(f *fabric.Fabric, cmp *comparison) *fabric.Tables {
	was := c.tables
	t := &fabric.Tables{
		Fabric: f, LFT: was.LFT, Top: make([]uint16, len(f.Switches)), Known: make([]bool, len(f.Switches)),
		SL2VL: was.SL2VL, SLs: was.SLs, Unread: was.Unread, Origin: was.Origin,
	}
	from := make([]fabric.SwitchIndex, len(f.Switches))
	same := len(from) == len(was.Fabric.Switches)
	for s, n := range f.Switches {
		from[s] = fabric.None
		if old := cmp.from[n]; old != fabric.None {
			from[s] = was.Fabric.Nodes[old].Switch
			t.Known[s], t.Top[s] = was.Known[from[s]], was.Top[from[s]]
		}
		same = same && (from[s] == fabric.SwitchIndex(s) || from[s] == fabric.None && !was.Known[s])
	}
	if !same {
		t.LFT = fabric.NewLFT(len(f.Switches), was.LFT.MaxLID)
		for s, old := range from {
			if old != fabric.None {
				copy(t.LFT.Row(fabric.SwitchIndex(s)), was.LFT.Row(old))
			}
		}
	}
	if !cmp.sameIndexes() && was.SL2VL != nil {
		t.SL2VL = was.SL2VL.On(f, cmp.from)
	}
	if cmp.sameIndexes() && cmp.verdict.Nodes+cmp.verdict.Links == 0 {
		t.MFT = was.MFT
	}
	return t
}

// sameIndexes reports whether all present nodes have the same indexes as in the cached fabric.
func (c *comparison) sameIndexes() bool {
	return len(c.now.Nodes) == len(c.was.Nodes) && !slices.ContainsFunc(c.now.Switches, func(n fabric.NodeIndex) bool {
		return c.now.Nodes[n].GUID != c.was.Nodes[n].GUID
	}) &&
		!slices.ContainsFunc(c.now.EndPorts, func(e fabric.PortIndex) bool {
			n := c.now.Ports[e].Node
			return c.from[n] != n
		})
}

// Kind is a reason that makes cached routes invalid.
type Kind uint8

// The kinds.
const (
	NoRoutes        Kind = iota // there are no routes yet
	NoSwitch                    // no switch is left
	ViewMoved                   // the subnet manager's port has changed
	SwitchGone                  // a switch that is not a leaf is gone
	LinkGone                    // a link between two present switches is gone
	LeafLinkGone                // a leaf is gone that was linked to another leaf
	AdapterLinkGone             // a link without a switch is gone
	NodeNew                     // a node is new
	LinkNew                     // a link is new or leads elsewhere
	LinkLate                    // a switch returned whose link a sweep finds late from one side
	LIDChanged                  // an end port has another LID or LMC
)

// Reason is one reason why cached routes are invalid.
type Reason struct {
	Kind Kind
	// Text describes the reason as a sentence without a full stop, with escaped names.
	Text string
}

// Verdict is the result of the comparison of cached routes with a subnet.
type Verdict struct {
	// Reasons lists all reasons why the cached routes are invalid. It is empty if they are valid.
	Reasons []Reason
	// Nodes and Links count the nodes and links that are missing compared with the cached subnet. Links includes the
	// links of missing nodes.
	Nodes, Links int
}

// Holds reports whether the cached routes are valid.
func (v Verdict) Holds() bool { return len(v.Reasons) == 0 }

// String returns the verdict as a sentence without a full stop.
func (v Verdict) String() string {
	switch n := len(v.Reasons); {
	case n == 1:
		return "the unicast cache is invalid: " + v.Reasons[0].Text
	case n > 1:
		return fmt.Sprintf("the unicast cache is invalid: %s (and %d other reasons)", v.Reasons[0].Text, n-1)
	case v.Nodes+v.Links > 0:
		return fmt.Sprintf("the unicast cache is valid: missing nodes (%d) and links (%d) need no computation", v.Nodes,
			v.Links)
	}
	return "the unicast cache is valid: nothing is missing"
}

// After is like [Cache.Next], but also takes the subnet of the last sweep into account. A switch may return with its
// LID between the two sweeps. OpenSM then drops the cache if one of the switch's links leads away from the subnet
// manager. When the sweep finds this link, the switch is already known. The sweep removes the link from the cache, and
// later does not find it there (osm_ucast_cache_check_new_link). Both fabrics must have the same indexes.
func (c Cache) After(before, f *fabric.Fabric) (*fabric.Tables, Verdict) {
	t, v := c.Next(f)
	if t == nil {
		return nil, v
	}
	depth := depths(f)
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if !f.Nodes[a].IsSwitch() || !f.Nodes[b].IsSwitch() || depth[a] == 0 || depth[b] == 0 {
			continue
		}
		near, far := a, b
		if depth[near] > depth[far] {
			near, far = far, near
		}
		newNear, newFar := !before.Nodes[near].InSubnet, !before.Nodes[far].InSubnet
		if newNear && !newFar || newFar && !newNear && depth[near] == depth[far] {
			v.Reasons = append(v.Reasons, Reason{
				LinkLate, "the link " + linkName(f, l) + " of a switch that returned leads away from the subnet " +
					"manager",
			})
			t = nil
		}
	}
	return t, v
}

// depths returns, for each node, 1 + its distance in links from the subnet manager's node. It returns 0 for nodes that
// cannot be reached.
func depths(f *fabric.Fabric) []int {
	depth := make([]int, len(f.Nodes))
	if f.SMPort == fabric.None {
		return depth
	}
	first := f.Ports[f.SMPort].Node
	depth[first] = 1
	for queue := []fabric.NodeIndex{first}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		if n != first && !f.Nodes[n].IsSwitch() {
			continue
		}
		for p := range f.Nodes[n].Slots() {
			if peer := f.PeerNode(p); peer != fabric.None && depth[peer] == 0 && (n != first || f.Nodes[n].IsSwitch() ||
				p == f.SMPort) {
				depth[peer] = depth[n] + 1
				queue = append(queue, peer)
			}
		}
	}
	return depth
}
