// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/journal"
)

// ErrCommitted is the error for out-of-date tables.
var ErrCommitted = errCommitted

// SetOwn replaces the numbers of the commits of a session in its journal. 0 stands for a commit without an entry.
func SetOwn(s *session.Session, ids ...int64) {
	var all []journal.Own
	for _, id := range ids {
		all = append(all, journal.Own{File: s.Journal().Recorder.File(), ID: id})
	}
	s.Publish(0, func(st *session.State) { st.Own = all })
}

// IsPartlyWritten reports whether a commit of the session wrote a part of the staged tables.
func IsPartlyWritten(s *session.Session) bool {
	st := s.State()
	return partial.Of(&st).tables != nil
}
