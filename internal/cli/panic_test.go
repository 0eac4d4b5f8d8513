// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// A panic ends the program, and the place at ibsim is free again.
func TestPanicGivesThePlaceBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	if status := run([]string{"-s", "sim:fattree:2,4", "-c", "dump topology " + file}, streams{out: io.Discard, err: io.Discard}); status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	sim := ibsimtest.Start(t, file)
	o := newOptions(streams{out: io.Discard, err: io.Discard})
	o.sources = []string{"ibsim:" + sim.Name}
	func() {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		o.connect(t.Context(), session.Options{}, func(context.Context, *shell.Subnets) error {
			if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 1 {
				t.Errorf("%d places are taken", taken)
			}
			panic("boom")
		})
	}()
	if taken := strings.Count(sim.Console("Attached"), "Client "); taken != 0 {
		t.Errorf("%d places are taken afterwards", taken)
	}
}
