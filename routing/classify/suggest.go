// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/ftree"
)

// Suggestion holds options for ftree.
type Suggestion struct {
	Classes *Classes
	// Roots are the switches of root_guid_file.
	Roots []fabric.SwitchIndex
	// ComputeNodes and IONodes are the end ports for cn_guid_file and io_guid_file. If IONodes is empty, OpenSM must
	// have no io_guid_file, because it rejects an empty file.
	ComputeNodes, IONodes []fabric.PortIndex
	// MaxReverseHops is the value of max_reverse_hops. It allows the I/O nodes to reach each other.
	MaxReverseHops uint16
	// Tried lists all attempts, including the one for this suggestion.
	Tried []Attempt
}

// Attempt is one run of the engine.
type Attempt struct {
	// What is a description of the attempt.
	What string
	// Err is the reason why the engine refused, or nil if it did not refuse.
	Err error
	// If the engine routed, Pairs is the number of ordered pairs of end ports that are not switches. Aggregation counts
	// the pairs with an aggregation node that have no path. Unreachable counts the other pairs that have no path.
	Pairs, Unreachable, Aggregation int64
}

// NoTreeError reports that ftree refused the fabric in all attempts, or that no attempt was possible.
type NoTreeError struct {
	// Reason is the reason why nothing could be tried, or "" if something was tried.
	Reason string
	Tried  []Attempt
}

func (e *NoTreeError) Error() string {
	if e.Reason != "" {
		return "no fat-tree: " + e.Reason
	}
	var tried []string
	for _, a := range e.Tried {
		tried = append(tried, fmt.Sprintf("with %s: %v", a.What, a.Err))
	}
	return "no fat-tree: " + strings.Join(tried, "; ")
}

// GUIDs returns the node GUIDs of the roots, and the port GUIDs of the compute nodes and the I/O nodes.
func (s *Suggestion) GUIDs() (roots, computeNodes, ioNodes []uint64) {
	f := s.Classes.Fabric
	for _, r := range s.Roots {
		roots = append(roots, f.SwitchNode(r).GUID)
	}
	return roots, portGUIDs(f, s.ComputeNodes), portGUIDs(f, s.IONodes)
}

func portGUIDs(f *fabric.Fabric, ends []fabric.PortIndex) (guids []uint64) {
	for _, e := range ends {
		guids = append(guids, f.Ports[e].GUID)
	}
	return guids
}

// Options returns opt, changed as suggested.
func (s *Suggestion) Options(opt routing.Options) routing.Options {
	opt.RootGUIDs, opt.ComputeNodes, opt.IONodes = s.GUIDs()
	opt.MaxReverseHops = s.MaxReverseHops
	return opt
}

// Suggest classifies a subnet and suggests options for ftree. It tries ftree with several suggestions until all hosts
// reach one another. The argument hints is optional. Some hosts may have no path to an aggregation node, because no
// path leads up and then down between two roots.
//
// Suggest returns the suggestion with the fewest unreachable pairs. It returns a [NoTreeError] if ftree refuses all
// suggestions. Ports without a LID get a LID. Each attempt costs one run of ftree and one run of [reach.Check].
func Suggest(ctx context.Context, f *fabric.Fabric, hints *Hints, opt routing.Options) (*Suggestion, error) {
	f, err := fabric.AssignLIDs(f)
	if err != nil {
		return nil, fmt.Errorf("suggest GUIDs: %w", err)
	}
	s := &search{ctx: ctx, opt: opt}
	classes := classesOf(f, hints)
	rootChoices := classes.rootChoices()
	if len(rootChoices) == 0 {
		return nil, &NoTreeError{Reason: classes.noTreeReason()}
	}
	for _, one := range classes.candidates(rootChoices) {
		done, err := s.try(one)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	if s.best == nil {
		return nil, &NoTreeError{Tried: s.tried}
	}
	s.best.Tried = s.tried
	return s.best, nil
}

// noTreeReason returns the reason why the subnet has no roots.
func (c *Classes) noTreeReason() string {
	leaves := 0
	for i := range c.Switches {
		if c.Switches[i].Layer == Leaf {
			leaves++
		}
	}
	if leaves == 0 {
		return "no switch has compute nodes"
	}
	if slices.ContainsFunc(c.Switches, func(s Switch) bool { return s.Hosts == 0 }) {
		return "the switches with compute nodes are linked among themselves"
	}
	return fmt.Sprintf("compute nodes are attached to every switch, of which there are %d", leaves)
}

// rootChoice is a choice of roots.
type rootChoice struct {
	what  string
	roots []fabric.SwitchIndex
}

// rootChoices returns two choices of roots: the switches farthest from the leaves, and all switches from which no path
// leads farther away from the leaves.
func (c *Classes) rootChoices() []rootChoice {
	var farthest, summits []fabric.SwitchIndex
	for s := range c.Switches {
		sw := &c.Switches[s]
		if sw.Layer == Root {
			farthest = append(farthest, fabric.SwitchIndex(s))
		}
		if sw.Layer != Leaf && sw.Layer != Unreachable && c.isSummit(fabric.SwitchIndex(s)) {
			summits = append(summits, fabric.SwitchIndex(s))
		}
	}
	if len(farthest) == 0 {
		return nil
	}
	all := []rootChoice{{fmt.Sprintf("the %d switches farthest from the leaves as roots", len(farthest)), farthest}}
	if !slices.Equal(farthest, summits) {
		all = append(all, rootChoice{
			fmt.Sprintf("the %d switches from which no path leads farther as roots", len(summits)), summits,
		})
	}
	return all
}

func (c *Classes) isSummit(s fabric.SwitchIndex) bool {
	rank := c.Switches[s].Rank
	return !slices.ContainsFunc(c.graph.Of(s), func(l routing.SwitchLink) bool {
		return c.Switches[l.Peer].Rank > rank
	})
}

// search is a search for a suggestion.
type search struct {
	ctx   context.Context
	opt   routing.Options
	tried []Attempt
	best  *Suggestion
	// unreachable is the number of unreachable pairs with the best suggestion so far.
	unreachable int64
}

// candidate is a suggestion to try.
type candidate struct {
	*Suggestion
	what   string
	height int32
}

// candidates returns the suggestions for some choices of roots. Suggestions with the most compute nodes come first.
func (c *Classes) candidates(rootChoices []rootChoice) []candidate {
	var all []candidate
	for _, t := range rootChoices {
		s, height := c.suggestionFor(t.roots)
		all = append(all, candidate{s, t.what, height})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return len(a.IONodes) - len(b.IONodes) })
	return all
}

// try routes by one suggestion with increasing max_reverse_hops. It stops when all adapters reach each other, and the
// result done reports whether they do.
func (s *search) try(one candidate) (done bool, err error) {
	for ; ; one.MaxReverseHops++ {
		a := Attempt{
			What: fmt.Sprintf("%s, %d compute and %d other nodes, max_reverse_hops %d", one.what, len(one.ComputeNodes),
				len(one.IONodes), one.MaxReverseHops),
		}
		err := s.route(one.Suggestion, &a)
		if s.ctx.Err() != nil {
			return false, err
		}
		a.Err = err
		s.tried = append(s.tried, a)
		if err != nil {
			return false, nil
		}
		if s.best == nil || a.Unreachable < s.unreachable {
			best := *one.Suggestion
			s.best, s.unreachable = &best, a.Unreachable
		}
		if a.Unreachable == 0 || len(one.IONodes) == 0 || int32(one.MaxReverseHops) >= one.height {
			return a.Unreachable == 0, nil
		}
	}
}

// mostExamples is the maximum number of unreachable pairs that are tested for aggregation nodes. Further pairs count as
// Unreachable.
const mostExamples = 1 << 18

func (s *search) route(one *Suggestion, a *Attempt) error {
	f := one.Classes.Fabric
	res, err := routing.Route(s.ctx, ftree.Engine{}, f, one.Options(s.opt))
	if err != nil {
		return err
	}
	all, err := reach.Check(s.ctx, res.Tables, reach.Options{Examples: mostExamples})
	if err != nil {
		return err
	}
	aggregation := map[fabric.PortIndex]bool{}
	for i := range one.Classes.Adapters {
		if n := &one.Classes.Adapters[i]; n.Role == Aggregation {
			aggregation[n.End] = true
		}
	}
	for _, p := range all.Troubles {
		if aggregation[p.Src] || aggregation[p.Dst] {
			a.Aggregation++
		}
	}
	a.Unreachable, a.Pairs = all.Bad()-a.Aggregation, all.Pairs
	return nil
}

// suggestionFor returns the suggestion for some roots, and the distance of the leaves from the roots. Compute nodes
// must all have this distance. Other adapters become I/O nodes.
func (c *Classes) suggestionFor(roots []fabric.SwitchIndex) (*Suggestion, int32) {
	from := make([]bool, len(c.Switches))
	for _, r := range roots {
		from[r] = true
	}
	ranks := c.distances(from)
	nodes := map[int32]int{}
	for i := range c.Adapters {
		if a := &c.Adapters[i]; a.Role == Compute {
			nodes[ranks[a.Switch]]++
		}
	}
	usual := routing.Unranked
	for r, n := range nodes {
		if n > nodes[usual] || n == nodes[usual] && r > usual {
			usual = r
		}
	}
	s := &Suggestion{Classes: c.withRoots(roots), Roots: roots}
	for i := range s.Classes.Adapters {
		a := &s.Classes.Adapters[i]
		if a.Role == Compute && ranks[a.Switch] != usual {
			a.Role, a.Reason = Service, byRank
		}
		if a.Role == Compute {
			s.ComputeNodes = append(s.ComputeNodes, a.End)
		} else {
			s.IONodes = append(s.IONodes, a.End)
		}
	}
	return s, usual
}

// withRoots returns a copy of the classes with the given roots.
func (c *Classes) withRoots(roots []fabric.SwitchIndex) *Classes {
	n := *c
	n.Switches, n.Adapters = slices.Clone(c.Switches), slices.Clone(c.Adapters)
	for s := range n.Switches {
		if sw := &n.Switches[s]; sw.Layer == Root {
			sw.Layer = Middle
		}
	}
	for _, r := range roots {
		n.Switches[r].Layer = Root
	}
	return &n
}
