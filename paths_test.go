// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestPathsBesideOpenSM builds a database of what an OpenSM has routed, or of what
// its engine gives here, service levels included, and compares it with the records
// that its subnet administration hands out.
func TestPathsBesideOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, c := range []struct{ spec, engine string }{{"fattree:2,8", "minhop"}, {"torus:4x4", "lash"}, {"random:12,5,12", "dfsssp"}} {
		t.Run(c.spec+" "+c.engine, func(t *testing.T) {
			stateHome(t)
			dir := t.TempDir()
			net, db := filepath.Join(dir, "net"), filepath.Join(dir, "paths")
			ibconsole(t, "-s", "sim:"+c.spec, "-c", "dump topology "+net)
			sim := ibsimtest.Start(t, net)
			ibsimtest.Master(t, sim, "-s", "0", "-R", c.engine)
			pairs := testenv.Count(t, 300, 2000)
			out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c",
				fmt.Sprintf("engine %s; route keep=no; paths build %s; load paths %s; paths verify live sample=%d seed=%d", c.engine, db, db, pairs, testenv.Rand(t).IntN(1<<30)))
			var answer struct {
				Pairs, Differ int
				Differences   []string
			}
			if err := json.Unmarshal([]byte(lastLine(out)), &answer); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if answer.Pairs != pairs || answer.Differ != 0 {
				t.Errorf("%d of %d records differ: %v", answer.Differ, answer.Pairs, answer.Differences)
			}
		})
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
