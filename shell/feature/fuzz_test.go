// SPDX-License-Identifier: Apache-2.0

package feature_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/shell/feature"
)

// FuzzHosts reads a file as a list of hosts and as sets of hosts. Errors name the file, and the hosts of accepted sets
// can be expanded.
func FuzzHosts(f *testing.F) {
	f.Add("node-0001 node-0002\n'node-0003 HCA-1'; node-0004 # comment\n")
	f.Add("job-1 node-[0001-0004],node-0007\nrack node-0005\n")
	net := gentest.WithLIDs(f, "fattree:2,4")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "hosts")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		hosts, err := feature.ReadHosts(t.Context(), net, file)
		if err != nil && !strings.Contains(err.Error(), file) || err == nil && len(hosts) < 2 {
			t.Errorf("%v, %v", hosts, err)
		}
		sets, err := feature.ReadHostSets(t.Context(), file)
		if err != nil && !strings.Contains(err.Error(), file) {
			t.Error(err)
		}
		for _, s := range sets {
			if _, err := slurm.Expand(s.Hosts); err != nil {
				t.Errorf("%+v: %v", s, err)
			}
		}
	})
}
