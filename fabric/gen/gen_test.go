// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

func parse(t testing.TB, spec string) *fabric.Fabric {
	t.Helper()
	f, err := ParseSpec(spec)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return f
}

// The numbers are calculated by hand from each definition.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		spec                   string
		switches, hosts, links int
	}{
		{"fattree:2,36", 54, 648, 1296},
		{"fattree:3,36", 1620, 11664, 34992},
		{"fattree:3,8", 80, 128, 384},
		{"fattree:levels=3,ports=8", 80, 128, 384},
		{"fattree:2,2", 3, 2, 4},
		{"xgft:3;4,4,8;1,4,4", 80, 128, 384},
		{"xgft:2,3,4,1,2,1,2", 6, 12, 12 + 4*2*2},
		{"xgft:1,5,1", 1, 5, 5},
		{"torus:6x5", 30, 30, 90},
		{"torus:6x5,2,3", 30, 60, 60 + 180},
		{"torus:8X8x8,hosts=4", 512, 2048, 2048 + 3*512},
		{"torus:2x3", 6, 6, 6 + 3 + 6},
		{"torus:1x1", 1, 1, 1},
		{"mesh:3x4", 12, 12, 12 + 2*4 + 3*3},
		{"hypercube:3", 8, 8, 8 + 12},
		{"hypercube:10,4", 1024, 4096, 4096 + 5120},
		{"hypercube:0,3", 1, 3, 3},
		{"dragonfly:(4,2,2)", 36, 72, 72 + 9*6 + 36},
		{"dragonfly:a=4 p=2 h=2", 36, 72, 72 + 9*6 + 36},
		{"dragonfly:16,8,8", 2064, 16512, 16512 + 129*120 + 129*128/2},
		{"dragonfly:4,2,2,groups=3", 12, 24, 24 + 3*6 + 3*4},
		{"dragonfly:4,0,1", 4, 4, 4 + 6},
		{"random:500,12,4000", 500, 4000, 4000 + 3000},
		{"random:7,3,20,seed=5", 7, 20, 20 + 10},
		{"random:40,2,40", 40, 40, 80},
		{"random:2,1,1", 2, 1, 2},
		{"random:1,0,4", 1, 4, 4},
	} {
		f := parse(t, c.spec)
		hosts := len(f.Nodes) - len(f.Switches)
		if len(f.Switches) != c.switches || hosts != c.hosts || len(f.Links()) != c.links {
			t.Errorf("%s: %d switches, %d hosts, %d links, want %d, %d, %d",
				c.spec, len(f.Switches), hosts, len(f.Links()), c.switches, c.hosts, c.links)
		}
		checkShape(t, c.spec, f)
	}
}

// checkShape checks what is true for all kinds.
func checkShape(t *testing.T, spec string, f *fabric.Fabric) {
	t.Helper()
	names := map[string]bool{}
	switchSeen := false
	for i := range f.Nodes {
		n := &f.Nodes[i]
		switch {
		case !n.InSubnet:
			t.Fatalf("%s: %s is not linked to the rest", spec, n.Desc)
		case names[n.Desc]:
			t.Fatalf("%s: two nodes are named %s", spec, n.Desc)
		case n.Type == mad.NodeCA && switchSeen:
			t.Fatalf("%s: host %s comes after a switch", spec, n.Desc)
		}
		names[n.Desc] = true
		switchSeen = switchSeen || n.IsSwitch()
	}
	if sm := f.Ports[f.SMPort]; sm.Node != 0 || sm.Num != 1 {
		t.Errorf("%s: the SM is on %s, want port 1 of the first host", spec, f.PortName(f.SMPort))
	}
}

func TestFullBisectionTreesUseEveryPort(t *testing.T) {
	for _, spec := range []string{"fattree:2,36", "fattree:3,8", "fattree:3,36"} {
		f := parse(t, spec)
		for _, n := range f.Switches {
			for p := 1; p <= int(f.Nodes[n].NumPorts); p++ {
				if i := f.PortAt(n, p); !f.Ports[i].Linked() {
					t.Fatalf("%s: %s is not linked", spec, f.PortName(i))
				}
			}
		}
	}
}

// distances returns the number of hops from one switch to each.
func distances(f *fabric.Fabric, from fabric.SwitchIndex) []int {
	d := slices.Repeat([]int{-1}, len(f.Switches))
	d[from] = 0
	for queue := []fabric.SwitchIndex{from}; len(queue) > 0; queue = queue[1:] {
		n := f.SwitchNode(queue[0])
		for p := range n.Ports() {
			if s := f.PeerSwitch(p); s != fabric.None && d[s] < 0 {
				d[s] = d[queue[0]] + 1
				queue = append(queue, s)
			}
		}
	}
	return d
}

// Hosts with W1 = 2 ports are attached to two planes that only they connect. No subnet manager discovers the nodes
// behind a host.
func TestTwoPlanes(t *testing.T) {
	f := parse(t, "xgft:2,2,2,2,2")
	in := 0
	for _, n := range f.Switches {
		if f.Nodes[n].InSubnet {
			in++
		}
	}
	if len(f.Switches) != 8 || in != 4 || len(f.EndPorts) != 4+4 || len(f.Links()) != 16 {
		t.Errorf("%d switches, %d of them and %d end ports in the subnet, %d links, want 8, 4, 8, 16",
			len(f.Switches), in, len(f.EndPorts), len(f.Links()))
	}
}

func TestTreeDistances(t *testing.T) {
	f := parse(t, "fattree:3,8")
	for s, n := range f.Switches {
		from, isLeaf := strings.CutPrefix(f.Nodes[n].Desc, "leaf-")
		if !isLeaf {
			continue
		}
		for d, hops := range distances(f, fabric.SwitchIndex(s)) {
			to, isLeaf := strings.CutPrefix(f.SwitchNode(fabric.SwitchIndex(d)).Desc, "leaf-")
			want := 4
			switch {
			case !isLeaf:
				continue
			case from == to:
				want = 0
			case from[:2] == to[:2]:
				want = 2
			}
			if hops != want {
				t.Errorf("leaf-%s to leaf-%s: %d hops, want %d", from, to, hops, want)
			}
		}
	}
}

func TestTorusDistances(t *testing.T) {
	f := parse(t, "torus:6x5x4")
	size := []int{6, 5, 4}
	for s := range f.NumSwitches() {
		from := strings.Split(f.SwitchNode(s).Desc, "-")[1:]
		for d, hops := range distances(f, s) {
			want := 0
			for k, c := range strings.Split(f.SwitchNode(fabric.SwitchIndex(d)).Desc, "-")[1:] {
				a, _ := strconv.Atoi(from[k])
				b, _ := strconv.Atoi(c)
				steps := (a - b + size[k]) % size[k]
				want += min(steps, size[k]-steps)
			}
			if hops != want {
				t.Fatalf("%v to %s: %d hops, want %d", from, f.SwitchNode(fabric.SwitchIndex(d)).Desc, hops, want)
			}
		}
	}
}

func TestHypercubeDistances(t *testing.T) {
	f := parse(t, "hypercube:6")
	at := func(s fabric.SwitchIndex) uint64 {
		v, err := strconv.ParseUint(strings.TrimPrefix(f.SwitchNode(s).Desc, "sw-"), 2, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for s := range f.NumSwitches() {
		for d, hops := range distances(f, s) {
			if want := bits.OnesCount64(at(s) ^ at(fabric.SwitchIndex(d))); hops != want {
				t.Fatalf("%b to %b: %d hops, want %d", at(s), at(fabric.SwitchIndex(d)), hops, want)
			}
		}
	}
}

// In a dragonfly the distance of any two switches is at most local, global, local, and every two groups have the same
// number of links.
func TestDragonflyGroups(t *testing.T) {
	for spec, want := range map[string]int{"dragonfly:4,2,2": 1, "dragonfly:4,2,2,groups=4": 2} {
		f := parse(t, spec)
		group := func(node fabric.NodeIndex) string { return strings.Split(f.Nodes[node].Desc, "-")[1] }
		between := map[[2]string]int{}
		for _, l := range f.Links() {
			a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
			if !f.Nodes[a].IsSwitch() || !f.Nodes[b].IsSwitch() || group(a) == group(b) {
				continue
			}
			between[[2]string{min(group(a), group(b)), max(group(a), group(b))}]++
		}
		for pair, links := range between {
			if links != want {
				t.Errorf("%s: groups %v have %d links, want %d", spec, pair, links, want)
			}
		}
		if far := slices.Max(distances(f, 0)); far != 3 {
			t.Errorf("%s: the farthest switch is %d hops away, want 3", spec, far)
		}
	}
}

func TestRandomDegreesAndSeed(t *testing.T) {
	f := parse(t, "random:61,5,200,seed=7")
	fewer := 0
	for _, n := range f.Switches {
		neighbours := map[fabric.SwitchIndex]bool{}
		for p := 1; p <= int(f.Nodes[n].NumPorts); p++ {
			if s := f.PeerSwitch(f.PortAt(n, p)); s != fabric.None {
				if neighbours[s] || f.Switches[s] == n {
					t.Errorf("%s has a loop or a parallel link", f.NodeName(n))
				}
				neighbours[s] = true
			}
		}
		if len(neighbours) == 4 {
			fewer++
		} else if len(neighbours) != 5 {
			t.Errorf("%s has degree %d, want 5", f.NodeName(n), len(neighbours))
		}
	}
	if fewer != 1 {
		t.Errorf("%d switches have one link less, want 1 of 61", fewer)
	}
	if !slices.Equal(f.Links(), parse(t, "random:61,5,200,seed=7").Links()) {
		t.Error("the same seed gives a different graph")
	}
	if slices.Equal(f.Links(), parse(t, "random:61,5,200,seed=8").Links()) {
		t.Error("a different seed gives the same graph")
	}
}

func TestErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                     "unknown kind",
		"tree:3,8":             "fattree, xgft, torus",
		"fattree":              "levels is missing",
		"fattree:3":            "ports is missing",
		"fattree:4,8":          "4 is out of range, expected 2 to 3",
		"fattree:2,7":          "7 is odd",
		"fattree:2,256":        "256 is out of range",
		"fattree:2,8,9":        `unexpected argument "9"`,
		"fattree:2,8,colour=1": `unknown argument "colour"`,
		"fattree:2,levels=3":   "given twice",
		"fattree:3,64":         "5120 switches and 65536 host ports need more LIDs than the 49151",
		"xgft:2,3,3":           "2 numbers follow the 2 levels, expected 4 numbers, or 6",
		"xgft:2,200,2,1,100":   "a switch would need 300 ports, expected at most 254",
		"xgft:1,5,300":         "a host would need more than 254 ports",
		"xgft:8" + strings.Repeat(",1000000000", 16): "ports",
		"torus":                       "no size",
		"torus:6x":                    `"" is not a number`,
		"torus:0x5":                   "0 is out of range",
		"torus:6y5":                   `"6y5" is not a number`,
		"torus:4x4,links=64":          "a switch would need 257 ports",
		"torus:1000000x1000000x99":    "more LIDs",
		"torus:400x400":               "160000 switches",
		"hypercube:16":                "65536 switches",
		"dragonfly:4,2,2,groups=10":   "expected at most a*h+1 = 9",
		"dragonfly:100,100,100":       "1000100 switches",
		"dragonfly:200,1,60,groups=1": "a switch would need 260 ports",
		"dragonfly:50,50,50":          "more LIDs",
		"random:5,5,5":                "expected 2 to 4",
		"random:5,1,5":                "expected 2 to 4",
		"random:10,4,40000":           "a switch would need 4004 ports",
		"random:1000000000,4,4":       "more LIDs",
	} {
		f, err := ParseSpec(spec)
		if err == nil {
			t.Errorf("%q: %d nodes, want an error with %q", spec, len(f.Nodes), want)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
}

// The usage is shown to users. It must contain all arguments that Parse takes.
func TestUsageListsEveryArgument(t *testing.T) {
	for _, k := range Kinds() {
		if !strings.HasPrefix(k.Usage, k.Name+" ") || k.Help == "" {
			t.Errorf("%s: usage %q, help %q", k.Name, k.Usage, k.Help)
		}
		for _, p := range k.form.params {
			if p.optional && !strings.Contains(k.Usage, p.name+"=") {
				t.Errorf("%s: usage %q does not name %s", k.Name, k.Usage, p.name)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, spec := range []string{"fattree:3,8", "xgft:2,3,4,1,2,1,2", "torus:3x4,2", "hypercube:3",
		"dragonfly:a=4,h=1,p=1", "bull:2,3,up=2", "random:9,3,9,seed=4",
		"railtree:9,rails=2,unit=4", "multiplane:2,2,2", "director:2,2,directors=2,leaves=3",
		"dfplus:3,2,2,agg=yes,speed=ndr"} {
		f.Add(spec)
	}
	f.Fuzz(func(_ *testing.T, spec string) {
		if len(spec) > 40 {
			return
		}
		_, _ = ParseSpec(spec)
	})
}

func BenchmarkFatTree11664(b *testing.B) {
	for b.Loop() {
		parse(b, "fattree:3,36")
	}
}
