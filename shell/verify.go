// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/verify"
)

func verifyCommand() Spec {
	return Spec{
		Name: "verify", Summary: "hold the last sweep and traces by its tables against ibnetdiscover, dump_fts and ibtracert; nothing is written to the subnet",
		Help: "They run at the same port, and only read. With FILE the report is Markdown. It fails where something differs, and where something\n" +
			"could not be read or compared, unless strict=no is given.\n" +
			"Keys are not handed to them: where an M_Key protects the subnet they see what it lets them see.",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}},
		Options: []lang.Option{{Name: "traces", Kind: lang.KindInt, Value: "N",
			Summary: fmt.Sprintf("how many paths, the same ones each time; %d where nobody says", verify.DefaultTraces)}, feature.StrictOption()},
		Run: runVerify,
	}
}

func runVerify(c *call) error {
	traces := c.Int("traces", verify.DefaultTraces)
	if traces < 1 {
		return c.Misused("with traces=%d: expected at least 1", traces)
	}
	v, err := c.session.Verify(c.ctx, traces)
	if err != nil {
		return err
	}
	a := verified{v}
	if file := c.Arg(0); file != "" {
		if err := files.Write(file, func(w io.Writer) error { return a.markdown(w) }); err != nil {
			return err
		}
		c.out.note("report written to %s", quoteFile(file))
	}
	if err := c.out.Answer(a); err != nil {
		return err
	}
	return c.judge(a.Verdict, prose.Count(v.Differ(), "difference"), "not all was read and compared: "+a.unknown())
}

type verified struct{ *session.Verification }

// unknown names the programs of which something was not compared.
func (v verified) unknown() string {
	var names []string
	for i := range v.Checks {
		if v.Checks[i].Verdict == verdict.Unknown {
			names = append(names, v.Checks[i].Program)
		}
	}
	return strings.Join(names, ", ")
}

// mostShown is how many differences of a program people are shown; the report in a file has more.
const mostShown = 20

func (v verified) Text(w io.Writer) {
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	p("%s at %s, read %s", v.Source, v.Port, v.Read.Format(time.DateTime))
	list := func(items []string) {
		shown, more := prose.Cut(items, mostShown)
		for _, item := range shown {
			p("  - %s", item)
		}
		if more != "" {
			p("  %s", more)
		}
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		p("%s: %s", c.Program, outcome(c))
		list(c.Differences)
		for _, n := range c.Notes {
			p("  not compared: %s", n)
		}
	}
	if v.Differ() > 0 {
		p("changed since it was read: %s", prose.When(len(v.Since) == 0, "nothing", prose.Count(len(v.Since), "thing")))
		list(v.Since)
	}
	p("What nobody has tried on hardware (docs/hardware.md):")
	for _, u := range v.Untried {
		p("  - %s", u)
	}
}

// outcome says what came of a comparison.
func outcome(c *verify.Check) string {
	if c.NotCompared != "" {
		return "not compared: " + c.NotCompared
	}
	return fmt.Sprintf("%s compared, %s", strings.Join(prose.Words(c.Compared, verify.Amount.String), ", "),
		prose.When(c.Differ == 0, "no difference", prose.Count(c.Differ, "difference")))
}

func (v verified) markdown(to io.Writer) error {
	w := &writer{w: to}
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	p("# Verification of %s\n\nRead at %s, %s.\n", code(v.Source), code(v.Port), v.Read.Format(time.RFC3339))
	p("| program | compared | differences |\n| --- | --- | --- |")
	for i := range v.Checks {
		c := &v.Checks[i]
		if c.NotCompared != "" {
			p("| %s | not compared: %s | |", c.Program, code(c.NotCompared))
			continue
		}
		p("| %s | %s | %d |", c.Program, strings.Join(prose.Words(c.Compared, verify.Amount.String), ", "), c.Differ)
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
	section("Changed since it was read", prose.Words(v.Since, code))
	section("What nobody has tried on hardware", v.Untried)
	return w.err
}

// code is text from the subnet as Markdown shows it unchanged.
func code(text string) string {
	return "`` " + strings.NewReplacer("`", "'", "|", "/").Replace(text) + " ``"
}
