// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/incremental"
)

// detours lists the switches that forward packets to the current LID by another port than before the failure, or have
// no path.
type detours struct {
	round  uint32
	at     []detour
	list   []fabric.SwitchIndex
	trails []trail
	steps  []step
}

// step holds the egress port at the current switch of each of the two paths of a trail.
type step struct{ was, now fabric.PortIndex }

// detour is the new entry of a switch. It is valid if its round is the current round.
type detour struct {
	round uint32
	// port is the new egress port. lost is set if the switch has no path.
	port uint8
	lost bool
	// sources counts the end ports for which this is the first switch with a detour on the path of their packets.
	sources int64
}

func newDetours(switches int) detours { return detours{at: make([]detour, switches)} }

// reroute moves the paths to a LID to the new entries, and returns the number of lost paths. Packets from all end ports
// must have reached the LID before the failure.
func (j *judge) reroute(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) (lost int64) {
	if len(edits) == 1 && len(unreached) == 0 {
		j.rerouteOne(edits[0])
		return 0
	}
	j.note(lid, edits, unreached)
	to := j.base.At[lid]
	for _, s := range j.list {
		// Ends whose packets pass a detour before this one must not be counted here again. Therefore the count of this
		// switch is subtracted at the next detour on the path.
		n := j.passing.at(s, lid)
		if n == 0 {
			continue
		}
		x := j.next[j.port(s, lid)]
		for x != to && j.at[x].round != j.round {
			x = j.next[j.port(x, lid)]
		}
		if x != to {
			j.at[x].sources -= n
		}
	}
	for _, s := range j.list {
		b := &j.at[s]
		if b.sources == 0 {
			continue
		}
		for x := s; x != to; {
			x = j.pass(j.port(x, lid), -b.sources)
		}
		if b.lost {
			lost += b.sources
			continue
		}
		for x := s; x != to; {
			port := j.port(x, lid)
			if j.at[x].round == j.round {
				port = j.first[x] + fabric.PortIndex(j.at[x].port)
			}
			x = j.pass(port, b.sources)
		}
	}
	return lost
}

// note lists the switches that have detours for a LID.
func (j *judge) note(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) {
	j.round++
	j.list = j.list[:0]
	for _, e := range edits {
		j.at[e.Switch] = detour{round: j.round, port: e.Port, sources: j.passing.at(e.Switch, lid)}
		j.list = append(j.list, e.Switch)
	}
	for _, u := range unreached {
		j.at[u.Switch] = detour{round: j.round, lost: true, sources: j.passing.at(u.Switch, lid)}
		j.list = append(j.list, u.Switch)
	}
}

// trail is a set of paths to one LID that left a switch by one port before the failure and leave it by another port
// now.
type trail struct {
	// was and now are the switches that followTrails has reached on the old and on the new path. to is the switch of
	// the LID.
	was, now, to fabric.SwitchIndex
	paths        int32
	lid          uint16
}

// rerouteOne moves the paths through the only switch whose entry for a LID changes.
func (j *judge) rerouteOne(e fabric.Edit) {
	n := j.passing.at(e.Switch, e.LID)
	if n == 0 {
		return
	}
	// Reading the row of a switch for all LIDs of one port is more local in memory than reading columns.
	was := j.base.Tables.LFT.Row(e.Switch)[e.LID]
	t := trail{to: j.base.At[e.LID], paths: int32(n), lid: e.LID}
	t.was, t.now = j.pass(j.Study.first[e.Switch]+fabric.PortIndex(was), -n),
		j.pass(j.Study.first[e.Switch]+fabric.PortIndex(e.Port), n)
	if t.was != t.now {
		j.trails = append(j.trails, t)
	}
}

// followTrails moves the paths of all trails, one link of each trail at a time. It first reads the ports of all trails,
// so that the memory reads overlap.
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

// port returns the egress port of a switch for packets to a LID before the failure.
func (j *judge) port(sw fabric.SwitchIndex, lid uint16) fabric.PortIndex {
	return j.Study.first[sw] + fabric.PortIndex(j.base.Column(lid)[sw])
}

// pass adds n to the number of paths over the link of a port, and returns the switch at the other end of the link.
func (j *judge) pass(port fabric.PortIndex, n int64) fabric.SwitchIndex {
	j.add(port, n)
	return j.next[port]
}
