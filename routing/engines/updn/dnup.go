// SPDX-License-Identifier: Apache-2.0

package updn

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// DnUp is down/up routing. Switches are ranked by their distance from the hosts. A packet that has come nearer to the
// hosts does not move away from them again, except for steps between switches of the same rank.
type DnUp struct{}

// Name implements [routing.Engine].
func (DnUp) Name() string { return "dnup" }

// Route implements [routing.Engine]. It refuses a fabric without hosts, and warns of switches without a route. It takes
// O(switches x links + switches x LIDs). The ranks, the graph and the order of destinations are computed sequentially.
func (e DnUp) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	leaves := withHosts(f)
	if len(leaves) == 0 {
		return nil, routing.Refuse(e.Name(), "no switch has hosts, so none is a leaf")
	}
	g := routing.NewGraph(f)
	ranks := rank(g, leaves)
	turnOf := func(from, to fabric.SwitchIndex) turn { return downUp(ranks[from], ranks[to]) }
	res := &routing.Result{Ranks: ranks}
	report := newReporter(opt.Progress, len(f.Switches), 3)
	if unrestricted(g, turnOf) {
		report.skip()
		report.skip()
		return finish(ctx, f, g.Distances(f), &opt, report, res, e.Name())
	}
	m := newMatrix(f, g, turnOf)
	longest, err := m.search(ctx, report.phase())
	if err != nil {
		return nil, err
	}
	if !opt.ConnectRoots {
		report.skip()
	} else {
		m.penalty = longest + 1
		if _, err = m.search(ctx, report.phase()); err != nil {
			return nil, err
		}
	}
	defer m.forget()
	return finish(ctx, f, m, &opt, report, res, e.Name())
}

// withHosts returns the switches to which an adapter or a router is attached.
func withHosts(f *fabric.Fabric) []fabric.SwitchIndex {
	hosts, _ := hostsOf(f)
	var switches []fabric.SwitchIndex
	for s, n := range hosts {
		if n > 0 {
			switches = append(switches, fabric.SwitchIndex(s))
		}
	}
	return switches
}

// downUp returns the turn of a step between switches of two ranks. A step between equal ranks is free, and steps after
// it are no longer restricted, because OpenSM considers only the previous step.
func downUp(from, to int32) turn {
	switch {
	case from < to:
		return barred
	case from > to:
		return narrows
	}
	return free
}
