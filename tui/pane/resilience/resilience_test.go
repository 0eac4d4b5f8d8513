// SPDX-License-Identifier: Apache-2.0

package resilience_test

import (
	"testing"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/resilience"
)

// TestLinksAndSwitches uses four leaf switches with a link to each of two spine switches. None of the 8 links
// disconnects a host; of the six switches, each leaf switch disconnects its two hosts.
func TestLinksAndSwitches(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "route", func(c *pane.Common, s *session.Session) pane.Pane {
		return resilience.New(c, s.Analysis())
	})
	if n := s.Pane.Base().N; n != 8 {
		t.Errorf("%d links between switches, want 8", n)
	}
	s.Turn(1)
	if n := s.Pane.Base().N; n != 6 {
		t.Errorf("%d switches, want 6", n)
	}
	s.Has("leaf-01", "2")
	s.Drawn(60)
}
