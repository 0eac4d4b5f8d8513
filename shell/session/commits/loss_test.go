// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestLossyCommits commits while 2 %, 10 % and 35 % of requests and of answers are lost; what tries do not make up for
// stops it. A commit ends complete, or stops and says so; every entry of the tables is the old or the new one; and then
// it is resumed or rolled back, under the same loss, until the tables are byte for byte what the journal says.
func TestLossyCommits(t *testing.T) {
	t.Parallel() // it waits for time-outs
	rnd := testenv.Rand(t)
	n := newSubnet(t, "fattree:2,8")
	n.Client = new(mad.Fast())
	n.Client.Timeout = 2 * time.Millisecond
	tables := make([]string, 2)
	lfts := make([]*fabric.Tables, 2)
	lose := func(loss float64) { n.Sim.SetFaults(sim.Faults{Loss: loss, Seed: rnd.Uint64()}) }
	for i := range tables {
		s := n.Console()
		n.Route(s, sessiontest.Engines[2*i]...)
		if _, err := commits.Commit(t.Context(), s, yes); err != nil {
			t.Fatal(err)
		}
		n.Leave()
		tables[i], lfts[i] = n.Held(), n.LFT()
	}
	count := map[string]int{}
	now := 1
	for i := range testenv.Count(t, 8, 300) {
		loss := []float64{0.02, 0.10, 0.35}[i%3]
		s := n.Console()
		n.Route(s, sessiontest.Engines[2*(1-now)]...)
		lose(loss)
		_, err := commits.Commit(t.Context(), s, yes)
		n.Leave()
		lose(0)
		left := n.LFT()
		switch stray := strays(left, lfts); {
		case stray != "":
			t.Fatalf("round %d, %v: %s", i, err, stray)
		case err == nil:
			count[fmt.Sprintf("%g %% complete", 100*loss)]++
			now = 1 - now
		default:
			next := n.Console()
			open := next.State().Interrupted != ""
			n.Leave()
			if !open { // it had not begun
				count[fmt.Sprintf("%g %% refused", 100*loss)]++
				if !errors.Is(err, mad.ErrTimeout) && !strings.Contains(err.Error(), "answer") {
					t.Errorf("round %d: %v", i, err)
				}
				break
			}
			count[fmt.Sprintf("%g %% stopped", 100*loss)]++
			forward := rnd.IntN(2) == 0
			if forward {
				now = 1 - now
			}
			n.finishUnder(t, forward, func() { lose(loss) }, func() { lose(0) })
		}
		if n.Held() != tables[now] {
			t.Fatalf("round %d, %g lost: %v: other tables than the journal says", i, loss, err)
		}
	}
	t.Logf("%v", count)
}

// finishUnder resumes or rolls back a commit, with loss as begin says, in as many tries as it takes, each by another
// console.
func (n *subnet) finishUnder(t *testing.T, forward bool, begin, end func()) {
	t.Helper()
	for range 40 {
		s := n.Console()
		if s.State().Interrupted == "" {
			return
		}
		begin()
		var err error
		if forward {
			_, err = commits.Resume(t.Context(), s, yes)
		} else {
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		}
		end()
		n.Leave()
		if err == nil {
			return
		}
	}
	t.Fatal("forty tries did not end it")
}

// strays names an entry that is in none of the tables, "" where there is none.
func strays(left *fabric.Tables, of []*fabric.Tables) string {
	for sw := range left.Fabric.NumSwitches() {
		for lid := range left.Top[sw] + 1 {
			if is := left.Port(sw, lid); !slices.ContainsFunc(of, func(t *fabric.Tables) bool {
				return t.Port(sw, lid) == is
			}) {
				return fmt.Sprintf("switch %d, LID %d leads to port %d", sw, lid, is)
			}
		}
	}
	return ""
}
