// SPDX-License-Identifier: Apache-2.0

package problems_test

import (
	"context"
	"errors"
	"testing"

	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/survey"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/problems"
)

// source computes the problems of a session.
type source struct{ *session.Session }

func (s source) Problems(ctx context.Context, opt survey.Options) (*found.Report, error) {
	return survey.Problems(ctx, s.Session, opt)
}

func (source) PastProblems(context.Context, *session.Picture, survey.Options) (*found.Report, error) {
	return nil, errors.ErrUnsupported
}

// TestCalibrationIsListed checks that tables that differ from those of the engine are listed after a calibration.
func TestCalibrationIsListed(t *testing.T) {
	s := panetest.New(t, "sim:fattree:2,4", "", func(c *pane.Common, of *session.Session) pane.Pane {
		return problems.New(c, source{of})
	})
	before := len(s.Rows())
	s.Run("engine dor; calibrate")
	s.Has("differ")
	if after := len(s.Rows()); after <= before {
		t.Errorf("%d rows before the calibration, %d after it", before, after)
	}
}
