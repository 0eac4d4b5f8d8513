// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"testing"
)

// The command is named once, also where what it tried has its name.
func TestCommandError(t *testing.T) {
	for want, e := range map[string]CommandError{
		"sweep: no answer":             {Command: "sweep", Err: errors.New("sweep: no answer")},
		"commit: sweep: no answer":     {Command: "commit", Err: errors.New("sweep: no answer")},
		"route: no roots (script:3)":   {Command: "route", Name: "script", Line: 3, Err: errors.New("no roots")},
		"sweep: sweeping fails (x:12)": {Command: "sweep", Name: "x", Line: 12, Err: errors.New("sweeping fails")},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
