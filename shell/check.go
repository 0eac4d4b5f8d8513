// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func checkCommands() []Spec {
	ends := lang.Option{Name: "switches", Kind: lang.KindFlag, Summary: "count switches among the end ports, too"}
	return []Spec{{
		Name: "check", Summary: "check the routes between all end ports; it fails where it finds something wrong",
		Help: "Without a word: reach, credits, load, and mcast where multicast tables are known.\n" + strictHelp + unknownHelp + loadHelp,
		Bare: true, Run: onTables((*call).checkAll), Options: []lang.Option{ofOption(), ends, strictOption()},
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

const strictHelp = "The verdict is ok, found or unknown. It is unknown where nothing wrong was found and something was not read that could\n" +
	"change that, as the forwarding table of a switch. The command fails then, too, unless strict=no is given.\n"

// strictOption lets a check succeed whose verdict is unknown.
func strictOption() lang.Option {
	return lang.Option{Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "no: succeed also where the verdict is unknown"}
}

// judge returns the error of a check: found where something wrong was found, and unknown where the verdict is unknown,
// unless strict=no was given; unknown is a warning then.
func (c *call) judge(v verdict.Verdict, found, unknown string) error {
	switch {
	case v == verdict.Found:
		return &foundError{found}
	case v == verdict.OK:
		return nil
	case c.Option("strict", "yes") == "yes":
		return &foundError{unknown}
	}
	c.out.warn("%s", unknown)
	return nil
}

// foundError is the error of a check that was made, and whose verdict is not ok.
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
	Check   string          `json:"check"`
	Of      string          `json:"of"`
	Verdict verdict.Verdict `json:"verdict"`
	// Stale says that the fabric has changed since the tables were made.
	Stale bool `json:"stale,omitempty"`
	tablesNotRead
}

func checkedOf(check string, st *session.State, p *session.Picture, v verdict.Verdict) checked {
	return checked{check, st.Title(p), v, st.IsStale(p), tablesNotReadOf(p.Tables)}
}

// reachAnswer counts pairs and paths by the routing that the switches use: by every choice where they route adaptively.
type reachAnswer struct {
	checked
	Ends            int   `json:"ends"`
	Unassigned      int   `json:"unassigned"`
	UnreachableEnds int   `json:"unreachable_ends"`
	Pairs           int64 `json:"pairs"`
	LostPairs       int64 `json:"lost_pairs"`
	// LuckPairs are those of which a path arrives by some choices of the switches, and not by others.
	LuckPairs    int64 `json:"luck_pairs"`
	UnknownPairs int64 `json:"unknown_pairs"`
	reach.Counts
	// NotMinimal is nil where it is not known, as of adaptive routing.
	NotMinimal *int64  `json:"not_minimal"`
	Links      []int64 `json:"links"`
	Seconds    float64 `json:"seconds"`
	// Troubles are those of the linear tables; choices have their own.
	Troubles []pathTrouble `json:"troubles"`
	// UnreachablePorts names the end ports that failures have separated from the subnet, UnassignedPorts other ones without
	// a LID.
	UnreachablePorts []string `json:"unreachable_ports"`
	UnassignedPorts  []string `json:"unassigned_ports,omitempty"`
	// Choices is nil where no switch routes adaptively; Linear is what the linear tables alone would do then.
	Choices *choiceCounts `json:"adaptive,omitempty"`
	Linear  *linearCounts `json:"linear_tables,omitempty"`

	unlisted int64 // paths that end at once
}

// linearCounts counts the paths of linear tables.
type linearCounts struct {
	reach.Counts
	Links []int64 `json:"links"`
}

// text says how many paths arrive, over how many links, and what becomes of the others.
func (c *linearCounts) text(line func(format string, args ...any)) {
	line("  %d arrive, %d of them over more links than needed", c.Delivered+c.TooLong, c.NotMinimal)
	for links, n := range c.Links {
		if n > 0 {
			line("    %d over %s", n, count(links, "link"))
		}
	}
	if c.Bad() > 0 {
		line("  %s", badText(&c.Counts))
	}
	unknownText(line, c.Unknown)
}

func reachAnswerOf(r *reach.Result, choices *choiceCounts) *reachAnswer {
	a := &reachAnswer{
		Ends: r.Ends, Unassigned: r.Unassigned, UnreachableEnds: r.UnreachableEnds, Pairs: r.Pairs, LostPairs: r.LostPairs, UnknownPairs: r.UnknownPairs,
		Counts: r.Counts, NotMinimal: &r.Counts.NotMinimal, Links: r.Links, Troubles: []pathTrouble{}, UnreachablePorts: []string{}, Choices: choices,
		unlisted: r.UnlistedPaths,
	}
	if choices != nil {
		a.LostPairs, a.LuckPairs, a.UnknownPairs = choices.LostPairs, choices.LuckPairs, choices.UnknownPairs
		a.Counts = reach.Counts{Paths: choices.Paths, Delivered: choices.Sure, Unreachable: choices.Never, Loops: choices.Loops, Unknown: choices.Unknown}
		a.NotMinimal, a.Links, a.Linear = nil, choices.Fewest, &linearCounts{r.Counts, r.Links}
	}
	return a
}

// Tables has the paths that do not arrive, or of which that is unknown.
func (a *reachAnswer) Tables() []Table {
	t := tableOf("paths that do not arrive", []string{"FROM", "TO", "LID", "WHAT", "WHY"}, a.Troubles, func(t pathTrouble) plainRow {
		return plainRow{leads{t.lead}, []any{t.From, t.To, t.LID, t.Verdict, t.Why}}
	})
	t.More = int(a.wrong()-a.unlisted) - len(t.Rows)
	if a.Choices != nil {
		return []Table{a.Choices.table(a.unlisted), t}
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
	answer := reachAnswerOf(r, several)
	answer.checked, answer.Seconds = checkedOf("reach", st, p, answer.Counts.Verdict()), time.Since(start).Seconds()
	if loopsOnly {
		answer.Check, answer.checked.Verdict = "loops", answer.LoopVerdict()
	}
	names := newNamer(p.Fabric)
	for _, t := range r.Troubles {
		if !loopsOnly || t.Verdict == walk.Loop {
			answer.Troubles = append(answer.Troubles, pathTroubleOf(p, names, t))
		}
	}
	ends, unreachable := p.Fabric.Ends(c.Flag("switches"))
	answer.UnreachablePorts = append(answer.UnreachablePorts, prose.Words(unreachable, names.port)...)
	for _, e := range ends {
		if p.Fabric.Ports[e].LID == 0 {
			answer.UnassignedPorts = append(answer.UnassignedPorts, names.port(e))
		}
	}
	if err := c.out.Answer(answer); err != nil {
		return err
	}
	wrong := ""
	switch {
	case loopsOnly:
		wrong = fmt.Sprintf("%d of %d paths loop", answer.Loops, answer.Paths)
	case several != nil:
		wrong = fmt.Sprintf("%d of %d paths may not arrive: %d never, %d by luck", several.Never+several.Luck, several.Paths, several.Never, several.Luck)
	default:
		wrong = fmt.Sprintf("%d of %d paths do not arrive as they should: %s", r.Bad(), r.Paths, badText(&r.Counts))
	}
	return c.judge(answer.checked.Verdict, wrong, unknownPaths(answer.Unknown, answer.Paths))
}

// unknownPaths says of how many paths the end is unknown.
func unknownPaths(n, of int64) string {
	return fmt.Sprintf("%d of %d paths are unknown: they meet a forwarding table that was not read", n, of)
}

func pathTroubleOf(p *session.Picture, names *namer, t reach.Path) pathTrouble {
	path := walk.Between(p.Tables, t.Src, t.Dst, t.LID)
	return pathTrouble{names.port(t.Src), names.port(t.Dst), t.LID, t.Verdict.String(), path.Explain(p.Fabric), toTrace(p, t.Src, t.Dst, t.LID)}
}

// badText says how many paths of each kind are bad.
func badText(n *reach.Counts) string {
	text := ""
	for _, k := range []struct {
		n    int64
		what string
	}{
		{n.Unreachable, "unreachable"}, {n.Loops, "in loops"}, {n.Misdelivered, "misdelivered"},
		{n.TooLong, "too long"},
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
	a.tablesNotRead.text(w)
	switch {
	case a.Check == "loops":
		line("  %d loop", a.Loops)
		unknownText(line, a.Unknown)
	case a.Choices != nil:
		a.Choices.text(w)
		line("  by the linear tables alone:")
		a.Linear.text(line)
	default:
		(&linearCounts{a.Counts, a.Links}).text(line)
	}
	if a.Check != "loops" {
		a.pairsText(line)
	}
	for _, t := range a.Troubles {
		line("  %s -> %s (LID %d): %s", t.From, t.To, t.LID, t.Why)
	}
	if shown, all := int64(len(a.Troubles)), a.wrong()-a.unlisted; shown > 0 && shown < all {
		line("  %s", prose.More(all-shown))
	}
}

// unknownText says how many paths are unknown, nothing of none.
func unknownText(line func(format string, args ...any), paths int64) {
	if paths > 0 {
		line("  %d unknown: over tables that were not read", paths)
	}
}

// maxUnreachable is how many end ports the text names that are unreachable, or without a LID.
const maxUnreachable = 10

// silentText names the end ports from and to which all paths end at once.
func silentText(line func(format string, args ...any), unreachable, unassigned []string) {
	if n := len(unreachable); n > 0 {
		line("unreachable: %s: %s", prose.Count(n, "end port"), prose.List(unreachable, maxUnreachable))
	}
	if n := len(unassigned); n > 0 {
		line("without a LID: %s: %s", prose.Count(n, "end port"), prose.List(unassigned, maxUnreachable))
	}
}

// pairsText says which pairs are lost, and from and to which end ports all are.
func (a *reachAnswer) pairsText(line func(format string, args ...any)) {
	if a.LostPairs > 0 || a.LuckPairs > 0 {
		line("  %d of %s lost%s", a.LostPairs, count(int(a.Pairs), "pair"), prose.When(a.LuckPairs > 0, fmt.Sprintf(", %d arrive by luck", a.LuckPairs), ""))
	}
	silentText(func(format string, args ...any) { line("  "+format, args...) }, a.UnreachablePorts, a.UnassignedPorts)
}

// wrong counts the paths of the linear tables that [reachAnswer.Troubles] are the first of, and the unlisted ones.
func (a *reachAnswer) wrong() int64 {
	c := &a.Counts
	if a.Linear != nil {
		c = &a.Linear.Counts
	}
	if a.Check == "loops" {
		return c.Loops + a.unlisted
	}
	return c.Bad() + c.Unknown
}
