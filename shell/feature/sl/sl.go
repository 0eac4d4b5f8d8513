// SPDX-License-Identifier: Apache-2.0

// Package sl lists the service levels of paths.
package sl

import (
	"fmt"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

// Feature has the command show sl.
var Feature = feature.Feature{Name: "sl", Commands: []feature.Command{{
	Path:    "show sl",
	Summary: "List the service levels of paths",
	Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace},
		{Name: "DST|all", Kind: lang.KindPlace, Words: []string{feature.AllWord}, Optional: true}},
	Options:  append(feature.PathOptions(), feature.RequestOptions()...),
	Examples: []string{"engine dfsssp; route; show sl node-0001 node-0648", "show sl node-0001 all"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// path is a row: a pair and the service level of its path, or the reason why it has none.
type path struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place"`
	LID   uint16       `key:"lid" name:"LID" kind:"lid" help:"of the destination"`
	Text  answer.Value `name:"SL" kind:"text" help:"service level of the packets, or why there is no path"`
	SL    answer.Value `key:"sl" kind:"int" help:"service level of the packets"`
	SLs   answer.Value `key:"sls" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	Error answer.Value `key:"error" kind:"text" help:"why there is no path"`
	lead  answer.Lead
}

// paths is the answer with the service levels of the paths of pairs.
type paths struct {
	all   []path
	own   answer.Value // the routes have service levels of their own
	asked answer.Value // the source of service levels if the routes have none of their own
}

var table = answer.Table[path]{
	Key: "paths", Title: "service levels", Stream: true, Fields: answer.Fields[path](), Lead: func(p path) answer.Lead {
		return p.lead
	},
}

var decl = answer.Decl[paths]{
	Command: "show sl", Help: "the service levels of paths",
	Facts: []answer.Field[paths]{
		{
			Key: "own_levels", Kind: answer.KindBool, Help: "the routes have service levels of their own",
			Value: func(p paths) answer.Value { return p.own },
		},
		{Name: "asked", Kind: answer.KindText, Value: func(p paths) answer.Value { return p.asked }},
	},
	Layout: []answer.Item[paths]{
		{Line: "{?asked}{asked}"},
		{Table: answer.Show(&table, func(p paths) answer.Rows[path] { return answer.Slice(p.all) })},
	},
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	pairs, err := c.Pairs(p.Fabric, true)
	if err != nil {
		return err
	}
	asked, err := c.Asked()
	if err != nil {
		return err
	}
	g, err := st.Grants(p, asked)
	if err != nil {
		return err
	}
	all := paths{own: answer.Bool(p.Tables.SLs != nil)}
	if p.Tables.Unread.SLs {
		all.own = answer.NotRead()
	}
	if p.Tables.SLs == nil && !p.Tables.Unread.SLs && asked.Any() {
		all.asked = answer.Text("the routes have no service levels of their own: a path has the requested one, else " +
			"that of its partition")
	}
	for _, pair := range pairs {
		x, err := rowOf(p, g, pair)
		if err != nil && len(pairs) == 1 {
			return fmt.Errorf("%s to %s: %w", p.Fabric.PortName(pair.Src), p.Fabric.PortName(pair.Dst), err)
		}
		all.all = append(all.all, x)
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedSLs), all))
}

// rowOf returns the row of a pair with the service level of its path, or an error if no service level is granted.
func rowOf(p *session.Picture, g *partitions.Grants, pair pairs.Pair) (path, error) {
	f := p.Fabric
	x := path{
		From: answer.Port(f, pair.Src), To: answer.Port(f, pair.Dst), LID: pair.LID,
		lead: feature.ToTrace(p, pair.Src, pair.Dst, pair.LID),
	}
	grant, err := g.Of(pair.Src, pair.LID)
	switch {
	case !f.Reachable(pair.Src) || !f.Reachable(pair.Dst):
		return x.without("unreachable"), nil
	case pair.LID == 0 || f.Ports[pair.Src].LID == 0:
		return x.without("no LID"), nil
	case err != nil:
		return x.without(err.Error()), err
	}
	x.SL, x.SLs = feature.SLs(grant)
	x.Text = x.SLs
	return x, nil
}

func (p path) without(why string) path {
	p.Error, p.Text, p.lead = answer.Text(why), answer.Text(why), answer.Lead{}
	return p
}
