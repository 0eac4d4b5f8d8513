// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func historyCommands() []command {
	return []command{
		{lang.Spec{Name: "history", Summary: "what this subnet was: sweeps, routings, loads and commits, the newest first",
			Options: []lang.Option{
				{Name: "limit", Kind: lang.KindInt, Summary: "how many to list; 30"},
				{Name: "all", Kind: lang.KindFlag, Summary: "those of other subnets too"},
			},
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{"list"}, Optional: true}},
			Subcommands: []lang.Spec{
				{Name: "show", Summary: "one entry; of=ID and diff take its number too", Args: []lang.Arg{{Name: "ID", Kind: lang.KindText}}},
				{Name: "export", Summary: "write entries into one file", Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}, {Name: "ID", Kind: lang.KindText, Optional: true, Repeat: true}}},
				{Name: "import", Summary: "take over the entries of an exported file", Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}}},
				{Name: "prune", Summary: "throw away what is old or too much; commits stay",
					Options: []lang.Option{
						{Name: "days", Kind: lang.KindInt, Summary: "keep the last so many days"},
						{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much data"},
					}},
			}}, runHistory},
		{lang.Spec{Name: "rollback", Summary: "write back what the switches held before a commit, the last one or that of an entry",
			Args:    []lang.Arg{{Name: "ID", Kind: lang.KindText, Words: []string{"yes"}, Optional: true}, {Kind: lang.KindWord, Words: []string{"yes"}, Optional: true}},
			Options: commitOptions()}, runRollback},
	}
}

func runHistory(c *call) error {
	store, err := c.session.History()
	if err != nil {
		return err
	}
	switch c.Spec.Name {
	case "show":
		return c.historyShow(store)
	case "export":
		return c.historyExport(store)
	case "import":
		return c.historyImport(store)
	case "prune":
		return c.historyPrune(store)
	}
	return c.historyList(store)
}

func (c *call) historyList(store *history.Store) error {
	subnet := c.session.Subnet()
	if c.Flag("all") {
		subnet = ""
	}
	entries, err := store.List(c.ctx, subnet, c.Int("limit", 30))
	if err != nil {
		return err
	}
	journal, err := store.Journal(c.ctx, subnet)
	if err != nil {
		return err
	}
	ends := map[int64]history.Outcome{}
	for _, j := range journal {
		ends[j.After] = j.Outcome
		if j.Outcome == "" {
			ends[j.After] = "under way or interrupted"
		}
	}
	if len(entries) == 0 && !c.out.JSON {
		_, err := fmt.Fprintln(c.out.W, "nothing is in the history of this subnet")
		return err
	}
	t := c.table("ID", "FROM", "UNTIL", "WHAT", "WHO", "ENGINE", "OPTIONS", "FIGURES")
	for _, e := range entries {
		words := slices.DeleteFunc([]string{string(e.Kind), e.Note, string(ends[e.ID])}, func(w string) bool { return w == "" })
		what := strings.Join(words, ", ")
		row := struct {
			history.Entry
			Outcome history.Outcome `json:"outcome,omitempty"`
		}{e, ends[e.ID]}
		err := t.row(row, e.ID, e.Began.Format(time.DateTime), untilText(&e), fabric.Escape(what), fabric.Escape(e.Who),
			fabric.Escape(e.Engine), fabric.Escape(e.Options), figuresText(e.Figures))
		if err != nil {
			return err
		}
	}
	return t.flush()
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
	for _, name := range []string{"nodes", "links", "holes", "entries", "changed", "seconds"} {
		if v, ok := figures[name]; ok {
			all = append(all, fmt.Sprintf("%s %s", strconv.FormatFloat(v, 'g', 4, 64), name))
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
	f := snap.Fabric
	return c.out.answer(snap.Entry, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "entry %d: %s by %s, %s", snap.ID, snap.Kind, fabric.Escape(snap.Who), snap.Began.Format(time.DateTime))
		if text := untilText(&snap.Entry); text != "" {
			_, _ = fmt.Fprintf(w, " until %s", text)
		}
		_, _ = fmt.Fprintf(w, "\n  %s: %s, %s, %s\n", fabric.Escape(snap.Source), count(len(f.Nodes), "node"), count(len(f.Switches), "switch"), count(len(f.Links()), "link"))
		if snap.Engine != "" {
			_, _ = fmt.Fprintf(w, "  engine %s %s\n", fabric.Escape(snap.Engine), fabric.Escape(snap.Options))
		}
		if text := figuresText(snap.Figures); text != "" {
			_, _ = fmt.Fprintf(w, "  %s\n", text)
		}
		if snap.Note != "" {
			_, _ = fmt.Fprintf(w, "  %s\n", fabric.Escape(snap.Note))
		}
		_, _ = fmt.Fprintf(w, "  read it with of=%d, compare with diff %d\n", snap.ID, snap.ID)
	})
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
	return c.counted(n, err, "imported from %s", quoteFile(c.Arg(0)))
}

func (c *call) historyPrune(store *history.Store) error {
	days, size := c.Int("days", 0), c.Int("megabytes", 0)
	if days <= 0 && size <= 0 {
		return c.Misused("it takes days=N or megabytes=N")
	}
	n, err := store.Prune(c.ctx, history.Retention{Age: time.Duration(days) * 24 * time.Hour, Size: int64(size) << 20})
	return c.counted(n, err, "thrown away")
}

// counted says what became of a number of entries.
func (c *call) counted(n int, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return c.out.answer(struct {
		Entries int `json:"entries"`
	}{n}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%d entries "+format+"\n", append([]any{n}, args...)...)
	})
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
		c.out.note("back to what the switches held before the commit of %s by %s", j.Began.Format(time.DateTime), fabric.Escape(j.Who))
	}
	if aerr := c.showCommit(&rep); aerr != nil {
		return aerr
	}
	return err
}

func (c *call) commitOptions() (session.CommitOptions, error) {
	opt := session.CommitOptions{
		DryRun: c.Flag("dry-run"), Cut: c.Option("cut", "no") == "yes",
		Hit: c.Option("hit", "no") == "yes", Holes: c.Option("holes", "no") == "yes", NoJournal: c.Option("journal", "yes") == "no",
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
