// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
)

// TestCommitRefusesNewLoop: what goes around failures by hop counts alone turns where
// updn forbids it. That is said, and written only when it is asked for.
func TestCommitRefusesNewLoop(t *testing.T) {
	stateHome(t)
	const script = "engine updn; route; write on; commit yes; fail random 30 seed=3; route incremental; commit yes"
	r := try("-s", "sim:fattree:3,8", "-c", script)
	if r.status != exitFailed || !strings.Contains(r.err, "commit yes loop=yes") || strings.Count(r.out, "written in") != 1 || !strings.Contains(r.out, "warning: CREDIT LOOP over 4 links") {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
	out := ibconsole(t, "-s", "sim:fattree:3,8", "-c", script+" loop=yes; rollback yes; history limit=2")
	if strings.Count(out, "written in") != 3 || !strings.Contains(out, "the new ones alone have one, the old ones not") {
		t.Errorf("with loop=yes: %s", out)
	}
	out = ibconsole(t, "--json", "-s", "sim:fattree:3,8", "-c", "engine updn; route; write on; commit yes; fail random 30 seed=3; route incremental; check credits of=live; route; check credits")
	if !strings.Contains(out, `"new_credit_loop":true`) {
		t.Error(out)
	}
	if out = ibconsole(t, "--json", "-s", "sim:fattree:2,6", "-c", "route; write on; commit yes; fail switch spine-01; route incremental; commit yes"); !strings.Contains(out, `"new_credit_loop":false`) {
		t.Error(out)
	}
}
