// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
)

func problemsOf(t *testing.T, f *fabric.Fabric, opt routing.Options) []Problem {
	t.Helper()
	_, err := Engine{}.Route(t.Context(), f, opt)
	var e *NotFatTreeError
	var refused *routing.RefusedError
	if !errors.As(err, &e) || !errors.As(err, &refused) || refused.Engine != "ftree" {
		t.Fatalf("%v, expected a refusal", err)
	}
	return e.Problems
}

// All rules that a fabric breaks are listed, with all switches. If a fat-tree lacks a link, the leaf and the spine at
// its ends have a neighbour less; if it lacks one of parallel links, they have fewer links to one neighbour.
func TestProblems(t *testing.T) {
	complete := gentest.WithLIDs(t, "fattree:2,8")
	bundles := gentest.WithLIDs(t, "xgft:2,2,4,1,3,1,2")
	damaged := without(t, without(t, complete, "leaf-03", "spine-02"), "leaf-05", "spine-04")
	for _, c := range []struct {
		title string
		f     *fabric.Fabric
		opt   routing.Options
		want  []string
	}{
		{"LMC", complete, routing.Options{LMC: 1, ComputeNodes: []uint64{}, BrokenNodeFile: "io_guid_file"},
			[]string{"the LMC is 1", "cn_guid_file names no node", "io_guid_file has a line"}},
		{"one switch", gentest.WithLIDs(t, "xgft:1,4,1"), routing.Options{}, []string{"1 switches, expected 2"}},
		{"all with hosts", gentest.WithLIDs(t, "torus:4x4"), routing.Options{}, []string{"all 16 switches are roots"}},
		{
			"no compute nodes", complete, routing.Options{ComputeNodes: []uint64{1}},
			[]string{"none of the channel adapters is a compute node"},
		},
		{"links gone", damaged, routing.Options{}, []string{
			"rank 1: most switches have 4 upper neighbours, but leaf-03 3, leaf-05 3",
			"rank 0: most switches have 8 lower neighbours, but spine-02 7, spine-04 7"}},
		{"links of a bundle gone", without(t, bundles, "leaf-02", "spine-01"), routing.Options{}, []string{
			"rank 1: most switches have 2 links to an upper neighbour, but leaf-02 1 and 2",
			"rank 0: most switches have 2 links to a lower neighbour, but spine-01 1 and 2"}},
		{"roots among leaves", complete, routing.Options{
			RootGUIDs: []uint64{complete.SwitchNode(named(t, complete, "leaf-01")[0]).GUID},
		}, []string{
			"the tree has 1 ranks", "compute nodes are expected on switches of rank 0 alone: leaf-02 has 4 at rank 2"}},
	} {
		ps := problemsOf(t, c.f, c.opt)
		if len(ps) != len(c.want) {
			t.Errorf("%s: %+v, want %d problems", c.title, ps, len(c.want))
			continue
		}
		for _, want := range c.want {
			if !slices.ContainsFunc(ps, func(p Problem) bool { return strings.Contains(p.Text, want) }) {
				t.Errorf("%s: %+v, want %q", c.title, ps, want)
			}
		}
	}
	for _, p := range problemsOf(t, damaged, routing.Options{}) {
		want := named(t, damaged, "spine-02 spine-04")
		if p.Rule == UpGroups {
			want = named(t, damaged, "leaf-03 leaf-05")
		}
		slices.Sort(want)
		if !slices.Equal(p.Switches, want) {
			t.Errorf("%q concerns %v, want %v", p.Text, p.Switches, want)
		}
	}
	// With given roots, the fabric need not be pure.
	var spines []uint64
	for i := range 4 {
		spines = append(spines, damaged.SwitchNode(named(t, damaged, fmt.Sprintf("spine-0%d", i+1))[0]).GUID)
	}
	if res := routed(t, damaged, routing.Options{RootGUIDs: spines}); len(res.Roots) != 4 {
		t.Errorf("%d roots", len(res.Roots))
	}
}

// OpenSM compares switches with the first one of their rank, here X, and only their first lower neighbour, here Y,
// which it found from leaf A. So it does not see the second link from X to T.
func TestUncheckedRule(t *testing.T) {
	n := drawn(t, "c1 c2 A B X Y S T", "c1-A c2-B A-Y B-X X-S X-T X-T Y-S Y-T")
	res := routed(t, n.f, routing.Options{})
	for _, want := range []string{
		"rank 0: most switches have 1 links to a lower neighbour, but T 1 and 2; OpenSM does not check this",
		"rank 1: most switches have 1 links to an upper neighbour, but X 1 and 2; OpenSM does not check this",
	} {
		if !slices.Contains(res.Warnings, want) {
			t.Errorf("warnings %q, want %q", res.Warnings, want)
		}
	}
}

// Leaves with fewer compute nodes than the fullest one are padded with gaps.
func TestCAOrder(t *testing.T) {
	n := drawn(t, "c1 c2 c3 c4 A B C S T", "c1-A c2-B c3-B c4-C A-S A-T B-S B-T C-S C-T")
	res := routed(t, n.f, routing.Options{})
	var got []string
	for _, e := range res.CAOrder {
		if e == fabric.None {
			got = append(got, "-")
		} else {
			got = append(got, n.f.Nodes[n.f.Ports[e].Node].Desc)
		}
	}
	if want := "c1 - c2 c3 c4 -"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if res.Ranks[n.sw("A")] != 1 || res.Ranks[n.sw("T")] != 0 ||
		!slices.Equal(res.Roots, []fabric.SwitchIndex{n.sw("S"), n.sw("T")}) {
		t.Errorf("ranks %v, roots %v", res.Ranks, res.Roots)
	}
}

// With connect_roots spines reach one another over a leaf.
func TestConnectRoots(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,8")
	apart, joined := routed(t, f, routing.Options{}), routed(t, f, routing.Options{ConnectRoots: true})
	a, b := named(t, f, "spine-01")[0], named(t, f, "spine-02")[0]
	if p := apart.Tables.Port(a, f.SwitchLID(b)); p != fabric.NoPath {
		t.Errorf("spine to spine by port %d", p)
	}
	if p := joined.Tables.Port(a, f.SwitchLID(b)); p == fabric.NoPath || joined.Hops.Through(a, p, b) != 2 {
		t.Errorf("with connect_roots: spine to spine by port %d", p)
	}
	if len(apart.Warnings) != 1 || !strings.Contains(apart.Warnings[0], "12 of 132 pairs of switches have no route") ||
		len(joined.Warnings) > 0 {
		t.Errorf("warnings %q and %q", apart.Warnings, joined.Warnings)
	}
}

func TestProgressReachesTheEnd(t *testing.T) {
	for _, spec := range []string{"fattree:2,4", "fattree:3,8"} {
		most, all := 0, 0
		routed(t, gentest.WithLIDs(t, spec), routing.Options{Progress: func(done, total int) {
			if done < most || all != 0 && total != all {
				t.Errorf("%s: step %d of %d after %d of %d", spec, done, total, most, all)
			}
			most, all = done, total
		}})
		if most != all || all == 0 {
			t.Errorf("%s: the last of %d steps was %d", spec, all, most)
		}
	}
}

func TestCancelled(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:3,12")
	ctx, cancel := context.WithCancel(context.Background())
	opt := routing.Options{Progress: func(int, int) { cancel() }}
	if _, err := routing.Route(ctx, Engine{}, f, opt); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "ftree") {
		t.Errorf("in progress: %v", err)
	}
	if _, err := (Engine{}).Route(ctx, f, routing.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("before: %v", err)
	}
}

// Paths that may turn back often take nearly forever to compute; the context ends them.
func TestCancelledWhileTurningBack(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:3,8")
	var ios []uint64
	for _, e := range f.EndPorts[len(f.EndPorts)/2:] {
		ios = append(ios, f.Ports[e].GUID)
	}
	for _, early := range []bool{false, true} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		opt := routing.Options{IONodes: ios, MaxReverseHops: 60000, NoBullMinHop: early, NoBullSecondary: early}
		if _, err := routing.Route(ctx, Engine{}, f, opt); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
}

func TestBadInput(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,4")
	bare, err := f.WithLIDs(make([]uint16, len(f.EndPorts)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    *fabric.Fabric
		opt  routing.Options
		want string
	}{
		{bare, routing.Options{}, "has no LID"},
		{gentest.WithLIDs(t, "fattree:2,4"), routing.Options{LMC: 8}, "LMC 8, expected 0 to 7"},
		{
			gentest.WithLIDs(t, "fattree:2,4"), routing.Options{Existing: fabric.NewLFT(3, 9)},
			"existing tables of 3 switches, expected 6",
		},
	} {
		if _, err := (Engine{}).Route(t.Context(), c.f, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
