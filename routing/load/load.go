// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/trees"
	"example.org/ibconsole/routing/walk"
)

// Options are how to count.
type Options struct {
	// Switches counts port 0 of switches among the end ports.
	Switches bool
	// Progress, where set, is called now and then with the steps done and all there
	// are. It may be called from several goroutines.
	Progress func(done, total int)
}

// Loads are the paths over all links.
type Loads struct {
	Fabric *fabric.Fabric
	// Paths counts those that leave by a port, Destinations the LIDs that they go
	// to; both by port index.
	Paths        []int64
	Destinations []int32
	// Delivered is the number of paths counted, Lost that of those which do not
	// arrive or meet a table that was not read; they are not counted.
	Delivered, Lost int64
}

// AllToAll counts the paths of all ordered pairs of distinct end ports, one for
// each LID of the destination. It fails with ctx's error where ctx ends first.
// O(LIDs x switches) on all processors.
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
	return sum.loads(), nil
}

// To counts the paths of all end ports to one LID. It fails where no end port has
// the LID. O(ports + switches).
func To(t *fabric.Tables, lid uint16, opt Options) (*Loads, error) {
	e := trees.NewEnds(t, opt.Switches)
	i := slices.IndexFunc(e.LIDs, func(l trees.LID) bool { return l.LID == lid })
	if i < 0 {
		return nil, fmt.Errorf("count the paths to LID %d: no end port has it", lid)
	}
	c := newCounter(e)
	c.add(e.To(e.LIDs[i]))
	return c.loads(), nil
}

// counter counts the paths of one tree after the other.
type counter struct {
	ends *trees.Ends
	sum  Loads
	// weight counts, by switch, the sources whose packets it passes; sent counts, by
	// group, the LIDs that its ends send to.
	weight []int64
	sent   []int64
	// own counts by end the LIDs of its own that the group's packets would arrive at.
	own []int32
}

func newCounter(e *trees.Ends) *counter {
	f := e.Tables.Fabric
	return &counter{
		ends: e, weight: make([]int64, len(f.Switches)), sent: make([]int64, len(e.Groups)), own: make([]int32, len(e.Ports)),
		sum: Loads{Fabric: f, Paths: make([]int64, len(f.Ports)), Destinations: make([]int32, len(f.Ports))},
	}
}

func (c *counter) add(t *trees.Tree) {
	for g := range c.ends.Groups {
		n := int64(c.ends.Sources(g, t.End))
		switch {
		case n == 0:
			continue
		case t.Fates[g] != walk.Reaches:
			c.sum.Lost += n
			continue
		}
		c.sum.Delivered += n
		c.sent[g]++
		if c.ends.GroupOf[t.End] == int32(g) {
			c.own[t.End]++
		}
		if at := c.ends.Groups[g].At; at >= 0 {
			c.weight[at] += n
		}
	}
	f := c.sum.Fabric
	for _, sw := range slices.Backward(t.Order) {
		n := c.weight[sw]
		if n == 0 {
			continue
		}
		c.weight[sw] = 0
		port := f.SwitchNode(sw).FirstPort + int32(t.Entry(sw))
		c.sum.Paths[port] += n
		c.sum.Destinations[port]++
		if next := t.Next(sw); next >= 0 {
			c.weight[next] += n
		}
	}
}

func (c *counter) merge(o *counter) {
	for i, n := range o.sum.Paths {
		c.sum.Paths[i] += n
		c.sum.Destinations[i] += o.sum.Destinations[i]
	}
	for i, n := range o.sent {
		c.sent[i] += n
	}
	for i, n := range o.own {
		c.own[i] += n
	}
	c.sum.Delivered += o.sum.Delivered
	c.sum.Lost += o.sum.Lost
}

// loads adds what leaves hosts. Paths that a switch keeps take no link.
func (c *counter) loads() *Loads {
	for g := range c.ends.Groups {
		for _, end := range c.ends.Groups[g].Ends {
			n := c.sent[g] - int64(c.own[end])
			port := c.ends.Ports[end]
			if c.ends.Groups[g].Links == 1 {
				c.sum.Paths[port], c.sum.Destinations[port] = n, int32(n)
			}
		}
	}
	for _, n := range c.sum.Fabric.Switches {
		first := c.sum.Fabric.Nodes[n].FirstPort
		c.sum.Paths[first], c.sum.Destinations[first] = 0, 0
	}
	return &c.sum
}
