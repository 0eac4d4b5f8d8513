// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session/managers"
)

// Master returns the master subnet manager, otherwise one that is discovering.
func (rd *Reading) Master() (managers.SM, bool) { return managers.Master(rd.SMs) }

// Managers returns the subnet managers that were found.
func (rd *Reading) Managers() []problems.Manager { return managers.Problems(rd.SMs) }

// known returns what is known of the present master.
func (st *State) known() managers.Info { return st.manager.Since(st.Master()) }

// ManagerKind returns the kind that the user set for the present master.
func (st *State) ManagerKind() managers.Kind { return st.known().Kind }

// SetManager sets the kind of the present master.
func (st *State) SetManager(k managers.Kind) {
	st.manager = st.known()
	st.manager.Kind = k
}

// ManagerSigns returns the signs of the kind of the present master, "" for none.
func (st *State) ManagerSigns() string { return st.known().Signs() }

// AskManager asks the subnet administration for its capabilities, unless they are known. No response changes nothing.
func (s *Session) AskManager(ctx context.Context) {
	st := s.State()
	if st.known().Capabilities != nil {
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
		st.manager = st.known()
		st.manager.Capabilities = &can
	})
}
