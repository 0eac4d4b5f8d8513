// SPDX-License-Identifier: Apache-2.0

// Package resilience simulates every single failure of a kind for a routing: each link between switches, each switch,
// or each pair of links. For each failure it adapts the tables with package incremental, and follows the changed paths
// of all pairs of end ports. It counts unreachable end ports and overloaded links, proves that the routes have no
// credit loop, and keeps the worst failures.
//
// The failures of a study are numbered. A study can be split into N shards, each of which simulates every Nth failure.
// A study can be stopped after any failure and continued.
package resilience

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/trees"
)

// Kept is the maximum number of failures that a report lists.
const Kept = 1000

// Study holds all failures of a kind for one routing. It is read-only.
type Study struct {
	base *incremental.Base
	all  *failures
	ends *trees.Ends
	// endOf is indexed by LID: the index of the end port that has the LID, or -1. groupsAt lists, for each switch, the
	// groups of ends attached to it.
	endOf    []int32
	groupsAt [][]int32
	*passing
	// first is port 0 of each switch. next is the switch at the other end of each port's link, or None.
	first []fabric.PortIndex
	next  []fabric.SwitchIndex
	// spanning marks the ports of the links of a spanning tree.
	spanning []bool
	// paths counts the paths over each port. ranked lists the ports between switches, most paths first.
	paths  []int64
	ranked []fabric.PortIndex
	report Report
	prover prover
	// looped is set if the tables have a credit loop without a failure. It is computed when it is first needed.
	looped struct {
		once sync.Once
		is   bool
		err  error
	}
}

// New prepares a study of all failures of a kind. O(switches x LIDs) on all processors.
func New(ctx context.Context, base *incremental.Base, kind Kind) (*Study, error) {
	t := base.Tables
	if !base.Takes(t.Fabric) {
		return nil, fmt.Errorf("the tables of %s are incomplete: a switch was not read, or a switch has no "+
			"entry for a LID",
			t.Origin)
	}
	all, err := listFailures(t.Fabric, kind)
	if err != nil {
		return nil, err
	}
	if base, err = base.Measured(ctx); err != nil {
		return nil, err
	}
	loads, err := linkload.AllToAll(ctx, t, linkload.Options{})
	if err != nil {
		return nil, err
	}
	s := &Study{base: base, all: all, ends: trees.NewEnds(t, false), paths: loads.Paths}
	s.endOf = slices.Repeat([]int32{-1}, max(int(t.LFT.MaxLID), int(t.Fabric.MaxLID))+1)
	for _, l := range s.ends.LIDs {
		if l.LID > t.LFT.MaxLID {
			return nil, fmt.Errorf("LID %d exceeds the highest LID of the tables, %d", l.LID, t.LFT.MaxLID)
		}
		s.endOf[l.LID] = l.End
	}
	if s.passing, err = findPassing(ctx, base.Forest, s.ends, s.endOf); err != nil {
		return nil, err
	}
	s.wire(t.Fabric)
	s.span()
	s.groupsAt = make([][]int32, len(t.Fabric.Switches))
	for g := range s.ends.Groups {
		if at := s.ends.Groups[g].At; at >= 0 {
			s.groupsAt[at] = append(s.groupsAt[at], int32(g))
		}
	}
	for p := range s.paths {
		if s.paths[p] > 0 && linkload.ClassOf(t.Fabric, fabric.PortIndex(p)) == linkload.BetweenSwitches {
			s.ranked = append(s.ranked, fabric.PortIndex(p))
		}
	}
	slices.SortFunc(s.ranked, func(x, y fabric.PortIndex) int {
		return cmp.Or(cmp.Compare(s.paths[y], s.paths[x]), cmp.Compare(x, y))
	})
	s.report = Report{Kind: kind, Fabric: fabricSum(t.Fabric), Routing: routingSum(t), Failures: all.count(),
		Paths: loads.Delivered}
	s.prover = newProver(t, s.report.Failures, kind)
	s.report.Every = s.prover.every
	if len(s.ranked) > 0 {
		s.report.Worst = s.paths[s.ranked[0]]
	}
	return s, nil
}

// wire fills in the switch at the other end of each switch port.
func (s *Study) wire(f *fabric.Fabric) {
	s.first, s.next = make([]fabric.PortIndex, len(f.Switches)), make([]fabric.SwitchIndex, len(f.Ports))
	for p := range s.next {
		s.next[p] = fabric.None
	}
	for sw := range f.NumSwitches() {
		n := f.SwitchNode(sw)
		s.first[sw] = n.FirstPort
		for p := range n.Ports() {
			s.next[p] = max(fabric.None, s.base.Wires.Next(sw, f.Ports[p].Num))
		}
	}
}

// Empty returns the empty report of one of the shards, numbered from 1.
func (s *Study) Empty(shard, shards int) (*Report, error) {
	if shard < 1 || shard > shards {
		return nil, fmt.Errorf("shard %d of %d, expected 1 to %d", shard, shards, max(1, shards))
	}
	r := s.report
	r.Shards, r.Shard = shards, []int{shard}
	r.Failed = []Verdict{}
	return &r, nil
}

// chunk is the number of failures between checks of the context.
const chunk = 256

// Run continues a report of this study until its shard is complete. If the function progress is not nil, Run calls it
// with the report after every few hundred failures. If ctx ends first, the report contains the failures that are done.
// Run uses all processors.
func (s *Study) Run(ctx context.Context, r *Report, progress func(*Report)) error {
	if err := s.Takes(r); err != nil {
		return err
	}
	judges := make([]*judge, routing.Workers())
	total := r.Share()
	for r.Done < total {
		n := min(chunk, total-r.Done)
		found := make([]Verdict, n)
		err := routing.ForEach(ctx, n, nil, func(worker, i int) {
			if judges[worker] == nil {
				judges[worker] = s.newJudge()
			}
			found[i] = judges[worker].simulate(ctx, (r.Done+i)*r.Shards+r.Shard[0]-1)
		})
		for _, j := range judges {
			if j != nil && err == nil {
				err = j.err
			}
		}
		if err != nil {
			return err
		}
		r.take(s, found)
		if progress != nil {
			progress(r)
		}
	}
	return ctx.Err()
}

// Failure returns the links that failure n removes. The result node is the failed switch, or None if the failure is not
// the failure of a switch.
func (s *Study) Failure(n int) (links []fabric.Link, node fabric.NodeIndex) {
	node = fabric.None
	if s.all.kind == Switches {
		node = s.all.switches[n]
	}
	return s.all.removed(n), node
}

// Takes returns an error if a report does not belong to this study.
func (s *Study) Takes(r *Report) error {
	if err := s.report.sameStudy(r); err != nil {
		return err
	}
	if len(r.Shard) != 1 || r.Shard[0] < 1 || r.Shard[0] > r.Shards || r.Done < 0 {
		return fmt.Errorf("the report has shards %v of %d, expected a report of one shard", r.Shard, r.Shards)
	}
	return nil
}

// take adds verdicts.
func (r *Report) take(s *Study, found []Verdict) {
	for i := range found {
		r.count(&found[i])
	}
	r.Done += len(found)
	all := append(r.Failed, found...)
	slices.SortStableFunc(all, worse)
	r.Failed = slices.Clone(all[:min(Kept, len(all))])
	for i := range r.Failed {
		if v := &r.Failed[i]; v.Name == "" {
			v.Name = s.all.name(v.Number)
			if v.at != fabric.None {
				v.At = s.base.Tables.Fabric.PortName(v.at)
			}
		}
	}
}

// fabricSum returns a checksum of the links and LIDs of the subnet, which identifies the subnet.
func fabricSum(f *fabric.Fabric) string {
	h := sha256.New()
	var b []byte
	for i := range f.Nodes {
		b = binary.LittleEndian.AppendUint64(b[:0], f.Nodes[i].GUID)
		n := &f.Nodes[i]
		for p := range n.Slots() {
			port := &f.Ports[p]
			b = binary.LittleEndian.AppendUint32(b, uint32(port.Peer))
			b = binary.LittleEndian.AppendUint16(b, port.LID)
			b = append(b, port.LMC)
		}
		_, _ = h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// routingSum identifies the tables.
func routingSum(t *fabric.Tables) string {
	h := sha256.New()
	for s := range t.Fabric.NumSwitches() {
		if t.Known[s] {
			row := t.LFT.Row(s)
			_, _ = h.Write(row[:min(len(row), int(t.Top[s])+1)])
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// span finds a spanning tree of the links between switches. If the subnet is not connected, it finds a spanning tree of
// each component. O(links).
func (s *Study) span() {
	graph := s.base.Graph
	s.spanning = make([]bool, len(s.next))
	met := make([]bool, graph.Switches())
	var queue []fabric.SwitchIndex
	for root := range fabric.SwitchIndex(len(met)) {
		if met[root] {
			continue
		}
		met[root] = true
		queue = append(queue[:0], root)
		for i := 0; i < len(queue); i++ {
			for _, l := range graph.Of(queue[i]) {
				if !met[l.Peer] {
					met[l.Peer] = true
					s.spanning[s.first[queue[i]]+fabric.PortIndex(l.Port)] = true
					s.spanning[s.first[l.Peer]+fabric.PortIndex(l.PeerPort)] = true
					queue = append(queue, l.Peer)
				}
			}
		}
	}
}

// splits reports whether the links of a failure disconnect the subnet or a host. It checks connectivity only if one of
// the links is in the spanning tree.
func (s *Study) splits(links []fabric.Link) bool {
	if s.all.kind != Switches && !slices.ContainsFunc(links, func(l fabric.Link) bool { return s.spanning[l.A] }) {
		return false
	}
	return s.base.Tables.Fabric.Splits(links)
}
