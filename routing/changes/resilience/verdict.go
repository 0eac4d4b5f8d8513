// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"cmp"
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Verdict is the effect of a failure on a routing.
type Verdict struct {
	// Number is the number of the failure. Name names the links or the switch that fail.
	Number int    `json:"number"`
	Name   string `json:"name"`
	// Unreachable counts the end ports of hosts that are no longer in the subnet.
	Unreachable int `json:"cut_off"`
	// Lost counts the lost paths. Every end port has one path to each LID of the other end ports. Paths from and to
	// unreachable end ports count as well.
	Lost int64 `json:"lost_paths"`
	// Worst is the maximum number of paths over a link between switches after the failure. At is the name of the port
	// of that link, or "" if there is none.
	Worst int64  `json:"worst_load"`
	At    string `json:"worst_at"`
	// Changed counts the changed entries.
	Changed int `json:"changed_entries"`
	// Loop is the result of the proof that the routes after the failure have no credit loop.
	Loop Loop `json:"credit_loop,omitempty"`
	// Why describes a loop that the function of [Study.Reroute] found.
	Why string `json:"why,omitempty"`
	// VLs is the number of VLs that would avoid the loop, 0 if VLs do not avoid it. It is nil if it was not computed,
	// see [Study.VLs].
	VLs *int `json:"vls_needed,omitempty"`

	at fabric.PortIndex
}

// worse orders verdicts, worst first: by lost paths, then those with a credit loop, then by the maximum number of paths
// over a link, then by failure number.
func worse(a, b Verdict) int {
	loop := func(v *Verdict) int {
		if v.Loop == HasLoop {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(loop(&b), loop(&a)),
		cmp.Compare(b.Worst, a.Worst), cmp.Compare(a.Number, b.Number))
}

// judge is the scratch memory of one goroutine.
type judge struct {
	*Study
	router *incremental.Worker
	walker *trees.Walker
	// moved is the change of the number of paths at each port that leads to another switch. ports lists the ports with
	// changes. old holds one path before the failure.
	moved []int64
	ports []fabric.PortIndex
	old   []uint32
	// dead marks the ports that have lost their link.
	dead []bool
	// gone marks the unreachable ends. less counts the unreachable ends of each group.
	gone []bool
	less []int32
	detours
	// order has the dependencies of the tables without a failure. cyclic is set if there is none because these have a
	// credit loop. edits are those of the present failure.
	order  *credits.Order
	cyclic bool
	edits  []lidEdits
	err    error // the first error of a proof
}

func (s *Study) newJudge() *judge {
	n := len(s.base.Tables.Fabric.Ports)
	return &judge{
		Study: s, router: s.base.NewWorker(), walker: s.base.NewWalker(), moved: make([]int64, n),
		dead: make([]bool, n),
		gone: make([]bool, len(s.ends.Ports)), less: make([]int32, len(s.ends.Groups)),
		detours: newDetours(len(s.first)),
	}
}

// simulate simulates failure n and returns its verdict.
func (j *judge) simulate(ctx context.Context, n int) Verdict {
	removed := j.all.removed(n)
	for _, l := range removed {
		j.dead[l.A], j.dead[l.B] = true, true
	}
	v := Verdict{Number: n}
	f := j.base.Tables.Fabric
	part := f
	if j.splits(removed) {
		part = f.Without(removed)
		j.loseEnds(part, &v)
	}
	follow := v.Unreachable > 0
	j.edits = j.edits[:0]
	edits := j.router.Edits(part, removed, func(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) {
		j.edits = append(j.edits, lidEdits{lid, edits})
		switch {
		case v.Unreachable > 0 || j.endOf[lid] < 0:
		case j.whole[lid]:
			v.Lost += j.reroute(lid, edits, unreached)
		default:
			follow = true
		}
	})
	v.Changed = len(edits)
	j.followTrails()
	if follow {
		j.walker.Each(trees.Difference{Removed: removed, Edits: edits}, func(c *trees.Change) bool {
			if end := j.endOf[c.LID]; end >= 0 && !j.gone[end] && (v.Unreachable > 0 || !j.whole[c.LID]) {
				j.change(c, end, &v)
			}
			return true
		})
	}
	v.Worst, v.at = j.worst()
	if n%j.prover.every == 0 {
		if err := j.prove(ctx, &v, removed, j.edits); j.err == nil {
			j.err = err
		}
	}
	j.forget(removed, v.Unreachable > 0)
	return v
}

// add adds n to the number of paths over the link of a switch port.
func (j *judge) add(port fabric.PortIndex, n int64) {
	if j.moved[port] == 0 {
		j.ports = append(j.ports, port)
	}
	j.moved[port] += n
}

// addPaths adds n to the number of paths over each link between switches on a path.
func (j *judge) addPaths(ports []uint32, n int64) {
	for _, slot := range ports {
		if port := j.first[slot>>8] + fabric.PortIndex(slot&0xff); j.next[port] >= 0 {
			j.add(port, n)
		}
	}
}

// loseEnds removes the paths from and to unreachable ends.
func (j *judge) loseEnds(part *fabric.Fabric, v *Verdict) {
	was := j.base.Tables.Fabric
	for i, p := range j.ends.Ports {
		if part.PortByGUID(was.Ports[p].GUID) != p {
			j.gone[i] = true
			j.less[j.ends.GroupOf[i]]++
			v.Unreachable++
		}
	}
	for _, p := range j.ends.Unassigned {
		if part.PortByGUID(was.Ports[p].GUID) != p {
			v.Unreachable++
		}
	}
	if v.Unreachable == 0 {
		return
	}
	for _, l := range j.ends.LIDs {
		to := walk.ToPort(j.ends.Ports[l.End])
		for g := range j.ends.Groups {
			n := int64(j.less[g])
			if j.gone[l.End] {
				n = int64(j.ends.Sources(g, l.End))
			}
			at := j.ends.Groups[g].At
			if n == 0 || at < 0 {
				if n > 0 && at == to {
					v.Lost += n
				}
				continue
			}
			if ports, end := j.walker.PathTo(l.LID, at); end == to {
				v.Lost += n
				j.addPaths(ports, -n)
			}
		}
	}
}

// change counts the changed paths to a LID.
func (j *judge) change(c *trees.Change, end int32, v *Verdict) {
	to := walk.ToPort(j.ends.Ports[end])
	for _, sw := range c.Switches {
		for _, g := range j.groupsAt[sw] {
			n := int64(j.ends.Sources(int(g), end)) - int64(j.less[g])
			if n == 0 {
				continue
			}
			ports, was := c.OldPath(sw)
			j.old = append(j.old[:0], ports...)
			ports, now := c.NewPath(sw)
			if was == to {
				j.addPaths(j.old, -n)
			}
			switch {
			case now == to: // also if it did not arrive before the failure
				j.addPaths(ports, n)
			case was == to:
				v.Lost += n
			}
		}
	}
}

// worst returns the maximum number of paths over a link between switches, and the first port that has it.
func (j *judge) worst() (most int64, at fabric.PortIndex) {
	at = fabric.None
	better := func(p fabric.PortIndex) {
		if n := j.paths[p] + j.moved[p]; n > most || n == most && n > 0 && p < at {
			most, at = n, p
		}
	}
	for _, p := range j.ports {
		if !j.dead[p] {
			better(p)
		}
	}
	for _, p := range j.ranked {
		if j.moved[p] == 0 && !j.dead[p] {
			better(p)
			break
		}
	}
	return most, at
}

// forget resets the scratch memory for the next failure.
func (j *judge) forget(removed []fabric.Link, unreachable bool) {
	for _, l := range removed {
		j.dead[l.A], j.dead[l.B] = false, false
	}
	for _, p := range j.ports {
		j.moved[p] = 0
	}
	j.ports = j.ports[:0]
	if unreachable {
		clear(j.gone)
		clear(j.less)
	}
}
