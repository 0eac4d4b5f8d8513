// SPDX-License-Identifier: Apache-2.0

package lft

import (
	"context"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/pane"
)

func (l *lft) Renew() {
	l.KeepRow()
	l.lids, l.ports, l.was, l.changes = l.lids[:0], l.ports[:0], nil, 0
	t := l.tables()
	if t == nil || !t.Known[l.sw] || !t.Fabric.SwitchNode(l.sw).InSubnet {
		l.Rebuild(0)
		return
	}
	l.compare()
	l.Cols[wasAt].Name = l.Scene.OtherColumn()
	l.gather(t)
	if l.Kind == lftByPort {
		l.group()
		l.Build(len(l.ports))
		return
	}
	l.Build(len(l.lids))
}

func (l *lft) gather(t *fabric.Tables) {
	f := t.Fabric
	for lid := 1; lid <= max(int(t.Top[l.sw]), int(f.MaxLID)); lid++ {
		id := uint16(lid)
		entry := t.Port(l.sw, id)
		changed := l.was != nil && l.was(id) != entry
		if changed {
			l.changes++
		}
		if (entry != fabric.NoPath || changed || f.PortByLID(id) != fabric.None) && (changed || !l.changedOnly) {
			l.lids = append(l.lids, id)
		}
	}
}

// group counts the LIDs of each port.
func (l *lft) group() {
	l.count, l.most = [256]int{}, 0
	for _, lid := range l.lids {
		l.count[l.tables().Port(l.sw, lid)]++
	}
	for port, n := range l.count {
		if n > 0 {
			l.ports = append(l.ports, uint8(port))
			l.most = max(l.most, n)
		}
	}
}

// compare finds the same switch in the state that is compared with.
func (l *lft) compare() {
	if l.Scene.Base == nil {
		return
	}
	old := l.Scene.Base.Tables
	sw := old.Fabric.SwitchByGUID(l.place.GUID)
	if sw != fabric.None && old.Known[sw] {
		l.was = func(lid uint16) uint8 { return old.Port(sw, lid) }
	}
}

// prepareFilter finds the ports whose names match the filter, and the LID that the filter names.
func (l *lft) prepareFilter() {
	for port := range l.portHits {
		l.portHits[port] = l.Filt.Hit(strings.ToLower(l.nextHop(uint8(port))))
	}
	l.number = -1
	if n, err := strconv.Atoi(strings.TrimPrefix(l.Filt.Text, "!")); err == nil {
		l.number = n
	}
}

// passes reports whether a row matches the filter, by its LID, by the name of its destination, or by the next hop.
func (l *lft) passes(row int) bool {
	if l.Kind == lftByPort {
		return l.portHits[l.ports[row]] != l.Filt.Invert
	}
	lid := l.lids[row]
	owner := l.Scene.Names.Owner(lid)
	hit := int(lid) == l.number || owner != "" && l.Filt.Hit(owner) || l.portHits[l.entry(row)]
	return hit != l.Filt.Invert
}

// hopKey identifies the forwarding table for which hops are counted.
type hopKey struct {
	tables *fabric.Tables
	sw     fabric.SwitchIndex
}

// hopCounts holds the number of hops from a switch to each LID. LIDs that packets do not reach come last.
type hopCounts struct {
	key   hopKey
	order []int32
}

func (l *lft) hopKey() hopKey { return hopKey{l.tables(), l.sw} }

const hopsColumn = 5 // the place of the column of hops, counted from 1

// wantsHops reports whether rows are sorted by hops that have not been counted yet.
func (l *lft) wantsHops() bool {
	return l.Kind == lftByLID && max(l.Sorted, -l.Sorted) == hopsColumn && l.tables() != nil &&
		l.hopped.key != l.hopKey()
}

// countHops traces packets to each LID. It uses only one processor, so that another is free for the screen. It takes
// O(LIDs x hops) time.
func countHops(key hopKey) hopCounts {
	h := hopCounts{key, make([]int32, int(key.tables.LFT.MaxLID)+1)}
	for lid := range h.order {
		end := walk.Follow(key.tables, key.sw, uint16(lid), nil)
		h.order[lid] = int32(end.Links)
		if !end.Verdict.Arrives() {
			h.order[lid] = 1<<20 + int32(end.Verdict)
		}
	}
	return h
}

func (l *lft) Seek(pane.Stage) tea.Cmd {
	if !l.wantsHops() {
		return nil
	}
	key := l.hopKey()
	return l.hops.Start(l.Common, key, func(context.Context, func(int, int)) (hopCounts, error) {
		return countHops(key), nil
	})
}

func (l *lft) Collect() {
	if h := l.hops.Value; h.key != l.hopped.key {
		l.hopped = h
		l.Renew()
	}
}
