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

// newPanes makes the panes, in the order of their keys. A new one is a line here.
func newPanes(c *pane.Common, back backend) []pane.Pane {
	all := []pane.Pane{
		problems.New(c, back),
		topology.New(c),
		lft.New(c),
		trace.New(c, back),
		whatif.New(c, back),
		load.New(c, back),
		history.New(c, back),
		log.New(c),
		resilience.New(c, back),
		groups.New(c),
		answer.New(c),
		subnetmap.New(c),
		portcounters.New(c, back),
	}
	if back == nil || several(back) {
		all = append(all, subnets.New(c, back))
	}
	return all
}

// several reports whether there are more subnets than one.
func several(back backend) bool {
	all, _ := back.Glances()
	return len(all) > 1
}

// sources is what the panes ask of the session.
type sources interface {
	problems.Source
	trace.Source
	whatif.Source
	load.Source
	history.Source
	resilience.Source
	subnets.Source
	portcounters.Source
}
