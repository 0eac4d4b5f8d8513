// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
)

// TestCommitThatHitsPairs: ports get other LIDs, which no order of writes makes
// harmless. It is only done when that is asked for, and so is going back.
func TestCommitThatHitsPairs(t *testing.T) {
	stateHome(t)
	const sim, script = "sim:fattree:2,4", "write on; engine minhop lmc=1; route; commit yes"
	r := try("-s", sim, "-c", script)
	if r.status != exitFailed || !strings.Contains(r.err, "hit=yes") || strings.Contains(r.out, "written in") ||
		!strings.Contains(r.out, "to ports that lose a LID") || strings.Contains(r.out, "no pair is hit") {
		t.Errorf("status %d\n%s%s", r.status, r.out, r.err)
	}
	out := ibconsole(t, "-s", sim, "-c", script+" hit=yes; commit; rollback yes hit=yes")
	if strings.Count(out, "written in") != 2 || !strings.Contains(out, "nothing to write") {
		t.Errorf("with hit=yes: %s", out)
	}
}

// TestCommitSaysItsSteps: a link of a fat-tree is drained in two steps and without
// credit loops; a torus has loops with all routes along the axes.
func TestCommitSaysItsSteps(t *testing.T) {
	stateHome(t)
	out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", "write on; fail link leaf-01 5; route; commit yes")
	if !strings.Contains(out, "in 2 steps, no pair is hit\nin this order    LFT blocks of step 1 (") || !strings.Contains(out, "; LFT blocks of step 2 (") ||
		!strings.Contains(out, "credits          old and new routes together: no credit loop\nwritten in") {
		t.Error(out)
	}
	out = ibconsole(t, "--json", "-s", "sim:fattree:2,8", "-c", "fail link leaf-01 5; route; commit dry-run")
	if !strings.Contains(out, `"steps":2,"extra_blocks":0,"pairs_hit":0`) || !strings.Contains(out, `"credits":{"loop":false`) {
		t.Error(out)
	}
	out = ibconsole(t, "-s", "sim:torus:5x5", "-c", "engine dor; route; commit dry-run")
	if !strings.Contains(out, "CREDIT LOOP      old and new routes together, over 4 links; the old and the new ones alone have one\n  sw-0-0/") {
		t.Error(out)
	}
}
