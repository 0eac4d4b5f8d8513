// SPDX-License-Identifier: Apache-2.0

// Package entries lists, exports, imports and prunes past states: the history of a subnet.
package entries

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/journal"
)

// Feature is the command history.
var Feature = feature.Feature{Name: "entries", Keys: []feature.Key{
	{Name: "pane-7", Keys: "7", Pane: "History", Nouns: "commits", Help: "past states of the subnet"},
}, Commands: []feature.Command{
	{
		Path:    "history",
		Group:   feature.GroupHistory,
		Summary: "List past states, newest first",
		Help: "An entry is a sweep that found changes, a routing, a load or a commit. The option of= and the command " +
			"diff accept the\nnumber of an entry.",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"list"}, Optional: true}},
		Options: []lang.Option{
			{Name: "limit", Kind: lang.KindInt, Summary: "number of listed entries (default 30)"},
			{Name: "all", Kind: lang.KindFlag, Summary: "list entries of other subnets, too"},
		},
		Examples: []string{
			"history",
			"fail link leaf-01 36; route; write on; commit yes; history limit=5",
		},
		Answers: []answer.Declared{&listDecl},
		Run:     onStore(list),
	},
	{
		Path:    "history show",
		Summary: "Show one entry",
		Args:    []lang.Arg{{Name: "ID", Kind: lang.KindText}},
		Examples: []string{
			"fail link leaf-01 36; route; write on; commit yes; history show 1",
			"fail link leaf-01 36; route; write on; commit yes; rollback yes; history show 2",
		},
		Answers: []answer.Declared{&showDecl},
		Run:     onStore(show),
	},
	{
		Path:    "history export",
		Summary: "Write entries to a file (default: all)",
		Args: []lang.Arg{
			{Name: "FILE", Kind: lang.KindFile, Written: true},
			{Name: "ID", Kind: lang.KindText, Optional: true, Repeat: true},
		},
		Examples: []string{
			"history export entries",
			"fail link leaf-01 36; route; write on; commit yes; history export entries 1",
		},
		Answers: []answer.Declared{exportDecl},
		Run:     onStore(export),
	},
	{
		Path:    "history import",
		Summary: "Add the entries of an exported file",
		Args:    []lang.Arg{{Name: "FILE", Kind: lang.KindFile}},
		Examples: []string{
			"history export entries; history import entries",
			"history export entries; history import entries; history all",
		},
		Answers: []answer.Declared{importDecl},
		Run:     onStore(importFile),
	},
	{
		Path:    "history keep",
		Summary: "Show or set how much is kept",
		Help:    "When an entry is added, entries beyond the limits of age and size are deleted. Commits are kept.",
		Options: []lang.Option{
			{Name: "days", Kind: lang.KindInt, Summary: "keep entries for so many days; 0: forever"},
			{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much data; 0: no limit"},
		},
		Examples: []string{
			"history keep",
			"history keep days=400 megabytes=2000",
		},
		Answers: []answer.Declared{&keepDecl},
		Run:     onStore(keep),
	},
	{
		Path:    "history prune",
		Summary: "Delete entries that are old or too large",
		Help:    "Commits are kept.",
		Options: []lang.Option{
			{Name: "days", Kind: lang.KindInt, Summary: "keep the last so many days"},
			{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much data"},
		},
		Examples: []string{
			"history prune megabytes=900",
			"history prune days=400",
		},
		Answers: []answer.Declared{pruneDecl},
		Run:     onStore(prune),
	},
}}

func onStore(run func(*feature.Call, *history.Store) error) func(*feature.Call) error {
	return func(c *feature.Call) error {
		store, err := c.Session.History()
		if err != nil {
			return err
		}
		return run(c, store)
	}
}

// entry is an entry of the history. If the entry is a commit, it includes data from the journal.
type entry struct {
	ID       int64        `key:"id" name:"ID" help:"number of the entry in commands"`
	Type     string       `key:"type" help:"sweep, route, load, commit or rollback"`
	SubnetID string       `key:"subnet_id" help:"identifies the subnet"`
	Began    time.Time    `key:"began" name:"FROM" help:"when the state was first seen"`
	Until    time.Time    `key:"until" help:"when the state was last seen"`
	End      string       `name:"UNTIL" help:"when the state was last seen"`
	What     string       `name:"ENTRY" help:"kind of entry, and outcome"`
	Who      string       `key:"who" name:"WHO" help:"the user"`
	Source   answer.Value `key:"source" kind:"text" help:"source of the state"`
	Engine   string       `key:"engine" name:"ENGINE"`
	Options  string       `key:"options" name:"OPTIONS" help:"of the engine"`
	Note     answer.Value `key:"note" kind:"text"`
	WhatIf   answer.Value `key:"whatif" kind:"text" help:"simulated changes"`
	Numbers  string       `name:"FIGURES" help:"figures of the state"`
	Figures  answer.Value `key:"figures" kind:"map" help:"figures of the state by name"`
	Tables   bool         `key:"tables" help:"it has forwarding tables"`
	Outcome  answer.Value `key:"outcome" kind:"text" help:"of a commit"`
	Others   answer.Value `key:"others" kind:"int" help:"entries that other programs wrote in the meantime"`
	answer.Lead
}

func describe(commits journal.Journal, e *history.Entry, j *history.JournalEntry) entry {
	a := entry{
		ID: e.ID, Type: string(e.Kind), SubnetID: e.Subnet, Began: e.Began, Until: e.Until, Who: e.Who,
		Source: answer.Optional(e.Source), Engine: e.Engine, Options: e.Options, Note: answer.Optional(e.Note),
		WhatIf: answer.Optional(e.Simulated), Numbers: figuresText(e.Figures), Tables: e.Tables,
		Lead: answer.Lead{Command: fmt.Sprintf("history show %d", e.ID)},
	}
	words := []string{a.Type, e.Note}
	if j != nil {
		outcome := commits.Outcome(j).Word()
		a.Outcome = answer.Text(outcome)
		words = append(words, outcome)
		if n := j.Others.Count; n > 0 {
			a.Others = answer.Int(n)
			words = append(words, "others wrote "+prose.Count(n, "entry"))
		}
	}
	if e.Simulated != "" {
		words = append(words, "what-if: "+e.Simulated)
	}
	a.What = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
	if !e.Until.Equal(e.Began) {
		a.End = when.Text(e.Until)
	}
	if e.Figures != nil {
		var figures []answer.Named
		for _, name := range slices.Sorted(maps.Keys(e.Figures)) {
			figures = append(figures, answer.Named{Name: name, Value: answer.Float(e.Figures[name], 4)})
		}
		a.Figures = answer.Map(figures)
	}
	return a
}

// entries is a part of the history.
type entries struct {
	Kept answer.Value `name:"kept" kind:"text"`
	Days answer.Value `key:"days" kind:"int" help:"how long entries are kept; 0: forever"`
	Size answer.Value `key:"megabytes" kind:"int" help:"how much is kept; 0: no limit"`
	all  []entry
}

var listTable = answer.Table[entry]{
	Key: "entries", Title: "entries", Stream: true, Fields: answer.Fields[entry](),
	Empty: "the history of this subnet is empty; hint: 'history all' lists other subnets",
}

var listDecl = answer.Decl[entries]{
	Command: "history", Help: "past states", Facts: answer.Fields[entries](),
	Layout: []answer.Item[entries]{
		{Line: "[{kept}]"},
		{Table: answer.Show(&listTable, func(e entries) answer.Rows[entry] { return answer.Slice(e.all) })},
	},
}

func list(c *feature.Call, store *history.Store) error {
	subnet := c.Session.Subnet()
	if c.Flag("all") {
		subnet = ""
	}
	limit, err := c.AtLeast("limit", 30, 1)
	if err != nil {
		return err
	}
	found, err := store.List(c.Ctx, subnet, limit)
	if err != nil {
		return err
	}
	journal, err := store.Journal(c.Ctx, subnet)
	if err != nil {
		return err
	}
	commits := map[int64]*history.JournalEntry{}
	for i := range journal {
		commits[journal[i].After] = &journal[i]
	}
	var a entries
	for i := range found {
		a.all = append(a.all, describe(c.Session.Journal(), &found[i], commits[found[i].ID]))
	}
	if kept, err := store.Retention(c.Ctx); err == nil && len(a.all) > 0 {
		a.Kept, a.Days, a.Size = answer.Text(keptText(kept)), answer.Int(int(kept.Age/day)), answer.Int(kept.Size>>20)
	}
	b := basis(c)
	if why := store.ReadOnly(); why != nil {
		b.Warnings = append(slices.Clip(b.Warnings), why.Error())
	}
	return c.Answer(listDecl.Answer(b, a))
}

// basis returns the basis of answers about the whole history.
func basis(c *feature.Call) answer.Basis {
	st := c.Session.State()
	return st.Basis(st.Live, 0)
}

// figuresText returns figures as text.
func figuresText(figures map[string]float64) string {
	var all []string
	for _, name := range []string{"nodes", "links", "holes", "unanswered", "entries", "changed", "seconds"} {
		if v, ok := figures[name]; ok {
			if name == "seconds" {
				all = append(all, fmt.Sprint(answer.Duration(time.Duration(v*float64(time.Second)))))
				continue
			}
			text := strconv.FormatFloat(v, 'f', -1, 64) // a count
			if name == "holes" {                        // the name in entries of earlier versions
				name = "unanswered"
			}
			all = append(all, text+" "+name)
		}
	}
	return strings.Join(all, ", ")
}

// contents is an entry with the counts of its fabric, and with the conflicts of its commit.
type contents struct {
	entry    `prefix:""`
	Nodes    int `key:"nodes"`
	Switches int `key:"switches"`
	Links    int `key:"links"`
	others   []write.Conflict
}

// conflict is a table entry that another program wrote after the commit.
type conflict struct {
	Node string `key:"node" name:"NODE"`
	GUID string `key:"guid" name:"GUID"`
	What string `key:"what" name:"DATA"`
	Was  string `key:"was" name:"WAS" help:"value when it was read"`
	Is   string `key:"is" name:"IS" help:"value that the commit found"`
	To   string `key:"would" name:"WOULD" help:"value that the commit wrote or would write"`
	Text string `name:"TEXT"`
}

var conflictTable = answer.Table[conflict]{
	Key: "conflicts", Title: "written by others", Fields: answer.Fields[conflict](), Row: "    {TEXT}",
}

var showDecl = answer.Decl[contents]{
	Command: "history show", Help: "an entry of the history", Title: "{of}: {type} by {who}, {began}[ until {UNTIL}]",
	Facts: answer.Fields[contents](),
	Layout: []answer.Item[contents]{
		{Line: "  {source}: {nodes|node}, {switches|switch}, {links|link}"},
		{Line: "[  engine {engine}[ {options}]]"},
		{Line: "[  what-if: {whatif}]"},
		{Line: "[  {FIGURES}]"},
		{Line: "[  {note}]"},
		{Line: "[  outcome: {outcome}]"},
		{Line: "[  others wrote {others|entry}:]"},
		{Table: answer.Show(&conflictTable, func(c contents) answer.Rows[conflict] {
			return answer.Lazy(len(c.others), func(i int) conflict {
				x := &c.others[i]
				return conflict{x.Node, x.GUID, x.What, x.Was, x.Is, x.Would, x.String()}
			})
		})},
		{Line: "  read it with of={id|#}, compare with diff {id|#}"},
	},
}

func show(c *feature.Call, store *history.Store) error {
	id, err := c.EntryID(c.Arg(0))
	if err != nil {
		return err
	}
	snap, err := store.Load(c.Ctx, id)
	if err != nil {
		return err
	}
	var commit *history.JournalEntry
	journal, err := store.Journal(c.Ctx, snap.Subnet)
	for i := range journal {
		if journal[i].After == id {
			commit = &journal[i]
		}
	}
	a := contents{
		entry: describe(c.Session.Journal(), &snap.Entry, commit), Nodes: len(snap.Fabric.Nodes),
		Switches: len(snap.Fabric.Switches), Links: len(snap.Fabric.Links()),
	}
	if commit != nil {
		a.others = commit.Others.List
	}
	b := answer.Basis{
		State: "history", Entry: id, Title: fmt.Sprintf("history %d", id), Source: snap.Source, Engine: snap.Engine,
		AsOf: snap.Began,
	}
	return errors.Join(err, c.Answer(showDecl.Answer(b, a)))
}

// transfer is the result of an export, an import or a deletion of entries.
type transfer struct {
	Entries int          `key:"entries"`
	File    answer.Value `key:"file" kind:"text"`
	Action  string       `name:"action"`
}

func transferDecl(command, help string) *answer.Decl[transfer] {
	return &answer.Decl[transfer]{
		Command: command, Help: help, Facts: answer.Fields[transfer](),
		Layout: []answer.Item[transfer]{{Line: "{entries|entry} {action}"}},
	}
}

var (
	exportDecl = transferDecl("history export", "number of entries that were written")
	importDecl = transferDecl("history import", "number of entries that were added")
	pruneDecl  = transferDecl("history prune", "number of entries that were deleted")
)

func export(c *feature.Call, store *history.Store) error {
	var ids []int64
	for _, text := range c.Args[1:] {
		id, err := c.EntryID(text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	n, err := store.Export(c.Ctx, c.Arg(0), c.Session.Subnet(), ids...)
	if err != nil {
		return err
	}
	result := transfer{n, answer.Text(c.Arg(0)), "exported to " + fabric.Escape(c.Arg(0))}
	return c.Answer(exportDecl.Answer(basis(c), result))
}

func importFile(c *feature.Call, store *history.Store) error {
	n, err := store.Import(c.Ctx, c.Arg(0))
	if err != nil {
		return err
	}
	result := transfer{n, answer.Text(c.Arg(0)), "imported from " + fabric.Escape(c.Arg(0)) + " (new ones only)"}
	return c.Answer(importDecl.Answer(basis(c), result))
}

func prune(c *feature.Call, store *history.Store) error {
	r, err := retention(c, history.Retention{}, 1)
	if err != nil {
		return err
	}
	if r == (history.Retention{}) {
		return c.Misused("expected days=N or megabytes=N; hint: 'history keep' shows the limits")
	}
	n, err := store.Prune(c.Ctx, r)
	if err != nil {
		return err
	}
	return c.Answer(pruneDecl.Answer(basis(c), transfer{Entries: n, Action: "deleted"}))
}

// kept is how much of the history is kept.
type kept struct {
	Days      int    `key:"days" help:"0: forever"`
	Megabytes int    `key:"megabytes" help:"0: no limit"`
	Text      string `name:"text"`
}

var keepDecl = answer.Decl[kept]{
	Command: "history keep", Help: "how much of the history is kept", Facts: answer.Fields[kept](),
	Layout: []answer.Item[kept]{{Line: "{text}"}},
}

func keep(c *feature.Call, store *history.Store) error {
	r, err := store.Retention(c.Ctx)
	if err != nil {
		return err
	}
	if len(c.Options) > 0 {
		if r, err = retention(c, r, 0); err != nil {
			return err
		}
		if err := store.SetRetention(c.Ctx, r); err != nil {
			return err
		}
	}
	return c.Answer(keepDecl.Answer(basis(c), kept{int(r.Age / day), int(r.Size >> 20), keptText(r)}))
}

// retention returns the limits that the options days and megabytes set. Neither value may be below the argument least.
func retention(c *feature.Call, r history.Retention, least int) (history.Retention, error) {
	days, err := c.AtLeast("days", int(r.Age/day), least)
	if err != nil {
		return r, err
	}
	size, err := c.AtLeast("megabytes", int(r.Size>>20), least)
	if err != nil {
		return r, err
	}
	if days > maxDays || size > maxMegabytes {
		return r, c.Misused("days=%d megabytes=%d, expected at most %d and %d", days, size, maxDays, maxMegabytes)
	}
	return history.Retention{Age: time.Duration(days) * day, Size: int64(size) << 20}, nil
}

const (
	day          = 24 * time.Hour
	maxDays      = 100 * 365
	maxMegabytes = 1 << 20
)

func keptText(r history.Retention) string {
	age, size := "forever", "any amount"
	if r.Age > 0 {
		age = fmt.Sprintf("for %s", prose.Count(int(r.Age/day), "day"))
	}
	if r.Size > 0 {
		size = fmt.Sprintf("%d MB at most", r.Size>>20)
	}
	return fmt.Sprintf("entries are kept %s, %s; commits always (history keep days=N megabytes=N)", age, size)
}
