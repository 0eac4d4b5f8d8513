// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"sync"

	"example.org/ibconsole/fabric"
)

// plansAhead is how many plans are made before they are asked for.
const plansAhead = 16

// planner plans for one switch after the other, beside the search for paths to the one before.
type planner struct {
	ready, free chan *plan
	now         *plan
	quit        chan struct{}
	work        sync.WaitGroup
}

// planFor begins to plan for some switches. It must be stopped.
func (g *graph) planFor(switches []fabric.SwitchIndex) *planner {
	p := &planner{ready: make(chan *plan, plansAhead), free: make(chan *plan, plansAhead+1), quit: make(chan struct{})}
	for range plansAhead {
		p.free <- &plan{}
	}
	p.now = &plan{}
	p.work.Go(func() {
		l := newLevels(g)
		for _, sw := range switches {
			select {
			case made := <-p.free:
				l.planTo(sw, made)
				p.ready <- made
			case <-p.quit:
				return
			}
		}
	})
	return p
}

// next is the next plan, which stands until it is asked for another.
func (p *planner) next() *plan {
	p.free <- p.now
	p.now = <-p.ready
	return p.now
}

func (p *planner) stop() {
	close(p.quit)
	p.work.Wait()
}
