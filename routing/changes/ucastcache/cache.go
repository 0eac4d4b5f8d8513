// SPDX-License-Identifier: Apache-2.0

package ucastcache

import (
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
	return len(c.now.Nodes) == len(c.was.Nodes) && !slices.ContainsFunc(c.now.Switches, func(n fabric.NodeIndex) bool { return c.now.Nodes[n].GUID != c.was.Nodes[n].GUID }) &&
		!slices.ContainsFunc(c.now.EndPorts, func(e fabric.PortIndex) bool { n := c.now.Ports[e].Node; return c.from[n] != n })
}
