// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// flagSamples are OpenSM's flags for generated fabrics. The numbers stand for the files of confFiles. The documents
// state that lash with an LMC falls back to the default engine; OpenSM's log shows that it does not.
var flagSamples = []struct{ spec, flags string }{
	{"fattree:3,4", "-R updn -a %[1]s -A -z -r -i %[3]s -Q -l 1"},
	{"fattree:3,4", "--routing_engine=ftree --root_guid_file %[1]s --cn_guid_file=%[2]s --connect_roots -H3"},
	{"random:20,6,60", "-Rdnup,minhop --port-shifting --guid_routing_order_file %[2]s -zl2"},
	{"random:20,6,60", "-X %[2]s --scatter 7 --guid_routing_order_no -w %[4]s"},
	{"random:20,6,60", "-R dor -O %[5]s --lmc=1"},
	{"torus:4x3", "-R lash -Q -l 1"},
}

// TestFlagsOfARealOpenSM compares the tables and the engine of OpenSM with those computed with the same flags.
func TestFlagsOfARealOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for _, tt := range flagSamples {
		t.Run(tt.flags, func(t *testing.T) {
			f, err := gen.ParseSpec(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "net")
			w, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := gen.WriteNet(w, f); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			flags, _, _ := strings.Cut(fmt.Sprintf(tt.flags+"\n%[1]s%[2]s%[3]s%[4]s%[5]s", confFiles(t, f, r)...), "\n")
			sim := ibsimtest.Start(t, file)
			dir := ibsimtest.OpenSM(t, sim, strings.Fields(flags)...)
			c := calibrateWith(t, sim, "engine "+flags)
			if c.Differ != 0 || c.Entries == 0 {
				t.Errorf("%d of %d entries differ", c.Differ, c.Entries)
			}
			log, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(log), fmt.Sprintf("%s tables configured on all switches", c.Engine)) {
				t.Errorf("OpenSM's log does not state that %s configured the tables", c.Engine)
			}
		})
	}
}

type flagCalibration struct {
	calibration
	Engine string
}

func calibrateWith(t *testing.T, sim *ibsimtest.Sim, engine string) (c flagCalibration) {
	t.Helper()
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", engine+"; calibrate")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &c); err != nil {
		t.Fatalf("calibrate prints %s: %v", out, err)
	}
	return c
}
