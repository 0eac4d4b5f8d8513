// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/incremental"
)

// bent are the switches of which packets to the LID at hand leave by another port than before, or by none that leads
// on.
type bent struct {
	round  uint32
	at     []bend
	list   []fabric.SwitchIndex
	trails []trail
	steps  []step
}

// step is the next port of each of the two paths of a trail.
type step struct{ was, now fabric.PortIndex }

// bend is one of them, where its round is that of now.
type bend struct {
	round uint32
	// port leads on now; lost says that none does.
	port uint8
	lost bool
	// first counts the ends whose packets pass no such switch before this one.
	first int64
}

func newBent(switches int) bent { return bent{at: make([]bend, switches)} }

// bend moves the paths to a LID at which all packets arrived, and counts those that are lost.
func (j *judge) bend(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) (lost int64) {
	if len(edits) == 1 && len(unreached) == 0 {
		j.bendOne(edits[0])
		return 0
	}
	j.note(lid, edits, unreached)
	to := j.base.At[lid]
	for _, s := range j.list {
		// What is counted at a switch leaves out what is counted before it.
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

// note makes the list of the switches that are bent for a LID.
func (j *judge) note(lid uint16, edits []fabric.Edit, unreached []incremental.Unreached) {
	j.round++
	j.list = j.list[:0]
	for _, e := range edits {
		j.at[e.Switch] = bend{round: j.round, port: e.Port, first: j.passing.at(e.Switch, lid)}
		j.list = append(j.list, e.Switch)
	}
	for _, u := range unreached {
		j.at[u.Switch] = bend{round: j.round, lost: true, first: j.passing.at(u.Switch, lid)}
		j.list = append(j.list, u.Switch)
	}
}

// trail are paths to a LID that left some switch by one port and leave it by another now.
type trail struct {
	// was and now are how far the two are followed, to is where they end.
	was, now, to fabric.SwitchIndex
	paths        int32
	lid          uint16
}

// bendOne moves the paths through one switch.
func (j *judge) bendOne(e fabric.Edit) {
	n := j.passing.at(e.Switch, e.LID)
	if n == 0 {
		return
	}
	// Of the LIDs of one port, this is nearer in memory than in their columns.
	was := j.base.Tables.LFT.Row(e.Switch)[e.LID]
	t := trail{to: j.base.At[e.LID], paths: int32(n), lid: e.LID}
	t.was, t.now = j.pass(j.Study.first[e.Switch]+fabric.PortIndex(was), -n),
		j.pass(j.Study.first[e.Switch]+fabric.PortIndex(e.Port), n)
	if t.was != t.now {
		j.trails = append(j.trails, t)
	}
}

// followTrails moves the paths of all trails, a link of each at a time. All ports are looked up first: where nothing
// depends on what one of them is, it is read from memory while the next already is.
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

// port is the port by which packets to a LID left a switch.
func (j *judge) port(sw fabric.SwitchIndex, lid uint16) fabric.PortIndex {
	return j.Study.first[sw] + fabric.PortIndex(j.base.Column(lid)[sw])
}

// pass puts n paths onto the link of a port, and is the switch at its other end.
func (j *judge) pass(port fabric.PortIndex, n int64) fabric.SwitchIndex {
	j.add(port, n)
	return j.next[port]
}
