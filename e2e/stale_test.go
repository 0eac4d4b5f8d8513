// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestStaleTables: tables that were made before a switch failed are followed into it
// by what reads, and not taken by what hands on.
func TestStaleTables(t *testing.T) {
	stateHome(t)
	const sim, script = "sim:fattree:2,6", "route; fail switch spine-01; "
	r := try("--json", "-s", sim, "-c", script+"check reach")
	// 18 hosts on 6 leaves: 270 ways go over a spine, a third of them over each of 3.
	if r.status != exitFailed || !strings.Contains(r.out, `"stale":true`) || !strings.Contains(r.out, `"delivered":216,"unreachable":90,`) {
		t.Errorf("status %d: %s%s", r.status, r.out, r.err)
	}
	for _, read := range []string{"check credits", "check load", "who uses spine-02"} {
		if r := try("--json", "-s", sim, "-c", script+read); !strings.Contains(r.out, `"stale":true`) {
			t.Errorf("%s: %s%s", read, r.out, r.err)
		}
	}
	r = try("-s", sim, "-c", script+"trace node-0001 all")
	if !strings.Contains(r.out, "STALE") || strings.Contains(r.out, "17 arrive") {
		t.Errorf("trace: status %d\n%s%s", r.status, r.out, r.err)
	}
	dir := t.TempDir()
	for _, use := range []string{"handover ", "dump lfts ", "dump routing ", "paths build ", "resilience links to="} {
		file := filepath.Join(dir, "out")
		r := try("-s", sim, "-c", script+use+file)
		if r.status != exitFailed || !strings.Contains(r.err, "route first") {
			t.Errorf("%s: status %d, %s", use, r.status, r.err)
		}
	}
	ibconsole(t, "-s", sim, "-c", script+"dump lfts "+filepath.Join(dir, "lfts")+" of=staged")
	ibconsole(t, "-s", sim, "-c", script+"route; check reach; handover "+filepath.Join(dir, "fresh"))
}
