// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// Rule is a rule that fat-trees keep.
type Rule uint8

// The rules, in OpenSM's order. Those from UpGroups on are for fabrics without a root_guid_file.
const (
	NoLMC        Rule = iota // the LMC is 0
	FewSwitches              // two switches or more
	FewNodes                 // two nodes or more that are no switches
	BrokenFile               // the files of nodes can be read
	EmptyFile                // a file of nodes names some
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

// codes are the errors in OpenSM's log; what it has no number for it says at level 0x02.
var codes = map[Rule]string{
	BrokenFile: "AB23", EmptyFile: "AB27", SomeHostless: "AB2B", LeafRank: "AB26",
	UpGroups: "AB09", DownGroups: "AB0A", UpPorts: "AB0B", DownPorts: "AB0C",
}

// Code is the number of the error that OpenSM logs where the rule is broken, such as AB09; "" where it has
// none. Of an io_guid_file it is AB28 for AB23 and AB29 for AB27.
func (r Rule) Code() string { return codes[r] }

// Problem is a rule that a fabric breaks.
type Problem struct {
	Rule Rule
	// Switches are those that it concerns, of UpGroups and later rules the ones that are unlike most of their rank.
	Switches []fabric.SwitchIndex
	// Text says in a sentence what is wrong.
	Text string
}

// NotFatTreeError says why OpenSM does not take a fabric for a fat-tree. It is a [routing.RefusedError].
type NotFatTreeError struct {
	routing.RefusedError
	// Problems are all rules that the fabric breaks, as far as can be told. For the first one OpenSM refuses.
	Problems []Problem
}

// Unwrap returns the refusal.
func (e *NotFatTreeError) Unwrap() error { return &e.RefusedError }

// refuse makes the error of some problems.
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

// warn says what is wrong where OpenSM does not mind.
func warn(ps []Problem) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Text+"; OpenSM does not check this")
	}
	return out
}

// inFront moves the problem with the rule of first to the front of others, or puts first there.
func inFront(first Problem, others []Problem) []Problem {
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

// concerns reports whether a problem is with one of some switches.
func concerns(p *Problem, switches []fabric.SwitchIndex) bool {
	return slices.ContainsFunc(p.Switches, func(s fabric.SwitchIndex) bool { return slices.Contains(switches, s) })
}

// mostNamed is how many switches a text names.
const mostNamed = 8

// names lists switches with what is said of each.
func (t *tree) names(switches []fabric.SwitchIndex, of func(s fabric.SwitchIndex) string) string {
	var parts []string
	for i, s := range switches {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(switches)-mostNamed))
			break
		}
		parts = append(parts, t.f.NodeName(t.f.Switches[s])+" "+of(s))
	}
	return strings.Join(parts, ", ")
}
