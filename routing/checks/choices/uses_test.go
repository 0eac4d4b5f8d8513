// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/checks/uses"
)

// TestUsersAgainstEnumeration compares the users of a link or switch and their shares with walks along each single
// path. Without adaptive routing it also compares with package uses if all paths arrive.
func TestUsersAgainstEnumeration(t *testing.T) {
	r := testenv.Rand(t)
	var pairs, parts int64
	for i, want := 0, testenv.Count(t, 40, 500); i < want && !t.Failed(); {
		f := treestest.Random(t, r)
		tables := *shortest(t, f)
		switch r.IntN(3) {
		case 0:
			tables.Adaptive = treestest.RandomAdaptive(r, &tables)
		case 1:
			tables.Adaptive = nil
		}
		what := someOf(r, f)
		plain, ok := walkUsers(&tables, what)
		if !ok {
			continue
		}
		i++
		got, err := UsersOf(t.Context(), &tables, what, Options{Examples: math.MaxInt32})
		if err != nil {
			t.Fatal(err)
		}
		if got.Paths != plain.Paths || math.Abs(got.Packets-plain.Packets) > 1e-6 ||
			len(got.Examples) != len(plain.Examples) {
			t.Errorf("case %d: %d paths, %v packets; walked %d and %v", i, got.Paths, got.Packets, plain.Paths,
				plain.Packets)
			continue
		}
		slices.SortFunc(got.Examples, func(a, b Use) int {
			return cmp.Or(cmp.Compare(a.LID, b.LID), cmp.Compare(a.Src, b.Src))
		})
		for at, e := range got.Examples {
			w := plain.Examples[at]
			if e.Src != w.Src || e.Dst != w.Dst || e.LID != w.LID || math.Abs(e.Share-w.Share) > 1e-9 {
				t.Errorf("case %d: %+v, walked %+v", i, e, w)
			}
			if e.Share > 0 && e.Share < 1 {
				parts++
			}
		}
		sumUp(t, got)
		pairs += got.Paths
		if tables.Adaptive == nil {
			asStatic(t, &tables, what, got)
		}
	}
	t.Logf("%d pairs, %d of them with a part of their packets", pairs, parts)
	if parts == 0 {
		t.Error("want pairs that take it with a part of their packets")
	}
}

// sumUp checks that the counts of ends add up to those of pairs.
func sumUp(t *testing.T, u *Users) {
	t.Helper()
	for name, ends := range map[string][]User{"from": u.Sources, "to": u.Destinations} {
		paths, packets := int64(0), 0.0
		for _, e := range ends {
			paths += e.Paths
			packets += e.Packets
		}
		if paths != u.Paths || math.Abs(packets-u.Packets) > 1e-6 {
			t.Errorf("%s: %d paths and %v packets of %d and %v", name, paths, packets, u.Paths, u.Packets)
		}
	}
}

func asStatic(t *testing.T, tables *fabric.Tables, what uses.Target, got *Users) {
	t.Helper()
	static, err := uses.Find(t.Context(), tables, what, uses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Check(t.Context(), tables, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all.Sure != all.Paths {
		return
	}
	if static.Paths != got.Paths || len(static.Sources) != len(got.Sources) ||
		len(static.Destinations) != len(got.Destinations) {
		t.Errorf("%d paths by the linear tables, %d by choices", static.Paths, got.Paths)
	}
}

// someOf returns a random link, switch or both.
func someOf(r *rand.Rand, f *fabric.Fabric) (what uses.Target) {
	kind := r.IntN(3)
	if kind != 0 {
		what.Links = someLinks(r, f)[:1]
	}
	if kind != 1 {
		what.Switches = []fabric.SwitchIndex{fabric.SwitchIndex(r.IntN(len(f.Switches)))}
	}
	return what
}

// walkUsers walks all paths of all pairs, and reports whether they were few enough.
func walkUsers(tables *fabric.Tables, what uses.Target) (*Users, bool) {
	f := tables.Fabric
	passes := func(w way) bool {
		return slices.ContainsFunc(w.ports, func(p fabric.PortIndex) bool {
			into := f.Nodes[f.Ports[f.Ports[p].Peer].Node]
			return slices.ContainsFunc(what.Links, func(l fabric.Link) bool { return l.A == p || l.B == p }) ||
				into.IsSwitch() && slices.Contains(what.Switches, into.Switch)
		})
	}
	var u Users
	for lid := uint16(1); lid <= f.MaxLID; lid++ {
		dst := f.PortByLID(lid)
		if dst == fabric.None || f.Nodes[f.Ports[dst].Node].IsSwitch() {
			continue
		}
		for _, src := range f.EndPorts {
			if src == dst || f.Nodes[f.Ports[src].Node].IsSwitch() {
				continue
			}
			p := from(tables, src, lid)
			if p.steps > stop {
				return nil, false
			}
			can, share := false, 0.0
			for _, w := range p.went {
				if passes(w) {
					can, share = true, share+w.share
				}
			}
			if p.endings&Loops != 0 {
				share = 0
				if slices.ContainsFunc(what.Links, func(l fabric.Link) bool { return l.A == src || l.B == src }) {
					share = 1
				}
			}
			if can {
				u.Paths++
				u.Packets += share
				u.Examples = append(u.Examples, Use{src, dst, lid, share})
			}
		}
	}
	return &u, true
}
