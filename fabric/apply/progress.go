// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"time"

	"example.org/ibconsole/fabric"
)

// Progress is what is being written.
type Progress struct {
	// Phases lists the names of the phases in order: "LIDs", "ports", the phases listed at [Report].Stopped, and
	// finally "read back".
	Phases []string
	Phase  int // index of the current phase in Phases; len(Phases) at the end
	// Done and Total are the number of finished writes and of all writes of the phase. In the last phase they count
	// reads. Node is the escaped name of the last node that was written or read, "" if there is none yet.
	Done, Total int
	Node        string
	Written     Counts // so far
	ReadBack    Counts
	All         int // number of all writes
}

// CurrentPhase returns the name of the current phase, "" at the end.
func (p *Progress) CurrentPhase() string {
	if p.Phase < len(p.Phases) {
		return p.Phases[p.Phase]
	}
	return ""
}

// readBackPhase is the last phase.
const readBackPhase = "read back"

// The first phases.
const (
	lidsPhase  = "LIDs"
	portsPhase = "ports"
)

// progressEvery is the minimum time between two calls of Options.Writing.
const progressEvery = 50 * time.Millisecond

// planPhases lists the phases with tasks.
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

// enter begins the next phase, which has n tasks. If n is 0, it does nothing.
func (a *applier) enter(n int) {
	if n == 0 {
		return
	}
	a.now.Phase++
	a.now.Done, a.now.Total, a.at = 0, n, fabric.None
	a.reportProgress(true)
}

// enterReadBack begins the phase that reads back. It is called even if an earlier phase stopped.
func (a *applier) enterReadBack() {
	if a.fatal != nil {
		return
	}
	a.now.Phase = len(a.now.Phases) - 2
	a.enter(a.w.Len())
}

// reportProgress calls Options.Writing with the current progress. Unless the argument due is set, it calls at most once
// per progressEvery.
func (a *applier) reportProgress(due bool) {
	if a.opts.Writing == nil || !due && time.Since(a.reportedAt) < progressEvery {
		return
	}
	a.reportedAt = time.Now()
	p := a.now
	if a.at != fabric.None {
		p.Node = a.f.NodeName(a.at)
	}
	p.Written, p.ReadBack = a.report.Written, a.report.ReadBack
	a.opts.Writing(p)
}
