// SPDX-License-Identifier: Apache-2.0

package portcounters_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/portcounters"
)

// TestNothingRecorded checks that the pane does not report ports without errors if nothing was recorded.
func TestNothingRecorded(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane {
		return portcounters.New(c, source{s})
	})
	if n := s.Pane.Base().N; n != 0 {
		t.Errorf("%d rows:\n%s", n, strings.Join(s.Rows(), "\n"))
	}
	if why := s.Pane.Empty(); !strings.Contains(why, "record") || strings.Contains(why, "no port counted") {
		t.Errorf("it says %q", why)
	}
}

// source reads what a session recorded.
type source struct{ *session.Session }

func (s source) Grown(ctx context.Context, what counters.Set, since, until time.Time, parts int) (*recording.Growth,
	error) {
	return recording.Grown(ctx, s.Session, what, since, until, parts)
}

func (s source) ReadRecent(ctx context.Context, until time.Time) error {
	return recording.ReadRecent(ctx, s.Session, until)
}

func (s source) Recording() (recording.Status, bool) { return recording.StatusOf(s.Session) }
