// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestDirectedRoutesEqualSMPQuery compares the ends of random directed routes with the ends that smpquery reaches.
func TestDirectedRoutesEqualSMPQuery(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:torus:3x3", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	r := testenv.Rand(t)
	guid := regexp.MustCompile(`\nGuid:\.*(0x[0-9a-f]{16})`)
	ends := 0
	for range testenv.Count(t, 12, 200) {
		route := "0,1"
		for range r.IntN(4) {
			route += fmt.Sprintf(",%d", 1+r.IntN(6))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		// smpquery fails where no node responds.
		said, _ := sim.Command(ctx, "smpquery", "-t", "100", "-D", "nodeinfo", route).Output()
		cancel()
		want := guid.FindStringSubmatch(string(said))
		got := try("-s", "ibsim:"+sim.Name, "-c", "sweep; show where dr:"+route)
		switch {
		case want == nil && got.status == 0:
			t.Errorf("dr:%s leads to\n%s\nsmpquery gets no response", route, got.out)
		case want != nil && !strings.Contains(got.out, want[1]):
			t.Errorf("dr:%s:\n%s%s\nsmpquery reaches %s", route, got.out, got.err, want[1])
		case want != nil:
			ends++
		}
	}
	if ends == 0 {
		t.Error("no route has an end")
	}
}
