// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/parallel"
)

const (
	// plansAhead is how many plans are made before they are asked for.
	plansAhead = 16
	// mostKept is up to how many bytes plans are kept, since most switches are planned for twice: for the adapters on
	// them, and for themselves.
	mostKept = 64 << 20
)

// planner plans for one switch after the other, beside the search for paths to the one before.
type planner struct {
	ready chan *plan
	free  chan *plan // to plan with again, where they are not kept
	now   *plan
	quit  chan struct{}
	work  sync.WaitGroup
	crash parallel.Crash
}

// planFor begins to plan for some switches. It must be stopped.
func (g *graph) planFor(switches []fabric.SwitchIndex) *planner {
	p := &planner{ready: make(chan *plan, plansAhead), free: make(chan *plan, plansAhead+2), quit: make(chan struct{})}
	p.work.Go(func() {
		defer close(p.ready)
		p.crash.Keep(func() { p.plan(g, switches) })
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
			made = p.room()
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

// keepsPlans reports whether the plans for all switches are few bytes.
func (g *graph) keepsPlans() bool {
	const ofArc, ofSwitch = 4, 20 // half of the arcs are steps, of 8 bytes
	return len(g.members)*(len(g.to)*ofArc+len(g.hosts)*ofSwitch) <= mostKept
}

// room is a plan that nobody needs any more, or a new one.
func (p *planner) room() *plan {
	select {
	case used := <-p.free:
		return used
	default:
		return &plan{}
	}
}

// next is the next plan, which stands until it is asked for another.
func (p *planner) next() *plan {
	if p.now != nil && !p.now.kept {
		p.free <- p.now
	}
	p.now = <-p.ready
	if p.now == nil { // it has ended early
		p.crash.Again()
	}
	return p.now
}

func (p *planner) stop() {
	close(p.quit)
	p.work.Wait()
}
