// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/routing"
)

// TestNueEqualsOpenSM compares nue with OpenSM on small fabrics.
func TestNueEqualsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, spec := range []string{"torus:4x4", "random:9,5,60", "fattree:2,4"} {
		t.Run(spec, func(t *testing.T) {
			f := made(t, spec)
			c := nueTrial(f, 1, false)
			if err := differs(t, start(t, f), f, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// nueTrial is a comparison with as many VLs, or paths to switches as free of deadlock as others.
func nueTrial(f *fabric.Fabric, vls uint8, switches bool) *trial {
	c := &trial{chain: []string{"nue"}, conf: fmt.Sprintf("qos TRUE\nnue_max_num_vls %d\nnue_include_switches %s\n", vls, truth(switches))}
	c.opt.NueMaxVLs, c.opt.NueIncludeSwitches = vls, switches
	return c
}

// TestNueRandomTrialsEqualOpenSM compares nue with OpenSM on random fabrics.
func TestNueRandomTrialsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 6, 250) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			nueTrials(t, rand.New(rand.NewPCG(seed, 27)))
		})
	}
}

func nueTrials(t *testing.T, r *rand.Rand) {
	what, f := randomFabric(t, r)
	if r.IntN(2) == 0 {
		what = laneSpecs[r.IntN(len(laneSpecs))]
		f = made(t, what)
		if r.IntN(2) == 0 {
			what, f = what+" damaged", damaged(r, f)
		}
	}
	if !f.SwitchNode(0).InSubnet && len(f.EndPorts) < 3 {
		t.Skip("no switch in the subnet")
	}
	lmc := []uint8{0, 0, 1, 2}[r.IntN(4)]
	if len(f.EndPorts)<<lmc > fabric.MaxUnicastLID/2 {
		lmc = 0
	}
	sim := start(t, f)
	for range 4 {
		c := nueTrial(f, uint8(1+r.IntN(8)), r.IntN(2) == 0)
		c.opt.LMC = lmc
		c.more = func(_ string, res *routing.Result) error { return deadlockFree(res) }
		if err := differs(t, sim, f, c); err != nil {
			if err := errors.Unwrap(err); err != nil {
				t.Log(err)
			}
			t.Errorf("%s, LMC %d, %s: %v", what, lmc, c.conf, err)
		}
	}
}
