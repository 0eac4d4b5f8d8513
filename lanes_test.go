// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLanesGoOutAndIn dumps the lanes and service levels of a routing and lays them
// over its plain tables: what comes out is the same.
func TestLanesGoOutAndIn(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "engine torus-2QoS; route; dump lfts "+at("lfts")+"; dump sl2vl "+at("sl2vl")+"; dump sls "+at("sls"))
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "load lfts "+at("lfts")+"; load sl2vl "+at("sl2vl")+"; load sls "+at("sls")+
		"; check credits; dump sl2vl "+at("sl2vl2")+"; dump sls "+at("sls2"))
	sameFile(t, at("sl2vl"), at("sl2vl2"))
	sameFile(t, at("sls"), at("sls2"))
	if r := try("-s", "sim:torus:6x5", "-c", "load lfts "+at("lfts")+"; check credits"); r.status != exitFailed {
		t.Errorf("without the lanes no credit loop is found: %s", r.out)
	}
}

// TestDORWithLanes: dor on a torus has credit loops; with lanes it has none, and
// goes to no OpenSM, which has no such lanes.
func TestDORWithLanes(t *testing.T) {
	stateHome(t)
	r := try("-s", "sim:torus:6x5", "-c", "engine dor; route; check credits")
	if r.status != exitFailed || !strings.Contains(r.out, "engine dor vls=yes") {
		t.Errorf("dor on a torus: status %d, %s", r.status, r.out)
	}
	ibconsole(t, "-s", "sim:torus:6x5", "-c", "engine dor vls=yes; route; check credits")
	r = try("-s", "sim:torus:6x5", "-c", "engine dor lanes=yes; route; handover "+filepath.Join(t.TempDir(), "out"))
	if r.status != exitFailed || !strings.Contains(r.err, "gives no service levels") {
		t.Errorf("handover of dor with lanes: status %d, %s", r.status, r.err)
	}
}

// TestTwoSwitchesOfATorus: the torus of torus-2QoS(8) without T and R, by commands.
func TestTwoSwitchesOfATorus(t *testing.T) {
	stateHome(t)
	fail := "fail switch sw-3-1; fail switch sw-3-2; "
	out := ibconsole(t, "-s", "sim:torus:6x6", "-c", "engine torus-2QoS,no_fallback; "+fail+"route; check credits; show torus")
	for _, want := range []string{"OpenSM 3.3.23 would not route this", "no credit loop", "sw-2-1 -      sw-4-1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	r := try("-s", "sim:torus:6x6", "-c", "engine torus-2QoS,no_fallback strict=yes; "+fail+"route")
	if r.status != exitFailed || !strings.Contains(r.err, "ERR 4E38") {
		t.Errorf("strict: status %d, %s", r.status, r.err)
	}
}

// TestUnreadLanesAreNotShown: nobody asks for the tables towards a switch's own port, so
// nothing is said of them.
func TestUnreadLanesAreNotShown(t *testing.T) {
	stateHome(t)
	const untouched = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 7" // as smpquery prints them of an ibsim to which no OpenSM came
	out := ibconsole(t, "-s", "sim:fattree:2,4", "-c", "sweep full sl2vl; show sl2vl leaf-01; show sl2vl node-0001")
	_, out, _ = strings.Cut(out, "OUT")
	want := "  IN   VL OF SL 0 TO 15\n"
	for _, port := range []string{"1", "2", "3", "4"} {
		want += port + "    0-4  " + untouched + "\n"
	}
	if want += "OUT  IN  VL OF SL 0 TO 15\n1    0   " + untouched + "\n"; out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
