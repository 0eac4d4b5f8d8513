// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"strings"

	"example.org/ibconsole/mad"
)

// ManagerKind says whose subnet manager is in charge.
type ManagerKind string

// The kinds of subnet managers. What is sent tells some apart, and UFM from MLNX_OpenSM never.
const (
	ManagerUntold ManagerKind = ""
	ManagerOpenSM ManagerKind = "opensm" // as OpenFabrics ships it
	ManagerMLNX   ManagerKind = "mlnx"   // MLNX_OpenSM
	ManagerUFM    ManagerKind = "ufm"
	ManagerOther  ManagerKind = "other"
)

// ManagerKinds are those that somebody can say.
var ManagerKinds = []string{string(ManagerOpenSM), string(ManagerMLNX), string(ManagerUFM), string(ManagerOther)}

// inCharge is what was found out about the subnet manager in charge.
type inCharge struct {
	of   SM
	kind ManagerKind        // as somebody said
	can  *mad.ClassPortInfo // what its subnet administration states, nil where it was not asked or is silent
}

// same reports whether two readings are of one run of one subnet manager.
func (sm *SM) same(later *SM) bool { return sm.GUID == later.GUID && sm.actCount <= later.actCount }

// known is what was found out about the subnet manager in charge, which is nothing of one that was started anew.
func (st *State) known() inCharge {
	master, ok := st.Master()
	if !ok || !st.manager.of.same(&master) {
		return inCharge{of: master}
	}
	return st.manager
}

// ManagerKind is what somebody said of the subnet manager in charge.
func (st *State) ManagerKind() ManagerKind { return st.known().kind }

// SetManager notes what somebody says of the subnet manager in charge.
func (st *State) SetManager(k ManagerKind) {
	m := st.known()
	m.kind = k
	st.manager = m
}

// AskManager asks the subnet administration what it can do, where that is not known. One that is silent tells
// nothing.
func (s *Session) AskManager(ctx context.Context) {
	st := s.State()
	if st.known().can != nil {
		return
	}
	c, err := s.conn.SA(ctx)
	if err != nil {
		return
	}
	can, err := c.ClassPortInfo(ctx)
	if err != nil {
		return
	}
	s.Publish(ChangeSettings, func(st *State) {
		m := st.known()
		m.can = &can
		st.manager = m
	})
}

// What OpenSM 3.3.21 to 3.3.24 state in ClassPortInfo (include/opensm/osm_base.h, osm_sa_class_port_info.c), always and
// by option. 3.3.20 lacks HDR, width 2x and send-only full members.
const (
	statedCaps     = 1<<1 | 1<<13 // Get and Set of Notice, matches by PortInfo's capability mask
	statedByOption = 1<<9 | 1<<10 // multicast, multipath

	statedCaps2     = 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<12 | 1<<13 | 1<<15
	statedByOption2 = 1<<1 | 1<<3 // quality of service, MulticastFDBTop
)

// statesAsOpenSM reports whether a subnet administration states what that of OpenSM 3.3.23 does.
func statesAsOpenSM(c *mad.ClassPortInfo) bool {
	return c.CapabilityMask&^statedByOption == statedCaps && c.CapabilityMask2&^statedByOption2 == statedCaps2
}

// ManagerSigns is what is to be seen of the kind of the subnet manager in charge, "" for nothing.
func (st *State) ManagerSigns() string {
	m := st.known()
	var signs []string
	switch {
	case m.can == nil:
	case statesAsOpenSM(m.can):
		signs = append(signs, "its subnet administration states the capabilities of OpenSM 3.3.21 to 3.3.24, as a "+
			"vendor's may")
	default:
		signs = append(signs,
			fmt.Sprintf("its subnet administration states the capabilities 0x%04x and 0x%08x, other than OpenSM 3.3.23",
				m.can.CapabilityMask, m.can.CapabilityMask2))
	}
	if m.of.InSwitch {
		signs = append(signs, "it sits in a switch, as that of a switch's vendor")
	}
	return strings.Join(signs, "; ")
}
