// SPDX-License-Identifier: Apache-2.0

// Package transition plans how forwarding tables change without a credit loop and without lost packets on the way.
//
// While tables change, packets meet a mixture of old and new entries. A plan is a list of steps. A step is a set of
// writes that may take effect in any order. After some steps the writer waits until no packet is left that met earlier
// entries: it settles. A plan is safe if for each step the dependencies of channels (a link in one direction and a VL)
// of all packets since the last settling have no ring, except rings that the old or the new tables have alone; and if
// no packet between ports that both tables connect is lost or comes to a switch twice. Then no set of packets waits for
// itself (Dally and Seitz 1987; with the dependencies of packets that remain from earlier entries, as in Duato, Lysne,
// Pang and Pinkston, "A Theory for Deadlock-Free Dynamic Network Reconfiguration", IEEE TPDS 2005).
//
// [Make] tries methods in turn, see [Method]. Package verify checks plans independently.
package transition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
)

// Method is the way in which a plan avoids rings. The methods are in the order in which they are tried.
type Method uint8

// The methods.
const (
	// NoMethod: no safe plan was found.
	NoMethod Method = iota
	// AnyOrder: all writes are in one step.
	AnyOrder
	// Outward: each switch changes after all switches on its new path, from the destination outwards. The plan does
	// not settle. Entries that lose their path change in a last step, after settling.
	Outward
	// Settling: single entries change in steps, and the plan settles after each step.
	Settling
	// Tree: all paths change to a spanning tree, and from there to the new tables.
	Tree
	// OtherLIDs: the ports have several LIDs. Half of the LIDs of each port lose their path and get their new one,
	// then the other half. Connections must move to the LIDs that keep their path, as with automatic path migration.
	OtherLIDs
	// Drain: some destinations have no path while the others change as in Settling.
	Drain
)

func (m Method) String() string {
	return [...]string{"none", "any order", "from the destination outwards", "single entries with settling",
		"a spanning tree in between", "other LIDs of the same ports", "drain"}[m]
}

// Outcome is the result of the search for steps that change single entries and lose no packet.
type Outcome uint8

// The outcomes.
const (
	// NotFound: no order was found, but there may be one.
	NotFound Outcome = iota
	// Found: there is an order.
	Found
	// ProvedNone: an exhaustive search found that there is no order.
	ProvedNone
)

func (o Outcome) String() string {
	return [...]string{"none found", "safe", "proved that there is none"}[o]
}

// Entry is the change of an entry of a forwarding table.
type Entry struct {
	Switch   fabric.SwitchIndex
	LID      uint16
	Old, New uint8
}

// Step is a set of writes that may take effect in any order.
type Step struct {
	Entries []Entry
	// SL2VL is set in the step in which all SL2VL tables change.
	SL2VL bool
	// MFT is the part of the changes of multicast tables.
	MFT MFT
	// Settle is set if the writer settles after the step.
	Settle bool
}

// Plan is the result of [Make].
type Plan struct {
	Method Method
	Steps  []Step // nil with NoMethod
	// Order is the result of the search for an order of single entries. With the methods Tree, OtherLIDs and Drain it
	// is NotFound or ProvedNone.
	Order Outcome
	// Old and New are rings that the old and the new tables have alone, or nil. Together is a ring of the old and the
	// new tables together in any order, or nil.
	Old, New, Together []credits.Channel
	// Root is the root of the spanning tree, for the method Tree.
	Root fabric.SwitchIndex
	// Drained lists the LIDs that have no path in some steps. With the method OtherLIDs each port has a LID with a path
	// in every step.
	Drained []uint16
	// Loops counts the destinations for which some mixture of old and new entries loses packets or has a loop.
	Loops int
	// Longest is an upper limit for the number of switches of a path in any step. To settle takes this number times the
	// packet life time of the switches.
	Longest int
	// Entries counts the entries that change, from the old to the new tables.
	Entries int
}

// Settles returns the number of times that the plan settles between steps.
func (p *Plan) Settles() (n int) {
	for i, s := range p.Steps {
		if s.Settle && i < len(p.Steps)-1 {
			n++
		}
	}
	return n
}

// Errors of [Plan.SettleTime].
var (
	// ErrNoLifeTimes means that the packet life times of the switches were not read.
	ErrNoLifeTimes = errors.New("the packet life times of the switches were not read")
	// ErrUnlimited means that a switch keeps packets without a limit.
	ErrUnlimited = errors.New("its packet life time is unlimited")
)

// unlimited is the lowest LifeTimeValue without a limit (IBA 1.2.1, 14.2.5.4).
const unlimited = 20

// SettleTime returns the time after which no packet is left in the switches that met earlier entries: the switches of
// the longest path, each for the longest packet life time of the tables, which were read from the switches. It returns
// an error if there is no such time. O(switches).
func (p *Plan) SettleTime(live *fabric.Tables) (time.Duration, error) {
	if live.LifeTimes == nil {
		return 0, ErrNoLifeTimes
	}
	longest := uint8(0)
	for s, value := range live.LifeTimes {
		switch {
		case !live.Known[s]:
		case value >= unlimited:
			return 0, fmt.Errorf("%s: %w", live.Fabric.NodeName(live.Fabric.Switches[s]), ErrUnlimited)
		default:
			longest = max(longest, value)
		}
	}
	return time.Duration(p.Longest) * (4096 * time.Nanosecond << longest), nil
}

// Assumed returns old tables in which SL2VL tables, multicast tables and SLs that were not read are those of the new
// tables. LinearFDBTops that are lower than those of the new tables are raised, as before the first step.
func Assumed(before, after *fabric.Tables) *fabric.Tables {
	t := *before
	if t.SL2VL == nil {
		t.SL2VL = after.SL2VL
	}
	if t.SLs == nil {
		t.SLs = after.SLs
	}
	if t.MFT == nil {
		t.MFT = after.MFT
	}
	t.Unread = fabric.Unread{}
	if fabric.SameNodes(before.Fabric, after.Fabric) {
		t.Top = slices.Clone(t.Top)
		for s, top := range after.Top {
			if before.Known[s] && after.Known[s] {
				t.Top[s] = max(t.Top[s], top)
			}
		}
	}
	return &t
}

// Options controls [Make].
type Options struct {
	// Progress, if set, is called with the present method and the share of entries, in percent, that it has
	// ordered.
	Progress func(m Method, percent int)
	// Limit limits the time of the searches beyond closed forms. The default is one minute.
	Limit time.Duration
	// Roots is the number of roots that are tried for a spanning tree. The default is 6.
	Roots int
	// NoDrain leaves out the methods OtherLIDs and Drain.
	NoDrain bool
	// GroupSL returns the SL of a multicast group, or fabric.NoSL if it is unknown. If GroupSL is nil, all groups have
	// SL 0.
	GroupSL func(mlid uint16) uint8
}

// Errors of [Make].
var (
	// ErrOtherSubnet means that the tables are for different switches.
	ErrOtherSubnet = errors.New("the tables are for different subnets")
	// ErrOtherLIDs means that LIDs change.
	ErrOtherLIDs = errors.New("LIDs change")
)

// planner holds what all methods share.
type planner struct {
	*network
	ctx           context.Context
	opt           Options
	before, after *fabric.SL2VL
	deadline      time.Time
	plan          *Plan
	whole         *change // from the old to the new tables
	groups        groups
	multicast     bits // the dependencies of multicast packets that count in the steps of other tables
	// oldAlone and newAlone are the dependencies of the old and of the new tables alone. They are nil if no ring was
	// found yet.
	oldAlone, newAlone bits
}

// change is a change of entries, by destination and switch, with the SL2VL tables in force.
type change struct {
	*planner
	old, new [][]uint8
	maps     []*fabric.SL2VL
}

// Make plans the change from old to new tables of the same switches and LIDs. Switches whose new table is not known
// keep their table, and an old table that is not known counts as empty. Packets between two ports may have the SLs of
// the old and of the new tables, because connections keep the SL that they got. Multicast tables change in any order
// with the others, or old branches are removed in a first step and new ones added in a last step.
//
// Closed forms (any order, outwards) take O(LIDs x switches x SLs) on all processors. The other methods search. A
// search for an order of single entries takes O(entries x (switches + dependencies)) for each step; only entries of
// destinations with a dependency on a ring count. If at most 20 such entries change, an exhaustive search decides
// whether there is an order. Make returns the error of ctx if ctx ends first.
func Make(ctx context.Context, before, after *fabric.Tables, opt Options) (*Plan, error) {
	switch {
	case !fabric.SameNodes(before.Fabric, after.Fabric):
		return nil, fmt.Errorf("plan the transition: %w", ErrOtherSubnet)
	case !keepsLIDs(before.Fabric, after.Fabric):
		return nil, fmt.Errorf("plan the transition: %w", ErrOtherLIDs)
	}
	if opt.Limit == 0 {
		opt.Limit = time.Minute
	}
	if opt.Roots == 0 {
		opt.Roots = 6
	}
	p := &planner{
		network: newNetwork(before, after), ctx: ctx, opt: opt, before: before.SL2VL, after: after.SL2VL,
		deadline: time.Now().Add(opt.Limit), plan: &Plan{Root: fabric.None},
	}
	if p.before == nil {
		p.before = p.after
	}
	if p.after == nil {
		p.after = p.before
	}
	if p.vls == 1 || sameMaps(p.f, p.before, p.after) {
		p.after = p.before
	}
	err := p.follow(before.MFT, after.MFT, []*fabric.SL2VL{p.before, p.after})
	if err == nil {
		err = p.make(p.columns(before, before), p.columns(after, before))
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("plan the transition: %w", err)
	}
	return p.plan, nil
}

// sameMaps reports whether two SL2VL tables are equal at all switches.
func sameMaps(f *fabric.Fabric, a, b *fabric.SL2VL) bool {
	for _, node := range f.Switches {
		for in := range f.Nodes[node].NumPorts + 1 {
			for out := range f.Nodes[node].NumPorts + 1 {
				if a != b && a.VLs(node, in, out) != b.VLs(node, in, out) {
					return false
				}
			}
		}
	}
	return true
}

// keepsLIDs reports whether all end ports with a LID in both fabrics have the same LID in both.
func keepsLIDs(f, g *fabric.Fabric) bool {
	return !slices.ContainsFunc(g.EndPorts, func(e fabric.PortIndex) bool {
		p, q := &f.Ports[e], &g.Ports[e]
		return p.LID != 0 && q.LID != 0 && (p.LID != q.LID || p.LMC != q.LMC)
	})
}

func (p *planner) make(old, new [][]uint8) error {
	all := p.change(old, new, p.before, p.after)
	p.whole = all
	for d := range old {
		for s := range old[d] {
			if old[d][s] != new[d][s] {
				p.plan.Entries++
			}
		}
	}
	p.multicast = p.groups.mixed
	mixed, err := all.mix()
	if err != nil {
		return err
	}
	p.plan.Loops = len(mixed.loops)
	if mixed.bad || len(mixed.loops) > 0 {
		p.plan.Together = p.together(mixed)
	}
	p.nameRings()
	if mixed.isSafe() {
		step := Step{Entries: all.entries(), SL2VL: all.mapped(), Settle: true}
		if p.groups.change {
			step.MFT = AllMFT
		}
		p.take(AnyOrder, []Step{step})
		p.plan.Order = Found
		return nil
	}
	if !p.groups.change {
		return p.search(all, mixed)
	}
	p.multicast = p.groups.both
	if mixed, err = all.mix(); err != nil {
		return err
	}
	if mixed.isSafe() {
		p.take(Settling, []Step{{Entries: all.entries(), SL2VL: all.mapped(), Settle: true}})
		p.plan.Order = Found
	} else if err := p.search(all, mixed); err != nil {
		return err
	}
	if p.plan.Method != NoMethod {
		steps := slices.DeleteFunc(p.plan.Steps, func(s Step) bool { return len(s.Entries) == 0 && !s.SL2VL })
		p.plan.Steps = slices.Concat([]Step{{MFT: CutMFT, Settle: true}}, steps, []Step{{MFT: GrowMFT, Settle: true}})
	}
	return nil
}

// search tries the methods after AnyOrder.
func (p *planner) search(all *change, mixed *mixture) error {
	if err := p.ordered(all, mixed); err != nil || p.plan.Method != NoMethod {
		return err
	}
	if err := p.overTree(all); err != nil || p.plan.Method != NoMethod || p.opt.NoDrain {
		return err
	}
	if err := p.otherLIDs(all, mixed); err != nil || p.plan.Method != NoMethod {
		return err
	}
	return p.drained(all)
}

func (p *planner) change(old, new [][]uint8, maps ...*fabric.SL2VL) *change {
	if len(maps) == 2 && maps[0] == maps[1] {
		maps = maps[:1]
	}
	return &change{planner: p, old: old, new: new, maps: maps}
}

// mapped reports whether SL2VL tables change in the same step.
func (c *change) mapped() bool { return len(c.maps) == 2 }

func (p *planner) take(m Method, steps []Step) { p.plan.Method, p.plan.Steps = m, steps }

func (p *planner) report(m Method, percent int) {
	if p.opt.Progress != nil {
		p.opt.Progress(m, percent)
	}
}

// late reports whether no time is left.
func (p *planner) late() bool { return p.ctx.Err() != nil || time.Now().After(p.deadline) }

// sequences returns the orders of the entries and the SL2VL tables: the entries alone, or SL2VL tables first or last.
func (p *planner) sequences(old, new [][]uint8) [][]*change {
	if p.before == p.after {
		return [][]*change{{p.change(old, new, p.before)}}
	}
	return [][]*change{
		{p.change(old, old, p.before, p.after), p.change(old, new, p.after)},
		{p.change(old, new, p.before), p.change(new, new, p.before, p.after)},
	}
}

// ordered tries to change entries in the methods Outward and Settling.
func (p *planner) ordered(all *change, mixed *mixture) error {
	decided := true
	for _, sequence := range p.sequences(all.old, all.new) {
		method, steps, outcome, err := p.sequence(sequence, mixed, true)
		if err != nil {
			return err
		}
		if outcome == Found {
			p.take(method, steps)
			p.plan.Order = Found
			return nil
		}
		decided = decided && outcome == ProvedNone && len(sequence) == 1
	}
	if decided && !p.groups.change {
		p.plan.Order = ProvedNone
	}
	return nil
}

// sequence orders one change after the other.
func (p *planner) sequence(changes []*change, mixed *mixture, exact bool) (Method, []Step, Outcome, error) {
	method, steps := NoMethod, []Step(nil)
	for _, c := range changes {
		if len(changes) > 1 || mixed == nil {
			var err error
			if mixed, err = c.mix(); err != nil {
				return NoMethod, nil, NotFound, err
			}
		}
		m, more, outcome, err := c.order(mixed, exact)
		if err != nil || outcome != Found {
			return NoMethod, nil, outcome, err
		}
		if len(changes) > 1 && m == AnyOrder {
			m = Settling
		}
		method, steps = max(method, m), append(steps, more...)
	}
	return method, steps, Found, nil
}

// order orders the entries of a change: in any order, outwards, or with settling. The last step settles.
func (c *change) order(mixed *mixture, exact bool) (Method, []Step, Outcome, error) {
	if mixed.isSafe() {
		if !c.mapped() && !c.differs() {
			return AnyOrder, nil, Found, nil
		}
		return AnyOrder, []Step{{Entries: c.entries(), SL2VL: c.mapped(), Settle: true}}, Found, nil
	}
	if c.mapped() {
		return NoMethod, nil, NotFound, nil
	}
	steps, ok, err := c.outward()
	if err != nil || ok {
		return Outward, steps, Found, err
	}
	s, err := c.newSearch(mixed)
	if err != nil {
		return NoMethod, nil, NotFound, err
	}
	if steps, ok := s.greedy(); ok {
		return Settling, steps, Found, nil
	}
	if exact {
		steps, outcome := s.exact()
		return Settling, steps, outcome, c.ctx.Err()
	}
	return NoMethod, nil, NotFound, c.ctx.Err()
}

func (c *change) differs() bool {
	for d := range c.old {
		if &c.old[d][0] != &c.new[d][0] && !slices.Equal(c.old[d], c.new[d]) {
			return true
		}
	}
	return false
}

// entries returns all entries that change.
func (c *change) entries() []Entry {
	var all []Entry
	for d := range c.old {
		all = c.entriesOf(all, d, c.old[d], c.new[d])
	}
	return all
}

// entriesOf appends the entries of a destination that differ between two columns.
func (c *change) entriesOf(list []Entry, d int, from, to []uint8) []Entry {
	for s := range from {
		if from[s] != to[s] {
			list = append(list, Entry{fabric.SwitchIndex(s), c.dests[d].lid, from[s], to[s]})
		}
	}
	return list
}

// each calls work with all destinations on all processors, each with a walker of its own.
func (c *change) each(work func(w *worker, d int)) ([]*worker, error) {
	workers := make([]*worker, routing.Workers())
	err := routing.ForEach(c.ctx, len(c.dests), nil, func(n, d int) {
		if workers[n] == nil {
			workers[n] = &worker{walker: newWalker(c.network, c.maps...), found: newBits(c.size)}
		}
		work(workers[n], d)
	})
	return slices.DeleteFunc(workers, func(w *worker) bool { return w == nil }), err
}

// worker is a walker with results.
type worker struct {
	*walker
	found   bits
	dests   []int
	longest int32
}

func (w *worker) keep() {
	for _, dep := range w.deps {
		w.found.add(dep)
	}
}

// joined returns the dependencies that the workers found together with those of multicast packets.
func (c *change) joined(workers []*worker, multicast bits) bits {
	all := newBits(c.size)
	for _, w := range workers {
		all.join(w.found)
	}
	return united(all, multicast)
}

// mixture is the result of all mixtures of old and new entries of each destination.
type mixture struct {
	bits
	part  []int32 // by channel: its component with a ring of neither the old nor the new tables alone, or 0
	bad   bool    // there is such a component
	loops []int   // destinations with a mixture that loses packets
}

func (m *mixture) isSafe() bool { return !m.bad && len(m.loops) == 0 }

// mix follows packets through all mixtures.
func (c *change) mix() (*mixture, error) {
	workers, err := c.each(func(w *worker, d int) {
		dst, old, new := &c.dests[d], c.old[d], c.new[d]
		w.dropped = false
		w.walk(dst, old, new, nil)
		w.keep()
		if slices.Equal(old, new) {
			if w.dropped && c.mapped() {
				w.dests = append(w.dests, d)
			}
			return
		}
		w.connect(dst, old, new)
		ok, longest := w.mixes(dst, old, new)
		if !ok || w.dropped {
			w.dests = append(w.dests, d)
			_, before := w.mixes(dst, old, old)
			_, after := w.mixes(dst, new, new)
			longest = before + after // of a packet that takes new entries after old ones
		}
		w.longest = max(w.longest, longest)
	})
	if err != nil {
		return nil, err
	}
	m := &mixture{bits: c.joined(workers, c.multicast)}
	for _, w := range workers {
		m.loops = append(m.loops, w.dests...)
		c.plan.Longest = max(c.plan.Longest, int(w.longest))
	}
	slices.Sort(m.loops)
	part, rings := c.parts(m.has)
	if m.part = part; rings == 0 {
		return m, nil
	}
	if err := c.alone(); err != nil {
		return nil, err
	}
	m.bad = c.keepMixed(part, rings, m.has, c.oldAlone.has, c.newAlone.has)
	return m, nil
}

// alone computes the dependencies of the old and of the new tables.
func (p *planner) alone() error {
	for i, found := range []*bits{&p.oldAlone, &p.newAlone} {
		if *found != nil {
			continue
		}
		c := p.whole
		cols := [][][]uint8{c.old, c.new}[i]
		one := p.change(cols, cols, c.maps[min(i, len(c.maps)-1)])
		workers, err := one.each(func(w *worker, d int) {
			w.walk(&c.dests[d], cols[d], cols[d], nil)
			w.keep()
		})
		if err != nil {
			return err
		}
		*found = c.joined(workers, []bits{p.groups.old, p.groups.new}[i])
	}
	return nil
}

// together returns a ring of a mixture that neither the old nor the new tables have alone, nil if there is none.
func (p *planner) together(m *mixture) []credits.Channel {
	if !m.bad {
		return p.ring(m.has, m.part)
	}
	return p.mixedRing(m.has, p.oldAlone.has, p.newAlone.has, m.part)
}

// nameRings sets the rings that the old and the new tables have alone.
func (p *planner) nameRings() {
	if p.oldAlone == nil {
		return
	}
	part, _ := p.parts(p.oldAlone.has)
	p.plan.Old = p.ring(p.oldAlone.has, part)
	part, _ = p.parts(p.newAlone.has)
	p.plan.New = p.ring(p.newAlone.has, part)
}
