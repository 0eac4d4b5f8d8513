// SPDX-License-Identifier: Apache-2.0

// Package load reads routes and stages them. It also reads topologies, which become the base of the simulation.
package load

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/loading"
)

// Feature provides the commands "load ...", except "load paths".
var Feature = feature.Feature{Name: "load", Keys: []feature.Key{
	{Name: "load", Keys: "L", Help: "read routes or a topology from a file, step by step"},
}, Commands: commands()}

func commands() []feature.Command {
	all := []feature.Command{{
		Path: "load", Group: feature.GroupFiles, Summary: "Read routes or a topology from a file",
		Help: "Loaded routes are staged. A loaded topology becomes the base of the simulation. Nodes with the same " +
			"GUIDs keep their\nlive tables.",
	}}
	for _, d := range dumps.Forms {
		if d.WriteOnly || d.Kind == "paths" { // load paths is another feature
			continue
		}
		path := "load " + d.Kind
		decl, routingDecl := loads(path), loadsRouting(path)
		c := feature.Command{
			Path: path, Summary: "Read " + d.Summary, Help: d.Help,
			Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}, Options: options(d.Kind),
			Examples: []string{
				d.Setup() + "dump " + d.Kind + " saved; " + path + " saved",
				d.Setup() + "dump " + d.Kind + " saved; fail link leaf-01 36; route; " + path + " saved",
			},
			Answers: []answer.Declared{decl},
			Run:     func(c *feature.Call) error { return load(c, d.Kind, decl, routingDecl) },
		}
		if d.Kind == "routing" {
			c.Answers = []answer.Declared{routingDecl}
		}
		all = append(all, c)
	}
	return append(all, past(), feature.Guided("load", "read", func(c *feature.Call) *guided.Flow {
		return guided.Load(c.Ctx, c.Session)
	}))
}

func options(kind string) []lang.Option {
	over := lang.Option{
		Name: "over", Kind: lang.KindWord, Words: []string{"yes", "no"},
		Summary: "yes: keep the current tables and LIDs of nodes with the same GUID; no: use only the file",
	}
	switch kind {
	case "routing":
		return []lang.Option{{
			Name: "reroute", Kind: lang.KindWord, Words: []string{"yes", "no"},
			Summary: "no: keep the routes despite changes, and list pairs without a path (default yes)",
		}}
	case "lfts", "fdbs":
		return []lang.Option{{
			Name: "reroute", Kind: lang.KindWord, Words: []string{"no"},
			Summary: "no: list pairs without a path; the routes are kept in any case",
		}}
	case "topology":
		return []lang.Option{
			{
				Name: "as", Kind: lang.KindWord, Words: []string{"ibsim"},
				Summary: "ibsim: read the file by ibsim's rules, for comparisons with ibsim",
			},
			{
				Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"},
				Summary: "yes: reject a file with unreadable parts; no: skip and list them",
			},
			over,
		}
	case "subnet":
		return []lang.Option{over}
	}
	return nil
}

// loaded is the result of loading a file.
type loaded struct {
	File      string       `key:"file"`
	Switches  int          `key:"switches"`
	Entries   int          `key:"entries" help:"entries of forwarding tables, or members of multicast groups"`
	Remapped  int          `key:"remapped" help:"LIDs that were remapped by port GUID"`
	Option    answer.Value `key:"option" kind:"text" help:"engine option that the file sets"`
	Ignored   answer.Value `key:"ignored" kind:"text" help:"why the file changes nothing"`
	Groups    int          `key:"groups" help:"multicast groups"`
	Links     answer.Value `key:"links" kind:"int" help:"of a topology"`
	Laid      answer.Value `key:"laid" kind:"map" help:"parts of the previous tables that a topology keeps"`
	Forgotten int          `key:"forgotten" help:"failures and repairs that a topology discarded"`
	Stale     bool         `key:"staged_stale" help:"the staged tables are for another topology"`
	Skipped   []string     `key:"skipped" help:"skipped parts, with the reason"`

	unconnected `prefix:""`

	// For text.
	First    string `name:"first"`
	LaidText string `name:"laid over"`
}

func loads(command string) *answer.Decl[*loaded] {
	return &answer.Decl[*loaded]{
		Command: command, Help: "result of loading the file", Title: "{first}", Action: true,
		Facts: answer.Fields[*loaded](),
		Layout: append(append([]answer.Item[*loaded]{
			{Line: "[  {laid over}]"},
			{Line: "[  discarded: {forgotten|failure}]"},
			{Line: "{?staged_stale}  the staged tables are stale: they are for another topology"},
		}, unconnectedLines(func(l *loaded) *unconnected { return &l.unconnected })...),
			answer.Item[*loaded]{Line: "  note: {skipped}", Each: "skipped"}),
	}
}

func load(c *feature.Call, kind string, decl *answer.Decl[*loaded], routingDecl *answer.Decl[*routing]) error {
	rep, err := loading.Load(c.Ctx, c.Session, kind, c.Arg(0), session.LoadOptions{
		Keep: c.Option("reroute", "") == "no", AsIbsim: c.Option("as", "") == "ibsim",
		Strict: c.Option("strict", "") == "yes", Alone: c.Option("over", "") == "no",
	})
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.Basis(changed(&st, &rep), session.NeedLinks)
	b.Unread = b.Unread.Add(unreadOf(&rep.Unread))
	if rep.Routing != nil {
		return c.Answer(routingDecl.Answer(b, routingOf(c.Arg(0), &rep)))
	}
	a := &loaded{
		File: c.Arg(0), Switches: rep.Switches, Entries: rep.Entries, Remapped: rep.Remapped,
		Option: answer.Optional(rep.Option), Ignored: answer.Optional(rep.Ignored), Groups: rep.Groups,
		Forgotten: rep.Forgotten, Stale: rep.Topology && st.Stale, Skipped: rep.Notes,
		unconnected: unconnectedOf(rep.Lost), First: first(kind, c.Arg(0), st.Settings.String(), &rep),
	}
	if rep.Topology {
		a.Links = answer.Int(rep.Links)
	}
	if rep.Laid != nil {
		a.Laid, a.LaidText = laid(rep.Laid, rep.Switches)
	}
	return c.Answer(decl.Answer(b, a))
}

// changed returns the state that the loaded file changed.
func changed(st *session.State, rep *loading.Report) *session.Picture {
	switch {
	case rep.Topology && st.WhatIf != nil:
		return st.WhatIf
	case rep.Topology && st.Base != nil:
		return st.Base
	case rep.Topology || rep.Option != "" || rep.Groups > 0 || st.Staged == nil:
		return st.Live
	}
	return st.Staged
}

// first returns the first line of the text.
func first(kind, path, engine string, rep *loading.Report) string {
	file := fabric.Escape(path)
	switch {
	case kind == "groups":
		return fmt.Sprintf("%s with %s taken from %s; route makes their tables",
			prose.Count(rep.Groups, "multicast group"), prose.Count(rep.Entries, "member"), file)
	case rep.Ignored != "":
		return fmt.Sprintf("%s: %s", file, rep.Ignored)
	case rep.Over != "":
		return fmt.Sprintf("loaded %s from %s over the current tables; staged, not written", rep.Over, file)
	case rep.Option != "":
		return fmt.Sprintf("engine %s routes with %s=%s from now on", engine, rep.Option, file)
	case rep.Topology:
		return fmt.Sprintf("the simulation starts from %s: %s, %s (restore all returns to the live subnet)",
			file, prose.Count(rep.Switches, "switch"), prose.Count(rep.Links, "link"))
	}
	remapped := prose.When(rep.Remapped > 0, fmt.Sprintf(", %s remapped by port GUID",
		prose.Count(rep.Remapped, "LID")), "")
	return fmt.Sprintf("loaded %s on %s from %s%s; staged, not written", prose.Count(rep.Entries, "entry"),
		prose.Count(rep.Switches, "switch"), file, remapped)
}

// laid describes, as facts and as a line, which of the previous tables a new topology keeps. The argument switches is
// the number of switches of the topology.
func laid(l *session.Laid, switches int) (facts answer.Value, text string) {
	facts = answer.Map([]answer.Named{
		{Name: "over", Value: answer.Text(string(l.Over))}, {Name: "switches_kept", Value: answer.Int(l.Kept)},
		{Name: "switches_new", Value: answer.Int(l.New)}, {Name: "switches_gone", Value: answer.Int(l.Gone)},
		{Name: "lids_kept", Value: answer.Int(l.LIDs)}, {Name: "without_lid", Value: answer.Int(l.NoLIDs)},
	})
	return facts, fmt.Sprintf("keeps the tables of %s by GUID: %s of %d known, %d new, %d gone; %s kept, %s "+
		"without a LID",
		l.Over, prose.Count(l.Kept, "switch"), switches, l.New, l.Gone, prose.Count(l.LIDs, "LID"),
		prose.Count(l.NoLIDs, "port"))
}

// unreadOf returns the unread parts of a file, with one cause for each finding.
func unreadOf(l *unread.List) answer.Unread {
	u := answer.Unread{Count: l.Count}
	for _, line := range l.Lines(len(l.Findings)) {
		u.Causes = append(u.Causes, answer.Cause{
			What: "part of the file", Why: strings.TrimPrefix(line, "not read: "), Count: 1,
		})
	}
	return u
}

// unconnected counts the paths that do not arrive by the kept tables. The facts apply only with reroute=no.
type unconnected struct {
	Lost    answer.Value `key:"unconnected" kind:"int" help:"paths that do not arrive"`
	Unknown answer.Value `key:"unknown" kind:"int" help:"paths over tables that were not read"`
	Paths   answer.Value `key:"paths" kind:"int" help:"paths that were followed"`
	lost    *loading.Lost
}

func unconnectedOf(l *loading.Lost) unconnected {
	if l == nil {
		return unconnected{}
	}
	return unconnected{answer.Int(l.Count), answer.Int(l.Unknown), answer.Int(l.Of), l}
}

// lostPath is a path that does not arrive.
type lostPath struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
	Why  string       `key:"why" name:"CAUSE"`
}

var lostTable = answer.Table[lostPath]{
	Key: "unconnected_pairs", Title: "unconnected pairs", Fields: answer.Fields[lostPath](),
	Row: "  {from} -> {to}: {why}", MaxRows: 20,
}

// unconnectedLines returns the lines and the table for [unconnected].
func unconnectedLines[T any](of func(T) *unconnected) []answer.Item[T] {
	return []answer.Item[T]{
		{Line: "{?unconnected}unconnected: {unconnected} of {paths|path}"},
		{Line: "[unknown: {unknown} of {paths|path}, over tables that were not read]"},
		{Table: answer.Show(&lostTable, func(v T) answer.Rows[lostPath] {
			l := of(v).lost
			if l == nil {
				return answer.Slice[lostPath](nil)
			}
			rows := answer.Lazy(len(l.Examples), func(i int) lostPath {
				p := &l.Examples[i]
				return lostPath{answer.Port(l.Fabric, p.Src), answer.Port(l.Fabric, p.Dst), p.Why}
			})
			rows.More = max(0, l.Count-int64(rows.N))
			return rows
		})},
	}
}

// past is the command that stages the routing of a past state.
func past() feature.Command {
	decl := loadsRouting("load history")
	return feature.Command{
		Path: "load history", Summary: "Read the routes of a past state from the history",
		Help: "ENTRY is the number of an entry of the history, or a time. The routes are adapted to the subnet as it " +
			"is now.",
		Args: []lang.Arg{{Name: "ENTRY", Kind: lang.KindPicture}}, Options: options(loading.RoutingKind),
		Examples: []string{
			"fail link leaf-01 36; route; write on; commit yes; undo; load history 1",
			"fail link leaf-01 36; route; write on; commit yes; undo; load history 1 reroute=no",
		},
		Answers: []answer.Declared{decl},
		Run: func(c *feature.Call) error {
			rep, err := loading.Entry(c.Ctx, c.Session, session.Kind(c.Arg(0)), session.LoadOptions{
				Keep: c.Option("reroute", "") == "no",
			})
			if err != nil {
				return err
			}
			st := c.Session.State()
			from := st.Staged.Tables.Origin
			return c.Answer(decl.Answer(st.Basis(st.Staged, session.NeedLinks), routingOf(from, &rep)))
		},
	}
}
