// SPDX-License-Identifier: Apache-2.0

// Package credits finds credit loops: rings of links in which each waits for the
// buffer behind the next, so that packets may stand still for ever.
//
// A channel is one direction of a link between switches together with a VL. Packets that come in by one channel
// and leave by another make the first depend on the second. Routes can deadlock only if these dependencies have a
// cycle (Dally, Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE
// Transactions on Computers C-36, 1987). Links of hosts are in no cycle, as a host takes in what it is sent.
//
// The VL of a packet on a link is what the SLtoVLMappingTable of the switch says for the packet's SL and the
// ports by which it comes in and leaves (IBA 1.2.1, 7.6.6), VL 0 everywhere where the tables have no
// mappings. The SL is that of the path, 0 where the tables have none.
//
// Tables that were read from switches lack what the subnet manager alone knows, see [fabric.Unread]: of those
// a loop is told only where it is there whatever the SLs are, as where every link operates one
// VL or maps all levels to one, and that there is none only where all packets may share a VL without one.
//
// All packets count that hosts can send, those too that do not arrive: they hold
// buffers as far as they come, and a loop in forwarding tables is a ring of its own.
package credits

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
)

// Options are how to check.
type Options struct {
	// Switches counts port 0 of switches among the ports that send and are sent to.
	Switches bool
	// GroupSL is the SL of a multicast group, fabric.NoSL where nobody told it; nil is 0 everywhere.
	GroupSL func(mlid uint16) uint8
	// Paths, where set, are the SLs of the paths that packets take, fabric.NoSL where they
	// take none; else they are those of the tables.
	Paths fabric.PathSLs
	// Progress, where set, is called now and then with the destinations done, in
	// lots of 64, and all there are. It may be called from several goroutines.
	Progress func(done, total int)
}

// Result is what was found.
type Result struct {
	// Channels is the number of channels that packets take, VLs that of the VLs among
	// them, at least 1 where there are paths at all, and Dependencies that of the dependencies between channels.
	Channels     int
	VLs          int
	Dependencies int
	// Cyclic is the number of channels that lie on a cycle, and Rings that of the
	// groups of channels that lie on cycles with one another.
	Cyclic, Rings int
	// Ring is a shortest cycle, nil where none was found. Each dependency begins
	// where the one before ends, and the first where the last ends.
	Ring []Dependency
	// Verdict is Unknown where it depends on what is Unread or on unknown tables; there is
	// no ring then.
	Verdict Verdict
	// Partial says that the tables of some switches are not known, through which other
	// rings may lead.
	Partial bool
	// Unread is that of the tables. Where something is, every packet is taken for one
	// of a single VL in the numbers of channels and dependencies.
	Unread fabric.Unread
}

// Unknown says of a verdict that is Unknown why it is, "" of another.
func (r *Result) Unknown() string {
	switch {
	case r.Verdict != Unknown:
		return ""
	case r.Partial:
		return "the forwarding tables of some switches are not known"
	}
	return r.Unread.String()
}

// Channel is a VL of one direction of a link.
type Channel struct {
	// Port is the switch port that packets leave by.
	Port fabric.PortIndex
	VL   uint8
}

// Dependency says that packets go from one channel to the next.
type Dependency struct {
	From, To Channel
	// Src sends such packets to LID by SL. Dst is the end port that owns the LID, None for a multicast LID.
	Src, Dst fabric.PortIndex
	LID      uint16
	SL       uint8
}

// Check finds the channel dependencies of all paths, and a shortest cycle in
// them. Of tables with SLs, mappings or tables of switches that are unread it says only what
// holds whatever those are. It fails with ctx's error where ctx ends first. Beside the
// cycle O(LIDs x switches x SLs) on all processors, and with SLs
// of paths O(ports x LIDs).
func Check(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	check := judge
	if !t.Unread.Any() {
		check = known
	}
	r, err := check(ctx, t, opt)
	if err == nil && r.Verdict == None && (t.Partial() || t.MulticastPartial()) {
		r.Verdict, r.Partial = Unknown, true
	}
	return r, err
}

// known checks tables of which all is known, but for the SLs of groups: what has no loop where these may have
// any SL has none, and what has one where their VLs are certain has one.
func known(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	c := newChecker(t, opt)
	most, err := c.check(ctx)
	if err != nil || most.Ring == nil || !c.untold() {
		return most, err
	}
	c.certainGroups = true
	sure, err := c.check(ctx)
	if err != nil || sure.Ring != nil {
		return sure, err
	}
	most.Verdict, most.Ring, most.Cyclic, most.Rings, most.Unread.Groups = Unknown, nil, 0, 0, true
	return most, nil
}

// untold reports whether nobody told the SL of a group on which VLs may depend.
func (c *checker) untold() bool {
	m := c.ends.Tables.MFT
	for i := 0; m != nil && c.sl2vl != nil && i < m.LIDs(); i++ {
		if c.groupSL(uint16(fabric.FirstMLID+i)) == fabric.NoSL {
			return true
		}
	}
	return false
}

func (c *checker) check(ctx context.Context) (*Result, error) {
	origin := c.ends.Tables.Origin
	g, err := c.dependencies(ctx)
	if err != nil {
		return nil, fmt.Errorf("find channel dependencies of %s: %w", origin, err)
	}
	r := &Result{}
	n := g.net(r)
	if c.ends.Pairs() > 0 {
		r.VLs = max(1, r.VLs)
	}
	ring, err := n.cycle(ctx, r)
	if err == nil && ring != nil {
		r.Ring = n.dependencies(ring)
		err = c.explain(ctx, r.Ring)
	}
	if err != nil {
		return nil, fmt.Errorf("look for credit loops in %s: %w", origin, err)
	}
	r.Verdict = VerdictOf(r.Ring)
	return r, nil
}

type checker struct {
	opt  Options
	f    *fabric.Fabric
	ends *trees.Ends
	// sl2vl is nil where every packet takes VL 0, and sls where all have SL 0.
	sl2vl *fabric.SL2VL
	sls   fabric.PathSLs
	// also are mappings that any port may have instead, nil for none.
	also *fabric.SL2VL
	// certain counts the hops alone that take one VL whatever the SL is; certainGroups does so for groups whose
	// SL nobody told, which else may have any.
	certain, certainGroups bool
	// ins are, by end, the port by which its packets come into the switch.
	ins []uint8
}

func newChecker(t *fabric.Tables, opt Options) *checker {
	c := &checker{opt: opt, f: t.Fabric, ends: trees.NewEnds(t, opt.Switches), sl2vl: t.SL2VL}
	switch {
	case opt.Paths != nil:
		c.sls = opt.Paths
	case t.SL2VL != nil:
		c.sls = t.SLs
	}
	for _, p := range c.ends.Ports {
		_, in := c.f.AttachedSwitch(p)
		c.ins = append(c.ins, in)
	}
	return c
}

// vls is how many VLs a channel number has room for.
func (c *checker) vls() int {
	if c.sl2vl == nil {
		return 1
	}
	return fabric.DropVL + 1
}

// vlsOf is the set of the VLs that packets which pass a switch may get, empty if they are dropped.
func (c *checker) vlsOf(sw fabric.SwitchIndex, in, out, sl uint8) uint16 {
	if c.certain {
		return c.certainVL(sw, in, out)
	}
	if c.sl2vl == nil {
		return 1
	}
	if sl == fabric.NoSL {
		return c.certainVL(sw, in, out)
	}
	set := uint16(1) << c.sl2vl.VL(c.f.Switches[sw], in, out, sl)
	if c.also != nil {
		set |= 1 << c.also.VL(c.f.Switches[sw], in, out, sl)
	}
	return set &^ (1 << fabric.DropVL)
}

// dependencies collects those of all unicast and multicast paths.
func (c *checker) dependencies(ctx context.Context) (*graph, error) {
	workers := make([]*worker, routing.Workers())
	worker := func(n int) *worker {
		if workers[n] == nil {
			workers[n] = newWorker(c)
		}
		return workers[n]
	}
	var err error
	if c.ends.Tables.Adaptive != nil {
		err = c.chosen(ctx, worker)
	} else {
		err = c.ends.Each(ctx, c.ends.LIDs, c.opt.Progress, func(n int, t *trees.Tree) { worker(n).tree(t) })
	}
	if m := c.ends.Tables.MFT; m != nil && err == nil {
		err = routing.ForEach(ctx, m.LIDs(), nil, func(n, i int) { worker(n).group(uint16(fabric.FirstMLID + i)) })
	}
	if err != nil {
		return nil, err
	}
	sum := newGraph(c.f, c.vls())
	for _, w := range workers {
		if w != nil {
			sum.merge(w.graph)
		}
	}
	return sum, nil
}
