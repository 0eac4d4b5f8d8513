// SPDX-License-Identifier: Apache-2.0

package problems_test

import (
	"testing"
	"time"

	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sweep"
)

// TestIDs checks that problems of different objects have different IDs, also if the objects differ only in a number and
// are in no node of the subnet, and that a problem keeps its ID when its counts and causes change.
func TestIDs(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	report := func(times int, cause string) *problems.Report {
		r := &problems.Report{}
		var list unread.List
		for line := range 4 {
			list.Add(unread.At("a.topo", 11+line, "%d ports, expected at most 64", 65*times))
		}
		list.Count += times
		r.Unread(&list)
		l := &problems.SMLog{Traps: map[problems.Sender][]time.Time{}, Cause: cause}
		for range 10 * times {
			l.Heavy = append(l.Heavy, now)
			for _, s := range []problems.Sender{{128, 4001, 0}, {128, 4002, 0}, {128, 4002, 1}, {128, 4002, 2}} {
				l.Traps[s] = append(l.Traps[s], now)
			}
		}
		r.Manager(f, l, now)
		r.Managers(f, []problems.Manager{
			{State: "master", GUID: 1, Port: "sm-1/1"}, {State: "silent", GUID: 2, Port: "sm-2/1"},
			{State: "silent", GUID: 3, Port: "sm-3/1"},
		})
		r.Answers([]sweep.Unanswered{{Node: "sw-1", Port: 1}, {Node: "sw-1", Port: 2}, {Node: "sw-2", Port: 1}}, nil)
		for _, k := range []problems.Kind{problems.PathsLost, problems.CreditLoop} { // with another example
			r.Add(k, problems.Place{GUID: uint64(times), Port: times, Name: "sw/1"}, "", "%d paths", times)
		}
		for _, text := range []string{"sw-1 has %d", "sw-2 has %d", "node GUID 0x1 is used %d times"} {
			r.Add(problems.Noticed, problems.WholeSubnet, "", text, times)
		}
		return r
	}
	one, two := report(1, "after trap 128"), report(2, "after a change of a port")
	if len(one.Problems) != len(two.Problems) || len(one.Problems) < 4+1+1+4+2+3+2+3 {
		t.Fatalf("%d and %d problems", len(one.Problems), len(two.Problems))
	}
	seen := map[string]problems.Problem{}
	for i, p := range one.Problems {
		if other, known := seen[p.ID()]; known {
			t.Errorf("one ID for %q and %q", other.What, p.What)
		}
		seen[p.ID()] = p
		if q := two.Problems[i]; q.ID() != p.ID() || q.Kind != p.Kind {
			t.Errorf("another ID for %q than for %q", q.What, p.What)
		}
	}
}
