// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func checkCommands() []Spec {
	ends := lang.Option{Name: "switches", Kind: lang.KindFlag, Summary: "count switches among the end ports, too"}
	strict := lang.Option{Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "yes: fail also where it is unknown whether there is a credit loop"}
	return []Spec{{
		Name: "check", Summary: "check the routes between all end ports; it fails where it finds something wrong",
		Help: "Without a word: reach, credits, load, and mcast where multicast tables are known.\n" + unknownHelp + loadHelp,
		Bare: true, Run: onTables((*call).checkAll), Options: []lang.Option{ofOption(), ends, strict},
		Subcommands: []Spec{
			{Name: "reach", Summary: "follow every path: does it arrive, and over how many links", Run: onTables(checkReach(false))},
			{Name: "loops", Summary: "look for paths that come back to a switch", Run: onTables(checkReach(true))},
			{Name: "credits", Summary: "look for credit loops: rings of links that wait for each other", Help: unknownHelp, Run: onTables((*call).checkCredits), Options: askedOptions()},
			{Name: "mcast", Summary: "follow what each member of each multicast group sends: do all get it once; and credit loops with unicast", Run: onTables((*call).checkMulticast)},
			{Name: "load", Summary: "count the paths over each link", Help: loadHelp, Run: onTables((*call).checkLoad), Bare: true, Subcommands: []Spec{measuredCommand()}, Options: append(askedOptions(), []lang.Option{
				{Name: "pattern", Kind: lang.KindText, Value: "PATTERN", Summary: patternWords},
				{Name: "seed", Kind: lang.KindInt, Summary: "which random bisections; 1 without it"},
				{Name: "order", Kind: lang.KindWord, Words: []string{"name", "ca"}, Summary: "ca: take the hosts in the ca-order of ftree's tables, as dump ca-order shows it"},
			}...)},
		},
	}}
}

const unknownHelp = "The switches do not have the service levels of paths. Where it depends on them whether there is a credit loop, that is unknown until\n" +
	"they were asked for (sweep full sl) or the live tables computed (engine from=FILE; calibrate), and the VLs read (sweep full sl2vl).\n"

// checkAll makes all checks, and fails with all that they find.
func (c *call) checkAll(st *session.State, p *session.Picture) error {
	var found []error
	checks := []reading{checkReach(false), (*call).checkCredits, (*call).checkLoad}
	if p.Tables.MFT != nil {
		checks = append(checks, (*call).checkMulticast)
	}
	for _, check := range checks {
		err := check(c, st, p)
		var wrong *foundError
		if err != nil && !errors.As(err, &wrong) {
			return err
		}
		if err != nil {
			found = append(found, err)
		}
	}
	return allFound(found)
}

// foundError says that a check was made and found something wrong.
type foundError struct{ what string }

func (e *foundError) Error() string { return e.what }

func found(format string, args ...any) error { return &foundError{fmt.Sprintf(format, args...)} }

// allFound is one error, on one line, of all that was found.
func allFound(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return &foundError{strings.Join(texts, "; ")}
}

// checked is what the answers of all checks begin with.
type checked struct {
	Check string `json:"check"`
	Of    string `json:"of"`
	// Stale says that the fabric has changed since the tables were made.
	Stale bool `json:"stale,omitempty"`
}

func checkedOf(check string, st *session.State, p *session.Picture) checked {
	return checked{check, st.Title(p), st.IsStale(p)}
}

type reachAnswer struct {
	checked
	*reach.Result
	Seconds  float64       `json:"seconds"`
	Troubles []pathTrouble `json:"troubles"`
	// Choices is nil where no switch routes adaptively.
	Choices *choiceCounts `json:"adaptive,omitempty"`
}

// Tables has the paths that do not arrive.
func (a *reachAnswer) Tables() []Table {
	t := tableOf("paths that do not arrive", []string{"FROM", "TO", "LID", "WHAT", "WHY"}, a.Troubles, func(t pathTrouble) plainRow {
		return plainRow{leads{t.lead}, []any{t.From, t.To, t.LID, t.Verdict, t.Why}}
	})
	t.More = int(a.wrong()) - len(t.Rows)
	if a.Choices != nil {
		return []Table{t, a.Choices.table()}
	}
	return []Table{t}
}

type pathTrouble struct {
	From    string `json:"from"`
	To      string `json:"to"`
	LID     uint16 `json:"lid"`
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
	lead    Lead
}

func checkReach(loopsOnly bool) reading {
	return func(c *call, st *session.State, p *session.Picture) error { return c.checkReach(st, p, loopsOnly) }
}

func (c *call) checkReach(st *session.State, p *session.Picture, loopsOnly bool) error {
	start := time.Now()
	r, err := c.session.Analysis().Reach(c.ctx, p.Tables, reach.Options{Switches: c.Flag("switches")})
	if err != nil {
		return err
	}
	several, err := c.choices(p)
	if err != nil {
		return err
	}
	answer := reachAnswer{checkedOf("reach", st, p), r, time.Since(start).Seconds(), []pathTrouble{}, several}
	if loopsOnly {
		answer.Check = "loops"
	}
	var names *namer
	if len(r.Troubles) > 0 {
		names = newNamer(p.Fabric)
	}
	for _, t := range r.Troubles {
		if !loopsOnly || t.Verdict == walk.Loop {
			answer.Troubles = append(answer.Troubles, pathTroubleOf(p, names, t))
		}
	}
	if err := c.out.Answer(&answer); err != nil {
		return err
	}
	switch {
	case loopsOnly && r.Loops > 0:
		return found("%d of %d paths loop", r.Loops, r.Paths)
	case !loopsOnly && r.Bad() > 0:
		return found("%d of %d paths do not arrive as they should: %s", r.Bad(), r.Paths, badText(&r.Counts))
	case several != nil && several.Sure < several.Paths:
		return found("%d of %d pairs are not reached by every choice of adaptive routing", several.Paths-several.Sure, several.Paths)
	}
	return nil
}

func pathTroubleOf(p *session.Picture, names *namer, t reach.Path) pathTrouble {
	path := walk.Trace(p.Tables, t.Src, t.LID)
	why := path.Explain(p.Fabric)
	if t.LID == 0 {
		why = fmt.Sprintf("%s has no LID", p.Fabric.PortName(t.Dst))
	}
	return pathTrouble{names.port(t.Src), names.port(t.Dst), t.LID, t.Verdict.String(), why, toTrace(p, t.Src, t.Dst, t.LID)}
}

// badText says how many paths of each kind are bad.
func badText(n *reach.Counts) string {
	text := ""
	for _, k := range []struct {
		n    int64
		what string
	}{
		{n.Unreachable, "unreachable"}, {n.Loops, "in loops"}, {n.Misdelivered, "misdelivered"},
		{n.TooLong, "too long"}, {n.Unknown, "over tables that were not read"},
	} {
		if k.n == 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", k.n, k.what)
	}
	return text
}

func (a *reachAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s of %s: %s, %s, %s", a.Check, a.Of, prose.Count(a.Ends, "end port"), prose.Count(a.Pairs, "pair"), prose.Count(a.Paths, "path"))
	if a.Check == "loops" {
		line("  %d loop", a.Loops)
	} else {
		line("  %d arrive, %d of them over more links than needed", a.Delivered+a.TooLong, a.NotMinimal)
		for links, n := range a.Links {
			if n > 0 {
				line("    %d over %s", n, count(links, "link"))
			}
		}
		if a.Bad() > 0 {
			line("  %s", badText(&a.Counts))
		}
	}
	if a.Choices != nil {
		a.Choices.text(w)
		if a.Bad() > 0 {
			line("  by the linear tables alone:")
		}
	}
	for _, t := range a.Troubles {
		line("  %s -> %s (LID %d): %s", t.From, t.To, t.LID, t.Why)
	}
	if shown := int64(len(a.Troubles)); shown > 0 && shown < a.wrong() {
		line("  %s", prose.More(a.wrong()-shown))
	}
}

func (a *reachAnswer) wrong() int64 {
	if a.Check == "loops" {
		return a.Loops
	}
	return a.Bad()
}
