// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func commitCommands() []command {
	return []command{
		{lang.Spec{Name: "write", Summary: "allow or forbid writing to the switches",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"on", "off"}}}}, runWrite},
		{lang.Spec{Name: "commit", Summary: "write the staged tables to the switches and read them back",
			Help: "Shows what would be written; nothing is without yes, and without write on before it.",
			Args: []lang.Arg{
				{Kind: lang.KindWord, Words: []string{"yes", "resume"}, Optional: true},
				{Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: commitOptions()}, runCommit},
	}
}

func commitOptions() []lang.Option {
	yesNo := []string{"yes", "no"}
	return []lang.Option{
		{Name: "dry-run", Kind: lang.KindFlag, Summary: "only show what would be written"},
		{Name: "cut", Kind: lang.KindWord, Words: yesNo, Summary: "write tables that take the path from pairs which could have one"},
		{Name: "hit", Kind: lang.KindWord, Words: yesNo, Summary: "write although pairs lose packets that no order could spare"},
		{Name: "loop", Kind: lang.KindWord, Words: yesNo, Summary: "write routes with a credit loop where those on the switches have none"},
		{Name: "unanswered", Kind: lang.KindWord, Words: yesNo, Summary: "write although parts of the subnet did not answer"},
		{Name: "holes", Kind: lang.KindWord, Words: yesNo, Summary: "the same as unanswered"},
		{Name: "over", Kind: lang.KindWord, Words: yesNo, Summary: "write over what an interrupted commit left, and give that up"},
		{Name: "journal", Kind: lang.KindFile, Value: "FILE|no", Summary: "keep the journal, and this session's history, in this file; no: write although it cannot be undone"},
		{Name: "sm", Kind: lang.KindGUID, Summary: "write beside this master subnet manager all the same"},
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
	opt, err := c.commitOptions()
	if err != nil {
		return err
	}
	opt.Yes = slices.Contains(c.Args, "yes")
	commit := c.session.Commit
	if slices.Contains(c.Args, "resume") {
		commit = c.session.Resume
	}
	opt.Planned = c.showPlan
	rep, err := commit(c.ctx, opt)
	if aerr := c.showCommit(&rep); aerr != nil {
		return aerr
	}
	if err == nil && opt.Yes && !opt.DryRun && slices.Contains(c.Args, "resume") {
		c.out.note("the commit that was interrupted is ended: the switches hold all of it")
	}
	return err
}

type commitAnswer struct {
	Plan    plan.Totals   `json:"plan"`
	Hit     []diff.Pair   `json:"hit,omitempty"`
	Groups  []uint16      `json:"groups_hit,omitempty"`
	CutOff  int64         `json:"pairs_cut_off"`
	Credits *changeLoop   `json:"credits,omitempty"`
	Levels  *levelsAnswer `json:"service_levels,omitempty"`
	Written bool          `json:"written"`
	Seconds float64       `json:"seconds,omitempty"`
	Differ  []string      `json:"differ,omitempty"`
	Failed  []string      `json:"failed,omitempty"`
	Master  string        `json:"master,omitempty"`
	History int64         `json:"history,omitempty"`
}

type levelsAnswer struct {
	Asked   int    `json:"asked"`
	Granted int    `json:"granted"`
	Pairs   int64  `json:"pairs"`
	Refused string `json:"refused,omitempty"`
	// Plain says that there is no credit loop with SL 0 everywhere.
	Plain bool `json:"safe_with_sl_0"`
}

// showPlan prints what is planned, before anything of it is done.
func (c *call) showPlan(rep *session.CommitReport) error {
	if c.out.JSON {
		return nil // all is said in one object
	}
	w := &writer{w: c.out.W}
	_ = rep.Plan.Text(w)
	c.whereText(w, rep.Plan)
	c.newChangeLoop(rep.Credits).text(w)
	levelsText(w, rep.SLs)
	if rep.CutOff > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %d\n", "PAIRS CUT OFF", rep.CutOff)
		for _, e := range rep.Examples {
			_, _ = fmt.Fprintf(w, "  %s -> %s\n", e.Src.Name, e.Dst.Name)
		}
	}
	if rep.Master != nil {
		_, _ = fmt.Fprintf(w, "%-16s %s\n", "beside", smText(*rep.Master))
	}
	return w.err
}

// whereText names the switches of which most entries change.
func (c *call) whereText(w io.Writer, p *plan.Plan) {
	const most = 5
	f := c.session.State().Live.Fabric
	all := slices.Clone(p.Switches)
	slices.SortStableFunc(all, func(a, b plan.Switch) int { return cmp.Compare(b.Entries, a.Entries) })
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("%s (%d)", f.NodeName(f.Switches[s.Switch]), s.Entries))
	}
	if len(names) > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %s\n", "changed entries", prose.List(names, most))
	}
}

func levelsText(w io.Writer, l *session.SLs) {
	if l == nil {
		return
	}
	proof := ""
	switch {
	case l.AllGranted():
	case l.Plain:
		proof = "; with SL 0 everywhere: no credit loop"
	default:
		proof = "; with SL 0 everywhere: CREDIT LOOPS"
	}
	_, _ = fmt.Fprintf(w, "%-16s needed from the subnet administration: %s%s\n", "service levels", l.Why(), proof)
}

// showCommit prints what was written; in JSON the plan as well.
func (c *call) showCommit(rep *session.CommitReport) error {
	if rep.Plan == nil || rep.Written == nil && !c.out.JSON {
		return nil
	}
	a := commitAnswer{
		Plan: rep.Plan.Totals(), Hit: rep.Plan.Hit.Examples, Groups: rep.Plan.Hit.Groups, Credits: c.newChangeLoop(rep.Credits),
		CutOff: rep.CutOff, Written: rep.Written != nil, History: rep.Journal,
	}
	if l := rep.SLs; l != nil {
		a.Levels = &levelsAnswer{l.Asked, l.Granted, l.Pairs, l.Refused, l.Plain}
	}
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
		_, _ = fmt.Fprintf(w, "written in %s: %v; read back: %v\n", seconds(rep.Written.Elapsed), rep.Written.Written, rep.Written.ReadBack)
		if rep.Journal != 0 {
			elsewhere := ""
			if file := c.Option("journal", "yes"); file != "yes" {
				elsewhere = " journal=" + quoteFile(file)
			}
			_, _ = fmt.Fprintf(w, "history %d; rollback %d%s takes it back\n", rep.Journal, rep.Journal, elsewhere)
		}
		list(w, "differs", a.Differ)
		list(w, "failed", a.Failed)
	})
}

// changeLoop says whether old and new routes together have a credit loop.
type changeLoop struct {
	// Loop, Old and New are null where they are unknown, as Why says.
	Loop credits.Verdict `json:"loop"`
	Old  credits.Verdict `json:"loop_of_old"`
	New  credits.Verdict `json:"loop_of_new"`
	Why  string          `json:"why,omitempty"`
	Try  string          `json:"try,omitempty"`
	// Unchecked says that nobody looked.
	Unchecked bool `json:"unchecked,omitempty"`
	// Ring are the links of a shortest one, "A/1 -> B/2".
	Ring []string `json:"ring,omitempty"`
}

func (c *call) newChangeLoop(loop *plan.Credits) *changeLoop {
	if loop == nil {
		return nil
	}
	l := &changeLoop{Loop: loop.Loop, Old: loop.Old, New: loop.New, Unchecked: loop.Unchecked}
	if slices.Contains([]credits.Verdict{l.Loop, l.Old, l.New}, credits.Unknown) {
		st := c.session.State()
		l.Why, l.Try = st.UnknownLoop(loop.Unread)
	}
	if l.Loop != credits.Loop {
		return l
	}
	for _, d := range loop.Ring {
		l.Ring = append(l.Ring, fmt.Sprintf("%s -> %s", loop.Fabric.PortName(d.From.Port), loop.Fabric.PortName(loop.Fabric.Ports[d.From.Port].Peer)))
	}
	return l
}

func (l *changeLoop) text(w io.Writer) {
	if l == nil {
		return
	}
	line := func(word, format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%-16s "+format+"\n", append([]any{word}, args...)...)
	}
	switch {
	case l.Unchecked:
		line("credits", "not checked, as LIDs and links change together")
		return
	case l.Loop == credits.None:
		line("credits", "old and new routes together: no credit loop")
		return
	case l.Loop == credits.Unknown:
		line("credits", "old and new routes together: %s; %s", unknownLoop(l.Why, l.Try), l.alone())
		return
	}
	line("CREDIT LOOP", "old and new routes together, over %s; %s", count(len(l.Ring), "link"), l.alone())
	for _, link := range l.Ring[:min(len(l.Ring), 10)] {
		_, _ = fmt.Fprintf(w, "  %s\n", link)
	}
	if len(l.Ring) > 10 {
		_, _ = fmt.Fprintf(w, "  and %d more\n", len(l.Ring)-10)
	}
}

// alone says whether the old and the new routes have a loop by themselves.
func (l *changeLoop) alone() string {
	switch {
	case l.Old == credits.Loop && l.New == credits.Loop:
		return "the old and the new ones alone have one"
	case l.Old == credits.None && l.New == credits.None:
		return "none of old or new ones alone"
	case l.Old == credits.Unknown && l.New == credits.Unknown:
		return "of the old and of the new ones alone it is unknown"
	}
	of := [...]string{credits.None: "the %s ones not", credits.Loop: "the %s ones alone have one", credits.Unknown: "of the %s ones it is unknown"}
	first, second := fmt.Sprintf(of[l.Old], "old"), fmt.Sprintf(of[l.New], "new")
	if l.New == credits.Loop {
		first, second = second, first
	}
	return first + ", " + second
}
