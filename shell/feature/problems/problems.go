// SPDX-License-Identifier: Apache-2.0

// Package problems lists the problems of the live subnet. It also handles the baseline, a saved state with which the
// live subnet is compared.
package problems

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/survey"
)

// Feature provides the commands "problems" and "baseline".
var Feature = feature.Feature{Name: "problems", Keys: []feature.Key{
	{Name: "pane-1", Keys: "1", Pane: "Problems", Help: "problems of the subnet, the most severe first"},
}, Commands: []feature.Command{
	{
		Path:    "problems",
		Group:   feature.GroupLook,
		Summary: "List the problems of the live subnet, worst first",
		Help: "problems also lists checks that could not run. Without the word counters, it sends no requests. Some " +
			"checks need data\nthat other commands collect:\n  link errors         record start, or show counters " +
			"twice\n  flapping links      watch\n  missing parts       baseline save\n  unexpected tables   " +
			"calibrate, which compares the tables with those that the subnet manager would compute",
		Options: []lang.Option{
			{Name: "counters", Kind: lang.KindFlag,
				Summary: "read all counters first, twice if they were not read before"},
			{Name: "thorough", Kind: lang.KindFlag, Summary: "search for credit loops even if that takes long"},
			{Name: "all", Kind: lang.KindFlag, Summary: "list all problems of a kind, not only the first 20"},
			{Name: "of", Kind: lang.KindText, Value: "TIME", Summary: "list the recorded problems of a time; " +
				when.Help},
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "list the problems recorded from this time " +
				"on"},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "the end of the period (default now)"},
		},
		Examples: []string{"problems counters", "problems"},
		Answers:  []answer.Declared{&decl, &pastDecl},
		Run:      run,
	},
	{
		Path: "baseline", Group: feature.GroupHistory, Summary: "Save a state of the subnet and compare with it later",
		Help: "If there is a baseline, problems lists parts of the baseline that are missing or cabled differently.",
	},
	ackCommand,
	baseline("save", "Save the live subnet as the baseline", true, savedDecl, (*session.Session).SaveBaseline),
	baseline("load", "Use a saved baseline or a topology file", false, loadedDecl, (*session.Session).LoadBaseline),
	{
		Path: "baseline show", Summary: "Compare the live subnet with the baseline",
		Examples: []string{
			"baseline save; baseline show",
			"baseline save now.snap; baseline load now.snap; baseline show",
		}, Answers: []answer.Declared{shownDecl},
		Run: showBaseline,
	},
	{
		Path: "baseline forget", Summary: "Remove the baseline",
		Examples: []string{
			"baseline save; baseline forget",
			"baseline save now.snap; baseline forget",
		},
		Answers: []answer.Declared{&forgotten}, Run: forget,
	},
}}

// mostListed is the maximum number of problems of one kind that text lists.
const mostListed = 20

// report is the answer of problems.
type report struct {
	*problems.Report
	f        *fabric.Fabric
	Errors   int           `key:"errors" name:"errors"`
	Warnings int           `key:"warnings" name:"warnings"`
	Notes    int           `key:"notes" name:"notes"`
	Took     time.Duration `key:"seconds"`
	most     int           // problems of a kind that the text lists
}

// row is a row of the table: a problem.
type row struct {
	ID       string       `key:"id" name:"ID" help:"the identifier of the problem, for ack"`
	Severity string       `key:"severity" name:"SEVERITY"`
	Kind     string       `key:"problem" name:"PROBLEM" help:"the kind of problem"`
	At       answer.Value `key:"at" kind:"place" help:"the node or port"`
	What     string       `key:"what" name:"WHERE"`
	Try      string       `key:"try" name:"TRY" help:"a command or action that may help"`
	Since    answer.Value `key:"since" kind:"time" help:"when the problem began"`
	lead     answer.Lead
}

// silenced is a row of the table: a problem that somebody acknowledged.
type silenced struct {
	row    `prefix:""`
	Until  time.Time `key:"until" name:"UNTIL"`
	Who    string    `key:"who" name:"WHO"`
	Reason string    `key:"reason" name:"REASON"`
}

// unchecked is a row: a property of the subnet that was not checked, and the reason.
type unchecked struct {
	What    string       `key:"what" name:"NOT CHECKED" help:"what could not be checked"`
	Why     string       `key:"why" name:"REASON"`
	Try     answer.Value `key:"try" name:"TRY" kind:"text" help:"the command that makes the check possible"`
	Unknown bool         `key:"unknown" help:"it may be a problem, depending on parts that were not read"`
}

var (
	table = answer.Table[row]{
		Key: "problems", Title: "problems", Fields: answer.Fields[row](), Lead: func(r row) answer.Lead {
			return r.lead
		},
	}
	silencedTable = answer.Table[silenced]{
		Key: "acknowledged", Title: "acknowledged", Fields: answer.Fields[silenced](),
	}
	uncheckedTable = answer.Table[unchecked]{Key: "unchecked", Title: "not checked", Fields: answer.Fields[unchecked]()}
)

var decl = answer.Decl[*report]{
	Command: "problems", Help: "the problems of the live subnet, and the checks that could not run",
	Title: "problems of {of}: {errors|error}, {warnings|warning}, {notes|note}",
	Facts: answer.Fields[*report](),
	Layout: []answer.Item[*report]{
		{Table: answer.Show(&table, func(r *report) answer.Rows[row] {
			return answer.Lazy(len(r.Problems), func(i int) row { return r.row(r.Problems[i]) })
		})},
		{Table: answer.Show(&silencedTable, func(r *report) answer.Rows[silenced] {
			return answer.Lazy(len(r.Acknowledged), func(i int) silenced {
				a := &r.Acknowledged[i]
				return silenced{r.row(a.Problem), a.Until, a.Who, a.Reason}
			})
		})},
		{Table: answer.Show(&uncheckedTable, func(r *report) answer.Rows[unchecked] {
			return answer.Lazy(len(r.Unchecked), func(i int) unchecked { return uncheckedOf(r.Unchecked[i]) })
		})},
	},
	Verdict: func(r *report) (answer.Verdict, string) {
		for _, u := range r.Unchecked {
			if u.Unknown && r.Errors+r.Warnings == 0 {
				return answer.Unknown, u.What + ": " + u.Why
			}
		}
		if r.Errors+r.Warnings > 0 {
			return answer.Found, prose.Count(r.Errors, "error") + ", " + prose.Count(r.Warnings, "warning")
		}
		return answer.OK, ""
	},
	Fails: answer.Asked,
	Warns: func(r *report) bool { return r.Errors == 0 },
	Draw:  func(w *answer.Canvas, _ answer.Basis, r *report) { r.draw(w) },
}

func (r *report) row(p problems.Problem) row {
	x := row{
		ID: p.ID(), Severity: p.Severity.String(), Kind: string(p.Kind), At: feature.PlaceOf(r.f, p.At), What: p.What,
		Try:   p.Try,
		Since: answer.None(),
		lead:  answer.Lead{GUID: p.At.GUID, Port: uint8(max(p.At.Port, 0))},
	}
	if !p.Since.IsZero() {
		x.Since = answer.Time(p.Since)
	}
	return x
}

func uncheckedOf(u problems.Unchecked) unchecked {
	r := unchecked{What: u.What, Why: u.Why, Try: answer.None(), Unknown: u.Unknown}
	if u.Try != "" {
		r.Try = answer.Text(u.Try)
	}
	return r
}

// draw lists the problems by kind, then the properties that were not checked.
func (r *report) draw(w *answer.Canvas) {
	if len(r.Problems) == 0 {
		w.Line("no problems found")
	}
	for i := 0; i < len(r.Problems); {
		p := &r.Problems[i]
		same := 0
		for i+same < len(r.Problems) && r.Problems[i+same].Kind == p.Kind && r.Problems[i+same].Severity == p.Severity {
			if same < r.most {
				q := &r.Problems[i+same]
				w.Line("%-8s%-18s %s", q.Severity, q.Kind, q.What)
				since := ""
				if !q.Since.IsZero() {
					since = "since " + when.Text(q.Since) + "; "
				}
				w.Line("%8s%-18s %shint: %s", "", q.ID(), since, q.Try)
			}
			same++
		}
		if same > r.most {
			w.Line("%26s and %d more (problems all lists them)", "", same-r.most)
		}
		i += same
	}
	for _, a := range r.Acknowledged {
		w.Line("acknowledged until %s by %s: %s: %s (%s)", when.Text(a.Until), a.Who,
			a.Reason, a.What,
			a.ID())
	}
	for _, u := range r.Unchecked {
		text := fmt.Sprintf("not checked: %s: %s", u.What, u.Why)
		if u.Try != "" {
			text += "; hint: " + u.Try
		}
		w.Line("%s", text)
	}
}

func run(c *feature.Call) error {
	if c.Option("of", "")+c.Option("since", "")+c.Option("until", "") != "" {
		return runPast(c)
	}
	if c.Flag("counters") {
		err := c.CountTwice()
		// problems lists that no counters were read
		if none := c.Session.State().Uncounted != nil; err != nil && !none {
			return err
		}
	}
	start := time.Now()
	found, err := survey.Problems(c.Ctx, c.Session, survey.Options{Thorough: c.Flag("thorough")})
	if err != nil {
		return err
	}
	st := c.Session.State()
	r := &report{
		Report: found, f: st.Live.Fabric,
		Errors: found.Count(problems.Error), Warnings: found.Count(problems.Warning), Notes: found.Count(problems.Note),
		Took: time.Since(start), most: mostListed,
	}
	if c.Flag("all") {
		r.most = len(found.Problems)
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, 0), r))
}
