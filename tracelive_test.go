// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// TestLiveTracesOverIbsim traces again and again in one session: nothing fails,
// and nothing grows. In the middle of it a table is changed behind its back.
func TestLiveTracesOverIbsim(t *testing.T) {
	testenv.Tool(t, "ibsim")
	stateHome(t)
	r := testenv.Rand(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,12", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "route; write on; commit yes")

	src, err := session.ParseSource("ibsim:" + sim.Name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	sh := shell.New(s)
	f := s.State().Live.Fabric
	trace := func(words string) string {
		var out strings.Builder
		if err := sh.Run(t.Context(), "test", "trace live "+words, &shell.Output{W: &out, JSON: true}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for range 100 {
		trace(randomPair(f, r))
	}
	before := testenv.Resources(t)
	for range testenv.Count(t, 2000, 100000) {
		pair := randomPair(f, r)
		if out := trace(pair); !strings.Contains(out, `"arrives":true`) || strings.Contains(out, `"parts"`) {
			t.Fatalf("%s: %s", pair, out)
		}
	}
	before.Same(t)
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "engine minhop port_shifting=TRUE; route keep=no; write on; commit yes")
	pairs := filepath.Join(t.TempDir(), "pairs")
	var lines strings.Builder
	for range 200 {
		lines.WriteString(randomPair(f, r) + "\n")
	}
	if err := os.WriteFile(pairs, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := trace("file=" + pairs)
	if !strings.Contains(out, `"arrive":200`) || strings.Contains(out, `"part":0`) {
		t.Errorf("after another routing was written the traces are those that were read before: %s", out)
	}
}

// randomPair is two end ports by their LIDs.
func randomPair(f *fabric.Fabric, r *rand.Rand) string {
	lid := func() uint16 { return f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID }
	return fmt.Sprintf("lid:%d lid:%d", lid(), lid())
}
