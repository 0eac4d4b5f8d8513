// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestProof checks that next to a master OpenSM computed tables count as those of the master only if calibrate has
// found them on its switches, with the same settings and tables.
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
		"engine minhop port_shifting=TRUE; calibrate; route": "differ",
		"engine updn; set sm kind=mlnx; route":               "the kind of the subnet manager is mlnx",
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
	source := "ibsim:" + sim.Name
	out := ibconsole(t, "-s", source, "-c", "sweep full; engine updn; calibrate; doctor; route; handover "+
		filepath.Join(t.TempDir(), "to"))
	// route reports only unproved tables
	if strings.Count(out, "proved here that the subnet manager") != 3 || strings.Contains(out, "unproved") {
		t.Error(out)
	}
	// saquery -c prints 0x2602 and 0xb5e0 of Debian's OpenSM 3.3.23
	out = ibconsole(t, "-s", source, "--json", "-c", "sweep full; engine updn; calibrate; show sms")
	if !strings.Contains(out, "capabilities of OpenSM 3.3.21 to 3.3.24, as a vendor's may; it runs in a switch") ||
		!strings.Contains(out, `"vendor"`) || !strings.Contains(out, `"compared"`) {
		t.Error(out)
	}
	master := regexp.MustCompile(`"guid":"(0x[0-9a-f]+)"`).FindStringSubmatch(out)
	if master == nil {
		t.Fatal(out)
	}
	r := try("-s", source, "-c", "sweep full; engine updn; calibrate; engine minhop scatter_ports=3; route; write "+
		"on; commit yes sm="+master[1]+
		"; engine updn; route; calibrate; doctor")
	for _, want := range []string{"unproved here that the subnet manager would route like this: calibrate compared " +
		"the tables of other settings",
		"the tables on the switches have changed", "entries differ"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in\n%s%s", want, r.out, r.err)
		}
	}
	if out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", "route; show sms"); strings.Contains(out, "proved") {
		t.Errorf("of a simulated subnet: %s", out)
	}
}
