// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/internal/testenv"
)

// TestCounted compares every figure of the commands with the model, in random scenes.
func TestCounted(t *testing.T) {
	rnd := testenv.Rand(t)
	compared, wrong := 0, 0
	for i := range testenv.Count(t, 10, 200) {
		seed := rnd.Uint64()
		t.Run(fmt.Sprintf("scene%03d", i), func(t *testing.T) {
			x := newExam(t, rand.New(rand.NewPCG(seed, 0)))
			x.everything()
			x.report()
			compared += x.compared
			wrong += len(x.wrong)
		})
	}
	t.Logf("%d figures compared, %d contradictory", compared, wrong)
}

// kinds are simulated subnets of all kinds, small enough to walk every path.
var kinds = []string{
	"fattree:2,4", "fattree:3,4", "fattree:2,6", "fattree:2,4,agg=yes", "xgft:2;2,3;1,2", "xgft:3;2,2,2;1,2,2", "torus:3x3", "torus:5x2", "torus:4x3x2",
	"mesh:3x3", "mesh:3x2,hosts=2", "hypercube:3", "hypercube:3,hosts=2", "dragonfly:2,1,2", "dragonfly:3,1,1", "bull:2,2", "random:6,3,8", "random:8,3,12,seed=7",
	"railtree:16,2,4,2", "multiplane:2,4,2", "director:2,2", "dfplus:3,2,2,hosts=2",
}

var engineNames = []string{"minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "dfsssp", "sssp", "nue", "file"}

// newExam makes a scene.
func newExam(t *testing.T, rnd *rand.Rand) *exam {
	x := &exam{console: open(t, "sim:"+kinds[rnd.IntN(len(kinds))]), rnd: rnd}
	m := maker{x}
	m.actions()
	if rnd.IntN(4) == 0 {
		x = m.saved(t)
	}
	x.readStates()
	return x
}

// readStates reads all states that there are.
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

// report fails with what is contradictory.
func (x *exam) report() {
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

// asSaved adds to a state of a file what was unreachable when it was written.
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

// some are up to n different elements of a list.
func some[T any](rnd *rand.Rand, n int, list []T) (chosen []T) {
	for _, i := range rnd.Perm(len(list))[:min(n, len(list))] {
		chosen = append(chosen, list[i])
	}
	return chosen
}

// pending covers what the commands do not yet count as the model does.
const pending = false

// hasUnreachable reports whether a failure made end ports of the state unreachable.
func (s *state) hasUnreachable() bool {
	return slices.ContainsFunc(s.ends(true), func(e endPort) bool { return e.own == nil })
}

// hasUnassigned reports whether an end port has no LID.
func (s *state) hasUnassigned() bool {
	return slices.ContainsFunc(s.ends(true), func(e endPort) bool { return e.port().lid == 0 })
}

// lmc is the highest LMC of its end ports.
func (s *state) lmc() int {
	most := 0
	for p := range s.net.ends(false) {
		most = max(most, p.lmc)
	}
	return most
}

// pairsOf are all ordered pairs of different end ports.
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

// everything asks all commands about all states.
func (x *exam) everything() {
	if pending {
		x.showStates()
	}
	for _, s := range x.states {
		if (s.hasUnassigned() || x.isStale(s)) && !pending {
			continue
		}
		x.showNodes(s, "nodes")
		x.showNodes(s, "switches")
		if !s.hasUnreachable() || pending {
			x.showLinks(s)
		}
		if s.routed() {
			x.ofTables(s)
		}
	}
	for _, a := range x.states {
		for _, b := range x.states {
			if a != b && a.routed() && b.routed() && (pending || !a.hasUnassigned() && !b.hasUnassigned() && !x.isStale(a) && !x.isStale(b)) {
				x.diff(a, b)
			}
		}
	}
}

// ofTables asks the commands that follow paths.
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
	if s.lmc() == 0 && !s.hasUnreachable() || pending {
		x.hostSet(s, some(x.rnd, 2+x.rnd.IntN(6), slices.Collect(x.state("live").net.ends(false))))
	}
	x.balanceSwitches(s)
	x.balanceLIDs(s)
	for _, p := range some(x.rnd, 3, slices.Collect(s.net.ends(true))) {
		x.pathsQuery(s, p)
	}
	x.pathsBuild(s)
	for _, pair := range some(x.rnd, 5, pairsOf(s.ends(true))) {
		against := x.states[x.rnd.IntN(len(x.states))]
		if !against.routed() || x.isStale(against) || against.hasUnassigned() {
			against = s
		}
		x.trace(s, pair[0], pair[1], against)
	}
}
