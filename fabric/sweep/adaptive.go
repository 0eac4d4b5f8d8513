// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// adaptiveSwitch holds the adaptive-routing attributes of a switch.
type adaptiveSwitch struct {
	info    *mad.AdaptiveRoutingInfo
	private mad.PrivateLFTInfo
	masks   []mad.PortMask
	entries []fabric.AdaptiveEntry
	// mismatches counts the LIDs whose static port differs from the forwarding table. firstMismatch is the lowest of
	// these LIDs.
	mismatches    int
	firstMismatch uint16
	otherTables   bool // entries use other group tables than the first
}

// refused reports whether the error is the answer of a node that does not support the attribute or method.
func refused(err error) bool {
	return errors.Is(err, mad.StatusMethodAttrMismatch) || errors.Is(err, mad.StatusMethodUnsupported)
}

// readAdaptive reads the adaptive routing of NVIDIA switches. It first reads whether a switch routes adaptively, then
// the groups and the group of each LID. The forwarding tables must have been read.
func (r *reader) readAdaptive() error {
	if !r.opts.Adaptive || r.tables == nil {
		return nil
	}
	var asked []fabric.NodeIndex
	for _, n := range r.known() {
		if fabric.MayAdapt(r.f.Nodes[n].VendorID) {
			asked = append(asked, n)
		}
	}
	r.adaptive = make([]adaptiveSwitch, len(r.f.Switches))
	r.answered[askAdaptive], r.answered[askPrivate] = r.gotAdaptive, r.gotPrivate
	r.answered[askGroups], r.answered[askLIDGroups] = r.gotGroups, r.gotLIDGroups
	first := []kind{askAdaptive, askPrivate}
	const what = "tables of adaptive routing"
	r.spread(what, asked, func(int32) int { return len(first) }, func(_ int32, k int) task {
		return task{kind: first[k]}
	})
	if err := r.askAll(); err != nil {
		return err
	}
	adapting := slices.DeleteFunc(asked, func(n fabric.NodeIndex) bool {
		return r.adaptive[r.f.Nodes[n].Switch].groups() == 0
	})
	size := 0
	for _, n := range adapting {
		sw := r.f.Nodes[n].Switch
		size += r.adaptive[sw].groups()*8*len(mad.PortMask{}) + 2*(int(r.tables.Top[sw])+1)
	}
	if !r.fits(int64(size), maxBytes, "%s: they", what) {
		return nil
	}
	for _, n := range adapting {
		s := &r.adaptive[r.f.Nodes[n].Switch]
		s.masks = make([]mad.PortMask, s.groups())
		s.entries = make([]fabric.AdaptiveEntry, int(r.tables.Top[r.f.Nodes[n].Switch])+1)
	}
	if !r.spread(what, adapting, func(i int32) int {
		groups, lids := r.adaptive[r.row[i]].blocks()
		return groups + lids
	}, func(i int32, k int) task {
		if groups, _ := r.adaptive[r.row[i]].blocks(); k >= groups {
			return task{kind: askLIDGroups, mod: uint16(k - groups)}
		}
		return task{kind: askGroups, mod: uint16(k)}
	}) {
		return nil
	}
	if err := r.askAll(); err != nil {
		return err
	}
	r.buildAdaptive(adapting)
	if len(adapting) == 0 {
		r.warn("adaptive routing: no switch reports it; paths are shown by forwarding tables, which would be " +
			"incomplete for switches that route adaptively without reporting it")
	}
	return nil
}

// groups returns the number of groups that a switch uses, 0 if the switch does not route adaptively.
func (s *adaptiveSwitch) groups() int {
	if s.info == nil || s.info.GroupCap == 0 {
		return 0
	}
	return int(s.info.GroupTop) + 1
}

// blocks returns the number of blocks with groups and the number of blocks with the groups of LIDs.
func (s *adaptiveSwitch) blocks() (groups, lids int) {
	up := func(n, by int) int { return (n + by - 1) / by }
	return up(len(s.masks), mad.AdaptiveRoutingGroups), up(len(s.entries), mad.AdaptiveRoutingLIDs)
}

func (r *reader) gotAdaptive(t task, reply *mad.Reply) {
	var info mad.AdaptiveRoutingInfo
	if reply.Decode(&info) == nil {
		r.adaptive[r.row[t.node]].info = &info
		r.progress.Blocks++
	}
}

func (r *reader) gotPrivate(t task, reply *mad.Reply) {
	if reply.Decode(&r.adaptive[r.row[t.node]].private) == nil {
		r.progress.Blocks++
	}
}

func (r *reader) gotGroups(t task, reply *mad.Reply) {
	var block mad.AdaptiveRoutingGroupTable
	if reply.Decode(&block) == nil {
		copy(r.adaptive[r.row[t.node]].masks[int(t.mod)*len(block):], block[:])
		r.progress.Blocks++
	}
}

// states maps the encoded states of LIDs.
var states = [...]fabric.AdaptiveState{
	mad.LIDStatic: fabric.StateStatic, mad.LIDFree: fabric.StateFree, mad.LIDBounded: fabric.StateBounded,
	mad.LIDHash: fabric.StateHash,
}

func (r *reader) gotLIDGroups(t task, reply *mad.Reply) {
	var block mad.AdaptiveRoutingLFT
	if reply.Decode(&block) != nil {
		return
	}
	r.progress.Blocks++
	sw := r.row[t.node]
	s := &r.adaptive[sw]
	for i := range block {
		e := &block[i]
		lid := int(t.mod)*len(block) + i
		if lid >= len(s.entries) || lid == 0 {
			continue
		}
		port, group := e.Port, int(e.Group)
		if e.State == mad.LIDStatic {
			port, group = uint8(e.Group), 0
		} else if e.Table != 0 {
			s.otherTables = true
		}
		s.entries[lid] = fabric.NewAdaptiveEntry(states[e.State], group)
		if port != r.tables.LFT.Port(sw, uint16(lid)) {
			if s.mismatches++; s.mismatches == 1 || uint16(lid) < s.firstMismatch {
				s.firstMismatch = uint16(lid)
			}
		}
	}
}

// buildAdaptive makes the adaptive routing of the given switches. It skips switches whose attributes are incomplete or
// contradictory.
func (r *reader) buildAdaptive(adapting []fabric.NodeIndex) {
	incomplete := map[fabric.SwitchIndex]bool{}
	for _, m := range r.misses {
		if m.task.kind.isVendor() {
			incomplete[r.row[m.task.node]] = true
		}
	}
	affected := map[string][]string{} // names of switches by reason
	for _, n := range adapting {
		i := r.f.Nodes[n].Switch
		s := &r.adaptive[i]
		why := ""
		switch {
		case incomplete[i]:
			why = "whose groups were not all read"
		case s.info.SubGroups > 0:
			why = "that use sub-groups, whose encoding is not known"
		case s.otherTables:
			why = "that use several group tables, only one of which can be read"
		case s.mismatches > 0:
			why = fmt.Sprintf("whose static ports differ from their forwarding tables (LID %d first): the "+
				"encoding may "+
				"differ from the published one", s.firstMismatch)
		}
		if why != "" {
			affected[why] = append(affected[why], r.f.NodeName(n))
			continue
		}
		if s.private.Mode != 0 && s.private.Tables > 1 {
			affected[reasonPrivate] = append(affected[reasonPrivate], r.f.NodeName(n))
		}
		if r.tables.Adaptive == nil {
			r.tables.Adaptive = &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(r.f.Switches))}
		}
		r.tables.Adaptive.Switches[i] = s.toFabric()
	}
	for _, why := range slices.Sorted(maps.Keys(affected)) {
		shown := "paths through them are shown by their forwarding tables only"
		if why == reasonPrivate {
			shown = "paths through them are shown by the first one"
		}
		r.warn("adaptive routing: %s %s (%s); %s", prose.Count(len(affected[why]), "switch"), why,
			prose.List(affected[why], mostNamed), shown)
	}
}

const (
	reasonPrivate = "that select among private forwarding tables, which are not read"
	mostNamed     = 3
)

// toFabric returns the switch's tables.
func (s *adaptiveSwitch) toFabric() fabric.AdaptiveSwitch {
	out := fabric.AdaptiveSwitch{Enabled: s.info.Enabled, FastReroute: s.info.FallbackEnabled, SLs: 0xffff,
		HashSLs: 0xffff}
	if s.info.BySL {
		out.SLs = s.info.SLs
	}
	for i := range s.masks {
		var ports []uint8
		for port := range 256 {
			if s.masks[i].Has(uint8(port)) {
				ports = append(ports, uint8(port))
			}
		}
		var group fabric.PortGroup
		if len(ports) > 0 {
			group = fabric.PortGroup{ports}
		}
		out.Groups = append(out.Groups, group)
	}
	out.Tables = []fabric.AdaptiveTable{{Top: uint16(len(s.entries) - 1), Entries: s.entries}}
	return out
}
