// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/whatif"
)

// TestFailedLeaf checks the lost pairs of a failed leaf switch with 2 of 8 hosts: 8x7 - 6x5 = 26, with the old routes
// and with new ones.
func TestFailedLeaf(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(whatif.New))
	if s.Pane.Base().N == 0 && s.Pane.Empty() == "" {
		t.Error("no rows and no explanation")
	}
	s.Run("fail switch leaf-04")
	s.Has("leaf-04")
	s.Run("route")
	s.Has("26")
	s.Drawn(50)
	s.Run("restore all; unstage")
	if text := strings.Join(s.Rows(), "\n"); strings.Contains(text, "leaf-04") {
		t.Errorf("a restored switch is still listed:\n%s", text)
	}
}
