// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Verdict is what becomes of a routing when something fails.
type Verdict struct {
	// Number is the number of the failure, Name says what fails.
	Number int    `json:"number"`
	Name   string `json:"name"`
	// Unreachable counts the end ports of hosts that are no longer in the subnet.
	Unreachable int `json:"cut_off"`
	// Lost counts the paths, one from every other end port to each LID, that arrived
	// before and do not now, those from and to end ports that are cut off included.
	Lost int64 `json:"lost_paths"`
	// Worst is the most paths over a link between switches; At names the port that they leave, "" for none.
	Worst int64  `json:"worst_load"`
	At    string `json:"worst_at"`
	// Changed counts the entries that are others.
	Changed int `json:"changed_entries"`

	at fabric.PortIndex
}

// worse orders verdicts: lost paths count most, then the load, then the number.
func worse(a, b Verdict) int {
	return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Worst, a.Worst), cmp.Compare(a.Number, b.Number))
}

// judge is the scratch memory of one goroutine.
type judge struct {
	*Study
	router *incremental.Worker
	walker *trees.Walker
	// moved is by how many paths each of the ports to other switches carries more, ports are those that ever did, old
	// the path before.
	moved []int64
	ports []fabric.PortIndex
	old   []uint32
	// dead are the ports that have lost their link.
	dead []bool
	// gone says which ends are cut off, less how many of each group.
	gone []bool
	less []int32
	bent
}

func (s *Study) newJudge() *judge {
	n := len(s.base.Tables.Fabric.Ports)
	return &judge{
		Study: s, router: s.base.NewWorker(), walker: s.base.NewWalker(), moved: make([]int64, n),
		dead: make([]bool, n),
		gone: make([]bool, len(s.ends.Ports)), less: make([]int32, len(s.ends.Groups)), bent: newBent(len(s.first)),
	}
}

// verdict lets failure n happen.
func (j *judge) verdict(n int) Verdict {
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
	edits := j.router.Edits(part, removed, func(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) {
		switch {
		case v.Unreachable > 0 || j.endOf[lid] < 0:
		case j.whole[lid]:
			v.Lost += j.bend(lid, edits, unreached)
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
	j.forget(removed, v.Unreachable > 0)
	return v
}

// add puts n paths onto the link of a port of a switch.
func (j *judge) add(port fabric.PortIndex, n int64) {
	if j.moved[port] == 0 {
		j.ports = append(j.ports, port)
	}
	j.moved[port] += n
}

// carry puts n paths onto the links between switches of a path.
func (j *judge) carry(ports []uint32, n int64) {
	for _, slot := range ports {
		if port := j.first[slot>>8] + fabric.PortIndex(slot&0xff); j.next[port] >= 0 {
			j.add(port, n)
		}
	}
}

// loseEnds takes away the paths from and to ends that are cut off.
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
				j.carry(ports, -n)
			}
		}
	}
}

// change counts the paths to a LID that are others.
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
				j.carry(j.old, -n)
			}
			switch {
			case now == to: // where it did not before, the routes around the failure bring it back
				j.carry(ports, n)
			case was == to:
				v.Lost += n
			}
		}
	}
}

// worst is the most paths over a link between switches, and the first port with it.
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

// forget makes the scratch memory ready for the next failure.
func (j *judge) forget(removed []fabric.Link, cutOff bool) {
	for _, l := range removed {
		j.dead[l.A], j.dead[l.B] = false, false
	}
	for _, p := range j.ports {
		j.moved[p] = 0
	}
	j.ports = j.ports[:0]
	if cutOff {
		clear(j.gone)
		clear(j.less)
	}
}
