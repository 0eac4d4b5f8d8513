// SPDX-License-Identifier: Apache-2.0

// Package difference compares two states, and lists the changes of a time span.
package difference

import (
	"iter"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
)

// Feature is the commands diff, diff traces and changes.
var Feature = feature.Feature{Name: "difference", Keys: []feature.Key{
	{Name: "diff", Keys: "d",
		Help: "compare staged with the base, list the changes since the selected entry, or between two marked ones"},
}, Commands: []feature.Command{
	{
		Path:    "diff",
		Group:   feature.GroupHistory,
		Summary: "Compare the entries, paths and links of two states",
		Help: "Without A and B, diff compares the base with staged, or with whatif if nothing is staged.\n" +
			"A and B may be live, base, whatif, staged, the number of a history entry or a time (03:12).",
		Args: []lang.Arg{
			{Name: "A", Kind: lang.KindPicture, Optional: true},
			{Name: "B", Kind: lang.KindPicture, Optional: true},
		},
		Options:  []lang.Option{{Name: "entries", Kind: lang.KindFlag, Summary: "list every table entry that changes"}},
		Examples: []string{"fail link leaf-01 36; route; diff", "engine updn; route; diff entries"},
		Answers:  []answer.Declared{&decl, &entriesDecl},
		Run:      run,
	},
	tracesCommand,
	{
		Path:    "changes",
		Group:   feature.GroupHistory,
		Summary: "List the changes of a period and their total effect",
		Help: strings.ToUpper(when.Help[:1]) + when.Help[1:] + ". The total effect is the difference between " +
			"the last state before the begin of the period and the last state before its end.",
		Options: []lang.Option{
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "begin (default an hour ago)"},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "end (default now)"},
		},
		Examples: []string{
			"changes since=20m",
			"changes since=3h until=1h",
		},
		Answers: []answer.Declared{&changesDecl},
		Run:     runChanges,
	},
}}

var decl = answer.Decl[*difference]{
	Command: "diff", Help: "what differs between two states", Title: "from {old} to {new}",
	Facts: answer.Fields[*difference](),
	Layout: append(append([]answer.Item[*difference]{
		{Line: "no difference in {compared}", When: isVerdict(answer.OK)},
		{Line: "no difference in {compared}, as far as was read", When: isVerdict(answer.Unknown)},
	}, items("", func(d *difference) *difference { return d }, (*difference).shown)...),
		answer.Item[*difference]{Line: "not compared              {not_compared}"}),
	Verdict: (*difference).verdict, Fails: answer.Asked,
}

func isVerdict(want answer.Verdict) func(*difference) bool {
	return func(d *difference) bool {
		is, _ := d.verdict()
		return is == want
	}
}

func run(c *feature.Call) error {
	from, to := session.Kind(c.Arg(0)), session.Kind(c.Arg(1))
	if c.Flag("entries") {
		return runEntries(c, from, to)
	}
	x, err := comparison.Diff(c.Ctx, c.Session, from, to, feature.MaxExamples)
	if err != nil {
		return err
	}
	st := c.Session.State()
	d := compareAll(&st, x)
	if x.Before == st.Base && x.After == st.WhatIf {
		if d.Failover, err = c.Failover(&st); err != nil {
			return err
		}
	}
	return c.Answer(decl.Answer(d.basis, d))
}

// entries is the answer with the table entries that differ between two states.
type entries struct {
	Old string `key:"old" help:"the state before"`
	New string `key:"new" help:"the state after"`

	before, after *session.Picture
}

// entry is an entry of a forwarding table that differs.
type entry struct {
	Switch      answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	LID         uint16       `key:"lid" name:"LID" kind:"lid"`
	Old         answer.Value `key:"old" name:"PORT WAS" kind:"int" help:"port before, none without an entry"`
	New         answer.Value `key:"new" name:"PORT IS" kind:"int" help:"port after, none without an entry"`
	Destination answer.Value `key:"destination" name:"DESTINATION" kind:"place" help:"port with the LID"`
	answer.Lead
}

var (
	entryTable = answer.Table[entry]{
		Key: "entries", Title: "entries", Help: "entries of forwarding tables that change", Stream: true,
		Fields: answer.Fields[entry](),
	}
	allGroupsTable = answer.Table[groupEntry]{
		Key: "multicast_entries", Title: "multicast entries", Help: "entries of multicast tables that change",
		Stream: true, Fields: answer.Fields[groupEntry](),
	}
)

var entriesDecl = answer.Decl[*entries]{
	Command: "diff", Help: "the entries of tables that change between two states", Title: "entries from {old} to {new}",
	Facts: answer.Fields[*entries](),
	Layout: []answer.Item[*entries]{
		{Table: answer.Show(&entryTable, func(e *entries) answer.Rows[entry] { return answer.Once(e.unicast()) })},
		{When: (*entries).hasGroups, Table: answer.Show(&allGroupsTable, func(e *entries) answer.Rows[groupEntry] {
			return answer.Once(e.multicast())
		})},
	},
	Verdict: func(e *entries) (answer.Verdict, string) {
		for range diff.Changes(e.before.Tables, e.after.Tables) {
			return answer.Found, "entries of forwarding tables differ"
		}
		if e.hasGroups() {
			return answer.Found, "entries of multicast tables differ"
		}
		return answer.OK, ""
	},
	Fails: answer.Asked,
}

func runEntries(c *feature.Call, from, to session.Kind) error {
	before, after, err := comparison.Pair(c.Session, from, to)
	if err != nil {
		return err
	}
	st := c.Session.State()
	d := difference{before: before, after: after}
	return c.Answer(entriesDecl.Answer(d.basisOf(&st), &entries{st.Title(before), st.Title(after), before, after}))
}

func (e *entries) unicast() iter.Seq2[entry, error] {
	f := e.after.Fabric
	return func(yield func(entry, error) bool) {
		for x := range diff.Changes(e.before.Tables, e.after.Tables) {
			node := f.Switches[x.SwitchNew]
			if !yield(entry{answer.Node(f, node), x.LID, port(f, node, x.Old), port(f, node, x.New),
				answer.Port(f, f.PortByLID(x.LID)),
				feature.ToNode(f, node)}, nil) {
				return
			}
		}
	}
}

func (e *entries) multicast() iter.Seq2[groupEntry, error] {
	f := e.after.Fabric
	return func(yield func(groupEntry, error) bool) {
		for x := range mcast.Changes(e.before.Tables, e.after.Tables) {
			node := f.Switches[x.Switch]
			if !yield(groupEntryOf(f, node, x.MLID, numbers(x.Gone), numbers(x.Come),
				feature.ToNode(f, node)), nil) {
				return
			}
		}
	}
}

func (e *entries) hasGroups() bool {
	for range mcast.Changes(e.before.Tables, e.after.Tables) {
		return true
	}
	return false
}

// port returns a port number of an entry, or None for an entry without a port.
func port(f *fabric.Fabric, node fabric.NodeIndex, num uint8) answer.Value {
	if num == fabric.NoPath {
		return answer.None()
	}
	return answer.NumberAt(f, node, num)
}

func numbers(ports []uint8) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = int(p)
	}
	return out
}
