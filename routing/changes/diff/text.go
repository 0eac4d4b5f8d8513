// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"

	"example.org/ibconsole/internal/base/prose"
)

// NotCompared returns the suffix of a count of changed entries if the tables of some switches were not read in one of
// the states, or "".
func NotCompared(unread int) string {
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not compared, as a table was not read", prose.Count(unread, "switch"))
}
