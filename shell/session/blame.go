// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/managers"
)

func whatOf(k fabric.ChangeKind) string {
	switch k {
	case fabric.LinkDown, fabric.LinkUp:
		return history.WhatLink
	case fabric.NodeGone, fabric.NodeNew, fabric.NodeRenamed, fabric.NodeSilent, fabric.NodeHidden:
		return history.WhatNode
	}
	return history.WhatPort
}

// The type found holds the findings of a sweep other than the changes of nodes, links and ports.
type found struct {
	managers []managers.SM // the subnet managers before
	tables   diff.Entries
	who      string            // who probably wrote the tables
	counted  *counters.Reading // the last reading of counters, nil for none
	recorded *records.Recorded // the counters recorded lately, nil for none
}

// soonWritten limits which commits can explain changed entries: those that began at most this long before the previous
// sweep.
const soonWritten = 10 * time.Minute

// whoChanged returns a text that names who probably wrote the entries that changed between two sweeps, or "" if no
// entry changed.
func (s *Session) whoChanged(ctx context.Context, before *Picture, after *fabric.Tables,
	sms []managers.SM) (string, error) {
	if before.Tables == nil {
		return "", nil
	}
	var some write.Conflicts
	f := after.Fabric
	for e := range diff.Changes(before.Tables, after) {
		n := f.Switches[e.SwitchNew]
		some.Add(f.NodeName(n), f.Nodes[n].GUID, fmt.Sprintf("LID %d", e.LID), e.Old, e.New, e.New)
		if some.Count == journal.MaxExamples {
			break
		}
	}
	if some.Count == 0 {
		return "", nil
	}
	return s.whoWrote(ctx, &Reading{SMs: sms}, some.List, func(j *history.JournalEntry) bool {
		return j.Began.After(before.When.Add(-soonWritten))
	})
}

// cableCounters are the counters that increase if a cable is bad.
var cableCounters = counters.Of(counters.SymbolErrors, counters.LinkErrorRecovery, counters.LinkDowned,
	counters.RcvErrors, counters.LocalLinkIntegrity)

// blame returns a text with the probable cause of a lost link: its node was lost, or its cable is bad. For a bad cable,
// the text lists the errors that both ends had counted. For other changes it returns "".
func (x *found) blame(c *fabric.Change, gone map[uint64]bool) string {
	switch {
	case c.Kind != fabric.LinkDown:
		return ""
	case gone[c.At.GUID]:
		return "with its node"
	case gone[c.Peer.GUID]:
		return "with the node behind it"
	}
	words, read := x.recordedErrors(c)
	switch {
	case words != nil:
		return fmt.Sprintf("cable; recorded from %s to %s: %s", when.Clock(x.recorded.Spans[0].Since),
			when.Clock(x.recorded.Until), strings.Join(words, ", "))
	case x.counted == nil && read:
		return "cable or port; no errors were recorded from " + when.Clock(x.recorded.Spans[0].Since)
	case x.counted == nil:
		return "cable or port; no counters were read before"
	}
	var last time.Time
	f := x.counted.Fabric
	for i := range x.counted.Ports {
		p := &x.counted.Ports[i]
		end := &f.Ports[p.Port]
		guid := f.Nodes[end.Node].GUID
		if (guid != c.At.GUID || int(end.Num) != c.At.Port) && (guid != c.Peer.GUID || int(end.Num) != c.Peer.Port) {
			continue
		}
		last = p.At
		for k := range (cableCounters & p.Has).All() {
			if n := p.Values[k]; n > 0 {
				words = append(words, fmt.Sprintf("%s %d", k, n))
			}
		}
	}
	switch {
	case last.IsZero() && read:
		return "cable or port; no errors were recorded from " + when.Clock(x.recorded.Spans[0].Since)
	case last.IsZero():
		return "cable or port; no counters were read before"
	case words == nil:
		return "cable or port; no errors were counted by " + when.Clock(last)
	}
	return fmt.Sprintf("cable; counted by %s: %s", when.Clock(last), strings.Join(words, ", "))
}

// recordedErrors returns the recorded errors of both ends of a link as texts, and whether at least one end was read.
func (x *found) recordedErrors(c *fabric.Change) (words []string, read bool) {
	if x.recorded == nil {
		return nil, false
	}
	ends := []counters.Key{
		{GUID: c.At.GUID, Num: uint8(max(c.At.Port, 0))}, {GUID: c.Peer.GUID, Num: uint8(max(c.Peer.Port, 0))},
	}
	for _, k := range ends {
		read = read || x.recorded.Read[k]
		for i := range x.recorded.Totals {
			t := &x.recorded.Totals[i]
			if t.Key != k {
				continue
			}
			for _, n := range t.Counts {
				if cableCounters.Has(n.Counter) && n.Increase > 0 {
					words = append(words, fmt.Sprintf("%s %d", n.Counter, n.Increase))
				}
			}
		}
	}
	return words, read
}

// blameAll sets the probable causes of the events after a time.
func (n *News) blameAll(since time.Time, x *found) {
	gone := map[uint64]bool{}
	from := len(n.Events)
	for from > 0 && !n.Events[from-1].When.Before(since) {
		from--
	}
	events := n.Events[from:]
	for i := range events {
		if c := events[i].Change; c != nil && (c.Kind == fabric.NodeGone || c.Kind == fabric.NodeSilent ||
			c.Kind == fabric.NodeHidden) {
			gone[c.At.GUID] = true
		}
	}
	for i := range events {
		if c := events[i].Change; c != nil {
			events[i].Who = x.blame(c, gone)
		}
	}
}
