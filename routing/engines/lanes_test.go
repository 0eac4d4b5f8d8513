// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/routing"
)

// laneSpecs are fabrics on which shortest paths can deadlock, and some on which
// they cannot.
var laneSpecs = []string{
	"torus:%dx4", "torus:%dx5x3", "torus:9", "mesh:%dx4", "mesh:3x3x%d", "mesh:4x3,links=2", "torus:5x4,links=3,hosts=2", "hypercube:%d",
	"fattree:2,%d", "fattree:3,4", "fattree:3,6", "xgft:2,3,4,1,3,1,2", "dragonfly:4,2,2", "random:%d,5,60", "random:20,6,%d",
}

// TestLaneEnginesEqualOpenSM compares the engines that need lanes with OpenSM.
func TestLaneEnginesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 15, 300) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			laneTrials(t, rand.New(rand.NewPCG(seed, 4)))
		})
	}
}

var laneChains = [][]string{{"sssp"}, {"dfsssp"}, {"lash"}, {"lash"}}

func laneTrials(t *testing.T, r *rand.Rand) {
	what, f := randomFabric(t, r)
	if r.IntN(2) == 0 {
		what = laneSpecs[r.IntN(len(laneSpecs))]
		f = made(t, fill(what, 3+r.IntN(4)))
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
	esp0 := r.IntN(2) == 0
	sim := start(t, f)
	for _, chain := range laneChains {
		c := &trial{chain: chain, lmcESP0: esp0}
		if chain[0] == "dfsssp" && len(f.EndPorts)<<lmc < mostLogged {
			c.log, c.more = debugLog, sameLanes
		}
		c.opt.LMC = lmc
		c.opt.MeshAnalysis = r.IntN(2) == 0
		c.opt.LASHStartVL = []uint8{0, 0, 0, 1, 5, 8}[r.IntN(6)]
		if err := differs(t, sim, f, c); err != nil {
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, engines %q: %v\nshrunk, in %s: %v", what, c.chain, err, dir, problem)
		}
	}
}

var routeOnLane = regexp.MustCompile(`route from src_lid=(\d+) to dest_lid=(\d+) on vl=(\d+)`)

const debugLog = 8

// mostLogged is how many LIDs make a log that is not too long.
const mostLogged = 150

// sameLanes compares the service levels of dfsssp with the lanes in OpenSM's log.
// A pair of LIDs whose lane has several levels may take any of them.
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
			return fmt.Errorf("service level %d from LID %d to %d, OpenSM's is from %d to %d", got, n[0], n[1], n[2], end-1)
		}
	}
	if len(res.Tables.Fabric.Switches) > 0 && len(pairs) == 0 {
		return errors.New("no lanes in OpenSM's log")
	}
	return nil
}

// fill puts a number into a specification that asks for one.
func fill(spec string, n int) string { return strings.ReplaceAll(spec, "%d", fmt.Sprint(n)) }
