// SPDX-License-Identifier: Apache-2.0

package slurm_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
)

// TestTree compares trees with the known shapes. In fattree:3,8 four leaves of four hosts form each of eight pods, and
// the pods form the root.
func TestTree(t *testing.T) {
	for spec, want := range map[string]string{
		"fattree:2,4": "SwitchName=leaf-01 Nodes=node-[0001-0002]\nSwitchName=leaf-02 " +
			"Nodes=node-[0003-0004]\nSwitchName=leaf-03 Nodes=node-[0005-0006]\nSwitchName=leaf-04 " +
			"Nodes=node-[0007-0008]\nSwitchName=spine-01 Switches=leaf-[01-04]\n",
		"torus:2x2": "SwitchName=sw-0-0 Nodes=node-0001\nSwitchName=sw-0-1 Nodes=node-0002\nSwitchName=sw-1-0 " +
			"Nodes=node-0003\nSwitchName=sw-1-1 Nodes=node-0004\nSwitchName=root Switches=sw-0-[0-1],sw-1-[0-1]\n",
	} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := tree(t, f).WriteConf(&b); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s:\n%s\nexpected\n%s", spec, b.String(), want)
		}
	}
	f, err := gen.ParseSpec("fattree:3,8")
	if err != nil {
		t.Fatal(err)
	}
	var leaves, pods, roots int
	for _, s := range tree(t, f).Switches {
		switch {
		case len(s.Nodes) == 4:
			leaves++
		case len(s.Children) == 4:
			pods++
		case len(s.Children) == 8:
			roots++
		default:
			t.Errorf("%+v", s)
		}
	}
	if leaves != 32 || pods != 8 || roots != 1 {
		t.Errorf("%d leaves, %d pods, %d roots", leaves, pods, roots)
	}
}

func tree(t *testing.T, f *fabric.Fabric, adapters ...string) *slurm.Tree {
	t.Helper()
	tree, err := slurm.TreeOf(f, adapters...)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestRoots checks that each fabric has one root, and that patterns select adapters.
func TestRoots(t *testing.T) {
	// Two rails, each with a spine, which are linked: each node has one adapter on each. The storage node has two ports
	// on one rail.
	var net strings.Builder
	for rail := range 2 {
		fmt.Fprintf(&net, "Switch 8 \"spine%[1]d\"\n[1] \"leaf%[1]da\"[5]\n[2] \"leaf%[1]db\"[5]\n"+
			"[8] \"spine%[2]d\"[8]\n\n", rail, 1-rail)
		for _, leaf := range "ab" {
			fmt.Fprintf(&net, "Switch 8 \"leaf%d%c\"\n\n", rail, leaf)
			for n := range 2 {
				fmt.Fprintf(&net, "Hca 1 \"%[1]c%[2]d mlx5_%[3]d\"\n[1] \"leaf%[3]d%[1]c\"[%[4]d]\n\n", leaf, n, rail,
					n+1)
			}
		}
	}
	net.WriteString("Hca 2 \"stor1\"\n[1] \"leaf1a\"[6]\n[2] \"leaf1b\"[6]\n")
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, []byte(net.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := formats.Read(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		adapters []string
		want     string
	}{
		{nil, "leaf0a=a[0-1] leaf0b=b[0-1] leaf1a=stor1 spine0=leaf0a,leaf0b,leaf1a"},
		{[]string{"*mlx5_1"}, "leaf1a=a[0-1] leaf1b=b[0-1] spine1=leaf1a,leaf1b"},
		{[]string{"*mlx5_1", "stor1"}, "leaf1a=a[0-1],stor1 leaf1b=b[0-1] spine1=leaf1a,leaf1b"},
		{[]string{"a?", "b0 mlx5_0"}, "leaf0a=a[0-1] leaf0b=b0 spine0=leaf0a,leaf0b"},
		{[]string{"a* mlx5_0", "b* mlx5_1"}, "leaf0a=a[0-1] leaf1b=b[0-1] spine0=leaf0a,leaf1b"},
	} {
		made := tree(t, s.Fabric, c.adapters...)
		var got []string
		for _, sw := range made.Switches {
			got = append(got, sw.Name+"="+slurm.Hostlist(append(sw.Nodes, sw.Children...)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.adapters, got, c.want)
		}
	}
	for pattern, want := range map[string]string{
		"a?": "3 nodes are left out, because no pattern selects an adapter: b0, b1, stor1", "*": "",
	} {
		notes := strings.Join(tree(t, s.Fabric, pattern).Notes, "; ")
		if want == "" && strings.Contains(notes, "left out") || !strings.Contains(notes, want) {
			t.Errorf("%q: notes %q, want %q", pattern, notes, want)
		}
	}
	if _, err := slurm.TreeOf(s.Fabric, "a*", "c*"); err == nil || !strings.Contains(err.Error(), `"c*"`) {
		t.Errorf("a pattern without adapters: %v", err)
	}
}

// TestYAML checks the form of topology.yaml (topology.yaml(5)): a list of topologies with a name, cluster_default and a
// tree of switches, each with a name and either nodes or children.
func TestYAML(t *testing.T) {
	for _, f := range fabrics(t) {
		var b bytes.Buffer
		if err := tree(t, f).WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "#") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		head := []string{"---", "- topology: infiniband", "  cluster_default: true", "  tree:", "    switches:"}
		if len(lines) < len(head)+2 || !slices.Equal(lines[:len(head)], head) {
			t.Fatalf("it begins %q", lines[:min(len(lines), 6)])
		}
		checkSwitches(t, lines[len(head):])
	}
}

var (
	switchLine = regexp.MustCompile(`^      - switch: "([A-Za-z0-9_-]+)"$`)
	partLine   = regexp.MustCompile(`^        (nodes|children): "([A-Za-z0-9_,\[\]-]+)"$`)
)

func checkSwitches(t *testing.T, lines []string) {
	t.Helper()
	names, nodes, parents := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := 0; i+1 < len(lines); i += 2 {
		s, p := switchLine.FindStringSubmatch(lines[i]), partLine.FindStringSubmatch(lines[i+1])
		if s == nil || p == nil || names[s[1]] {
			t.Fatalf("not a switch: %q, %q", lines[i], lines[i+1])
		}
		for _, name := range expand(t, p[2]) {
			of := nodes
			if p[1] == "children" {
				of = parents
				if !names[name] {
					t.Errorf("%s is the child of %s, but is not defined before", name, s[1])
				}
			}
			if of[name] {
				t.Errorf("%s is repeated", name)
			}
			of[name] = true
		}
		names[s[1]] = true
	}
	if len(lines)%2 != 0 || len(names)-len(parents) != 1 {
		t.Errorf("%d lines, %d switches, %d of them children: not a tree", len(lines), len(names), len(parents))
	}
}

// fabrics returns generated fabrics and, if available, real ones.
func fabrics(t *testing.T) []*fabric.Fabric {
	t.Helper()
	var out []*fabric.Fabric
	for _, spec := range []string{"fattree:2,8", "fattree:3,4", "torus:3x3", "dragonfly:4,2,2", "random:10,3,30,seed=2",
		"hypercube:3"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	if os.Getenv("IBCONSOLE_SHARED") == "" {
		return out
	}
	files, err := filepath.Glob(filepath.Join(testenv.Shared(t), "fabrics", "*.topo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		s, err := formats.Read(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s.Fabric)
	}
	return out
}

var item = regexp.MustCompile(`^([A-Za-z0-9_-]*?)(?:\[([0-9,-]+)\])?(,|$)`)

// expand returns the names in a hostlist, as slurm.conf(5) describes it.
func expand(t *testing.T, list string) []string {
	t.Helper()
	var out []string
	for list != "" {
		m := item.FindStringSubmatch(list)
		if m == nil || m[0] == "" {
			t.Fatalf("not a hostlist: %q", list)
		}
		list = list[len(m[0]):]
		if m[2] == "" {
			out = append(out, m[1])
			continue
		}
		for r := range strings.SplitSeq(m[2], ",") {
			from, to, ok := strings.Cut(r, "-")
			if !ok {
				to = from
			}
			a, err1 := strconv.Atoi(from)
			b, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil || a > b || len(from) != len(to) {
				t.Fatalf("not a range: %q", r)
			}
			for ; a <= b; a++ {
				out = append(out, fmt.Sprintf("%s%0*d", m[1], len(from), a))
			}
		}
	}
	return out
}

// FuzzNames checks that names made from descriptions have only characters that Slurm accepts, and that a hostlist
// expands to the same names.
func FuzzNames(f *testing.F) {
	f.Add("node-0001 HCA-1\nnode-2.example mlx5_0\n\x1b[31m[0-9],ALL")
	f.Add("a1\na01\na2\na10\na-1\n007\n99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		var names []string
		for i, desc := range strings.Split(text, "\n") {
			name := slurm.NodeName(desc, uint64(i))
			if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`).MatchString(name) {
				t.Fatalf("%q becomes %q", desc, name)
			}
			names = append(names, name)
		}
		got := expand(t, slurm.Hostlist(names))
		slices.Sort(got)
		slices.Sort(names)
		if names = slices.Compact(names); !slices.Equal(got, names) {
			t.Errorf("%q expands to %q, expected %q", slurm.Hostlist(names), got, names)
		}
	})
}

// TestExpand expands hostlists as slurm.conf(5) describes them, and those of Hostlist.
func TestExpand(t *testing.T) {
	for list, want := range map[string]string{
		"":                          "",
		"login":                     "login",
		"node[08-11]":               "node08 node09 node10 node11",
		"a[1,3-4],b":                "a1 a3 a4 b",
		"r[1-2]n[01-02]x":           "r1n01x r1n02x r2n01x r2n02x",
		"node-[0001-0003,0050],n-7": "node-0001 node-0002 node-0003 node-0050 n-7",
	} {
		got, err := slurm.Expand(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v, want %s", list, got, err, want)
		}
		if back, err := slurm.Expand(slurm.Hostlist(got)); err != nil || len(back) != len(got) {
			t.Errorf("%q: %v becomes %v, %v", list, got, back, err)
		}
	}
	for _, list := range []string{"a[1-", "a[]", "a[2-1]", "a[x]", "a[1-99999999]", "a[1-300]b[1-300]", "a[1-2]["} {
		if got, err := slurm.Expand(list); err == nil {
			t.Errorf("%q: %d names", list, len(got))
		}
	}
}

// FuzzExpand checks that the names of a hostlist make a hostlist of the same names.
func FuzzExpand(f *testing.F) {
	f.Add("r[1-2]n[01-02]x,login")
	f.Fuzz(func(t *testing.T, list string) {
		names, err := slurm.Expand(list)
		if err != nil || len(names) > 1000 || strings.ContainsAny(list, " \t\n") {
			return
		}
		for _, name := range names {
			if strings.ContainsAny(name, "[],") || name == "" {
				return
			}
		}
		again, err := slurm.Expand(slurm.Hostlist(names))
		slices.Sort(names)
		slices.Sort(again)
		if err != nil || !slices.Equal(slices.Compact(names), slices.Compact(again)) {
			t.Errorf("%q: %q, %q, %v", list, names, again, err)
		}
	})
}
