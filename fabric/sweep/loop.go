// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
)

// task is one question, small enough to queue up by the hundred thousand.
type task struct {
	kind kind
	port uint8 // of what is asked
	mod  uint16
	node int32 // whom to ask
}

type kind uint8

const (
	askNode      kind = iota // NodeInfo, one hop beyond port
	askText                  // NodeDescription
	askSwitch                // SwitchInfo
	askPort                  // PortInfo of port
	askSpeed                 // MellanoxExtendedPortInfo of port
	askBlock                 // block mod of the forwarding table
	askAgain                 // PortInfo of port once more
	askHost                  // PortInfo of the host's port that was beyond port
	askSL2VL                 // SLtoVLMappingTable of packets from port mod to port
	askMFT                   // block mod of the multicast table, for 16 ports from 16*port on
	askVLArb                 // part mod of the VL arbitration of port
	askPKeys                 // block mod of the P_Keys of port
	askGUIDs                 // block mod of the GUIDs of port
	askAdaptive              // AdaptiveRoutingInfo
	askPrivate               // PrivateLFTInfo
	askGroups                // block mod of the groups for adaptive routing
	askLIDGroups             // block mod of the adaptive forwarding table
	kinds
)

// ofTables reports whether a question is about what a node holds in a table.
func (k kind) ofTables() bool {
	switch k {
	case askBlock, askSL2VL, askMFT, askVLArb, askPKeys, askGUIDs:
		return true
	}
	return false
}

// vendors reports whether a question is one that switches of one vendor alone know, and not all of those.
func (k kind) vendors() bool { return k >= askAdaptive }

var attrs = [kinds]mad.AttrID{
	mad.AttrNodeInfo, mad.AttrNodeDescription, mad.AttrSwitchInfo, mad.AttrPortInfo,
	mad.AttrMellanoxExtendedPortInfo, mad.AttrLinearForwardingTable, mad.AttrPortInfo, mad.AttrPortInfo,
	mad.AttrSLToVLTable, mad.AttrMulticastForwardingTable, mad.AttrVLArbitrationTable, mad.AttrPKeyTable,
	mad.AttrGUIDInfo,
	mad.AttrAdaptiveRoutingInfo, mad.AttrPrivateLFTInfo, mad.AttrAdaptiveRoutingGroupTable, mad.AttrAdaptiveRoutingLFT,
}

func (t task) pack() uint64 {
	return uint64(t.kind)<<56 | uint64(t.port)<<48 | uint64(t.mod)<<32 | uint64(uint32(t.node))
}

func unpack(u uint64) task {
	return task{kind: kind(u >> 56), port: uint8(u >> 48), mod: uint16(u >> 32), node: int32(uint32(u))}
}

// mostUnanswered is how many questions in a row a node may leave unanswered before it is asked no more.
const mostUnanswered = 4

// reportEvery is how many answers pass between two progress reports.
const reportEvery = 1024

// sweeper asks and collects, in one goroutine: answers are handled one by one, and each may ask more.
type sweeper struct {
	client   *mad.Client
	before   mad.Stats // of the client
	batch    *mad.Batch
	pulse    mad.Pulse
	ctx      context.Context
	give     context.CancelCauseFunc // gives the sweep up
	opts     Options
	memory   *memory // of a light sweep
	limit    int     // questions handed to the batch at a time
	queue    []task
	next     int // of queue
	handle   func(*mad.Reply)
	answered [kinds]func(task, *mad.Reply)

	nodes      []*node
	room       room // for more of them
	byGUID     map[uint64]int32
	found      map[int32]bool // nodes that answered again
	resumed    bool           // by the same path
	local      uint8          // port of node 0
	fatal      error
	switches   int
	ports      int
	full       bool            // no room for more nodes
	built      bool            // the fabric is
	warnings   []func() string // as late as possible, when names are known
	duplicates []Duplicate     // what warnings are about
	misses     []miss
	answers    int
	stats      Stats
	progress   Progress
}

// miss is a question without a good answer.
type miss struct {
	task task
	err  error
}

var errNotAsked = fmt.Errorf("not asked, since the node gave %w to the questions before", mad.ErrTimeout)

func newSweeper(ctx context.Context, client *mad.Client, opts Options) *sweeper {
	ctx, give := context.WithCancelCause(ctx)
	s := &sweeper{
		ctx: ctx, give: give,
		client: client, before: client.Stats(),
		batch:  client.NewBatch(ctx),
		opts:   opts,
		limit:  client.Options().Window + 1, // the one whose answer is being handled counts
		byGUID: map[uint64]int32{},
	}
	s.handle = s.reply
	s.answered = [kinds]func(task, *mad.Reply){
		askNode: s.gotNode, askText: s.gotText, askSwitch: s.gotSwitch, askPort: s.gotPort, askSpeed: s.gotSpeed,
		askAgain: s.gotAgain, askHost: s.gotHost,
	}
	return s
}

// ask queues a question. They are asked in order, and late: what is superfluous by then is not asked.
func (s *sweeper) ask(t task) { s.queue = append(s.queue, t) }

// run asks until no question is left.
func (s *sweeper) run() error {
	s.pump()
	err := s.batch.Wait()
	if s.ctx.Err() != nil {
		err = context.Cause(s.ctx)
	}
	return err
}

func (s *sweeper) pump() {
	for s.next < len(s.queue) && s.batch.Len() < s.limit {
		t := s.queue[s.next]
		s.next++
		if s.superfluous(t) {
			continue
		}
		path, err := s.path(t)
		if err != nil {
			s.miss(t, err)
			continue
		}
		s.stats.Requests++
		s.batch.Go(mad.Request{Attr: attrs[t.kind], Mod: s.modifier(t), Path: path, User: t.pack()}, s.handle)
	}
	if s.next == len(s.queue) {
		s.queue, s.next = s.queue[:0], 0
	}
}

// superfluous says that the link is known from its other end, or that the node does not answer.
func (s *sweeper) superfluous(t task) bool {
	n := s.nodes[t.node]
	if (t.kind == askNode || t.kind == askHost) && n.ports[t.port].linked() {
		return true
	}
	if n.unanswered >= mostUnanswered {
		s.miss(t, errNotAsked)
		return true
	}
	return false
}

func (s *sweeper) modifier(t task) uint32 {
	switch t.kind {
	case askPort, askSpeed, askAgain:
		return uint32(t.port)
	case askHost:
		return uint32(s.memory.assumed(s.nodes[t.node], t.port).Num)
	case askBlock, askGUIDs, askGroups, askLIDGroups:
		return uint32(t.mod)
	case askMFT:
		return mad.MulticastMod(t.mod, t.port)
	}
	num := t.port
	if !s.nodes[t.node].isSwitch() {
		num = 0 // the one that is asked through
	}
	switch t.kind {
	case askSL2VL:
		return mad.SLToVLMod(uint8(t.mod), num)
	case askVLArb:
		return mad.VLArbMod(mad.VLArbPart(t.mod), num)
	case askPKeys:
		return mad.PKeyMod(num, t.mod)
	}
	return 0
}

// path is the directed route for a question. A port of a channel adapter is asked through itself.
func (s *sweeper) path(t task) (mad.Path, error) {
	n := s.nodes[t.node]
	switch t.kind {
	case askNode, askHost:
		return n.path.Append(t.port)
	case askText, askSwitch, askBlock, askMFT, askSpeed, askAdaptive, askPrivate, askGroups, askLIDGroups:
		return n.path, nil
	}
	if p := &n.ports[t.port]; !n.isSwitch() && p.linked() && !s.isLocal(t.node, t.port) {
		return s.nodes[p.peer].path.Append(p.peerNum)
	}
	return n.path, nil
}

// reply handles an answer.
func (s *sweeper) reply(r *mad.Reply) {
	t := unpack(r.Request.User)
	s.pulse.Observe(s.batch, r.Err, s.give)
	switch {
	case r.Err == nil:
		s.nodes[t.node].unanswered = 0
		s.answered[t.kind](t, r)
	// not all that should know the attribute do
	case t.kind == askSpeed, (t.kind == askAdaptive || t.kind == askPrivate) && refused(r.Err):
	case t.kind == askHost:
		s.gotHost(t, r)
	default:
		if t.kind != askNode && errors.Is(r.Err, mad.ErrTimeout) {
			s.nodes[t.node].unanswered++
		}
		if t.kind == askAgain {
			s.lostAgain(t)
		}
		s.miss(t, r.Err)
	}
	if s.answers++; s.answers%reportEvery == 0 {
		s.report()
	}
	s.pump()
}

func (s *sweeper) miss(t task, err error) {
	s.stats.Missed++
	s.misses = append(s.misses, miss{t, err})
}

func (s *sweeper) report() {
	if s.opts.Progress != nil {
		s.progress.Nodes, s.progress.Switches = len(s.nodes), s.switches
		s.opts.Progress(s.progress)
	}
}
