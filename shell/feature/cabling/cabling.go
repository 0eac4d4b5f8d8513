// SPDX-License-Identifier: Apache-2.0

// Package cabling checks the cables of a subnet against a plan.
package cabling

import (
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/plans"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/cablecheck"
)

const help = "PLAN is the NDT of UFM, a .topo file of ibutils, a P2P table saved as CSV, or a CSV or YAML of " +
	"node, port, node, port.\nThe format is detected. Cables are matched by names and port numbers, and by GUID " +
	"where the plan has one.\nA line that cannot be matched is listed and is not a fault. The verdict is then " +
	"unknown, unless a fault was found.\nThe repair is the cheapest one: moving one end of a cable costs 1, " +
	"adding or removing a cable costs 2.\n"

// Feature is the command check cabling.
var Feature = feature.Feature{Name: "cabling", Keys: []feature.Key{
	{Name: "work-list", Keys: "=", Help: "check the cabling again, and list the work that makes it as planned"},
}, Commands: []feature.Command{{
	Path:    "check cabling",
	Summary: "Compare the cables with a plan and list the repair",
	Help:    help,
	Args:    []lang.Arg{{Name: "PLAN", Kind: lang.KindFile}},
	Options: []lang.Option{
		{
			Name: "scope", Kind: lang.KindText, Value: "NODE,...",
			Summary: "only cables at these nodes, for a plan of a part; * and ? are wildcards",
		},
		{Name: "ibnl", Kind: lang.KindFile, Value: "DIR", Summary: "IBNL files with the port names of a .topo file"},
	},
	Examples: []string{
		"dump cabling plan.csv; check cabling plan.csv",
		"dump cabling plan.csv; check cabling plan.csv scope=leaf-01,leaf-02",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// checked is the answer.
type checked struct {
	Plan         string       `key:"plan" name:"plan" help:"the file"`
	Format       string       `key:"format" name:"format"`
	Planned      int          `key:"planned" name:"planned cables" help:"planned cables that are compared"`
	Right        int          `key:"as_planned" name:"as planned" help:"planned cables that are there"`
	FaultCount   int          `key:"fault_count" name:"faults"`
	OutsideScope int          `key:"outside_scope" help:"planned cables that are not in the scope"`
	Repeated     int          `key:"repeated" help:"lines that describe the same cable as another line"`
	Labelled     int          `key:"labelled_ports" help:"ports that get their labels from the plan"`
	SpeedUnread  int          `key:"speed_not_read" help:"cables in place whose speed or width was not read"`
	Skipped      []string     `key:"skipped" help:"lines of the plan that are not compared, by reason"`
	Names        []string     `key:"ambiguous_names" help:"names that several nodes have"`
	Moves        int          `key:"moves" name:"moves" help:"ends of cables to move"`
	Added        int          `key:"added" name:"added" help:"cables to add"`
	Removed      int          `key:"removed" name:"removed" help:"cables to remove"`
	Cost         int          `key:"cost" name:"cost" help:"1 for each move, 2 for each added or removed cable"`
	Exact        bool         `key:"cost_exact" help:"false if the cost is an upper bound"`
	AtMost       answer.Value `name:"at most" kind:"text"`
	Repair       answer.Value `name:"repair" kind:"bool"`

	res    *cabling.Result
	unread bool
}

// faultRow is a fault.
type faultRow struct {
	What     string       `key:"what" name:"FAULT"`
	Device   answer.Value `key:"device" name:"DEVICE" kind:"text" help:"missing or extra device"`
	Planned  answer.Value `key:"planned" kind:"list" help:"planned cables: a and b with their ports, line of the plan"`
	Found    answer.Value `key:"cables" kind:"list" help:"cables that are there"`
	PlanText string       `name:"PLANNED" help:"cables as planned"`
	Text     string       `name:"FOUND" help:"cables as they are"`
	Lines    string       `name:"LINE" help:"lines of the plan"`
	answer.Lead
}

// unmatchedRow is a planned cable that cannot be compared.
type unmatchedRow struct {
	Line  int    `key:"line" name:"LINE" help:"line of the plan"`
	Cable string `key:"cable" name:"CABLE" help:"as planned"`
	Why   string `key:"why" name:"REASON"`
}

// end is an end of a cable in the list of work.
type end struct {
	Port   answer.Value `key:"port" kind:"place"`
	Device answer.Value `key:"device" kind:"text" help:"as the plan names it"`
	Label  answer.Value `key:"label" kind:"text" help:"port as the switch or the plan labels it"`
	Rack   answer.Value `key:"rack" kind:"text"`
	Unit   answer.Value `key:"unit" kind:"text"`
}

// stepRow is a step of the repair.
type stepRow struct {
	Step     int    `key:"step" name:"STEP"`
	Action   string `key:"action" name:"ACTION"`
	From     *end   `prefix:"from_"`
	To       *end   `prefix:"to_"`
	Keep     *end   `prefix:"other_"`
	FromText string `name:"UNPLUG" help:"end of the cable to unplug, with label, rack and unit"`
	ToText   string `name:"PLUG IN" help:"port to plug it in, with label, rack and unit"`
	KeepText string `name:"OTHER END" help:"other end of the cable"`
	Hanging  bool   `key:"plug_in_last" help:"plug in after the other moves of a ring of cables"`
	Note     string `name:"NOTE"`
	answer.Lead
}

var (
	faultTable = answer.Table[faultRow]{
		Key: "faults", Title: "faults", Fields: answer.Fields[faultRow](),
	}
	unmatchedTable = answer.Table[unmatchedRow]{
		Key: "unmatched", Title: "not matched", Fields: answer.Fields[unmatchedRow](), MaxRows: maxUnmatched,
		Row: "  not matched: line {line|#}: {cable}: {why}", Help: "planned cables that cannot be compared",
	}
	stepTable = answer.Table[stepRow]{
		Key: "steps", Title: "work list", Fields: answer.Fields[stepRow](), Help: "the repair, in a possible order",
	}
	decl = answer.Decl[*checked]{
		Command: "check cabling", Help: "differences between the cables and a plan, and how to repair them",
		Title: "cabling of {of} by {plan} ({format}): {as_planned} of {planned|planned cable} in place, " +
			"{fault_count|fault}",
		Facts: answer.Fields[*checked](),
		Layout: []answer.Item[*checked]{
			{Line: "  {ambiguous_names}", Each: "ambiguous_names"},
			{Line: "  not compared: {skipped}", Each: "skipped"},
			{Line: "[  not compared: {outside_scope|cable} outside the scope]"},
			{Line: "[  not compared: {repeated|repeated line}]"},
			{Line: "[  speed or width not read: {speed_not_read|cable}]"},
			{Line: "[  labels from {plan}: {labelled_ports|port}]"},
			{Table: answer.Show(&unmatchedTable, (*checked).unmatchedRows)},
			{Table: answer.Show(&faultTable, (*checked).faultRows), When: (*checked).hasFaults},
			{Line: "{?repair}repair: cost [{at most} ]{cost}: {moves|move}, {added|cable} to add, " +
				"{removed|cable} to remove"},
			{Table: answer.Show(&stepTable, (*checked).stepRows), When: (*checked).hasSteps},
		},
		Verdict: (*checked).verdict, Fails: answer.Always,
	}
)

const maxUnmatched = 40

func run(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	var lib *plans.Library
	if dir := c.Option("ibnl", ""); dir != "" {
		if lib, err = plans.ReadLibrary(c.Ctx, dir); err != nil {
			return err
		}
	}
	plan, err := plans.ReadFile(c.Ctx, c.Arg(0), lib)
	if err != nil {
		return err
	}
	var o cabling.Options
	if scope := c.Option("scope", ""); scope != "" {
		o.Scope = strings.Split(scope, ",")
	}
	res, err := cabling.Compare(p.Fabric, plan, o)
	if err != nil {
		return err
	}
	labels := labelsOf(res)
	if len(labels) > 0 {
		err := c.Session.SetLabels(c.Ctx, &session.PortLabels{Plan: plan.File, Labels: labels})
		if err != nil {
			return err
		}
		now := c.Session.State()
		st, res.Fabric = &now, now.Named(res.Fabric)
	}
	b := st.Basis(p, session.NeedLinks)
	a := newChecked(res, b.Unread.Count > 0)
	a.Labelled = len(labels)
	if p.Entry == nil {
		cablecheck.Publish(c.Session, cablecheck.New(res, c.Text, time.Now(), cablecheck.Texts{
			Fault: func(f *cabling.Fault) (planned, found string) {
				row := a.faultRow(f)
				return row.PlanText, row.Text
			},
			End: func(cable, end int) string {
				return a.portText(res.Ports[cable][end], &plan.Cables[cable].Ends[end])
			},
		}))
	}
	return c.Answer(decl.Answer(b, a))
}

// labelsOf returns the labels that the plan gives to ports without a label.
func labelsOf(res *cabling.Result) map[counters.Key]string {
	labels := map[counters.Key]string{}
	for i, ports := range res.Ports {
		for end, port := range ports {
			label := res.Plan.Cables[i].Ends[end].Printed()
			if port != fabric.None && label != "" && res.Fabric.Label(port) == "" {
				labels[counters.KeyOf(res.Fabric, port)] = label
			}
		}
	}
	return labels
}

func newChecked(res *cabling.Result, unread bool) *checked {
	r := &res.Repair
	a := &checked{
		Plan: res.Plan.File, Format: res.Plan.Format, Planned: res.Compared, Right: res.Right,
		FaultCount: len(res.Faults), OutsideScope: res.OutsideScope, Repeated: res.Repeated,
		SpeedUnread: res.SpeedUnread, Names: res.Names,
		Moves: r.Moves, Added: r.Added, Removed: r.Removed, Cost: r.Cost, Exact: r.Exact, res: res, unread: unread,
	}
	for _, s := range res.Plan.Skipped {
		a.Skipped = append(a.Skipped, prose.Count(s.Lines, "line")+": "+s.Why)
	}
	if r.Cost > 0 {
		a.Repair = answer.Bool(true)
		a.AtMost = answer.Optional(prose.When(r.Exact, "", "at most"))
	}
	return a
}

func (a *checked) hasFaults() bool { return len(a.res.Faults) > 0 }
func (a *checked) hasSteps() bool  { return len(a.res.Repair.Steps) > 0 }

// verdict returns Unknown if no fault was found but not everything was compared.
func (a *checked) verdict() (answer.Verdict, string) {
	left := len(a.res.Unmatched) + a.SpeedUnread
	switch {
	case a.hasFaults():
		return answer.Found, "the cables differ from the plan: " + prose.Count(len(a.res.Faults), "fault")
	case left > 0:
		return answer.Unknown, prose.Count(left, "planned cable") + " could not be compared"
	case a.unread:
		return answer.Unknown, "parts of the subnet were not read"
	}
	return answer.OK, ""
}

func (a *checked) unmatchedRows() answer.Rows[unmatchedRow] {
	return answer.Lazy(len(a.res.Unmatched), func(i int) unmatchedRow {
		u := a.res.Unmatched[i]
		cable := &a.res.Plan.Cables[u.Cable]
		return unmatchedRow{cable.Line, cable.Ends[0].String() + " - " + cable.Ends[1].String(), u.Why}
	})
}

func (a *checked) faultRows() answer.Rows[faultRow] {
	return answer.Lazy(len(a.res.Faults), func(i int) faultRow { return a.faultRow(&a.res.Faults[i]) })
}

// maxNamed is the maximum number of cables in a row of the text.
const maxNamed = 3

func (a *checked) faultRow(fault *cabling.Fault) faultRow {
	f := a.res.Fabric
	row := faultRow{What: string(fault.Kind), Device: answer.Optional(fault.Device)}
	var lines, plannedText, foundText []string
	var plannedValues, foundValues []answer.Value
	lead := fabric.PortIndex(fabric.None)
	for _, i := range fault.Planned {
		cable, at := &a.res.Plan.Cables[i], a.res.Ports[i]
		text := a.portText(at[0], &cable.Ends[0]) + " - " + a.portText(at[1], &cable.Ends[1])
		if kind := cable.Kind.String(); fault.Kind == cabling.WrongKind {
			text += " " + kind
		}
		plannedText, lines = append(plannedText, text), append(lines, fmt.Sprint(cable.Line))
		plannedValues = append(plannedValues, answer.Map([]answer.Named{
			{Name: "line", Value: answer.Int(cable.Line)},
			{Name: "a", Value: answer.Text(cable.Ends[0].String())}, {Name: "a_port", Value: answer.Port(f, at[0])},
			{Name: "b", Value: answer.Text(cable.Ends[1].String())}, {Name: "b_port", Value: answer.Port(f, at[1])},
		}))
		lead = max(lead, at[0])
	}
	for _, l := range fault.Cables {
		text := answer.Port(f, l.A).String() + " - " + answer.Port(f, l.B).String()
		if fault.Kind == cabling.WrongKind {
			text += " " + feature.WidthSpeed(f, l.A).String()
		}
		foundText = append(foundText, text)
		foundValues = append(foundValues, answer.Map([]answer.Named{
			{Name: "a", Value: answer.Port(f, l.A)}, {Name: "b", Value: answer.Port(f, l.B)},
			{Name: "link", Value: feature.WidthSpeed(f, l.A)},
		}))
		lead = l.A
	}
	row.Planned, row.Found = answer.List(plannedValues), answer.List(foundValues)
	row.PlanText, row.Text = prose.List(plannedText, maxNamed), prose.List(foundText, maxNamed)
	row.Lines, row.Lead = prose.List(lines, maxNamed), feature.ToPort(f, lead)
	return row
}

// portText returns the name of a port, or the end as the plan names it if the subnet does not have the port.
func (a *checked) portText(port fabric.PortIndex, e *cabling.End) string {
	if port == fabric.None {
		return e.String()
	}
	return answer.Port(a.res.Fabric, port).String()
}

func (a *checked) stepRows() answer.Rows[stepRow] {
	return answer.Lazy(len(a.res.Repair.Steps), func(i int) stepRow {
		s := &a.res.Repair.Steps[i]
		row := stepRow{
			Step: i + 1, Action: string(s.Action), From: a.end(s.From), To: a.end(s.To), Keep: a.end(s.Keep),
			FromText: a.endText(s.From), ToText: a.endText(s.To), KeepText: a.endText(s.Keep), Hanging: s.Hanging,
		}
		switch {
		case s.Hanging:
			row.Note = "unplug first, plug in after the other moves of the ring"
		case s.Action == cabling.Lift:
			row.Note = "keep the cable"
		case s.Action == cabling.Reuse:
			row.Note = "use a kept cable"
		}
		for _, p := range []cabling.Place{s.Keep, s.To, s.From} {
			if p.Port != fabric.None {
				row.Lead = feature.ToPort(a.res.Fabric, p.Port)
			}
		}
		return row
	})
}

// label returns the label at a place, from the subnet or the plan.
func (a *checked) label(p cabling.Place) string {
	if p.Port != fabric.None && a.res.Fabric.Label(p.Port) != "" {
		return a.res.Fabric.Label(p.Port)
	}
	if p.End != nil {
		return p.End.Printed()
	}
	return ""
}

func (a *checked) end(p cabling.Place) *end {
	if p.IsNone() {
		return nil
	}
	e := &end{Port: answer.Port(a.res.Fabric, p.Port), Label: answer.Optional(a.label(p))}
	if p.End != nil {
		e.Device, e.Rack, e.Unit = answer.Text(p.End.Device), answer.Optional(p.End.Rack), answer.Optional(p.End.Unit)
	}
	return e
}

// endText returns a place for whoever walks to the rack, such as "leaf-01/3 (1/2/1), rack R4 unit 20".
func (a *checked) endText(p cabling.Place) string {
	if p.IsNone() {
		return ""
	}
	text := a.portText(p.Port, p.End)
	if p.End != nil && p.End.Rack != "" {
		text += ", rack " + p.End.Rack
	}
	if p.End != nil && p.End.Unit != "" {
		text += " unit " + p.End.Unit
	}
	return text
}
