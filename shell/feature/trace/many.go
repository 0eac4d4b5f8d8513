// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// maxListed is the default for the maximum number of rows of one kind in text.
const maxListed = 20

// The type many is the answer with counts of the paths of many pairs, by result.
type many struct {
	Pairs        int64        `key:"pairs"`
	LostPairs    int64        `key:"lost_pairs" help:"pairs with a path that does not arrive"`
	UnknownPairs int64        `key:"unknown_pairs" help:"other pairs with an unknown path"`
	LuckPairs    int64        `key:"luck_pairs" help:"pairs with a path that depends on adaptive routing"`
	Paths        int64        `key:"paths" help:"traced paths"`
	Arrive       int64        `key:"arrive"`
	Unknown      int64        `key:"unknown" help:"paths that may arrive or not, as tables were not read"`
	NotTraced    int64        `key:"not_traced" help:"other paths, that an interruption or an error left out"`
	Lost         int64        `name:"lost"`
	Verdicts     answer.Value `key:"verdicts" kind:"map" help:"number of paths by result"`
	Links        answer.Value `key:"links" kind:"list" help:"paths that arrive, by their number of links"`
	Places       int64        `key:"places" help:"places where paths end that do not arrive, of all pairs"`
	SwitchPairs  int64        `key:"switch_pairs" help:"pairs of the first and last switch of paths that arrive"`
	Sequences    int64        `key:"sequences" help:"different sequences of switches of the paths"`
	WithoutLID   int          `key:"without_lid" help:"end ports without a LID"`
	Unreachable  answer.Value `key:"unreachable_ports" kind:"list" help:"unreachable end ports"`
	Unassigned   answer.Value `key:"unassigned_ports" kind:"list" help:"other end ports, without a LID"`
	Against      answer.Value `key:"against" kind:"text" help:"the state with which live paths are compared"`
	Part         int64        `key:"part" help:"live paths that differ from that state"`
	Digest       answer.Value `key:"digest" kind:"text" help:"of the paths in the order of rows, for rows and save="`
	Saved        answer.Value `key:"saved" kind:"text" help:"the file to which save= wrote the paths"`
	Adaptive     answer.Value `key:"adaptive" kind:"text" help:"switches may choose among several paths"`
	// Choices is nil if no switch routes adaptively, or if the paths are not those of all pairs.
	Choices *feature.ChoiceCounts `prefix:"adaptive_"`

	SeenFrom        answer.Value `key:"seen_from" name:"seen from" kind:"place" help:"the port from which it is tested"`
	Summary         string       `name:"summary"`
	UnreachableText string       `name:"unreachable ports"`
	UnassignedText  string       `name:"ports without a LID"`
	MorePlaces      string       `name:"more places"`

	basis    answer.Basis
	list     pathList // of all paths, unless they are counted only
	counts   []int64  // paths by links
	groups   []pathGroup
	troubles []trouble
	parting  []trouble
	endings  map[string]int64
	outcomes map[[2]fabric.PortIndex]reach.Outcome
}

// trouble is a row of a table: a path that does not arrive. It may stand for all paths that end at the same place.
type trouble struct {
	From   answer.Value `key:"from" name:"FROM" kind:"place"`
	To     answer.Value `key:"to" kind:"place" help:"none if no port has the LID"`
	ToName string       `name:"TO"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid"`
	Why    string       `key:"why" name:"CAUSE"`
	Ending answer.Value `key:"ending" kind:"text"`
	Paths  answer.Value `key:"paths" name:"PATHS" kind:"int" help:"paths that end there"`
	lead   answer.Lead
}

// linksCount is the number of paths that have the same number of links.
type linksCount struct {
	Links int   `key:"links" name:"LINKS"`
	Paths int64 `key:"paths" name:"PATHS"`
}

var (
	linksTable = answer.Table[linksCount]{
		Key: "paths_by_links", Title: "paths by links", TextOnly: true, Fields: answer.Fields[linksCount](),
		Row: "  {paths} over {links|link}",
	}
	troubleTable = troublesTable("troubles", "paths that do not arrive")
	partingTable = troublesTable("parting", "paths that differ")
)

func troublesTable(key, title string) answer.Table[trouble] {
	return answer.Table[trouble]{
		Key: key, Title: title, MaxRows: maxListed, Fields: answer.Fields[trouble](),
		Row:  "  [{paths} as ]{from} -> {TO}: {why}",
		Lead: func(t trouble) answer.Lead { return t.lead },
	}
}

var manyDecl = answer.Decl[*many]{
	Command: "trace", Help: "the results of the paths of many pairs", Title: "{pairs|pair}, {paths|path} traced, of " +
		"{of}: {arrive} arrive", Facts: answer.Fields[*many](),
	Layout: append(feature.ChoiceItems(func(m *many) *feature.ChoiceCounts { return m.Choices }, nil),
		[]answer.Item[*many]{
			{Line: "[INCOMPLETE: {not_traced|path} not traced]"},
			{Line: "{?digest}digest {digest}[, written to {saved}]"},
			{Line: "by the linear tables only:", When: func(m *many) bool { return m.Choices != nil }},
			{Table: answer.Show(&linksTable, (*many).byLinks)},
			{Line: "{switch_pairs|pair} of first and last switches, {sequences|sequence} of switches",
				When: func(m *many) bool {
					return m.SwitchPairs > 0
				}},
			{Table: answer.Show(&pathGroupTable, (*many).listedGroups)},
			{Line: "[{summary}]"},
			{Table: answer.Show(&troubleTable, (*many).listed), When: func(m *many) bool { return !m.list.isTable }},
			{Line: "[{more places}]"},
			{Line: "[unreachable from {seen_from}: {unreachable ports}]"},
			{Line: "[without a LID: {ports without a LID}]"},
			{Line: "{?against}all paths are those of {against}", When: func(m *many) bool {
				return m.Part == 0
			}},
			{Line: "{?against}{part|path} differ from {against}:", When: func(m *many) bool {
				return m.Part > 0
			}},
			{Table: answer.Show(&partingTable, func(m *many) answer.Rows[trouble] {
				rows := answer.Slice(m.parting)
				rows.More = m.Part - int64(len(m.parting))
				return rows
			})},
			{Line: "{?adaptive}{adaptive}"},
		}...),
	Verdict: (*many).verdict, Fails: answer.Always,
}

// listDecl is manyDecl with a row for each path.
var listDecl = answer.Decl[*many]{
	Command: "trace", Help: "the paths of listed pairs, and their results", Title: manyDecl.Title,
	Facts:   manyDecl.Facts,
	Layout:  append([]answer.Item[*many]{{Table: answer.Show(&rowTable, (*many).rows)}}, manyDecl.Layout...),
	Verdict: (*many).verdict, Fails: answer.Always,
}

func (m *many) byLinks() answer.Rows[linksCount] {
	var rows []linksCount
	for links, n := range m.counts {
		if n > 0 {
			rows = append(rows, linksCount{links, n})
		}
	}
	return answer.Slice(rows)
}

func (m *many) listedGroups() answer.Rows[pathGroup] {
	rows := answer.Slice(m.groups)
	rows.More = m.SwitchPairs - int64(len(m.groups))
	return rows
}

func (m *many) listed() answer.Rows[trouble] {
	rows := answer.Slice(m.troubles)
	if m.Places > 0 {
		rows.Shown = max(1, len(m.troubles))
	}
	return rows
}

// verdict returns Found if at least one path does not arrive.
func (m *many) verdict() (answer.Verdict, string) {
	switch v := verdict.Of(m.Lost > 0, m.Unknown+m.NotTraced > 0); v {
	case answer.Found:
		return v, fmt.Sprintf("%s of %s do not arrive", prose.Thousands(m.Lost), prose.Count(m.Paths, "path"))
	case answer.Unknown:
		return v, fmt.Sprintf("%s of %s are unknown", prose.Thousands(m.Unknown+m.NotTraced),
			prose.Count(m.Paths+m.NotTraced, "path"))
	}
	return answer.OK, ""
}

// add adds the path of a listed pair.
func (m *many) add(i int, p *pathRow) {
	if m.outcomes == nil {
		m.endings, m.outcomes = map[string]int64{}, map[[2]fabric.PortIndex]reach.Outcome{}
	}
	outcome := p.outcome()
	m.list.byOutcome[outcome] = append(m.list.byOutcome[outcome], int32(i))
	m.count([2]fabric.PortIndex{p.pair.Src, p.pair.Dst}, outcome)
	m.Paths++
	m.endings[p.Ending]++
	of := trouble{From: p.From, To: p.To, ToName: p.ToName, LID: p.LID, Ending: answer.Text(p.Ending)}
	if !p.Parts.IsNone() {
		m.Part++
		other := of
		other.Why = p.Parts.String()
		m.parting = append(m.parting, other)
	}
	if outcome == reach.Unknown {
		m.Unknown++
	}
	if !p.Arrives {
		of.Why = p.Why
		m.troubles = append(m.troubles, of)
		return
	}
	m.Arrive++
	links := int(p.Hops.Int())
	for len(m.counts) <= links {
		m.counts = append(m.counts, 0)
	}
	m.counts[links]++
}

// count updates the counts of pairs after another path of a pair was traced.
func (m *many) count(pair [2]fabric.PortIndex, now reach.Outcome) {
	was, counted := m.outcomes[pair]
	if !counted {
		m.Pairs++
	}
	now = max(now, was)
	m.outcomes[pair] = now
	for _, o := range []struct {
		outcome reach.Outcome
		pairs   *int64
	}{{reach.Lost, &m.LostPairs}, {reach.Unknown, &m.UnknownPairs}} {
		if now == o.outcome {
			*o.pairs++
		}
		if counted && was == o.outcome {
			*o.pairs--
		}
	}
}

// finish computes the figures of the answer from the counts.
func (m *many) finish() {
	m.Lost = m.Paths - m.Arrive - m.Unknown
	var named []answer.Named
	for _, name := range slices.Sorted(maps.Keys(m.endings)) {
		named = append(named, answer.Named{Name: name, Value: answer.Int(m.endings[name])})
	}
	m.Verdicts = answer.Map(named)
	links := make([]answer.Value, len(m.counts))
	for i, n := range m.counts {
		links[i] = answer.Int(n)
	}
	m.Links = answer.List(links)
	if m.Paths > m.Arrive {
		unknown := prose.When(m.Unknown > 0, fmt.Sprintf("; %d unknown, %s", m.Unknown,
			prose.Count(m.UnknownPairs, "pair")), "")
		m.Summary = fmt.Sprintf("%d do not, %s lost%s%s", m.Lost, prose.Count(m.LostPairs, "pair"), unknown,
			prose.When(len(m.troubles) > 0 && !m.list.isTable, ":", ""))
	}
	if more := m.Places - int64(len(m.troubles)); more > 0 {
		m.MorePlaces = fmt.Sprintf("  and at %s; hint: limit=N lists more", prose.Count(more, "more place"))
	}
}

// answerMany writes the answer with the counts of the paths of many pairs.
func answerMany(c *feature.Call, m *many) error {
	m.finish()
	return c.Answer(manyDecl.Answer(m.basis, m))
}

// setBasis sets the basis of the answer. If paths are unknown, it includes the tables that were not read.
func (m *many) setBasis(st *session.State, s *session.Picture) {
	needs := session.Need(0)
	if m.Unknown > 0 {
		needs = session.NeedTables
	}
	m.basis = st.Basis(s, needs)
}

// traceMany traces pairs through the tables of a state.
func traceMany(c *feature.Call, st *session.State, s *session.Picture, g *partitions.Grants, r *request) error {
	m := &many{Adaptive: adaptive(st)}
	err := m.addPaths(c.Ctx, r, &statePaths{s, g, r.pairs})
	m.setBasis(st, s)
	if err == nil && r.canonical {
		err = m.addDigest(c, r, &traces.Head{State: s.Kind.Word(), Tables: s.When})
	}
	return answerPart(c, m, r, err)
}

// traceManyLive traces pairs by requests to the switches, and compares the paths with those in a state.
func traceManyLive(c *feature.Call, st *session.State, s *session.Picture, noTables error, r *request) error {
	p := &livePaths{st: st, pairs: r.pairs}
	m := &many{basis: liveBasis(st), Adaptive: adaptive(st)}
	if noTables == nil {
		p.against, m.Against = s, answer.Text(st.Title(s))
	}
	failed := p.traceAll(c)
	for _, of := range p.paths {
		if of != nil {
			noteSilent(&m.basis, st.Live.Fabric, of)
		}
	}
	err := m.addPaths(context.WithoutCancel(c.Ctx), r, p)
	if failed == nil && err == nil && r.canonical {
		err = m.addDigest(c, r, &traces.Head{State: string(session.Live), Tables: time.Now()})
	}
	return answerPart(c, m, r, errors.Join(failed, err))
}

// answerPart writes the answer. If tracing failed, the answer has the paths that were traced before; without any it is
// answerPart writes the answer. If tracing failed, the answer has the paths that were traced before; without any it is
// omitted.
func answerPart(c *feature.Call, m *many, r *request, failed error) error {
	if failed != nil && m.Paths == 0 {
		return failed
	}
	m.NotTraced = int64(len(r.pairs)) - m.Paths
	m.basis.Warnings = append(m.basis.Warnings, r.warnings...)
	err := answerList(c, m, r)
	if failed != nil {
		return failed
	}
	return err
}

func answerList(c *feature.Call, m *many, r *request) error {
	if !r.listed && !r.ibtracert {
		return answerMany(c, m)
	}
	m.finish()
	if r.ibtracert {
		return answerLines(c, m)
	}
	return c.Answer(listDecl.Answer(m.basis, m))
}
