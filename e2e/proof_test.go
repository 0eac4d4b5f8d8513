// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestProof: beside a master OpenSM computed tables are called its own only where calibrate has found them on its switches,
// with the same settings and tables.
func TestProof(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.Master(t, sim, "-R", "updn")
	for script, want := range map[string]string{
		"engine updn; route":                                 "calibrate has not compared",
		"engine updn; calibrate; route":                      "",
		"engine updn; calibrate; engine minhop; route":       "of other settings",
		"engine minhop port_shifting=TRUE; calibrate; route": "otherwise",
		"engine updn; set sm kind=mlnx; route":               "of the kind mlnx",
		"engine updn; calibrate; fail link leaf-01 5; route": "",
		"engine updn; calibrate; sweep; route":               "",
	} {
		out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "sweep full; "+script)
		var last struct {
			Proof struct {
				Proved bool
				Why    string
			} `json:"as_subnet_manager"`
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, `"as_subnet_manager"`) {
				if err := json.Unmarshal([]byte(line), &last); err != nil {
					t.Fatal(err)
				}
			}
		}
		if p := last.Proof; p.Why == "" || p.Proved != (want == "") || !strings.Contains(p.Why, want) {
			t.Errorf("%s: %+v, want %q", script, p, want)
		}
	}
	out := ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "sweep full; engine updn; route; show sms")
	if strings.Count(out, "unproved here") != 1 {
		t.Error(out)
	}
	if out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", "route; show sms"); strings.Contains(out, "proved") {
		t.Errorf("of a simulated subnet: %s", out)
	}
}
