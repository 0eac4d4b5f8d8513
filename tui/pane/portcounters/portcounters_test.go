// SPDX-License-Identifier: Apache-2.0

package portcounters_test

import (
	"strings"
	"testing"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/portcounters"
)

// TestNothingRecorded: where nothing was recorded the pane says so, and does not say that no port counted errors.
func TestNothingRecorded(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane { return portcounters.New(c, s) })
	if n := s.Pane.Base().N; n != 0 {
		t.Errorf("%d rows:\n%s", n, strings.Join(s.Rows(), "\n"))
	}
	if why := s.Pane.Empty(); !strings.Contains(why, "record") || strings.Contains(why, "no port counted") {
		t.Errorf("it says %q", why)
	}
}
