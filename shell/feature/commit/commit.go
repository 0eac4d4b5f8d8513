// SPDX-License-Identifier: Apache-2.0

// Package commit has the commands that write to the switches: write, commit and rollback.
package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
)

const yesWord, resumeWord, noWord, dryRun = "yes", "resume", "no", "dry-run"

// Feature provides the commands "write", "commit" and "rollback".
var Feature = feature.Feature{Name: "commit", Keys: []feature.Key{
	{Name: "commit", Keys: "C", Help: "show the plan of a commit, from which the staged tables can be written"},
	{Name: "drain", Keys: "-", Help: "show the plan that takes the selected link, switch or host out of service"},
	{Name: "undrain", Keys: "+", Help: "show the plan that puts the selected link, switch or host back into service"},
	{Name: "write", Keys: "w", Help: "allow or forbid writing to switches; a commit still asks first"},
}, Commands: patiently(append([]feature.Command{
	{
		Path: "write", Group: feature.GroupWrite, Summary: "Allow or forbid writing to the switches",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"on", feature.OffWord}}},
		Examples: []string{
			"write on",
			"write on; write off",
		},
		Answers: []answer.Declared{writeDecl},
		Run:     write,
	},
	{
		Path: "commit", Group: feature.GroupWrite, Summary: "Write the staged tables to the switches",
		Help: "Without yes, commit only shows the plan. Writing also requires write on. commit reads back everything " +
			"that it wrote.\ncommit resume yes finishes an interrupted commit.\npaths connections BEFORE AFTER lists " +
			"the connections that need other addresses afterwards (numbers of history).",
		Args: []lang.Arg{
			{Kind: lang.KindWord, Words: []string{yesWord, resumeWord}, Optional: true},
			{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true}},
		Options: options(),
		Examples: []string{
			"fail link leaf-01 36; route; commit",
			"fail link leaf-01 36; route; write on; commit yes",
		},
		Answers: []answer.Declared{planDecl, doneDecl},
		Run:     commit,
	},
	{
		Path: "rollback", Group: feature.GroupWrite, Summary: "Write what the switches held before a commit",
		Help: "ID is an entry of the history. Without ID, rollback undoes the last commit or undrain that is in " +
			"force. Without the\nword yes, rollback only shows the plan.\nrollback does not restore LIDs and port " +
			"states, because switches cannot remove the LID of a port.",
		Args: []lang.Arg{{Name: "ID", Kind: lang.KindText, Words: []string{yesWord}, Optional: true},
			{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true}},
		Options: options(),
		Examples: []string{
			"fail link leaf-01 36; route; write on; commit yes; rollback",
			"fail link leaf-01 36; route; write on; commit yes; rollback yes",
		},
		Answers: []answer.Declared{backPlanDecl, backDoneDecl},
		Run:     rollback,
	},
}, append(portCommands(), drainCommands()...)...))}

// longestWait is how long a command waits for another operation, such as a reading of counters for a record.
const longestWait = 30 * time.Second

// patiently makes the commands wait for other operations of the session. Otherwise a command that writes more than once
// could end in the middle, because the session records.
func patiently(all []feature.Command) []feature.Command {
	for i := range all {
		run := all[i].Run
		if run == nil {
			continue
		}
		all[i].Run = func(c *feature.Call) error {
			patient := *c
			patient.Ctx = session.Patiently(c.Ctx, longestWait, func(operation string) {
				c.Output.Warn(fmt.Sprintf("waiting at most %v for another operation: %s", longestWait, operation))
			})
			return run(&patient)
		}
	}
	return all
}

// force is an option that permits one kind of harm.
type force struct {
	lang.Option
	permits commits.Permission
	set     func(*commits.Options) *bool
}

// forces are the options that permit harm. Their aliases are former names.
var forces = []force{
	permit(commits.Unreachable, "force-unreachable", "allow tables that leave pairs without a path",
		func(o *commits.Options) *bool { return &o.AllowUnreachable }, "cut"),
	permit(commits.Interrupt, "force-interrupt", "allow writes during which connected pairs lose packets",
		func(o *commits.Options) *bool { return &o.AllowInterrupt }, "hit"),
	permit(commits.Loop, "force-loop", "allow a credit loop that the current tables do not have",
		func(o *commits.Options) *bool { return &o.AllowLoop }, "loop"),
	permit(commits.Incomplete, "force-incomplete", "commit although parts of the subnet did not respond",
		func(o *commits.Options) *bool { return &o.AllowIncomplete }, "unanswered", "holes"),
	permit(commits.Overwrite, "force-overwrite", "overwrite tables that another program wrote since they were "+
		"read",
		func(o *commits.Options) *bool { return &o.AllowOverwrite }, "others"),
	permit(commits.OwnPathDown, "force-own-path", "take down links on which this console or the master SM depends",
		func(o *commits.Options) *bool { return &o.AllowOwnPath }),
	permit(commits.Abandon, "abandon", "overwrite an interrupted commit and give up its rollback",
		func(o *commits.Options) *bool { return &o.Abandon }, "over"),
}

func permit(p commits.Permission, name, summary string, set func(*commits.Options) *bool, aliases ...string) force {
	return force{lang.Option{Name: name, Aliases: aliases, Kind: lang.KindFlag, Summary: summary}, p, set}
}

func options() []lang.Option {
	all := []lang.Option{{Name: dryRun, Kind: lang.KindFlag, Summary: "only show the plan, even with yes"}}
	for _, f := range forces {
		all = append(all, f.Option)
	}
	return append(all, lang.Option{
		Name: "journal", Kind: lang.KindFile, Written: true, Value: "FILE|no",
		Summary: "file of the journal and the history; no: write even if there is none",
	}, lang.Option{Name: "sm", Kind: lang.KindGUID, Summary: "write although this master SM is active"})
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
	plan, done  *answer.Decl[*Change]
	live        *fabric.Fabric // names the switches of the plan, nil before the plan is made
	basis       answer.Basis
	isPreviewed bool
	jobs        string           // see jobsText
	places      []problems.Place // what a drain takes out of service
	ofStaged    bool             // the plan writes the staged tables
	own         []lang.Option    // options that only this command has
	rebuild     rebuilds
}

func commit(c *feature.Call) error {
	write, resumes := commits.Commit, slices.Contains(c.Args, resumeWord)
	if resumes {
		write = commits.Resume
	}
	r := &run{Call: c, plan: planDecl, done: doneDecl, ofStaged: true}
	return r.planAndWrite(func(opt commits.Options) (rep commits.Report, note string, err error) {
		rep, err = write(c.Ctx, c.Session, opt)
		switch {
		case !resumes || rep.Written == nil || err != nil:
		case rep.Resumes:
			note = "the interrupted commit is finished"
		default:
			note = "the tables of the commit that was interrupted in another simulation"
		}
		return rep, note, err
	})
}

func rollback(c *feature.Call) error {
	var id int64
	for _, word := range c.Args {
		if word == yesWord {
			continue
		}
		var err error
		if id, err = c.EntryID(word); err != nil {
			return err
		}
	}
	r := &run{Call: c, plan: backPlanDecl, done: backDoneDecl}
	return r.planAndWrite(func(opt commits.Options) (commits.Report, string, error) {
		return rollBack(c.Ctx, c.Session, id, opt)
	})
}

// rollBack rolls a commit back, and returns a text that identifies the commit that was rolled back.
func rollBack(ctx context.Context, s *session.Session, id int64, opt commits.Options) (commits.Report, string, error) {
	rep, j, err := commits.Rollback(ctx, s, id, opt)
	if rep.Plan == nil {
		return rep, "", err
	}
	all, jerr := s.Journal().Commits(ctx)
	if jerr != nil {
		return rep, "", errors.Join(err, jerr)
	}
	note := backTo(&rep) + j.Name()
	if what := j.Action(all); what != "commit" && what != "rollback" {
		note += ": " + what
	}
	return rep, note, err
}

func backTo(rep *commits.Report) string {
	return prose.When(rep.Resumes, "finishes the interrupted ", "back to what the switches held before ")
}

// planAndWrite calls the function write, which plans and writes a commit or a rollback. It answers with the plan and
// the result of the writes.
func (r *run) planAndWrite(write func(commits.Options) (commits.Report, string, error)) error {
	opt, err := r.options()
	if err != nil {
		return err
	}
	opt.Planned = func(rep *commits.Report) error {
		r.planned()
		if !opt.Confirmed || opt.DryRun {
			return nil
		}
		r.isPreviewed = true
		x := r.change(rep, "")
		return r.Output.Preview(r.plan.Answer(x.basis(r.basis), x))
	}
	before := r.Session.State()
	rep, note, err := write(opt)
	err = r.hinted(err)
	if rep.Plan == nil {
		return err
	}
	r.planned()
	if after := r.Session.State(); before.Unlogged == "" && after.Unlogged != "" {
		r.basis.Warnings = append(r.basis.Warnings, after.Unlogged)
	}
	x := r.change(&rep, note)
	if (!opt.Confirmed || opt.DryRun) && (!x.Empty() || note != "") {
		x.next = r.next(rep.Refusal)
	}
	var answerErr error
	switch {
	case rep.Written != nil:
		answerErr = r.Answer(r.done.Answer(x.written(r.basis), x))
	case r.isPreviewed:
		answerErr = r.Output.Previewed(r.plan.Answer(x.basis(r.basis), x))
	default:
		answerErr = r.Answer(r.plan.Answer(x.basis(r.basis), x))
	}
	if answerErr != nil {
		return answerErr
	}
	return err
}

// planned sets what a plan rests on.
func (r *run) planned() {
	if r.live != nil {
		return
	}
	st := r.Session.State()
	p := st.Live
	if st.Staged != nil && r.ofStaged && !slices.Contains(r.Args, resumeWord) {
		p = st.Staged
	}
	r.live, r.basis = st.Live.Fabric, st.Basis(p, session.NeedLinks|session.NeedTables)
	r.rebuild = r.rebuilds(&st, p)
}

// options returns the options of the call.
func (r *run) options() (commits.Options, error) {
	opt := commits.Options{
		Confirmed: slices.Contains(r.Args, yesWord), DryRun: r.Flag(dryRun),
		NoJournal: r.Option("journal", "") == noWord,
	}
	for _, f := range forces {
		*f.set(&opt) = r.Flag(f.Name)
	}
	if file := r.Option("journal", noWord); file != noWord && file != yesWord {
		if err := r.Session.KeepHistoryIn(r.Ctx, file); err != nil {
			return opt, err
		}
	}
	if text := r.Option("sm", ""); text != "" {
		guid, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return opt, r.Misused("%q is not a GUID", text)
		}
		opt.Master = guid
	}
	return opt, nil
}

// command returns the command line that repeats this command with its options and the given words.
func (r *run) command(words ...string) string {
	line := []string{r.Command}
	for _, word := range r.Args {
		if word != yesWord {
			line = append(line, word)
		}
	}
	line = append(line, yesWord)
	for _, o := range append(options(), r.own...) {
		switch value, given := r.Options[o.Name]; {
		case !given || o.Name == dryRun:
		case o.Kind == lang.KindFlag:
			line = append(line, o.Name)
		case !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, o.Name+"=") }):
			line = append(line, o.Name+"="+lang.Quote(value))
		}
	}
	return strings.Join(append(line, words...), " ")
}

// NothingWritten begins the last line of a plan that was only shown.
const NothingWritten = "nothing was written"

// The method next returns a text with the command that writes a plan that was only shown, or the reason why it would be
// refused.
func (r *run) next(refusal error) string {
	switch {
	case refusal == nil:
		return NothingWritten + "; hint: run '" + r.command() + "'"
	case errors.Is(refusal, session.ErrReadOnly):
		return NothingWritten + "; hint: run 'write on', then '" + r.command() + "'"
	}
	return fmt.Sprintf("%s, and '%s' would be refused: %v", NothingWritten, r.command(), r.hinted(refusal))
}

// hinted adds a hint to the error of a refused commit: the option that allows the commit.
func (r *run) hinted(err error) error {
	refused, ok := errors.AsType[*commits.RefusedError](err)
	if !ok {
		return err
	}
	hint := ""
	switch refused.Needs {
	case commits.Master:
		hint = fmt.Sprintf("to write anyway, run '%s'", r.command(fmt.Sprintf("sm=0x%016x", refused.SM.GUID)))
	case commits.NoJournal:
		hint = fmt.Sprintf("keep the journal in another file with '%s'", r.command("journal=FILE"))
		if !strings.HasPrefix(r.Command, "drain") {
			hint += fmt.Sprintf(", or write without the possibility to roll back with '%s'", r.command("journal=no"))
		}
		if _, isDamaged := errors.AsType[*history.DamagedError](err); !isDamaged {
			hint = "make room for the journal, " + hint
		}
	case commits.Overwrite:
		if o := refused.Others; r.Command == "commit" && len(r.Args) > 0 && r.Args[0] == yesWord {
			hint = fmt.Sprintf("route again from what they hold ('%s'), or ", prose.When(o.Restarted, "route",
				"restore all; route"))
		}
		fallthrough
	default:
		i := slices.IndexFunc(forces, func(f force) bool { return f.permits == refused.Needs })
		hint += fmt.Sprintf("to write anyway, run '%s'", r.command(forces[i].Name))
	}
	return fmt.Errorf("%w; hint: %s", err, hint)
}
