// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats/unread"
)

// A file with few lines cannot request much memory: 22 rows of 48 K LIDs exceed a megabyte.
func TestTooManyTables(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "dump_ucast_routes: Switch 0x%x\n0xbfff : 001\n", i+1)
	}
	p := &routes{findings: findings{name: "fdbs", found: &unread.List{}}, limit: 1 << 20}
	if _, err := p.read(t.Context(), strings.NewReader(b.String()), p.fdbLine); err == nil ||
		!strings.Contains(err.Error(), "fdbs:44: too large: the tables so far take more than 1 MB") {
		t.Error(err)
	}
}
