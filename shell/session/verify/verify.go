// SPDX-License-Identifier: Apache-2.0

// Package verify holds what was read of a subnet against what the programs of infiniband-diags say of it. They
// only read, too.
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

// DefaultTraces is how many paths ibtracert is asked for where nobody says.
const DefaultTraces = 1000

// mostNamed is how many differences of a program are kept with their names; all are counted.
const mostNamed = 1000

// Options say what is compared, and with which programs.
type Options struct {
	Tables   *fabric.Tables        // what was read, with its fabric
	Renamed  bool                  // says that a node-name map gave names, so that descriptions are not compared
	Tools    Tools                 // run the programs
	Traces   int                   // how many paths
	Progress func(done, total int) // is told how far it is; nil for nobody

	pairs []pair // the paths
}

// Check is what one program was asked, and what came of it.
type Check struct {
	Program  string   `json:"program"`
	Compared []Amount `json:"compared"`
	// Differ counts the differences, and Differences names them, up to a thousand.
	Differ      int      `json:"differ"`
	Differences []string `json:"differences"`
	// NotCompared says why nothing was compared, and Notes what was not compared of the rest.
	NotCompared string   `json:"not_compared,omitempty"`
	Notes       []string `json:"notes,omitempty"`
	// Verdict is unknown where nothing differs and something could not be read, here or by the program.
	Verdict verdict.Verdict `json:"verdict"`

	unread bool
}

// Amount is so many of something.
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

// Run asks each program and compares. It fails only where ctx ends: what a program cannot do is said in its
// check.
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

// Bounds of the programs, which wait for ever where nothing answers.
var (
	topologyBounds = bounds{10 * time.Minute, int(files.Topology.Most)}
	traceBounds    = bounds{time.Minute, 4 << 20}
)

// routesBounds are those of a program that prints all tables, with up to 200 bytes an entry.
func routesBounds(f *fabric.Fabric) bounds {
	return bounds{time.Hour, 200 * (len(f.Switches) + 1) * (int(f.MaxLID) + lftBlock)}
}
