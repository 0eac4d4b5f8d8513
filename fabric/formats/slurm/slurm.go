// SPDX-License-Identifier: Apache-2.0

// Package slurm writes a subnet as a topology of the workload manager Slurm. It writes topology.conf for the plugin
// topology/tree, and topology.yaml for later versions (topology.conf(5), topology.yaml(5)).
//
// Slurm represents a network as a tree. Switches with hosts are the leaves. The other switches are ranked by their
// distance from the nearest leaf. All switches that are connected through switches of lower rank form one switch of the
// tree, named after the first switch of the highest rank. So a three-level fat-tree has leaves, pods and a root. A
// torus has its switches and a root.
package slurm

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Switch is a switch of the tree. A leaf has Nodes; any other switch has Children.
type Switch struct {
	Name     string
	Nodes    []string
	Children []string
}

// Tree is a topology. The leaves come first, the roots come after their children.
type Tree struct {
	Switches []Switch
	// Notes holds sentences about parts of the subnet that a tree cannot represent.
	Notes []string
}

// TreeOf returns the tree of a fabric. The nodes are named after the channel adapters: the name is the first word of
// the description, up to a dot. The argument adapters selects adapters by patterns of their descriptions, or of the
// names of their nodes; without patterns all are selected. A node with selected ports on several leaves belongs to the
// leaf of its first port. Aggregation nodes are omitted. Parts of the fabric that no switches link have a root each,
// because a job of Slurm must not span them. TreeOf returns an error if a pattern selects nothing. O(ports).
func TreeOf(f *fabric.Fabric, adapters ...string) (*Tree, error) {
	b := &builder{f: f, t: &Tree{}, names: map[string]bool{}, at: map[string]fabric.SwitchIndex{}, adapters: adapters,
		used: map[string]bool{}}
	b.leaves()
	for _, pattern := range adapters {
		if !b.used[pattern] {
			return nil, fmt.Errorf("select adapters: no adapter of a host matches %q", pattern)
		}
	}
	b.noteLeftOut()
	b.levels()
	return b.t, nil
}

// selects reports whether an adapter is selected.
func (b *builder) selects(desc, name string) bool {
	selected := len(b.adapters) == 0
	for _, pattern := range b.adapters {
		for _, text := range []string{desc, name} {
			if ok, _ := path.Match(pattern, text); ok || pattern == text {
				selected, b.used[pattern] = true, true
			}
		}
	}
	return selected
}

type builder struct {
	f     *fabric.Fabric
	t     *Tree
	names map[string]bool
	// adapters are the patterns that select adapters, and used are the patterns that selected an adapter.
	adapters []string
	used     map[string]bool
	// names of nodes with adapters that no pattern selects, in the order of the adapters
	unselected []string
	// at maps the name of a node to its leaf.
	at map[string]fabric.SwitchIndex
	// rank is the distance of each switch from the nearest leaf, -1 if there is no path to a leaf or the distance is
	// not known yet.
	rank []int
	// group is, for each switch, the index of the tree switch to which it currently belongs, -1 for none.
	group []int
}

// leaves adds the switches with hosts to the tree, sorted by description.
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
		if !b.selects(n.Desc, name) {
			b.unselected = append(b.unselected, name)
			continue
		}
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
			prose.Verb(len(twice), "node", "has", "have")+
				" ports on several leaf switches; each belongs to that of its first port")
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

// noteLeftOut adds a note if nodes are left out because no pattern selects any of their adapters.
func (b *builder) noteLeftOut() {
	left := slices.DeleteFunc(b.unselected, func(name string) bool { _, ok := b.at[name]; return ok })
	slices.Sort(left)
	if left = slices.Compact(left); len(left) > 0 {
		b.t.Notes = append(b.t.Notes, prose.Verb(len(left), "node", "is", "are")+" left out, because no pattern "+
			"selects an adapter: "+prose.List(left, maxLeftOut))
	}
}

// maxLeftOut is the maximum number of nodes that a note lists.
const maxLeftOut = 8

// levels assigns ranks and joins connected switches, rank by rank.
func (b *builder) levels() {
	for level := 1; ; level++ {
		var reached []int32
		for sw := range b.rank {
			if b.rank[sw] >= 0 {
				continue
			}
			if b.isLinkedToRank(fabric.SwitchIndex(sw), level-1) {
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
	b.join(len(b.rank) + 1) // leaves that are linked to each other
	b.noteRoots()
}

// isLinkedToRank reports whether a switch is linked to a switch of the given rank.
func (b *builder) isLinkedToRank(sw fabric.SwitchIndex, rank int) bool {
	n := b.f.SwitchNode(sw)
	for p := range n.Ports() {
		if peer := b.f.PeerSwitch(p); peer != fabric.None && b.rank[peer] == rank {
			return true
		}
	}
	return false
}

// join considers the switches with ranks up to level and splits them into connected parts. For each part that contains
// several switches of the tree, it adds a new switch of the tree above them.
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

// part returns the switches that are connected to a switch through switches with ranks up to level.
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

// noteRoots adds a note if the tree has several roots.
func (b *builder) noteRoots() {
	roots := len(b.t.Switches)
	for _, s := range b.t.Switches {
		roots -= len(s.Children)
	}
	if roots > 1 {
		b.t.Notes = append(b.t.Notes, fmt.Sprintf("%d fabrics are not linked by switches: each has its own root, and "+
			"no job spans them", roots))
	}
}

// unique returns a name for a switch that no other switch of the tree has.
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

var invalidChars = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

const maxName = 63

// clean returns a name made from a description. It keeps letters, digits, - and _, and replaces all other characters
// with _.
func clean(desc string) string {
	name := strings.Trim(invalidChars.ReplaceAllString(desc, "_"), "_-")
	return name[:min(len(name), maxName)]
}

// NodeName returns the Slurm name of the node whose adapter has this description. The name is the first word of the
// description up to a dot, without characters that Slurm does not accept. If nothing remains or the name is a word of
// Slurm, NodeName returns ib followed by the GUID.
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
		key, names := "Switches", s.Children
		if len(s.Nodes) > 0 {
			key, names = "Nodes", s.Nodes
		}
		if _, err := fmt.Fprintf(w, "SwitchName=%s %s=%s\n", s.Name, key, Hostlist(names)); err != nil {
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
		key, names := "children", s.Children
		if len(s.Nodes) > 0 {
			key, names = "nodes", s.Nodes
		}
		e.printf("      - switch: %q\n        %s: %q\n", s.Name, key, Hostlist(names))
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
