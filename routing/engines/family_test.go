// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

func route(t *testing.T, e routing.Engine, f *fabric.Fabric, opt routing.Options) *routing.Result {
	t.Helper()
	res, err := routing.Route(context.Background(), e, f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCancelled(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,8")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range family {
		if res, err := routing.Route(ctx, e, f, routing.Options{}); !errors.Is(err, context.Canceled) || res != nil {
			t.Errorf("%s: %v, want that it was cancelled", e.Name(), err)
		}
	}
}

// TestCancelledInProgress cancels when half of the progress is reported.
func TestCancelledInProgress(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:3,12")
	for _, e := range family {
		ctx, cancel := context.WithCancel(context.Background())
		opt := routing.Options{Progress: func(done, total int) {
			if 2*done > total {
				cancel()
			}
		}}
		if _, err := routing.Route(ctx, e, f, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that it was cancelled", e.Name(), err)
		}
		cancel()
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:3,8")
	spines := switchesNamed(f, "spine")
	for _, e := range family {
		for _, opt := range []routing.Options{{}, {ConnectRoots: true}, {ScatterPorts: 1}, {RootGUIDs: spines}} {
			var mu sync.Mutex
			most, all := 0, 0
			opt.Progress = func(done, total int) {
				mu.Lock()
				defer mu.Unlock()
				if most = max(most, done); all != 0 && total != all {
					t.Errorf("%s: %d steps, before it were %d", e.Name(), total, all)
				}
				all = total
			}
			route(t, e, f, opt)
			if most != all || all == 0 {
				t.Errorf("%s: the last of %d steps was %d", e.Name(), all, most)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	whole := gentest.WithLIDs(t, "fattree:2,4")
	for _, c := range []struct {
		f    *fabric.Fabric
		opt  routing.Options
		want string
	}{
		{gentest.Fabric(t, "fattree:2,4"), routing.Options{}, "has no LID"},
		{whole, routing.Options{LMC: 8}, "LMC 8, expected 0 to 7"},
		{whole, routing.Options{Existing: fabric.NewLFT(3, 9)}, "existing tables of 3 switches, expected 6"},
	} {
		for _, e := range family {
			_, err := routing.Route(context.Background(), e, c.f, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), e.Name()) {
				t.Errorf("%s: %v, want %q", e.Name(), err, c.want)
			}
		}
	}
}

// twoAdapters returns a subnet without switches: one cable.
func twoAdapters(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range 2 {
		n, err := b.AddNode(fabric.Node{GUID: uint64(16 * (i + 1)), Type: mad.NodeCA, NumPorts: 1, Desc: "host"})
		if err != nil {
			t.Fatal(err)
		}
		b.Port(n, 1).GUID = uint64(16*(i+1) + 1)
	}
	if err := b.Connect(0, 1, 1, 1); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNoSwitches(t *testing.T) {
	f := twoAdapters(t)
	for _, e := range family {
		res, err := routing.Route(context.Background(), e, f, routing.Options{})
		var refused *routing.RefusedError
		if !errors.As(err, &refused) && (err != nil || res.Tables.LFT.Switches() != 0) {
			t.Errorf("%s: %v, expected no tables", e.Name(), err)
		}
	}
}

// An order, ports and roots that the subnet does not have change nothing.
func TestUnknownNamesAreIgnored(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:3,4")
	unknown := routing.SwitchPort{GUID: 0xdead, Port: 1}
	beyond := routing.SwitchPort{GUID: f.SwitchNode(0).GUID, Port: 200}
	opt := routing.Options{
		IDs: map[uint64]uint64{0xdead: 1}, RoutingOrder: []uint64{0xdead},
		IgnoredPorts: map[routing.SwitchPort]bool{unknown: true, beyond: true},
		HopWeights:   map[routing.SwitchPort]uint8{unknown: 7, beyond: 7},
		PortSearchOrder: []routing.PortOrder{
			{GUID: 0xdead, Ports: []uint8{2, 1}}, {GUID: f.SwitchNode(0).GUID, Ports: []uint8{4, 200}},
		},
	}
	for _, e := range family {
		want, got := route(t, e, f, routing.Options{}).Tables.LFT, route(t, e, f, opt).Tables.LFT
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			if string(want.Row(s)) != string(got.Row(s)) {
				t.Errorf("%s: the table of switch %d changed", e.Name(), s)
			}
		}
	}
}

func switchesNamed(f *fabric.Fabric, prefix string) []uint64 {
	var guids []uint64
	for s := range f.NumSwitches() {
		if n := f.SwitchNode(s); strings.HasPrefix(n.Desc, prefix) {
			guids = append(guids, n.GUID)
		}
	}
	return guids
}

func TestUpDownFindsSpines(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,12")
	found := route(t, updn.Engine{}, f, routing.Options{})
	given := route(t, updn.Engine{}, f, routing.Options{RootGUIDs: switchesNamed(f, "spine")})
	for s := range f.NumSwitches() {
		want := int32(1)
		if strings.HasPrefix(f.SwitchNode(s).Desc, "spine") {
			want = 0
		}
		if found.Ranks[s] != want || given.Ranks[s] != want {
			t.Errorf("%s has rank %d, %d with roots given, want %d", f.SwitchNode(s).Desc, found.Ranks[s],
				given.Ranks[s], want)
		}
	}
	if len(found.Roots) != 6 || len(given.Roots) != 6 {
		t.Errorf("roots %d, and %d of those given, want the 6 spines", found.Roots, given.Roots)
	}
}

func TestUpDownWarns(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,12")
	res := route(t, updn.Engine{}, f, routing.Options{})
	// Of 18 switches the 6 spines have no path to one another.
	want := "30 of 306 pairs of switches have no route, 0 of them with hosts on both (the first: spine-01 to " +
		"spine-02); connect_roots would route them"
	if len(res.Warnings) != 1 || res.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", res.Warnings, want)
	}
	if res := route(t, updn.Engine{}, f, routing.Options{ConnectRoots: true}); len(res.Warnings) > 0 {
		t.Errorf("with connect_roots: %q", res.Warnings)
	}
	spine := f.Switches[f.SwitchByGUID(switchesNamed(f, "spine")[0])]
	moved, err := f.WithSMPort(f.Port(spine, 0))
	if err != nil {
		t.Fatal(err)
	}
	res = route(t, updn.Engine{}, moved, routing.Options{})
	want = "10 of them include spine-01, the SM's own switch: the SM belongs on a leaf switch"
	if len(res.Warnings) != 2 || res.Warnings[1] != want {
		t.Errorf("SM on a spine: warnings %q, want %q last", res.Warnings, want)
	}
}

func TestRefusals(t *testing.T) {
	hostless := gentest.Fabric(t, "random:4,2,1")
	sw, _ := hostless.AttachedSwitch(hostless.EndPorts[0])
	hostless, err := hostless.WithSMPort(hostless.Port(hostless.Switches[max(sw, 0)], 0))
	if err != nil {
		t.Fatal(err)
	}
	var cut []fabric.Link
	for _, l := range hostless.Links() {
		if hostless.PeerSwitch(l.A) == fabric.None || hostless.PeerSwitch(l.B) == fabric.None {
			cut = append(cut, l)
		}
	}
	if hostless, err = fabric.AssignLIDs(hostless.Without(cut)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		e    routing.Engine
		f    *fabric.Fabric
		opt  routing.Options
		want string
	}{
		{
			updn.Engine{}, gentest.WithLIDs(t, "torus:4x4"), routing.Options{},
			"no roots found: from no switch are more than 90 % of the 16 host ports",
		},
		{
			updn.Engine{}, gentest.WithLIDs(t, "fattree:2,4"), routing.Options{RootGUIDs: []uint64{1, 2}},
			"none of the 2 root GUIDs is that of a switch of the subnet",
		},
		{updn.Engine{}, hostless, routing.Options{}, "no roots found: there are no hosts"},
		{updn.DnUp{}, hostless, routing.Options{}, "no switch has hosts"},
	} {
		_, err := routing.Route(context.Background(), c.e, c.f, c.opt)
		var refused *routing.RefusedError
		if !errors.As(err, &refused) || refused.Engine != c.e.Name() || !strings.HasPrefix(refused.Reason, c.want) {
			t.Errorf("%s: %v, want that it refuses: %s", c.e.Name(), err, c.want)
		}
	}
}

func TestDimensions(t *testing.T) {
	for _, spec := range []string{"hypercube:4", "mesh:4x3", "torus:4x3x3", "torus:5x4,links=2"} {
		if w := route(t, minhop.DOR{}, gentest.WithLIDs(t, spec), routing.Options{}).Warnings; len(w) > 0 {
			t.Errorf("%s: %q", spec, w)
		}
	}
	res := route(t, minhop.DOR{}, gentest.WithLIDs(t, "random:12,3,12"), routing.Options{})
	if len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "is not one dimension: its cables lead to port") {
		t.Errorf("a random graph: %q", res.Warnings)
	}
}

// The expected numbers are those of the mail that proposed port shifting, nine hosts behind three ports
// (https://lore.kernel.org/all/1297388014.18394.302.camel@auk59.llnl.gov).
func TestPortShifting(t *testing.T) {
	f := threeCables(t)
	lft := route(t, minhop.Engine{}, f, routing.Options{PortShifting: true}).Tables.LFT
	near := f.SwitchByGUID(0x100)
	for port, hosts := range map[uint8][]int{1: {1, 6, 8}, 2: {2, 4, 9}, 3: {3, 5, 7}} {
		for _, h := range hosts {
			lid := f.Ports[f.PortByGUID(uint64(0x1000*h+1))].LID
			if got := lft.Port(near, lid); got != port {
				t.Errorf("host %d is behind port %d, want %d", h, got, port)
			}
		}
	}
}

// family are the engines that choose among ports with the fewest hops.
var family = []routing.Engine{minhop.Engine{}, minhop.DOR{}, updn.Engine{}, updn.DnUp{}}

// The least hop count of a switch is that of its best port, and tables use such a port.
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

// threeCables returns two switches with three cables between them, 0x100 with the SM's host and 0x200 with nine hosts,
// whose node GUIDs are 0x1000 to 0x9000.
func threeCables(t *testing.T) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	add := func(kind mad.NodeType, guid uint64, ports uint8) fabric.NodeIndex {
		n, err := b.AddNode(fabric.Node{GUID: guid, Type: kind, NumPorts: ports, Desc: fmt.Sprintf("%x", guid)})
		if err != nil {
			t.Fatal(err)
		}
		if kind != mad.NodeSwitch {
			b.Port(n, 1).GUID = guid + 1
		}
		return n
	}
	link := func(a fabric.NodeIndex, pa int, c fabric.NodeIndex, pc int) {
		if err := b.Connect(a, pa, c, pc); err != nil {
			t.Fatal(err)
		}
	}
	sm := add(mad.NodeCA, 0xf000, 1)
	near, far := add(mad.NodeSwitch, 0x100, 12), add(mad.NodeSwitch, 0x200, 12)
	link(sm, 1, near, 12)
	for p := 1; p <= 3; p++ {
		link(near, p, far, 9+p)
	}
	for h := 1; h <= 9; h++ {
		link(add(mad.NodeCA, uint64(0x1000*h), 1), 1, far, h)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f
}
