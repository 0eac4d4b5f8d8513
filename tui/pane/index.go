// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// Index holds data about a fabric that the panes need. It is computed only once for each fabric.
type Index struct {
	Fabric    *fabric.Fabric
	Structure *classify.Structure
	// Tiers are the switches of the subnet by their distance from the leaves. Each tier is sorted by name. Outside are
	// the unreachable switches. Loose are the nodes that are not attached to a switch.
	Tiers   [][]fabric.SwitchIndex
	Outside []fabric.SwitchIndex
	Loose   []fabric.NodeIndex

	// Hosts is the number of channel adapters and routers. Aggregation is the number of aggregation nodes, which do not
	// count as hosts.
	Switches, Hosts, Aggregation, Links int

	// Search holds the names of the nodes in lower case. Rank holds the positions of the nodes in the order of names.
	Search []string
	Rank   []int32
	// Shared are the long beginnings that most names of switches, or of other nodes, share.
	Shared []string
	byLID  []string // Search by the LIDs of the nodes, so that a filter of LIDs reads it in order
}

// newIndex computes the index of a fabric. It takes O(ports + LIDs + nodes log nodes) time.
func newIndex(s *classify.Structure) *Index {
	f := s.Fabric
	ix := &Index{Fabric: f, Structure: s}
	ix.count()
	ix.name()
	ix.byLID = make([]string, int(f.MaxLID)+1)
	for lid := range ix.byLID {
		if p := f.PortByLID(uint16(lid)); p != fabric.None {
			ix.byLID[lid] = ix.Search[f.Ports[p].Node]
		}
	}
	ix.Tiers = s.Tiers()
	for s, n := range f.Switches {
		if !f.Nodes[n].InSubnet {
			ix.Outside = append(ix.Outside, fabric.SwitchIndex(s))
		}
	}
	for _, list := range append(ix.Tiers, ix.Outside) {
		slices.SortFunc(list, func(a, b fabric.SwitchIndex) int {
			return cmp.Compare(ix.Rank[f.Switches[a]], ix.Rank[f.Switches[b]])
		})
	}
	return ix
}

// Heights returns the tier of each switch of a fabric. It returns nil, for a single tier, if the fabric has other
// switches than the indexed fabric.
func (ix *Index) Heights(f *fabric.Fabric) []int32 {
	if len(f.Switches) != len(ix.Fabric.Switches) {
		return nil
	}
	return ix.Structure.Heights()
}

func (ix *Index) count() {
	f := ix.Fabric
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.IsSwitch() && !ix.onSwitch(n):
			ix.Loose = append(ix.Loose, fabric.NodeIndex(i))
			ix.Hosts++
		case !n.IsSwitch() && n.InSubnet && ix.Structure.IsAggregation(fabric.NodeIndex(i)):
			ix.Aggregation++
		case !n.IsSwitch() && n.InSubnet:
			ix.Hosts++
		case n.IsSwitch() && n.InSubnet:
			ix.Switches++
		}
	}
	ix.Links = f.Inventory().InSubnet.Links
}

func (ix *Index) onSwitch(n *fabric.Node) bool {
	for p := range n.Slots() {
		if ix.Fabric.PeerSwitch(p) != fabric.None {
			return true
		}
	}
	return false
}

// name sorts the nodes by name.
func (ix *Index) name() {
	n := len(ix.Fabric.Nodes)
	names := make([]string, n)
	ix.Search, ix.Rank = make([]string, n), make([]int32, n)
	by := make([]int32, n)
	for i := range n {
		names[i] = ix.Fabric.NodeName(fabric.NodeIndex(i))
		ix.Search[i] = strings.ToLower(names[i])
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return cmp.Or(prose.Natural(names[a], names[b]), cmp.Compare(a, b)) })
	var kinds [2][]string
	for place, node := range by {
		ix.Rank[node] = int32(place)
		kind := draw.Btoi(ix.Fabric.Nodes[node].IsSwitch())
		kinds[kind] = append(kinds[kind], names[node])
	}
	for _, list := range kinds {
		if s := draw.Prefix(list); s != "" {
			ix.Shared = append(ix.Shared, s)
		}
	}
}

// Owner returns the name, in lower case, of the node that owns a LID. It returns "" if no node owns the LID.
func (ix *Index) Owner(lid uint16) string {
	if int(lid) < len(ix.byLID) {
		return ix.byLID[lid]
	}
	return ""
}

// Indexes keeps the indexes of the most recently used fabrics. It is safe for concurrent use.
type Indexes struct {
	// Structure returns the structure of a fabric. If it is nil, the structure is recognised from the fabric.
	Structure func(*fabric.Fabric) *classify.Structure

	mu   sync.Mutex
	list []*Index // the last one used is at the end
}

// maxIndexes is the maximum number of fabrics whose index is kept: live, base, what-if, one state of the history, and
// one more.
const maxIndexes = 5

// Of returns the index of a fabric, and computes it if necessary.
func (x *Indexes) Of(f *fabric.Fabric) *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	var s *classify.Structure
	if x.Structure != nil {
		s = x.Structure(f)
	}
	for i, ix := range x.list {
		if ix.Fabric == f && (s == nil || ix.Structure == s) {
			x.list = append(append(x.list[:i], x.list[i+1:]...), ix)
			return ix
		}
	}
	if s == nil {
		s = classify.Recognise(f, nil)
	}
	ix := newIndex(s)
	if len(x.list) >= maxIndexes {
		x.list = append(x.list[:0], x.list[1:]...)
	}
	x.list = append(x.list, ix)
	return ix
}

// Prepare computes the indexes of the fabrics in a state.
func (x *Indexes) Prepare(st session.State) {
	for _, p := range []*session.Picture{st.Live, st.Base, st.Default()} {
		if p != nil {
			x.Of(p.Fabric)
		}
	}
}
