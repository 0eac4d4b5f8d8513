// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

// family are the engines that choose among ports of the fewest hops.
var family = []routing.Engine{minhop.Engine{}, minhop.DOR{}, updn.Engine{}, updn.DnUp{}}

// The least hop count of a switch is that of its best port, and a table leads
// out by such a port.
func TestLeastHopsAreThoseOfAPort(t *testing.T) {
	r := testenv.Rand(t)
	for range 400 {
		what, f := randomFabric(t, r)
		f, err := fabric.AssignLIDs(f)
		if err != nil {
			t.Fatal(err)
		}
		opt := randomOptions(r, f)
		e := family[r.IntN(len(family))]
		res, err := routing.Route(context.Background(), e, f, opt)
		if _, ok := errors.AsType[*routing.RefusedError](err); ok {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			for d := range fabric.SwitchIndex(len(f.Switches)) {
				checkHops(t, what+" by "+e.Name(), res, s, d)
			}
		}
	}
}

func checkHops(t *testing.T, what string, res *routing.Result, s, d fabric.SwitchIndex) {
	t.Helper()
	f := res.Tables.Fabric
	least, best := res.Hops.Least(s, d), uint8(routing.NoHops)
	for p := 1; p <= int(f.SwitchNode(s).NumPorts); p++ {
		best = min(best, res.Hops.Through(s, uint8(p), d))
	}
	out := res.Tables.Port(s, f.SwitchLID(d))
	switch {
	case s == d && f.SwitchNode(s).InSubnet:
		if least != 0 || out != 0 {
			t.Fatalf("%s: %d hops from switch %d to itself, by port %d", what, least, s, out)
		}
	case best != least:
		t.Fatalf("%s: %d hops from switch %d to %d, its best port has %d", what, least, s, d, best)
	case (least == routing.NoHops) != (out == fabric.NoPath) ||
		(out != fabric.NoPath && res.Hops.Through(s, out, d) != least):
		t.Fatalf("%s: switch %d sends to %d by port %d, which has %d hops, not %d", what, s, d, out,
			res.Hops.Through(s, out, d), least)
	}
}
