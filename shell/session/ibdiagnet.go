// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/shell/session/managers"
)

// takeRead takes the data from an ibdiagnet folder that a live subnet would read separately: P_Keys, counters and
// subnet managers.
func (s *Session) takeRead(st *State, file *formats.Subnet) {
	st.PKeys, st.Read, st.HasStates = file.PKeys, file.Counters, file.Stated
	if file.Deltas != nil {
		reading := file.Counters
		if reading == nil {
			reading = &counters.Reading{Fabric: file.Fabric}
		}
		st.Counted = &Counted{reading, file.Deltas, st.Live.When}
	}
	st.SMs = append(st.SMs, managers.InFile(file)...)
}
