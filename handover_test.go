// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestHandover gives a routing that OpenSM would not compute to a real OpenSM, by
// the files that handover writes, and compares its own dump with ours.
func TestHandover(t *testing.T) {
	testenv.Tool(t, "opensm")
	stateHome(t)
	for name, script := range map[string]string{
		"drained cable": "engine minhop; fail link leaf-01 5; route; ",
		"other engine":  "engine dor port_shifting=TRUE; route; ",
		"with LMC":      "engine updn lmc=2; fail random 2 seed=7; route; ",
		"incremental":   "route; fail random 3 seed=9; route incremental; ",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+at("net"))
			sim := ibsimtest.Start(t, at("net"))
			ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", script+"handover "+at("over")+"; dump lfts "+at("ours"))
			osm := at("opensm")
			if err := os.Mkdir(osm, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(osm, "guid2lid"), []byte(read(t, at("over/guid2lid"))), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := sim.Command(ctx, "opensm", "-o", "-F", at("over/opensm.conf"), "-f", at("opensm.log"), "-D", "0x43")
			cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+osm, "OSM_CACHE_DIR="+osm)
			cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("opensm: %v\n%s", err, out)
			}
			sameFile(t, filepath.Join(osm, "opensm-lfts.dump"), at("ours"))
		})
	}
}
