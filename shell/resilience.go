// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const (
	// someFailures is how many are listed where nobody says.
	someFailures = 10
	// saveEvery is how often a study writes its report.
	saveEvery = 2 * time.Second
	// maxArray is the highest index that Slurm takes for a job array as it is shipped (MaxArraySize less 1).
	maxArray = 1000
	// The files of a job array.
	arrayScript, arrayPicture, arrayReport = "resilience.sbatch", "resilience.snapshot", "shard-%s.json"
)

func resilienceCommands() []Spec {
	top := lang.Option{Name: "top", Kind: lang.KindInt, Summary: "how many of the worst failures to list, 1 or more; 10"}
	study := []lang.Option{
		feature.OfOption(), top,
		{Name: "shard", Kind: lang.KindText, Value: "I/N", Summary: "every Nth failure from the Ith on"},
		{Name: "to", Kind: lang.KindFile, Summary: "a file that keeps the result; one that is there already is continued"},
	}
	kind := lang.Option{Name: "kind", Kind: lang.KindWord, Words: []string{"links", "switches", "pairs"}, Summary: "what fails; links"}
	return []Spec{{
		Name: "resilience", Summary: "simulate each failure: lost paths, unreachable ports, link load",
		Help: "Each failure is routed around as route incremental does it, and all paths that this changes are followed.\n" +
			"Interrupted, it says what it has so far; with to= it goes on from there the next time.",
		Subcommands: []Spec{
			{Name: "links", Summary: "each link between switches", Options: study, Run: studyOf(resilience.Links)},
			{Name: "switches", Summary: "each switch", Options: study, Run: studyOf(resilience.Switches)},
			{Name: "pairs", Summary: "each pair of links between switches", Options: study, Run: studyOf(resilience.Pairs)},
			{Name: "merge", Summary: "put the files of shards together, and name those that are lost", Run: (*call).mergeResilience, Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Repeat: true}},
				Options: []lang.Option{top, {Name: "to", Kind: lang.KindFile, Summary: "a file for the result"}}},
			{Name: "sbatch", Summary: "write a Slurm job array that studies the picture, a shard a task", Run: onTables((*call).sbatchResilience), Args: []lang.Arg{{Name: "DIR", Kind: lang.KindFile}},
				Options: []lang.Option{feature.OfOption(), kind, {Name: "shards", Kind: lang.KindInt, Summary: "how many tasks; 16"}}},
		},
	}}
}

func studyOf(kind resilience.Kind) func(*call) error {
	return onTables(func(c *call, st *session.State, p *session.Picture) error { return c.study(st, p, kind) })
}

// shard reads I/N.
func (c *call) shard() (i, n int, err error) {
	text := c.Option("shard", "1/1")
	a, b, _ := strings.Cut(text, "/")
	i, err = strconv.Atoi(a)
	if err == nil {
		n, err = strconv.Atoi(b)
	}
	if err != nil || i < 1 || i > n {
		return 0, 0, c.Misused("%q is no shard, expected I/N with I from 1 to N", text)
	}
	return i, n, nil
}

func (c *call) study(st *session.State, p *session.Picture, kind resilience.Kind) error {
	shard, shards, err := c.shard()
	if err != nil {
		return err
	}
	top, err := c.atLeast("top", someFailures, 1)
	if err != nil {
		return err
	}
	to := c.Option("to", "")
	start := func(s *resilience.Study) (*resilience.Report, error) { return c.continued(s, to, shard, shards) }
	saved := time.Now()
	save := func(r *resilience.Report) error {
		if to == "" || time.Since(saved) < saveEvery {
			return nil
		}
		saved = time.Now()
		return files.Write(to, r.Write)
	}
	began := time.Now()
	r, stopped := c.session.Resilience(c.ctx, p, kind, start, save)
	if r == nil {
		return stopped
	}
	if to != "" {
		if err := files.Write(to, r.Write); err != nil {
			return err
		}
	}
	a := resilienceAnswer{Of: st.Title(p), Stale: st.IsStale(p), Report: r, Seconds: time.Since(began).Seconds(), Partial: !r.Complete(), top: top}
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	return stopped
}

// continued is the report of a file, or an empty one where there is no file.
func (c *call) continued(s *resilience.Study, file string, shard, shards int) (*resilience.Report, error) {
	r, err := s.Empty(shard, shards)
	if err != nil || file == "" {
		return r, err
	}
	old, err := c.readReport(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, err
	case old.Shards != shards || !slices.Equal(old.Shard, r.Shard):
		return nil, fmt.Errorf("%s is of shard %v of %d, not of %d of %d", quoteFile(file), old.Shard, old.Shards, shard, shards)
	}
	if err := s.Takes(old); err != nil {
		return nil, fmt.Errorf("go on with %s: %w", quoteFile(file), err)
	}
	return old, nil
}

func (c *call) readReport(file string) (*resilience.Report, error) {
	r, err := files.Parse(c.ctx, file, files.Report, resilience.Read)
	if err == nil && r.Unchecked {
		c.out.warn("%s has no checksum, as older versions wrote it: whether it is damaged is not known", quoteFile(file))
	}
	return r, err
}

type resilienceAnswer struct {
	Of    string `json:"of,omitempty"`
	Stale bool   `json:"stale,omitempty"`
	*resilience.Report
	Seconds    float64 `json:"seconds,omitempty"`
	Partial    bool    `json:"partial"` // says that not all was tried
	Missing    []int   `json:"missing_shards,omitempty"`
	Unfinished []int   `json:"unfinished_shards,omitempty"`
	top        int
}

func (a *resilienceAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	title := "resilience"
	if a.Of != "" {
		title += " of " + a.Of
	}
	line("%s: %d of %s (%s) tried; %s and at worst %d over a link while nothing has failed", title, a.Done, prose.Count(a.Failures, "failure"), a.Kind, prose.Count(a.Paths, "path"), a.Worst)
	if a.Partial {
		line("  NOT ALL: the figures are of what was tried")
	}
	line("  %d lose paths, %d of them make host ports unreachable; %d put more paths on the worst link", a.Losing, a.Splitting, a.Overloading)
	if a.Done > 0 {
		line("  %.1f entries change on average", float64(a.Changed)/float64(a.Done))
	}
	for _, v := range a.Failed[:min(max(0, a.top), len(a.Failed))] {
		line("  %s: %s lost, %s unreachable, at worst %d over a link%s", v.Name, prose.Count(v.Lost, "path"), count(v.CutOff, "host port"), v.Worst, at(v.At))
	}
	for _, lost := range []struct {
		what   string
		shards []int
	}{{"missing", a.Missing}, {"unfinished", a.Unfinished}} {
		if len(lost.shards) > 0 {
			line("  %s: %s", lost.what, shardList(lost.shards, a.Shards))
		}
	}
}

func at(port string) string { return prose.When(port == "", "", " ("+port+")") }

// shardList names shards: "shard 3, 7 of 16".
func shardList(shards []int, of int) string {
	return fmt.Sprintf("shard %s of %d", strings.Join(prose.Words(shards, strconv.Itoa), ", "), of)
}

func (c *call) mergeResilience() error {
	top, err := c.atLeast("top", someFailures, 1)
	if err != nil {
		return err
	}
	var reports []*resilience.Report
	for _, file := range c.Args {
		r, err := c.readReport(file)
		if err != nil {
			return err
		}
		reports = append(reports, r)
	}
	all, missing, unfinished, err := resilience.Merge(reports)
	if err != nil {
		return err
	}
	if to := c.Option("to", ""); to != "" {
		if err := files.Write(to, all.Write); err != nil {
			return err
		}
	}
	a := resilienceAnswer{Report: all, Partial: len(missing)+len(unfinished) > 0, Missing: missing, Unfinished: unfinished, top: top}
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	if a.Partial {
		return found("%s not done", shardList(slices.Sorted(slices.Values(slices.Concat(missing, unfinished))), all.Shards))
	}
	return nil
}

// sbatchResilience writes the picture and a script that Slurm's sbatch takes.
func (c *call) sbatchResilience(*session.State, *session.Picture) error {
	shards := c.Int("shards", 16)
	if shards < 1 || shards > maxArray {
		return c.Misused("%d shards, expected 1 to %d", shards, maxArray)
	}
	dir, err := filepath.Abs(c.Arg(0))
	if err != nil {
		return err
	}
	if strings.ContainsAny(dir, "\r\n") {
		return fmt.Errorf("the name of %s has a line break, which a script cannot hold", quoteFile(dir))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return files.Err(err)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	err = files.Write(filepath.Join(dir, arrayPicture), func(w io.Writer) error {
		_, err := c.session.Dump(c.ctx, "snapshot", session.Kind(c.Option("of", "")), w)
		return err
	})
	if err != nil {
		return err
	}
	script := sbatchScript(dir, program, c.Option("kind", "links"), shards)
	file := filepath.Join(dir, arrayScript)
	if err := files.Write(file, func(w io.Writer) error { _, err := io.WriteString(w, script); return err }); err != nil {
		return err
	}
	return c.say(object{"script": file, "shards": shards},
		"%s and %s written; next:\n  sbatch %s\nthen, where all tasks have ended: resilience merge %s",
		quoteFile(file), arrayPicture, quoteFile(shellQuote(file)), quoteFile(filepath.Join(dir, fmt.Sprintf(arrayReport, "N"))))
}

// sbatchScript runs a shard a task. A task that is started again goes on where its file ends.
func sbatchScript(dir, program, kind string, shards int) string {
	return fmt.Sprintf(`#!/bin/bash
#SBATCH --job-name=resilience
#SBATCH --array=1-%d
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --output=/dev/null
cd %s || exit 1
exec %s -s file:%s \
  -c "resilience %s shard=$SLURM_ARRAY_TASK_ID/%d to=%s" >>"shard-$SLURM_ARRAY_TASK_ID.log" 2>&1
`, shards, shellQuote(dir), shellQuote(program), arrayPicture, kind, shards, fmt.Sprintf(arrayReport, "$SLURM_ARRAY_TASK_ID"))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Tables has the worst failures.
func (a *resilienceAnswer) Tables() []Table {
	return []Table{tableOf("failures, the worst first", []string{"FAILS", "LOST PATHS", "UNREACHABLE", "WORST LOAD", "AT", "CHANGED"}, a.Failed, func(v resilience.Verdict) plainRow {
		return plainRow{leads{}, []any{v.Name, v.Lost, v.CutOff, v.Worst, orDash(v.At), v.Changed}}
	})}
}
