// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing/classify"
)

func made(t *testing.T, spec string) (*fabric.Fabric, *classify.Structure) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f, classify.Recognise(f, nil)
}

// rows formats a drawing: one line for each row, with the name or number of switches of each block, hosts, and cables.
func rows(d *Drawing) (lines []string) {
	for _, r := range d.Rows {
		words := []string{r.Name + ":"}
		for _, at := range r.Blocks {
			if at == Vacant {
				words = append(words, "-")
				continue
			}
			b := &d.Blocks[at]
			words = append(words, fmt.Sprintf("%s/%d/%dh/%dc", strings.ReplaceAll(b.Name, " ", ""), len(b.Switches),
				b.Hosts, b.Links))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

func expect(t *testing.T, d *Drawing, want ...string) {
	t.Helper()
	if got := rows(d); !slices.Equal(got, want) {
		t.Errorf("drawn\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTree has a full tree of three tiers of 4-port switches: 4 pods with two leaves (each two hosts, two cables up)
// and two switches (each two down, two up), and above them 4 switches with 4 cables down.
func TestTree(t *testing.T) {
	f, s := made(t, "fattree:3,4")
	expect(t, Of(s, Options{}),
		"tier 2: /4/0h/16c",
		"tier 1: pod1/2/0h/8c pod2/2/0h/8c pod3/2/0h/8c pod4/2/0h/8c",
		"leaves: pod1/2/4h/8c pod2/2/4h/8c pod3/2/4h/8c pod4/2/4h/8c")
	d := Of(s, Options{Unfolded: map[Key]bool{{0, 1}: true}})
	if n := len(d.Rows[2].Blocks); n != 5 {
		t.Errorf("%d blocks of leaves where one pod of two is unfolded, want 5", n)
	}
	// A pod's leaves have 2x2 cables to its switches, and none to other pods.
	folded := Of(s, Options{})
	for i, b := range folded.Blocks {
		for j, c := range folded.Blocks {
			w := folded.Between(int32(i), int32(j))
			want := 0
			switch {
			case b.Key.Tier == 0 && c.Key.Tier == 1 && b.Key.Part == c.Key.Part, b.Key.Tier == 1 && c.Key.Tier == 2,
				b.Key.Tier == 2 && c.Key.Tier == 1:
				want = 4
			case b.Key.Tier == 1 && c.Key.Tier == 0 && b.Key.Part == c.Key.Part:
				want = 4
			}
			if got := 0; w != nil {
				if got = w.Cables; got != want {
					t.Errorf("%v to %v: %d cables, want %d", b.Key, c.Key, got, want)
				}
			} else if want != 0 {
				t.Errorf("%v to %v: none, want %d", b.Key, c.Key, want)
			}
		}
	}
	all := Of(s, Options{All: true})
	if len(all.Blocks) != 20 || all.Blocks[0].Folded {
		t.Errorf("%d blocks, want 20 switches", len(all.Blocks))
	}
	// One of them fails, another is the busiest, and a path uses some.
	cable := all.Bundles[0]
	var link fabric.Link
	var path []fabric.PortIndex
	for _, l := range f.Links() {
		a, b := f.Nodes[f.Ports[l.A].Node].Switch, f.Nodes[f.Ports[l.B].Node].Switch
		if a != fabric.None && b != fabric.None && min(all.BlockOf(a), all.BlockOf(b)) == cable.A &&
			max(all.BlockOf(a), all.BlockOf(b)) == cable.B {
			link, path = l, append(path, l.A)
		}
	}
	loads := make([]int64, len(f.Ports))
	loads[link.B] = 7
	drawn := Of(s, Options{All: true, Failed: map[fabric.Link]bool{link: true}, Loads: loads, Path: path})
	if w := drawn.Between(cable.A, cable.B); w.Down != 1 || w.Load != 7 || !w.OnPath || drawn.Most != 7 ||
		!drawn.Blocks[cable.A].OnPath || drawn.Blocks[cable.A].Down != 1 {
		t.Errorf("%+v", w)
	}
}

// TestGrid checks that the second row of a 3 x 2 mesh is above the first, and that rows of a torus end in datelines.
func TestGrid(t *testing.T) {
	_, s := made(t, "mesh:3x2")
	d := Of(s, Options{})
	if d.Kind != Grid || d.Planes != 1 || len(d.Rows) != len(s.Grid.Dims) && len(d.Rows) != 3 {
		t.Fatalf("%+v", d.Rows)
	}
	_, s = made(t, "torus:4x4x3")
	d = Of(s, Options{})
	if d.Planes != 3 && d.Planes != 4 {
		t.Fatalf("%d planes of %v", d.Planes, s.Grid.Dims)
	}
	wraps := 0
	for _, w := range d.Bundles {
		if w.Wraps {
			wraps++
		}
	}
	// 4x3 rings of 4, 4x3 rings of 4 and 4x4 rings of 3 have one wrap each.
	if wraps != 12+12+16 || len(d.Bundles) != 3*48 {
		t.Errorf("%d of %d cables are across datelines, want 40 of 144", wraps, len(d.Bundles))
	}
	_, s = made(t, "hypercube:5")
	d = Of(s, Options{})
	if len(d.Rows) != 4 || len(d.Rows[0].Blocks) != 8 || d.Rows[0].Name != "11" || d.Planes != 1 {
		t.Errorf("%d rows of %d, %q", len(d.Rows), len(d.Rows[0].Blocks), d.Rows[0].Name)
	}
}

// TestGroups checks that the groups of a dragonfly are linked to each other.
func TestGroups(t *testing.T) {
	_, s := made(t, "dragonfly:4,2,2")
	d := Of(s, Options{})
	groups := s.Groups.Count
	if d.Kind != Groups || len(d.Rows) != 1 || len(d.Rows[0].Blocks) != groups {
		t.Fatalf("%d groups: %v", groups, rows(d))
	}
	across := 0
	for _, w := range d.Bundles {
		if w.A != w.B {
			across++
		}
	}
	if across != groups*(groups-1)/2 {
		t.Errorf("%d bundles between %d groups", across, groups)
	}
}

// TestIrregular checks that switches without structure are one block, which unfolds.
func TestIrregular(t *testing.T) {
	_, s := made(t, "random:12,4,2")
	if d := Of(s, Options{All: true}); len(d.Blocks) != 12 {
		t.Errorf("%v", rows(d))
	}
}

// BenchmarkOf computes the layout of 2,502 switches with 45,504 hosts, folded and not.
func BenchmarkOf(b *testing.B) {
	f, err := gen.ParseSpec("xgft:3,24,24,79,1,6,22")
	if err != nil {
		b.Fatal(err)
	}
	s := classify.Recognise(f, nil)
	for name, all := range map[string]bool{"folded": false, "unfolded": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Of(s, Options{All: all})
			}
		})
	}
}

// bandsOf formats bands: one line for each, with the sizes of the rows of each zone.
func bandsOf(s *classify.Structure) (lines []string) {
	for _, b := range Bands(s) {
		words := []string{b.Name + ":"}
		for _, z := range b.Zones {
			var sizes []string
			for _, r := range z.Rows {
				sizes = append(sizes, fmt.Sprint(len(r.Switches)))
			}
			words = append(words, strings.ReplaceAll(z.Name, " ", "")+"/"+strings.Join(sizes, "+"))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// TestBands: in a full tree of three tiers of 6-port switches, 9 core switches in 3 sets are above 6 pods of 3 and 3
// switches. A failure separates a leaf from a tree. A random graph has each switch once.
func TestBands(t *testing.T) {
	same := func(what string, s *classify.Structure, want ...string) {
		t.Helper()
		if got := bandsOf(s); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	_, s := made(t, "fattree:3,6")
	same("tree", s, "tier 2: /3 /3 /3", "pods: pod1/3+3 pod2/3+3 pod3/3+3 pod4/3+3 pod5/3+3 pod6/3+3")
	_, s = made(t, "torus:3x2x2")
	same("torus", s, "planes: z=0/3+3 z=1/3+3")
	_, s = made(t, "dragonfly:4,2,2")
	same("dragonfly", s, "groups: group1/4 group2/4 group3/4 group4/4 group5/4 group6/4 group7/4 group8/4 group9/4")
	f, _ := made(t, "fattree:2,4")
	var links []fabric.Link
	for _, l := range f.Links() {
		if f.Ports[l.A].Node == f.Switches[0] || f.Ports[l.B].Node == f.Switches[0] {
			links = append(links, l)
		}
	}
	same("failure", classify.Recognise(f.Without(links), nil), "tier 1: /2", "leaves: /3", "unreachable: /1")
	_, s = made(t, "random:9,3,9")
	all := 0
	for _, b := range Bands(s) {
		all += len(b.Zones[0].Rows[0].Switches)
	}
	if all != 9 || Bands(s)[0].Name != "busiest" {
		t.Errorf("irregular: %d of 9 switches, %q", all, bandsOf(s))
	}
}
