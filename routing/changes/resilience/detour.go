// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/incremental"
)

// detours holds the switches where packets to the current LID leave by another port than before, or have no path.
type detours struct {
	round  uint32
	at     []detour
	list   []fabric.SwitchIndex
	trails []trail
	steps  []step
}

// step is the next port on each of the two paths of a trail.
type step struct{ was, now fabric.PortIndex }

// detour is a switch of detours. It is valid if its round is the current one.
type detour struct {
	round uint32
	// port is the new port. lost is set if there is none.
	port uint8
	lost bool
	// first counts the ends whose packets pass no other switch of detours before this one.
	first int64
}

func newDetours(switches int) detours { return detours{at: make([]detour, switches)} }

// reroute moves the paths to a LID that all packets reached, and returns the number of lost paths.
func (j *judge) reroute(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) (lost int64) {
	if len(edits) == 1 && len(unreached) == 0 {
		j.rerouteOne(edits[0])
		return 0
	}
	j.note(lid, edits, unreached)
	to := j.base.At[lid]
	for _, s := range j.list {
		// The count at a switch must not include what is counted at one before it.
		n := j.passing.at(s, lid)
		if n == 0 {
			continue
		}
		x := j.next[j.port(s, lid)]
		for x != to && j.at[x].round != j.round {
			x = j.next[j.port(x, lid)]
		}
		if x != to {
			j.at[x].first -= n
		}
	}
	for _, s := range j.list {
		b := &j.at[s]
		if b.first == 0 {
			continue
		}
		for x := s; x != to; {
			x = j.pass(j.port(x, lid), -b.first)
		}
		if b.lost {
			lost += b.first
			continue
		}
		for x := s; x != to; {
			port := j.port(x, lid)
			if j.at[x].round == j.round {
				port = j.first[x] + fabric.PortIndex(j.at[x].port)
			}
			x = j.pass(port, b.first)
		}
	}
	return lost
}

// note lists the switches with detours for a LID.
func (j *judge) note(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) {
	j.round++
	j.list = j.list[:0]
	for _, e := range edits {
		j.at[e.Switch] = detour{round: j.round, port: e.Port, first: j.passing.at(e.Switch, lid)}
		j.list = append(j.list, e.Switch)
	}
	for _, u := range unreached {
		j.at[u.Switch] = detour{round: j.round, lost: true, first: j.passing.at(u.Switch, lid)}
		j.list = append(j.list, u.Switch)
	}
}

// trail is a set of paths to a LID that left a switch by one port and now leave it by another.
type trail struct {
	// was and now are the switches up to which the two are followed, to is the last switch.
	was, now, to fabric.SwitchIndex
	paths        int32
	lid          uint16
}

// rerouteOne moves the paths through one switch.
func (j *judge) rerouteOne(e fabric.Edit) {
	n := j.passing.at(e.Switch, e.LID)
	if n == 0 {
		return
	}
	// For the LIDs of one port, the row is more local in memory than their columns.
	was := j.base.Tables.LFT.Row(e.Switch)[e.LID]
	t := trail{to: j.base.At[e.LID], paths: int32(n), lid: e.LID}
	t.was, t.now = j.pass(j.Study.first[e.Switch]+fabric.PortIndex(was), -n),
		j.pass(j.Study.first[e.Switch]+fabric.PortIndex(e.Port), n)
	if t.was != t.now {
		j.trails = append(j.trails, t)
	}
}

// followTrails moves the paths of all trails, one link of each at a time. It reads all ports first, so that the reads
// from memory overlap.
func (j *judge) followTrails() {
	for rest := j.trails; len(rest) > 0; {
		j.steps = j.steps[:0]
		for i := range rest {
			t := &rest[i]
			j.steps = append(j.steps, step{j.port(t.was, t.lid), j.port(t.now, t.lid)})
		}
		left := rest[:0]
		for i, t := range rest {
			if t.was != t.to {
				t.was = j.pass(j.steps[i].was, -int64(t.paths))
			}
			if t.now != t.to {
				t.now = j.pass(j.steps[i].now, int64(t.paths))
			}
			if t.was != t.now {
				left = append(left, t)
			}
		}
		rest = left
	}
	j.trails = j.trails[:0]
}

// port returns the port by which packets to a LID left a switch.
func (j *judge) port(sw fabric.SwitchIndex, lid uint16) fabric.PortIndex {
	return j.Study.first[sw] + fabric.PortIndex(j.base.Column(lid)[sw])
}

// pass adds n paths to the link of a port and returns the switch at its other end.
func (j *judge) pass(port fabric.PortIndex, n int64) fabric.SwitchIndex {
	j.add(port, n)
	return j.next[port]
}
