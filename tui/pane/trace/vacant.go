// SPDX-License-Identifier: Apache-2.0

package trace

import "example.org/ibconsole/tui/pane"

// Vacant reports whether no end of a trace is marked.
func (t *trace) Vacant() bool { return t.N == 0 && t.Ends == [2]pane.Place{} }
