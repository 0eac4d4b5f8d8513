// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// SwitchGroup is a group of similar switches.
type SwitchGroup struct {
	Layer   Layer
	Rank    int32
	Pattern string
	// MinDegree and MaxDegree are the minimum and maximum number of cables to other switches. MinHosts and MaxHosts are
	// the minimum and maximum number of hosts.
	MinDegree, MaxDegree, MinHosts, MaxHosts int
	// Switches are in ascending order.
	Switches []fabric.SwitchIndex
}

// AdapterGroup is a group of similar adapters.
type AdapterGroup struct {
	Role            Role
	Reason, Pattern string
	// Ends are the end ports of the adapters, in the order of the fabric.
	Ends []fabric.PortIndex
}

// SwitchGroups groups the switches by layer, rank and pattern of names. Roots come first, larger groups before smaller
// groups.
func (c *Classes) SwitchGroups() []SwitchGroup {
	type key struct {
		layer   Layer
		rank    int32
		pattern string
	}
	at := map[key]int{}
	var all []SwitchGroup
	for s := range c.Switches {
		sw := &c.Switches[s]
		k := key{sw.Layer, sw.Rank, sw.Pattern}
		i, ok := at[k]
		if !ok {
			i, at[k] = len(all), len(all)
			all = append(all, SwitchGroup{Layer: sw.Layer, Rank: sw.Rank, Pattern: sw.Pattern,
				MinDegree: sw.Degree, MaxDegree: sw.Degree, MinHosts: sw.Hosts, MaxHosts: sw.Hosts})
		}
		g := &all[i]
		g.MinDegree, g.MaxDegree = min(g.MinDegree, sw.Degree), max(g.MaxDegree, sw.Degree)
		g.MinHosts, g.MaxHosts = min(g.MinHosts, sw.Hosts), max(g.MaxHosts, sw.Hosts)
		g.Switches = append(g.Switches, fabric.SwitchIndex(s))
	}
	slices.SortStableFunc(all, func(a, b SwitchGroup) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.Layer, a.Layer),
			cmp.Compare(len(b.Switches), len(a.Switches)), cmp.Compare(a.Pattern, b.Pattern))
	})
	return all
}

// AdapterGroups groups the adapters by role, reason and pattern of names. Compute nodes come first, larger groups
// before smaller groups.
func (c *Classes) AdapterGroups() []AdapterGroup {
	type key struct {
		role            Role
		reason, pattern string
	}
	at := map[key]int{}
	var all []AdapterGroup
	for i := range c.Adapters {
		a := &c.Adapters[i]
		k := key{a.Role, a.Reason, a.Pattern}
		g, ok := at[k]
		if !ok {
			g, at[k] = len(all), len(all)
			all = append(all, AdapterGroup{Role: a.Role, Reason: a.Reason, Pattern: a.Pattern})
		}
		all[g].Ends = append(all[g].Ends, a.End)
	}
	slices.SortStableFunc(all, func(a, b AdapterGroup) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(len(b.Ends), len(a.Ends)),
			cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}
