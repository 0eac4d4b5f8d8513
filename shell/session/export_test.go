// SPDX-License-Identifier: Apache-2.0

package session

import "example.org/ibconsole/fabric"

// NoteEach adds changes of nodes, links and ports to the events.
func (st *State) NoteEach(changes []fabric.Change) { st.noteEach(changes) }

// NoteDrift compares the live tables with those of the last commit.
func (st *State) NoteDrift() { st.noteDrift() }
