// SPDX-License-Identifier: Apache-2.0

package commits

import "example.org/ibconsole/shell/session"

// IsPartlyWritten reports whether a commit of the session wrote a part of the staged tables.
func IsPartlyWritten(s *session.Session) bool {
	st := s.State()
	return partial.Of(&st).tables != nil
}
