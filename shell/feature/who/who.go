// SPDX-License-Identifier: Apache-2.0

// Package who lists the paths that use a link or a node.
package who

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/uses"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature has the command who uses.
var Feature = feature.Feature{Name: "who", Keys: []feature.Key{
	{Name: "who-uses", Keys: "p", Help: "list the paths that use the selected link or switch"},
}, Commands: []feature.Command{
	{
		Path: "who", Group: feature.GroupTrace, Summary: "List the paths that use a link or a node",
		Options: []lang.Option{feature.OfOption()},
	},
	{
		Path: "who uses", Summary: "List the paths that use a link or a node",
		Help: "who uses lists the end ports that send and receive over the link or node, and the end ports that " +
			"would be unreachable\nwithout it.",
		Args: []lang.Arg{
			{Name: "NODE[/PORT]", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true},
		},
		Examples: []string{"who uses leaf-01 36", "who uses spine-01", "adaptive on; who uses leaf-01 36"},
		Answers:  []answer.Declared{&decl},
		Run:      run,
	},
}}

// The type used is the answer with the counts of paths that use the given link or node.
type used struct {
	What         string         `key:"what" name:"what"`
	Paths        int64          `key:"paths" name:"paths" help:"paths that use it"`
	All          int64          `key:"all" name:"all" help:"paths that arrive"`
	Unknown      int64          `key:"unknown" name:"unknown" help:"paths over unread tables, which may use it"`
	Sources      int            `key:"sources" name:"sources"`
	Destinations int            `key:"destinations" name:"destinations"`
	Unreachable  int            `key:"unreachable_count" name:"unreachable without it" help:"end ports"`
	Adaptive     *adaptiveUsers `prefix:"adaptive_"` // nil if no switch routes adaptively
	Took         time.Duration  `key:"seconds"`

	p       *session.Picture
	uses    *uses.Result
	choices *choices.Users
	links   []linkLoad
}

// adaptiveUsers counts the pairs whose packets can use the link or node through adaptive routing.
type adaptiveUsers struct {
	Paths        int64        `key:"paths" name:"pairs"`
	Packets      answer.Value `key:"packets" name:"packets of pairs" kind:"float" help:"pairs by share of packets"`
	Sources      int          `key:"sources" name:"sources"`
	Destinations int          `key:"destinations" name:"destinations"`
}

// linkLoad is a row of the table: a direction of a link with its paths.
type linkLoad struct {
	From         answer.Value `key:"from" name:"FROM" kind:"place"`
	To           answer.Value `key:"to" name:"TO" kind:"place"`
	Paths        int64        `key:"paths" name:"PATHS"`
	Destinations int32        `key:"destinations" name:"LIDS"`
	lead         answer.Lead
}

// user is a row of a table: an end port that sends or receives over the link or node.
type user struct {
	Port   answer.Value `key:"port" name:"PORT" kind:"place"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid"`
	Paths  answer.Value `key:"paths" name:"PATHS" kind:"int" help:"paths over it that begin or end at the port"`
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place" help:"the port of a switch to which it is attached"`
	lead   answer.Lead
}

// chooser is a row of a table: an end port whose packets can use the link or node through adaptive routing.
type chooser struct {
	Port    answer.Value `key:"port" name:"PORT" kind:"place"`
	LID     uint16       `key:"lid" name:"LID" kind:"lid"`
	Pairs   int64        `key:"pairs" name:"PAIRS"`
	Packets answer.Value `key:"packets" name:"PACKETS OF" kind:"float"`
	Switch  answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	lead    answer.Lead
}

// path is a row of a table: a path over it.
type path struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	LID   uint16       `key:"lid" name:"LID" kind:"lid"`
	Share answer.Value `key:"share" kind:"float" help:"share of the packets that use it, by adaptive routing"`
	Parts string       `name:"OF PACKETS"`
	lead  answer.Lead
}

const mostRead = 20 // rows of a table in the text

var (
	linkTable = answer.Table[linkLoad]{
		Key: "directions", Title: "directions", TextOnly: true, Fields: answer.Fields[linkLoad](),
		Row:  "  {paths|path} to {destinations|LID} over {from} -> {to}",
		Lead: func(l linkLoad) answer.Lead { return l.lead },
	}
	unreachableTable = userTable("unreachable", "unreachable without it", "  unreachable: {port}",
		"end ports that are unreachable without it")
	fromTable = userTable("from", "from", "  from: {port} (LID {lid|#}), {paths|path}",
		"end ports that send over it, most paths first")
	toTable = userTable("to", "to", "  to: {port} (LID {lid|#}), {paths|path}",
		"end ports that receive over it, most paths first")
	pathTable = answer.Table[path]{Key: "examples", Title: "paths", Help: "the first paths over it",
		Fields: pathFields, Stream: true, MaxRows: mostRead, Row: "  {from} -> {to} (LID {lid|#})", Lead: toTrace}
	choiceTable = answer.Table[path]{
		Key: "adaptive_pairs", Title: "can use it: pairs", Fields: answer.Fields[path](), Stream: true, Lead: toTrace,
	}
	chooseFrom    = chooserTable("adaptive_from", "can use it: from")
	chooseTo      = chooserTable("adaptive_to", "can use it: to")
	pathFields    = answer.Fields[path]()[:3]
	toTrace       = func(p path) answer.Lead { return p.lead }
	chooserFields = answer.Fields[chooser]()
)

func userTable(key, title, row, help string) answer.Table[user] {
	return answer.Table[user]{Key: key, Title: title, Help: help, Fields: answer.Fields[user](), Stream: true,
		MaxRows: mostRead, Row: row,
		Lead: func(u user) answer.Lead { return u.lead }}
}

func chooserTable(key, title string) answer.Table[chooser] {
	return answer.Table[chooser]{Key: key, Title: title, Fields: chooserFields, Stream: true,
		Lead: func(c chooser) answer.Lead {
			return c.lead
		}}
}

var decl = answer.Decl[*used]{
	Command: "who uses", Help: "the paths over a link or through a node",
	Title: "{what} of {of}: {paths} of {all|path} use it, from {sources|end port} to {destinations|end port}",
	Facts: answer.Fields[*used](),
	Layout: []answer.Item[*used]{
		{Line: "[  {unknown|more path} may use it: their tables were not read]"},
		{Table: answer.Show(&linkTable, func(u *used) answer.Rows[linkLoad] { return answer.Slice(u.links) })},
		{Line: "{?adaptive_paths}  by adaptive routing the packets of {adaptive_paths|pair} can use it, from " +
			"{adaptive_sources|end port} to {adaptive_destinations|end port}; if all choices are equally likely, " +
			"as many as those of {adaptive_packets|pair}"},
		{Line: "  without it no end port is unreachable", When: func(u *used) bool { return u.Unreachable == 0 }},
		{Line: "[  without it {unreachable_count|end port} unreachable:]"},
		{Table: answer.Show(&unreachableTable, func(u *used) answer.Rows[user] {
			return answer.Lazy(len(u.uses.Unreachable), func(i int) user {
				return u.user(u.uses.Unreachable[i], answer.None())
			})
		})},
		{Table: answer.Show(&fromTable, func(u *used) answer.Rows[user] { return u.users(u.uses.Sources) })},
		{Table: answer.Show(&toTable, func(u *used) answer.Rows[user] { return u.users(u.uses.Destinations) })},
		{Table: answer.Show(&pathTable, (*used).paths)},
		{Table: answer.Show(&chooseFrom, func(u *used) answer.Rows[chooser] { return u.choosers(false) }),
			When: answer.Hidden[*used]},
		{Table: answer.Show(&chooseTo, func(u *used) answer.Rows[chooser] { return u.choosers(true) }),
			When: answer.Hidden[*used]},
		{Table: answer.Show(&choiceTable, (*used).choicePairs), When: answer.Hidden[*used]},
	},
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	what, name, err := resolve(c, p.Fabric)
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := uses.Find(c.Ctx, p.Tables, what, uses.Options{Examples: feature.MaxExamples})
	if err != nil {
		return err
	}
	u := used{
		What: name, Paths: r.Paths, All: r.All, Unknown: r.Unknown, Sources: len(r.Sources),
		Destinations: len(r.Destinations), Unreachable: len(r.Unreachable), p: p, uses: r,
	}
	if u.links, err = directions(c, p, what.Links); err != nil {
		return err
	}
	if p.Tables.Adaptive != nil {
		if u.choices, err = choices.UsersOf(c.Ctx, p.Tables, what,
			choices.Options{Examples: feature.MaxExamples}); err !=
			nil {
			return err
		}
		u.Adaptive = &adaptiveUsers{u.choices.Paths, answer.Float(u.choices.Packets, 1), len(u.choices.Sources),
			len(u.choices.Destinations)}
	}
	u.Took = time.Since(start)
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedTables), &u))
}

// resolve returns the link, switch or host that the words name. If the words name a host, the target is all its links.
func resolve(c *feature.Call, f *fabric.Fabric) (uses.Target, string, error) {
	at, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return uses.Target{}, "", err
	}
	n := &f.Nodes[at.Node]
	named := at.PortNamed && f.Ports[at.Port].Num != 0
	switch {
	case len(c.Args) > 1 || named && n.NumPorts > 1:
		port, err := places.Link(f, c.Args)
		if err != nil {
			return uses.Target{}, "", c.LinkError(err)
		}
		l, ok := f.LinkOf(port)
		if !ok {
			return uses.Target{}, "", fmt.Errorf("%s has no link", f.PortName(port))
		}
		return uses.Target{Links: []fabric.Link{l}}, f.PortName(port) + " -- " + f.PortName(f.Ports[port].Peer), nil
	case n.IsSwitch():
		return uses.Target{Switches: []fabric.SwitchIndex{n.Switch}}, f.NodeName(at.Node), nil
	}
	var what uses.Target
	for p := range n.Ports() {
		if l, ok := f.LinkOf(p); ok {
			what.Links = append(what.Links, l)
		}
	}
	return what, f.NodeName(at.Node), nil
}

// directions returns the paths of links in both directions.
func directions(c *feature.Call, p *session.Picture, links []fabric.Link) ([]linkLoad, error) {
	if len(links) == 0 {
		return nil, nil
	}
	l, err := c.Session.Analysis().Load(c.Ctx, p.Tables, linkload.Options{})
	if err != nil {
		return nil, err
	}
	var list []linkLoad
	for _, link := range links {
		for _, d := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
			list = append(list, linkLoad{answer.Port(p.Fabric, d[0]), answer.Port(p.Fabric, d[1]), l.Paths[d[0]],
				l.Destinations[d[0]], feature.ToPort(p.Fabric, d[0])})
		}
	}
	return list, nil
}

func (u *used) user(port fabric.PortIndex, paths answer.Value) user {
	f := u.p.Fabric
	return user{answer.Port(f, port), f.Ports[port].LID, paths, feature.Attachment(f, port), feature.ToPort(f, port)}
}

func (u *used) users(list []uses.Use) answer.Rows[user] {
	return answer.Lazy(len(list), func(i int) user { return u.user(list[i].Port, answer.Int(list[i].Paths)) })
}

func (u *used) paths() answer.Rows[path] {
	f, list := u.p.Fabric, u.uses.Examples
	rows := answer.Lazy(len(list), func(i int) path {
		e := &list[i]
		return path{
			From: answer.Port(f, e.Src), To: answer.Port(f, e.Dst), LID: e.LID,
			lead: feature.ToTrace(u.p, e.Src, e.Dst, e.LID),
		}
	})
	rows.More = u.Paths - int64(len(list))
	return rows
}

func (u *used) choosers(to bool) answer.Rows[chooser] {
	if u.choices == nil {
		return answer.Rows[chooser]{}
	}
	f, list := u.p.Fabric, u.choices.Sources
	if to {
		list = u.choices.Destinations
	}
	return answer.Lazy(len(list), func(i int) chooser {
		x := &list[i]
		return chooser{answer.Port(f, x.Port), f.Ports[x.Port].LID, x.Paths, answer.Float(x.Packets, 1),
			feature.Attachment(f, x.Port), feature.ToPort(f, x.Port)}
	})
}

func (u *used) choicePairs() answer.Rows[path] {
	if u.choices == nil {
		return answer.Rows[path]{}
	}
	f, list := u.p.Fabric, u.choices.Examples
	rows := answer.Lazy(len(list), func(i int) path {
		e := &list[i]
		return path{
			answer.Port(f, e.Src), answer.Port(f, e.Dst), e.LID, answer.Float(e.Share, 2),
			fmt.Sprintf("%.0f %%", 100*e.Share), feature.ToTrace(u.p, e.Src, e.Dst, e.LID),
		}
	})
	rows.More = u.choices.Paths - int64(len(list))
	return rows
}
