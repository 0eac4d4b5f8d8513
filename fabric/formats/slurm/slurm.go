// SPDX-License-Identifier: Apache-2.0

// Package slurm writes a subnet as a topology of the Slurm workload manager: topology.conf of its plugin
// topology/tree, and topology.yaml of later versions (topology.conf(5), topology.yaml(5)).
//
// Slurm knows trees. Switches with hosts are its leaves. Upwards, switches are ranked by how far they are from
// the nearest leaf, and all that hangs together below a rank is one switch of the tree, named after the first of
// that rank: a three-level fat-tree gives leaves, pods and a root; a torus gives its switches and a root.
package slurm

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Switch is a switch of the tree: a leaf has Nodes, the others Children.
type Switch struct {
	Name     string
	Nodes    []string
	Children []string
}

// Tree is a topology, leaves first, the root last.
type Tree struct {
	Switches []Switch
	// Notes say what could not be told in a tree, one sentence each.
	Notes []string
}

// TreeOf finds the tree of a fabric. Nodes are the first words of the descriptions of
// channel adapters, up to a dot; a node with ports on several leaves belongs to the
// one of its first port. Aggregation nodes are left out. O(ports).
func TreeOf(f *fabric.Fabric) *Tree {
	b := &builder{f: f, t: &Tree{}, names: map[string]bool{}, at: map[string]fabric.SwitchIndex{}}
	b.leaves()
	b.levels()
	return b.t
}

type builder struct {
	f     *fabric.Fabric
	t     *Tree
	names map[string]bool
	// at is the leaf of each node's name.
	at map[string]fabric.SwitchIndex
	// rank is by switch how far the nearest leaf is, -1 for none.
	rank []int
	// group is by switch the switch of the tree that it is in by now, -1 for none.
	group []int
}

// leaves makes the switches with hosts, in the order of their names.
func (b *builder) leaves() {
	f := b.f
	b.rank, b.group = slices.Repeat([]int{-1}, len(f.Switches)), slices.Repeat([]int{-1}, len(f.Switches))
	hosts := map[fabric.SwitchIndex][]string{}
	ends := slices.Clone(f.EndPorts)
	slices.SortFunc(ends, func(x, y fabric.PortIndex) int { // a node's first port comes first
		return cmp.Or(cmp.Compare(f.Ports[x].Num, f.Ports[y].Num), cmp.Compare(x, y))
	})
	twice := map[string]bool{}
	for _, e := range ends {
		n := &f.Nodes[f.Ports[e].Node]
		sw, _ := f.AttachedSwitch(e)
		if n.Type != mad.NodeCA || sw == fabric.None || f.IsAggregation(f.Ports[e].Node) {
			continue
		}
		name := NodeName(n.Desc, n.GUID)
		if at, ok := b.at[name]; ok {
			if at != sw {
				twice[name] = true
			}
			continue
		}
		b.at[name] = sw
		hosts[sw] = append(hosts[sw], name)
	}
	if len(twice) > 0 {
		b.t.Notes = append(b.t.Notes,
			fmt.Sprintf("%d nodes have ports on several leaf switches; each belongs to that of its first port",
				len(twice)))
	}
	var switches []fabric.SwitchIndex
	for sw := range hosts {
		switches = append(switches, sw)
	}
	slices.SortFunc(switches, func(x, y fabric.SwitchIndex) int {
		return cmp.Or(strings.Compare(f.SwitchNode(x).Desc, f.SwitchNode(y).Desc), cmp.Compare(x, y))
	})
	for _, sw := range switches {
		b.rank[sw], b.group[sw] = 0, len(b.t.Switches)
		b.t.Switches = append(b.t.Switches, Switch{Name: b.unique(sw), Nodes: hosts[sw]})
	}
}

// levels joins what hangs together, rank by rank.
func (b *builder) levels() {
	for level := 1; ; level++ {
		var reached []int32
		for sw := range b.rank {
			if b.rank[sw] >= 0 {
				continue
			}
			if b.next(fabric.SwitchIndex(sw), level-1) {
				reached = append(reached, int32(sw))
			}
		}
		for _, sw := range reached {
			b.rank[sw] = level
		}
		if len(reached) == 0 {
			break
		}
		b.join(level)
	}
	b.join(len(b.rank) + 1) // leaves that are linked to one another
	b.root()
}

// next reports whether a switch is beside one of a rank.
func (b *builder) next(sw fabric.SwitchIndex, rank int) bool {
	n := b.f.SwitchNode(sw)
	for p := range n.Ports() {
		if peer := b.f.PeerSwitch(p); peer != fabric.None && b.rank[peer] == rank {
			return true
		}
	}
	return false
}

// join makes a switch of the tree of each part that switches of ranks up to a level form, where that joins parts.
func (b *builder) join(level int) {
	seen := make([]bool, len(b.rank))
	for sw := range b.rank {
		if seen[sw] || b.rank[sw] < 0 || b.rank[sw] > level {
			continue
		}
		part := b.part(fabric.SwitchIndex(sw), level, seen)
		groups := map[int]bool{}
		var top fabric.SwitchIndex = fabric.None
		for _, m := range part {
			if g := b.group[m]; g >= 0 {
				groups[g] = true
			}
			if b.rank[m] == level && (top == fabric.None || b.f.SwitchNode(m).Desc < b.f.SwitchNode(top).Desc) {
				top = m
			}
		}
		if len(groups) == 0 {
			continue
		}
		var all []int
		for g := range groups {
			all = append(all, g)
		}
		slices.Sort(all)
		at := all[0]
		if len(all) > 1 {
			at = len(b.t.Switches)
			s := Switch{Name: b.freshName("root")}
			if top != fabric.None {
				s.Name = b.unique(top)
			}
			for _, g := range all {
				s.Children = append(s.Children, b.t.Switches[g].Name)
			}
			b.t.Switches = append(b.t.Switches, s)
		}
		for _, m := range part {
			b.group[m] = at
		}
	}
}

// part is what hangs together with a switch by switches of ranks up to a level. At the
// ranks of a tree leaves are not passed from one to the other.
func (b *builder) part(sw fabric.SwitchIndex, level int, seen []bool) []fabric.SwitchIndex {
	part := []fabric.SwitchIndex{sw}
	seen[sw] = true
	for next := 0; next < len(part); next++ {
		at := part[next]
		n := b.f.SwitchNode(at)
		for p := range n.Ports() {
			peer := b.f.PeerSwitch(p)
			if peer == fabric.None || seen[peer] || b.rank[peer] < 0 || b.rank[peer] > level {
				continue
			}
			seen[peer] = true
			part = append(part, peer)
		}
	}
	return part
}

// root joins what is left apart, so that jobs can span it.
func (b *builder) root() {
	child := map[string]bool{}
	for _, s := range b.t.Switches {
		for _, c := range s.Children {
			child[c] = true
		}
	}
	var tops []string
	for _, s := range b.t.Switches {
		if !child[s.Name] {
			tops = append(tops, s.Name)
		}
	}
	if len(tops) > 1 {
		b.t.Notes = append(b.t.Notes,
			fmt.Sprintf("%d parts of the subnet are not linked by switches; a root joins them", len(tops)))
		b.t.Switches = append(b.t.Switches, Switch{Name: b.freshName("root"), Children: tops})
	}
}

// unique returns a name for a switch that no other has.
func (b *builder) unique(sw fabric.SwitchIndex) string {
	n := b.f.SwitchNode(sw)
	name := clean(n.Desc)
	if name == "" || b.names[name] {
		name = strings.TrimLeft(name+fmt.Sprintf("-%016x", n.GUID), "-")
	}
	return b.freshName(name)
}

func (b *builder) freshName(name string) string {
	for base, i := name, 2; b.names[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	b.names[name] = true
	return name
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

const maxName = 63

// clean makes a name of a description: letters, digits, - and _, all else is _.
func clean(desc string) string {
	name := strings.Trim(unfit.ReplaceAllString(desc, "_"), "_-")
	return name[:min(len(name), maxName)]
}

// NodeName is what Slurm calls the node with an adapter of this description: its first
// word up to a dot, what Slurm does not take replaced; ib and the GUID where nothing
// is left, or where the rest could be taken for a word of Slurm's.
func NodeName(desc string, guid uint64) string {
	word := ""
	if words := strings.Fields(desc); len(words) > 0 {
		word, _, _ = strings.Cut(words[0], ".")
	}
	switch name := clean(word); strings.ToUpper(name) {
	case "", "ALL", "DEFAULT", "NONE":
		return fmt.Sprintf("ib%016x", guid)
	default:
		return name
	}
}

// WriteConf writes topology.conf.
func (t *Tree) WriteConf(w io.Writer) error {
	for _, n := range t.Notes {
		if _, err := fmt.Fprintf(w, "# %s\n", n); err != nil {
			return err
		}
	}
	for _, s := range t.Switches {
		what, names := "Switches", s.Children
		if len(s.Nodes) > 0 {
			what, names = "Nodes", s.Nodes
		}
		if _, err := fmt.Fprintf(w, "SwitchName=%s %s=%s\n", s.Name, what, Hostlist(names)); err != nil {
			return err
		}
	}
	return nil
}

// WriteYAML writes topology.yaml.
func (t *Tree) WriteYAML(w io.Writer) error {
	e := &errWriter{w: w}
	e.printf("---\n")
	for _, n := range t.Notes {
		e.printf("# %s\n", n)
	}
	e.printf("- topology: infiniband\n  cluster_default: true\n  tree:\n    switches:\n")
	for _, s := range t.Switches {
		what, names := "children", s.Children
		if len(s.Nodes) > 0 {
			what, names = "nodes", s.Nodes
		}
		e.printf("      - switch: %q\n        %s: %q\n", s.Name, what, Hostlist(names))
	}
	return e.err
}

type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}
