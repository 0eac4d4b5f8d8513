// SPDX-License-Identifier: Apache-2.0

// Package credits finds credit loops. A credit loop is a ring of links in which each link waits for a free buffer
// behind the next link, so that packets may stand still for ever.
//
// A channel is one direction of a link between switches together with a VL. Packets that arrive by one channel and
// leave by another make the first channel depend on the second. Routes can deadlock only if these dependencies have a
// cycle (Dally, Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on
// Computers C-36, 1987). Links of hosts are in no cycle, because a host accepts all packets sent to it.
//
// The VL of a packet on a link comes from the SLtoVLMappingTable of the switch, for the packet's SL and the ports by
// which it arrives and leaves (IBA 1.2.1, 7.6.6). If the tables have no mappings, all packets use VL 0. The SL of a
// packet is the SL of its path. If the tables have no SLs, it is 0.
//
// Tables that were read from switches lack data that only the subnet manager knows, see [fabric.Unread]. For these
// tables a loop is reported only if it exists for all possible SLs, for example where every link operates one VL or
// maps all SLs to one VL. The absence of loops is reported only if the subnet has no loop even with all packets on one
// VL.
//
// All packets that hosts can send count, including packets that do not arrive. Such packets hold buffers as far as they
// get, and a forwarding loop is also a ring of dependencies.
package credits

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/trees"
)

// Options controls a check.
type Options struct {
	// Switches includes port 0 of each switch in the sources and destinations.
	Switches bool
	// GroupSL returns the SL of a multicast group, or fabric.NoSL if it is unknown. If GroupSL is nil, all groups have
	// SL 0.
	GroupSL func(mlid uint16) uint8
	// Paths, if set, returns the SLs of paths, and fabric.NoSL for pairs that do not use their path. The default is the
	// SLs of the tables.
	Paths fabric.PathSLs
	// Progress, if set, is called from time to time with the number of destinations done, in batches of 64, and their
	// total. It may be called from several goroutines.
	Progress func(done, total int)
}

// Result is the result of a check.
type Result struct {
	// Channels counts the channels in use. VLs counts the VLs among them (at least 1 if there are paths). Dependencies
	// counts the dependencies between channels.
	Channels     int
	VLs          int
	Dependencies int
	// Cyclic counts the channels on cycles. Rings counts the groups of channels that are on cycles with one another.
	Cyclic, Rings int
	// Ring is a shortest cycle, or nil. Each dependency begins where the previous dependency ends. The first dependency
	// begins where the last dependency ends.
	Ring []Dependency
	// Verdict is Unknown if the result depends on unread data. Ring is nil then.
	Verdict Verdict
	// Partial is set if the tables of some switches were not read. These switches may be part of other rings.
	Partial bool
	// Unread lists the unread parts of the tables. If any part is unread, channels and dependencies are counted as if
	// all packets used a single VL.
	Unread fabric.Unread
}

// Unknown returns the reason why the verdict is Unknown, or "" for another verdict.
func (r *Result) Unknown() string {
	switch {
	case r.Verdict != Unknown:
		return ""
	case r.Partial:
		return "the forwarding tables of some switches were not read"
	}
	return r.Unread.String()
}

// Channel is a VL of one direction of a link.
type Channel struct {
	// Port is the switch port by which packets enter the link.
	Port fabric.PortIndex
	VL   uint8
}

// Dependency means that packets go from one channel to the next.
type Dependency struct {
	From, To Channel
	// Src and LID identify packets that cause the dependency: Src sends packets with SL to LID. Dst is the end port
	// that owns the LID, or None for a multicast LID.
	Src, Dst fabric.PortIndex
	LID      uint16
	SL       uint8
	// SLs are all SLs that packets from Src to LID may have with SL.
	SLs fabric.SLRange
}

// Check finds the channel dependencies of all paths, and a shortest cycle in them. If SLs, SL2VL tables or forwarding
// tables are unread, it returns only results that hold for all possible values of the unread parts. It returns the
// error of ctx if ctx ends first. In addition to the search for the cycle, Check takes O(LIDs x switches x SLs) on all
// processors, and with SLs of paths O(ports x LIDs).
func Check(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	check := checkUnread
	if !t.Unread.Any() {
		check = known
	}
	r, err := check(ctx, t, opt)
	if err == nil && r.Verdict == None && (t.Partial() || t.MulticastPartial()) {
		r.Verdict, r.Partial = Unknown, true
	}
	return r, err
}

// The function known checks tables that are completely known except for the SLs of groups. It reports no loop if no
// loop exists with all possible SLs of groups. It reports a loop if a loop exists among the VLs that are certain.
func known(ctx context.Context, t *fabric.Tables, opt Options) (*Result, error) {
	c := newChecker(t, opt)
	most, err := c.check(ctx)
	if err != nil || most.Ring == nil || !c.unknownGroupSLs() {
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

// unknownGroupSLs reports whether the SL of a group is unknown and VLs may depend on it.
func (c *checker) unknownGroupSLs() bool {
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
		return nil, fmt.Errorf("find credit loops in %s: %w", origin, err)
	}
	r.Verdict = VerdictOf(r.Ring)
	return r, nil
}

type checker struct {
	opt  Options
	f    *fabric.Fabric
	ends *trees.Ends
	// sl2vl is nil if every packet uses VL 0. sls is nil if every packet has SL 0.
	sl2vl *fabric.SL2VL
	sls   fabric.PathSLs
	// also, if not nil, holds SL2VL tables that any port may have instead of sl2vl.
	also *fabric.SL2VL
	// certain restricts the check to hops that have the same VL for all SLs. certainGroups restricts it in this way for
	// groups whose SL is unknown. Otherwise such groups are checked with all SLs.
	certain, certainGroups bool
	// ins is indexed by end: the switch port by which its packets enter.
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

// vls returns the number of VLs for which a link has channel numbers.
func (c *checker) vls() int {
	if c.sl2vl == nil {
		return 1
	}
	return fabric.DropVL + 1
}

// vlsOf returns the set of VLs that packets may use when they leave a switch. The set is empty if the packets are
// dropped.
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

// dependencies collects the dependencies of all unicast and multicast paths.
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
