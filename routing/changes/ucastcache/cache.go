// SPDX-License-Identifier: Apache-2.0

// Package ucastcache says when routes need no computation: it is OpenSM's unicast
// routing cache (use_ucast_cache, -A; osm_ucast_cache.c of OpenSM 3.3.23).
//
// A leaf is a switch that a channel adapter or router was attached to when the routes were made. From then on
// the tables stay as they are, entries for LIDs that are gone included, while
//
//   - adapters, routers and their links go and come back,
//   - whole leaves go and come back with all their links between switches, unless a
//     leaf that stays was linked to one that goes,
//   - links go and come back between two sweeps, as when a node starts anew.
//
// Everything else makes the tables invalid: a switch that is no leaf goes, a link
// between switches that are both there goes, a node or link comes that was not
// there, a cable leads elsewhere, a node comes back with another LID. Where a switch comes
// back, [Cache.After] also minds in which order a sweep finds its links.
//
// OpenSM compares each sweep with what it noted in those before. What holds all the way depends only on the
// subnet when the routes were made and on the subnet now, which is what is compared here. Two things of
// OpenSM are not: it also drops its cache when it cannot route a multicast group over the leaves that are
// left (ERR 0A1E), and when it is told to reroute or takes over from another subnet manager.
package ucastcache

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// Cache holds routes and the subnet that they were made for. It is a value: once its routes are invalid, the
// next routing gives another one. The zero Cache has no routes.
type Cache struct{ tables *fabric.Tables }

// New caches tables as they were made for their fabric.
func New(t *fabric.Tables) Cache { return Cache{t} }

// Next says what becomes of the routes when the subnet is f. Where they hold it gives the tables that OpenSM
// writes then: those of all switches that are there, those that went and came back included, as they were.
// Where they do not, the tables are nil and a routing engine has to compute.
//
// Nodes are found by their GUIDs, whatever the indexes are. Multicast tables are
// left out where anything is missing, as OpenSM makes them anew each time.
// O(ports), and O(switches x LIDs) where a switch is missing or indexes differ.
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

// on lays the tables over another fabric, whose nodes all were there before.
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

// sameIndexes reports whether all nodes that are there have the indexes that they had.
func (c *comparison) sameIndexes() bool {
	return len(c.now.Nodes) == len(c.was.Nodes) && !slices.ContainsFunc(c.now.Switches, func(n fabric.NodeIndex) bool {
		return c.now.Nodes[n].GUID != c.was.Nodes[n].GUID
	}) &&
		!slices.ContainsFunc(c.now.EndPorts, func(e fabric.PortIndex) bool {
			n := c.now.Ports[e].Node
			return c.from[n] != n
		})
}

// Kind is what makes cached routes invalid.
type Kind uint8

// The kinds.
const (
	NoRoutes        Kind = iota // there are no routes yet
	NoSwitch                    // no switch is left
	ViewMoved                   // the subnet manager's port is another one
	SwitchGone                  // a switch that is no leaf went
	LinkGone                    // a link between two switches that are there went
	LeafLinkGone                // a leaf went that another leaf was linked to
	AdapterLinkGone             // a link without a switch went
	NodeNew                     // a node is there that was not
	LinkNew                     // a link is there that was not, or leads elsewhere
	LinkLate                    // a switch came back that a sweep finds late from one side
	LIDChanged                  // an end port has another LID or LMC
)

// Reason says what makes cached routes invalid.
type Reason struct {
	Kind Kind
	// Text says it in a sentence without an end, with names that are escaped.
	Text string
}

// Verdict reports whether cached routes hold.
type Verdict struct {
	// Reasons say why they do not, all there are; none where they hold.
	Reasons []Reason
	// Nodes and Links count what is missing since the routes were made. Links of nodes that are missing count.
	Nodes, Links int
}

// Holds reports whether the cached routes stay.
func (v Verdict) Holds() bool { return len(v.Reasons) == 0 }

// String is one sentence without an end.
func (v Verdict) String() string {
	switch n := len(v.Reasons); {
	case n == 1:
		return "the unicast cache is invalid: " + v.Reasons[0].Text
	case n > 1:
		return fmt.Sprintf("the unicast cache is invalid: %s, and %d more such", v.Reasons[0].Text, n-1)
	case v.Nodes+v.Links > 0:
		return fmt.Sprintf("the unicast cache holds: what is missing (nodes: %d, links: %d) needs no computation",
			v.Nodes, v.Links)
	}
	return "the unicast cache holds: nothing is missing"
}
