// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session/managers"
)

// Master returns the master subnet manager. If there is no master, it returns a subnet manager that is discovering.
func (rd *Reading) Master() (managers.SM, bool) { return managers.Master(rd.SMs) }

// Managers returns the subnet managers that were found, in the form for a problems report.
func (rd *Reading) Managers() []problems.Manager { return managers.Problems(rd.SMs) }

// The method known returns the facts that are known about the present master.
func (st *State) known() managers.Info { return st.manager.Since(st.Master()) }

// ManagerKind returns the type of the present master SM that the user set.
func (st *State) ManagerKind() managers.Kind { return st.known().Kind }

// SetManager sets the type of the present master SM.
func (st *State) SetManager(k managers.Kind) {
	st.manager = st.known()
	st.manager.Kind = k
}

// ManagerSigns returns a text with the signs by which the type of the present master SM can be recognised, or "".
func (st *State) ManagerSigns() string { return st.known().Signs() }

// AskManager requests the capabilities of the subnet administration, unless they are known. If there is no response,
// nothing changes.
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
