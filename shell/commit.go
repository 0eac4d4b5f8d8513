// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/routing/plan"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func commitCommands() []command {
	return []command{
		{lang.Spec{Name: "write", Summary: "allow or forbid writing to the switches",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"on", "off"}}}}, runWrite},
		{lang.Spec{Name: "commit", Summary: "write the staged tables to the switches and read them back",
			Help: "Shows what would be written; nothing is without yes, and without write on before it.",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: []lang.Option{
				{Name: "dry-run", Kind: lang.KindFlag, Summary: "only show what would be written"},
				{Name: "cut", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "write tables that take the path from pairs which could have one"},
				{Name: "holes", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "write although parts of the subnet did not answer"},
				{Name: "sm", Kind: lang.KindGUID, Summary: "write beside this master subnet manager all the same"},
			}}, runCommit},
	}
}

func runWrite(c *call) error {
	on := c.Arg(0) == "on"
	if err := c.session.SetWrite(on); err != nil {
		return err
	}
	return c.out.answer(struct {
		Write bool `json:"write"`
	}{on}, func(w io.Writer) { _, _ = fmt.Fprintln(w, writeWord(on)) })
}

func runCommit(c *call) error {
	opt := session.CommitOptions{Yes: c.Arg(0) == "yes", DryRun: c.Flag("dry-run"), Cut: c.Option("cut", "no") == "yes", Holes: c.Option("holes", "no") == "yes"}
	if text := c.Option("sm", ""); text != "" {
		guid, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			return c.Misused("%q is no GUID", text)
		}
		opt.Master = guid
	}
	rep, err := c.session.Commit(c.ctx, opt)
	if rep.Plan != nil {
		if aerr := c.showCommit(&rep); aerr != nil {
			return aerr
		}
	}
	return err
}

type commitAnswer struct {
	Plan    plan.Totals `json:"plan"`
	CutOff  int64       `json:"pairs_cut_off"`
	Written bool        `json:"written"`
	Seconds float64     `json:"seconds,omitempty"`
	Differ  []string    `json:"differ,omitempty"`
	Failed  []string    `json:"failed,omitempty"`
	Master  string      `json:"master,omitempty"`
}

func (c *call) showCommit(rep *session.CommitReport) error {
	a := commitAnswer{Plan: rep.Plan.Totals(), CutOff: rep.CutOff, Written: rep.Written != nil}
	if rep.Master != nil {
		a.Master = smText(*rep.Master)
	}
	if rep.Written != nil {
		a.Seconds = rep.Written.Elapsed.Seconds()
		for _, d := range rep.Written.Differ {
			a.Differ = append(a.Differ, d.String())
		}
		for _, f := range rep.Written.Failed {
			a.Failed = append(a.Failed, f.Error())
		}
	}
	return c.out.answer(a, func(w io.Writer) {
		_ = rep.Plan.Text(w)
		if a.CutOff > 0 {
			_, _ = fmt.Fprintf(w, "%-16s %d\n", "PAIRS CUT OFF", a.CutOff)
			for _, e := range rep.Examples {
				_, _ = fmt.Fprintf(w, "  %s -> %s\n", e.Src.Name, e.Dst.Name)
			}
		}
		if a.Master != "" {
			_, _ = fmt.Fprintf(w, "%-16s %s\n", "beside", a.Master)
		}
		if rep.Written != nil {
			_, _ = fmt.Fprintf(w, "written in %s: %v; read back: %v\n", seconds(rep.Written.Elapsed), rep.Written.Written, rep.Written.ReadBack)
			list(w, "differs", a.Differ)
			list(w, "failed", a.Failed)
		}
	})
}
