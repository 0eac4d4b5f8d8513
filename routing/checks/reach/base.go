// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Base holds tables that were checked completely. Other tables that differ in few places can be checked quickly from
// it. It is read-only.
type Base struct {
	forest *trees.Forest
	c      *checker
	result *Result
	// at lists, for each switch, the groups of ends attached to it. end is indexed by LID: the end that has the LID, or
	// -1.
	at  [][]int32
	end []int32
}

// NewBase checks the tables of a forest. O(LIDs x switches) on all processors.
func NewBase(ctx context.Context, forest *trees.Forest, opt Options) (*Base, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	t := forest.Tables
	b := &Base{forest: forest, c: newChecker(t, opt), at: make([][]int32, len(t.Fabric.Switches))}
	if err := b.c.run(ctx); err != nil {
		return nil, fmt.Errorf("follow all paths of %s: %w", t.Origin, err)
	}
	b.result = b.c.result()
	for g := range b.c.ends.Groups {
		if at := b.c.ends.Groups[g].At; at >= 0 {
			b.at[at] = append(b.at[at], int32(g))
		}
	}
	b.end = slices.Repeat([]int32{-1}, int(t.LFT.MaxLID)+1)
	for _, l := range b.c.ends.LIDs {
		if int(l.LID) < len(b.end) {
			b.end[l.LID] = l.End
		}
	}
	return b, nil
}

// Result returns the result for the base.
func (b *Base) Result() *Result { return b.result }

// Check is like the function [Check], with the options of the base. If all paths of the base and of t arrive and
// [trees.Forest.Against] finds the difference of their tables, Check follows only the paths that this difference
// changes.
func (b *Base) Check(ctx context.Context, t *fabric.Tables) (*Result, error) {
	d, ok := b.forest.Against(t)
	if ok && b.result.Delivered == b.result.Paths && b.c.distances != nil { // nil without LIDs
		if r := b.recheck(t, d); r != nil {
			return r, ctx.Err()
		}
	}
	return Check(ctx, t, b.c.opt)
}

// rechecker computes a result from the result of a base and a difference of tables. All paths of the base must arrive.
type rechecker struct {
	*Base
	*Result
	walker *trees.Walker
	// gone marks the ends that the new subnet lacks. less counts these ends by group.
	gone    []bool
	less    []int32
	farther *routing.ReducedDistances
}

// recheck returns the result for t, which differs from the base by d. It returns nil if a path does not arrive.
func (b *Base) recheck(t *fabric.Tables, d trees.Difference) *Result {
	r := *b.result
	r.Links, r.quick = slices.Clone(r.Links), true
	a := &rechecker{Base: b, Result: &r, walker: b.forest.NewWalker(), farther: b.c.distances.Without(d.Removed)}
	if len(t.Fabric.EndPorts) != len(b.forest.Tables.Fabric.EndPorts) {
		a.lose(t.Fabric)
		r.addEnds(trees.NewEnds(t, b.c.opt.Switches))
	}
	if b.result.NotMinimal > 0 {
		a.compareFarther()
	}
	arrives := true
	a.walker.Each(d, func(c *trees.Change) bool {
		if end := b.end[c.LID]; end >= 0 && (a.gone == nil || !a.gone[end]) {
			arrives = a.change(c, end)
		}
		return arrives
	})
	if !arrives {
		return nil
	}
	for len(r.Links) > 0 && r.Links[len(r.Links)-1] == 0 {
		r.Links = r.Links[:len(r.Links)-1]
	}
	if len(r.Links) == 0 {
		r.Links = nil
	}
	return &r
}

// add adds n to the number of paths with the given number of links.
func (a *rechecker) add(links int, n int32) {
	for len(a.Links) <= links {
		a.Links = append(a.Links, 0)
	}
	a.Links[links] += int64(n)
}

// lose removes the paths from and to ends that the new subnet lacks.
func (a *rechecker) lose(now *fabric.Fabric) {
	ends := a.c.ends
	a.gone, a.less = make([]bool, len(ends.Ports)), make([]int32, len(ends.Groups))
	was := a.forest.Tables.Fabric
	for i, p := range ends.Ports {
		if now.PortByGUID(was.Ports[p].GUID) != p {
			a.gone[i] = true
			a.less[ends.GroupOf[i]]++
		}
	}
	for i, l := range ends.LIDs {
		col := &a.c.columns[i]
		if a.gone[l.End] {
			for links, n := range col.links {
				a.Links[links] -= int64(n)
			}
			for _, n := range col.verdicts {
				a.Paths -= int64(n)
				a.Delivered -= int64(n)
			}
			a.NotMinimal -= int64(col.longer)
			continue
		}
		for g, n := range a.less {
			if n > 0 {
				a.loseSources(l, g, n)
			}
		}
	}
}

// loseSources removes the paths to a LID from n ends of group g.
func (a *rechecker) loseSources(l trees.LID, g int, n int32) {
	group := &a.c.ends.Groups[g]
	links := group.Links
	if group.At >= 0 {
		ports, _ := a.walker.PathTo(l.LID, group.At)
		links += count(ports)
		if dst, last := a.target(l.End); longer(links-group.Links, a.c.distances.From(dst)[group.At], last) {
			a.NotMinimal -= int64(n)
		}
	}
	a.Links[links] -= int64(n)
	a.Paths -= int64(n)
	a.Delivered -= int64(n)
}

// count returns the number of links of a path. The path must arrive.
func count(ports []uint32) int {
	if ports[len(ports)-1]&0xff == 0 {
		return len(ports) - 1
	}
	return len(ports)
}

// longer reports whether a path from a switch has more links than necessary. The argument least is the distance between
// the first and the last switch. The argument last is the number of links from the last switch to the destination.
func longer(links int, least uint8, last int) bool {
	return least != routing.NoHops && links > int(least)+last
}

// target returns the switch of an end, and the number of links between the switch and the end.
func (a *rechecker) target(end int32) (sw fabric.SwitchIndex, links int) {
	f := a.forest
	lid := f.Tables.Fabric.Ports[a.c.ends.Ports[end]].LID
	if f.Local[lid] != 0 {
		links = 1
	}
	return f.At[lid], links
}

// sources returns the number of ends of a group that still exist and send to an end port.
func (a *rechecker) sources(g int32, end int32) int32 {
	n := int32(a.c.ends.Sources(int(g), end))
	if a.less != nil {
		n -= a.less[g]
	}
	return n
}

// compareFarther recounts the paths that are not minimal. Removed links increase distances, so a path that was too long
// before may be minimal now.
func (a *rechecker) compareFarther() {
	for i, l := range a.c.ends.LIDs {
		if a.c.columns[i].longer == 0 || a.gone != nil && a.gone[l.End] {
			continue
		}
		dst, last := a.target(l.End)
		if dst == fabric.None {
			continue
		}
		least, farther := a.farther.From(dst)
		if !farther {
			continue
		}
		was := a.c.distances.From(dst)
		for sw := range least {
			if least[sw] != was[sw] {
				a.compareSwitch(l, fabric.SwitchIndex(sw), was[sw], least[sw], last)
			}
		}
	}
}

func (a *rechecker) compareSwitch(l trees.LID, sw fabric.SwitchIndex, was, now uint8, last int) {
	for _, g := range a.at[sw] {
		n := a.sources(g, l.End)
		if n == 0 {
			continue
		}
		ports, _ := a.walker.PathTo(l.LID, sw)
		if longer(count(ports), was, last) {
			a.NotMinimal -= int64(n)
		}
		if longer(count(ports), now, last) {
			a.NotMinimal += int64(n)
		}
	}
}

// change counts the changed paths to a LID. It reports whether all these paths arrive.
func (a *rechecker) change(c *trees.Change, end int32) bool {
	dst, last := a.target(end)
	if dst == fabric.None {
		return false
	}
	to := walk.ToPort(a.c.ends.Ports[end])
	for _, sw := range c.Switches {
		for _, g := range a.at[sw] {
			n := a.sources(g, end)
			if n == 0 {
				continue
			}
			was := int(a.forest.Depth(c.LID)[sw]) + last
			ports, stop := c.NewPath(sw)
			if stop != to {
				return false
			}
			now, first := count(ports), a.c.ends.Groups[g].Links
			if first+now > walk.MaxHops {
				return false
			}
			if now != was {
				a.add(first+was, -n)
				a.add(first+now, n)
			}
			if now <= was && a.Base.result.NotMinimal == 0 {
				continue // not longer than the shortest path when there were more links
			}
			least, _ := a.farther.From(dst)
			if longer(was, least[sw], last) {
				a.NotMinimal -= int64(n)
			}
			if longer(now, least[sw], last) {
				a.NotMinimal += int64(n)
			}
		}
	}
	return true
}
