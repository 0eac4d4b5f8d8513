// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// healthy is a torus that a real OpenSM has routed.
type healthy struct {
	source string
	// conf is the manager's opensm.conf.
	conf string
	sim  *ibsimtest.Sim
}

// routedTorus makes OpenSM route a torus of 6x5, as master or once.
func routedTorus(t *testing.T, engine string, qos, master bool, more ...string) healthy {
	t.Helper()
	stateHome(t)
	dir := t.TempDir()
	t.Setenv("OSM_CACHE_DIR", t.TempDir())
	net, torus := filepath.Join(dir, "net"), filepath.Join(dir, "torus.conf")
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "dump topology "+net+"; suggest torus "+torus)
	text := fmt.Sprintf("routing_engine %s\ntorus_config %s\nforce_log_flush TRUE\n", engine, torus)
	if qos {
		text += "qos TRUE\n"
	}
	h := healthy{conf: write(t, text+strings.Join(more, ""))}
	sim := ibsimtest.Start(t, net)
	if master {
		ibsimtest.Master(t, sim, "-F", h.conf, "-s", "0")
	} else {
		ibsimtest.OpenSM(t, sim, "-F", h.conf)
	}
	h.source, h.sim = "ibsim:"+sim.Name, sim
	return h
}

// loopOf returns the credit loop in JSON: false, true, or nil for unknown. The script ends with the answer that has it.
func loopOf(t *testing.T, r result, field string) any {
	t.Helper()
	o := object(t, r)
	v, ok := o[field]
	if !ok {
		t.Fatalf("no %s in %v: %s", field, o, r.err)
	}
	return v
}

// TestNoLoopOfUnreadSLs checks that for a subnet that OpenSM has routed it is unknown whether there is a credit loop,
// until the SLs are computed and the SL2VL tables read. lash, dfsssp and torus-2QoS make routes without one
// (torus-2QoS(8), osm_ucast_lash.c, osm_ucast_dfsssp.c), minhop makes some with one if more than four switches form a
// ring. Without quality of service OpenSM writes no SL2VL tables, torus-2QoS leaves the subnet to minhop, and subnet
// administration still grants the SLs of the others, on the default VLs of ibsim: 0 1 2 ... 14 7.
func TestNoLoopOfUnreadSLs(t *testing.T) {
	testenv.Tool(t, "opensm")
	all := []struct {
		engine            string
		qos, master, loop bool
	}{
		{"torus-2QoS", true, true, false},
		{"torus-2QoS", true, false, false},
		{"torus-2QoS", false, true, true},
		{"lash", true, true, false},
		{"lash", false, false, false},
		{"dfsssp", true, false, false},
		{"dfsssp", false, true, false},
		{"nue", true, true, false},
		{"minhop", true, false, true},
		{"minhop", false, true, true},
	}
	for _, i := range testenv.Rand(t).Perm(len(all))[:testenv.Count(t, 3, len(all))] {
		tc := all[i]
		t.Run(fmt.Sprintf("%s qos %v master %v", tc.engine, tc.qos, tc.master), func(t *testing.T) {
			h := routedTorus(t, tc.engine, tc.qos, tc.master, "nue_max_num_vls 0\n")
			h.unknown(t, "")
			h.unknown(t, "sweep full sl2vl; ")
			known := "engine from=" + h.conf + "; calibrate; sweep full sl2vl; "
			for script, field := range map[string]string{
				"check credits of=live": "loop", "compare engines file": "credit_loop",
			} {
				r := try("--json", "-s", h.source, "-c", known+script)
				got := any(nil)
				if field == "credit_loop" {
					got = objects(t, r)[4][field] // the row of the switches, after the head
				} else {
					got = loopOf(t, r, field)
				}
				if got != tc.loop {
					t.Errorf("%s: loop %v, want %v: %s%s", script, got, tc.loop, r.out, r.err)
				}
			}
			r := try("-s", h.source, "-c", known+"check credits of=live")
			if failed := r.status == exitFailed; failed != tc.loop {
				t.Errorf("status %d: %s%s", r.status, r.out, r.err)
			}
			out := ibconsole(t, "-s", h.source, "-c", known+"sweep; sweep full; problems")
			if got := strings.Contains(out, "error   credit loop"); got != tc.loop || strings.Contains(out, "unknown") {
				t.Errorf("problems: credit loop %v, want %v: %s", got, tc.loop, out)
			}
			if tc.qos && !tc.loop { // the SL2VL tables are compared, and so read
				r := try("--json", "-s", h.source, "-c", "engine from="+h.conf+"; calibrate; check credits of=live")
				if got := loopOf(t, r, "loop"); got != false ||
					!strings.Contains(r.out, `"sl2vl_differ":0,"sls_taken":true`) ||
					strings.Contains(r.out, `"sl2vl":0,`) {
					t.Errorf("calibrate alone: %v: %s%s", got, r.out, r.err)
				}
			}
		})
	}
}

// unknown checks that no command reports a loop, or its absence.
func (h healthy) unknown(t *testing.T, before string) {
	t.Helper()
	for script, field := range map[string]string{
		"check credits of=live": "loop", "check credits of=live strict=no": "loop",
		"sweep full mft; check mcast of=live": "loop",
	} {
		r := try("--json", "-s", h.source, "-c", before+script)
		strict := !strings.Contains(script, "strict=no")
		if got := loopOf(t, r, field); got != nil || (r.status == exitFailed) != strict ||
			!strings.Contains(r.err, "is unknown: the service levels of paths") {
			t.Errorf("%s: %v, status %d: %s%s", script, got, r.status, r.out, r.err)
		}
	}
	if r := try("-s", h.source, "-c", before+"check of=live"); r.status != exitFailed ||
		!strings.Contains(r.out, "credit loop: unknown: ") || !strings.Contains(r.out, "hint: run '") {
		t.Errorf("check: status %d: %s%s", r.status, r.out, r.err)
	}
	out := ibconsole(t, "-s", h.source, "-c", before+"problems")
	if strings.Contains(out, "error   credit loop") || strings.Contains(out, "warning credit loop") ||
		!strings.Contains(out, "not checked: credit loops: unknown: ") {
		t.Errorf("problems: %s", out)
	}
	out = ibconsole(t, "-s", h.source, "-c", before+"report json - of=live")
	if !strings.Contains(out, `"credit_loop":null`) {
		t.Errorf("report: %s", out)
	}
}

// TestLoopOnOneVL checks that links that operate one VL have no other, for all SLs.
func TestLoopOnOneVL(t *testing.T) {
	testenv.Tool(t, "opensm")
	h := routedTorus(t, "minhop", false, false, "max_op_vls 1\n")
	r := try("--json", "-s", h.source, "-c", "check credits of=live")
	if got := loopOf(t, r, "loop"); got != true || r.status != exitFailed {
		t.Errorf("%v, status %d: %s%s", got, r.status, r.out, r.err)
	}
}

// TestSLsAreForgotten checks that computed service levels are valid as long as the tables of the switches are the same.
// With them a commit is refused that causes the first loop.
func TestSLsAreForgotten(t *testing.T) {
	testenv.Tool(t, "opensm")
	h := routedTorus(t, "dfsssp", true, false)
	known := "engine from=" + h.conf + "; calibrate; engine minhop; route keep=no; write on; "
	r := try("-s", h.source, "-c", known+"commit yes force-interrupt")
	if r.status != exitFailed || !strings.Contains(r.err, "'commit yes force-interrupt force-loop'") ||
		!strings.Contains(r.out, "the new routes alone have one, the old routes do not") {
		t.Errorf("commit: status %d: %s%s", r.status, r.out, r.err)
	}
	r = try("--json", "-s", h.source, "-c", known+"commit dry-run; commit yes force-interrupt force-loop; check "+
		"credits of=live")
	if got := loopOf(t, r, "loop"); got != nil {
		t.Errorf("after the tables changed: %v: %s%s", got, r.out, r.err)
	}
	stateHome(t)
	h = routedTorus(t, "dfsssp", true, false)
	out := ibconsole(t, "-s", h.source, "-c", "engine minhop; route keep=no; write on; commit dry-run force-interrupt "+
		"force-loop")
	if !strings.Contains(out, "the new routes alone have one, unknown of the old routes") {
		t.Errorf("of unknown routes: %s", out)
	}
}

// TestOtherVLsAreADifference checks that OpenSM without quality of service wrote no SL2VL tables, so that they differ
// from those of settings with it, although the routes are equal.
func TestOtherVLsAreADifference(t *testing.T) {
	testenv.Tool(t, "opensm")
	h := routedTorus(t, "dfsssp", false, false)
	r := try("--json", "-s", h.source, "-c", "engine from="+h.conf+" qos=TRUE; calibrate; check credits of=live")
	if got := loopOf(t, r, "loop"); got != nil || !strings.Contains(r.out, `"differ":0,`) ||
		strings.Contains(r.out, `"sl2vl_differ":0,`) || !strings.Contains(r.out, `"sls_taken":false`) {
		t.Errorf("loop %v: %s%s", got, r.out, r.err)
	}
}

// TestLoopOfASimulatedSubnet checks a subnet without subnet manager, where every path has SL 0.
func TestLoopOfASimulatedSubnet(t *testing.T) {
	for _, script := range []string{"check credits of=live", "sweep full sl2vl; check credits of=live"} {
		r := try("--json", "-s", "sim:torus:5x1", "-c", script)
		if got := loopOf(t, r, "loop"); got != true || r.status != exitFailed {
			t.Errorf("%s: %v, status %d: %s%s", script, got, r.status, r.out, r.err)
		}
	}
}

// TestVLsAreCountedOnce checks that diff and commit print the same number of changed SL2VL tables, and that the SLs of
// paths are compared if those of both states are known. With a failed switch, torus-2QoS(8) grants the same SLs,
// because these do not depend on failures.
func TestVLsAreCountedOnce(t *testing.T) {
	testenv.Tool(t, "opensm")
	h := routedTorus(t, "torus-2QoS", true, false)
	change := "sweep full sl2vl; engine from=" + h.conf + "; fail switch sw-1-3; route; "
	known := "engine from=" + h.conf + "; calibrate; " + change
	counted := func(script string) (tables, sls any) {
		o := object(t, try("--json", "-s", h.source, "-c", script+"diff"))
		return o["vls_sl2vl_tables"], o["vls_path_sls"]
	}
	diff, sls := counted(known)
	plan, _ := object(t, try("--json", "-s", h.source, "-c", known+"commit dry-run"))["plan"].(map[string]any)
	dry := plan["sl2vl_tables"]
	if diff == nil || diff == 0.0 || diff != dry || sls != 0.0 {
		t.Errorf("diff %v SL2VL tables and %v path SLs, commit %v tables", diff, sls, dry)
	}
	if diff, sls = counted(change); diff != dry || sls != nil {
		t.Errorf("with unknown SLs: %v SL2VL tables, %v path SLs; want %v and null", diff, sls, dry)
	}
}
