// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"strings"
	"testing"
)

// TestHintsOfPlans checks that the command in the hint of a plan has the options that were given, and that show
// transition refuses a state whose steps it cannot show.
func TestHintsOfPlans(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"write on; port speed leaf-01/4 edr reset", "'port speed leaf-01/4 edr yes reset"},
		{"fail link leaf-01 4; route; show transition of=live", "the steps are from the base to the staged tables"},
	} {
		out, err := on(t, "sim:fattree:2,4", strings.Split(c.command, "; ")...)
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s", c.command, c.want, out)
		}
	}
}

// TestTransitionNamesUnread checks that show transition names the SL2VL tables of the base if they were not read.
func TestTransitionNamesUnread(t *testing.T) {
	for _, c := range []struct {
		first  string
		unread bool
	}{{"nodes", true}, {"sweep full sl2vl", false}} {
		out, err := on(t, "sim:torus:4x4", c.first, "engine torus-2QoS", "route", "show transition")
		if err != nil || !strings.Contains(out, "transition of staged") {
			t.Fatalf("%s: %v\n%s", c.first, err, out)
		}
		if got := strings.Contains(out, "the SL2VL tables of the base"); got != c.unread {
			t.Errorf("%s: unread tables named: %t, want %t\n%s", c.first, got, c.unread, out)
		}
	}
}
