// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
)

// comparedLoads are the paths that engines lay over each link of one subnet.
type comparedLoads struct {
	names []string
	loads []*linkload.Loads
}

// add takes the loads of one. Those on the switches are left out where the others are of what is on paper.
func (c *comparedLoads) add(e *session.EngineFigures) {
	if e.Loads == nil {
		return
	}
	if len(c.loads) > 0 && !fabric.Same(c.loads[0].Fabric, e.Loads.Fabric) {
		c.names, c.loads = nil, nil
	}
	c.names, c.loads = append(c.names, e.Name), append(c.loads, e.Loads)
}

// Text says nothing: the table of figures has the worst load of each.
func (c comparedLoads) Text(io.Writer) {}

// Tables has the links between switches, first those about which engines differ most, and then the most loaded.
func (c comparedLoads) Tables() []Table {
	if len(c.loads) < 2 {
		return nil
	}
	f := c.loads[0].Fabric
	type link struct {
		port         fabric.PortIndex
		least, worst int64
	}
	var links []link
	for i := range f.Ports {
		port := fabric.PortIndex(i)
		if linkload.ClassOf(f, port) != linkload.BetweenSwitches {
			continue
		}
		l := link{port, c.loads[0].Paths[i], c.loads[0].Paths[i]}
		for _, x := range c.loads[1:] {
			l.least, l.worst = min(l.least, x.Paths[i]), max(l.worst, x.Paths[i])
		}
		links = append(links, l)
	}
	slices.SortStableFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(b.worst-b.least, a.worst-a.least), cmp.Compare(b.worst, a.worst))
	})
	first := links[:min(len(links), mostNamed)]
	columns := []string{"FROM", "TO"}
	for _, name := range c.names {
		columns = append(columns, name+" paths")
	}
	t := tableOf("paths over links", columns, first, func(l link) plainRow {
		cells := []any{f.PortName(l.port), f.PortName(f.Ports[l.port].Peer)}
		for _, x := range c.loads {
			cells = append(cells, x.Paths[l.port])
		}
		return plainRow{leads{toPort(f, l.port)}, cells}
	})
	t.More = len(links) - len(first)
	return []Table{t}
}
