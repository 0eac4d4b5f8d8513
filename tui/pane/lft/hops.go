// SPDX-License-Identifier: Apache-2.0

package lft

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/pane"
)

// hopKey names a table whose hops were counted.
type hopKey struct {
	tables *fabric.Tables
	sw     fabric.SwitchIndex
}

// hopCounts are the hops from a switch to each LID, more than any for those that packets do not reach.
type hopCounts struct {
	key   hopKey
	order []int32
}

func (l *lft) hopKey() hopKey { return hopKey{l.tables(), l.sw} }

const hopsColumn = 5 // the place of the column of hops, counted from 1

// wantsHops says that the rows are sorted by hops that were not counted.
func (l *lft) wantsHops() bool {
	return l.Kind == lftByLID && max(l.Sorted, -l.Sorted) == hopsColumn && l.tables() != nil && l.hopped.key != l.hopKey()
}

// countHops follows the packets for each LID, on one processor: another is for the screen. O(LIDs x hops).
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
	return l.hops.Want(l.Common, key, func(context.Context, func(int, int)) (hopCounts, error) { return countHops(key), nil })
}

func (l *lft) Collect() {
	if h := l.hops.Value; h.key != l.hopped.key {
		l.hopped = h
		l.Renew()
	}
}
