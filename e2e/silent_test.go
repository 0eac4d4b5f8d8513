// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestSilentAdministration checks that all queries to subnet administration report in the same words that there is none
// or that it does not respond, and where to look.
func TestSilentAdministration(t *testing.T) {
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	commands := []string{"sa path node-0001 node-0002", "sa nodes", "sa groups"}
	say := func(want string) {
		t.Helper()
		for _, c := range commands {
			r := try("-s", "ibsim:"+sim.Name, "-c", c)
			if r.status != exitFailed || !strings.Contains(r.err, want) ||
				!strings.Contains(r.err, "; hint: run 'doctor'") {
				t.Errorf("%s: status %d, %q; want %q", c, r.status, r.err, want)
			}
		}
	}
	say("the local port knows no subnet manager")
	ibsimtest.OpenSM(t, sim) // brings the subnet up and ends
	say("the subnet administration does not respond")
}

// TestLiveTraceWithoutCounters checks that packets arrive although the tables have no path for the request for
// counters. The unread counters must be reported.
func TestLiveTraceWithoutCounters(t *testing.T) {
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	ibconsole(t, "-s", source, "-c", "route; write on; commit yes")
	out := ibconsole(t, "-s", source, "-c", "trace node-0003 node-0004 live")
	if strings.Contains(out, "not read") || !strings.Contains(out, "the same path as in live") {
		t.Errorf("before: %s", out)
	}
	var toLeaf2 struct {
		Hops []struct {
			Node struct{ GUID string }
			Out  int
		}
	}
	if err := json.Unmarshal([]byte(ibconsole(t, "--json", "-s", source, "-c", "trace leaf-04 leaf-02")),
		&toLeaf2); err != nil {
		t.Fatal(err)
	}
	home := toLeaf2.Hops[0] // the session is on leaf-04, the first node of the file
	sim.Console(fmt.Sprintf("Unlink %q[%d]", "S-"+strings.TrimPrefix(home.Node.GUID, "0x"), home.Out))
	out = ibconsole(t, "-s", source, "-c", "trace node-0003 node-0004 live")
	if !strings.Contains(out, "delivered to node-0004") ||
		!strings.Contains(out, "not read: leaf-02: counters: no answer") {
		t.Errorf("with leaf-02 unreachable by the tables: %s", out)
	}
}
