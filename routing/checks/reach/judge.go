// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Classifier finds how the paths of a tree end. It is scratch memory that is reused for each tree.
type Classifier struct {
	ends *trees.Ends
	// verdicts and links hold, for each switch, how packets from the switch end and over how many links.
	verdicts []walk.Verdict
	links    []int32
	// pairs holds, for each group, the worst outcome so far over the LIDs of the current destination.
	pairs []Outcome
}

// Outcome is the outcome of a pair. It is the outcome of the worst path of the pair.
type Outcome uint8

// The outcomes, the worst last.
const (
	Arrives Outcome = iota
	Unknown
	Lost
)

func outcomeOf(v walk.Verdict) Outcome {
	switch {
	case v.Arrives():
		return Arrives
	case v == walk.Unknown:
		return Unknown
	}
	return Lost
}

// NewClassifier returns a classifier for the trees of e. It is for one goroutine.
func NewClassifier(e *trees.Ends) *Classifier {
	n := len(e.Tables.Fabric.Switches)
	return &Classifier{
		ends: e, verdicts: make([]walk.Verdict, n), links: make([]int32, n), pairs: make([]Outcome, len(e.Groups)),
	}
}

// Tree computes the verdicts on the paths from the switches of a tree. O(switches).
func (j *Classifier) Tree(t *trees.Tree) {
	clear(j.verdicts)
	for _, sw := range t.Order {
		next := t.Next(sw)
		if next < 0 {
			j.verdicts[sw] = j.end(next, t)
			j.links[sw] = 1
			if t.Entry(sw) == 0 {
				j.links[sw] = 0
			}
			continue
		}
		// A switch whose successor has not been visited yet closes a loop.
		j.verdicts[sw] = walk.Loop
		if v := j.verdicts[next]; v != 0 {
			j.verdicts[sw] = v
		}
		j.links[sw] = j.links[next] + 1
	}
}

// end returns the verdict on a packet to the end of tree t that leaves for x and meets no further switch.
func (j *Classifier) end(x walk.Target, t *trees.Tree) walk.Verdict {
	switch x {
	case walk.ToPort(j.ends.Ports[t.End]):
		return walk.Delivered
	case walk.Nowhere:
		return walk.DeadEnd
	case walk.Unread:
		return walk.Unknown
	}
	return walk.Misdelivered
}

// Group returns the verdict on the paths of a group in the last tree, as [walk.Trace] returns it, and their number of
// links.
func (j *Classifier) Group(g *trees.Group, t *trees.Tree) (v walk.Verdict, links int) {
	if g.At < 0 {
		return j.end(g.At, t), g.Links
	}
	v, links = j.verdicts[g.At], g.Links+int(j.links[g.At])
	if v == walk.Delivered && links > walk.MaxHops {
		v = walk.TooLong
	}
	return v, links
}

// Pairs records the verdict v on the paths of a group to the LID of tree t. It returns the worst outcome so far over
// the LIDs of the same destination. The trees must come in the order of [trees.Ends.Each].
func (j *Classifier) Pairs(group int, t *trees.Tree, v walk.Verdict) Outcome {
	if t.First {
		j.pairs[group] = Arrives
	}
	j.pairs[group] = max(j.pairs[group], outcomeOf(v))
	return j.pairs[group]
}
