// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/routing/classify"
)

// SetHints sets the hints that override the recognized structure of fabrics; nil for none.
func (s *Session) SetHints(hints *classify.Hints) {
	s.analysis.SetHints(hints)
	s.Publish(ChangeSettings, func(*State) {})
}
