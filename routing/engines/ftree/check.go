// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
)

// OpenSM's FAT_TREE_MIN_RANK and FAT_TREE_MAX_RANK.
const (
	minTreeRank = 2
	maxTreeRank = 8
)

// basicProblems are those that show before the switches are ranked.
func (t *tree) basicProblems() []Problem {
	switches, adapters, others := 0, 0, 0
	for i := range t.f.Nodes {
		switch n := &t.f.Nodes[i]; {
		case !n.InSubnet:
		case n.Switch >= 0:
			switches++
		case isAdapter(n):
			adapters++
		default:
			others++
		}
	}
	var ps []Problem
	add := func(broken bool, r Rule, format string, args ...any) {
		if broken {
			ps = append(ps, Problem{Rule: r, Text: fmt.Sprintf(format, args...)})
		}
	}
	add(t.opt.LMC > 0, NoLMC, "the LMC is %d, expected 0", t.opt.LMC)
	add(switches < 2, FewSwitches, "the subnet has %d switches, expected 2 or more", switches)
	add(adapters+others < 2, FewNodes, "the subnet has %d nodes beside switches, expected 2 or more", adapters+others)
	for _, file := range []struct {
		kind  osm.GUIDFileKind
		guids []uint64
	}{{osm.ComputeNodes, t.opt.ComputeNodes}, {osm.IONodes, t.opt.IONodes}} {
		name := file.kind.Option()
		add(t.opt.BrokenNodeFile == name, BrokenFile, "%s has a line that does not begin with a GUID", name)
		add(t.opt.BrokenNodeFile != name && file.guids != nil && len(file.guids) == 0, EmptyFile,
			"%s names no node", name)
	}
	add(adapters < 2, FewAdapters, "the subnet has %d channel adapters, expected 2 or more", adapters)
	return ps
}

// rootProblems are those of the ranking.
func (t *tree) rootProblems() []Problem {
	var roots []fabric.SwitchIndex
	for s := range t.rank {
		if t.ranked(fabric.SwitchIndex(s)) {
			roots = append(roots, fabric.SwitchIndex(s))
		}
	}
	if t.maxRank > 0 || len(roots) < 2 {
		return nil
	}
	return []Problem{
		{
			Rule: SomeHostless, Switches: roots,
			Text: fmt.Sprintf("all %d switches are roots, as each has channel adapters or is named as one", len(roots)),
		},
	}
}

// rankProblems are those of the ranks of compute nodes.
func (t *tree) rankProblems() []Problem {
	cns := make([]int, len(t.rank))
	total := 0
	for i := range t.adapters {
		if a := &t.adapters[i]; a.cn {
			cns[a.sw]++
			total++
		}
	}
	if total == 0 {
		return []Problem{{Rule: NoCNs, Text: "none of the channel adapters is a compute node"}}
	}
	var ps []Problem
	if n := t.leafRank + 1; n < minTreeRank || n > maxTreeRank {
		ps = append(ps, Problem{
			Rule: TreeRank,
			Text: fmt.Sprintf("the tree has %d ranks of switches from the roots to the leaves, expected %d to %d",
				int(t.leafRank)+1, minTreeRank, maxTreeRank),
		})
	}
	var astray []fabric.SwitchIndex
	for s := range t.rank {
		if cns[s] > 0 && t.rank[s] != uint32(t.leafRank) {
			astray = append(astray, fabric.SwitchIndex(s))
		}
	}
	if len(astray) > 0 {
		ps = append(ps,
			Problem{Rule: LeafRank, Switches: astray,
				Text: fmt.Sprintf("compute nodes are expected on switches of rank %d alone: %s", t.leafRank,
					t.names(astray, func(s fabric.SwitchIndex) string {
						return fmt.Sprintf("has %d at rank %d", cns[s], t.rank[s])
					}))})
	}
	return ps
}

// firstUneven is what OpenSM's check of a pure fat-tree finds first: each switch
// is compared with the first one of its rank, in parts only.
func (t *tree) firstUneven() *Problem {
	reference := make([]fabric.SwitchIndex, int(t.leafRank)+1)
	for i := range reference {
		reference[i] = -1
	}
	for s := range fabric.SwitchIndex(len(t.rank)) {
		r := t.rank[s]
		if !t.ranked(s) || int(r) >= len(reference) {
			continue
		}
		if reference[r] < 0 {
			reference[r] = s
			continue
		}
		if rule, ok := t.unlike(reference[r], s); ok {
			return &Problem{Rule: rule, Switches: []fabric.SwitchIndex{reference[r], s},
				Text: fmt.Sprintf("%s and %s of rank %d have other numbers of %s",
					t.f.NodeName(t.f.Switches[reference[r]]), t.f.NodeName(t.f.Switches[s]), r, counted[rule])}
		}
	}
	return nil
}

// unlike compares a switch with the reference of its rank.
func (t *tree) unlike(ref, s fabric.SwitchIndex) (Rule, bool) {
	isLeaf := t.rank[s] == uint32(t.leafRank)
	up := func(g group) bool { return g.n != t.up[ref][0].n }
	switch {
	case len(t.up[ref]) != len(t.up[s]):
		return UpGroups, true
	case !isLeaf && len(t.down[ref]) != len(t.down[s]):
		return DownGroups, true
	case slices.ContainsFunc(t.up[s], up):
		return UpPorts, true
	case !isLeaf && len(t.down[ref]) > 0 && t.down[ref][0].n != t.down[s][0].n:
		return DownPorts, true
	}
	return 0, false
}

// counted says what the rules of a pure fat-tree count.
var counted = map[Rule]string{
	UpGroups: "upper neighbours", DownGroups: "lower neighbours", UpPorts: "links to an upper neighbour",
	DownPorts: "links to a lower neighbour",
}

// unevenness lists the switches that break the rules of a pure fat-tree: those unlike most of their rank. O(groups).
func (t *tree) unevenness() []Problem {
	var ps []Problem
	for rank := range uint32(t.maxRank) + 1 {
		var members []fabric.SwitchIndex
		for s, r := range t.rank {
			if r == rank {
				members = append(members, fabric.SwitchIndex(s))
			}
		}
		for _, rule := range []Rule{UpGroups, DownGroups, UpPorts, DownPorts} {
			lower := rule == DownGroups || rule == DownPorts
			if lower && rank == uint32(t.leafRank) {
				continue // hosts may be missing
			}
			if p := t.uneven(rule, rank, members); p != nil {
				ps = append(ps, *p)
			}
		}
	}
	return ps
}

// uneven finds the switches of a rank that have other numbers than most.
func (t *tree) uneven(rule Rule, rank uint32, members []fabric.SwitchIndex) *Problem {
	votes := map[int]int{}
	for _, s := range members {
		for _, n := range t.numbers(rule, s) {
			votes[n]++
		}
	}
	if len(votes) < 2 {
		return nil
	}
	usual, most := 0, 0
	for n, v := range votes {
		if v > most || v == most && n > usual {
			usual, most = n, v
		}
	}
	var odd []fabric.SwitchIndex
	for _, s := range members {
		if slices.ContainsFunc(t.numbers(rule, s), func(n int) bool { return n != usual }) {
			odd = append(odd, s)
		}
	}
	return &Problem{Rule: rule, Switches: odd, Text: fmt.Sprintf("rank %d: most switches have %d %s, but %s", rank,
		usual, counted[rule],
		t.names(odd, func(s fabric.SwitchIndex) string { return spoken(t.numbers(rule, s)) }))}
}

// numbers are those that a rule counts on a switch.
func (t *tree) numbers(rule Rule, s fabric.SwitchIndex) []int {
	var out []int
	groups := t.up[s]
	switch rule {
	case UpGroups:
		return []int{len(t.up[s])}
	case DownGroups:
		return []int{len(t.down[s])}
	case DownPorts:
		groups = t.down[s]
	}
	for i := range groups {
		if groups[i].remote >= 0 {
			out = append(out, int(groups[i].n))
		}
	}
	return out
}

// spoken is numbers in ascending order, each once.
func spoken(all []int) string {
	all = slices.Compact(slices.SortedFunc(slices.Values(all), cmp.Compare[int]))
	var text strings.Builder
	for i, n := range all {
		switch {
		case i > 0 && i == len(all)-1:
			text.WriteString(" and ")
		case i > 0:
			text.WriteString(", ")
		}
		_, _ = fmt.Fprint(&text, n)
	}
	return text.String()
}
