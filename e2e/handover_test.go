// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestHandover gives a routing that OpenSM would not compute to a real OpenSM, with the files of handover, and compares
// its dump with ours.
func TestHandover(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	for name, c := range map[string]struct {
		spec, script string
		vls          bool
	}{
		"drained cable": {"fattree:2,8", "engine minhop; fail link leaf-01 5; route; ", false},
		"other engine":  {"fattree:2,8", "engine dor port_shifting=TRUE; route; ", false},
		"with LMC":      {"fattree:2,8", "engine updn lmc=2; fail random 2 seed=7; route; ", false},
		"incremental":   {"fattree:2,8", "route; fail random 3 seed=9; route incremental; ", false},
		// OpenSM reads SLs from no file. It gets the engine, even if another one was chosen since, and must compute the
		// same tables and VLs.
		"lash":       {"torus:4x4", "engine lash lash_start_vl=1; route; engine minhop; ", true},
		"dfsssp":     {"torus:4x4", "engine dfsssp; route; ", true},
		"nue":        {"torus:4x4", "engine nue nue_max_num_vls=4; route; ", true},
		"torus-2QoS": {"torus:4x4x4", "engine torus-2QoS; route; ", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			ibconsole(t, "-s", "sim:"+c.spec, "-c", "dump topology "+at("net"))
			sim := ibsimtest.Start(t, at("net"))
			ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", c.script+"handover "+at("over")+"; dump lfts "+at("ours"))
			if c.vls {
				ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", c.script+"dump sl2vl "+at("sl2vl"))
			}
			osm := at("opensm")
			if err := os.Mkdir(osm, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(osm, "guid2lid"), []byte(read(t, at("over/guid2lid"))),
				0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := sim.Command(ctx, "opensm", "-o", "-F", at("over/opensm.conf"), "-f", at("opensm.log"), "-D", "0x43")
			cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+osm, "OSM_CACHE_DIR="+osm)
			cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("opensm: %v\n%s", err, out)
			}
			sameFile(t, filepath.Join(osm, "opensm-lfts.dump"), at("ours"))
			if c.vls {
				sameFile(t, filepath.Join(osm, "opensm-sl2vl.dump"), at("sl2vl"))
			}
		})
	}
}
