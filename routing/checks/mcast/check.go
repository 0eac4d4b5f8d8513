// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ErrNoTables means that the multicast tables were neither computed nor read.
var ErrNoTables = errors.New("the multicast tables were neither computed nor read; hint: run 'sweep full mft', " +
	"or 'load groups FILE; route'")

// Report is the result of a check.
type Report struct {
	Counts
	// Faults lists up to 3 examples of each kind of fault for each LID, in ascending order of LIDs.
	Faults []Fault
}

// examples is the maximum number of faults of a kind and LID in a report.
const examples = 3

// Check follows the packets of every member of every group. If the argument groups is nil, it uses the groups that the
// entries of the tables imply ([fabric.GroupsOf]). If the argument groups is given, it also checks LIDs with entries
// but without a group: their receivers are no members. It returns [ErrNoTables] if there are no multicast tables, or
// the error of ctx.
//
// If the tables of a group form a tree, the check of the group costs O(its switch ports + members). Otherwise it costs
// O(switches with members x (its switch ports + members)). Check uses all processors.
func Check(ctx context.Context, t *fabric.Tables, groups []fabric.Group, progress func(done, total int)) (*Report,
	error) {
	if t.MFT == nil {
		return nil, ErrNoTables
	}
	own := fabric.GroupsOf(t)
	if groups == nil {
		groups = own
	} else {
		groups = append(slices.Clip(groups), entriesAlone(groups, own)...)
	}
	lids := ByLID(t.Fabric, groups)
	counts, faults := make([]Counts, len(lids)), make([][]Fault, len(lids))
	workers := make([]*checker, routing.Workers())
	err := routing.ForEach(ctx, len(lids), progress, func(w, i int) {
		if workers[w] == nil {
			workers[w] = newChecker(ctx, t)
		}
		counts[i], faults[i] = workers[w].check(&lids[i])
	})
	if err != nil {
		return nil, fmt.Errorf("check multicast of %s: %w", t.Origin, err)
	}
	r := &Report{}
	for i := range lids {
		r.add(&counts[i])
		r.Faults = append(r.Faults, faults[i]...)
	}
	return r, nil
}

// entriesAlone returns a group without members for each LID that has entries but no group in groups.
func entriesAlone(groups, own []fabric.Group) []fabric.Group {
	have := map[uint16]bool{}
	for i := range groups {
		have[groups[i].MLID] = true
	}
	var more []fabric.Group
	for i := range own {
		if !have[own[i].MLID] {
			more = append(more, fabric.Group{MLID: own[i].MLID})
		}
	}
	return more
}

// checker checks one LID at a time. It is scratch memory for one goroutine.
type checker struct {
	ctx context.Context
	t   *fabric.Tables
	f   *fabric.Fabric

	lid    *LID
	counts Counts
	faults []Fault
	named  map[Kind]int
	// join is indexed by end port. Only the members of the current LID have a join state. in marks these members.
	join []fabric.JoinState
	in   []bool
	// switches lists the switches with entries for the current LID. joined records which of them are connected by links
	// of the group.
	switches []fabric.SwitchIndex
	joined   routing.UnionFind
	flood    *flood
}

func newChecker(ctx context.Context, t *fabric.Tables) *checker {
	f := t.Fabric
	return &checker{ctx: ctx, t: t, f: f, join: make([]fabric.JoinState, len(f.Ports)), in: make([]bool, len(f.Ports)),
		joined: make(routing.UnionFind, len(f.Switches)), flood: newFlood(t)}
}

func (c *checker) check(l *LID) (Counts, []Fault) {
	c.lid, c.counts, c.faults, c.named = l, Counts{LIDs: 1, Members: len(l.Members) + len(l.Lost), Lost: len(l.Lost),
		NotInSubnet: l.NotInSubnet}, nil, map[Kind]int{}
	for _, m := range l.Members {
		c.join[m.End], c.in[m.End] = m.Join, true
	}
	c.switches = c.switches[:0]
	for s := range fabric.SwitchIndex(len(c.f.Switches)) {
		c.joined[s] = s
		if c.f.SwitchNode(s).InSubnet && c.t.MFT.Any(s, l.MLID) {
			c.switches = append(c.switches, s)
		}
	}
	switch {
	case len(c.switches) == 0 && c.counts.Members < 2:
		c.counts.Alone = 1
	case c.entries():
		c.counts.Pairs = pairs(l.Members) // each receives its packets once
		c.idle()
	default:
		c.follow()
	}
	if all := pairs(slices.Concat(l.Members, l.Lost)); c.counts.Alone == 0 {
		c.counts.Missing += all - c.counts.Pairs
		c.counts.Pairs = all
	}
	for _, m := range l.Members {
		c.join[m.End], c.in[m.End] = 0, false
	}
	return c.counts, c.faults
}

func (c *checker) fault(k Kind, src, dst fabric.PortIndex, ports ...fabric.PortIndex) {
	if c.named[k]++; c.named[k] <= examples {
		c.faults = append(c.faults, Fault{k, c.lid.MLID, src, dst, ports})
	}
}

// pairs returns the number of ordered pairs of a member and another member that receives.
func pairs(members []Member) int64 {
	receivers := int64(0)
	for _, m := range members {
		if m.Join.Receives() {
			receivers++
		}
	}
	return int64(len(members))*receivers - receivers
}

// idle counts the switches on branches without members. It repeatedly removes leaves of the tree that have no members.
func (c *checker) idle() {
	degree, leads := map[fabric.SwitchIndex]int{}, map[fabric.SwitchIndex]bool{}
	links := func(s fabric.SwitchIndex, each func(next fabric.SwitchIndex)) {
		node := c.f.SwitchNode(s)
		for out := range c.t.MFT.Each(s, c.lid.MLID) {
			if out == 0 || out > int(node.NumPorts) || c.f.PeerSwitch(node.FirstPort+fabric.PortIndex(out)) ==
				fabric.None {
				continue
			}
			each(c.f.PeerSwitch(node.FirstPort + fabric.PortIndex(out)))
		}
	}
	for _, s := range c.switches {
		links(s, func(fabric.SwitchIndex) { degree[s]++ })
	}
	for _, m := range c.lid.Members {
		if sw, _ := c.f.AttachedSwitch(m.End); sw != fabric.None {
			leads[sw] = true
		}
	}
	var tips []fabric.SwitchIndex
	for _, s := range c.switches {
		if degree[s] == 1 && !leads[s] {
			tips = append(tips, s)
		}
	}
	for len(tips) > 0 {
		s := tips[len(tips)-1]
		tips = tips[:len(tips)-1]
		degree[s] = 0
		c.counts.Idle++
		links(s, func(next fabric.SwitchIndex) {
			if degree[next] == 0 {
				return
			}
			if degree[next]--; degree[next] == 1 && !leads[next] {
				tips = append(tips, next)
			}
		})
	}
}
