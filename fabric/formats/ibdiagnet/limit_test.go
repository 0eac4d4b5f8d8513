// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats/unread"
)

// Few lines cannot ask for much memory: rows of 48 K LIDs fill a megabyte after 21.
func TestTooManyTables(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "dump_ucast_routes: Switch 0x%x\n0xbfff : 001\n", i+1)
	}
	p := &routes{findings: findings{name: "fdbs", found: &unread.List{}}, limit: 1 << 20}
	if _, err := p.read(t.Context(), strings.NewReader(b.String()), p.fdbLine); err == nil ||
		!strings.Contains(err.Error(), "fdbs:44: too large: the tables up to here take more than 1 MB") {
		t.Error(err)
	}
}
