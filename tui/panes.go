// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/answer"
	"example.org/ibconsole/tui/pane/groups"
	"example.org/ibconsole/tui/pane/history"
	"example.org/ibconsole/tui/pane/lft"
	"example.org/ibconsole/tui/pane/load"
	"example.org/ibconsole/tui/pane/log"
	"example.org/ibconsole/tui/pane/portcounters"
	"example.org/ibconsole/tui/pane/problems"
	"example.org/ibconsole/tui/pane/resilience"
	"example.org/ibconsole/tui/pane/subnetmap"
	"example.org/ibconsole/tui/pane/subnets"
	"example.org/ibconsole/tui/pane/topology"
	"example.org/ibconsole/tui/pane/trace"
	"example.org/ibconsole/tui/pane/whatif"
)

// maker constructs a pane on a backend, which may be nil.
type maker struct {
	name string
	make func(c *pane.Common, back backend) pane.Pane
}

func makerOf[S any](of pane.Maker[S]) maker {
	return maker{of.Name, func(c *pane.Common, back backend) pane.Pane {
		src, _ := any(back).(S)
		return of.New(c, src)
	}}
}

// makers are the panes, in the order of the line of names. A new pane is a line here.
var makers = []maker{
	makerOf(problems.Pane),
	makerOf(topology.Pane),
	makerOf(lft.Pane),
	makerOf(trace.Pane),
	makerOf(whatif.Pane),
	makerOf(load.Pane),
	makerOf(history.Pane),
	makerOf(log.Pane),
	makerOf(resilience.Pane),
	makerOf(groups.Pane),
	makerOf(answer.Pane),
	makerOf(subnetmap.Pane),
	makerOf(portcounters.Pane),
	makerOf(subnets.Pane),
}

// newPanes constructs the panes. That of all subnets is left out for a single subnet.
func newPanes(c *pane.Common, back backend) []pane.Pane {
	var all []pane.Pane
	for _, x := range makers {
		if x.name != subnets.Pane.Name || back == nil || several(back) {
			all = append(all, x.make(c, back))
		}
	}
	return all
}

// several reports whether there is more than one subnet.
func several(back backend) bool {
	all, _ := back.Glances()
	return len(all) > 1
}

// sources is what the panes need from the session.
type sources interface {
	problems.Source
	trace.Source
	history.Source
	resilience.Source
	subnets.Source
	portcounters.Source
}
