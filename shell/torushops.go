// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/routing/engines/torus"
)

// torusText says "  at 3,1,0 +y, turns from x to y".
func torusText(h *torus.Hop) string {
	if h == nil {
		return ""
	}
	text := fmt.Sprintf("  at %v", h.At)
	if h.Along != "" {
		text += " " + h.Along
	}
	if what := h.String(); what != "" {
		text += ", " + what
	}
	return text
}
