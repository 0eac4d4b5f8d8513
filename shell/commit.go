// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/servicelevels"
)

func commitCommands() []Spec {
	return []Spec{
		{Name: "write", Summary: "allow or forbid writing to the switches",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"on", "off"}}}, Run: runWrite},
		{Name: "commit", Summary: "write the staged tables to the switches and read them back",
			Help: "Shows what would be written; nothing is without yes, and without write on before it.",
			Args: []lang.Arg{
				{Kind: lang.KindWord, Words: []string{"yes", "resume"}, Optional: true},
				{Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: commitOptions(), Run: runCommit},
	}
}

func commitOptions() []lang.Option {
	yesNo := []string{"yes", "no"}
	return []lang.Option{
		{Name: "dry-run", Kind: lang.KindFlag, Summary: "only show what would be written"},
		{Name: "cut", Kind: lang.KindWord, Words: yesNo, Summary: "write tables that take the path from pairs which could have one"},
		{Name: "hit", Kind: lang.KindWord, Words: yesNo, Summary: "write although pairs lose packets that no order could spare"},
		{Name: "loop", Kind: lang.KindWord, Words: yesNo, Summary: "write routes with a credit loop where those on the switches have none"},
		{Name: "unanswered", Aliases: []string{"holes"}, Kind: lang.KindWord, Words: yesNo, Summary: "write although parts of the subnet did not answer"},
		{Name: "others", Kind: lang.KindWord, Words: yesNo, Summary: "write over what others wrote since the staged tables were made"},
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
	return c.say(object{"write": on}, "%s", writeWord(on))
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
	before := c.session.State()
	rep, err := commit(c.ctx, opt)
	if after := c.session.State(); before.Unlogged == "" && after.Unlogged != "" {
		c.out.warn("%s", after.Unlogged)
	}
	if aerr := c.showCommit(&rep); aerr != nil {
		return aerr
	}
	if err == nil && opt.Yes && !opt.DryRun && slices.Contains(c.Args, "resume") {
		c.out.note("the commit that was interrupted is ended: the switches hold all of it")
	}
	return err
}

// Commit is what a commit planned, and what it wrote.
type Commit struct {
	Plan    plan.Totals          `json:"plan"`
	Hit     []diff.Pair          `json:"hit,omitempty"`
	Groups  []uint16             `json:"groups_hit,omitempty"`
	CutOff  int64                `json:"pairs_cut_off"`
	Unknown int64                `json:"pairs_unknown,omitempty"`
	Credits *changeLoop          `json:"credits,omitempty"`
	SLs     *servicelevels.Proof `json:"service_levels,omitempty"`
	Written bool                 `json:"written"`
	Seconds float64              `json:"seconds,omitempty"`
	Differ  []string             `json:"differ,omitempty"`
	Failed  []string             `json:"failed,omitempty"`
	Master  string               `json:"master,omitempty"`
	Unlike  string               `json:"unlike_opensm,omitempty"`
	// Adaptive counts the switches that route adaptively, by groups that are not written.
	Adaptive int   `json:"adaptive_switches,omitempty"`
	History  int64 `json:"history,omitempty"`
	// Others is what others wrote since the staged tables were made.
	Others  *session.Others `json:"others,omitempty"`
	written *apply.Report
	// elsewhere is the option that names the file of the journal, "" for the usual one.
	elsewhere string
}

// Summary says how long it took, what was written and what was read back.
func (a *Commit) Summary() string {
	return fmt.Sprintf("written in %s: %v; read back: %v", seconds(a.written.Elapsed), a.written.Written, a.written.ReadBack)
}

// Undo says which command takes it back, "" where it is not in the history.
func (a *Commit) Undo() string {
	if a.History == 0 {
		return ""
	}
	return fmt.Sprintf("rollback %d%s takes it back", a.History, a.elsewhere)
}

// Text is what was written; the plan was said before.
func (a *Commit) Text(w io.Writer) {
	_, _ = fmt.Fprintln(w, a.Summary())
	if a.History != 0 {
		_, _ = fmt.Fprintf(w, "history %d; %s\n", a.History, a.Undo())
	}
	list(w, "differs", a.Differ)
	list(w, "failed", a.Failed)
}

// unwritten is a commit that wrote nothing. People have read the plan.
type unwritten struct{ *Commit }

// Text says nothing.
func (unwritten) Text(io.Writer) {}

// CommitPlan is what a commit would write, said before anything of it is done.
type CommitPlan struct {
	*session.CommitReport
	live    *fabric.Fabric
	credits *changeLoop
}

// Text is the plan and what is to be known of it.
func (p CommitPlan) Text(w io.Writer) {
	_ = p.Plan.Text(w)
	p.whereText(w)
	p.othersText(w)
	p.credits.text(w)
	levelsText(w, p.SLs)
	if p.CutOff > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %d\n", "PAIRS LOST", p.CutOff)
		for _, e := range p.Examples {
			_, _ = fmt.Fprintf(w, "  %s -> %s\n", e.Src.Name, e.Dst.Name)
		}
	}
	if p.Unknown > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %d that may be lost, over tables that were not read\n", "PAIRS UNKNOWN", p.Unknown)
	}
	if p.Unlike != "" {
		_, _ = fmt.Fprintf(w, "%-16s %s\n", "warning", p.Unlike)
	}
	if p.Adaptive > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %s adaptively by groups, which no commit writes: packets that may choose go on by these\n", "warning", prose.When(p.Adaptive == 1, "1 switch routes", fmt.Sprintf("%d switches route", p.Adaptive)))
	}
	if p.Master != nil {
		_, _ = fmt.Fprintf(w, "%-16s %s\n", "beside", smText(*p.Master))
	}
}

// Changes are the switches that are written to, those of which most entries change first.
func (p CommitPlan) Changes() Table {
	all := slices.Clone(p.Plan.Switches)
	slices.SortStableFunc(all, func(a, b plan.Switch) int { return cmp.Compare(b.Entries, a.Entries) })
	return tableOf("switches that are written to", []string{"SWITCH", "BLOCKS", "ENTRIES"}, all, func(s plan.Switch) plainRow {
		node := p.live.Switches[s.Switch]
		return plainRow{leads{feature.ToNode(p.live, node)}, []any{p.live.NodeName(node), s.Blocks, s.Entries}}
	})
}

// showPlan says what is planned, before anything of it is done.
func (c *call) showPlan(rep *session.CommitReport) error {
	return c.out.Answer(Part{CommitPlan{rep, c.session.State().Live.Fabric, c.newChangeLoop(rep.Credits)}})
}

// whereText names the switches of which most entries change.
func (p CommitPlan) whereText(w io.Writer) {
	const most = 5
	all := slices.Clone(p.Plan.Switches)
	slices.SortStableFunc(all, func(a, b plan.Switch) int { return cmp.Compare(b.Entries, a.Entries) })
	var names []string
	for _, s := range all {
		names = append(names, fmt.Sprintf("%s (%d)", p.live.NodeName(p.live.Switches[s.Switch]), s.Entries))
	}
	if len(names) > 0 {
		_, _ = fmt.Fprintf(w, "%-16s %s\n", "changed entries", prose.List(names, most))
	}
}

// othersText says what others wrote.
func (p CommitPlan) othersText(w io.Writer) {
	const most = 10
	if p.Others == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "%-16s %s since the staged tables were made, by %s\n", "CHANGED SINCE", count(p.Others.Count, "entry"), p.Others.Who)
	for i := range p.Others.List[:min(len(p.Others.List), most)] {
		_, _ = fmt.Fprintf(w, "  %s\n", &p.Others.List[i])
	}
	if p.Others.Count > most {
		_, _ = fmt.Fprintf(w, "  %s\n", prose.More(p.Others.Count-most))
	}
}

func levelsText(w io.Writer, l *servicelevels.Proof) {
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

// showCommit says what was written; where nothing was, programs learn the plan.
func (c *call) showCommit(rep *session.CommitReport) error {
	if rep.Plan == nil {
		return nil
	}
	a := &Commit{
		Plan: rep.Plan.Totals(), Hit: rep.Plan.Hit.Examples, Groups: rep.Plan.Hit.Groups, Credits: c.newChangeLoop(rep.Credits),
		CutOff: rep.CutOff, Unknown: rep.Unknown + rep.Plan.Hit.Unknown, Unlike: rep.Unlike, Adaptive: rep.Adaptive, Written: rep.Written != nil, History: rep.Journal, SLs: rep.SLs, Others: rep.Others,
	}
	if rep.Master != nil {
		a.Master = smText(*rep.Master)
	}
	if rep.Written == nil {
		return c.out.Answer(unwritten{a})
	}
	if file := c.Option("journal", "yes"); file != "yes" {
		a.elsewhere = " journal=" + quoteFile(file)
	}
	a.written = rep.Written
	a.Seconds = rep.Written.Elapsed.Seconds()
	for _, d := range rep.Written.Differ {
		a.Differ = append(a.Differ, d.String())
	}
	for _, f := range rep.Written.Failed {
		a.Failed = append(a.Failed, f.Error())
	}
	return c.out.Answer(a)
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
		l.Why, l.Try = st.UnknownLoop(loop.Unread, !loop.Unread.Any())
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
		line("credits", "old and new routes together: %s; %s", feature.UnknownLoop(l.Why, l.Try), l.alone())
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
