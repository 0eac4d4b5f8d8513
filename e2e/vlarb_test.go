// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestVLArbIsSmpquerys: of switch and host ports the VL arbitration tables that an
// OpenSM with quality of service has written are those that smpquery prints.
func TestVLArbIsSmpquerys(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	net, conf := filepath.Join(dir, "net"), filepath.Join(dir, "qos.conf")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	text := "qos TRUE\nqos_max_vls 8\nqos_high_limit 4\nqos_vlarb_high 0:4,1:0,2:9\nqos_vlarb_low 0:0,1:4,2:8,3:255\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim, "-Q", "-F", conf)
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "sweep full vlarb; show vlarb node-0005/1; show vlarb leaf-03")
	tables := regexp.MustCompile(`(?s)Low priority.*?VL    :([^\n]*)\nWEIGHT:([^\n]*)\n.*High priority.*?VL    :([^\n]*)\nWEIGHT:([^\n]*)\n`)
	compared := 0
	for line := range strings.Lines(out) {
		type weight struct{ VL, Weight uint8 }
		var row struct {
			Port      string
			Low, High []weight
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Port == "" {
			continue // what the sweep says
		}
		name, port, _ := strings.Cut(row.Port, "/")
		lid := strings.TrimSpace(between(ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", fmt.Sprintf("show nodes %q", name)), `"lid":`, ","))
		said := sim.Output("smpquery", "vlarb", lid, port)
		m := tables.FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("smpquery vlarb %s %s: %s", lid, port, said)
		}
		for i, ours := range [][]weight{row.Low, row.High} {
			vls, weights := "", ""
			for _, w := range ours {
				vls, weights = vls+fmt.Sprintf(" |0x%X", w.VL), weights+fmt.Sprintf(" |0x%X", w.Weight)
			}
			squash := func(s string) string {
				return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(s), "|"), " ", "")
			}
			if squash(vls) != squash(m[1+2*i]) || squash(weights) != squash(m[2+2*i]) {
				t.Errorf("%s: %v, smpquery says\n%s", row.Port, ours, said)
			}
		}
		compared++
	}
	if compared != 5 { // a host's port, and the four of a leaf
		t.Errorf("%d ports compared: %s", compared, out)
	}
}
