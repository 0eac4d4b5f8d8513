// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestSLsThatTheMasterGrants checks that a routing that needs service levels is written if the path records of the
// master, a real OpenSM, grant them, and only then.
func TestSLsThatTheMasterGrants(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, tc := range []struct {
		name, engine string
		master       []string
		ok           bool
		want         string
	}{
		{"torus-2QoS with itself as master", "torus-2QoS", []string{"-R", "torus-2QoS", "-Q", "--torus_config"}, true,
			"it grants them in all 870 path records"},
		{
			"torus-2QoS with minhop as master", "torus-2QoS", []string{"-R", "minhop"}, false,
			"path records, and not in that of",
		},
		{
			"dfsssp with itself as master", "dfsssp", []string{"-R", "dfsssp", "-Q"}, true,
			"it grants them in all 870 path records",
		},
		{"dfsssp with minhop as master", "dfsssp", []string{"-R", "minhop"}, false, "path records, and not in that of"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stateHome(t)
			dir := t.TempDir()
			net, conf := filepath.Join(dir, "net"), filepath.Join(dir, "torus.conf")
			ibconsole(t, "-s", "sim:torus:6x5", "-c", "dump topology "+net+"; suggest torus "+conf)
			sim := ibsimtest.Start(t, net)
			if last := len(tc.master) - 1; tc.master[last] == "--torus_config" {
				tc.master = append(tc.master, conf)
			}
			ibsimtest.Master(t, sim, append(tc.master, "-s", "0")...)
			source := "ibsim:" + sim.Name
			guid := between(ibconsole(t, "--json", "-s", source, "-c", "show sms"), `"guid":"`, `"`)
			engine := "engine " + tc.engine
			if tc.engine == "torus-2QoS" {
				engine += " torus_config=" + conf
			}
			commit := "commit yes force-interrupt force-loop sm=" + guid
			change := "engine minhop; route; write on; " + commit
			r := try("-s", source, "-c", change+"; "+engine+"; route keep=no; "+commit)
			if !strings.Contains(r.out, tc.want) {
				t.Errorf("it does not print %q:\n%s%s", tc.want, r.out, r.err)
			}
			if written := strings.Count(r.out, "written in") == 2; written != tc.ok || (r.status == exitDone) != tc.ok {
				t.Errorf("written %v, status %d, want %v:\n%s%s", written, r.status, tc.ok, r.out, r.err)
			}
		})
	}
}
