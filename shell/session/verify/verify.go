// SPDX-License-Identifier: Apache-2.0

// Package verify compares what was read of a subnet with the output of infiniband-diags. These programs only read.
package verify

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
)

// DefaultTraces is how many paths ibtracert traces by default.
const DefaultTraces = 1000

// mostNamed is how many differences of a program are listed; all are counted.
const mostNamed = 1000

// Options controls the comparison.
type Options struct {
	Tables   *fabric.Tables        // the tables that were read, with their fabric
	Renamed  bool                  // descriptions are from a node-name map and are not compared
	Tools    Tools                 // run the programs
	Traces   int                   // how many paths
	Progress func(done, total int) // reports the progress, nil for none

	pairs []pair // the paths
}

// Check is the comparison with one program.
type Check struct {
	Program  string   `json:"program"`
	Compared []Amount `json:"compared"`
	// Differ counts the differences, Differences lists up to 1000 of them.
	Differ      int      `json:"differ"`
	Differences []string `json:"differences"`
	// NotCompared is why nothing was compared, "" if something was. Notes lists what else was not compared.
	NotCompared string   `json:"not_compared,omitempty"`
	Notes       []string `json:"notes,omitempty"`
	// Verdict is unknown if nothing differs and something could not be read, here or by the program.
	Verdict verdict.Verdict `json:"verdict"`

	unread bool
}

// Amount is a number of things.
type Amount struct {
	Count int    `json:"count"`
	What  string `json:"what"`
}

func (a Amount) String() string { return prose.Count(a.Count, a.What) }

func (c *Check) differs(format string, args ...any) {
	if c.Differ++; len(c.Differences) < mostNamed {
		c.Differences = append(c.Differences, fmt.Sprintf(format, args...))
	}
}

func (c *Check) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// notRead notes what could not be read.
func (c *Check) notRead(format string, args ...any) {
	c.unread = true
	c.note(format, args...)
}

// Run runs each program and compares its output. It fails only if ctx ends; the failure of a program is in its check.
func Run(ctx context.Context, opt Options) ([]Check, error) {
	if opt.Progress == nil {
		opt.Progress = func(int, int) {}
	}
	opt.pairs = drawn(opt.Tables.Fabric, opt.Traces)
	total := len(opt.pairs) + 2
	var out []Check
	for i, ask := range []func(context.Context, *Options, *Check) error{topology, routes, traces} {
		opt.Progress(i, total)
		var c Check
		if err := ask(ctx, &opt, &c); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			c.NotCompared = fabric.Escape(err.Error())
		}
		c.Verdict = verdict.Of(c.Differ > 0, c.unread || c.NotCompared != "")
		out = append(out, c)
	}
	opt.Progress(total, total)
	return out, nil
}

// Bounds of the programs, which wait forever without a response.
var (
	topologyBounds = bounds{10 * time.Minute, int(files.Topology.Most)}
	traceBounds    = bounds{time.Minute, 4 << 20}
)

// routesBounds returns the bounds of a program that prints all tables, up to 200 bytes per entry.
func routesBounds(f *fabric.Fabric) bounds {
	return bounds{time.Hour, 200 * (len(f.Switches) + 1) * (int(f.MaxLID) + lftBlock)}
}
