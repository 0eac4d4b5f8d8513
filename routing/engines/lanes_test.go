// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
)

// laneSpecs are fabrics on which shortest paths can deadlock, and some on which
// they cannot.
var laneSpecs = []string{
	"torus:3x4", "torus:6x4", "torus:8x8", "torus:4x5x3", "torus:4x4x4", "torus:3x3x3x3", "torus:9", "torus:4",
	"torus:5x4,links=3,hosts=2",
	"mesh:7x4", "mesh:3x3x4", "mesh:4x3,links=2", "hypercube:3", "hypercube:5", "fattree:2,6", "fattree:2,12",
	"fattree:3,4", "fattree:3,6",
	"xgft:2,3,4,1,3,1,2", "dragonfly:4,2,2", "dragonfly:2,2,1", "random:9,5,60", "random:20,6,20", "random:40,3,40",
}

// TestLaneEnginesEqualOpenSM compares the engines that need VLs with OpenSM.
func TestLaneEnginesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 6, 300) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			laneTrials(t, rand.New(rand.NewPCG(seed, 4)))
		})
	}
}

var laneChains = [][]string{{"sssp"}, {"dfsssp"}, {"lash"}, {"lash"}}

// trialFabric is a fabric for engines with SLs, and an LMC that it has room for.
func trialFabric(t *testing.T, r *rand.Rand) (what string, f *fabric.Fabric, lmc uint8) {
	t.Helper()
	what, f = randomFabric(t, r)
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
	lmc = []uint8{0, 0, 1, 2}[r.IntN(4)]
	if len(f.EndPorts)<<lmc > fabric.MaxUnicastLID/2 {
		lmc = 0
	}
	return what, f, lmc
}

func laneTrials(t *testing.T, r *rand.Rand) {
	what, f, lmc := trialFabric(t, r)
	esp0 := r.IntN(2) == 0
	sim := start(t, f)
	for _, chain := range laneChains {
		c := laneTrial(r, f, chain)
		c.lmcESP0, c.opt.LMC = esp0, lmc
		c.more = compareLanes(f, c)
		if err := differs(t, sim, f, c); err != nil {
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, engines %q: %v\nshrunk, in %s: %v", what, c.chain, err, dir, problem)
		}
	}
}

// TestLaneEnginesOnSharedFabrics compares them on the fabrics that others built.
func TestLaneEnginesOnSharedFabrics(t *testing.T) {
	testenv.Tool(t, "opensm")
	sharedFabrics(t, func(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand) {
		if len(f.Switches) >= largeSwitches {
			t.Skip("OpenSM takes hours")
		}
		chains := laneChains[:3]
		sample := len(f.Switches) > manySwitches && !testenv.Full()
		if sample {
			chains = chains[:1]
		}
		for _, chain := range chains {
			c := laneTrial(r, f, chain)
			if c.opt.LMC = uint8(r.IntN(2)); sample {
				c.opt.LMC = 0
			}
			c.more = compareLanes(f, c)
			if err := differs(t, ibsimtest.Start(t, file), f, c); err != nil {
				t.Errorf("engines %q, options %+v: %v", c.chain, c.opt, err)
			}
		}
	})
}

// laneTrial draws options that these engines take.
func laneTrial(r *rand.Rand, f *fabric.Fabric, chain []string) *trial {
	c := &trial{chain: chain}
	c.opt.MeshAnalysis = r.IntN(2) == 0
	c.opt.LASHStartVL = []uint8{0, 0, 0, 1, 5, 8}[r.IntN(6)]
	c.opt.ScatterPorts = []uint32{0, 0, 7}[r.IntN(3)] // it seeds what lash draws, too
	for _, named := range []*[]uint64{&c.opt.ComputeNodes, &c.opt.IONodes} {
		for r.IntN(3) == 0 {
			*named = append(*named, f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID)
		}
	}
	return c
}

// compareLanes compares the VLs, and has OpenSM log them.
func compareLanes(f *fabric.Fabric, c *trial) func(dir string, res *routing.Result) error {
	switch {
	case c.chain[0] == "lash":
		return func(dir string, res *routing.Result) error {
			return errors.Join(sameLayers(dir, res, int(c.opt.LASHStartVL)), deadlockFree(res))
		}
	case c.chain[0] != "dfsssp":
		return nil
	case len(f.EndPorts)<<c.opt.LMC >= mostLogged:
		return func(_ string, res *routing.Result) error { return deadlockFree(res) }
	}
	c.log = debugLog
	return func(dir string, res *routing.Result) error {
		return errors.Join(sameLanes(dir, res), deadlockFree(res))
	}
}

// deadlockFree looks for credit loops of an engine that is to leave none.
func deadlockFree(res *routing.Result) error { return freeOf(res, credits.Options{}) }

func freeOf(res *routing.Result, opt credits.Options) error {
	free := res.Tables.Origin == "lash" || res.Tables.Origin == "nue" || res.Tables.Origin == "dfsssp"
	if !free || hasRouters(res.Tables.Fabric) {
		return nil // dfsssp does not mind what routers send, and says so
	}
	r, err := credits.Check(context.Background(), res.Tables, opt)
	if err == nil && r.Ring != nil && !warned(res) {
		err = fmt.Errorf("%s has a credit loop of %d links", res.Tables.Origin, len(r.Ring))
	}
	return err
}

// warned reports whether an engine says that it may leave a credit loop, as nue does where OpenSM's would.
func warned(res *routing.Result) bool {
	return slices.ContainsFunc(res.Warnings, func(w string) bool {
		return strings.Contains(w, "check credits says whether")
	})
}

var routeOnLane = regexp.MustCompile(`route from src_lid=(\d+) to dest_lid=(\d+) on vl=(\d+)`)

const debugLog = 8

// mostLogged is how many LIDs make a log that is not too long.
const mostLogged = 150

// sameLanes compares the SLs of dfsssp with the VLs in OpenSM's log.
// A pair of LIDs whose VL has several levels may take any of them.
func sameLanes(dir string, res *routing.Result) error {
	if res.Tables.Origin != "dfsssp" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		return err
	}
	var lanes [16]bool
	pairs := routeOnLane.FindAllSubmatch(text, -1)
	numbers := make([][3]int, len(pairs))
	for i, m := range pairs {
		for k := range numbers[i] {
			if numbers[i][k], err = strconv.Atoi(string(m[k+1])); err != nil {
				return err
			}
		}
		lanes[numbers[i][2]] = true
	}
	for _, n := range numbers {
		got, end := int(res.Tables.SLs.SL(uint16(n[0]), uint16(n[1]))), n[2]+1
		for end < len(lanes) && !lanes[end] {
			end++
		}
		if got < n[2] || got >= end {
			return fmt.Errorf("service level %d from LID %d to %d, OpenSM's is from %d to %d", got, n[0], n[1],
				n[2], end-1)
		}
	}
	f := res.Tables.Fabric
	ends := slices.DeleteFunc(slices.Clone(f.EndPorts), func(e fabric.PortIndex) bool {
		return f.Nodes[f.Ports[e].Node].Type == mad.NodeRouter
	})
	if len(f.Switches) > 0 && len(ends) > 1 && len(pairs) == 0 {
		return errors.New("no lanes in OpenSM's log")
	}
	return nil
}

var pairsInLane = regexp.MustCompile(`Lanes in layer (\d+): (\d+)`)

// sameLayers compares how many pairs of switches lash has in each VL with
// OpenSM's log, which says it before and after they are balanced.
func sameLayers(dir string, res *routing.Result, start int) error {
	if res.Tables.Origin != "lash" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		return err
	}
	said := pairsInLane.FindAllSubmatch(text, -1)
	var theirs []int
	for _, m := range said[len(said)/2:] {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			return err
		}
		theirs = append(theirs, n)
	}
	f := res.Tables.Fabric
	ours := make([]int, len(theirs))
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		for d := range fabric.SwitchIndex(len(f.Switches)) {
			if s == d || !f.SwitchNode(s).InSubnet || !f.SwitchNode(d).InSubnet {
				continue
			}
			lane := int(res.Tables.SLs.SL(f.SwitchLID(s), f.SwitchLID(d))) - start
			if lane < 0 || lane >= len(ours) {
				return fmt.Errorf("lane %d, OpenSM has %d lanes", lane, len(theirs))
			}
			ours[lane]++
		}
	}
	if !slices.Equal(ours, theirs) {
		return fmt.Errorf("%d pairs in the lanes, OpenSM has %d", ours, theirs)
	}
	return nil
}
