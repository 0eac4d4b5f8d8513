// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
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
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/sweep/sweeptest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/nue"
)

// vlSpecs are fabrics on which shortest paths can deadlock, and some on which they cannot.
var vlSpecs = []string{
	"torus:3x4", "torus:6x4", "torus:8x8", "torus:4x5x3", "torus:4x4x4", "torus:3x3x3x3", "torus:9", "torus:4",
	"torus:5x4,links=3,hosts=2",
	"mesh:7x4", "mesh:3x3x4", "mesh:4x3,links=2", "hypercube:3", "hypercube:5", "fattree:2,6", "fattree:2,12",
	"fattree:3,4", "fattree:3,6",
	"xgft:2,3,4,1,3,1,2", "dragonfly:4,2,2", "dragonfly:2,2,1", "random:9,5,60", "random:20,6,20", "random:40,3,40",
}

// TestVLEnginesEqualOpenSM compares the engines that need VLs with OpenSM.
func TestVLEnginesEqualOpenSM(t *testing.T) {
	repeat(t, 6, 300, 4, func(t *testing.T, r *rand.Rand, _ int) { vlTrials(t, r, nil) })
}

// vlChains has the engines of trialsPerFabric trials.
var vlChains = [][]string{{"sssp"}, {"dfsssp"}, {"lash"}, {"lash"}}

// trialFabric returns a fabric for engines with SLs, and an LMC for which it has enough LIDs.
func trialFabric(t *testing.T, r *rand.Rand) (what string, f *fabric.Fabric, lmc uint8) {
	t.Helper()
	what, f = randomFabric(t, r)
	if r.IntN(2) == 0 {
		what = vlSpecs[r.IntN(len(vlSpecs))]
		f = gentest.Fabric(t, what)
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

func vlTrials(t *testing.T, r *rand.Rand, made *tally) {
	what, f, lmc := trialFabric(t, r)
	esp0 := r.IntN(2) == 0
	sim := start(t, f)
	for _, chain := range vlChains {
		c := vlTrial(r, f, chain)
		c.made, c.lmcESP0, c.opt.LMC = made, esp0, lmc
		c.more = compareVLs(f, c)
		if err := differs(t, sim, f, c); err != nil {
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, engines %q: %v\nshrunk, in %s: %v", what, c.chain, err, dir, problem)
		}
	}
}

// TestVLEnginesOnSharedFabrics compares them on the fabrics that others built.
func TestVLEnginesOnSharedFabrics(t *testing.T) {
	testenv.Tool(t, "opensm")
	sharedFabrics(t, func(t *testing.T, file string, f *fabric.Fabric, r *rand.Rand) {
		if len(f.Switches) >= largeSwitches {
			t.Skip("OpenSM takes hours")
		}
		chains := vlChains[:3]
		sample := len(f.Switches) > manySwitches && !testenv.Full()
		if sample {
			chains = chains[:1]
		}
		for _, chain := range chains {
			c := vlTrial(r, f, chain)
			if c.opt.LMC = uint8(r.IntN(2)); sample {
				c.opt.LMC = 0
			}
			c.more = compareVLs(f, c)
			if err := differs(t, ibsimtest.Start(t, file), f, c); err != nil {
				t.Errorf("engines %q, options %+v: %v", c.chain, c.opt, err)
			}
		}
	})
}

// vlTrial returns random options of these engines.
func vlTrial(r *rand.Rand, f *fabric.Fabric, chain []string) *trial {
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

// compareVLs returns the comparison of VLs, and makes OpenSM log them.
func compareVLs(f *fabric.Fabric, c *trial) func(dir string, res *routing.Result) error {
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
		return errors.Join(sameLogVLs(dir, res), deadlockFree(res))
	}
}

// deadlockFree checks for credit loops if the engine must not leave any.
func deadlockFree(res *routing.Result) error { return freeOf(res, credits.Options{}) }

func freeOf(res *routing.Result, opt credits.Options) error {
	free := res.Tables.Origin == "lash" || res.Tables.Origin == "nue" || res.Tables.Origin == "dfsssp"
	if !free || hasRouters(res.Tables.Fabric) {
		return nil // dfsssp ignores packets from routers, and warns of it
	}
	r, err := credits.Check(context.Background(), res.Tables, opt)
	if err == nil && r.Ring != nil && !warned(res) {
		err = fmt.Errorf("%s has a credit loop of %d links", res.Tables.Origin, len(r.Ring))
	}
	return err
}

// warned reports whether an engine warns of a possible credit loop, as nue does if OpenSM's may have one.
func warned(res *routing.Result) bool {
	return slices.ContainsFunc(res.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "OpenSM's nue ") && strings.HasSuffix(w, "not checked")
	})
}

var routeOnVL = regexp.MustCompile(`route from src_lid=(\d+) to dest_lid=(\d+) on vl=(\d+)`)

const debugLog = 8

// mostLogged is the number of LIDs up to which the log is not too long.
const mostLogged = 150

// sameLogVLs compares the SLs of dfsssp with the VLs in OpenSM's log. A pair of LIDs whose VL has several levels may
// use any of them.
func sameLogVLs(dir string, res *routing.Result) error {
	if res.Tables.Origin != "dfsssp" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		return err
	}
	var vls [16]bool
	pairs := routeOnVL.FindAllSubmatch(text, -1)
	numbers := make([][3]int, len(pairs))
	for i, m := range pairs {
		for k := range numbers[i] {
			if numbers[i][k], err = strconv.Atoi(string(m[k+1])); err != nil {
				return err
			}
		}
		vls[numbers[i][2]] = true
	}
	for _, n := range numbers {
		got, end := int(res.Tables.SLs.SL(uint16(n[0]), uint16(n[1]))), n[2]+1
		for end < len(vls) && !vls[end] {
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
		return errors.New("no vls in OpenSM's log")
	}
	return nil
}

var pairsInVL = regexp.MustCompile(`Lanes in layer (\d+): (\d+)`)

// sameLayers compares the number of pairs of switches in each VL of lash with OpenSM's log, which has it before and
// after they are balanced.
func sameLayers(dir string, res *routing.Result, start int) error {
	if res.Tables.Origin != "lash" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		return err
	}
	matches := pairsInVL.FindAllSubmatch(text, -1)
	var theirs []int
	for _, m := range matches[len(matches)/2:] {
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
			vl := int(res.Tables.SLs.SL(f.SwitchLID(s), f.SwitchLID(d))) - start
			if vl < 0 || vl >= len(ours) {
				return fmt.Errorf("VL %d, OpenSM has %d VLs", vl, len(theirs))
			}
			ours[vl]++
		}
	}
	if !slices.Equal(ours, theirs) {
		return fmt.Errorf("%d pairs in the VLs, OpenSM has %d", ours, theirs)
	}
	return nil
}

// TestNueVLsEqualOpenSM compares the SL2VL tables of all ports after OpenSM has routed with nue, and the SLs of its
// subnet administration.
func TestNueVLsEqualOpenSM(t *testing.T) {
	repeat(t, 4, 1000, 28, func(t *testing.T, r *rand.Rand, _ int) { nueVLs(t, r) })
}

func nueVLs(t *testing.T, r *rand.Rand) {
	what, f, lmc := trialFabric(t, r)
	c := nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
	c.opt.LMC = lmc
	sim := start(t, f)
	m := startManager(t, sim, c)
	m.rest(t)
	if err := sameVLs(t, sim, r, f, c); err != nil {
		t.Errorf("%s, LMC %d, %s: %v", what, lmc, c.conf, err)
	}
}

// sameVLs reads and routes the subnet, and compares tables, SL2VL tables and SLs with OpenSM's.
func sameVLs(t *testing.T, sim *ibsimtest.Sim, r *rand.Rand, f *fabric.Fabric, c *trial) error {
	t.Helper()
	transport, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name, Node: f.Nodes[f.Ports[f.SMPort].Node].Desc})
	if err != nil {
		return err
	}
	client, err := mad.NewClient(transport, mad.ClientOptions{Window: 32})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	live, err := sweep.Full(t.Context(), client, sweep.Options{SL2VL: true})
	if err != nil {
		return err
	}
	res, _, err := tryAll(t.Context(), c.chain, live.Fabric, c.opt)
	if err != nil {
		return err
	}
	for s := range fabric.SwitchIndex(len(live.Fabric.Switches)) {
		if got, want := res.Tables.LFT.Row(s)[:live.Fabric.MaxLID+1], live.Tables.LFT.Row(s)[:live.Fabric.MaxLID+
			1]; !bytes.Equal(got, want) {
			return fmt.Errorf("%s holds\n%v, ours is\n%v", live.Fabric.NodeName(live.Fabric.Switches[s]), want, got)
		}
	}
	if res.Tables.Origin != nue.Name {
		return nil // it refuses like OpenSM's
	}
	if len(live.Unanswered) > 0 || (res.Tables.SL2VL == nil) != (res.Tables.SLs == nil) {
		return fmt.Errorf("%d ports did not answer; our SLs are %v, our SL2VL tables %v", len(live.Unanswered),
			res.Tables.SLs, res.Tables.SL2VL)
	}
	if res.Tables.SLs == nil {
		return sweeptest.PathSLs(t.Context(), client, r, res.Tables, lowest{}) // on one VL
	}
	if err := sweeptest.SL2VL(live, res.Tables.SL2VL); err != nil {
		return err
	}
	return sweeptest.PathSLs(t.Context(), client, r, res.Tables, res.Tables.SLs)
}

// lowest are the SLs of routes without SLs.
type lowest struct{}

func (lowest) SL(_, _ uint16) uint8 { return 0 }
