// SPDX-License-Identifier: Apache-2.0

// Package resilience simulates every single failure of a kind, and counts the paths that each failure breaks.
package resilience

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
)

const (
	someFailures = 10              // failures that the text lists without top=
	saveEvery    = 2 * time.Second // interval at which a study writes its report
	// maxArray is the highest index of a job array in the default configuration of Slurm (MaxArraySize less 1).
	maxArray = 1000
	// The files of a job array.
	arrayScript, arraySnapshot, arrayReport = "resilience.sbatch", "resilience.snapshot", "shard-%s.json"
)

var (
	topOption = lang.Option{
		Name: "top", Kind: lang.KindInt, Summary: "number of worst failures to list", Default: "10",
	}
	studyOptions = []lang.Option{
		feature.OfOption(), topOption,
		{Name: "shard", Kind: lang.KindText, Value: "I/N", Summary: "every Nth failure from the Ith on"},
		{
			Name: "to", Kind: lang.KindFile, Summary: "file for the result; an existing one is continued",
			Written: true,
		},
		{
			Name: "routes", Kind: lang.KindWord, Words: []string{"repair", "engine"},
			Summary: "routes after a failure in which credit loops are searched for", Default: "repair",
		},
	}
	kindOption = lang.Option{Name: "kind", Kind: lang.KindWord, Words: []string{"links", "switches", "pairs"},
		Summary: "what fails", Default: "links"}
)

// Feature has the commands resilience.
var Feature = feature.Feature{Name: "resilience", Keys: []feature.Key{
	{
		Name: "pane-9", Keys: "9", Pane: "Resilience", Help: "the effect on routes if each link, switch or pair of " +
			"links fails",
	},
}, Commands: []feature.Command{
	{
		Path: "resilience", Group: feature.GroupSimulate, Summary: "Simulate each failure and count lost paths",
		Help: "After each failure, routes are adapted as route incremental does, and all changed paths are traced. " +
			"The\nroutes after each failure are proved free of credit loops: all up to 200 switches, otherwise 200 " +
			"of them.\nFailures without a proof have the repair with the fewest hops, even if it has a credit loop. " +
			"With routes=engine,\nthe routes that are proved are the routes and multicast trees that the present " +
			"engine computes after the failure.\nAn interrupted study shows its results so far. With to=FILE, the " +
			"next run with the same file continues the study.",
	},
	study("links", resilience.Links, "Simulate the failure of each link between switches", "resilience links",
		"resilience links to=links.json top=3"),
	study("switches", resilience.Switches, "Simulate the failure of each switch", "resilience switches",
		"resilience switches top=3"),
	study("pairs", resilience.Pairs, "Simulate the failure of each pair of links", "resilience pairs shard=1/500",
		"resilience pairs shard=2/500 to=2.json"),
	{
		Path: "resilience merge", Summary: "Merge the files of shards and list missing shards",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Repeat: true}},
		Options: []lang.Option{topOption,
			{Name: "to", Kind: lang.KindFile, Summary: "file for the result", Written: true}},
		Examples: []string{
			"resilience links shard=1/2 to=1.json; resilience links shard=2/2 to=2.json; resilience merge " +
				"1.json 2.json",
			"resilience switches shard=1/2 to=1.json; resilience switches shard=2/2 to=2.json; resilience merge " +
				"1.json 2.json top=5",
		},
		Answers: []answer.Declared{mergeDecl},
		Run:     merge,
	},
	{
		Path: "resilience sbatch", Summary: "Write a Slurm job array that simulates failures in shards",
		Args: []lang.Arg{{Name: "DIR", Kind: lang.KindFile, Written: true}},
		Options: []lang.Option{
			feature.OfOption(), kindOption, {Name: "shards", Kind: lang.KindInt, Summary: "number of tasks",
				Default: "16"},
		},
		Examples: []string{"resilience sbatch study kind=pairs shards=100", "resilience sbatch study kind=switches"},
		Answers:  []answer.Declared{&sbatchDecl},
		Run:      sbatch,
	},
}}

func study(word string, kind resilience.Kind, summary string, examples ...string) feature.Command {
	decl := declare("resilience "+word, "resilience of {of}: "+titleForm)
	return feature.Command{
		Path: "resilience " + word, Summary: summary, Options: studyOptions, Examples: examples,
		Answers: []answer.Declared{decl},
		Run:     func(c *feature.Call) error { return run(c, decl, kind) },
	}
}

// studied is the answer with the result of a study of failures.
type studied struct {
	Failing     string       `key:"failing" name:"failing" help:"what fails: links, switches or pairs"`
	Failures    int          `key:"failures" name:"failures"`
	Done        int          `key:"done" name:"simulated"`
	Shards      int          `key:"shards"`
	Shard       answer.Value `key:"shard" kind:"list" help:"the simulated shards"`
	Paths       int64        `key:"paths" name:"paths" help:"without a failure"`
	Worst       int64        `key:"worst_load" name:"most paths" help:"most paths over a link without a failure"`
	Splitting   int          `key:"splitting" name:"make ports unreachable" help:"failures that separate host ports"`
	Losing      int          `key:"losing" name:"lose paths"`
	Overloading int          `key:"overloading" name:"raise the load" help:"failures after which a link has more paths"`
	Changed     int64        `key:"changed_entries" name:"changed entries" help:"sum over all failures"`
	Mean        answer.Value `key:"mean_changed_entries" name:"changed on average" kind:"float"`
	Routes      answer.Value `key:"routes" name:"routes" kind:"text" help:"routes of the search for credit loops"`
	Proved      int          `key:"proved" name:"proved" help:"failures after which credit loops were searched for"`
	Looping     int          `key:"credit_loops" name:"with a credit loop"`
	Unproved    int          `key:"credit_loops_unknown" help:"failures whose data were not read"`
	Refused     int          `key:"refused" name:"refused" help:"failures after which the engine refuses the subnet"`
	Sampled     bool         `name:"sampled"`
	Partial     bool         `key:"partial" help:"not all failures were simulated"`
	Fabric      string       `key:"fabric" help:"checksum of the fabric"`
	Routing     string       `key:"routing" help:"checksum of the tables"`
	Missing     answer.Value `key:"missing_shards" kind:"list"`
	Unfinished  answer.Value `key:"unfinished_shards" kind:"list"`
	Gone        answer.Value `name:"missing" kind:"text"`
	Half        answer.Value `name:"unfinished" kind:"text"`
	Took        answer.Value `key:"seconds" kind:"duration"`

	report *resilience.Report
	top    int
}

// failure is a row of the table: the effect of one failure.
type failure struct {
	Number  int          `key:"number"`
	Name    string       `key:"name" name:"FAILS" help:"what fails"`
	Lost    int64        `key:"lost_paths" name:"LOST PATHS"`
	Hosts   int          `key:"unreachable" name:"UNREACHABLE" help:"host ports that the failure makes unreachable"`
	Worst   int64        `key:"worst_load" name:"MOST PATHS" help:"most paths over a link between switches"`
	At      answer.Value `key:"worst_at" name:"AT" kind:"text" help:"the port of that link"`
	Changed int          `key:"changed_entries" name:"CHANGED"`
	Loop    answer.Value `key:"credit_loop" name:"CREDIT LOOP" kind:"text" help:"none, loop, or unknown"`
	VLs     answer.Value `key:"vls_needed" name:"VLS" kind:"int" help:"VLs that suffice to avoid the loop"`
	Why     answer.Value `key:"loop_of_multicast" kind:"text" help:"the loop of unicast with multicast (torus-2QoS)"`
	Says    answer.Value `name:"loop" kind:"text"`
}

const titleForm = "{done} of {failures|failure} ({failing}) simulated; without a failure {paths|path}, at most " +
	"{worst_load} over a link"

var failureTable = answer.Table[failure]{
	Key: "failed", Title: "failures, worst first", Fields: answer.Fields[failure](), Stream: true,
	Row: "  {name}: {lost_paths|path} lost, {unreachable|host port} unreachable, at most {worst_load} over a link[ " +
		"({worst_at})][; {loop}]",
}

var mergeDecl = declare("resilience merge", "resilience: "+titleForm)

func declare(command, title string) *answer.Decl[*studied] {
	return &answer.Decl[*studied]{
		Command: command, Help: "the effects of failures", Title: title, Facts: answer.Fields[*studied](),
		Layout: []answer.Item[*studied]{
			{Line: "{?partial}  INCOMPLETE: not all failures were simulated"},
			{
				Line: "  {losing} lose paths, {splitting} of them make host ports unreachable; {overloading} raise " +
					"the most paths over a link",
			},
			{
				Line: "  credit loops after {credit_loops} of {proved|failure} searched[, with the routes of {routes}]",
				When: func(s *studied) bool { return s.Proved > 0 && !s.Sampled },
			},
			{
				Line: "  credit loops after {credit_loops} of {proved|failure} searched[, with the routes of " +
					"{routes}], a sample of {failures}",
				When: func(s *studied) bool { return s.Proved > 0 && s.Sampled },
			},
			{
				Line: "  credit loops: unknown after {credit_loops_unknown|failure}, because data were not read",
				When: func(s *studied) bool { return s.Unproved > 0 },
			},
			{
				Line: "  {routes} refuses the subnet after {refused|failure}",
				When: func(s *studied) bool { return s.Refused > 0 },
			},
			{
				Line: "  credit loops: not searched for, by an earlier version",
				When: func(s *studied) bool { return s.report.Every == 0 },
			},
			{Line: "{?mean_changed_entries}  {mean_changed_entries} entries change on average"},
			{Table: answer.Show(&failureTable, (*studied).failures)},
			{Line: "{?missing}  missing: {missing}"},
			{Line: "{?unfinished}  unfinished: {unfinished}"},
		},
		Verdict: func(s *studied) (answer.Verdict, string) {
			switch {
			case s.Losing > 0:
				return answer.Found, fmt.Sprintf("%d of %s lose paths", s.Losing, prose.Count(s.Done, "failure"))
			case s.Looping > 0:
				return answer.Found, fmt.Sprintf("%d of %s have a credit loop", s.Looping,
					prose.Count(s.Proved, "failure"))
			case s.report.Every == 0:
				return answer.Unknown, "credit loops were not searched for"
			case s.Partial:
				return answer.Unknown, fmt.Sprintf("%d of %s simulated", s.Done, prose.Count(s.Failures, "failure"))
			}
			return answer.OK, ""
		},
		Fails: answer.Asked,
	}
}

func (s *studied) failures() answer.Rows[failure] {
	list := s.report.Failed
	rows := answer.Lazy(len(list), func(i int) failure {
		v := &list[i]
		row := failure{
			v.Number, v.Name, v.Lost, v.Unreachable, v.Worst, answer.Optional(v.At), v.Changed, answer.None(),
			answer.None(), answer.Optional(v.Why), answer.None(),
		}
		if v.Loop != resilience.Unproved {
			row.Loop = answer.Text(string(v.Loop))
		}
		if v.Loop == resilience.HasLoop {
			row.Says = answer.Text("CREDIT LOOP" + vlsText(v))
		}
		if v.VLs != nil && *v.VLs > 0 {
			row.VLs = answer.Int(*v.VLs)
		}
		return row
	})
	rows.Shown = s.top
	return rows
}

// vlsText returns a text with the number of VLs that avoid a credit loop, "" if it was not computed.
func vlsText(v *resilience.Verdict) string {
	switch {
	case v.Why != "":
		return ": " + v.Why
	case v.VLs == nil:
		return ""
	case *v.VLs == 0:
		return ", which VLs do not avoid"
	}
	return fmt.Sprintf(", %d VLs would avoid it", *v.VLs)
}

// mostCounted is the maximum number of failures for which the number of VLs is computed.
const mostCounted = 20

// countVLs computes the number of VLs that the worst failures with a credit loop would need.
func countVLs(ctx context.Context, s *resilience.Study, r *resilience.Report, top int) error {
	for i := range r.Failed[:min(top, mostCounted, len(r.Failed))] {
		v := &r.Failed[i]
		if v.Loop != resilience.HasLoop || v.Why != "" || v.VLs != nil {
			continue
		}
		n, err := s.VLs(ctx, v.Number)
		if err != nil {
			return err
		}
		v.VLs = &n
	}
	return nil
}

func studiedOf(r *resilience.Report, top int) *studied {
	s := &studied{
		Failing: string(r.Kind), Failures: r.Failures, Done: r.Done, Shards: r.Shards, Shard: ints(r.Shard),
		Paths: r.Paths, Worst: r.Worst,
		Splitting: r.Splitting, Losing: r.Losing, Overloading: r.Overloading, Changed: r.Changed,
		Proved: r.Proved, Looping: r.Looping, Unproved: r.Unknown, Refused: r.Refused,
		Sampled: r.Proved+r.Unknown+r.Refused < r.Done,
		Routes:  answer.Optional(r.Routes),
		Partial: !r.Complete(),
		Fabric:  r.Fabric, Routing: r.Routing, report: r, top: top,
	}
	if r.Done > 0 {
		s.Mean = answer.Float(float64(r.Changed)/float64(r.Done), 1)
	}
	return s
}

func ints(list []int) answer.Value {
	values := make([]answer.Value, len(list))
	for i, n := range list {
		values[i] = answer.Int(n)
	}
	return answer.List(values)
}

func run(c *feature.Call, decl *answer.Decl[*studied], kind resilience.Kind) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	shard, shards, err := shardOf(c)
	if err != nil {
		return err
	}
	top, err := c.AtLeast("top", someFailures, 1)
	if err != nil {
		return err
	}
	to := c.Option("to", "")
	if to == "-" {
		return files.ErrStream // a result cannot be continued there
	}
	start := func(s *resilience.Study) (*resilience.Report, error) { return continued(c, s, to, shard, shards) }
	saved := time.Now()
	save := func(r *resilience.Report) error {
		if to == "" || time.Since(saved) < saveEvery {
			return nil
		}
		saved = time.Now()
		return files.Write(to, r.Write)
	}
	began := time.Now()
	r, stopped := continueStudy(c, p, kind, top, start, save)
	if r == nil {
		return stopped
	}
	if to != "" {
		if err := files.Write(to, r.Write); err != nil {
			return err
		}
	}
	s := studiedOf(r, top)
	s.Took = answer.Duration(time.Since(began))
	if err := c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedTables), s)); err != nil {
		return err
	}
	return stopped
}

// continueStudy simulates the failures of a kind in a state with tables. It first calls the function start, which
// returns the report to continue, which may be empty. It calls the function save every few hundred failures. If the
// command is interrupted, continueStudy returns both the report and an error.
func continueStudy(c *feature.Call, p *session.Picture, kind resilience.Kind, top int,
	start func(*resilience.Study) (*resilience.Report, error), save func(*resilience.Report) error,
) (r *resilience.Report, err error) {
	op, err := c.Session.Begin(c.Ctx, "resilience")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := c.Session.State()
	s, err := c.Session.Study(c.Ctx, &st, p.Tables, kind)
	if err != nil {
		return nil, err
	}
	if c.Option("routes", "repair") == "engine" {
		rerouteByEngine(c, &st, s)
	}
	r, err = start(s)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(c.Ctx)
	defer stop(nil)
	err = s.Run(ctx, r, func(r *resilience.Report) {
		op.Progress(r.Done, r.Share())
		if err := save(r); err != nil {
			stop(err)
		}
	})
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = countVLs(ctx, s, r, top)
	}
	return r, err
}

// rerouteByEngine makes a study prove the routes of the present engine.
func rerouteByEngine(c *feature.Call, st *session.State, s *resilience.Study) {
	var mu sync.Mutex // the engines work in parallel themselves
	route := func(ctx context.Context, f *fabric.Fabric) (*fabric.Tables, string, error) {
		mu.Lock()
		defer mu.Unlock()
		job := c.Session.Job(st)
		job.Fabric, job.Failed, job.Options.Progress = f, true, nil
		res, err := compute.Run(ctx, job)
		if err != nil {
			return nil, "", err
		}
		loop := ""
		if l := res.Figures.TreeLoop; l != nil {
			loop = fabric.Escape(l.String())
		}
		return res.Tables, loop, nil
	}
	s.Reroute(strings.Join(st.Settings.Chain, ","), route)
}

// shardOf returns I and N from the option shard=I/N.
func shardOf(c *feature.Call) (i, n int, err error) {
	text := c.Option("shard", "1/1")
	a, b, _ := strings.Cut(text, "/")
	i, err = strconv.Atoi(a)
	if err == nil {
		n, err = strconv.Atoi(b)
	}
	if err != nil || i < 1 || i > n {
		return 0, 0, c.Misused("shard=%q: expected I/N with I from 1 to N", text)
	}
	return i, n, nil
}

// continued returns the report in a file, or an empty report if the file does not exist or no file is named.
func continued(c *feature.Call, s *resilience.Study, file string, shard, shards int) (*resilience.Report, error) {
	r, err := s.Empty(shard, shards)
	if err != nil || file == "" {
		return r, err
	}
	old, err := readReport(c, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return nil, err
	case old.Shards != shards || !slices.Equal(old.Shard, r.Shard):
		return nil, fmt.Errorf("%s has shard %v of %d, expected %d of %d", fabric.Escape(file), old.Shard, old.Shards,
			shard, shards)
	}
	if err := s.Takes(old); err != nil {
		return nil, fmt.Errorf("continue %s: %w", fabric.Escape(file), err)
	}
	return old, nil
}

func readReport(c *feature.Call, file string) (*resilience.Report, error) {
	r, err := files.Parse(c.Ctx, file, files.Report, resilience.Read)
	if err == nil && r.Unchecked {
		c.Output.Warn(fabric.Escape(file) + " has no checksum, as an older version wrote it: damage cannot be detected")
	}
	return r, err
}

// shardList returns a list of shards as text, such as "shard 3, 7 of 16".
func shardList(shards []int, of int) string {
	return fmt.Sprintf("shard %s of %d", strings.Join(prose.Words(shards, strconv.Itoa), ", "), of)
}

const mostSources = 5 // files that the basis of an answer lists

func merge(c *feature.Call) error {
	top, err := c.AtLeast("top", someFailures, 1)
	if err != nil {
		return err
	}
	var reports []*resilience.Report
	for _, file := range c.Args {
		r, err := readReport(c, file)
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
	s := studiedOf(all, top)
	s.Partial = len(missing)+len(unfinished) > 0
	if len(missing) > 0 {
		s.Missing, s.Gone = ints(missing), answer.Text(shardList(missing, all.Shards))
	}
	if len(unfinished) > 0 {
		s.Unfinished, s.Half = ints(unfinished), answer.Text(shardList(unfinished, all.Shards))
	}
	of := prose.List(c.Args, mostSources)
	if err := c.Answer(mergeDecl.Answer(answer.Basis{State: "file", Title: of, Source: of}, s)); err != nil {
		return err
	}
	if s.Partial {
		return &feature.FoundError{
			Verdict: answer.Unknown,
			What: shardList(slices.Sorted(slices.Values(slices.Concat(missing, unfinished))), all.Shards) +
				" not done",
		}
	}
	return nil
}

// written describes a written job array.
type written struct {
	Script string `key:"script" name:"script"`
	Shards int    `key:"shards" name:"shards"`
	Run    string `name:"run"`
	Merge  string `name:"merge"`
}

var sbatchDecl = answer.Decl[*written]{
	Command: "resilience sbatch", Help: "the job array", Title: "{script} and " + arraySnapshot +
		" of {of} written; next:", Facts: answer.Fields[*written](),
	Layout: []answer.Item[*written]{
		{Line: "  sbatch {run}"},
		{Line: "when all tasks have ended: resilience merge {merge}"},
	},
}

// sbatch writes a snapshot of the state, and a script for sbatch of Slurm.
func sbatch(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	shards := c.Int("shards", 16)
	if shards < 1 || shards > maxArray {
		return c.Misused("%d shards, expected 1 to %d", shards, maxArray)
	}
	dir, err := filepath.Abs(c.Arg(0))
	if err != nil {
		return err
	}
	if strings.ContainsAny(dir, "\r\n") {
		return fmt.Errorf("the path %s has a line break, which a script cannot contain", fabric.Escape(dir))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return files.Err(err)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	err = files.Write(filepath.Join(dir, arraySnapshot), func(w io.Writer) error {
		_, err := dumps.Write(c.Ctx, c.Session, "snapshot", session.Kind(c.Option("of", "")), w)
		return err
	})
	if err != nil {
		return err
	}
	script := sbatchScript(dir, program, strings.Join(st.Settings.Chain, ","), c.Option("kind", "links"), shards)
	file := filepath.Join(dir, arrayScript)
	if err := files.Write(file, func(w io.Writer) error {
		_, err := io.WriteString(w, script)
		return err
	}); err != nil {
		return err
	}
	w := written{file, shards, shellQuote(file), filepath.Join(dir, fmt.Sprintf(arrayReport, "N"))}
	return c.Answer(sbatchDecl.Answer(st.Basis(p, session.NeedLinks|session.NeedTables), &w))
}

// sbatchScript returns the script for sbatch. Each task simulates one shard. A task that is restarted continues the
// report in its file.
func sbatchScript(dir, program, engines, kind string, shards int) string {
	return fmt.Sprintf(`#!/bin/bash
#SBATCH --job-name=resilience
#SBATCH --array=1-%d
#SBATCH --ntasks=1
#SBATCH --requeue
#SBATCH --output=/dev/null
cd %s || exit 1
exec %s -s file:%s \
  -c "engine %s; resilience %s shard=$SLURM_ARRAY_TASK_ID/%d to=%s" >>"shard-$SLURM_ARRAY_TASK_ID.log" 2>&1
`, shards, shellQuote(dir), shellQuote(program), arraySnapshot, engines, kind, shards,
		fmt.Sprintf(arrayReport, "$SLURM_ARRAY_TASK_ID"))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
