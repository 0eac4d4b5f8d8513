// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"

	"example.org/ibconsole/fabric"
)

// Groups are the multicast groups of a session.
type Groups struct {
	List   []fabric.Group
	Origin string // where they come from
}

var errNoGroups = errors.New("no multicast groups are known; hint: run 'sa groups' or 'load groups FILE', or " +
	"'sweep full mft' for the groups in the tables of the switches")

// GroupsOf returns the groups that were loaded or read. If there are none, it returns the groups that the multicast
// tables of the state serve.
func (st *State) GroupsOf(p *Picture) (*Groups, error) {
	if st.Groups != nil {
		return st.Groups, nil
	}
	if p.Tables == nil || p.Tables.MFT == nil {
		return nil, errNoGroups
	}
	return &Groups{fabric.GroupsOf(p.Tables), "the multicast tables of " + string(p.Kind)}, nil
}

// GroupSL returns a function with the SL of each multicast group, or [fabric.NoSL] if the SL is unknown. It returns nil
// if the SL makes no difference.
func (st *State) GroupSL(t *fabric.Tables) func(mlid uint16) uint8 {
	switch {
	case t.MFT == nil || t.SL2VL == nil:
		return nil
	case st.Groups == nil:
		return fabric.GroupSLs(nil)
	}
	return fabric.GroupSLs(st.Groups.List)
}
