// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestStoppedOverIbsim ends commits over ibsim at random Sets in every manner. The next console says so first, and
// going on or back leaves the tables that an undisturbed commit left.
func TestStoppedOverIbsim(t *testing.T) {
	rnd := testenv.Rand(t)
	n := newSubnet(t, "fattree:2,8")
	n.Other = sessiontest.Ibsim(t, "sim:fattree:2,8")
	engines := [][]string{{"minhop"}, {"minhop", "port_shifting=TRUE"}}
	var tables [2]string
	sets := 0
	for i, engine := range [][]string{engines[0], engines[1], engines[0]} {
		s := n.Console()
		n.Route(s, engine...)
		err := n.cut(0, nil, func(ctx context.Context) error { _, err := commits.Commit(ctx, s, yes); return err })
		if err != nil {
			t.Fatal(err)
		}
		sets = n.wire.sets
		n.Leave()
		tables[i%2] = n.Held()
	}
	now, resumed, done := 0, 0, 0
	stopped := map[error]int{}
	for i := range testenv.Count(t, 11, 300) {
		cause, at := causes[i%len(causes)], 1+rnd.IntN(sets)
		s := n.Console()
		n.Route(s, engines[1-now]...)
		err := n.cut(at, cause, func(ctx context.Context) error { _, err := commits.Commit(ctx, s, yes); return err })
		n.Leave()
		s = n.Console()
		if err == nil { // its last Set was the one
			done++
			now = 1 - now
			n.Leave()
			continue
		}
		stopped[cause]++
		expectOpen(t, s)
		if rnd.IntN(2) == 0 {
			resumed++
			now = 1 - now
			_, err = commits.Resume(t.Context(), s, yes)
		} else {
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		}
		n.Leave()
		if err != nil || n.Held() != tables[now] {
			t.Fatalf("round %d, %v at Set %d of %d: %v, or other tables", i, cause, at, sets, err)
		}
	}
	t.Logf("stopped by %v; %d resumed, the others rolled back; %d were complete", stopped, resumed, done)
}
