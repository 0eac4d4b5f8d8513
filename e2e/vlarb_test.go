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

// TestVLArbIsSmpquerys compares the VL arbitration tables of switch and host ports that an OpenSM with quality of
// service has written with the output of smpquery.
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
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "sweep full vlarb; show vlarb node-0005/1; show "+
		"vlarb leaf-03")
	tables := regexp.MustCompile(
		`(?s)Low priority.*?VL    :([^\n]*)\nWEIGHT:([^\n]*)\n.*High priority.*?VL    :([^\n]*)\nWEIGHT:([^\n]*)\n`)
	compared := 0
	for line := range strings.Lines(out) {
		var row struct {
			Kind, Table string
			Port        struct {
				LID  int
				Port int
			}
			VLs, Weights []uint8
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Kind != "tables" {
			continue // the answer of the sweep, heads and ends
		}
		said := sim.Output("smpquery", "vlarb", fmt.Sprint(row.Port.LID), fmt.Sprint(row.Port.Port))
		m := tables.FindStringSubmatch(said)
		if m == nil {
			t.Fatalf("smpquery vlarb %+v: %s", row.Port, said)
		}
		at := map[string]int{"low": 1, "high": 3}[row.Table]
		vls, weights := "", ""
		for i := range row.VLs {
			vls, weights = vls+fmt.Sprintf(" |0x%X", row.VLs[i]), weights+fmt.Sprintf(" |0x%X", row.Weights[i])
		}
		squash := func(s string) string {
			return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(s), "|"), " ", "")
		}
		if squash(vls) != squash(m[at]) || squash(weights) != squash(m[at+1]) {
			t.Errorf("%+v, smpquery prints\n%s", row, said)
		}
		compared++
	}
	if compared != 10 { // two tables of a host's port and of the four of a leaf
		t.Errorf("%d tables compared: %s", compared, out)
	}
}
