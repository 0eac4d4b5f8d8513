// SPDX-License-Identifier: Apache-2.0

// Package ibdiagnet compares folders of ibdiagnet.
package ibdiagnet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/trend"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/folders"
)

// Feature is the command "ibdiagnet diff".
var Feature = feature.Feature{Name: "ibdiagnet", Commands: []feature.Command{
	{
		Path: "ibdiagnet", Group: feature.GroupHistory, Summary: "Compare ibdiagnet folders",
		Examples: []string{"ibdiagnet diff /var/diag/sunday /var/diag/monday", "ibdiagnet diff /var/diag since=monday"},
	},
	{
		Path:    "ibdiagnet diff",
		Summary: "List what changed between ibdiagnet folders",
		Help: "The command compares the oldest folder with the newest one: cabling, links, error counters, bit error " +
			"rates,\ntemperatures, optical powers, modules, firmware, fans and power supplies. FOLDER is a folder or " +
			"an archive of ibdiagnet,\nits database, or a folder with several of these. With more than two folders, " +
			"NOTE lists the value in each.\nA change is worse if a value crosses its limit or moves far towards it, " +
			"if an error counter rises, or if a link or\na node is lost. Values that a folder lacks are not compared.",
		Args: []lang.Arg{{Name: "FOLDER", Kind: lang.KindFile, Repeat: true}},
		Options: []lang.Option{
			{Name: "since", Kind: lang.KindText, Value: "TIME",
				Summary: "compare with the last folder up to this time; " + when.Help},
			{Name: "worse", Kind: lang.KindFlag, Summary: "list only what got worse"},
		},
		Examples: []string{
			"ibdiagnet diff /var/diag/sunday /var/diag/monday", "ibdiagnet diff /var/diag since=monday worse",
		},
		Answers: []answer.Declared{&decl},
		Run:     run,
	},
}}

// comparison is the answer.
type comparison struct {
	Old     string    `key:"old" help:"the older folder"`
	New     string    `key:"new" help:"the newer folder"`
	OldTime time.Time `key:"old_time"`
	NewTime time.Time `key:"new_time"`
	Folders int       `key:"folders" help:"number of compared folders"`
	Worse   int       `key:"worse" help:"changes for the worse"`
	Changed int       `key:"changed" help:"other changes"`
	Better  int       `key:"better" help:"changes for the better"`

	series   *folders.Series
	rows     []trend.Change
	readings []*trend.Reading
	lacking  []string // what was not compared
}

// change is a row of the table.
type change struct {
	Change string       `key:"change" name:"CHANGE" help:"worse, changed or better"`
	What   string       `key:"what" name:"PROPERTY"`
	At     answer.Value `key:"at" name:"AT" kind:"place"`
	Old    answer.Value `key:"old" name:"OLD" kind:"text"`
	New    answer.Value `key:"new" name:"NEW" kind:"text"`
	Note   answer.Value `key:"note" name:"NOTE" kind:"text"`
	Values answer.Value `key:"values" kind:"texts" help:"in all folders, if there are more than two"`
}

var decl = answer.Decl[*comparison]{
	Command: "ibdiagnet diff", Help: "changes between ibdiagnet folders", Facts: answer.Fields[*comparison](),
	Title: "changes from {old} ({old_time}) to {new} ({new_time})",
	Layout: []answer.Item[*comparison]{
		{Table: answer.Show(&answer.Table[change]{
			Key: "changes", Title: "changes", Stream: true, Fields: answer.Fields[change](), Empty: "no change",
		}, func(c *comparison) answer.Rows[change] { return answer.Lazy(len(c.rows), c.row) })},
		{Line: "{worse} worse, {changed} changed, {better} better"},
	},
	Verdict: (*comparison).verdict, Fails: answer.Asked,
}

func (c *comparison) verdict() (answer.Verdict, string) {
	switch {
	case len(c.series.Partial) > 0: // what seems lost may be in the part that was not read
		return answer.Unknown, "a folder was not read whole"
	case c.Worse > 0:
		return answer.Found, prose.Count(c.Worse, "change") + " for the worse"
	case len(c.lacking)+len(c.series.Unread) > 0:
		return answer.Unknown, "not everything could be compared"
	}
	return answer.OK, "nothing got worse"
}

func (c *comparison) row(i int) change {
	x := &c.rows[i]
	r := change{x.Direction.String(), x.What, feature.PlaceOf(c.series.Last.Fabric, x.At), answer.Optional(x.Old),
		answer.Optional(x.New), answer.None(), answer.None()}
	note := x.Note
	if len(c.readings) > 2 && x.Quantity < trend.NumQuantities {
		values := trend.ValuesOf(c.readings, counters.Key{GUID: x.At.GUID, Num: uint8(x.At.Port)}, x.Quantity)
		r.Values = answer.Texts(values)
		note = strings.TrimPrefix(note+", ", ", ") + "values " + strings.Join(values, ", ")
	}
	r.Note = answer.Optional(note)
	return r
}

func run(c *feature.Call) error {
	var since time.Time
	if c.Option("since", "") != "" {
		var err error
		if since, err = c.Time("since", "", time.Now()); err != nil {
			return err
		}
	}
	s, err := c.ReadFolders(since)
	if err != nil {
		return err
	}
	v := &comparison{Old: s.First.Name, New: s.Last.Name, OldTime: s.First.When, NewTime: s.Last.When,
		Folders: len(s.Readings), series: s, readings: s.Readings, lacking: s.Lacking()}
	all := trend.Diff(s.First, s.Last, c.Session.Options().TrendLimits())
	for i := range all {
		switch all[i].Direction {
		case trend.Worse:
			v.Worse++
		case trend.Altered:
			v.Changed++
		case trend.Better:
			v.Better++
		}
		if !c.Flag("worse") || all[i].Direction == trend.Worse {
			v.rows = append(v.rows, all[i])
		}
	}
	slices.SortStableFunc(v.rows, func(a, b trend.Change) int { return cmp.Compare(a.Direction, b.Direction) })
	b := s.Basis()
	if both, all := s.Common(); 2*both < all {
		b.Warnings = append(b.Warnings, fmt.Sprintf("only %d of %d nodes are in both folders: they may be of "+
			"different subnets", both, all))
	}
	return c.Answer(decl.Answer(b, v))
}
