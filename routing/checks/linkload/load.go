// SPDX-License-Identifier: Apache-2.0

// Package linkload counts the paths over each link: for all pairs of ports, towards one destination, and for patterns
// of communication.
//
// Each direction of a link is counted separately and identified by the port by which packets leave. Only paths that
// arrive are counted. Links from hosts, to hosts and between switches are distinguished.
//
// The package computes three published measures:
//
//   - Edge forwarding index: the maximum number of paths over one direction of a link between switches, if all pairs of
//     hosts have one path for each LID of the destination (Heydemann, Meyer, Sotteau, "On forwarding indices of
//     networks", 1989). [Summary.EdgeForwardingIndex].
//   - Shift figure: the maximum number of paths over one direction of any link in any shift. In shift k, host i sends
//     to host i+k. The shifts are 1 to N-1 for N hosts. A shift figure of 1 means that no shift has contention (Zahavi,
//     "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees", 2010). [Shifts].
//   - Effective bisection bandwidth: the mean share of bandwidth over many random bisections. A bisection divides the
//     hosts at random into two halves, and each host of the first half sends to one host of the second half. A path has
//     the share 1/c of its bandwidth, where c is the maximum number of paths over any of its links (Hoefler, Schneider,
//     Lumsdaine, "Multistage switches are not crossbars: effects of static routing in high-performance networks",
//     2008). [Bisections].
//
// All three measures count paths and treat links as equal. [Loads] also has the loads of links by width and speed.
package linkload

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// Options controls a count.
type Options struct {
	// Switches includes port 0 of each switch in the end ports.
	Switches bool
	// Progress, if set, is called from time to time with the number of steps done and their total. Several goroutines
	// may call it.
	Progress func(done, total int)
}

// Loads holds the number of paths over all links.
type Loads struct {
	Fabric *fabric.Fabric
	// Paths counts the paths that leave by each port. Destinations counts the destination LIDs of these paths. Both are
	// indexed by port.
	Paths        []int64
	Destinations []int32
	// Delivered is the number of paths that arrive. Only these paths are counted in Paths. Lost is the number of paths
	// that do not arrive, Unknown the number of paths that use an unread table. If Unknown is not 0, the loads are
	// lower bounds.
	Delivered, Lost, Unknown int64

	notKnown []bool // by port, nil if all loads are known
}

// Known reports whether anything is known about the paths that leave by a port. Nothing is known if all paths by the
// port are unknown, or if the table of its switch was not read. The switch of a host's port is the switch to which the
// host is attached.
func (l *Loads) Known(port fabric.PortIndex) bool { return l.notKnown == nil || !l.notKnown[port] }

// note fills in notKnown for tables of which parts were not read. The argument open marks the ports by which unknown
// paths leave.
func (l *Loads) note(t *fabric.Tables, open []bool) {
	if !t.Partial() {
		return
	}
	f := t.Fabric
	l.notKnown = make([]bool, len(f.Ports))
	for port := range f.NumPorts() {
		sw := f.Nodes[f.Ports[port].Node].Switch
		if sw == fabric.None {
			sw = f.PeerSwitch(port)
		}
		unread := sw != fabric.None && !t.Known[sw] && f.SwitchNode(sw).InSubnet
		l.notKnown[port] = unread || open[port] && l.Paths[port] == 0
	}
}

// AllToAll counts the paths of all ordered pairs of distinct end ports, one path for each LID of the destination. It
// returns the error of ctx if ctx ends first. O(LIDs x switches) on all processors.
func AllToAll(ctx context.Context, t *fabric.Tables, opt Options) (*Loads, error) {
	e := trees.NewEnds(t, opt.Switches)
	workers := make([]*counter, routing.Workers())
	err := e.Each(ctx, e.LIDs, opt.Progress, func(n int, tree *trees.Tree) {
		if workers[n] == nil {
			workers[n] = newCounter(e)
		}
		workers[n].add(tree)
	})
	if err != nil {
		return nil, fmt.Errorf("count the paths of %s: %w", t.Origin, err)
	}
	sum := newCounter(e)
	for _, w := range workers {
		if w != nil {
			sum.merge(w)
		}
	}
	_, lost := e.Lost()
	sum.fates[walk.Lost] += lost
	return sum.loads(), nil
}

// counter counts the paths of one tree at a time.
type counter struct {
	ends *trees.Ends
	// fates counts the paths by their fate.
	fates [walk.UnreadTable + 1]int64
	// uses counts by port.
	uses []use
	// firstPort is the index of port 0 of each switch.
	firstPort []fabric.PortIndex
	// weight counts, for each switch, the sources whose packets pass the switch. sent counts, for each group, the LIDs
	// to which its ends send.
	weight []int64
	sent   []int64
	// own counts, for each end, those of its own LIDs that packets of its group reach. An end does not send to its own
	// LIDs.
	own []int32
	// open marks the ports by which packets leave whose path uses an unread table.
	open []bool
}

// use is the traffic over a port: the number of paths and of their destination LIDs.
type use struct {
	paths int64
	lids  int32
}

func newCounter(e *trees.Ends) *counter {
	f := e.Tables.Fabric
	c := &counter{
		ends: e, weight: make([]int64, len(f.Switches)), sent: make([]int64, len(e.Groups)),
		own: make([]int32, len(e.Ports)), open: make([]bool, len(f.Ports)),
		uses: make([]use, len(f.Ports)), firstPort: make([]fabric.PortIndex, len(f.Switches)),
	}
	for s := range c.firstPort {
		c.firstPort[s] = f.SwitchNode(fabric.SwitchIndex(s)).FirstPort
	}
	return c
}

func (c *counter) add(t *trees.Tree) {
	home := c.ends.GroupOf[t.End]
	for g := range c.ends.Groups {
		group := &c.ends.Groups[g]
		n := int64(len(group.Ends))
		if home == int32(g) {
			n--
		}
		if n == 0 {
			continue
		}
		if c.fates[t.Fates[g]] += n; t.Fates[g] != walk.Reaches {
			continue
		}
		c.sent[g]++
		if home == int32(g) {
			c.own[t.End]++
		}
		if group.At >= 0 {
			c.weight[group.At] += n
		}
	}
	for i := len(t.Order) - 1; i >= 0; i-- {
		sw := t.Order[i]
		if t.Tree.Fates[sw] == walk.UnreadTable && t.Next(sw) != walk.Unread {
			c.open[c.firstPort[sw]+fabric.PortIndex(t.Entry(sw))] = true
		}
		n := c.weight[sw]
		if n == 0 {
			continue
		}
		c.weight[sw] = 0
		u := &c.uses[c.firstPort[sw]+fabric.PortIndex(t.Entry(sw))]
		u.paths += n
		u.lids++
		if next := t.Next(sw); next >= 0 {
			c.weight[next] += n
		}
	}
}

func (c *counter) merge(o *counter) {
	for i, u := range o.uses {
		c.uses[i].paths += u.paths
		c.uses[i].lids += u.lids
	}
	for i, n := range o.sent {
		c.sent[i] += n
	}
	for i, n := range o.own {
		c.own[i] += n
	}
	for i, n := range o.fates {
		c.fates[i] += n
	}
	for i, open := range o.open {
		c.open[i] = c.open[i] || open
	}
}

// loads returns the loads, including the loads of host ports. A path within a switch uses no link.
func (c *counter) loads() *Loads {
	f := c.ends.Tables.Fabric
	l := &Loads{
		Fabric: f, Paths: make([]int64, len(f.Ports)), Destinations: make([]int32, len(f.Ports)),
		Delivered: c.fates[walk.Reaches], Lost: c.fates[walk.Lost], Unknown: c.fates[walk.UnreadTable],
	}
	for i, u := range c.uses {
		l.Paths[i], l.Destinations[i] = u.paths, u.lids
	}
	for g := range c.ends.Groups {
		for _, end := range c.ends.Groups[g].Ends {
			n := c.sent[g] - int64(c.own[end])
			port := c.ends.Ports[end]
			if c.ends.Groups[g].Links == 1 {
				l.Paths[port], l.Destinations[port] = n, int32(n)
			}
		}
	}
	for _, first := range c.firstPort {
		l.Paths[first], l.Destinations[first] = 0, 0
	}
	l.note(c.ends.Tables, c.open)
	return l
}
