// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// With largeSwitches or more a trial takes OpenSM minutes; with more than manySwitches a sample has fewer trials.
const largeSwitches, manySwitches = 1000, 100

// TestSharedFabricsEqualOpenSM compares all engines with OpenSM on real fabrics.
func TestSharedFabricsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	sharedFabrics(t, sharedTrials)
}

// sharedFabrics runs a test on each of the real fabrics; a sample has only one of those with many switches.
func sharedFabrics(t *testing.T, run func(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand)) {
	r := testenv.Rand(t)
	folder := filepath.Join(testenv.Shared(t), "fabrics")
	files, err := filepath.Glob(filepath.Join(folder, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	many := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// ibsim cannot read the format of ibdiagnet.
		if filepath.Ext(file) == ".md" || bytes.Contains(text, []byte("[1](1)")) {
			continue
		}
		seed := r.Uint64()
		subnet, err := formats.ReadWith(context.Background(), file, formats.Options{AsIbsim: true})
		if err != nil {
			t.Fatal(err)
		}
		f := subnet.Fabric
		if len(f.Switches) > manySwitches && len(f.Switches) < largeSwitches {
			if many++; many > 1 && !testenv.Full() {
				t.Logf("%s: only with IBCONSOLE_FULL=1", filepath.Base(file))
				continue
			}
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			run(t, file, f, rand.New(rand.NewPCG(seed, 3)))
		})
	}
}

func sharedTrials(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand) {
	chains := [][]string{{"minhop"}, {"updn"}, {"dnup"}, {"dor"}}
	trials := 16
	switch large := len(f.Switches) >= largeSwitches; {
	case large && !testenv.Full():
		t.Skip("OpenSM takes minutes: only with IBCONSOLE_FULL=1")
	case large:
		trials = len(chains)
	case !testenv.Full() && len(f.Switches) > manySwitches:
		trials = 1
	case !testenv.Full():
		trials = 2
	}
	first := r.IntN(len(chains))
	for i := range trials {
		c := &trial{chain: chains[(first+i)%len(chains)]}
		if i >= len(chains) || !testenv.Full() {
			c.opt = randomOptions(r, f)
			if testenv.Full() || len(f.Switches) <= manySwitches {
				c.opt.LMC = []uint8{0, 1, 3}[r.IntN(3)]
			}
		}
		if err := differs(t, ibsimtest.Start(t, file), f, c); err != nil {
			t.Fatal(fmt.Errorf("engines %q, options %+v: %w", c.chain, c.opt, err))
		}
	}
}
