// SPDX-License-Identifier: Apache-2.0

package whatif_test

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/whatif"
)

type source struct{ *session.Session }

func (s source) Diff(ctx context.Context, before, after *fabric.Tables, opt diff.Options) (*diff.Result, error) {
	return s.Analysis().Diff(ctx, before, after, opt)
}

func (s source) FailOver(ctx context.Context, before, after *fabric.Tables, opt choices.Options) (*choices.Failover,
	error) {
	return s.Analysis().FailOver(ctx, before, after, opt)
}

// TestFailedLeaf: of 8 hosts a leaf switch that fails takes 2, so that 8x7 - 6x5 = 26 pairs are lost, routed anew or
// not.
func TestFailedLeaf(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, s *session.Session) pane.Pane {
		return whatif.New(c, source{s})
	})
	if s.Pane.Base().N == 0 && s.Pane.Empty() == "" {
		t.Error("nothing has failed, and nothing is said")
	}
	s.Run("fail switch leaf-04")
	s.Has("leaf-04")
	s.Run("route")
	s.Has("26")
	s.Drawn(50)
	s.Run("restore all; unstage")
	if text := strings.Join(s.Rows(), "\n"); strings.Contains(text, "leaf-04") {
		t.Errorf("what was restored is still there:\n%s", text)
	}
}
