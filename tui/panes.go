// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/answer"
	"example.org/ibconsole/tui/pane/engines"
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

// maker constructs a pane for a backend. The backend may be nil.
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

// makers construct the panes, in the order of the line of names. To add a pane, add a line.
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
	makerOf(engines.Pane),
	makerOf(subnets.Pane),
}

// newPanes constructs the panes. The pane that lists all subnets is left out if there is only one subnet.
func newPanes(c *pane.Common, back backend) []pane.Pane {
	var all []pane.Pane
	for _, x := range makers {
		if x.name != subnets.Pane.Name || back == nil || several(back) {
			all = append(all, x.make(c, back))
		}
	}
	return all
}

// several reports whether more than one subnet is open.
func several(back backend) bool {
	all, _ := back.Glances()
	return len(all) > 1
}

// sources is the interface through which the panes access the session.
type sources interface {
	problems.Source
	trace.Source
	history.Source
	resilience.Source
	engines.Source
	subnets.Source
	portcounters.Source
	subnetmap.Source
}
