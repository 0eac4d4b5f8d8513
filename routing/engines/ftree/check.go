// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/routing"
)

// minTreeRank and maxTreeRank are OpenSM's FAT_TREE_MIN_RANK and FAT_TREE_MAX_RANK.
const (
	minTreeRank = 2
	maxTreeRank = 8
)

// basicProblems returns the problems that do not depend on the ranks of switches.
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
	add(adapters+others < 2, FewNodes, "the subnet has %d nodes that are not switches, expected 2 or more",
		adapters+others)
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

// rootProblems returns the problems that the ranking from the roots shows.
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

// rankProblems returns the problems of the ranks of compute nodes.
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
	var misplaced []fabric.SwitchIndex
	for s := range t.rank {
		if cns[s] > 0 && t.rank[s] != uint32(t.leafRank) {
			misplaced = append(misplaced, fabric.SwitchIndex(s))
		}
	}
	if len(misplaced) > 0 {
		ps = append(ps,
			Problem{Rule: LeafRank, Switches: misplaced,
				Text: fmt.Sprintf("compute nodes are expected on switches of rank %d alone: %s", t.leafRank,
					t.names(misplaced, func(s fabric.SwitchIndex) string {
						return fmt.Sprintf("has %d at rank %d", cns[s], t.rank[s])
					}))})
	}
	return ps
}

// firstUneven returns the first problem that OpenSM's check of a pure fat-tree finds. OpenSM compares each switch with
// the first switch of its rank, but not in all properties.
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
		if rule, ok := t.differs(reference[r], s); ok {
			return &Problem{Rule: rule, Switches: []fabric.SwitchIndex{reference[r], s},
				Text: fmt.Sprintf("%s and %s of rank %d have different numbers of %s",
					t.f.NodeName(t.f.Switches[reference[r]]), t.f.NodeName(t.f.Switches[s]), r, counted[rule])}
		}
	}
	return nil
}

// differs returns the rule by which switch s differs from ref, the reference switch of its rank.
func (t *tree) differs(ref, s fabric.SwitchIndex) (Rule, bool) {
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

// counted holds, for each rule of a pure fat-tree, a description of what the rule counts.
var counted = map[Rule]string{
	UpGroups: "upper neighbours", DownGroups: "lower neighbours", UpPorts: "links to an upper neighbour",
	DownPorts: "links to a lower neighbour",
}

// unevenness returns the broken rules of a pure fat-tree. Each problem lists the switches that differ from most
// switches of their rank. O(groups).
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

// uneven returns the problem of the switches of a rank whose numbers differ from the numbers of most switches of the
// rank.
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
	var differing []fabric.SwitchIndex
	for _, s := range members {
		if slices.ContainsFunc(t.numbers(rule, s), func(n int) bool { return n != usual }) {
			differing = append(differing, s)
		}
	}
	return &Problem{Rule: rule, Switches: differing,
		Text: fmt.Sprintf("rank %d: most switches have %d %s, but %s", rank,
			usual, counted[rule],
			t.names(differing, func(s fabric.SwitchIndex) string { return listNumbers(t.numbers(rule, s)) }))}
}

// numbers returns the numbers of switch s to which a rule applies.
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

// listNumbers returns the distinct numbers as text, in ascending order.
func listNumbers(all []int) string {
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

// Rule is a rule of fat-trees.
type Rule uint8

// The rules, in OpenSM's order. The rules from UpGroups on apply only to fabrics without a root_guid_file.
const (
	NoLMC        Rule = iota // the LMC is 0
	FewSwitches              // two switches or more
	FewNodes                 // two or more nodes that are not switches
	BrokenFile               // the files of nodes can be read
	EmptyFile                // no node file is empty
	FewAdapters              // two channel adapters or more
	SomeHostless             // some switch has no adapters
	NoCNs                    // some adapters are compute nodes
	TreeRank                 // the tree has two to eight ranks
	LeafRank                 // all compute nodes are on switches of one rank
	FewLeaves                // two switches or more have compute nodes
	UpGroups                 // switches of a rank have as many upper neighbours
	DownGroups               // switches of a rank have as many lower neighbours
	UpPorts                  // switches of a rank have as many links to each upper neighbour
	DownPorts                // switches of a rank have as many links to each lower neighbour
)

// codes holds the numbers of the errors in OpenSM's log. OpenSM logs the other errors at level 0x02 without a number.
var codes = map[Rule]string{
	BrokenFile: "AB23", EmptyFile: "AB27", SomeHostless: "AB2B", LeafRank: "AB26",
	UpGroups: "AB09", DownGroups: "AB0A", UpPorts: "AB0B", DownPorts: "AB0C",
}

// Code returns the number of the error that OpenSM logs if the rule is broken, such as AB09. It returns "" if the error
// has no number. For an io_guid_file OpenSM logs AB28 instead of AB23, and AB29 instead of AB27.
func (r Rule) Code() string { return codes[r] }

// Problem is a rule that a fabric breaks.
type Problem struct {
	Rule Rule
	// Switches are the switches concerned. For UpGroups and later rules they are the switches that differ from most
	// switches of their rank.
	Switches []fabric.SwitchIndex
	// Text describes the problem in a sentence.
	Text string
}

// NotFatTreeError reports why OpenSM does not accept a fabric as a fat-tree. It is a [routing.RefusedError].
type NotFatTreeError struct {
	routing.RefusedError
	// Problems lists all broken rules that can be determined. OpenSM refuses because of the first one.
	Problems []Problem
}

// Unwrap returns the refusal.
func (e *NotFatTreeError) Unwrap() error { return &e.RefusedError }

// refuse returns a NotFatTreeError with the problems, or nil if there are none.
func refuse(ps []Problem) error {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.Text
	}
	file := slices.ContainsFunc(ps, func(p Problem) bool { return p.Rule == BrokenFile || p.Rule == EmptyFile })
	return &NotFatTreeError{
		RefusedError: routing.RefusedError{Engine: Name, Reason: strings.Join(texts, "; "), File: file}, Problems: ps,
	}
}

// warn returns warnings for problems that OpenSM ignores.
func warn(ps []Problem) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Text+"; OpenSM does not check this")
	}
	return out
}

// moveToFront moves one problem, or the problem that is equivalent to it, to the front of a list. If the list does not
// contain it, moveToFront inserts it there.
func moveToFront(first Problem, others []Problem) []Problem {
	out := []Problem{first}
	for _, p := range others {
		if p.Rule == first.Rule && out[0].Text == first.Text && concerns(&p, first.Switches) {
			out[0] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// concerns reports whether one of the switches is among the switches of a problem.
func concerns(p *Problem, switches []fabric.SwitchIndex) bool {
	return slices.ContainsFunc(p.Switches, func(s fabric.SwitchIndex) bool { return slices.Contains(switches, s) })
}

// mostListed is the maximum number of switches listed in a text.
const mostListed = 8

// names returns text that lists switches, with the description of each switch that a function returns.
func (t *tree) names(switches []fabric.SwitchIndex, of func(s fabric.SwitchIndex) string) string {
	var parts []string
	for i, s := range switches {
		if i == mostListed {
			parts = append(parts, fmt.Sprintf("%d more", len(switches)-mostListed))
			break
		}
		parts = append(parts, t.f.NodeName(t.f.Switches[s])+" "+of(s))
	}
	return strings.Join(parts, ", ")
}
