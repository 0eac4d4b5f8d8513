// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/groups"
	"example.org/ibconsole/tui/pane/history"
	"example.org/ibconsole/tui/pane/lft"
	"example.org/ibconsole/tui/pane/load"
	"example.org/ibconsole/tui/pane/log"
	"example.org/ibconsole/tui/pane/problems"
	"example.org/ibconsole/tui/pane/resilience"
	"example.org/ibconsole/tui/pane/topology"
	"example.org/ibconsole/tui/pane/trace"
	"example.org/ibconsole/tui/pane/whatif"
)

// newPanes makes the panes, in the order of their keys. A new one is a line here.
func newPanes(c *pane.Common, t *draw.Theme, back backend) []pane.Pane {
	return []pane.Pane{
		problems.New(c, t, back),
		topology.New(c, t),
		lft.New(c, t),
		trace.New(c, t, back),
		whatif.New(c, t),
		load.New(c, t),
		history.New(c, t, back),
		log.New(c, t),
		resilience.New(c, t, back),
		groups.New(c, t),
	}
}
