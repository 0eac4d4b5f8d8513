// SPDX-License-Identifier: Apache-2.0

// Package verify compares the data read from a subnet with the output of infiniband-diags. The programs of
// infiniband-diags that it runs only read.
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

// DefaultTraces is the default number of paths that ibtracert traces.
const DefaultTraces = 1000

// mostNamed is the maximum number of differences from one program that are listed. All differences are counted.
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
	// Differ is the number of differences. Differences lists up to 1000 of them.
	Differ      int      `json:"differ"`
	Differences []string `json:"differences"`
	// NotCompared is the reason why nothing was compared, or "" if the comparison took place. Notes lists further data
	// that was not compared.
	NotCompared string   `json:"not_compared,omitempty"`
	Notes       []string `json:"notes,omitempty"`
	// Verdict is Unknown if nothing differs but some data could not be read, either by ibconsole or by the program.
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

// Run runs each program and compares its output. It returns an error only if ctx ends. The failure of a program is
// reported in its Check.
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

// Limits of the programs. Without a limit, they would wait forever for a response.
var (
	topologyBounds = bounds{10 * time.Minute, int(files.Topology.Most)}
	traceBounds    = bounds{time.Minute, 4 << 20}
)

// routesBounds returns the limits of a program that prints all tables, with up to 200 bytes per entry.
func routesBounds(f *fabric.Fabric) bounds {
	return bounds{time.Hour, 200 * (len(f.Switches) + 1) * (int(f.MaxLID) + lftBlock)}
}
