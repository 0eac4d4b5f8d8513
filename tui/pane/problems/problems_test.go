// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"testing"

	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// TestUnknownIsListed checks that a possible problem is a note with a next step, and that a skipped check is not
// listed.
func TestUnknownIsListed(t *testing.T) {
	var r found.Report
	r.Skip("flapping links", "watch 10", "the subnet is not watched")
	r.Unknown("credit loops", "calibrate", "the service levels of paths were not read")
	want := []found.Problem{
		{
			Severity: found.Note, Kind: "credit loops", At: found.WholeSubnet,
			What: "unknown: the service levels of paths were not read", Try: "calibrate",
		},
	}
	if got := reported(&r); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestGroups checks that four similar problems are one row, which opens, and three are three.
func TestGroups(t *testing.T) {
	many := func(n int, k found.Kind) []found.Problem {
		var out []found.Problem
		for i := range n {
			out = append(out, found.Problem{Severity: found.Warning, Kind: k, What: fmt.Sprintf("%s %d", k, i),
				At: found.Place{GUID: uint64(i + 1), Name: fmt.Sprintf("sw-%d", i)}})
		}
		return out
	}
	c := &pane.Common{Look: &draw.Theme{}}
	l := New(c, nil).(*problems)
	rows := l.grouped(slices.Concat(many(3, found.Narrow), many(5, found.Slow)))
	if len(rows) != 4 || rows[3].object() != "5 places" || rows[3].What != "sw-0, sw-1, sw-2, sw-3, ..." ||
		string(rows[0].Kind) != "narrow link" {
		t.Errorf("%+v", rows)
	}
	l.open = map[found.Kind]bool{found.Slow: true}
	if rows := l.grouped(many(5, found.Slow)); len(rows) != 6 || rows[0].group != 5 || rows[5].What != "slow link 4" {
		t.Errorf("opened: %+v", rows)
	}
}
