// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/routing/classify"
)

// SetHints has hints overrule what is recognised of the structure of fabrics, in place of those before; nil for none.
func (s *Session) SetHints(hints *classify.Hints) {
	s.analysis.Hint(hints)
	s.Publish(ChangeSettings, func(*State) {})
}
