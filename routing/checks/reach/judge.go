// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Classifier says of the paths of a tree how they end. It is scratch memory for one tree after the other.
type Classifier struct {
	ends *trees.Ends
	// verdicts and links are, by switch, how packets from there end and over how many links.
	verdicts []walk.Verdict
	links    []int32
	// pairs are, by group, the worst of the LIDs of an end so far.
	pairs []Outcome
}

// Outcome is what becomes of a pair: the worst of its paths.
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

// NewClassifier makes scratch memory for one goroutine.
func NewClassifier(e *trees.Ends) *Classifier {
	n := len(e.Tables.Fabric.Switches)
	return &Classifier{
		ends: e, verdicts: make([]walk.Verdict, n), links: make([]int32, n), pairs: make([]Outcome, len(e.Groups)),
	}
}

// Tree judges the paths from the switches of a tree. O(switches).
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
		// A switch whose successor has not come yet closes a loop.
		j.verdicts[sw] = walk.Loop
		if v := j.verdicts[next]; v != 0 {
			j.verdicts[sw] = v
		}
		j.links[sw] = j.links[next] + 1
	}
}

// end judges a packet that meets no further switch.
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

// Group is the verdict on the paths of a group of the tree that was judged last, as
// [walk.Trace] gives it, and their number of links.
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

// Pairs takes the verdict on the paths of a group into account, and returns what becomes of the pairs of the group and
// the end of the tree by the LIDs of the end so far. It is for trees as [trees.Ends.Each] visits them.
func (j *Classifier) Pairs(group int, t *trees.Tree, v walk.Verdict) Outcome {
	if t.First {
		j.pairs[group] = Arrives
	}
	j.pairs[group] = max(j.pairs[group], outcomeOf(v))
	return j.pairs[group]
}
