// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/history"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/source"
)

// SweepReport describes a sweep.
type SweepReport struct {
	Nodes, Switches, Links int
	Took                   time.Duration
	MADs                   uint64
	// Changed is set if nodes, links or LIDs changed. Moved is the number of forwarding entries that changed. Unread is
	// the number of switches with a table that could not be compared, because it was not read now or before.
	Changed              bool
	First                bool // the subnet was not read before, so that nothing is compared
	Moved, Unread        int
	Unanswered, Warnings []string // Unanswered lists the requests without a response, as text
}

// sweeper reads the subnet for a session.
type sweeper struct{ *Session }

func sweeperOf(s *Session) sweeper { return sweeper{s} }

// sweepOperation is the name of the operation that reads the subnet.
const sweepOperation = "sweep"

// Sweep reads the subnet again: nodes, links, LIDs and forwarding tables.
func (s *Session) Sweep(ctx context.Context) (SweepReport, error) { return s.SweepFor(ctx, Reads{}) }

// sweepFirst reads the subnet for the first time. If the first command is a sweep, it uses the report of this sweep, so
// that the subnet is read only once.
func (s sweeper) sweepFirst(ctx context.Context) error {
	if s.first == nil {
		_, err := s.Sweep(ctx)
		return err
	}
	rep, err := s.SweepFor(ctx, *s.first)
	s.op.Lock()
	defer s.op.Unlock()
	if s.first = nil; err == nil {
		s.report = &rep
	}
	return err
}

// reported returns the report of the first sweep, but only if no operation has run since. Otherwise it returns nil.
func (s sweeper) reported() *SweepReport {
	rep := s.report
	s.report = nil
	return rep
}

// Reads selects the data that sweeps read in addition to the forwarding tables. SLs are requested from the subnet
// administration only once, until the tables change. Adaptive selects the data of adaptive routing, which is read by
// attributes that were not tested on switches.
type Reads struct{ SL2VL, MFT, PKeys, VLArb, Adaptive, SLs bool }

func (r Reads) and(more Reads) Reads {
	return Reads{SL2VL: r.SL2VL || more.SL2VL, MFT: r.MFT || more.MFT, PKeys: r.PKeys || more.PKeys, VLArb: r.VLArb ||
		more.VLArb, Adaptive: r.Adaptive || more.Adaptive}
}

// SweepFor is like [Session.Sweep], but reads further kinds of tables. Later sweeps read them, too.
func (s *Session) SweepFor(ctx context.Context, more Reads) (SweepReport, error) {
	op, err := s.Begin(ctx, sweepOperation)
	if err != nil {
		return SweepReport{}, err
	}
	defer op.End()
	if rep := sweeperOf(s).reported(); rep != nil {
		return *rep, nil
	}
	s.reads = s.reads.and(more)
	rep, err := sweeperOf(s).sweep(ctx)
	if err != nil || !more.SLs {
		return rep, err
	}
	warnings, err := s.readSLs(ctx)
	rep.Warnings = slices.Concat(rep.Warnings, warnings)
	return rep, err
}

// SweepLight reads the data that can have changed since the last sweep. Each light sweep also reads another part of the
// forwarding tables. It reads everything if something changed, while the state is Unsettled, and in every tenth sweep.
func (s *Session) SweepLight(ctx context.Context) (SweepReport, error) {
	op, err := s.Begin(ctx, sweepOperation)
	if err != nil {
		return SweepReport{}, err
	}
	defer op.End()
	s.report = nil
	if s.State().Source.Offline() {
		return SweepReport{}, s.readAgain(ctx)
	}
	l, err := s.conn.Line()
	var lost *connection.LostError
	switch {
	case errors.As(err, &lost), errors.Is(err, connection.ErrUnopened):
		return sweeperOf(s).sweep(ctx)
	case err != nil:
		return SweepReport{}, err
	}
	before := s.State()
	live := before.Live
	s.lights++
	if s.lights%fullEvery == 0 || before.Unsettled {
		return sweeperOf(s).sweep(ctx)
	}
	sent := l.Client.Stats().Sent
	res, err := sweep.Light(ctx, l.Client, live.Fabric, sweep.LightOptions{
		Descriptions: true, Tables: live.Tables, Sample: sweeperOf(s).sample(live.Tables), Progress: SweepProgress(op),
	})
	if errors.Is(s.conn.Failed(l, err), mad.ErrBroken) {
		return sweeperOf(s).sweep(ctx)
	}
	if err != nil {
		return SweepReport{}, err
	}
	st := s.State()
	now := st.Named(res.Fabric)
	if now != res.Fabric {
		res.Changes = fabric.Changes(live.Fabric, now)
	}
	if len(res.Changes) > 0 || res.Rerouted > 0 || !slices.EqualFunc(res.Unanswered, before.unansweredAt,
		sameUnanswered) {
		return sweeperOf(s).sweep(ctx)
	}
	sms, err := managers.Find(ctx, s.conn.Client(), now) // those of the last sweep may be gone
	if err != nil {
		return SweepReport{}, s.conn.Failed(l, err)
	}
	s.Publish(ChangeLive, func(st *State) {
		same := *st.Live
		same.When = time.Now()
		before := st.SMs
		st.Live, st.SMs, st.SweepTook = &same, sms, res.Stats.Elapsed
		st.noteMaster(before)
	})
	if err := s.findInterruptedOfOthers(ctx); err != nil {
		res.Warnings = append(res.Warnings, err.Error())
	}
	if st := s.State(); st.Source.Live() && len(st.unrecorded()) > 0 {
		sweeperOf(s).recordSweep(s.State().Live, len(s.State().Unanswered))
	}
	return SweepReport{
		Switches: len(live.Fabric.Switches), Nodes: len(live.Fabric.Nodes), Links: len(live.Fabric.Links()),
		Took: res.Stats.Elapsed, MADs: l.Client.Stats().Sent - sent, Unanswered: s.State().Unanswered,
		Warnings: res.Warnings,
	}, nil
}

// sameUnanswered reports whether two unanswered requests are the same request.
func sameUnanswered(a, b sweep.Unanswered) bool {
	return a.GUID == b.GUID && a.Port == b.Port && a.Attr == b.Attr
}

const (
	// fullEvery is the number of background sweeps of which one is a full sweep.
	fullEvery = 10
	// fewBlocks is the maximum number of forwarding-table blocks that every light sweep reads completely. If there are
	// more blocks, a light sweep reads a tenth of them.
	fewBlocks = 4096
)

// sample returns the part of the tables that the next light sweep reads.
func (s sweeper) sample(t *fabric.Tables) sweep.Sample {
	if t == nil || t.LFT.Switches()*t.LFT.Blocks() <= fewBlocks {
		return sweep.Sample{Of: 1}
	}
	return sweep.Sample{Nth: s.lights % fullEvery, Of: fullEvery}
}

// SweepFor reads the subnet within the operation. It also reads the kinds of tables that t contains, in this sweep
// only.
func (o *Op) SweepFor(ctx context.Context, t *fabric.Tables) error {
	s := sweeperOf(o.session)
	defer func(reads Reads) { s.reads = reads }(s.reads)
	s.reads = s.reads.and(Reads{SL2VL: t.SL2VL != nil, MFT: t.MFT != nil})
	_, err := s.sweep(ctx)
	return err
}

// ReadLater makes later sweeps read more.
func (o *Op) ReadLater(more Reads) { o.session.reads = o.session.reads.and(more) }

// sweep reads the subnet. It opens the connection again if it was lost before or is lost during the sweep.
func (s sweeper) sweep(ctx context.Context) (SweepReport, error) {
	l, err := s.conn.Reopen(ctx)
	if err != nil {
		return SweepReport{}, err
	}
	rep, err := s.sweepBy(ctx, l)
	if !errors.Is(s.conn.Failed(l, err), mad.ErrBroken) || !s.State().Source.Live() {
		return rep, err
	}
	l, again := s.conn.Reopen(ctx)
	if again != nil {
		return rep, errors.Join(err, again)
	}
	rep, err = s.sweepBy(ctx, l)
	return rep, s.conn.Failed(l, err)
}

func (s sweeper) sweepBy(ctx context.Context, l *connection.Line) (SweepReport, error) {
	sent := l.Client.Stats().Sent
	res, err := sweep.Full(ctx, l.Client, sweep.Options{
		Progress: SweepProgress(&Op{s.Session}), SL2VL: s.reads.SL2VL, MFT: s.reads.MFT, PKeys: s.reads.PKeys,
		VLArb: s.reads.VLArb, Adaptive: s.reads.Adaptive,
	})
	if err != nil {
		return SweepReport{}, err
	}
	sms, err := managers.Find(ctx, s.conn.Client(), res.Fabric)
	if err != nil {
		return SweepReport{}, err
	}
	if s.State().Source.Kind == source.Sim { // without a subnet manager all SLs and VLs are 0
		res.Tables.Unread = fabric.Unread{}
	}
	live := &Picture{Kind: Live, Fabric: res.Fabric, Tables: res.Tables, When: time.Now(), Limits: res.Limits,
		VLArb: res.VLArb}
	earlier := s.State()
	live = earlier.WithNames(live)
	rep := SweepReport{
		Switches: len(res.Fabric.Switches), Nodes: len(res.Fabric.Nodes), Links: len(res.Fabric.Links()),
		Took: res.Stats.Elapsed, MADs: l.Client.Stats().Sent - sent, Warnings: res.Warnings,
	}
	for _, h := range res.Unanswered {
		rep.Unanswered = append(rep.Unanswered, h.String())
	}
	tables := moved(s.State().Live.Tables, live.Tables)
	first := len(s.State().Live.Fabric.Nodes) == 0
	rep.First, rep.Moved, rep.Unread = first, tables.Changed, tables.Unread
	found := found{tables: tables, counted: s.counted}
	if !fabric.Same(s.State().Live.Fabric, live.Fabric) {
		found.recorded = s.Recorded().Lately(ctx)
	}
	if found.who, err = s.whoChanged(ctx, s.State().Live, live.Tables, sms); err != nil {
		rep.Warnings = append(rep.Warnings, err.Error())
	}
	s.Publish(ChangeLive|ChangeStaged, func(st *State) {
		rep.Changed = !fabric.Same(st.Live.Fabric, live.Fabric)
		before := st.Live
		found.managers = st.SMs
		if st.Lost != "" {
			st.Lost = ""
			st.Note("the connection is back, and the subnet was read")
		}
		if st.Base == nil && (rep.Changed || rep.Moved+rep.Unread > 0) {
			st.past = compute.Past{} // the what-if starts from a different subnet
		}
		st.Live, st.Unanswered, st.Warnings, st.SMs = live, rep.Unanswered, rep.Warnings, sms
		st.unansweredAt, st.Duplicates, st.SweepTook = res.Unanswered, res.Duplicates, res.Stats.Elapsed
		if res.PKeys != nil {
			st.PKeys = keysByGUID(res.Fabric, res.PKeys)
		}
		st.keepKnown(before, tables)
		st.Stale = st.stale()
		st.noteChanges(before, &found)
		live.When = time.Now() // not before the events of the sweep
	})
	if first {
		rep.Warnings = append(rep.Warnings, s.lookForLosses(ctx)...)
	}
	over, err := s.findOverwritten(ctx, rep.Moved > 0)
	if err := errors.Join(err, s.findInterruptedOfOthers(ctx)); err != nil {
		rep.Warnings = append(rep.Warnings, err.Error())
	}
	if over != "" {
		rep.Warnings = append(rep.Warnings, over)
		s.Publish(ChangeLive, func(st *State) { st.Note("%s", over) })
	}
	if s.State().Source.Live() {
		s.recordSweep(live, len(rep.Unanswered))
	}
	return rep, nil
}

// recordSweep adds a sweep to the history if the history keeps sweeps. It includes the events since the last recorded
// sweep.
func (s sweeper) recordSweep(live *Picture, unanswered int) {
	if s.recorder.Load().Records() {
		s.recordRead(live, unanswered)
	}
}

// recordRead is recordSweep for a history that is known to be open for writing.
func (s sweeper) recordRead(live *Picture, unanswered int) {
	r := s.recorder.Load()
	f := live.Fabric
	e := s.newEntry(history.Sweep, live, "", map[string]float64{
		"nodes": float64(len(f.Nodes)), "links": float64(len(f.Links())), "holes": float64(unanswered),
	})
	st := s.State()
	e.Events, e.Seen = st.unrecorded(), st.Seen(st.Live)
	if r.Record(e, f, live.Tables) && len(e.Events) > 0 {
		s.Publish(ChangeLive, func(now *State) { now.recorded = st.events })
	}
}

// unrecorded returns the events that are not yet in the history.
func (n *News) unrecorded() (fresh []history.Event) {
	for _, e := range n.EventsSince(n.recorded) {
		if e.What != history.WhatRest {
			fresh = append(fresh, e.Kept())
		}
	}
	return fresh
}

// Kept returns the event in the form in which the history stores it.
func (e *Event) Kept() history.Event {
	k := history.Event{When: e.When, What: e.What, Text: e.Text, Who: e.Who, GUID: e.GUID, Port: e.Port}
	if e.Change != nil {
		k.GUID, k.Port = e.Change.At.GUID, max(e.Change.At.Port, 0)
		k.PeerGUID, k.PeerPort = e.Change.Peer.GUID, max(e.Change.Peer.Port, 0)
		k.Down = e.Change.Kind == fabric.LinkDown
	}
	return k
}

// SweepProgress returns a function that reports the progress of a sweep as the progress of an operation.
func SweepProgress(op *Op) func(sweep.Progress) {
	return func(p sweep.Progress) {
		if p.BlocksToDo > 0 {
			op.Progress(p.Blocks, p.BlocksToDo)
			return
		}
		op.Progress(p.Nodes, 0)
	}
}

func keysByGUID(f *fabric.Fabric, keys map[fabric.PortIndex][]mad.PKey) map[uint64][]mad.PKey {
	out := make(map[uint64][]mad.PKey, len(f.EndPorts))
	for _, p := range f.EndPorts {
		if k := keys[p]; k != nil {
			out[f.Ports[p].GUID] = k
		}
	}
	return out
}
