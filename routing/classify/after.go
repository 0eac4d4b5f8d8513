// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// After is the structure of a fabric that [fabric.Fabric.Without] made of the one whose structure this is: everything
// keeps its tier, its place and its role; what is missing is odd. O(ports + links x neighbours).
func (s *Structure) After(f *fabric.Fabric) *Structure {
	c := *s.Classes
	c.Fabric, c.graph, c.Adapters = f, routing.NewGraph(f), nil
	c.Switches = slices.Clone(c.Switches)
	for i := range c.Switches {
		sw := &c.Switches[i]
		sw.Degree, sw.Neighbours = c.degree(fabric.SwitchIndex(i))
		sw.Hosts = 0
	}
	for _, a := range s.Adapters {
		if sw, _ := f.AttachedSwitch(a.End); sw == fabric.None {
			continue
		}
		c.Adapters = append(c.Adapters, a)
		if a.Role != Aggregation {
			c.Switches[a.Switch].Hosts++
		}
	}
	out := *s
	out.Classes, out.hosts, out.Nodes, out.Anomalies = &c, nil, Nodes{}, nil
	out.findPeers()
	out.findHosts()
	out.countRails(&out.Rails)
	if s.Grid != nil {
		grid := *s.Grid
		grid.Missing = grid.count() - out.joined(out.members())
		out.Grid = &grid
	}
	out.findOdd(c.hints)
	return &out
}
