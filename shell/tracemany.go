// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
)

// maxTroubles is how many bad paths are listed in text; JSON has them all.
const maxTroubles = 20

// manyAnswer sums up the traces of many pairs.
type manyAnswer struct {
	Of       string         `json:"of"`
	Stale    bool           `json:"stale,omitempty"`
	Pairs    int            `json:"pairs"`
	Arrive   int            `json:"arrive"`
	Verdicts map[string]int `json:"verdicts"`
	// Links counts the paths that arrive by their number of links.
	Links    []int          `json:"links"`
	Troubles []traceTrouble `json:"troubles,omitempty"`
	// Part counts the live paths that are others than those of the tables that
	// they were compared with.
	Part    int            `json:"part"`
	Against string         `json:"against,omitempty"`
	Parting []traceTrouble `json:"parting,omitempty"`
	// Adaptive says that switches may choose among several paths.
	Adaptive string `json:"adaptive,omitempty"`
}

type traceTrouble struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

func (m *manyAnswer) add(a *traceAnswer) {
	if m.Verdicts == nil {
		m.Verdicts = map[string]int{}
	}
	m.Pairs++
	m.Verdicts[a.Verdict]++
	if a.Parts != "" {
		m.Part++
		m.Parting = append(m.Parting, traceTrouble{a.From, a.To, a.Parts})
	}
	if !a.Arrives {
		m.Troubles = append(m.Troubles, traceTrouble{a.From, a.To, a.Why})
		return
	}
	m.Arrive++
	links := len(a.Hops) - 1
	for len(m.Links) <= links {
		m.Links = append(m.Links, 0)
	}
	m.Links[links]++
}

func (m *manyAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%d pairs traced, of %s: %d arrive\n", m.Pairs, m.Of, m.Arrive)
	for links, n := range m.Links {
		if n > 0 {
			_, _ = fmt.Fprintf(w, "  %d over %d links\n", n, links)
		}
	}
	list := func(troubles []traceTrouble) {
		for i, t := range troubles {
			if i == maxTroubles {
				_, _ = fmt.Fprintf(w, "  and %d more (--json lists them all)\n", len(troubles)-i)
				break
			}
			_, _ = fmt.Fprintf(w, "  %s -> %s: %s\n", t.From, t.To, t.Why)
		}
	}
	if n := m.Pairs - m.Arrive; n > 0 {
		_, _ = fmt.Fprintf(w, "%d do not:\n", n)
		list(m.Troubles)
	}
	switch {
	case m.Against == "":
	case m.Part == 0:
		_, _ = fmt.Fprintf(w, "all take the path that they have in %s\n", m.Against)
	default:
		_, _ = fmt.Fprintf(w, "%d take another path than in %s:\n", m.Part, m.Against)
		list(m.Parting)
	}
	if m.Adaptive != "" {
		_, _ = fmt.Fprintln(w, m.Adaptive)
	}
}

// traceMany follows pairs through the tables of a picture.
func (c *call) traceMany(st *session.State, p *session.Picture, g *session.Grants, pairs []session.Pair) error {
	answer := &manyAnswer{Of: st.Title(p), Stale: st.IsStale(p), Adaptive: adaptive(st)}
	for _, pair := range pairs {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		path := walk.Trace(p.Tables, pair.Src, pair.LID)
		a := traceAnswerOf(p.Fabric, &path)
		if _, _, err := g.Of(pair.Src, pair.LID); err != nil && g.Asked() {
			a.Verdict, a.Arrives, a.Why = "not granted", false, err.Error()
		}
		answer.add(a)
	}
	return c.out.Answer(answer)
}

// traceManyLive follows pairs through the switches, and compares with a picture.
func (c *call) traceManyLive(st *session.State, p *session.Picture, noTables error, pairs []session.Pair) error {
	live := make([]session.Pair, len(pairs))
	for i, pair := range pairs {
		var err error
		if live[i], err = onLive(st, p, pair); err != nil {
			return err
		}
	}
	answers := make([]*traceAnswer, len(pairs))
	err := c.session.TraceLive(c.ctx, live, func(i int, path *livetrace.Path) {
		answers[i] = liveAnswerOf(st.Live.Fabric, path)
		if noTables == nil {
			planned := walk.Trace(p.Tables, pairs[i].Src, pairs[i].LID)
			answers[i].Parts = parts(st.Live.Fabric, path, p.Fabric, &planned, st.Title(p))
		}
	})
	if err != nil {
		return err
	}
	answer := &manyAnswer{Of: "the switches now", Adaptive: adaptive(st)}
	if noTables == nil {
		answer.Against = st.Title(p)
	}
	for _, a := range answers {
		answer.add(a)
	}
	return c.out.Answer(answer)
}
