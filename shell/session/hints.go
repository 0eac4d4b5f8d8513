// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/routing/classify"
)

// SetHints sets the hints that override the recognised structure of fabrics. nil removes the hints.
func (s *Session) SetHints(hints *classify.Hints) {
	s.analysis.SetHints(hints)
	s.Publish(ChangeSettings, func(*State) {})
}
