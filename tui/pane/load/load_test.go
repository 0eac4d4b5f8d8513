// SPDX-License-Identifier: Apache-2.0

package load

import (
	"testing"

	"example.org/ibconsole/fabric"
)

// TestColumns: a map of six columns in fewer cells has several a cell until it is moved.
func TestColumns(t *testing.T) {
	l, g := &links{}, &grid{cols: make([]fabric.SwitchIndex, 6)}
	for _, c := range []struct{ aside, room, first, per int }{{0, 6, 0, 1}, {0, 4, 0, 2}, {0, 1, 0, 6}, {8, 4, 0, 1},
		{16, 4, 5, 1}, {16, 6, 0, 1}} {
		l.Aside = c.aside
		if first, per := l.columns(g, c.room); first != c.first || per != c.per {
			t.Errorf("%+v: %d, %d", c, first, per)
		}
	}
}
