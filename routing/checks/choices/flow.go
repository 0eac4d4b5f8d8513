// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"example.org/ibconsole/fabric"
)

// Flow explores the paths of packets of an SL to a LID, place by place. It is scratch memory for one goroutine.
type Flow struct {
	g  *graph
	of []entries // of one LID
}

// NewFlow returns new scratch memory.
func (n *Net) NewFlow() *Flow {
	return &Flow{newGraph(n), []entries{newEntries(len(n.Tables.Fabric.Switches))}}
}

// Begin starts with packets of an SL to a LID that an end port owns.
func (f *Flow) Begin(lid uint16, end fabric.PortIndex, sl uint8) {
	f.g.net.read(f.of, []uint16{lid})
	f.g.begin(&f.of[0], end, sl&15)
}

// Exits returns the ports by which packets leave a place. The result is valid until the next Begin.
func (f *Flow) Exits(at Place) []Exit {
	if f.g.visits[at] == unvisited {
		f.g.look(at)
		f.g.visits[at] = visited
		f.g.order = append(f.g.order, at)
	}
	return f.g.out[at]
}

// Next returns the place behind an exit that leads to a switch.
func (f *Flow) Next(e Exit) Place { return f.g.net.place(e, f.g.sl) }

// Same reports whether packets to another LID leave all visited places by the same exits between switches.
func (f *Flow) Same(lid uint16, end fabric.PortIndex) bool {
	f.g.net.read(f.of, []uint16{lid})
	return f.g.again(&f.of[0], end)
}

// Ends reports whether an exit leads to the end port of the LID.
func (f *Flow) Ends(e Exit) bool { return e.To == f.g.dst }

// Why returns the state by which packets choose at a visited place.
func (f *Flow) Why(at Place) fabric.AdaptiveState { return f.g.why[at] }

// OutcomesFrom returns the outcomes of packets from a place and from all places that they can reach.
func (f *Flow) OutcomesFrom(at Place) func(Place) *Outcome {
	f.g.from(at)
	f.g.solve()
	return func(at Place) *Outcome { return &f.g.outcomes[at] }
}

// OutcomeOf returns the outcome of packets that leave by an exit which leads to no switch.
func (f *Flow) OutcomeOf(e Exit) Outcome { return end(e.To, f.g.dst) }
