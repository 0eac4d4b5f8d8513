// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestStoppedOverIbsim ends commits over ibsim at random Sets in every manner. The next console says so first, and
// going on or back leaves the tables that an undisturbed commit left.
func TestStoppedOverIbsim(t *testing.T) {
	rnd := testenv.Rand(t)
	net := filepath.Join(t.TempDir(), "net")
	file, err := os.Create(net)
	if err != nil {
		t.Fatal(err)
	}
	if err := ibnet.Write(file, open(t, "sim:fattree:2,8").State().Live.Fabric, ibnet.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	n := &subnet{t: t, other: ibsimtest.Start(t, net), dir: t.TempDir()}
	engines := [][]string{{"minhop"}, {"minhop", "port_shifting=TRUE"}}
	var tables [2]string
	sets := 0
	for i, engine := range [][]string{engines[0], engines[1], engines[0]} {
		s := n.console()
		n.route(s, engine...)
		err := n.cut(0, nil, func(ctx context.Context) error { _, err := s.Commit(ctx, yes); return err })
		if err != nil {
			t.Fatal(err)
		}
		sets = n.wire.sets
		n.leave()
		tables[i%2] = n.held()
	}
	now, resumed, done := 0, 0, 0
	stopped := map[error]int{}
	for i := range testenv.Count(t, 11, 300) {
		cause, at := causes[i%len(causes)], 1+rnd.IntN(sets)
		s := n.console()
		n.route(s, engines[1-now]...)
		err := n.cut(at, cause, func(ctx context.Context) error { _, err := s.Commit(ctx, yes); return err })
		n.leave()
		s = n.console()
		if err == nil { // its last Set was the one
			done++
			now = 1 - now
			n.leave()
			continue
		}
		stopped[cause]++
		expectOpen(t, s)
		if rnd.IntN(2) == 0 {
			resumed++
			now = 1 - now
			_, err = s.Resume(t.Context(), yes)
		} else {
			_, _, err = s.Rollback(t.Context(), 0, yes)
		}
		n.leave()
		if err != nil || n.held() != tables[now] {
			t.Fatalf("round %d, %v at Set %d of %d: %v, or other tables", i, cause, at, sets, err)
		}
	}
	t.Logf("stopped by %v; %d resumed, the others rolled back; %d were complete", stopped, resumed, done)
}
