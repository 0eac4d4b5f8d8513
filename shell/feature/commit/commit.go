// SPDX-License-Identifier: Apache-2.0

// Package commit plans what is written to the switches, writes it and takes it back.
package commit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const yesWord, resumeWord = "yes", "resume"

// Feature is the commands write, commit and rollback.
var Feature = feature.Feature{Name: "commit", Keys: []feature.Key{
	{Name: "commit", Keys: "C", Help: "read what a commit would write, and where; only from there can it be written"},
	{
		Name: "write", Keys: "w", Help: "allow writing to switches, or forbid it again; a commit is asked for all " +
			"the same",
	},
}, Commands: []feature.Command{
	{
		Path: "write", Summary: "allow or forbid writing to the switches",
		Args:     []lang.Arg{{Kind: lang.KindWord, Words: []string{"on", feature.OffWord}}},
		Examples: []string{"write on; write off"},
		Answers:  []answer.Declared{writeDecl},
		Run:      write,
	},
	{
		Path: "commit", Summary: "write the staged tables to the switches",
		Help: "Without yes it only shows the plan. Writing requires write on, too. What was written is read back. " +
			"commit resume\n" +
			"goes on with a commit that was interrupted.",
		Args: []lang.Arg{
			{Kind: lang.KindWord, Words: []string{yesWord, resumeWord}, Optional: true},
			{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true}},
		Options:  options(),
		Examples: []string{"fail link leaf-01 36; route; commit dry-run; write on; commit yes"},
		Answers:  []answer.Declared{planDecl, doneDecl},
		Run:      commit,
	},
	{
		Path: "rollback", Summary: "write back what switches held before a commit",
		Help: "It takes back the last commit, or that of an entry of the history. Without yes it only shows " +
			"the plan.",
		Args: []lang.Arg{{Name: "ID", Kind: lang.KindText, Words: []string{yesWord}, Optional: true},
			{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true}},
		Options:  options(),
		Examples: []string{"fail link leaf-01 36; route; write on; commit yes; rollback yes"},
		Answers:  []answer.Declared{backPlanDecl, backDoneDecl},
		Run:      rollback,
	},
}}

func options() []lang.Option {
	yesNo := []string{yesWord, "no"}
	return []lang.Option{
		{Name: "dry-run", Kind: lang.KindFlag, Summary: "only show what would be written"},
		{
			Name: "cut", Kind: lang.KindWord, Words: yesNo, Summary: "write tables that take the path from pairs " +
				"which could have one",
		},
		{
			Name: "hit", Kind: lang.KindWord, Words: yesNo, Summary: "write although pairs lose packets that no " +
				"order could spare",
		},
		{
			Name: "loop", Kind: lang.KindWord, Words: yesNo, Summary: "write routes with a credit loop where those " +
				"on the switches have none",
		},
		{
			Name: "unanswered", Aliases: []string{"holes"}, Kind: lang.KindWord, Words: yesNo,
			Summary: "write although parts of the subnet did not answer",
		},
		{
			Name: "others", Kind: lang.KindWord, Words: yesNo, Summary: "write over what others wrote since the " +
				"staged tables were made",
		},
		{
			Name: "over", Kind: lang.KindWord, Words: yesNo, Summary: "write over what an interrupted commit left, " +
				"and give that up",
		},
		{
			Name: "journal", Kind: lang.KindFile, Written: true, Value: "FILE|no", Summary: "keep the journal, and this session's " +
				"history, in this file; no: write although it cannot be undone",
		},
		{Name: "sm", Kind: lang.KindGUID, Summary: "write although this master subnet manager is active"},
	}
}

// writing is whether writing is allowed.
type writing struct {
	On   bool   `key:"write"`
	Text string `name:"text"`
}

var writeDecl = feature.OneLine[writing]("write", "whether writing is allowed", "{text}")

func write(c *feature.Call) error {
	on := c.Arg(0) == "on"
	if err := c.Session.SetWrite(on); err != nil {
		return err
	}
	st := c.Session.State()
	return c.Answer(writeDecl.Answer(st.SourceBasis(), writing{on, prose.When(on, "writing is on", "read-only")}))
}

// run is a commit or a rollback that runs.
type run struct {
	*feature.Call
	plan, done *answer.Decl[*Change]
	live       *fabric.Fabric // in which the plan names switches, nil before it is made
	basis      answer.Basis
	previewed  bool
}

func commit(c *feature.Call) error {
	opt, err := commitOptions(c)
	if err != nil {
		return err
	}
	write, resumes := c.Session.Commit, slices.Contains(c.Args, resumeWord)
	if resumes {
		write = c.Session.Resume
	}
	r := &run{Call: c, plan: planDecl, done: doneDecl}
	return r.do(opt, func(opt session.CommitOptions) (rep session.CommitReport, note string, err error) {
		rep, err = write(c.Ctx, opt)
		if resumes && rep.Written != nil && err == nil {
			note = "the commit that was interrupted is ended: the switches hold all of it"
		}
		return rep, note, err
	})
}

func rollback(c *feature.Call) error {
	opt, err := commitOptions(c)
	if err != nil {
		return err
	}
	var id int64
	for _, word := range c.Args {
		if word == yesWord {
			continue
		}
		if id, err = c.EntryID(word); err != nil {
			return err
		}
	}
	r := &run{Call: c, plan: backPlanDecl, done: backDoneDecl}
	return r.do(opt, func(opt session.CommitOptions) (session.CommitReport, string, error) {
		return back(c.Ctx, c.Session, id, opt)
	})
}

// back rolls a commit back, and tells which one.
func back(ctx context.Context, s *session.Session, id int64, opt session.CommitOptions) (session.CommitReport,
	string, error) {
	rep, j, err := s.Rollback(ctx, id, opt)
	if rep.Plan == nil {
		return rep, "", err
	}
	return rep, fmt.Sprintf("%s %s by %s", backTo(&rep, &j), j.Began.Format(time.DateTime), j.Who), err
}

func backTo(rep *session.CommitReport, j *history.JournalEntry) string {
	switch {
	case rep.Resumes && j.IsRollback():
		return "on with the rollback of"
	case rep.Resumes:
		return "on with the commit of"
	case j.IsRollback():
		return "back to what the switches held before the rollback of"
	}
	return "back to what the switches held before the commit of"
}

// do plans and writes, and answers with both.
func (r *run) do(opt session.CommitOptions, write func(session.CommitOptions) (session.CommitReport, string,
	error)) error {
	opt.Yes = slices.Contains(r.Args, yesWord)
	writes := opt.Yes && !opt.DryRun
	opt.Planned = func(rep *session.CommitReport) error {
		r.planned()
		if !writes {
			return nil
		}
		r.previewed = true
		x := r.change(rep, "")
		return r.Output.Preview(r.plan.Answer(x.basis(r.basis), x))
	}
	before := r.Session.State()
	rep, note, err := write(opt)
	if rep.Plan == nil {
		return err
	}
	r.planned()
	if after := r.Session.State(); before.Unlogged == "" && after.Unlogged != "" {
		r.basis.Warnings = append(r.basis.Warnings, after.Unlogged)
	}
	x := r.change(&rep, note)
	var said error
	switch {
	case rep.Written != nil:
		said = r.Answer(r.done.Answer(x.written(r.basis), x))
	case r.previewed:
		said = r.Output.Previewed(r.plan.Answer(x.basis(r.basis), x))
	default:
		said = r.Answer(r.plan.Answer(x.basis(r.basis), x))
	}
	if said != nil {
		return said
	}
	return err
}

// planned takes note of what a plan rests on.
func (r *run) planned() {
	if r.live != nil {
		return
	}
	st := r.Session.State()
	p := st.Live
	if st.Staged != nil && r.plan == planDecl && !slices.Contains(r.Args, resumeWord) {
		p = st.Staged
	}
	r.live, r.basis = st.Live.Fabric, st.Basis(p, session.NeedLinks|session.NeedTables)
}

func commitOptions(c *feature.Call) (session.CommitOptions, error) {
	is := func(name string) bool { return c.Option(name, "no") == yesWord }
	opt := session.CommitOptions{
		DryRun: c.Flag("dry-run"), Cut: is("cut"), Hit: is("hit"), Loop: is("loop"), Unanswered: is("unanswered"),
		Others: is("others"), Over: is("over"), NoJournal: c.Option("journal", "") == "no",
	}
	if file := c.Option("journal", "no"); file != "no" && file != yesWord {
		if err := c.Session.KeepHistoryIn(c.Ctx, file); err != nil {
			return opt, err
		}
	}
	if text := c.Option("sm", ""); text != "" {
		guid, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return opt, c.Misused("%q is no GUID", text)
		}
		opt.Master = guid
	}
	return opt, nil
}
