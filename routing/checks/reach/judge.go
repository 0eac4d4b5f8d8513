// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Classifier finds how the paths of a tree end. It is scratch memory for one tree after another.
type Classifier struct {
	ends *trees.Ends
	// verdicts and links hold, by switch, how packets from there end and over how many links.
	verdicts []walk.Verdict
	links    []int32
	// pairs holds, by group, the worst outcome of the LIDs of an end so far.
	pairs []Outcome
}

// Outcome is the outcome of a pair: that of its worst path.
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

// NewClassifier returns scratch memory for one goroutine.
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

// end returns the verdict on a packet that meets no further switch.
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

// Group returns the verdict of [walk.Trace] on the paths of a group of the last tree, and their number of links.
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

// Pairs records the verdict on the paths of a group, and returns the outcome of the pairs of the group and the end of
// the tree by the LIDs of the end so far. It is for trees as visited by [trees.Ends.Each].
func (j *Classifier) Pairs(group int, t *trees.Tree, v walk.Verdict) Outcome {
	if t.First {
		j.pairs[group] = Arrives
	}
	j.pairs[group] = max(j.pairs[group], outcomeOf(v))
	return j.pairs[group]
}
