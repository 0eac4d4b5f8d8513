// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	simulated "example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// whatIfEvents is the number of events in a sequence.
const whatIfEvents = 5

// TestWhatIfsEqualOpenSM makes five failures and repairs in a subnet with OpenSM, and simulates the same in a session:
// the tables are the same after each.
func TestWhatIfsEqualOpenSM(t *testing.T) {
	repeat(t, 4, 300, 5, func(t *testing.T, r *rand.Rand, _ int) { simulateLife(t, r) })
}

func simulateLife(t *testing.T, r *rand.Rand) {
	chain := randomChain(r)
	if r.IntN(3) == 0 {
		chain = [][]string{{"ftree"}, {"ftree", "updn"}, {"sssp"}, {"dfsssp"}, {"lash"}, {"nue"}}[r.IntN(6)]
	}
	l := newLife(t, r, chain, r.IntN(3) == 0)
	l.still = true
	l.run(t)
	s := sessionOn(t, l)
	for range whatIfEvents {
		before := l.lost
		if !l.happen(r) {
			break
		}
		l.run(t)
		simulateEvents(t, s, l.whole, before, l.lost)
		fig, err := s.Route(t.Context(), compute.KeepAsOpenSM)
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		l.events = append(l.events, fmt.Sprintf("=> %s, kept %v, back %v", fig.Engine, fig.Kept, fig.RecomputedAll))
		if err := sameLFTs(l.manager.dir, &routing.Result{Tables: s.State().Staged.Tables}); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	t.Log(l)
}

// sessionOn opens a session on the subnet with the settings of its OpenSM.
func sessionOn(t *testing.T, l *life) *session.Session {
	t.Helper()
	src, err := source.Parse("ibsim:" + l.sim.Name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	set, err := session.ReadConf(t.Context(), s, l.manager.conf, l.trial.chain, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	return s
}

// simulateEvents simulates the failures and repairs between two states of the subnet.
func simulateEvents(t *testing.T, s *session.Session, whole *fabric.Fabric, before, after []fabric.Link) {
	t.Helper()
	live := s.State().Live.Fabric
	in := func(l fabric.Link) fabric.Link {
		p := &whole.Ports[l.A]
		link, _ := live.LinkOf(live.Port(live.NodeByGUID(whole.Nodes[p.Node].GUID), p.Num))
		return link
	}
	lost := slices.DeleteFunc(slices.Clone(after), func(l fabric.Link) bool { return slices.Contains(before, l) })
	if len(lost) > 0 {
		var all simulated.Failure
		for _, l := range lost {
			all.Links = append(all.Links, in(l))
		}
		if _, err := s.Fail(t.Context(), func(_, _ *fabric.Fabric) ([]simulated.Failure, error) {
			return []simulated.Failure{all}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range before {
		if slices.Contains(after, l) {
			continue
		}
		l := in(l)
		if _, err := s.Restore(t.Context(), func(f simulated.Failure) bool {
			return !f.Repair && slices.Equal(f.Links, []fabric.Link{l})
		}, simulated.OfLink(live, l)); err != nil {
			t.Fatal(err)
		}
	}
}
