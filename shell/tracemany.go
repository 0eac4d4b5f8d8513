// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// maxTroubles is how many bad paths are listed in text; JSON has them all, but for
// those of all pairs.
const maxTroubles = 20

// manyAnswer sums up the traces of many pairs.
type manyAnswer struct {
	Of    string `json:"of"`
	Stale bool   `json:"stale,omitempty"`
	// Pairs are the pairs that the paths are of; LostPairs are those of which a path does not arrive, UnknownPairs other ones
	// of which a path is unknown.
	Pairs        int `json:"pairs"`
	LostPairs    int `json:"lost_pairs"`
	UnknownPairs int `json:"unknown_pairs"`
	// LuckPairs are those of which a path arrives by some choices of adaptive routing, and not by others.
	LuckPairs int `json:"luck_pairs,omitempty"`
	// Paths counts the paths that were followed, Arrive those that arrive, and Unknown those of which that is unknown.
	Paths    int            `json:"paths"`
	Arrive   int            `json:"arrive"`
	Unknown  int            `json:"unknown"`
	Verdicts map[string]int `json:"verdicts"`
	// Links counts the paths that arrive by their number of links.
	Links    []int          `json:"links"`
	Troubles []traceTrouble `json:"troubles,omitempty"`
	// Places counts the places where packets of all pairs end that do not arrive;
	// Troubles has the first then.
	Places int `json:"places,omitempty"`
	// WithoutLID counts the end ports that have none.
	WithoutLID int `json:"without_lid,omitempty"`
	// Unreachable names the end ports that failures have separated from the subnet, Unassigned other ones without a LID.
	Unreachable []string `json:"unreachable_ports,omitempty"`
	Unassigned  []string `json:"unassigned_ports,omitempty"`
	alikeAnswer
	// Part counts the live paths that are others than those of the tables that
	// they were compared with.
	Part    int            `json:"part"`
	Against string         `json:"against,omitempty"`
	Parting []traceTrouble `json:"parting,omitempty"`
	// Adaptive says that switches may choose among several paths.
	Adaptive string `json:"adaptive,omitempty"`
	// Choices is nil where no switch routes adaptively, or the paths are not those of all pairs.
	Choices *choiceCounts `json:"choices,omitempty"`

	alikes   alikes
	outcomes map[[2]fabric.PortIndex]reach.Outcome
}

type traceTrouble struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
	// Verdict and Paths are of all paths that end there.
	Verdict string `json:"verdict,omitempty"`
	Paths   int64  `json:"paths,omitempty"`
}

// add adds a path of a pair.
func (m *manyAnswer) add(pair session.Pair, a *traceAnswer, switches []passed) {
	if m.Verdicts == nil {
		m.Verdicts, m.outcomes = map[string]int{}, map[[2]fabric.PortIndex]reach.Outcome{}
	}
	m.count([2]fabric.PortIndex{pair.Src, pair.Dst}, a)
	m.Paths++
	m.Verdicts[a.Verdict]++
	if a.Parts != "" {
		m.Part++
		m.Parting = append(m.Parting, traceTrouble{From: a.From, To: a.To, Why: a.Parts})
	}
	if a.unknown() {
		m.Unknown++
	}
	if !a.Arrives {
		m.Troubles = append(m.Troubles, traceTrouble{From: a.From, To: a.To, Why: a.Why})
		return
	}
	m.Arrive++
	m.alikes.add(switches)
	links := len(a.Hops) - 1
	for len(m.Links) <= links {
		m.Links = append(m.Links, 0)
	}
	m.Links[links]++
}

// choose takes the counts of pairs and paths from the choices of adaptive routing, where there are any.
func (m *manyAnswer) choose() {
	if c := m.Choices; c != nil {
		m.LostPairs, m.LuckPairs, m.UnknownPairs, m.Arrive, m.Unknown = int(c.LostPairs), int(c.LuckPairs), int(c.UnknownPairs), int(c.Sure), int(c.Unknown)
	}
}

// count counts what becomes of a pair by one more of its paths.
func (m *manyAnswer) count(pair [2]fabric.PortIndex, a *traceAnswer) {
	now := reach.Lost
	switch {
	case a.Arrives:
		now = reach.Arrives
	case a.unknown():
		now = reach.Unknown
	}
	was, counted := m.outcomes[pair]
	if !counted {
		m.Pairs++
	}
	now = max(now, was)
	m.outcomes[pair] = now
	for _, o := range []struct {
		outcome reach.Outcome
		pairs   *int
	}{{reach.Lost, &m.LostPairs}, {reach.Unknown, &m.UnknownPairs}} {
		if now == o.outcome {
			*o.pairs++
		}
		if counted && was == o.outcome {
			*o.pairs--
		}
	}
}

func (m *manyAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s, %s traced, of %s: %d arrive\n", prose.Count(m.Pairs, "pair"), prose.Count(m.Paths, "path"), m.Of, m.Arrive)
	if m.Choices != nil {
		m.Choices.text(w)
		_, _ = fmt.Fprintln(w, "by the linear tables alone:")
	}
	for links, n := range m.Links {
		if n > 0 {
			_, _ = fmt.Fprintf(w, "  %d over %d links\n", n, links)
		}
	}
	m.text(w)
	if n := m.Paths - m.Arrive; n > 0 {
		unknown := prose.When(m.Unknown > 0, fmt.Sprintf("; %d unknown, %s", m.Unknown, prose.Count(m.UnknownPairs, "pair")), "")
		_, _ = fmt.Fprintf(w, "%d do not, %s lost%s%s\n", n-m.Unknown, prose.Count(m.LostPairs, "pair"), unknown, prose.When(len(m.Troubles) > 0, ":", ""))
		listTroubles(w, m.Troubles, m.Places)
	}
	silentText(func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }, m.Unreachable, m.Unassigned)
	switch {
	case m.Against == "":
	case m.Part == 0:
		_, _ = fmt.Fprintf(w, "all take the path that they have in %s\n", m.Against)
	default:
		_, _ = fmt.Fprintf(w, "%d take another path than in %s:\n", m.Part, m.Against)
		listTroubles(w, m.Parting, 0)
		if more := m.Part - len(m.Parting); more > 0 {
			_, _ = fmt.Fprintf(w, "  and %d more (limit=N lists more)\n", more)
		}
	}
	if m.Adaptive != "" {
		_, _ = fmt.Fprintln(w, m.Adaptive)
	}
}

// listTroubles lists bad paths; where they are put together by the place where they
// end, places is how many there are.
func listTroubles(w io.Writer, troubles []traceTrouble, places int) {
	for i, t := range troubles {
		switch {
		case places > 0:
			_, _ = fmt.Fprintf(w, "  %d as %s -> %s: %s\n", t.Paths, t.From, t.To, t.Why)
		case i == maxTroubles:
			_, _ = fmt.Fprintf(w, "  and %d more (--json lists them all)\n", len(troubles)-i)
			return
		default:
			_, _ = fmt.Fprintf(w, "  %s -> %s: %s\n", t.From, t.To, t.Why)
		}
	}
	if more := places - len(troubles); more > 0 {
		_, _ = fmt.Fprintf(w, "  and at %s (limit=N lists more)\n", prose.Count(more, "more place"))
	}
}

// answerMany answers, and fails where packets of a path do not arrive.
func (c *call) answerMany(m *manyAnswer) error {
	if err := c.out.Answer(m); err != nil {
		return err
	}
	lost := m.Paths - m.Arrive - m.Unknown
	return c.judge(verdict.Of(lost > 0, m.Unknown > 0), fmt.Sprintf("%d of %d paths do not arrive", lost, m.Paths), fmt.Sprintf("%d of %d paths are unknown", m.Unknown, m.Paths))
}

// traceMany follows pairs through the tables of a picture.
func (c *call) traceMany(st *session.State, p *session.Picture, g *partitions.Grants, r *traceRequest) error {
	answer := &manyAnswer{Of: st.Title(p), Stale: st.IsStale(p), Adaptive: adaptive(st)}
	for _, pair := range r.pairs {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		path := walk.Between(p.Tables, pair.Src, pair.Dst, pair.LID)
		a := traceAnswerOf(p.Fabric, &path)
		_, _, err := g.Of(pair.Src, pair.LID)
		a.grant(err)
		answer.add(pair, a, passedOf(p.Fabric, &path))
	}
	answer.alikeAnswer = answer.alikes.answer(r.limit)
	return c.answerMany(answer)
}

// traceManyLive follows pairs through the switches, and compares with a picture.
func (c *call) traceManyLive(st *session.State, p *session.Picture, noTables error, r *traceRequest) error {
	if err := session.Addressed(st.Live.Fabric, r.pairs...); err != nil {
		return err
	}
	answers, switches := make([]*traceAnswer, len(r.pairs)), make([][]passed, len(r.pairs))
	err := c.session.TraceLive(c.ctx, r.pairs, func(i int, path *livetrace.Path) {
		answers[i], switches[i] = liveAnswerOf(st.Live.Fabric, path), passedLive(st.Live.Fabric, path)
		if noTables == nil {
			answers[i].Parts = partsBeside(st, path, p, r.pairs[i])
		}
	})
	if err != nil {
		return err
	}
	answer := &manyAnswer{Of: "the switches now", Adaptive: adaptive(st)}
	if noTables == nil {
		answer.Against = st.Title(p)
	}
	for i, a := range answers {
		answer.add(r.pairs[i], a, switches[i])
	}
	answer.alikeAnswer = answer.alikes.answer(r.limit)
	return c.answerMany(answer)
}

const maxUnreachable = 10 // how many end ports the text names that are unreachable, or without a LID

// silentText names the end ports from and to which all paths end at once.
func silentText(line func(format string, args ...any), unreachable, unassigned []string) {
	if n := len(unreachable); n > 0 {
		line("unreachable: %s: %s", prose.Count(n, "end port"), prose.List(unreachable, maxUnreachable))
	}
	if n := len(unassigned); n > 0 {
		line("without a LID: %s: %s", prose.Count(n, "end port"), prose.List(unassigned, maxUnreachable))
	}
}
