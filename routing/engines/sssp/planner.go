// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/parallel"
)

const (
	// plansAhead is the number of plans that are computed in advance.
	plansAhead = 16
	// mostKept is the maximum number of bytes for which plans are kept. Most switches need a plan twice: for the
	// adapters on them, and for themselves.
	mostKept = 64 << 20
)

// planner computes the plan for one switch at a time. It works concurrently with the search for paths to the previous
// switch.
type planner struct {
	ready chan *plan
	free  chan *plan // for reuse, if plans are not kept
	now   *plan
	quit  chan struct{}
	work  sync.WaitGroup
	crash parallel.Crash
}

// planFor starts a planner for the switches. The caller must stop it.
func (g *graph) planFor(switches []fabric.SwitchIndex) *planner {
	p := &planner{ready: make(chan *plan, plansAhead), free: make(chan *plan, plansAhead+2), quit: make(chan struct{})}
	p.work.Go(func() {
		defer close(p.ready)
		p.crash.Recover(func() { p.plan(g, switches) })
	})
	return p
}

func (p *planner) plan(g *graph, switches []fabric.SwitchIndex) {
	l := newLevels(g)
	var kept map[fabric.SwitchIndex]*plan
	if g.keepsPlans() {
		kept = make(map[fabric.SwitchIndex]*plan, len(g.members))
	}
	for _, sw := range switches {
		made := kept[sw]
		if made == nil {
			made = p.unused()
			l.planTo(sw, made)
			if kept != nil {
				made.kept, kept[sw] = true, made
			}
		}
		select {
		case p.ready <- made:
		case <-p.quit:
			return
		}
	}
}

// keepsPlans reports whether the plans for all switches together take at most mostKept bytes.
func (g *graph) keepsPlans() bool {
	const ofArc, ofSwitch = 4, 20 // half of the arcs are steps, of 8 bytes
	return len(g.members)*(len(g.to)*ofArc+len(g.hosts)*ofSwitch) <= mostKept
}

// unused returns a plan that can be overwritten, or a new plan.
func (p *planner) unused() *plan {
	select {
	case used := <-p.free:
		return used
	default:
		return &plan{}
	}
}

// next returns the next plan. The plan is valid until the next call.
func (p *planner) next() *plan {
	if p.now != nil && !p.now.kept {
		p.free <- p.now
	}
	p.now = <-p.ready
	if p.now == nil { // the planner ended early
		p.crash.Repanic()
	}
	return p.now
}

func (p *planner) stop() {
	close(p.quit)
	p.work.Wait()
}
