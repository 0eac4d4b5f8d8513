// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func problemCommands() []Spec {
	file := []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}}
	return []Spec{
		{Name: "problems", Summary: "what is wrong with the live subnet, the worst first, and what could not be looked at; it asks nothing of the subnet",
			Help: "Counters have to be recorded (record) or read twice (show counters), a watch finds flapping links, baseline save what goes missing, and\n" +
				"calibrate whether the switches hold what their subnet manager's settings give.",
			Options: []lang.Option{
				{Name: "counters", Kind: lang.KindFlag, Summary: "read all counters first, and once more after a second if that was the first time"},
				{Name: "thorough", Kind: lang.KindFlag, Summary: "look for credit loops also where that takes long"},
				{Name: "all", Kind: lang.KindFlag, Summary: "list all problems of a kind, not the first ones alone"},
			}, Run: runProblems},
		{Name: "baseline", Summary: "what the subnet is to be like, against which problems says what is missing or re-cabled", Subcommands: []Spec{
			{Name: "save", Summary: "the live subnet, in the state directory or in a file", Args: file, Run: baselineFrom((*session.Session).SaveBaseline)},
			{Name: "load", Summary: "that of a file: a saved one, or any topology file, for this session", Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}, Run: baselineFrom((*session.Session).LoadBaseline)},
			{Name: "show", Summary: "when it is of, and how the live subnet differs", Run: runBaselineShow},
			{Name: "forget", Summary: "have none any more", Run: runBaselineForget},
		}},
	}
}

func runProblems(c *call) error {
	if c.Flag("counters") {
		err := c.countTwice()
		if none := c.session.State().Uncounted != nil; err != nil && !none { // that none was read is among the problems
			return err
		}
	}
	start := time.Now()
	r, err := c.session.Problems(c.ctx, session.ProblemOptions{Thorough: c.Flag("thorough")})
	if err != nil {
		return err
	}
	most := maxListed
	if c.Flag("all") {
		most = len(r.Problems)
	}
	return c.out.Answer(&problemsAnswer{r.Count(problems.Error), r.Count(problems.Warning), r.Count(problems.Note), time.Since(start).Seconds(), r, most})
}

type problemsAnswer struct {
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Notes    int     `json:"notes"`
	Seconds  float64 `json:"seconds"`
	*problems.Report
	most int // how many of a kind people read
}

func (c *call) countTwice() error { return c.feature().CountTwice() }

// Text lists the problems, and what was not looked at.
func (r *problemsAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	if len(r.Problems) == 0 {
		line("no problem was found")
	} else {
		line("%s, %s, %s", count(r.Errors, "error"), count(r.Warnings, "warning"), count(r.Notes, "note"))
	}
	for i := 0; i < len(r.Problems); {
		p := &r.Problems[i]
		same := 0
		for i+same < len(r.Problems) && r.Problems[i+same].Kind == p.Kind && r.Problems[i+same].Severity == p.Severity {
			if same < r.most {
				q := &r.Problems[i+same]
				line("%-8s%-18s %s", q.Severity, q.Kind, q.What)
				line("%26s try: %s", "", q.Try)
			}
			same++
		}
		if same > r.most {
			line("%26s and %d more (problems all lists them)", "", same-r.most)
		}
		i += same
	}
	for _, u := range r.Unchecked {
		text := fmt.Sprintf("not checked: %s: %s", u.What, u.Why)
		if u.Try != "" {
			text += " (try: " + u.Try + ")"
		}
		line("%s", text)
	}
}

// baselineFrom takes a baseline from a file, or from the live subnet.
func baselineFrom(take func(*session.Session, context.Context, string) (*session.Baseline, error)) func(*call) error {
	return func(c *call) error {
		b, err := take(c.session, c.ctx, c.Arg(0))
		if err != nil {
			return err
		}
		return c.out.Answer(compareBaseline(b, c.session.State().Live.Fabric))
	}
}

func runBaselineForget(c *call) error {
	if err := c.session.ForgetBaseline(c.ctx); err != nil {
		return err
	}
	return c.say(object{}, "there is no baseline any more")
}

func runBaselineShow(c *call) error {
	st := c.session.State()
	if st.Baseline == nil {
		return session.ErrNoBaseline
	}
	return c.out.Answer(compareBaseline(st.Baseline, st.Live.Fabric))
}

type baselineAnswer struct {
	File     string   `json:"file"`
	When     string   `json:"when"`
	Nodes    int      `json:"nodes"`
	Switches int      `json:"switches"`
	Links    int      `json:"links"`
	Changes  []string `json:"changes"`
	Compared bool     `json:"compared"` // false where nothing of the live subnet was read
	taken    time.Time
}

// compareBaseline returns a baseline with the changes of the live subnet since.
func compareBaseline(b *session.Baseline, live *fabric.Fabric) *baselineAnswer {
	a := &baselineAnswer{
		File: b.File, When: b.When.Format(time.RFC3339), Nodes: len(b.Fabric.Nodes), Switches: len(b.Fabric.Switches), Links: len(b.Fabric.Links()),
		Compared: len(live.Nodes) > 0, taken: b.When,
	}
	if a.Compared {
		for _, x := range fabric.Changes(b.Fabric, live) {
			a.Changes = append(a.Changes, x.String())
		}
	}
	return a
}

func (a *baselineAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "baseline of %s: %s, %s of them, %s, in %s\n", a.taken.Format("2006-01-02 15:04:05"),
		count(a.Nodes, "node"), count(a.Switches, "switch"), count(a.Links, "link"), quoteFile(a.File))
	switch {
	case !a.Compared:
		_, _ = fmt.Fprintln(w, "  not compared: nothing of the live subnet was read")
	case len(a.Changes) == 0:
		_, _ = fmt.Fprintln(w, "  the live subnet is like it")
	}
	list(w, "change", a.Changes)
}

// Tables has all problems.
func (r *problemsAnswer) Tables() []Table {
	return []Table{tableOf("problems", []string{"WHAT", "PROBLEM", "WHERE", "TRY"}, r.Problems, func(p problems.Problem) plainRow {
		return plainRow{leads{Lead{GUID: p.At.GUID, Port: uint8(max(p.At.Port, 0))}}, []any{p.Severity, p.Kind, p.What, p.Try}}
	})}
}
