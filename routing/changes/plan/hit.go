// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/walk"
)

// Hit counts the pairs that a plan interrupts. Pairs are ordered pairs of end ports of CAs. An interrupted pair is
// connected in the live and in the staged state, by the base LID of the destination, and still loses packets during or
// after the commit.
type Hit struct {
	// Moved counts pairs whose destination loses a LID.
	Moved int64
	// Down counts other pairs whose new path uses a link that the live subnet lacks.
	Down int64
	// Unknown counts other pairs whose new path uses a switch whose live table was not read.
	Unknown int64
	// Examples lists up to 10 of them.
	Examples []diff.Pair
	// Groups lists the interrupted multicast LIDs in ascending order. Members of such a group reach one another before
	// and after the commit, but not between the removal of old branches and the addition of new branches.
	Groups []uint16
}

// None reports whether no pair and no group is known or suspected to be interrupted.
func (h *Hit) None() bool { return h.Pairs() == 0 && h.Unknown == 0 && len(h.Groups) == 0 }

// Pairs returns the number of pairs that are known to be interrupted.
func (h *Hit) Pairs() int64 { return h.Moved + h.Down }

func (m *maker) hits(ctx context.Context) error {
	dests := m.exposed()
	if len(dests) == 0 {
		return nil
	}
	c := newHitCounter(m)
	hits := make([]Hit, len(dests))
	err := routing.ForEach(ctx, len(dests), nil, func(_, i int) { c.count(&hits[i], dests[i]) })
	for i := range hits {
		m.plan.Hit.add(&hits[i])
	}
	return err
}

// dest is a destination end port, in the live and in the staged fabric, whose senders the plan may interrupt.
type dest struct {
	live, staged fabric.PortIndex
	moved        bool
}

// exposed returns the destinations that the plan may interrupt: end ports that lose a LID, or all end ports if staged
// links are missing in the live subnet.
func (m *maker) exposed() []dest {
	var list []dest
	live, staged := m.live.Fabric, m.staged.Fabric
	for _, e := range live.EndPorts {
		if live.Nodes[live.Ports[e].Node].IsSwitch() {
			continue
		}
		s := staged.PortByGUID(live.Ports[e].GUID)
		if s == fabric.None || live.Ports[e].LID == 0 || staged.Ports[s].LID == 0 {
			continue
		}
		p, q := &live.Ports[e], &staged.Ports[s]
		moved := p.LID < q.LID || int(p.LID)+1<<p.LMC > int(q.LID)+1<<q.LMC
		if moved || m.down > 0 {
			list = append(list, dest{e, s, moved})
		}
	}
	return list
}

func (h *Hit) add(o *Hit) {
	h.Moved += o.Moved
	h.Down += o.Down
	h.Unknown += o.Unknown
	h.Examples = append(h.Examples, o.Examples[:min(len(o.Examples), examples-len(h.Examples))]...)
}

// hitCounter holds the data that all workers share.
type hitCounter struct {
	*maker
	// sources lists the end ports by the pair of switches that they are attached to, in the live and in the staged
	// fabric.
	sources         map[pair][]fabric.PortIndex
	order           []pair
	wires, ownWires walk.Wires
	stagedOf        []fabric.SwitchIndex
}

func newHitCounter(m *maker) *hitCounter {
	live, staged := m.live.Fabric, m.staged.Fabric
	c := &hitCounter{
		maker: m, sources: map[pair][]fabric.PortIndex{}, wires: walk.NewWires(m.live),
		ownWires: walk.NewWires(m.staged),
		stagedOf: make([]fabric.SwitchIndex, len(live.Switches)),
	}
	for s, n := range live.Switches {
		c.stagedOf[s] = staged.SwitchByGUID(live.Nodes[n].GUID)
	}
	for _, e := range live.EndPorts {
		s := staged.PortByGUID(live.Ports[e].GUID)
		if live.Nodes[live.Ports[e].Node].IsSwitch() || s == fabric.None {
			continue
		}
		a, _ := live.AttachedSwitch(e)
		b, _ := staged.AttachedSwitch(s)
		if a == fabric.None || b == fabric.None {
			continue
		}
		p := pair{a, b}
		if c.sources[p] == nil {
			c.order = append(c.order, p)
		}
		c.sources[p] = append(c.sources[p], e)
	}
	return c
}

// count counts the interrupted pairs to one destination.
func (c *hitCounter) count(hit *Hit, d dest) {
	from, to := c.live.Fabric.Ports[d.live].LID, c.staged.Fabric.Ports[d.staged].LID
	before := treeTo(c.wires, c.live, from, d.live)
	own := treeTo(c.ownWires, c.staged, to, d.staged)
	after := walk.NewTree(c.wires)
	after.Start(walk.ToPort(d.live), c.after(to))
	for _, p := range c.order {
		is := after.Fate(p.live)
		if before.Fate(p.live) != walk.Reaches || own.Fate(p.staged) != walk.Reaches || !d.moved && is == walk.Reaches {
			continue
		}
		for _, src := range c.sources[p] {
			if src == d.live {
				continue
			}
			switch {
			case d.moved:
				hit.Moved++
			case is == walk.UnreadTable:
				hit.Unknown++
				continue
			default:
				hit.Down++
			}
			if len(hit.Examples) < examples {
				hit.Examples = append(hit.Examples, diff.Pair{Src: c.named(src), Dst: c.named(d.live)})
			}
		}
	}
}

// examples is the maximum number of pairs in Hit.Examples.
const examples = 10

func (c *hitCounter) named(port fabric.PortIndex) diff.Port {
	f := c.live.Fabric
	return diff.Port{Name: f.PortName(port), GUID: diff.GUID(f.Ports[port].GUID), LID: f.Ports[port].LID}
}

// treeTo returns the tree of all paths to one LID of a port.
func treeTo(wires walk.Wires, t *fabric.Tables, lid uint16, port fabric.PortIndex) *walk.Tree {
	tree := walk.NewTree(wires)
	column := make([]uint8, len(t.Fabric.Switches))
	for s := range column {
		column[s] = t.Port(fabric.SwitchIndex(s), lid)
	}
	tree.Start(walk.ToPort(port), column)
	return tree
}

// after returns the entries for a LID after the commit, by live switch.
func (c *hitCounter) after(lid uint16) []uint8 {
	column := make([]uint8, len(c.stagedOf))
	for s, staged := range c.stagedOf {
		if staged != fabric.None && c.staged.Known[staged] {
			column[s] = c.staged.Port(staged, lid)
		} else {
			column[s] = c.live.Port(fabric.SwitchIndex(s), lid)
		}
	}
	return column
}
