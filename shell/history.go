// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func historyCommands() []Spec {
	return []Spec{
		{Name: "rollback", Summary: "write back what the switches held before a commit, the last one or that of an entry",
			Args:    []lang.Arg{{Name: "ID", Kind: lang.KindText, Words: []string{"yes"}, Optional: true}, {Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: commitOptions(), Run: runRollback},
	}
}

func runRollback(c *call) error {
	opt, err := c.commitOptions()
	if err != nil {
		return err
	}
	var id int64
	opt.Yes = false
	for _, word := range c.Args {
		if word == "yes" {
			opt.Yes = true
			continue
		}
		if id, err = c.feature().EntryID(word); err != nil {
			return err
		}
	}
	opt.Planned = c.showPlan
	rep, j, err := c.session.Rollback(c.ctx, id, opt)
	if rep.Plan != nil {
		what := "back to what the switches held before the commit of"
		switch {
		case rep.Resumes && j.IsRollback():
			what = "on with the rollback of"
		case rep.Resumes:
			what = "on with the commit of"
		case j.IsRollback():
			what = "back to what the switches held before the rollback of"
		}
		c.out.note("%s %s by %s", what, j.Began.Format(time.DateTime), fabric.Escape(j.Who))
	}
	if aerr := c.showCommit(&rep); aerr != nil {
		return aerr
	}
	return err
}

func (c *call) commitOptions() (session.CommitOptions, error) {
	opt := session.CommitOptions{
		DryRun: c.Flag("dry-run"), Cut: c.Option("cut", "no") == "yes",
		Hit: c.Option("hit", "no") == "yes", Loop: c.Option("loop", "no") == "yes", Unanswered: c.Option("unanswered", "no") == "yes",
		Others: c.Option("others", "no") == "yes", Over: c.Option("over", "no") == "yes", NoJournal: c.Option("journal", "") == "no",
	}
	if file := c.Option("journal", "no"); file != "no" && file != "yes" {
		if err := c.session.KeepHistoryIn(c.ctx, file); err != nil {
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
