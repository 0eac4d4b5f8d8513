// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestVLArbIsSmpquerys compares the VL arbitration tables of all ports that an OpenSM with random options of quality of
// service has written with the output of smpquery.
func TestVLArbIsSmpquerys(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 2, 20) {
		t.Run(fmt.Sprint(i), func(t *testing.T) { sameVLArb(t, r) })
	}
}

// qosOptions returns random options of quality of service for all ports and for some kinds of ports.
func qosOptions(r *rand.Rand) string {
	text := fmt.Sprintf("qos TRUE\nmax_op_vls %d\n", []int{1, 2, 3, 3, 4, 4, 5, 5}[r.IntN(8)])
	for _, kind := range []string{"qos", "qos_ca", "qos_swe", "qos_sw0"} {
		for _, name := range []string{"vlarb_high", "vlarb_low"} {
			if r.IntN(3) == 0 {
				continue
			}
			var entries []string
			for range 1 + r.IntN(12) {
				entries = append(entries, fmt.Sprintf("%d:%d", r.IntN(16), []int{0, 1, 4, 64, 255}[r.IntN(5)]))
			}
			text += fmt.Sprintf("%s_%s %s\n", kind, name, strings.Join(entries, ","))
		}
		text += fmt.Sprintf("%s_high_limit %d\n%[1]s_max_vls %d\n", kind, r.IntN(256), 1+r.IntN(15))
	}
	return text
}

func sameVLArb(t *testing.T, r *rand.Rand) {
	dir := t.TempDir()
	net, conf := filepath.Join(dir, "net"), filepath.Join(dir, "qos.conf")
	topology := []string{"fattree:2,4", "torus:3x3", "mesh:2x2,links=2"}[r.IntN(3)]
	ibconsole(t, "-s", "sim:"+topology, "-c", "dump topology "+net)
	text := qosOptions(r)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sim := ibsimtest.Start(t, net)
	engine := []string{"minhop", "lash", "dfsssp", "nue", "updn"}[r.IntN(5)]
	ibsimtest.OpenSM(t, sim, "-F", conf, "-R", engine)
	script, ports := "sweep full vlarb", 0
	f, err := gen.ParseSpec(topology)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		script += fmt.Sprintf("; show vlarb %q", f.Nodes[i].Desc)
	}
	for i := range f.NumPorts() {
		if f.Ports[i].Peer != fabric.None {
			ports++
		}
	}
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", script)
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
			t.Errorf("%s, engine %s: %+v, smpquery prints\n%s\n%s", topology, engine, row, said, text)
		}
		compared++
	}
	if compared != 2*ports {
		t.Errorf("%d tables of %d ports compared: %s\n%s", compared, ports, text, out)
	}
}
