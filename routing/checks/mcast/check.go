// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// ErrNoTables says that there are no multicast tables.
var ErrNoTables = errors.New("the multicast tables were neither computed nor read (try: sweep full mft, or load groups FILE and route)")

// Kind is what is wrong with the tables of a group.
type Kind string

// The kinds of faults, the first four of the packets of members, the others of
// table entries.
const (
	// Missing: a member does not get what another one sends.
	Missing Kind = "missing"
	// Double: a member gets it more than once.
	Double Kind = "double"
	// Echo: a member gets back what it sent.
	Echo Kind = "echo"
	// Cycle: a packet comes back to a switch by the same port, and goes round for ever.
	Cycle Kind = "cycle"
	// Stranger: a port sends to a host that is not in the group.
	Stranger Kind = "stranger"
	// DeadPort: a port sends where there is no link.
	DeadPort Kind = "dead port"
	// OneWay: a port sends to a switch that does not send back, or that has no
	// entry for the group.
	OneWay Kind = "one way"
	// NotRead: a packet meets a switch whose table was not read.
	NotRead Kind = "unread"
)

// Fault is an example of what is wrong.
type Fault struct {
	Kind Kind
	MLID uint16
	// Src and Dst are the members concerned, None where there are none.
	Src, Dst fabric.PortIndex
	// Ports are the switch ports by which packets leave: the one that is at fault, or
	// those of a cycle in order.
	Ports []fabric.PortIndex
}

// Counts sums up groups. Pairs are of a member that sends and another one that
// receives.
type Counts struct {
	// LIDs are the multicast LIDs of groups or with entries; Alone those of which the
	// subnet has less than two members, and that have no entries.
	LIDs  int `json:"lids"`
	Alone int `json:"alone"`
	// Members are those in the subnet, Gone those that are not.
	Members int `json:"members"`
	Gone    int `json:"gone"`
	// Entries count the ports in tables, SendOnly those to members that only send,
	// and Idle switches on branches that lead to no member; neither is a fault.
	Entries  int `json:"entries"`
	Idle     int `json:"idle"`
	SendOnly int `json:"sendonly_entries"`

	Pairs   int64 `json:"pairs"`
	Missing int64 `json:"missing"`
	Double  int64 `json:"double"`
	// Unknown pairs are missing where packets meet a table that was not read.
	Unknown int64 `json:"unknown"`
	// Echoes counts members, Cycles LIDs with a cycle.
	Echoes int `json:"echoes"`
	Cycles int `json:"cycles"`
	// Strangers, DeadPorts and OneWays count ports.
	Strangers int `json:"strangers"`
	DeadPorts int `json:"dead_ports"`
	OneWays   int `json:"one_ways"`
}

func (c *Counts) add(o *Counts) {
	c.LIDs += o.LIDs
	c.Alone += o.Alone
	c.Members += o.Members
	c.Gone += o.Gone
	c.Entries += o.Entries
	c.Idle += o.Idle
	c.SendOnly += o.SendOnly
	c.Pairs += o.Pairs
	c.Missing += o.Missing
	c.Double += o.Double
	c.Unknown += o.Unknown
	c.Echoes += o.Echoes
	c.Cycles += o.Cycles
	c.Strangers += o.Strangers
	c.DeadPorts += o.DeadPorts
	c.OneWays += o.OneWays
}

// Bad says that something is wrong.
func (c *Counts) Bad() bool {
	return c.Missing+c.Double+c.Unknown > 0 || c.Echoes+c.Cycles+c.Strangers+c.DeadPorts+c.OneWays > 0
}

// Report is what a check found.
type Report struct {
	Counts
	// Faults are some examples of each kind for each LID, in ascending order of LIDs.
	Faults []Fault
}

// examples is how many faults of a kind and LID a report names.
const examples = 3

// Check follows what every member of every group sends. Without groups those are
// taken that the tables themselves serve ([fabric.GroupsOf]); LIDs with entries and
// without a group are checked for strangers then. It fails with [ErrNoTables], and
// with ctx's error where ctx ends first.
//
// The tables of a group that are a tree cost O(its switch ports + members); others
// O(switches with members x (its switch ports + members)). All processors are used.
func Check(ctx context.Context, t *fabric.Tables, groups []fabric.Group, progress func(done, total int)) (*Report, error) {
	if t.MFT == nil {
		return nil, ErrNoTables
	}
	own := fabric.GroupsOf(t)
	if groups == nil {
		groups = own
	} else {
		groups = append(slices.Clip(groups), entriesAlone(groups, own)...)
	}
	lids := ByLID(t.Fabric, groups)
	counts, faults := make([]Counts, len(lids)), make([][]Fault, len(lids))
	workers := make([]*checker, routing.Workers())
	err := routing.ForEach(ctx, len(lids), progress, func(w, i int) {
		if workers[w] == nil {
			workers[w] = newChecker(ctx, t)
		}
		counts[i], faults[i] = workers[w].check(&lids[i])
	})
	if err != nil {
		return nil, fmt.Errorf("check multicast of %s: %w", t.Origin, err)
	}
	r := &Report{}
	for i := range lids {
		r.add(&counts[i])
		r.Faults = append(r.Faults, faults[i]...)
	}
	return r, nil
}

// entriesAlone are the LIDs with entries that no group has, as groups without members.
func entriesAlone(groups, own []fabric.Group) []fabric.Group {
	have := map[uint16]bool{}
	for i := range groups {
		have[groups[i].MLID] = true
	}
	var more []fabric.Group
	for i := range own {
		if !have[own[i].MLID] {
			more = append(more, fabric.Group{MLID: own[i].MLID})
		}
	}
	return more
}

// checker checks one LID after the other, for one goroutine.
type checker struct {
	ctx context.Context
	t   *fabric.Tables
	f   *fabric.Fabric

	lid    *LID
	counts Counts
	faults []Fault
	named  map[Kind]int
	// join is by end port; only those of the LID at hand are set.
	join []fabric.JoinState
	in   []bool
	// switches have entries for the LID; parent joins those that links connect.
	switches []fabric.SwitchIndex
	parent   []fabric.SwitchIndex
	flood    *flood
}

func newChecker(ctx context.Context, t *fabric.Tables) *checker {
	f := t.Fabric
	return &checker{ctx: ctx, t: t, f: f, join: make([]fabric.JoinState, len(f.Ports)), in: make([]bool, len(f.Ports)), parent: make([]fabric.SwitchIndex, len(f.Switches)), flood: newFlood(t)}
}

func (c *checker) check(l *LID) (Counts, []Fault) {
	c.lid, c.counts, c.faults, c.named = l, Counts{LIDs: 1, Members: len(l.Members), Gone: l.Gone}, nil, map[Kind]int{}
	for _, m := range l.Members {
		c.join[m.End], c.in[m.End] = m.Join, true
	}
	c.switches = c.switches[:0]
	for s := range fabric.SwitchIndex(len(c.f.Switches)) {
		c.parent[s] = s
		if c.f.SwitchNode(s).InSubnet && c.t.MFT.Any(s, l.MLID) {
			c.switches = append(c.switches, s)
		}
	}
	switch {
	case len(c.switches) == 0 && len(l.Members) < 2:
		c.counts.Alone = 1
	case c.entries():
		c.tidy()
	default:
		c.follow()
	}
	for _, m := range l.Members {
		c.join[m.End], c.in[m.End] = 0, false
	}
	return c.counts, c.faults
}

func (c *checker) fault(k Kind, src, dst fabric.PortIndex, ports ...fabric.PortIndex) {
	if c.named[k]++; c.named[k] <= examples {
		c.faults = append(c.faults, Fault{k, c.lid.MLID, src, dst, ports})
	}
}

// entries looks at the ports of all switches. It says whether they are one tree on
// which all members are.
func (c *checker) entries() (tree bool) {
	tree = true
	for _, s := range c.switches {
		node := c.f.SwitchNode(s)
		for out := range c.t.MFT.Each(s, c.lid.MLID) {
			c.counts.Entries++
			if out > int(node.NumPorts) {
				c.counts.DeadPorts++
				c.fault(DeadPort, fabric.None, fabric.None, node.FirstPort)
				continue
			}
			tree = c.entry(s, node.FirstPort+fabric.PortIndex(out), out) && tree
		}
	}
	for _, m := range c.lid.Members {
		sw, port := c.f.AttachedSwitch(m.End)
		if sw == fabric.None || m.Join.Receives() && !c.t.MFT.Has(sw, c.lid.MLID, port) || c.top(sw) != c.top(c.first()) {
			return false
		}
	}
	return tree
}

// first is the switch that the first member hangs on.
func (c *checker) first() fabric.SwitchIndex {
	sw, _ := c.f.AttachedSwitch(c.lid.Members[0].End)
	return sw
}

// entry looks at one port of a table, and says whether it may be one of a tree.
func (c *checker) entry(s fabric.SwitchIndex, port fabric.PortIndex, out int) bool {
	if end := c.f.EndBehind(s, out); end != fabric.None {
		switch {
		case !c.in[end]:
			c.counts.Strangers++
			c.fault(Stranger, fabric.None, end, port)
		case !c.join[end].Receives():
			c.counts.SendOnly++
		}
		return true
	}
	next := c.f.PeerSwitch(port)
	if next == fabric.None {
		c.counts.DeadPorts++
		c.fault(DeadPort, fabric.None, fabric.None, port)
		return true
	}
	peer := c.f.Ports[port].Peer
	switch {
	case !c.t.Known[next]:
		return false
	case !c.t.MFT.Has(next, c.lid.MLID, c.f.Ports[peer].Num):
		c.counts.OneWays++
		c.fault(OneWay, fabric.None, fabric.None, port)
		return false
	case port > peer:
		return true // counted from the other end
	}
	return c.unite(s, next)
}

func (c *checker) top(s fabric.SwitchIndex) fabric.SwitchIndex {
	for c.parent[s] != s {
		c.parent[s] = c.parent[c.parent[s]]
		s = c.parent[s]
	}
	return s
}

// unite joins two switches, and says whether they were apart.
func (c *checker) unite(a, b fabric.SwitchIndex) bool {
	a, b = c.top(a), c.top(b)
	c.parent[a] = b
	return a != b
}

// tidy counts what a tree does: each pair has its packets once.
func (c *checker) tidy() {
	c.counts.Pairs = c.pairs()
	c.idle()
}

// pairs counts the members that send to another one that receives.
func (c *checker) pairs() int64 {
	receivers := int64(0)
	for _, m := range c.lid.Members {
		if m.Join.Receives() {
			receivers++
		}
	}
	return int64(len(c.lid.Members))*receivers - receivers
}

// idle counts the switches of a tree behind which no member is: its tips, and what
// is a tip without them.
func (c *checker) idle() {
	degree, leads := map[fabric.SwitchIndex]int{}, map[fabric.SwitchIndex]bool{}
	links := func(s fabric.SwitchIndex, each func(next fabric.SwitchIndex)) {
		node := c.f.SwitchNode(s)
		for out := range c.t.MFT.Each(s, c.lid.MLID) {
			if out == 0 || out > int(node.NumPorts) || c.f.PeerSwitch(node.FirstPort+fabric.PortIndex(out)) == fabric.None {
				continue
			}
			each(c.f.PeerSwitch(node.FirstPort + fabric.PortIndex(out)))
		}
	}
	for _, s := range c.switches {
		links(s, func(fabric.SwitchIndex) { degree[s]++ })
	}
	for _, m := range c.lid.Members {
		if sw, _ := c.f.AttachedSwitch(m.End); sw != fabric.None {
			leads[sw] = true
		}
	}
	var tips []fabric.SwitchIndex
	for _, s := range c.switches {
		if degree[s] == 1 && !leads[s] {
			tips = append(tips, s)
		}
	}
	for len(tips) > 0 {
		s := tips[len(tips)-1]
		tips = tips[:len(tips)-1]
		degree[s] = 0
		c.counts.Idle++
		links(s, func(next fabric.SwitchIndex) {
			if degree[next] == 0 {
				return
			}
			if degree[next]--; degree[next] == 1 && !leads[next] {
				tips = append(tips, next)
			}
		})
	}
}
