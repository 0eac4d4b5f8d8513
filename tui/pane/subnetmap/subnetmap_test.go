// SPDX-License-Identifier: Apache-2.0

package subnetmap_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/subnetmap"
)

// TestDrawing checks the width of the maps of three topologies, and that the pane points at its subject.
func TestDrawing(t *testing.T) {
	for _, source := range []string{"sim:fattree:2,4", "sim:torus:4x3", "sim:dragonfly:4,2,2"} {
		s := panetest.New(t, source, "", panetest.Of(subnetmap.New))
		for _, w := range []int{1, 30, 100, 200} {
			s.Drawn(w)
		}
		if lines := s.Drawn(100); len(lines) == 0 || strings.TrimSpace(strings.Join(lines, "")) == "" {
			t.Errorf("%s: nothing is drawn", source)
		}
	}
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(subnetmap.New))
	at := s.Pane.(pane.Pointer).Pointed()
	if x := s.Pane.Subject(); !at.None() && (x.Fabric == nil || x.Fabric.Nodes[x.Node].GUID != at.GUID) {
		t.Errorf("it points at %+v, and is about %+v", at, x)
	}
}
