// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// found summarizes a structure: the title, the tiers from the leaves up, and the counts.
func found(s *Structure) string {
	text := fmt.Sprintf("%s; %v; %d hosts", s.Title(), sizes(s.Classes), s.Nodes.Hosts[KindHost])
	for _, d := range s.Directors {
		text += fmt.Sprintf("; %s %d+%d", d.Name, len(d.Leaves), len(d.Spines))
	}
	if len(s.Rails.Names) > 0 {
		text += fmt.Sprintf("; rails %v of %v ports", s.Rails.Names, s.Rails.Ports)
	}
	return text
}

// TestShapes recognises generated fabrics by the parameters of the generator. Some have two names: a ring of two is a
// link, and a dragonfly without links between groups is one group, all linked.
func TestShapes(t *testing.T) {
	for spec, want := range map[string]string{
		"fattree:2,36":          "fat-tree of 2 tiers; [36 18]; 648 hosts",
		"fattree:3,8":           "fat-tree of 3 tiers, 8 pods; [32 32 16]; 128 hosts",
		"xgft:2,6,12,1,6,1,2":   "fat-tree of 2 tiers; [12 6]; 72 hosts",
		"bull:3,4,hosts=6,up=2": "fat-tree of 4 tiers; [12 6 2 2]; 72 hosts",
		"torus:4x4":             "torus 4x4; [16]; 16 hosts",
		"torus:4x5x6":           "torus 4x5x6; [120]; 120 hosts",
		"torus:3x4x5x6":         "torus 3x4x5x6; [360]; 360 hosts",
		"torus:2x2":             "mesh 2x2; [4]; 4 hosts",
		"torus:7":               "torus 7; [7]; 7 hosts",
		"mesh:5x6,links=2":      "mesh 5x6; [30]; 30 hosts",
		"mesh:4x4x4x4":          "mesh 4x4x4x4; [256]; 256 hosts",
		"mesh:9":                "mesh 9; [9]; 9 hosts",
		"hypercube:3":           "hypercube of 3 dimensions; [8]; 8 hosts",
		"hypercube:6":           "hypercube of 6 dimensions; [64]; 64 hosts",
		"dragonfly:4,2,2":       "dragonfly of 9 groups; [36]; 72 hosts",
		"dragonfly:2,2,2":       "dragonfly of 5 groups; [10]; 20 hosts",
		"dragonfly:8,4,1":       "dragonfly of 33 groups; [264]; 264 hosts",
		"dragonfly:5,0,1":       "full mesh of 5 switches; [5]; 5 hosts",
		"random:1,0,4":          "single switch; [1]; 4 hosts",
		"railtree:64,rails=4,unit=16,spines=2,links=2": "fat-tree of 2 tiers, 4 pods, 4 rails; [16 2]; 64 hosts; " +
			"rails [1 2 3 4] of [64 64 64 64] ports",
		"multiplane:4,6,3": "fat-tree of 3 tiers, 6 pods, 4 planes, 4 rails; [24 12 1]; 24 " +
			"hosts; rails [1 2 3 4] of [24 24 24 24] ports",
		"director:3,2,hosts=4": "fat-tree of 2 tiers; [3 2]; 12 hosts; director-01 3+2",
		"director:4,2,directors=2,leaves=6,hosts=3": "fat-tree of 3 tiers, 4 pods; [6 8 4]; 18 hosts; director-01 " +
			"4+2; director-02 4+2",
		"dfplus:5,2,2,hosts=3,global=2": "dragonfly+ of 5 groups; [10 10]; 30 hosts",
		"fattree:2,8,agg=yes":           "fat-tree of 2 tiers; [8 4]; 32 hosts",
		"torus:3x5,agg=yes,speed=ndr":   "torus 3x5; [15]; 15 hosts",
	} {
		s := Recognise(gentest.Fabric(t, spec), nil)
		if got := found(s); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
		if len(s.Anomalies) > 0 {
			t.Errorf("%s: anomalies %+v, want none", spec, s.Anomalies)
		}
	}
}

// TestCoordinates compares coordinates with those in the names of the switches.
func TestCoordinates(t *testing.T) {
	s := Recognise(gentest.Fabric(t, "mesh:3x4"), nil)
	for sw := range s.Switches {
		name := s.Fabric.SwitchNode(fabric.SwitchIndex(sw)).Desc
		if at := "sw-" + strings.ReplaceAll(s.Coordinates(fabric.SwitchIndex(sw)), ",", "-"); at != name {
			t.Errorf("%s is at %s", name, at)
		}
	}
}

// TestAnomalies uses fabrics with one fault each.
func TestAnomalies(t *testing.T) {
	for _, c := range []struct {
		spec string
		cut  []string // links, as NODE NODE
		want string
	}{
		{
			"fattree:2,8", []string{"leaf-02 spine-03", "leaf-02 spine-04"},
			"leaf-02: 2 links up where most of its peers have 4: none to spine-03, spine-04\n",
		},
		{"torus:5x5", []string{"sw-1-1 sw-1-2"}, "sw-1-1: at 1,1, is not linked to sw-1-2 at 1,2\n"},
		{
			"railtree:8,rails=4,unit=4,spines=2", []string{"node-0003 mlx5_2 leaf-01-03"},
			"node-0003 mlx5_0: is missing on rail 3\n",
		},
	} {
		f := gentest.Fabric(t, c.spec)
		var removed []fabric.Link
		for _, l := range f.Links() {
			a, b := f.Nodes[f.Ports[l.A].Node].Desc, f.Nodes[f.Ports[l.B].Node].Desc
			if slices.Contains(c.cut, a+" "+b) || slices.Contains(c.cut, b+" "+a) {
				removed = append(removed, l)
			}
		}
		if len(removed) != len(c.cut) {
			t.Fatalf("%s: cut %d links, want %d", c.spec, len(removed), len(c.cut))
		}
		got := ""
		for _, o := range Recognise(f.Without(removed), nil).Anomalies {
			got += fmt.Sprintf("%s: %s\n", f.NodeName(o.Node), o.What)
		}
		if got != c.want {
			t.Errorf("%s without %v:\n%swant\n%s", c.spec, c.cut, got, c.want)
		}
	}
}

// TestDamaged removes random links and switches and checks that the shape stays the same, and that random fabrics are
// no grid.
func TestDamaged(t *testing.T) {
	r := testenv.Rand(t)
	for _, spec := range []string{"torus:4x4", "torus:6x6", "torus:5x5x5", "torus:8x8x8,links=2", "torus:4x5x4x3",
		"mesh:5x7", "mesh:4x4x4", "hypercube:5", "hypercube:6", "dragonfly:4,2,2"} {
		f := gentest.Fabric(t, spec)
		want := Recognise(f, nil)
		for round := range testenv.Count(t, 4, 100) {
			links := slices.DeleteFunc(f.Links(), func(l fabric.Link) bool {
				return f.PeerSwitch(l.A) == fabric.None || f.PeerSwitch(l.B) == fabric.None
			})
			removed := []fabric.Link{links[r.IntN(len(links))]}
			if sw := f.Switches[r.IntN(len(f.Switches))]; round%2 > 0 {
				removed = slices.DeleteFunc(f.Links(), func(l fabric.Link) bool {
					return f.Ports[l.A].Node != sw && f.Ports[l.B].Node != sw
				})
			}
			s := Recognise(f.Without(removed), nil)
			same := s.Title() == want.Title()
			// The order of dimensions is unknown if a link of the origin is missing.
			if s.Grid != nil && want.Grid != nil {
				same = s.Shape == want.Shape && slices.Equal(slices.Sorted(slices.Values(s.Grid.Dims)),
					slices.Sorted(slices.Values(want.Grid.Dims)))
			}
			if !same || s.Groups.Count != want.Groups.Count {
				t.Errorf("%s without %d links, the first of %s: %s, want %s", spec, len(removed),
					f.PortName(removed[0].A),
					s.Title(), want.Title())
			}
		}
	}
	for range testenv.Count(t, 10, 300) {
		spec := fmt.Sprintf("random:%d,%d,%d,seed=%d", 30+r.IntN(100), 3+r.IntN(6), 100, r.IntN(1000))
		if s := Recognise(gentest.Fabric(t, spec), nil); s.Grid != nil {
			t.Errorf("%s: %s", spec, s.Title())
		}
	}
}

// TestSwapped exchanges two cables of a torus at one end.
func TestSwapped(t *testing.T) {
	f := gentest.Fabric(t, "torus:7x7")
	ports := func(a, b string) (fabric.PortIndex, fabric.PortIndex) {
		for _, l := range f.Links() {
			x, y := f.Nodes[f.Ports[l.A].Node].Desc, f.Nodes[f.Ports[l.B].Node].Desc
			switch {
			case x == a && y == b:
				return l.A, l.B
			case x == b && y == a:
				return l.B, l.A
			}
		}
		t.Fatalf("no cable from %s to %s", a, b)
		return 0, 0
	}
	a, b := ports("sw-1-1", "sw-1-2")
	c, d := ports("sw-4-4", "sw-4-5")
	f.Ports[a].Peer, f.Ports[d].Peer, f.Ports[c].Peer, f.Ports[b].Peer = d, a, b, c
	s := Recognise(f, nil)
	var got []string
	for _, o := range s.Anomalies {
		got = append(got, f.NodeName(o.Node)+": "+o.What)
	}
	want := []string{
		"sw-1-1: at 1,1, is linked to sw-4-5 at 4,5, no neighbour in the torus",
		"sw-1-1: at 1,1, is not linked to sw-1-2 at 1,2",
		"sw-1-2: at 1,2, is linked to sw-4-4 at 4,4, no neighbour in the torus",
		"sw-4-4: at 4,4, is not linked to sw-4-5 at 4,5",
	}
	if s.Title() != "torus 7x7" || !slices.Equal(got, want) {
		t.Errorf("%s, anomalies:\n%s\nwant\n%s", s.Title(), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRealStructures compares with what the cabling of real fabrics shows: in the NDR one the adapters 1, 2, 5 and 6 of
// hosts are on 8, 8, 7 and 8 leaves, nine spines have two cables to each leaf, and sw-003 has none to two of them.
func TestRealStructures(t *testing.T) {
	for file, want := range map[string]string{
		"real-cs8500-hdr-192sw.topo": "fat-tree of 3 tiers, 3 pods, 4 rails; [72 80 40]; 990 hosts; sw-008 40+20; " +
			"sw-074 40+20; rails [1 2 3 6] of [236 292 215 227] ports",
		"real-ndr-rail-40sw.topo": "fat-tree of 2 tiers, 4 rails; [31 9]; 542 hosts; rails [1 2 5 6] of [139 139 " +
			"123 141] ports",
		"real-fdr10-8sw.topo": "fat-tree of 2 tiers; [6 2]; 142 hosts",
		"real-qdr-11sw.topo":  "fat-tree of 2 tiers; [7 4]; 89 hosts",
		"reindeer1100-116sw.net": "fat-tree of 3 tiers, 6 pods; [62 36 18]; 1100 hosts; SL2-1 12+6; SL2-2 12+6; " +
			"SL2-3 12+6",
	} {
		subnet, err := formats.Read(t.Context(), testenv.SharedFile(t, "fabrics/"+file))
		if err != nil {
			t.Fatal(err)
		}
		f := subnet.Fabric
		s := Recognise(f, nil)
		if got := found(s); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
		found := slices.ContainsFunc(s.Anomalies, func(o Anomaly) bool {
			return f.NodeName(o.Node) == "sw-003 U1" && o.What == "14 links up where most of its peers have 18: none "+
				"to sw-036 U1, sw-039 U1"
		})
		if found != strings.Contains(file, "ndr") {
			t.Errorf("%s: anomalies %+v", file, s.Anomalies)
		}
	}
}

// TestHints checks that hints overrule the findings, and later hints earlier ones.
func TestHints(t *testing.T) {
	hints, err := ReadHints(strings.NewReader("- {name: node-0001*, role: storage}\n- {name: 'node-000[23]*', role: "+
		"gateway}\n- name: 'spine-??'\n  tier: 2\n  plane: 2\n"+
		"- {name: spine-01, plane: 1, pod: 3}\n- {name: leaf-01, rail: 2}\n- {guid: 0x1, role: host}\n"), "h.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := Recognise(gentest.Fabric(t, "fattree:2,8"), hints)
	if got := sizes(s.Classes); !slices.Equal(got, []int{8, 0, 4}) || s.Nodes.Hosts != [4]int{29, 1, 2, 0} ||
		s.Planes.Count != 2 || s.Pods.Count != 3 || s.Rails.Ports[1] != 4 {
		t.Errorf("tiers %v, hosts %v, %d planes, %d pods, rails %+v", got, s.Nodes.Hosts, s.Planes.Count, s.Pods.Count,
			s.Rails.Ports)
	}
	if last := s.Anomalies[len(s.Anomalies)-1]; last.What != "h.yaml:8: the hint matches no node of the subnet" {
		t.Errorf("the last anomaly is %+v, want the hint of line 8", last)
	}
}

func TestHintErrors(t *testing.T) {
	for text, want := range map[string]string{
		"name: a":                       "h:1: expected a list",
		"- a":                           "h:1: expected a mapping",
		"- {name: a}":                   "h:1: expected one of role, tier",
		"\n- {tier: 1}":                 "h:2: expected either name or guid",
		"- {name: a, guid: 1}":          "h:1: expected either",
		"- {name: '[', tier: 1}":        `h:1: "[" is not a pattern`,
		"- name: a\n  tier: -1":         `h:2: "-1", expected a number from 0 to`,
		"- name: a\n  rail: 0":          `h:2: "0", expected a number from 1 to`,
		"- {name: a, role: king}":       `h:1: "king" is not a role, expected one of host, storage`,
		"- {name: a, color: red}":       `h:1: unknown key "color", expected name, guid`,
		"- {name: a, tier: 1, tier: 2}": "h:1: tier is given twice",
		"- {guid: x, tier: 1}":          `h:1: "x" is not a GUID`,
		"- {name: [a], tier: 1}":        "h:1: expected a word or a number after name",
		"- {":                           "h: line 1: did not find expected node content",
	} {
		if _, err := ReadHints(strings.NewReader(text), "h"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if h, err := ReadHints(strings.NewReader("# nothing\n"), "h"); err != nil || len(h.All) > 0 {
		t.Errorf("an empty file: %+v, %v", h, err)
	}
}

// FuzzReadHints reads any text as hints and applies them to a fabric.
func FuzzReadHints(f *testing.F) {
	f.Add("- {name: \"leaf-*\", tier: 2, pod: 16384, plane: 1, rail: 3}\n- {guid: 0x100000, role: aggregation}\n",
		"fattree:2,4")
	f.Add("- &a {name: \"*\", role: storage}\n- *a\n", "torus:3x3")
	f.Fuzz(func(t *testing.T, text, spec string) {
		hints, err := ReadHints(strings.NewReader(text), "fuzz")
		if err != nil || len(spec) > 20 {
			return
		}
		f := generated(spec)
		if f == nil || len(f.Ports) > 2000 {
			return
		}
		found(Recognise(f, hints))
	})
}

// BenchmarkRecognise uses 3,000 switches and 48,000 end ports.
func BenchmarkRecognise(b *testing.B) {
	f := generated("xgft:3,22,45,45,1,22,20")
	if f == nil {
		b.Fatal("no such fabric")
	}
	b.Logf("%d switches, %d end ports", len(f.Switches), len(f.EndPorts))
	for b.Loop() {
		Recognise(f, nil)
	}
}

// TestAfter removes random links: the shape stays, and in a grid each missing link is an anomaly.
func TestAfter(t *testing.T) {
	r := testenv.Rand(t)
	for _, spec := range []string{"fattree:3,8", "torus:5x5x5", "hypercube:5", "dragonfly:4,2,2", "dfplus:5,2,2",
		"railtree:64,rails=4,unit=16", "multiplane:2,3,2"} {
		whole := Recognise(gentest.Fabric(t, spec), nil)
		for range testenv.Count(t, 3, 100) {
			var removed []fabric.Link
			for _, l := range whole.Fabric.Links() {
				if whole.Fabric.PeerSwitch(l.A) != fabric.None && whole.Fabric.PeerSwitch(l.B) != fabric.None &&
					r.IntN(20) == 0 {
					removed = append(removed, l)
				}
			}
			left := whole.Fabric.Without(removed)
			if slices.ContainsFunc(left.Switches, func(n fabric.NodeIndex) bool { return !left.Nodes[n].InSubnet }) {
				continue // unreachable switches are in no tier
			}
			s := whole.After(left)
			if s.Title() != whole.Title() || len(s.Tiers()) != len(whole.Tiers()) || s.Grid != nil &&
				s.Nodes == whole.Nodes && len(s.Anomalies) != len(removed) {
				t.Errorf("%s without %d links: %s, %d anomalies, want %s", spec, len(removed), s.Title(),
					len(s.Anomalies),
					whole.Title())
			}
		}
	}
}

// TestNoPlanes checks that the leaves of a tree are not planes where a storage node, or a host, has a port on each.
func TestNoPlanes(t *testing.T) {
	for _, desc := range []string{"storage-1 HCA-1", "node-9999 HCA-1"} {
		f := withAdapters(t, generated("fattree:2,8"), "leaf-", mad.NodeCA, desc, nil)
		if s := Recognise(f, nil); s.Planes.Has() {
			t.Errorf("%s on all leaves: %d planes", desc, s.Planes.Count)
		}
	}
}
