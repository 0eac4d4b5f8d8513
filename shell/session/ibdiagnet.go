// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/mad"
)

// takeRead takes what a folder of ibdiagnet has beside a picture, to the places where a live subnet has it.
func (s *Session) takeRead(st *State, file *formats.Subnet) {
	st.PKeys, st.Read, st.HasStates = file.PKeys, file.Counters, file.Stated
	if file.Deltas != nil {
		reading := file.Counters
		if reading == nil {
			reading = &counters.Reading{Fabric: file.Fabric}
		}
		st.Counted = &Counted{reading, file.Deltas, st.Live.When}
	}
	for _, m := range file.Managers {
		sm := SM{GUID: m.GUID, Port: "?", Priority: m.Priority, State: smStates[m.State]}
		if at := file.Fabric.PortByGUID(m.GUID); at != fabric.None {
			n := &file.Fabric.Nodes[file.Fabric.Ports[at].Node]
			sm.Port, sm.VendorID, sm.InSwitch = file.Fabric.PortName(at), n.VendorID, n.IsSwitch()
		}
		st.SMs = append(st.SMs, sm)
	}
	rank := func(sm SM) int {
		return -slices.Index([]string{smStates[mad.SMStandby], smDiscovering, smMaster}, sm.State)
	}
	slices.SortStableFunc(st.SMs, func(a, b SM) int { return cmp.Compare(rank(a), rank(b)) })
}
