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

// Base are tables that were checked, and from which others are checked that differ in little. It is read-only.
type Base struct {
	forest *trees.Forest
	c      *checker
	result *Result
	// at are the groups of the ends of each switch, end the end that has a LID, -1 for none.
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

// Result is what the paths of the base come to.
func (b *Base) Result() *Result { return b.result }

// Check is the package's Check, with the options of the base. Where all paths of the base and of t arrive,
// and [trees.Forest.Against] finds their difference, it follows no more of them than the difference changes.
func (b *Base) Check(ctx context.Context, t *fabric.Tables) (*Result, error) {
	d, ok := b.forest.Against(t)
	if ok && b.result.Delivered == b.result.Paths && b.c.distances != nil { // nil where there is no LID
		if r := b.again(t, d); r != nil {
			return r, ctx.Err()
		}
	}
	return Check(ctx, t, b.c.opt)
}

// again is the result of a base all of whose paths arrive, with a difference.
type again struct {
	*Base
	*Result
	walker *trees.Walker
	// gone says which ends are no more, and less how many each group has lost.
	gone    []bool
	less    []int32
	farther *routing.ReducedDistances
}

// again is nil where a path does not arrive.
func (b *Base) again(t *fabric.Tables, d trees.Difference) *Result {
	r := *b.result
	r.Links, r.quick = slices.Clone(r.Links), true
	a := &again{Base: b, Result: &r, walker: b.forest.NewWalker(), farther: b.c.distances.Without(d.Removed)}
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

// add counts n paths from a group over so many links.
func (a *again) add(links int, n int32) {
	for len(a.Links) <= links {
		a.Links = append(a.Links, 0)
	}
	a.Links[links] += int64(n)
}

// lose takes away the paths from and to ends that are no more.
func (a *again) lose(now *fabric.Fabric) {
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

// loseSources takes away the paths of n ends of a group to a LID.
func (a *again) loseSources(l trees.LID, g int, n int32) {
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

// count is the number of links of a path that arrives.
func count(ports []uint32) int {
	if ports[len(ports)-1]&0xff == 0 {
		return len(ports) - 1
	}
	return len(ports)
}

// longer reports whether a path from a switch has more links than it needs.
func longer(links int, least uint8, last int) bool {
	return least != routing.NoHops && links > int(least)+last
}

// target is the switch of an end, and the number of links from there to it.
func (a *again) target(end int32) (sw fabric.SwitchIndex, links int) {
	f := a.forest
	lid := f.Tables.Fabric.Ports[a.c.ends.Ports[end]].LID
	if f.Local[lid] != 0 {
		links = 1
	}
	return f.At[lid], links
}

// sources is how many ends of a group still send to another one.
func (a *again) sources(g int32, end int32) int32 {
	n := int32(a.c.ends.Sources(int(g), end))
	if a.less != nil {
		n -= a.less[g]
	}
	return n
}

// compareFarther takes the paths that were not of the fewest links for what they are now that there are fewer links.
func (a *again) compareFarther() {
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

func (a *again) compareSwitch(l trees.LID, sw fabric.SwitchIndex, was, now uint8, last int) {
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

// change counts the paths to a LID that are others. It reports whether they arrive.
func (a *again) change(c *trees.Change, end int32) bool {
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
				continue // no longer than what was the shortest when there were more links
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
