// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestCounted compares every figure of the commands with the model, in random scenes.
func TestCounted(t *testing.T) {
	eachScene(t, func(t *testing.T, rnd *rand.Rand) *exam {
		x := newExam(t, rnd)
		x.everything()
		return x
	})
}

// eachScene compares random scenes, and returns their number. compare makes a scene and compares it, or returns nil.
func eachScene(t *testing.T, compare func(t *testing.T, rnd *rand.Rand) *exam) (scenes int) {
	rnd := testenv.Rand(t)
	scenes = testenv.Count(t, 10, 200)
	compared, wrong := 0, 0
	for i := range scenes {
		seed := rnd.Uint64()
		t.Run(fmt.Sprintf("scene%03d", i), func(t *testing.T) {
			x := compare(t, rand.New(rand.NewPCG(seed, 0)))
			if x == nil {
				return
			}
			x.finish()
			compared += x.compared
			wrong += len(x.wrong)
		})
	}
	t.Logf("%d figures compared, %d contradictory", compared, wrong)
	return scenes
}

// newSim opens a simulated subnet of any kind.
func newSim(t *testing.T, rnd *rand.Rand) *exam {
	return &exam{console: open(t, "sim:"+kinds[rnd.IntN(len(kinds))]), rnd: rnd}
}

// eachRouted reads the states, and returns the sum of the results of compare for each state with routes.
func (x *exam) eachRouted(compare func(*state) int) (n int) {
	x.readStates()
	for _, s := range x.states {
		if s.routed() {
			n += compare(s)
		}
	}
	return n
}

// kinds are simulated subnets of all kinds, small enough to walk every path.
var kinds = []string{
	"fattree:2,4", "fattree:3,4", "fattree:2,6", "fattree:2,4,agg=yes", "xgft:2;2,3;1,2", "xgft:3;2,2,2;1,2,2",
	"torus:3x3", "torus:5x2", "torus:4x3x2",
	"mesh:3x3", "mesh:3x2,hosts=2", "hypercube:3", "hypercube:3,hosts=2", "dragonfly:2,1,2", "dragonfly:3,1,1",
	"bull:2,2", "random:6,3,8", "random:8,3,12,seed=7",
	"railtree:16,2,4,2", "multiplane:2,4,2", "director:2,2", "dfplus:3,2,2,hosts=2",
}

var engineNames = []string{"minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "dfsssp", "sssp",
	"nue", "file"}

// newExam makes a scene.
func newExam(t *testing.T, rnd *rand.Rand) *exam {
	x := newSim(t, rnd)
	m := maker{x}
	m.actions()
	if rnd.IntN(4) == 0 {
		x = m.saved(t)
	}
	x.readStates()
	return x
}

// readStates reads all existing states.
func (x *exam) readStates() {
	live := x.asSaved(readState(x.t, x.console, "live", nil, nil))
	x.states = []*state{live}
	st := x.shell.Session().State()
	x.stale = st.Stale
	base := live
	if st.Base != nil {
		base = x.asSaved(readState(x.t, x.console, "base", nil, nil))
		x.states = append(x.states, base)
	}
	if st.WhatIf != nil {
		x.states = append(x.states, readState(x.t, x.console, "whatif", base, x.changes))
	}
	if st.Staged != nil {
		x.states = append(x.states, readState(x.t, x.console, "staged", base, x.routed))
	}
}

// finish fails the test if there are contradictions.
func (x *exam) finish() {
	if len(x.wrong) == 0 {
		return
	}
	x.t.Errorf("%d of %d figures are contradictory ", len(x.wrong), x.compared)
	for _, command := range x.made {
		x.t.Log(command)
	}
	x.t.Logf("-s %s", x.source)
	for _, command := range x.scene {
		x.t.Log(command)
	}
	for i, w := range x.wrong {
		if i == mostReported {
			x.t.Logf("and %d more", len(x.wrong)-i)
			break
		}
		x.t.Log(w)
	}
}

const mostReported = 25

// asSaved adds to a state of a file the nodes that were unreachable when it was written.
func (x *exam) asSaved(s *state) *state {
	if x.written != nil {
		had := map[uint64]*port{}
		for _, e := range x.written.ends(true) {
			had[e.port().guid] = e.port()
		}
		maps.Copy(had, s.had)
		s.had, s.whole = had, x.written.whole
	}
	return s
}

// traceAll compares the paths of all pairs, and those from and to some end ports.
func (x *exam) traceAll(s *state) {
	ends := s.ends(false)
	x.traceMany(s, "all all", ends, ends, true)
	for _, e := range some(x.rnd, 2, ends) {
		x.traceMany(s, e.word()+" all", []endPort{e}, ends, false)
		x.traceMany(s, "all "+e.word(), ends, []endPort{e}, false)
	}
}

// some returns up to n different elements of a list.
func some[T any](rnd *rand.Rand, n int, list []T) (chosen []T) {
	for _, i := range rnd.Perm(len(list))[:min(n, len(list))] {
		chosen = append(chosen, list[i])
	}
	return chosen
}

// pairsOf returns all ordered pairs of different end ports.
func pairsOf(ends []endPort) (pairs [][2]endPort) {
	for _, src := range ends {
		for _, dst := range ends {
			if src != dst {
				pairs = append(pairs, [2]endPort{src, dst})
			}
		}
	}
	return pairs
}

// everything runs all commands on all states.
func (x *exam) everything() {
	x.showStates()
	x.unnamed()
	x.whatif()
	x.problems()
	for _, s := range x.states {
		x.summary(s)
		x.report(s)
		x.showNodes(s, "nodes")
		x.showNodes(s, "switches")
		x.showLinks(s)
		if s.routed() {
			x.ofTables(s)
		}
	}
	if x.rnd.IntN(4) == 0 { // each engine routes in a console of its own
		x.compareEngines(some(x.rnd, 2, engineNames)...)
	}
	for _, a := range x.states {
		for _, b := range x.states {
			if a != b && a.routed() && b.routed() {
				x.diff(a, b)
			}
		}
	}
}

// unnamed compares the state that a command uses by default. It does not use stale tables.
func (x *exam) unnamed() {
	s := x.states[len(x.states)-1] // staged, else what-if, else live
	node := s.net.nodes[0].word()
	for _, command := range []string{
		"check reach", "check loops", "check load", "check credits", "show nodes", "show switches", "show links",
		"summary", "report text -", "balance switch",
		"balance lid", "diff", "trace all all", "trace all " + node, "who uses " + node, "paths query " + node + " all",
		"resilience links",
	} {
		out, notes, err := x.run(command, false)
		x.compared++
		isRefused := err != nil && strings.Contains(err.Error(), "the staged tables are stale")
		if isRefused != x.stale {
			x.contradict(fmt.Sprintf("%s: of stale tables %v, error %v", command, x.stale, err))
		}
		if x.stale || err != nil && out == "" {
			continue
		}
		if x.compared++; !strings.Contains(out+notes, s.name) {
			x.contradict(fmt.Sprintf("%s: it does not say that it is of %s", command, s.name))
		}
	}
}

// ofTables runs the commands that follow paths.
func (x *exam) ofTables(s *state) {
	for _, switches := range []bool{false, true} {
		x.checkReach(s, "reach", switches)
		x.checkReach(s, "loops", switches)
		x.checkLoad(s, "", switches)
		x.checkCredits(s, switches)
	}
	for _, pattern := range []string{"all", "shifts", "bisection:10", "shift:1"} {
		x.checkLoad(s, pattern, false)
	}
	for _, p := range some(x.rnd, 3, s.net.directions("")) {
		x.whoUses(s, linkThing(p))
	}
	for _, n := range some(x.rnd, 3, s.net.nodes) {
		x.whoUses(s, nodeThing(n))
	}
	x.hostSet(s, some(x.rnd, 2+x.rnd.IntN(6), slices.Collect(x.state("live").net.ends(false))))
	x.balanceSwitches(s)
	x.balanceLIDs(s)
	x.pathsBuild(s)
	if x.rnd.IntN(4) == 0 {
		x.resilience(s)
	}
	for _, p := range some(x.rnd, 3, slices.Collect(s.net.ends(true))) {
		x.pathsQuery(s, p)
	}
	x.traceAll(s)
	x.traceRows(s)
	for _, pair := range some(x.rnd, 5, pairsOf(s.ends(true))) {
		against := x.states[x.rnd.IntN(len(x.states))]
		if !against.routed() {
			against = s
		}
		x.trace(s, pair[0], pair[1], against)
	}
}
