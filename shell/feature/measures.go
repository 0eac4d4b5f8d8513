// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/answer"
)

// Measures are published measures of tables, as facts; nil where they were not made.
type Measures struct {
	Shifts     *shifts     `prefix:"shifts_"`
	Bisections *bisections `prefix:"bisections_"`
}

type shifts struct {
	Hosts   int     `key:"hosts"`
	Count   int     `key:"count" name:"count" help:"shifts that were tried"`
	Worst   int64   `key:"worst" name:"worst" help:"the shift figure: the most paths over a link in any shift"`
	WorstBy int     `key:"worst_by" name:"worst by"`
	Mean    float64 `key:"mean" name:"mean" help:"mean over the shifts of the most paths over a link"`
	Free    int     `key:"contention_free" name:"without contention"`
	Lost    int64   `key:"lost" name:"lost paths"`
	Unknown int64   `key:"unknown" name:"unknown paths"`
}

type bisections struct {
	Hosts   int          `key:"hosts"`
	Count   int          `key:"count" name:"count" help:"random bisections that were tried"`
	Seed    uint64       `key:"seed" name:"seed"`
	Mean    answer.Value `key:"mean" name:"mean" kind:"float" help:"effective bisection bandwidth as a part of the full one"`
	Min     answer.Value `key:"min" name:"min" kind:"float"`
	Max     answer.Value `key:"max" name:"max" kind:"float"`
	StdDev  answer.Value `key:"std_dev" name:"std dev" kind:"float"`
	Worst   int64        `key:"worst" name:"worst" help:"the most paths over a link in any of them"`
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

// MeasureLines returns the lines of the layout of an answer that has the facts of [Measures].
func MeasureLines[T any]() []answer.Item[T] {
	return []answer.Item[T]{
		{Line: "{?shifts_worst}  shift figure {shifts_worst} (the most paths over a link), by {shifts_worst_by}; " +
			"mean {shifts_mean}; " +
			"{shifts_contention_free} of {shifts_count|shift} without contention[; lost: {shifts_lost|path}][; " +
			"unknown: {shifts_unknown|path}]"},
		{Line: "{?bisections_worst}  effective bisection bandwidth {bisections_mean} of full ({bisections_min} to " +
			"{bisections_max}, std dev {bisections_std_dev}) " +
			"over {bisections_count|random bisection}, seed {bisections_seed}; at worst {bisections_worst|path} over " +
			"a link[; lost: {bisections_lost|path}][; unknown: {bisections_unknown|path}]"},
	}
}

// Unknown returns the number of paths of the patterns that meet a table that was not read.
func (m *Measures) Unknown() (n int64) {
	if m.Shifts != nil {
		n += m.Shifts.Unknown
	}
	if m.Bisections != nil {
		n += m.Bisections.Unknown
	}
	return n
}
