// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// compared is the answer with a baseline and the differences of the live subnet from that baseline.
type compared struct {
	File     string    `key:"file" name:"file"`
	When     time.Time `key:"when" name:"of" help:"when the baseline was read from the subnet"`
	Nodes    int       `key:"nodes" name:"nodes"`
	Switches int       `key:"switches" name:"switches"`
	Links    int       `key:"links" name:"links"`
	Compared bool      `key:"compared" help:"false if the live subnet was not read"`

	// For people.
	Unread  bool `name:"not compared"`
	Equal   bool `name:"equal"`
	changes []string
}

// change is a row of the table: one difference.
type change struct {
	Text string `key:"change" name:"CHANGE"`
}

var changes = answer.Table[change]{
	Key: "changes", Title: "changes", Fields: answer.Fields[change](), Row: "  {change}", MaxRows: mostListed,
}

var savedDecl, loadedDecl, shownDecl = declare("save"), declare("load"), declare("show")

// declare returns the declaration of the answer of "baseline WORD".
func declare(word string) *answer.Decl[*compared] {
	return &answer.Decl[*compared]{
		Command: "baseline " + word, Help: "the baseline and the differences of the live subnet",
		Title: "baseline of {when}, compared with {of}: {nodes|node}, {switches|switch} of them, {links|link}, " +
			"in {file}",
		Facts: answer.Fields[*compared](),
		Layout: []answer.Item[*compared]{
			{Line: "{?not compared}  not compared: the live subnet was not read"},
			{Line: "{?equal}  the live subnet does not differ from it"},
			{Table: answer.Show(&changes, func(c *compared) answer.Rows[change] {
				return answer.Lazy(len(c.changes), func(i int) change { return change{c.changes[i]} })
			})},
		},
		Verdict: func(c *compared) (answer.Verdict, string) {
			switch {
			case !c.Compared:
				return answer.Unknown, "the live subnet was not read"
			case len(c.changes) > 0:
				return answer.Found, "the live subnet differs from the baseline"
			}
			return answer.OK, ""
		},
		Fails: answer.Asked,
	}
}

var forgotten = answer.Decl[struct{}]{
	Command: "baseline forget", Help: "the baseline was removed", Title: "removed the baseline of {of}",
}

// takeFunc reads a baseline from a file, or creates it from the live subnet.
type takeFunc func(*session.Session, context.Context, string) (*session.Baseline, error)

// baseline returns a subcommand of baseline that calls the function take.
func baseline(name, summary string, optional bool, decl *answer.Decl[*compared], take takeFunc) feature.Command {
	examples := []string{"baseline save", "baseline save now.snap"}
	if name != "save" {
		examples = []string{"baseline save now.snap; baseline load now.snap", "dump topology now; baseline load now"}
	}
	return feature.Command{
		Path: "baseline " + name, Summary: summary, Args: []lang.Arg{
			{Name: "FILE", Kind: lang.KindFile, Optional: optional, Written: name == "save"},
		},
		Examples: examples, Answers: []answer.Declared{decl},
		Run: func(c *feature.Call) error {
			b, err := take(c.Session, c.Ctx, c.Arg(0))
			if err != nil {
				return err
			}
			return compare(c, decl, b)
		},
	}
}

func showBaseline(c *feature.Call) error {
	st := c.Session.State()
	if st.Baseline == nil {
		return session.ErrNoBaseline
	}
	return compare(c, shownDecl, st.Baseline)
}

func compare(c *feature.Call, decl *answer.Decl[*compared], b *session.Baseline) error {
	st := c.Session.State()
	live := st.Live.Fabric
	a := &compared{
		File: b.File, When: b.When, Nodes: len(b.Fabric.Nodes), Switches: len(b.Fabric.Switches),
		Links:    len(b.Fabric.Links()),
		Compared: len(live.Nodes) > 0, Unread: len(live.Nodes) == 0,
	}
	if a.Compared {
		for _, x := range fabric.Changes(b.Fabric, live) {
			a.changes = append(a.changes, x.String())
		}
		a.Equal = len(a.changes) == 0
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, 0), a))
}

func forget(c *feature.Call) error {
	if err := remove(c.Ctx, c.Session); err != nil {
		return err
	}
	st := c.Session.State()
	return c.Answer(forgotten.Answer(st.Basis(st.Live, 0), struct{}{}))
}

// remove removes the baseline of the session and its file in the state directory.
func remove(ctx context.Context, s *session.Session) error {
	op, err := s.Begin(ctx, "baseline")
	if err != nil {
		return err
	}
	defer op.End()
	if s.State().Baseline == nil {
		return session.ErrNoBaseline
	}
	s.Publish(session.ChangeLive, func(st *session.State) { st.Baseline = nil })
	file, err := s.BaselineFile()
	if err != nil {
		return nil //nolint:nilerr // without a state directory there is no file
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
