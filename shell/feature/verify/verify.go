// SPDX-License-Identifier: Apache-2.0

// Package verify compares the last sweep with the output of the programs of infiniband-diags.
package verify

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/verify"
)

// Feature has the command doctor verify.
var Feature = feature.Feature{Name: "verify", Commands: []feature.Command{{
	Path: "doctor verify", Summary: "Compare the last sweep with infiniband-diags",
	Help: "The command runs ibnetdiscover, dump_fts and ibtracert at the same port. It compares their output with " +
		"the nodes,\nlinks, tables and paths of the last sweep. The programs write nothing to the subnet. With FILE " +
		"the report is written\nas Markdown. The command fails if it finds a difference. It also fails if data could " +
		"not be read or compared, unless\nstrict=no is given. The programs get no keys: an M_Key may hide parts of " +
		"the subnet from them.",
	Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true, Written: true}},
	Options: []lang.Option{{Name: "traces", Kind: lang.KindInt, Value: "N",
		Summary: "number of compared paths, the same ones each time", Default: strconv.Itoa(verify.DefaultTraces)},
		feature.StrictOption()},
	Examples: []string{"doctor verify traces=100", "doctor verify report.md"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// verified is the answer with a comparison and the file of its report.
type verified struct {
	Source  string       `key:"source" name:"source"`
	Port    string       `key:"port" name:"port" help:"the port of the session"`
	Read    time.Time    `key:"read" name:"read"`
	Differ  int          `key:"differ" name:"differences"`
	Since   []string     `key:"changed_since" help:"changes since the last sweep, up to 1000"`
	Untried []string     `key:"untried" help:"features that were not tested on hardware"`
	Report  answer.Value `key:"report" name:"report" kind:"text" help:"the file of the report"`

	*compared
}

// check is a row of the table: the comparison with one program.
type check struct {
	Program     string       `key:"program" name:"PROGRAM"`
	Result      string       `key:"result" name:"RESULT" help:"ok, found or unknown"`
	Compared    string       `key:"compared" name:"COMPARED"`
	Differ      int          `key:"differ" name:"DIFFERENCES"`
	NotCompared answer.Value `key:"not_compared" name:"NOT COMPARED" kind:"text" help:"why nothing was compared"`
}

// amount is a row of the table: how many things of a kind were compared with a program.
type amount struct {
	Program string `key:"program" name:"PROGRAM"`
	Count   int    `key:"count" name:"COUNT"`
	What    string `key:"what" name:"KIND"`
}

// remark is a row of a table: a difference from a program, or a thing that was not compared.
type remark struct {
	Program string `key:"program" name:"PROGRAM"`
	Text    string `key:"text" name:"TEXT"`
}

var (
	checkTable      = answer.Table[check]{Key: "checks", Title: "programs", Fields: answer.Fields[check]()}
	amountTable     = answer.Table[amount]{Key: "compared", Title: "compared", Fields: answer.Fields[amount]()}
	differenceTable = answer.Table[remark]{
		Key: "differences", Title: "differences", Help: "up to a thousand of each program",
		Fields: answer.Fields[remark](),
	}
	noteTable = answer.Table[remark]{Key: "notes", Title: "not compared", Fields: answer.Fields[remark]()}
)

var decl = answer.Decl[*verified]{
	Command: "doctor verify", Help: "the differences of the last sweep from the output of other programs",
	Title: "{source} at {port}, read {read}",
	Facts: answer.Fields[*verified](),
	Layout: []answer.Item[*verified]{
		{Table: answer.Show(&checkTable, (*verified).checks)},
		{Table: answer.Show(&amountTable, (*verified).amounts)},
		{Table: answer.Show(&differenceTable, func(v *verified) answer.Rows[remark] {
			return v.remarks(func(c *verify.Check) []string { return c.Differences })
		})},
		{Table: answer.Show(&noteTable, func(v *verified) answer.Rows[remark] {
			return v.remarks(func(c *verify.Check) []string { return c.Notes })
		})},
	},
	Draw: draw,
	Verdict: func(v *verified) (answer.Verdict, string) {
		switch v.Verdict {
		case answer.Found:
			return v.Verdict, prose.Count(v.Differ, "difference")
		case answer.Unknown:
			return v.Verdict, "not everything was read and compared: " + v.unknown()
		}
		return v.Verdict, ""
	},
	Fails: answer.Always,
}

func run(c *feature.Call) error {
	traces := c.Int("traces", verify.DefaultTraces)
	if traces < 1 {
		return c.Misused("traces=%d: expected at least 1", traces)
	}
	v, err := verification(c.Ctx, c.Session, traces)
	if err != nil {
		return err
	}
	a := verified{Source: v.Source, Port: v.Port, Read: v.Read, Differ: v.differ(), Since: v.Since, Untried: v.Untried,
		compared: v}
	if file := c.Arg(0); file != "" {
		if err := files.Write(file, a.markdown); err != nil {
			return err
		}
		a.Report = answer.Text(file)
	}
	st := c.Session.State()
	return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks|session.NeedTables), &a))
}

func (v *verified) checks() answer.Rows[check] {
	return answer.Lazy(len(v.Checks), func(i int) check {
		c := &v.Checks[i]
		return check{c.Program, c.Verdict.String(), amounts(c), c.Differ, answer.Optional(c.NotCompared)}
	})
}

func amounts(c *verify.Check) string {
	return strings.Join(prose.Words(c.Compared, verify.Amount.String), ", ")
}

func (v *verified) amounts() answer.Rows[amount] {
	var rows []amount
	for i := range v.Checks {
		for _, x := range v.Checks[i].Compared {
			rows = append(rows, amount{v.Checks[i].Program, x.Count, x.What})
		}
	}
	return answer.Slice(rows)
}

func (v *verified) remarks(of func(*verify.Check) []string) answer.Rows[remark] {
	var rows []remark
	for i := range v.Checks {
		for _, text := range of(&v.Checks[i]) {
			rows = append(rows, remark{v.Checks[i].Program, text})
		}
	}
	return answer.Slice(rows)
}

// The method unknown returns the names of the programs whose comparison is incomplete.
func (v *verified) unknown() string {
	var names []string
	for i := range v.Checks {
		if v.Checks[i].Verdict == answer.Unknown {
			names = append(names, v.Checks[i].Program)
		}
	}
	return strings.Join(names, ", ")
}

// mostShown is the maximum number of differences from one program in text. The file of the report has more.
const mostShown = 20

func draw(w *answer.Canvas, _ answer.Basis, v *verified) {
	list := func(items []string) {
		shown, more := prose.Cut(items, mostShown)
		for _, item := range shown {
			w.Line("  - %s", item)
		}
		if more != "" {
			w.Line("  %s", more)
		}
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		w.Line("%s: %s", c.Program, outcome(c))
		list(c.Differences)
		for _, n := range c.Notes {
			w.Line("  not compared: %s", n)
		}
	}
	if v.Differ > 0 {
		w.Line("changed since the sweep: %s",
			prose.When(len(v.Since) == 0, "nothing", prose.Count(len(v.Since), "thing")))
		list(v.Since)
	}
	w.Line("Not tested on hardware (docs/hardware.md):")
	for _, u := range v.Untried {
		w.Line("  - %s", u)
	}
	if file := v.Report; !file.IsNone() {
		w.Line("report written to %s", file)
	}
}

// outcome returns the result of a comparison.
func outcome(c *verify.Check) string {
	if c.NotCompared != "" {
		return "not compared: " + c.NotCompared
	}
	return fmt.Sprintf("%s compared, %s", amounts(c),
		prose.When(c.Differ == 0, "no difference", prose.Count(c.Differ, "difference")))
}

// markdown writes the report.
func (v *verified) markdown(to io.Writer) error {
	var w strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&w, format+"\n", args...) }
	p("# Verification of %s\n\nRead at %s, %s.\n", code(v.Source), code(v.Port), v.Read.Format(time.RFC3339))
	p("| program | compared | differences |\n| --- | --- | --- |")
	for i := range v.Checks {
		c := &v.Checks[i]
		if c.NotCompared != "" {
			p("| %s | not compared: %s | |", c.Program, code(c.NotCompared))
			continue
		}
		p("| %s | %s | %d |", c.Program, amounts(c), c.Differ)
	}
	section := func(title string, items []string) {
		if len(items) == 0 {
			return
		}
		p("\n## %s\n", title)
		for _, item := range items {
			p("* %s", item)
		}
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		section("Differences from "+c.Program, prose.Words(c.Differences, code))
		section("Not compared with "+c.Program, prose.Words(c.Notes, code))
	}
	section("Changed since the sweep", prose.Words(v.Since, code))
	section("Not tested on hardware", v.Untried)
	_, err := io.WriteString(to, w.String())
	return err
}

// code returns text from the subnet in a form that Markdown shows unchanged.
func code(text string) string {
	return "`` " + strings.NewReplacer("`", "'", "|", "/").Replace(text) + " ``"
}
