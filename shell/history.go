// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func historyCommands() []Spec {
	return []Spec{
		{Name: "history", Summary: "what this subnet was: sweeps, routings, loads and commits, the newest first", Run: onHistory((*call).historyList),
			Options: []lang.Option{
				{Name: "limit", Kind: lang.KindInt, Summary: "how many to list, 1 or more; 30"},
				{Name: "all", Kind: lang.KindFlag, Summary: "those of other subnets too"},
			},
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"list"}, Optional: true}},
			Subcommands: []Spec{
				{Name: "show", Summary: "one entry; of=ID and diff take its number too", Run: onHistory((*call).historyShow), Args: []lang.Arg{{Name: "ID", Kind: lang.KindText}}},
				{Name: "export", Summary: "write entries into one file", Run: onHistory((*call).historyExport), Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}, {Name: "ID", Kind: lang.KindText, Optional: true, Repeat: true}}},
				{Name: "import", Summary: "take over the entries of an exported file", Run: onHistory((*call).historyImport), Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}},
				{Name: "keep", Summary: "say what is kept, or set it; what is older or too much goes when something is added, commits never", Run: onHistory((*call).historyKeep),
					Help: "Without options it says what is kept.",
					Options: []lang.Option{
						{Name: "days", Kind: lang.KindInt, Summary: "keep entries for so many days; 0 for ever"},
						{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much data; 0 for all"},
					}},
				{Name: "prune", Summary: "throw away what is old or too much; commits stay", Run: onHistory((*call).historyPrune),
					Options: []lang.Option{
						{Name: "days", Kind: lang.KindInt, Summary: "keep the last so many days"},
						{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much data"},
					}},
			}},
		{Name: "rollback", Summary: "write back what the switches held before a commit, the last one or that of an entry",
			Args:    []lang.Arg{{Name: "ID", Kind: lang.KindText, Words: []string{"yes"}, Optional: true}, {Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: commitOptions(), Run: runRollback},
		changesCommand(),
	}
}

func onHistory(run func(*call, *history.Store) error) func(*call) error {
	return func(c *call) error {
		store, err := c.session.History()
		if err != nil {
			return err
		}
		return run(c, store)
	}
}

func (c *call) historyList(store *history.Store) error {
	subnet := c.session.Subnet()
	if c.Flag("all") {
		subnet = ""
	}
	limit, err := c.atLeast("limit", 30, 1)
	if err != nil {
		return err
	}
	entries, err := store.List(c.ctx, subnet, limit)
	if err != nil {
		return err
	}
	if why := store.ReadOnly(); why != nil {
		c.out.note("%v", why)
	}
	journal, err := store.Journal(c.ctx, subnet)
	if err != nil {
		return err
	}
	commits := map[int64]*history.JournalEntry{}
	for i := range journal {
		commits[journal[i].After] = &journal[i]
	}
	var rows []historyRow
	for _, e := range entries {
		rows = append(rows, newHistoryRow(e, commits[e.ID]))
	}
	if kept, err := store.Kept(c.ctx); err == nil && (len(rows) > 0 || c.out.JSON) {
		c.out.note("%s", keptText(kept))
	}
	return c.out.Answer(&List{
		Columns: []string{"ID", "FROM", "UNTIL", "WHAT", "WHO", "ENGINE", "OPTIONS", "FIGURES"}, Rows: eachRow(rows),
		Empty: "nothing is in the history of this subnet (history list all shows those of others)",
	})
}

type historyRow struct {
	leads
	history.Entry
	Outcome string `json:"outcome,omitempty"`
	// Others is what the commit found of others.
	Others *write.Conflicts `json:"others,omitempty"`
}

// newHistoryRow is an entry, of a commit with what the journal says of it.
func newHistoryRow(e history.Entry, j *history.JournalEntry) historyRow {
	row := historyRow{leads: leads{toCommand("history show %d", e.ID)}, Entry: e}
	if j != nil {
		row.Outcome = j.Outcome.Word()
		if j.Others.Count > 0 {
			row.Others = &j.Others
		}
	}
	return row
}

func (e historyRow) Cells() []any {
	others := ""
	if e.Others != nil {
		others = "others wrote " + count(e.Others.Count, "entry")
	}
	words := slices.DeleteFunc([]string{string(e.Kind), e.Note, e.Outcome, others, whatIfText(&e.Entry)}, func(w string) bool { return w == "" })
	return []any{e.ID, e.Began.Format(time.DateTime), untilText(&e.Entry), fabric.Escape(strings.Join(words, ", ")), fabric.Escape(e.Who),
		fabric.Escape(e.Engine), fabric.Escape(e.Options), figuresText(e.Figures)}
}

func whatIfText(e *history.Entry) string {
	if e.Simulated == "" {
		return ""
	}
	return "what-if: " + e.Simulated
}

func untilText(e *history.Entry) string {
	if e.Until.Equal(e.Began) {
		return ""
	}
	return e.Until.Format(time.DateTime)
}

// figuresText lists numbers by name.
func figuresText(figures map[string]float64) string {
	var all []string
	for _, name := range []string{"nodes", "links", "holes", "unanswered", "entries", "changed", "seconds"} {
		if v, ok := figures[name]; ok {
			text := strconv.FormatFloat(v, 'f', -1, 64) // a count
			if name == "seconds" {
				text = fmt.Sprintf("%.4g", v)
			}
			if name == "holes" { // what it was called
				name = "unanswered"
			}
			all = append(all, text+" "+name)
		}
	}
	return strings.Join(all, ", ")
}

func (c *call) entryID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, c.Misused("%q is no number of a history entry", text)
	}
	return id, nil
}

func (c *call) historyShow(store *history.Store) error {
	id, err := c.entryID(c.Arg(0))
	if err != nil {
		return err
	}
	snap, err := store.Load(c.ctx, id)
	if err != nil {
		return err
	}
	a := historyEntry{Entry: snap.Entry, f: snap.Fabric}
	journal, err := store.Journal(c.ctx, snap.Subnet)
	for i := range journal {
		if journal[i].After == id && journal[i].Others.Count > 0 {
			a.Others = &journal[i].Others
		}
	}
	return errors.Join(err, c.out.Answer(a))
}

type historyEntry struct {
	history.Entry
	// Others is what a commit found of others.
	Others *write.Conflicts `json:"others,omitempty"`
	f      *fabric.Fabric
}

func (e historyEntry) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "entry %d: %s by %s, %s", e.ID, fabric.Escape(string(e.Kind)), fabric.Escape(e.Who), e.Began.Format(time.DateTime))
	if text := untilText(&e.Entry); text != "" {
		_, _ = fmt.Fprintf(w, " until %s", text)
	}
	_, _ = fmt.Fprintf(w, "\n  %s: %s, %s, %s\n", fabric.Escape(e.Source), count(len(e.f.Nodes), "node"), count(len(e.f.Switches), "switch"), count(len(e.f.Links()), "link"))
	if e.Engine != "" {
		_, _ = fmt.Fprintf(w, "  engine %s %s\n", fabric.Escape(e.Engine), fabric.Escape(e.Options))
	}
	if text := whatIfText(&e.Entry); text != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", fabric.Escape(text))
	}
	if text := figuresText(e.Figures); text != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", text)
	}
	if e.Note != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", fabric.Escape(e.Note))
	}
	if e.Others != nil {
		_, _ = fmt.Fprintf(w, "  others wrote %s:\n", count(e.Others.Count, "entry"))
		for i := range e.Others.List {
			_, _ = fmt.Fprintf(w, "    %s\n", fabric.Escape(e.Others.List[i].String()))
		}
	}
	_, _ = fmt.Fprintf(w, "  read it with of=%d, compare with diff %d\n", e.ID, e.ID)
}

func (c *call) historyExport(store *history.Store) error {
	var ids []int64
	for _, text := range c.Args[1:] {
		id, err := c.entryID(text)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	n, err := store.Export(c.ctx, c.Arg(0), c.session.Subnet(), ids...)
	return c.counted(n, err, "exported to %s", quoteFile(c.Arg(0)))
}

func (c *call) historyImport(store *history.Store) error {
	n, err := store.Import(c.ctx, c.Arg(0))
	return c.counted(n, err, "imported from %s that were not here", quoteFile(c.Arg(0)))
}

func (c *call) historyPrune(store *history.Store) error {
	r, err := c.retention(history.Retention{}, 1)
	if err != nil {
		return err
	}
	if r == (history.Retention{}) {
		return c.Misused("it takes days=N or megabytes=N (history keep says what goes by itself)")
	}
	n, err := store.Prune(c.ctx, r)
	return c.counted(n, err, "thrown away")
}

// retention reads days= and megabytes=, which must be so much at least.
func (c *call) retention(r history.Retention, least int) (history.Retention, error) {
	days, err := c.atLeast("days", int(r.Age/day), least)
	if err != nil {
		return r, err
	}
	size, err := c.atLeast("megabytes", int(r.Size>>20), least)
	if err != nil {
		return r, err
	}
	if days > maxDays || size > maxMegabytes {
		return r, c.Misused("days=%d megabytes=%d, expected at most %d and %d", days, size, maxDays, maxMegabytes)
	}
	return history.Retention{Age: time.Duration(days) * day, Size: int64(size) << 20}, nil
}

const (
	day          = 24 * time.Hour
	maxDays      = 100 * 365
	maxMegabytes = 1 << 20
)

// atLeast is the value of an option that must be some number at least.
func (c *call) atLeast(name string, otherwise, least int) (int, error) {
	return c.feature().AtLeast(name, otherwise, least)
}

func (c *call) historyKeep(store *history.Store) error {
	r, err := store.Kept(c.ctx)
	if err != nil {
		return err
	}
	if len(c.Options) > 0 {
		if r, err = c.retention(r, 0); err != nil {
			return err
		}
		if err := store.SetKept(c.ctx, r); err != nil {
			return err
		}
	}
	return c.say(object{"days": int(r.Age / day), "megabytes": int(r.Size >> 20)}, "%s", keptText(r))
}

func keptText(r history.Retention) string {
	age, size := "for ever", "as much as there is"
	if r.Age > 0 {
		age = fmt.Sprintf("for %s", count(int(r.Age/day), "day"))
	}
	if r.Size > 0 {
		size = fmt.Sprintf("%d MB at most", r.Size>>20)
	}
	return fmt.Sprintf("entries are kept %s, %s; commits always (history keep days=N megabytes=N)", age, size)
}

// counted says what became of a number of entries.
func (c *call) counted(n int, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return c.say(object{"entries": n}, "%s %s", count(n, "entry"), fmt.Sprintf(format, args...))
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
		if id, err = c.entryID(word); err != nil {
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
