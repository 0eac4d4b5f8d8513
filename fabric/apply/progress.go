// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"time"

	"example.org/ibconsole/fabric"
)

// Progress says what is being written.
type Progress struct {
	// Phases are what is written one after the other: "LIDs", "ports", those of [Report.Stopped], and "read back" at
	// last.
	Phases []string
	Phase  int // the one that is under way, an index into Phases; their number once all is done
	// Done of Total are the writes, or readings, of that phase which have ended, and Node the escaped name of the node
	// at which the last one did, "" for none.
	Done, Total int
	Node        string
	Written     Counts // so far
	ReadBack    Counts
	All         int // how many writes there are
}

// What is the phase that is under way, "" at the end.
func (p *Progress) What() string {
	if p.Phase < len(p.Phases) {
		return p.Phases[p.Phase]
	}
	return ""
}

// readBackPhase is the last one.
const readBackPhase = "read back"

// The phases before those that follow them.
const (
	lidsPhase  = "LIDs"
	portsPhase = "ports"
)

// tellEvery is how often it is said at most what is being written.
const tellEvery = 50 * time.Millisecond

// planPhases finds the phases in which there is something to do.
func (a *applier) planPhases() {
	a.now.All = a.w.Len()
	add := func(what string, n int) {
		if n > 0 {
			a.now.Phases = append(a.now.Phases, what)
		}
	}
	add(lidsPhase, len(a.lids))
	add(portsPhase, len(a.states))
	for _, p := range a.phases() {
		add(p.what, len(p.tasks))
	}
	add(readBackPhase, a.w.Len())
	a.now.Phase = -1
}

// enter begins a phase of so many tasks, unless there are none.
func (a *applier) enter(n int) {
	if n == 0 {
		return
	}
	a.now.Phase++
	a.now.Done, a.now.Total, a.at = 0, n, fabric.None
	a.tell(true)
}

// enterReadBack begins the last phase, also where others did not come to an end.
func (a *applier) enterReadBack() {
	if a.fatal != nil {
		return
	}
	a.now.Phase = len(a.now.Phases) - 2
	a.enter(a.w.Len())
}

// tell says what is being written, if that is due.
func (a *applier) tell(due bool) {
	if a.opts.Writing == nil || !due && time.Since(a.told) < tellEvery {
		return
	}
	a.told = time.Now()
	p := a.now
	if a.at != fabric.None {
		p.Node = a.f.NodeName(a.at)
	}
	p.Written, p.ReadBack = a.report.Written, a.report.ReadBack
	a.opts.Writing(p)
}
