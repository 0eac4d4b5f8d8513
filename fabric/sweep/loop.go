// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
)

// task is a request in a compact form. Hundreds of thousands of tasks may be queued.
type task struct {
	kind kind
	port uint8 // port that the request is about
	mod  uint16
	node int32 // node that receives the request
}

type kind uint8

const (
	askNode      kind = iota // NodeInfo, one hop beyond port
	askText                  // NodeDescription
	askSwitch                // SwitchInfo
	askPort                  // PortInfo of port
	askSpeed                 // MellanoxExtendedPortInfo of port
	askBlock                 // block mod of the forwarding table
	askAgain                 // PortInfo of port, read again
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

// isTable reports whether the request reads a table of a node.
func (k kind) isTable() bool {
	switch k {
	case askBlock, askSL2VL, askMFT, askVLArb, askPKeys, askGUIDs:
		return true
	}
	return false
}

// isVendor reports whether only switches of one vendor may know the attribute.
func (k kind) isVendor() bool { return k >= askAdaptive }

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

// mostUnanswered is the number of consecutive unanswered requests after which no more are sent to a node.
const mostUnanswered = 4

// reportEvery is the number of answers between two calls of Options.Progress.
const reportEvery = 1024

// sweeper sends requests and collects answers in one goroutine. An answer may cause further requests.
type sweeper struct {
	client   *mad.Client
	before   mad.Stats // of the client
	batch    *mad.Batch
	pulse    mad.Pulse
	ctx      context.Context
	cancel   context.CancelCauseFunc
	opts     Options
	memory   *memory // of a light sweep
	limit    int     // requests in the batch at a time
	queue    []task
	next     int // of queue
	handle   func(*mad.Reply)
	answered [kinds]func(task, *mad.Reply)

	nodes      []*node
	slab       slab
	byGUID     map[uint64]int32
	recovered  map[int32]bool // nodes that respond again
	resumed    bool           // a node responds again by the same path
	local      uint8          // port of node 0
	fatal      error
	switches   int
	ports      int
	full       bool      // the limit of nodes is reached
	built      bool      // the fabric is complete
	warnings   []warning // formatted when all names are known
	duplicates []Duplicate
	misses     []miss
	answers    int
	stats      Stats
	progress   Progress
}

// miss is a request without a valid answer.
type miss struct {
	task task
	err  error
}

var errNotAsked = fmt.Errorf("not read: %w to earlier requests", mad.ErrTimeout)

func newSweeper(ctx context.Context, client *mad.Client, opts Options) *sweeper {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &sweeper{
		ctx: ctx, cancel: cancel,
		client: client, before: client.Stats(),
		batch:  client.NewBatch(ctx),
		opts:   opts,
		limit:  client.Options().Window + 1, // includes the request whose answer is being handled
		byGUID: map[uint64]int32{},
	}
	s.handle = s.reply
	s.answered = [kinds]func(task, *mad.Reply){
		askNode: s.gotNode, askText: s.gotText, askSwitch: s.gotSwitch, askPort: s.gotPort, askSpeed: s.gotSpeed,
		askAgain: s.gotAgain, askHost: s.gotHost,
	}
	return s
}

// ask queues a request. A request that has become superfluous is dropped when its turn comes.
func (s *sweeper) ask(t task) { s.queue = append(s.queue, t) }

// run sends requests until none is left.
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

// superfluous reports whether a request is no longer needed: the link is known from the other end, or the node does not
// respond.
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
		num = 0 // the port that receives the request
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

// path returns the directed route for a request. A request for a port of a channel adapter must enter the adapter
// through this port.
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
	s.pulse.Observe(s.batch, r.Err, s.cancel)
	switch {
	case r.Err == nil:
		s.nodes[t.node].unanswered = 0
		s.answered[t.kind](t, r)
	// This case ignores the error, because not all nodes that should support the attribute do so.
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
