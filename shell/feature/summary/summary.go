// SPDX-License-Identifier: Apache-2.0

// Package summary summarizes a state of the subnet and the session.
package summary

import (
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// Feature has the command summary.
var Feature = feature.Feature{Name: "summary", Commands: []feature.Command{{
	Path:     "summary",
	Group:    feature.GroupLook,
	Summary:  "Summarize the subnet and this session",
	Options:  []lang.Option{feature.OfOption()},
	Examples: []string{"summary", "fail switch spine-02; route; summary of=whatif"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// summary is the answer with the counts of a state and the settings of the session.
type summary struct {
	Source      string       `key:"source" name:"source"`
	Simulated   bool         `key:"simulated" help:"no InfiniBand hardware is read or written"`
	Mark        answer.Value `name:"mark" kind:"text"`
	Hardware    answer.Value `name:"hardware" kind:"text"`
	Interrupted answer.Value `key:"interrupted" kind:"text" help:"the interrupted commit"`
	Elsewhere   answer.Value `key:"interrupted_elsewhere" kind:"text" help:"a commit in another simulation"`
	Switches    int          `key:"switches" name:"switches"`
	CAs         int          `key:"cas" name:"channel adapters"`
	Aggregation int          `key:"aggregation_nodes" help:"channel adapters that are aggregation nodes"`
	Aggregated  string       `name:"aggregation nodes"`
	Routers     int          `key:"routers" name:"routers"`
	Links       int          `key:"links" name:"links"`
	MaxLID      uint16       `key:"max_lid" help:"highest unicast LID in use"`
	Unreachable *amounts     `prefix:"unreachable_"` // nil if there is nothing unreachable
	Outside     int          `key:"outside" help:"nodes without a link to the subnet"`
	Lost        answer.Value `key:"lost" kind:"text" help:"why the connection is lost"`
	SMPort      answer.Value `key:"sm_port" kind:"place" help:"the port from which LIDs are counted"`
	Routed      bool         `key:"routed" help:"whether there are forwarding tables"`
	States      []string     `key:"pictures" help:"the states that the session holds"`
	Engine      string       `key:"engine" help:"the engines and options that route uses"`
	Write       bool         `key:"write" help:"whether writing is on"`
	Writing     string       `name:"writing"`
	st          *session.State
}

// amounts counts the nodes and links that are unreachable.
type amounts struct {
	Nodes       int `key:"nodes"`
	Switches    int `key:"switches"`
	CAs         int `key:"cas"`
	Aggregation int `key:"aggregation_nodes"`
	Routers     int `key:"routers"`
	Links       int `key:"links"`
}

// manager is a row of the table: a subnet manager.
type manager struct {
	GUID     uint64 `key:"guid" name:"GUID" kind:"guid"`
	State    string `key:"state" name:"STATE"`
	Priority int    `key:"priority" name:"PRIORITY"`
	Port     string `key:"port" name:"PORT"`
}

// part is a row of the table: a part of the file that was not read.
type part struct {
	File string `key:"file" name:"FILE"`
	Line int    `key:"line" name:"LINE"`
	What string `key:"what" name:"PART"`
	Why  string `key:"why" name:"REASON"`
}

// remark is a row of a table: a line about the subnet.
type remark struct {
	Text string `key:"text" name:"TEXT"`
}

// maxListed is the maximum number of rows of a table in text.
const maxListed = 20

var (
	managers = answer.Table[manager]{
		Key: "sms", Title: "subnet managers", TextOnly: true, Fields: answer.Fields[manager](),
		Row: "  subnet manager {guid} {state} priority {priority|#} on {port}",
	}
	parts = answer.Table[part]{
		Key: "unread_parts", Title: "parts of the file that were not read", MaxRows: 5, Fields: answer.Fields[part](),
		Row: "  not read: {file}:{line|#}: {why}",
	}
	unanswered = answer.Table[remark]{
		Key: "unanswered", Title: "unanswered", MaxRows: maxListed, Fields: answer.Fields[remark](),
		Row: "  unanswered: {text}",
	}
	warnings = answer.Table[remark]{
		Key: "warnings", Title: "warnings", MaxRows: maxListed, Fields: answer.Fields[remark](),
		Row: "  warning: {text}",
	}
)

var decl = answer.Decl[*summary]{
	Command: "summary", Help: "the counts of a state of the subnet, and the settings of the session",
	Title: "[{mark}]subnet {source}, {of}[{hardware}]",
	Facts: answer.Fields[*summary](),
	Layout: []answer.Item[*summary]{
		{Line: "[  INTERRUPTED: {interrupted}]"},
		{Line: "[  note: {interrupted_elsewhere}]"},
		{
			Line: "  {switches|switch}, {cas|channel adapter}[, {aggregation nodes}][, {routers|router}], " +
				"{links|link}; highest LID {max_lid|#}",
		},
		{
			Line: "{?unreachable_nodes}  unreachable from {sm_port}: {unreachable_switches|switch}, " +
				"{unreachable_cas|channel adapter}[, {unreachable_routers|router}], {unreachable_links|link}",
		},
		{Line: "[  not counted: {outside|node} without a link to the subnet]"},
		{Line: "[  OUTDATED: the connection is lost: {lost}; hint: 'sweep' opens it again]"},
		{Line: "{?sm_port}  seen from {sm_port}"},
		{Line: "  no forwarding tables", When: func(s *summary) bool { return !s.Routed }},
		{Table: answer.Show(&managers, (*summary).managers)},
		{Line: "  states: {pictures}; engine {engine}; {writing}"},
		{Table: answer.Show(&parts, (*summary).parts)},
		{Table: answer.Show(&unanswered, func(s *summary) answer.Rows[remark] { return remarks(s.st.Unanswered) })},
		{Table: answer.Show(&warnings, func(s *summary) answer.Rows[remark] { return remarks(s.st.Warnings) })},
	},
}

func (s *summary) managers() answer.Rows[manager] {
	return answer.Lazy(len(s.st.SMs), func(i int) manager {
		sm := &s.st.SMs[i]
		return manager{sm.GUID, sm.State, int(sm.Priority), sm.Port}
	})
}

func (s *summary) parts() answer.Rows[part] {
	l := &s.st.Unread
	rows := answer.Lazy(len(l.Findings), func(i int) part {
		f := &l.Findings[i]
		return part{f.File, f.Line, string(f.Kind), f.Why}
	})
	rows.More = int64(l.Count - len(l.Findings))
	return rows
}

func remarks(lines []string) answer.Rows[remark] {
	return answer.Lazy(len(lines), func(i int) remark { return remark{lines[i]} })
}

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), describe(st, p)))
}

// describe returns the summary of a state.
func describe(st *session.State, p *session.Picture) *summary {
	f, inv := p.Fabric, p.Fabric.Inventory()
	in := &inv.InSubnet
	s := &summary{
		Source: st.Source.String(), Simulated: st.Source.Kind == source.Sim,
		Interrupted: answer.Optional(st.Interrupted), Elsewhere: answer.Optional(st.Elsewhere),
		Switches: in.Switches, CAs: in.CAs, Aggregation: in.Aggregation, Routers: in.Routers, Links: in.Links,
		MaxLID: f.MaxLID, Outside: inv.Outside, Lost: answer.Optional(st.Lost), SMPort: answer.Port(f, f.SMPort),
		Routed: p.Tables != nil && f.MaxLID > 0,
		Engine: st.Settings.String(), Write: st.WriteOn, Writing: prose.When(st.WriteOn, "writing is on", "read-only"),
		st: st,
	}
	if s.Simulated {
		s.Mark, s.Hardware = answer.Text("SIMULATED "), answer.Text(": no InfiniBand hardware is read or written")
	}
	if in.Aggregation > 0 {
		s.Aggregated = fmt.Sprintf("%d of them %s", in.Aggregation,
			prose.When(in.Aggregation == 1, "an aggregation node", "aggregation nodes"))
	}
	if u := &inv.Unreachable; u.Nodes > 0 {
		s.Unreachable = &amounts{u.Nodes, u.Switches, u.CAs, u.Aggregation, u.Routers, u.Links}
	}
	for _, k := range session.Kinds {
		if of, err := st.Of(k); err == nil && (k != session.Base || st.Base != nil) {
			s.States = append(s.States, st.Title(of))
		}
	}
	return s
}
