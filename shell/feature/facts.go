// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"

	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// OneLine declares the answer of an action. The facts are the fields of R. The text is only the title.
func OneLine[R any](command, help, title string) *answer.Decl[R] {
	return &answer.Decl[R]{
		Command: command, Help: help, Title: title, Facts: answer.Fields[R](), Layout: []answer.Item[R]{}, Action: true,
	}
}

// Refusals is the table of the engines that refused to route the subnet.
var Refusals = answer.Table[engines.Refusal]{
	Key: "refused", Title: "engines that refused", Row: "  refused by: {engine}: {why}", MaxRows: 20,
	Fields: []answer.Field[engines.Refusal]{
		answer.TextField("engine", "ENGINE", "", func(r engines.Refusal) string { return r.Engine }),
		answer.TextField("why", "REASON", "", func(r engines.Refusal) string { return r.Reason }),
	},
}

// VendorID returns the vendor ID of a node, or a value that was not read for 0: files may lack it.
func VendorID(id uint32) answer.Value {
	if id == 0 {
		return answer.NotRead()
	}
	return answer.Text(fmt.Sprintf("0x%06x", id))
}

// Proof states whether the subnet manager is proved to compute the same tables as ibconsole with these settings. Its
// facts do not apply if no other program computes tables for the subnet.
type Proof struct {
	Manager answer.Value `key:"as_subnet_manager" kind:"map" help:"whether it would compute the same tables"`
	Text    answer.Value `name:"proof" kind:"text"`
	proved  bool
	why     string
}

// ProofOf returns the [Proof] for the settings of a state.
func ProofOf(st *session.State) Proof {
	p := st.Proof()
	if !p.Asked {
		return Proof{}
	}
	facts := []answer.Named{{Name: "proved", Value: answer.Bool(p.Proved)}, {Name: "why", Value: answer.Text(p.Why)}}
	if p.When != nil {
		facts = append(facts, answer.Named{Name: "when", Value: answer.Time(*p.When)},
			answer.Named{Name: "entries", Value: answer.Int(p.Entries)})
	}
	if p.Manager != "" {
		facts = append(facts, answer.Named{Name: "manager", Value: answer.Text(string(p.Manager))})
	}
	if p.Signs != "" {
		facts = append(facts, answer.Named{Name: "signs", Value: answer.Text(p.Signs)})
	}
	return Proof{answer.Map(facts), answer.Text(p.String()), p.Proved, p.Why}
}

// Why returns the reason why the tables are proved or unproved.
func (p *Proof) Why() string { return p.why }

// IsUnproved reports whether the subnet manager might compute other tables.
func (p *Proof) IsUnproved() bool { return !p.Text.IsNone() && !p.proved }

// Measures holds published measures of tables as facts. A measure is nil if it was not computed.
type Measures struct {
	Shifts     *shifts     `prefix:"shifts_"`
	Bisections *bisections `prefix:"bisections_"`
}

type shifts struct {
	Hosts   int     `key:"hosts"`
	Count   int     `key:"count" name:"count" help:"shifts that were computed"`
	Worst   int64   `key:"worst" name:"worst" help:"shift figure: maximum of paths over a link in any shift"`
	WorstBy int     `key:"worst_by" name:"worst by"`
	Mean    float64 `key:"mean" name:"mean" help:"mean of the maxima of all shifts"`
	Free    int     `key:"contention_free" name:"without contention"`
	Lost    int64   `key:"lost" name:"lost paths"`
	Unknown int64   `key:"unknown" name:"unknown paths"`
}

type bisections struct {
	Hosts   int          `key:"hosts"`
	Count   int          `key:"count" name:"count" help:"random bisections that were computed"`
	Seed    uint64       `key:"seed" name:"seed"`
	Mean    answer.Value `key:"mean" name:"mean" kind:"float" help:"effective bisection bandwidth, 1 is full"`
	Min     answer.Value `key:"min" name:"min" kind:"float"`
	Max     answer.Value `key:"max" name:"max" kind:"float"`
	StdDev  answer.Value `key:"std_dev" name:"std dev" kind:"float"`
	Worst   int64        `key:"worst" name:"worst" help:"maximum of paths over a link in any bisection"`
	Lost    int64        `key:"lost" name:"lost paths"`
	Unknown int64        `key:"unknown" name:"unknown paths"`
}

// MeasuresOf returns the facts of measures.
func MeasuresOf(q linkload.Quick) (m Measures) {
	if s := q.Shifts; s != nil {
		m.Shifts = &shifts{s.Hosts, s.Shifts, s.Worst, s.WorstBy, s.Mean, s.Free, s.Lost, s.Unknown}
	}
	if b := q.Bisections; b != nil {
		m.Bisections = &bisections{
			b.Hosts, b.Bisections, b.Seed, answer.Float(b.Mean, 3), answer.Float(b.Min, 3), answer.Float(b.Max, 3),
			answer.Float(b.StdDev, 4),
			b.Worst, b.Lost, b.Unknown,
		}
	}
	return m
}

// MeasureLines returns the lines for [Measures].
func MeasureLines[T any]() []answer.Item[T] {
	return []answer.Item[T]{
		{Line: "{?shifts_worst}  shift figure {shifts_worst} (the most paths over a link), by {shifts_worst_by|#}; " +
			"mean {shifts_mean}; {shifts_contention_free} of {shifts_count|shift} without contention[; lost: " +
			"{shifts_lost|path}][; unknown: {shifts_unknown|path}]"},
		{Line: "{?bisections_worst}  effective bisection bandwidth {bisections_mean} of full ({bisections_min} to " +
			"{bisections_max}, std dev {bisections_std_dev}) over {bisections_count|random bisection}, " +
			"seed {bisections_seed|#}; at worst {bisections_worst|path} over a link[; lost: " +
			"{bisections_lost|path}][; unknown: {bisections_unknown|path}]"},
	}
}

// Unknown returns the number of paths that use a table that was not read.
func (m *Measures) Unknown() (n int64) {
	if m.Shifts != nil {
		n += m.Shifts.Unknown
	}
	if m.Bisections != nil {
		n += m.Bisections.Unknown
	}
	return n
}

// Level returns a measured value of hardware.
func Level(l health.Level, digits int) answer.Value {
	if !l.Known {
		return answer.NotRead()
	}
	return answer.Float(l.Value, digits)
}
