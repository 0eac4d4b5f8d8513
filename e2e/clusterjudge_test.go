// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
)

// cell identifies an entry of a forwarding table.
type cell struct {
	guid uint64
	lid  uint16
}

// held holds the ports of all entries that have one.
type held map[cell]uint8

// heldIn reads the output of dump_fts, OpenSM and "dump lfts".
func heldIn(text string) held {
	h := held{}
	guid := uint64(0)
	for line := range strings.Lines(text) {
		if m := switchLine.FindStringSubmatch(line); m != nil {
			guid, _ = strconv.ParseUint(m[1], 0, 64)
		}
		if m := entryLine.FindStringSubmatch(line); m != nil {
			lid, _ := strconv.ParseUint(m[1], 0, 16)
			port, _ := strconv.ParseUint(m[2], 10, 8)
			h[cell{guid, uint16(lid)}] = uint8(port)
		}
	}
	return h
}

// heldOf returns the entries of tables.
func heldOf(t *fabric.Tables) held {
	h := held{}
	for sw := range t.Fabric.NumSwitches() {
		for lid := uint16(1); lid <= t.Top[sw]; lid++ {
			if port := t.Port(sw, lid); port != fabric.NoPath {
				h[cell{t.Fabric.SwitchNode(sw).GUID, lid}] = port
			}
		}
	}
	return h
}

func (h held) at(k cell) int {
	if port, ok := h[k]; ok {
		return int(port)
	}
	return fabric.NoPath
}

func (h held) switches() int {
	seen := map[uint64]bool{}
	for k := range h {
		seen[k.guid] = true
	}
	return len(seen)
}

// notIn returns the entries of h that are in none of some tables.
func (h held) notIn(of ...held) (found []string) {
	cells := map[cell]bool{}
	for _, t := range append(slices.Clone(of), h) {
		for k := range t {
			cells[k] = true
		}
	}
	for k := range cells {
		if slices.ContainsFunc(of, func(t held) bool { return t.at(k) == h.at(k) }) {
			continue
		}
		text := fmt.Sprintf("0x%x LID %d is %d, not", k.guid, k.lid, h.at(k))
		for _, t := range of {
			text += fmt.Sprintf(" %d", t.at(k))
		}
		found = append(found, text)
	}
	slices.Sort(found)
	return found
}

func few(found []string) string {
	return fmt.Sprintf("%d entries: %s", len(found), strings.Join(found[:min(5, len(found))], ", "))
}

// judge compares the tables of the switches with the journals, OpenSM and the consoles.
func (c *cluster) judge() {
	c.t.Helper()
	now := c.read()
	c.judgeTables(now)
	var looks []func()
	for _, k := range c.consoles {
		looks = append(looks, k.look)
	}
	c.together(looks)
	for _, k := range c.consoles {
		k.judge(now)
	}
	if c.r.IntN(4) == 0 {
		if found := c.read().notIn(now); len(found) > 0 {
			c.wrong("what the switches hold changed while all was quiet: %s", few(found))
		}
	}
	c.held = now
}

// judgeTables checks that the switches have the tables of the last writer, or, with several concurrent writers, that
// each entry is one of theirs.
func (c *cluster) judgeTables(now held) {
	c.t.Helper()
	m := c.manager
	var wrote [2][]history.JournalEntry
	for i, h := range c.hosts {
		wrote[i] = h.wrote(c)
	}
	alone := !m.was && (len(wrote[0]) == 0 || len(wrote[1]) == 0)
	may := []held{c.held}
	for i, h := range c.hosts {
		for _, j := range wrote[i] {
			m.alone = false
			entry, err := h.store.Load(c.t.Context(), j.After)
			if err != nil {
				c.t.Fatal(err)
			}
			if may = append(may, heldOf(entry.Tables)); j.Outcome == history.Done && alone {
				may = may[len(may)-1:]
			}
		}
	}
	if m.cmd != nil {
		dump := heldIn(read(c.t, filepath.Join(m.dir, "opensm-lfts.dump")))
		if may = append(may, dump); m.alone {
			may = []held{dump}
		}
	}
	lost := m.lost
	m.was, m.lost = m.cmd != nil, false
	if found := now.notIn(may...); len(found) > 0 && !lost {
		c.wrong("the switches have entries that no program wrote, %s", few(found))
	}
	switch {
	case lost:
		c.count.Unknown++
	case len(may) == 1:
		c.count.Exact++
	default:
		c.count.Among++
	}
}

// wrote returns the commits of this round that wrote something, the oldest first.
func (h *clusterHost) wrote(c *cluster) (list []history.JournalEntry) {
	c.t.Helper()
	all, err := h.store.Journal(c.t.Context(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	slices.Reverse(all)
	for _, j := range all {
		if j.ID <= h.seen {
			continue
		}
		h.seen = j.ID
		c.tell("journal of %s: commit %d, %s, from %d to %d, ends %d", filepath.Base(h.home), j.ID, j.Outcome.Word(),
			j.Before, j.After, j.Completes)
		if j.Outcome == history.NothingWritten {
			continue
		}
		list = append(list, j)
		c.count.Commits++
		if j.Outcome != history.Done {
			c.count.Unended++
		}
	}
	return list
}

// shown is the output of a console.
type shown struct {
	tables held
	out    string
	err    error
}

// look makes a console read and show the subnet. It restarts one that has ended.
func (k *clusterConsole) look() {
	file := filepath.Join(k.c.dir, fmt.Sprintf("shown-%d", k.num))
	k.enter()
	look := "sweep; dump lfts of=live " + file + "; summary of=live"
	out, err := k.say(look)
	// ibsim gave its place to another one, so it requests a new one
	if err != nil && strings.Contains(err.Error(), syscall.EPERM.Error()) {
		out, err = k.say(look)
	}
	k.shown = shown{heldIn(textOf(file)), out, err}
	_ = os.Remove(file)
}

// judge checks that a console shows the complete tables of the switches, and reports an interrupted commit.
func (k *clusterConsole) judge(now held) {
	c, s := k.c, &k.shown
	c.t.Helper()
	if s.err != nil {
		c.wrong("console %d cannot look: %v", k.num, s.err)
	}
	if found := s.tables.notIn(now); len(found) > 0 {
		c.wrong("console %d shows what is not so, %s", k.num, few(found))
	}
	var sum struct {
		Interrupted string
		Unanswered  []struct{ Text string }
		Switches    int
	}
	if err := json.Unmarshal([]byte(lastLine(s.out)), &sum); err != nil {
		c.wrong("console %d: %v: %s", k.num, err, s.out)
	}
	if len(sum.Unanswered) > 0 || sum.Switches != len(c.switches) {
		c.wrong("console %d shows %d switches, and unanswered %v", k.num, sum.Switches, sum.Unanswered)
	}
	all, err := k.host.store.Journal(c.t.Context(), "")
	if err != nil {
		c.t.Fatal(err)
	}
	open := slices.ContainsFunc(all, func(j history.JournalEntry) bool { return j.Outcome.Open() })
	if open != (sum.Interrupted != "") {
		c.wrong("console %d: a commit is open: %v, it says %q", k.num, open, sum.Interrupted)
	}
	c.count.Shown++
	k.judgeLast(all, now)
}

// judgeLast checks that the journal of a console reports when others have overwritten its last commit.
func (k *clusterConsole) judgeLast(all []history.JournalEntry, now held) {
	k.c.t.Helper()
	i := slices.IndexFunc(all, func(j history.JournalEntry) bool { return j.After == k.last })
	if i < 0 || all[i].Outcome != history.Done {
		return
	}
	entry, err := k.host.store.Load(k.c.t.Context(), k.last)
	if err != nil {
		k.c.t.Fatal(err)
	}
	found := now.notIn(heldOf(entry.Tables))
	if len(found) == 0 {
		return
	}
	if all[i].Others.Count == 0 {
		k.c.wrong("console %d does not note that others wrote over its commit %d, %s", k.num, all[i].ID, few(found))
	}
	k.c.count.Noted++
}
