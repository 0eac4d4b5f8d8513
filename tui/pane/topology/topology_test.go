// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"testing"

	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/topology"
)

// TestSwitchesAndFailures checks that each switch has a row, that a visit opens a switch and selects the port, and that
// failures are shown.
func TestSwitchesAndFailures(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", panetest.Of(topology.New))
	for _, name := range []string{"leaf-01", "leaf-02", "leaf-03", "leaf-04", "spine-01", "spine-02"} {
		s.Has(name)
	}
	at := s.Place("leaf-02")
	at.Port = 3
	s.Tell(pane.Visit{At: at})
	f := s.Session.State().Live.Fabric
	if x := s.Pane.Subject(); x.Link != f.PortAt(f.NodeByGUID(at.GUID), 3) ||
		x.Node != f.Ports[f.Ports[x.Link].Peer].Node {
		t.Errorf("the visit selected %+v", x)
	}
	s.Run("fail switch spine-01")
	s.Has("spine-01", "failed")
	for _, w := range []int{1, 20, 80} {
		s.Drawn(w)
	}
}
