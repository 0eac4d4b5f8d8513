// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/census"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// traceAll follows the packets of all pairs through the tables of a picture.
func (c *call) traceAll(st *session.State, p *session.Picture, limit int) error {
	r, err := c.session.Census(c.ctx, p.Tables, census.Options{Switches: c.Flag("switches"), List: limit})
	if err != nil {
		return err
	}
	answer := c.allAnswer(p.Fabric, p.Tables, r)
	answer.Of, answer.Stale, answer.Adaptive = st.Title(p), st.IsStale(p), adaptive(st)
	if answer.Choices, err = c.choices(p); err != nil {
		return err
	}
	answer.choose()
	return c.answerMany(answer)
}

// traceAllLive reads the subnet, follows the packets of all pairs, and compares with a
// picture.
func (c *call) traceAllLive(st *session.State, p *session.Picture, noTables error, limit int) error {
	now, unanswered, err := c.session.ReadNow(c.ctx)
	if err != nil {
		return err
	}
	passing := *now.Tables
	passing.Fabric = now.Fabric.Passing()
	opt := census.Options{Switches: c.Flag("switches"), List: limit}
	if noTables == nil {
		opt.Beside = p.Tables
	}
	r, err := c.session.Census(c.ctx, &passing, opt)
	if err != nil {
		return err
	}
	answer := c.allAnswer(now.Fabric, &passing, r)
	answer.Of, answer.Adaptive = "the switches now", adaptive(st)
	if noTables == nil {
		answer.Against, answer.Part = st.Title(p), int(r.Part)
	}
	for _, x := range r.Parting {
		answer.Parting = append(answer.Parting, traceTrouble{
			From: now.Fabric.PortName(x.Src), To: feature.DestinationName(now.Fabric, x.LID), Why: partsFrom(&passing, p, x, st.Title(p)),
		})
	}
	shown, more := prose.Cut(unanswered, maxTroubles)
	for _, u := range shown {
		c.out.warn("unanswered: %s", u)
	}
	if more != "" {
		c.out.warn("unanswered: %s", more)
	}
	return c.answerMany(answer)
}

// allAnswer sums up a census of tables over a fabric, where not all links may pass packets.
func (c *call) allAnswer(f *fabric.Fabric, t *fabric.Tables, r *census.Result) *manyAnswer {
	a := &manyAnswer{
		Pairs: int(r.Pairs), LostPairs: int(r.LostPairs), UnknownPairs: int(r.UnknownPairs), Paths: int(r.Paths), Arrive: int(r.Arrive()), Unknown: int(r.Verdicts[walk.Unknown]),
		Unreachable: prose.Words(r.Unreachable, f.PortName), Unassigned: prose.Words(r.Unassigned, f.PortName), WithoutLID: len(r.Unassigned),
		Verdicts: map[string]int{}, Places: r.Places,
		alikeAnswer: alikeOf(t, r),
	}
	for v, n := range r.Verdicts {
		if n > 0 {
			a.Verdicts[walk.Verdict(v).String()] = int(n)
		}
	}
	for _, n := range r.Links {
		a.Links = append(a.Links, int(n))
	}
	for _, x := range r.Failures {
		path := walk.Trace(t, x.Src, x.LID)
		a.Troubles = append(a.Troubles, traceTrouble{
			From: f.PortName(x.Src), To: feature.DestinationName(f, x.LID), Why: whyLost(f, &path), Verdict: x.Verdict.String(), Paths: x.Paths,
		})
	}
	return a
}

// whyLost is [walk.Path.Explain], also where packets do not pass a link that is there.
func whyLost(f *fabric.Fabric, path *walk.Path) string {
	last := path.Hops[len(path.Hops)-1]
	if path.Cause == walk.NoLink && last.Out != fabric.None {
		if port := &f.Ports[last.Out]; port.Peer != fabric.None && port.State != mad.PortActive && port.State != mad.PortArmed {
			return fmt.Sprintf("dead end: %s is in state %v: no packets pass", f.PortName(last.Out), port.State)
		}
	}
	return path.Explain(f)
}

// partsFrom says where a path through tables leaves that of a picture.
func partsFrom(t *fabric.Tables, p *session.Picture, x census.Pair, title string) string {
	f := t.Fabric
	var now livetrace.Path
	path := walk.Trace(t, x.Src, x.LID)
	planned, err := path.In(f, p.Tables)
	if err != nil {
		return fmt.Sprintf("parts from %s: %v", title, err)
	}
	for _, h := range path.Hops {
		now.Hops = append(now.Hops, livetrace.Hop{GUID: f.Nodes[h.Node].GUID, Node: h.Node, Out: outOf(f, h.Out)})
	}
	return parts(f, &now, p.Fabric, &planned, title)
}
