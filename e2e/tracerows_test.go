// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestTraceManyAsIbtracert compares the paths of a file of pairs with the output of the real ibtracert, in the tables
// and through the switches: in a whole subnet, and without a cable.
func TestTraceManyAsIbtracert(t *testing.T) {
	testenv.Tool(t, "ibtracert")
	stateHome(t)
	r := testenv.Rand(t)
	dir := t.TempDir()
	net, file := filepath.Join(dir, "net"), filepath.Join(dir, "pairs")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim)
	failure := regexp.MustCompile(`(?m)^\S*ibtracert: iberror: .*\n`)
	f := tracer(t, "ibsim:"+sim.Name).fabric
	for _, command := range []string{"", `Unlink "S-0000000000200000"[5]`} {
		t.Run(command, func(t *testing.T) {
			if command != "" {
				sim.Console(command)
			}
			var lines, want strings.Builder
			undelivered := 0
			for range testenv.Count(t, 60, 1000) {
				pair := randomPair(f, r)
				ends := strings.Fields(strings.ReplaceAll(pair, "lid:", ""))
				out, _ := sim.Command(t.Context(), "ibtracert", ends...).Output() // fails if the packets do not arrive
				if !strings.HasPrefix(string(out), "From ") {
					continue // it does not reach the ports over the subnet
				}
				lines.WriteString(pair + "\n")
				if !strings.Contains(string(out), "\nTo ") {
					undelivered++
				}
				want.Write(failure.ReplaceAll(out, nil))
			}
			if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, trace := range []string{"trace live file=", "trace file="} {
				got := try("-s", "ibsim:"+sim.Name, "-c", trace+file+" format=ibtracert")
				if got.out != want.String() || (got.status != exitDone) != (undelivered > 0) {
					t.Errorf("%s prints, with status %d\n%s\nibtracert prints\n%s", trace, got.status, got.out,
						want.String())
				}
			}
			if (command != "") != (undelivered > 0) {
				t.Errorf("%d pairs are not delivered", undelivered)
			}
		})
	}
}
