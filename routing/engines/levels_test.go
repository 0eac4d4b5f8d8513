// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/engines"
)

// TestServiceLevelsEqualOpenSM queries OpenSM for path records. Those of lash are of its first sweep; later ones are
// random. (OpenSM chooses the SLs of dfsssp at random for each query; see sameLogVLs.)
func TestServiceLevelsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "saquery")
	r := testenv.Rand(t)
	for _, spec := range []string{"torus:4x4", "torus:3x3x3", "random:16,5,16", "fattree:2,6"} {
		for _, name := range []string{"lash", "sssp", "nue"} {
			if name == "nue" && spec != "torus:4x4" && !testenv.Full() {
				continue
			}
			seed := r.Uint64()
			t.Run(spec+" "+name, func(t *testing.T) {
				t.Parallel()
				serviceLevels(t, spec, name, rand.New(rand.NewPCG(seed, 5)))
			})
		}
	}
}

func serviceLevels(t *testing.T, spec, name string, r *rand.Rand) {
	f := gentest.Fabric(t, spec)
	c := &trial{chain: []string{name, engines.NoFallback}}
	if name == "nue" {
		c = nueTrial(uint8(2+r.IntN(7)), r.IntN(2) == 0)
	}
	sim := start(t, f)
	m := startManager(t, sim, c)
	m.rest(t)
	if m.sweeps > 1 {
		t.Skipf("OpenSM has swept %d times already", m.sweeps)
	}
	f, err := withLIDs(f, m.dir)
	if err != nil {
		t.Fatal(err)
	}
	res, _, err := tryAll(context.Background(), c.chain, f, c.opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 25 {
		src, dst := f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID, f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID
		theirs := pathSL(t, sim, src, dst)
		ours := uint8(0)
		if res.Tables.SLs != nil {
			ours = res.Tables.SLs.SL(src, dst)
		}
		if theirs != ours {
			t.Errorf("service level %d from LID %d to %d, OpenSM's is %d", ours, src, dst, theirs)
		}
	}
}

var levelOfPath = regexp.MustCompile(`\bsl\.+0x([0-9A-Fa-f]+)`)

func pathSL(t *testing.T, sim *ibsimtest.Sim, src, dst uint16) uint8 {
	t.Helper()
	out := sim.Output("saquery", "-t", "20000", "PR", "--slid", fmt.Sprint(src), "--dlid", fmt.Sprint(dst))
	m := levelOfPath.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no path record from LID %d to %d: %s", src, dst, out)
	}
	sl, err := strconv.ParseUint(m[1], 16, 8)
	if err != nil {
		t.Fatal(err)
	}
	return uint8(sl)
}
