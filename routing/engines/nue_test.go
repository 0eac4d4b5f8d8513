// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/nue"
)

// TestNueEqualsOpenSM compares nue with OpenSM on small fabrics.
func TestNueEqualsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, spec := range []string{"torus:4x4", "random:9,5,60", "fattree:2,4", "mesh:3,links=33"} {
		t.Run(spec, func(t *testing.T) {
			f := gentest.Fabric(t, spec)
			c := nueTrial(1, false)
			if err := differs(t, start(t, f), f, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// nueTrial returns a comparison with a number of VLs, 0 for all, and optionally with deadlock-free paths to switches.
func nueTrial(vls uint8, switches bool) *trial {
	c := &trial{
		chain: []string{"nue"}, conf: fmt.Sprintf("qos TRUE\nnue_max_num_vls %d\nnue_include_switches %s\n", vls,
			truth(switches)),
	}
	if vls == 0 {
		vls = routing.AllVLs
	}
	c.opt.NueMaxVLs, c.opt.NueIncludeSwitches = vls, switches
	return c
}

// TestNueRandomTrialsEqualOpenSM compares nue with OpenSM on random fabrics.
func TestNueRandomTrialsEqualOpenSM(t *testing.T) {
	repeat(t, 3, 250, 27, func(t *testing.T, r *rand.Rand, _ int) { nueTrials(t, r, nil) })
}

func nueTrials(t *testing.T, r *rand.Rand, made *tally) {
	what, f, lmc := trialFabric(t, r)
	sim := start(t, f)
	for range trialsPerFabric {
		c := nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
		c.made, c.opt.LMC = made, lmc
		c.more = func(_ string, res *routing.Result) error {
			return freeOf(res, credits.Options{Switches: c.opt.NueIncludeSwitches})
		}
		if err := differs(t, sim, f, c); err != nil {
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, LMC %d, %s: %v\nshrunk, in %s: %v", what, lmc, c.conf, err, dir, problem)
		}
	}
}

// fewSwitches is the number of switches from which on a trial of nue on a real fabric takes OpenSM seconds.
const fewSwitches = 20

// TestNueOnSharedFabrics compares nue on real fabrics.
func TestNueOnSharedFabrics(t *testing.T) {
	testenv.Tool(t, "opensm")
	sharedFabrics(t, func(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand) {
		if len(f.Switches) >= largeSwitches {
			t.Skip("OpenSM takes hours")
		}
		if len(f.Switches) > fewSwitches && !testenv.Full() {
			t.Skip("OpenSM takes seconds: only with IBCONSOLE_FULL=1")
		}
		c := nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
		c.opt.LMC = uint8(r.IntN(2))
		c.more = func(_ string, res *routing.Result) error { return deadlockFree(res) }
		if err := differs(t, ibsimtest.Start(t, file), f, c); err != nil {
			t.Errorf("LMC %d, %s: %v", c.opt.LMC, c.conf, err)
		}
	})
}

// TestNueWarnsWhereOpenSMCrashes checks that nue warns exactly where OpenSM's nue ends with a segmentation fault
// because the port 0 of a switch has several LIDs.
func TestNueWarnsWhereOpenSMCrashes(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for _, c := range []struct {
		lmc            uint8
		esp0, enhanced bool
	}{{1, true, true}, {2, true, true}, {1, false, true}, {0, true, true}, {1, true, false}} {
		f, err := gen.ParseSpec("random:6,3,10")
		if err != nil {
			t.Fatal(err)
		}
		f.Nodes[f.Switches[r.IntN(len(f.Switches))]].EnhancedPort0 = c.enhanced
		one := nueTrial(uint8(r.IntN(3)), r.IntN(2) == 0)
		one.lmcESP0, one.opt.LMC = c.esp0, c.lmc
		dir := t.TempDir()
		cmd := start(t, f).Command(t.Context(), "opensm", "-o", "-F", one.config(t, dir), "-R", "nue", "-f",
			filepath.Join(dir, "opensm.log"))
		cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
		_ = cmd.Run()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		log, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
		if err != nil {
			t.Fatal(err)
		}
		crashed := status.Signaled() && status.Signal() == syscall.SIGSEGV && !bytes.Contains(log, []byte("SUBNET UP"))
		lids, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: c.lmc, LMCESP0: c.esp0})
		if err != nil {
			t.Fatal(err)
		}
		res, err := nue.Engine{}.Route(t.Context(), lids.Fabric, one.opt)
		if err != nil {
			t.Fatal(err)
		}
		if warned := strings.Contains(strings.Join(res.Warnings, "\n"), "segmentation fault"); warned != crashed {
			t.Errorf("%+v: OpenSM crashed %v, warned %v: %q", c, crashed, warned, res.Warnings)
		}
	}
}

// Without quality of service nue uses one VL, whatever its limit.
func TestNueWithoutQoS(t *testing.T) {
	testenv.Tool(t, "opensm")
	f := gentest.Fabric(t, "torus:5x4")
	c := nueTrial(4, false)
	c.conf, c.opt.NoQoS = "nue_max_num_vls 4\n", true
	c.more = func(_ string, res *routing.Result) error {
		if res.Tables.SLs != nil || res.Tables.SL2VL != nil {
			return errors.New("service levels without quality of service")
		}
		return deadlockFree(res)
	}
	if err := differs(t, start(t, f), f, c); err != nil {
		t.Error(err)
	}
}

// A hop counts the square of the number of LIDs, and OpenSM's distances have 31 bits.
func TestNueRefusesAsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	all := []struct {
		spec  string
		chain []string
	}{{"torus:20,hosts=8", []string{"nue", "updn"}}, {"torus:5,hosts=8", []string{"nue"}}}
	for _, tc := range all[:testenv.Count(t, 1, len(all))] {
		f := gentest.Fabric(t, tc.spec)
		c := nueTrial(1, false)
		c.chain, c.opt.LMC = tc.chain, fabric.MaxLMC
		if err := differs(t, start(t, f), f, c); err != nil {
			t.Errorf("%s: %v", tc.spec, err)
		}
	}
}

// The counts of refusing engines stay in addition to those of nue.
func TestNueAfterRefusingEngines(t *testing.T) {
	testenv.Tool(t, "opensm")
	f := gentest.Fabric(t, "torus:9x9")
	sim := start(t, f)
	all := []string{"dfsssp,lash", "updn", "dfsssp", "lash", "ftree", "dnup", "lash,updn"}
	for _, before := range all[:testenv.Count(t, 2, len(all))] {
		c := nueTrial(3, false)
		c.chain = append(strings.Split(before, ","), "nue")
		c.opt.LASHStartVL = 7
		if err := differs(t, sim, f, c); err != nil {
			t.Errorf("%q: %v", c.chain, err)
		}
	}
}

// If OpenSM's nue loses turns that paths take they may close a cycle, and ours warns of it.
func TestNueWarnsOfLoops(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 40, 2000) {
		what, f, lmc := trialFabric(t, r)
		nueWarns(t, what, f, routing.Options{
			LMC: lmc, NueMaxVLs: uint8(1 + r.IntN(8)), NueIncludeSwitches: r.IntN(2) == 0,
		})
	}
	// The file is a dragonfly without some links.
	subnet, err := formats.ReadWith(t.Context(), "testdata/nue-loop.net", formats.Options{AsIbsim: true})
	if err != nil {
		t.Fatal(err)
	}
	if !nueWarns(t, "nue-loop.net", subnet.Fabric, routing.Options{NueMaxVLs: 6}) {
		t.Error("nue-loop.net has no credit loop any more")
	}
}

// nueWarns routes with nue and reports whether paths have a credit loop, of which there must be a warning.
func nueWarns(t *testing.T, what string, f *fabric.Fabric, opt routing.Options) bool {
	t.Helper()
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	res, err := nue.Engine{}.Route(t.Context(), f, opt)
	if _, refused := errors.AsType[*routing.RefusedError](err); refused {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	loops, err := credits.Check(t.Context(), res.Tables, credits.Options{Switches: opt.NueIncludeSwitches})
	if err != nil {
		t.Fatal(err)
	}
	if loops.Ring != nil && !warned(res) {
		t.Errorf("%s, %+v: a credit loop of %d links without a warning", what, opt, len(loops.Ring))
	}
	return loops.Ring != nil
}
