// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"strings"

	"example.org/ibconsole/history"
	"example.org/ibconsole/tui/draw"
)

// Join combines the entries and the commits of a history, both the newest first.
func Join(list []history.Entry, journal []history.JournalEntry) []Entry {
	of := map[int64]Entry{}
	var undone []int64 // commits that were rolled back, the latest last, by entry
	for _, j := range slices.Backward(journal) {
		e := Entry{Outcome: j.Outcome, Before: j.Before}
		if n := len(undone); n > 0 && j.IsRollback() && e.held() {
			e.Undoes, undone = undone[n-1], undone[:n-1]
		}
		if j.Outcome == history.RolledBack {
			undone = append(undone, j.After)
		}
		of[j.After] = e
	}
	out := make([]Entry, len(list))
	for i, e := range list {
		out[i] = of[e.ID]
		out[i].Entry = e
	}
	return out
}

// lineage returns, for each entry, the entry from which it originates, or 0. The entries are given with the newest
// first.
//
// Entries that the switches held form a single line: sweeps, and commits with the state before them. A routing or load
// that was only staged branches off this line. A rollback continues from the state before the commit that it undid, so
// the undone commit is a branch.
func lineage(entries []Entry) []int64 {
	before := map[int64]int64{}
	for i := range entries {
		before[entries[i].ID] = entries[i].Before
	}
	known := func(id int64) int64 {
		if _, ok := before[id]; ok {
			return id
		}
		return 0
	}
	parents := make([]int64, len(entries))
	head := int64(0)
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		parents[i] = head
		switch {
		case e.Kind == history.Route || e.Kind == history.Load:
			continue
		case e.Kind == history.Commit && e.Before != 0:
			parents[i] = known(e.Before)
			if back := known(before[e.Undoes]); e.Undoes != 0 && back != 0 {
				parents[i] = back
			}
			if !e.held() {
				continue
			}
		}
		head = e.ID
	}
	return parents
}

// The method held reports whether the switches held the tables of a commit, at least for some time.
func (e *Entry) held() bool {
	return e.Outcome == history.Done || e.Outcome == history.Finished || e.Outcome == history.RolledBack
}

// The marks of a graph, for which [lanes] substitutes glyphs.
const (
	laneEmpty = ' '
	lanePass  = '|'
	laneLine  = '-'
	laneJoin  = '\''
	laneTee   = '^' // joins, and more lines join after it
	laneCross = '+'
	laneEntry = 'o'
	laneWrite = '*'
)

// drawLineage returns the line of the graph for each entry, the newest first. Each line of descent takes two cells.
func drawLineage(entries []Entry, parents []int64) []string {
	var lanes []int64 // the entry that each lane leads to, 0 for none
	out := make([]string, len(entries))
	for i := range entries {
		id := entries[i].ID
		own := slices.Index(lanes, id)
		if own < 0 {
			if own = slices.Index(lanes, 0); own < 0 {
				own = len(lanes)
				lanes = append(lanes, 0)
			}
		}
		last := own
		for j := own + 1; j < len(lanes); j++ {
			if lanes[j] == id {
				last = j
			}
		}
		var b strings.Builder
		for j, waits := range lanes {
			mark := byte(laneEmpty)
			switch {
			case j == own && entries[i].Kind == history.Commit && entries[i].Before != 0:
				mark = laneWrite
			case j == own:
				mark = laneEntry
			case waits == id:
				if mark, lanes[j] = laneJoin, 0; j < last {
					mark = laneTee
				}
			case waits != 0 && j > own && j < last:
				mark = laneCross
			case waits != 0:
				mark = lanePass
			case j > own && j < last:
				mark = laneLine
			}
			b.WriteByte(mark)
			b.WriteByte(map[bool]byte{true: laneLine, false: laneEmpty}[j >= own && j < last])
		}
		out[i] = strings.TrimRight(b.String(), " ")
		lanes[own] = parents[i]
		for len(lanes) > 0 && lanes[len(lanes)-1] == 0 {
			lanes = lanes[:len(lanes)-1]
		}
	}
	return out
}

// lanes replaces the marks of a graph by the glyphs of a terminal.
func lanes(g *draw.Glyphs, marks string) string {
	if g.ASCII {
		return strings.ReplaceAll(marks, "^", "'")
	}
	line := &g.Borders[draw.FrameLive][0]
	return strings.NewReplacer("|", line.Left, "-", line.Top, "'", line.BottomRight, "^", "┴", "+", "┼", "o", "○", "*",
		g.OnPath).Replace(marks)
}
