// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session/settings"
)

// Groups are the multicast groups of a session.
type Groups struct {
	List   []fabric.Group
	Origin string // where they come from
}

var errNoGroups = errors.New("no multicast groups are known; hint: run 'sa groups' or 'load groups FILE', or " +
	"'sweep full mft' for the groups in the tables of the switches")

// GroupsKey identifies what [State.GroupsOf] returns for a state: equal keys give equal groups.
type GroupsKey struct {
	picture *Picture
	groups  *Groups
	sls     settings.GroupSLs
}

// GroupsKey returns the key of the groups of a state.
func (st *State) GroupsKey(p *Picture) GroupsKey {
	return GroupsKey{p, st.Groups, st.Settings.GroupSLs()}
}

// GroupsOf returns the groups that were loaded or read. If there are none, it returns the groups that the multicast
// tables of the state serve.
func (st *State) GroupsOf(p *Picture) (*Groups, error) {
	g := st.Groups
	if g == nil {
		if p.Tables == nil || p.Tables.MFT == nil {
			return nil, errNoGroups
		}
		g = &Groups{fabric.GroupsOf(p.Tables), "the multicast tables of " + string(p.Kind)}
	}
	return st.withGroupSLs(g, p.Fabric), nil
}

// withGroupSLs adds unknown SLs of groups that the partition file determines.
func (st *State) withGroupSLs(g *Groups, f *fabric.Fabric) *Groups {
	unknown := func(g fabric.Group) bool { return g.SLUnknown }
	if !st.Settings.HasPartitions() || !slices.ContainsFunc(g.List, unknown) {
		return g
	}
	all, out := st.Settings.Partitions(f), &Groups{slices.Clone(g.List), g.Origin}
	for i := range out.List {
		x := &out.List[i]
		if sl, known := st.Settings.GroupSL(all, x); x.SLUnknown && known {
			x.SL, x.SLUnknown, out.Origin = sl, false, g.Origin+" (service levels of partition_config_file)"
		}
	}
	return out
}

// GroupSL returns a function with the SL of each multicast group, or [fabric.NoSL] if the SL is unknown. It returns nil
// if the SL makes no difference.
func (st *State) GroupSL(t *fabric.Tables) func(mlid uint16) uint8 {
	if t.MFT == nil || t.SL2VL == nil {
		return nil
	}
	g := st.Groups
	if g == nil {
		g = &Groups{List: fabric.GroupsOf(t)}
	}
	return fabric.GroupSLs(st.withGroupSLs(g, t.Fabric).List)
}
