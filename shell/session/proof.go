// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"

	"example.org/ibconsole/internal/prose"
)

// ManagerKind says whose subnet manager is in charge.
type ManagerKind string

// The kinds of subnet managers. Nothing on the wire tells them apart for sure: their attributes are alike, and their
// node is any host or switch.
const (
	ManagerUntold ManagerKind = ""
	ManagerOpenSM ManagerKind = "opensm" // as OpenFabrics ships it
	ManagerMLNX   ManagerKind = "mlnx"   // MLNX_OpenSM
	ManagerUFM    ManagerKind = "ufm"
	ManagerOther  ManagerKind = "other"
)

// ManagerKinds are those that somebody can say.
var ManagerKinds = []string{string(ManagerOpenSM), string(ManagerMLNX), string(ManagerUFM), string(ManagerOther)}

// SetManager notes what somebody says of the subnet manager in charge.
func (s *Session) SetManager(k ManagerKind) {
	s.update(ChangeSettings, func(st *State) { st.Manager = k })
}

// Proof says whether it is shown on this subnet that computed tables are those of its subnet manager.
type Proof struct {
	// Asked is false where nobody else computes tables: in a simulated subnet, a file, or without a subnet manager.
	Asked  bool `json:"-"`
	Proved bool `json:"proved"`
	// Why says how it was proved, or why it is not.
	Why string `json:"why"`
}

// Proof is what the last calibration proves now.
func (st *State) Proof() Proof {
	master, ok := st.Master()
	if !ok || st.Source.Kind == SourceSim || st.Source.Offline() {
		return Proof{}
	}
	p := Proof{Asked: true}
	c := st.Calibrated
	var now [2]string
	now[0], now[1] = st.Settings.Words()
	switch {
	case c == nil:
		p.Why = "calibrate has not compared these settings' tables with those of the switches"
	case c.settings != now:
		p.Why = "calibrate compared the tables of other settings"
	case c.master != master.GUID:
		p.Why = "another subnet manager has taken over since calibrate"
	case c.of != st.Live.Tables:
		p.Why = "the switches hold other tables than when calibrate compared them"
	case !c.Explained():
		p.Why = fmt.Sprintf("calibrate found %d of %s otherwise", c.Differ, prose.Count(c.Entries, "entry"))
	case len(c.Unread) > 0:
		p.Why = fmt.Sprintf("calibrate could not compare %s, whose tables were not read", prose.Count(len(c.Unread), "switch"))
	default:
		p.Proved, p.Why = true, fmt.Sprintf("calibrate compared %s, and none is otherwise", prose.Count(c.Entries, "entry"))
		if c.Differ > 0 {
			p.Why = fmt.Sprintf("calibrate compared %s; %d are routes that OpenSM keeps when something is lost", prose.Count(c.Entries, "entry"), c.Differ)
		}
	}
	switch {
	case p.Proved:
	case st.Manager == ManagerUntold:
		p.Why += "; the subnet manager may be any: set sm kind=opensm|mlnx|ufm|other says which"
	case st.Manager != ManagerOpenSM:
		p.Why += fmt.Sprintf("; the subnet manager is of the kind %s, and the engines are those of OpenSM 3.3.23", st.Manager)
	}
	return p
}
