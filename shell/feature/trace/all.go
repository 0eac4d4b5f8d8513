// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/census"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/live"
)

// traceAll traces all pairs of end ports through the tables of a state.
func traceAll(c *feature.Call, st *session.State, s *session.Picture, limit int) error {
	r, err := count(c, s.Tables, census.Options{Switches: c.Flag("switches"), List: limit})
	if err != nil {
		return err
	}
	m := censusOf(s.Fabric, s.Tables, r)
	for i, x := range r.Failures {
		m.troubles[i].lead = feature.ToTrace(s, x.Src, s.Fabric.PortByLID(x.LID), x.LID)
	}
	m.Adaptive = adaptive(st)
	if m.Choices, err = c.Choices(s); err != nil {
		return err
	}
	if m.Choices != nil {
		n := m.Choices.Result
		m.LostPairs, m.LuckPairs, m.UnknownPairs, m.Arrive, m.Unknown = n.LostPairs, n.LuckPairs, n.UnknownPairs,
			n.Sure, n.Unknown
	}
	m.setBasis(st, s)
	return answerMany(c, m)
}

// traceAllLive reads the subnet again, traces all pairs of end ports, and compares their paths with those in a state.
func traceAllLive(c *feature.Call, st *session.State, s *session.Picture, noTables error, limit int) error {
	now, unanswered, err := live.Read(c.Ctx, c.Session)
	if err != nil {
		return err
	}
	passing := *now.Tables
	passing.Fabric = now.Fabric.UsableLinksOnly()
	opt := census.Options{Switches: c.Flag("switches"), List: limit}
	if noTables == nil {
		opt.Other = s.Tables
	}
	r, err := count(c, &passing, opt)
	if err != nil {
		return err
	}
	m := censusOf(now.Fabric, &passing, r)
	m.basis, m.Adaptive = liveBasis(st), adaptive(st)
	m.basis.AsOf = now.When
	if m.Unknown > 0 {
		for _, n := range passing.NotRead() {
			place, _ := answer.Node(passing.Fabric, n).Place()
			m.basis.Unread.Note("forwarding table", "", 1, place)
		}
	}
	if noTables == nil {
		m.Against, m.Part = answer.Text(st.Title(s)), r.Differing
	}
	for _, x := range r.DifferingPairs {
		m.parting = append(m.parting, trouble{
			From: answer.Port(now.Fabric, x.Src), To: answer.Port(now.Fabric, now.Fabric.PortByLID(x.LID)),
			ToName: feature.DestinationName(now.Fabric, x.LID), LID: x.LID,
			Why: censusDifference(&passing, s, x, st.Title(s)),
		})
	}
	for _, u := range unanswered {
		m.basis.Warnings = append(m.basis.Warnings, "unanswered: "+u)
	}
	return answerMany(c, m)
}

// mostNamed is the maximum number of end ports that text lists as unreachable or without a LID.
const mostNamed = 10

// censusOf returns the answer from a census: a count of all paths through tables. The fabric f may have links that pass
// no packets.
func censusOf(f *fabric.Fabric, t *fabric.Tables, r *census.Result) *many {
	m := &many{
		Pairs: r.Pairs, LostPairs: r.LostPairs, UnknownPairs: r.UnknownPairs, Paths: r.Paths, Arrive: r.Arrive(),
		Unknown:     r.Verdicts[walk.Unknown],
		Unreachable: feature.Ports(f, r.Unreachable), Unassigned: feature.Ports(f, r.Unassigned),
		WithoutLID: len(r.Unassigned),
		Places:     int64(r.Places), SwitchPairs: r.SwitchPairs, Sequences: r.Sequences, groups: groupsOf(t, r),
		counts: r.Links, endings: map[string]int64{},
	}
	m.UnreachableText, m.UnassignedText = portsOf(f, r.Unreachable), portsOf(f, r.Unassigned)
	if len(r.Unreachable) > 0 {
		m.SeenFrom = answer.Port(f, f.SMPort)
	}
	for v, n := range r.Verdicts {
		if n > 0 {
			m.endings[walk.Verdict(v).String()] = n
		}
	}
	for _, x := range r.Failures {
		of := walk.Trace(t, x.Src, x.LID)
		m.troubles = append(m.troubles, trouble{
			From: answer.Port(f, x.Src), To: answer.Port(f, f.PortByLID(x.LID)),
			ToName: feature.DestinationName(f, x.LID), LID: x.LID, Why: whyLost(f, &of),
			Ending: answer.Text(x.Verdict.String()), Paths: answer.Int(x.Paths),
		})
	}
	return m
}

// portsOf returns the number of end ports with the names of the first ports, or "" if there are none.
func portsOf(f *fabric.Fabric, ports []fabric.PortIndex) string {
	if len(ports) == 0 {
		return ""
	}
	return prose.Count(len(ports), "end port") + ": " + prose.List(prose.Words(ports, f.PortName), mostNamed)
}

// whyLost returns the reason why a path does not arrive. If the path ends at a link that passes no packets, the reason
// is the state of its port.
func whyLost(f *fabric.Fabric, of *walk.Path) string {
	last := of.Hops[len(of.Hops)-1]
	if of.Cause == walk.NoLink && last.Out != fabric.None {
		if port := &f.Ports[last.Out]; port.Peer != fabric.None && port.State != mad.PortActive &&
			port.State != mad.PortArmed {
			return fmt.Sprintf("dead end: %s is in state %v and passes no packets", f.PortName(last.Out), port.State)
		}
	}
	return of.Explain(f)
}

// censusDifference describes the first difference between the path of a pair through t and its path in the state s.
func censusDifference(t *fabric.Tables, s *session.Picture, x census.Pair, title string) string {
	f := t.Fabric
	var now livetrace.Path
	of := walk.Trace(t, x.Src, x.LID)
	planned, err := of.In(f, s.Tables)
	if err != nil {
		return fmt.Sprintf("differs from %s: %v", title, err)
	}
	for _, h := range of.Hops {
		now.Hops = append(now.Hops, livetrace.Hop{GUID: f.Nodes[h.Node].GUID, Node: h.Node, Out: outOf(f, h.Out)})
	}
	return difference(f, &now, s.Fabric, &planned, title)
}

// count takes a census of tables, as an operation that shows its progress.
func count(c *feature.Call, t *fabric.Tables, opt census.Options) (*census.Result, error) {
	op, err := c.Session.Begin(c.Ctx, "trace")
	if err != nil {
		return nil, err
	}
	defer op.End()
	opt.Progress = op.Progress
	return census.Take(c.Ctx, t, opt)
}
