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
