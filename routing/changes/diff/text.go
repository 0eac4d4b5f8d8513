// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"

	"example.org/ibconsole/internal/base/prose"
)

// NotCompared returns the words behind a count of changed entries where the tables of so many switches were not read in
// one of the pictures, "" for none.
func NotCompared(unread int) string {
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not compared, as a table was not read", prose.Count(unread, "switch"))
}
