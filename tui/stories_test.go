// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/trend/trendtest"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/session"
)

// act is keys and the texts on the screen after them. A text after ! must be absent.
type act struct {
	keys  []string
	shows []string
}

func do(keys ...string) act            { return act{keys: keys} }
func (a act) then(texts ...string) act { a.shows = texts; return a }
func see(texts ...string) act          { return act{shows: texts} }

// story is a task and its keys, on the fat-tree of 18 switches and 72 hosts, from a fresh start.
type story struct {
	name string
	size [2]int
	acts []act
}

// tell performs the acts of a story. A name that ends with "in N keys" limits the number of keys.
func (st *story) tell(s *screenOf) {
	s.t.Helper()
	n, most := 0, 0
	for _, a := range st.acts {
		s.perform(a)
		n += len(a.keys)
	}
	if _, limit, found := strings.Cut(st.name, " in "); found {
		if _, err := fmt.Sscanf(limit, "%d keys", &most); err == nil && n > most {
			s.t.Errorf("%d keys", n)
		}
	}
	s.whole()
}

var (
	small, usual, wide = [2]int{80, 24}, [2]int{120, 36}, [2]int{200, 50}
	// tracing marks two hosts on different leaves.
	tracing = do("2", "/", "0037", "Enter", "t", "/", "0050", "Enter",
		"T").then("4 Trace node-0037 HCA-1 → node-0050 HCA-1", "delivered")
	// failing simulates the failure of the first link between switches of the path.
	failing  = do("f").then("WHAT-IF 1 failure")
	rerouted = do("r").then("STAGED minhop")
)

// threeMembers is a multicast group of three ports, two of which are in the subnet, in the form of osm_sa.c,
// sa_dump_one_mgrp.
const threeMembers = "MC Group 0xc000 : mgid=0xff12401bffff0000:0x00000000ffffffff mlid=0xc000 mtu=0x84 pkey=0xffff " +
	"rate=0x83 scope_state=0x21" + `
mcm_port: port_gid=0xfe80000000000000:0x0000000000100001 scope_state=0x21
mcm_port: port_gid=0xfe80000000000000:0x000000000010000d scope_state=0x21
mcm_port: port_gid=0xfe80000000000000:0x0000000000999999 scope_state=0x21
`

func stories() []story {
	return []story{
		{
			"find a node and trace it", small, []act{
				tracing, see("● node-0037 HCA-1", "├ leaf-07", "├ leaf-09", "● node-0050 HCA-1", "errors"),
			},
		},
		{
			"why is this pair slow", usual, []act{tracing, see("paths", "errors", "66"), do("p").then("paths use it"),
				do("Escape")},
		},
		{"both directions, and who else is on the path", small,
			[]act{tracing, do("b").then("node-0050 HCA-1: both directions", "reverse path: delivered"),
				do("b", "b", "/", "shared", "Enter", "Enter").then("a Answer who uses leaf-07", "paths use it")}},
		{"which jobs did this link hit", usual,
			[]act{tracing, do("J").then("a Answer jobs on leaf-07", "4711", "ada", "(assumed)", "!4712"),
				do("Escape").then("›4 Trace"),
				do("6", "/", "leaf-09", "Enter", "J").then("a Answer jobs on spine-01 9", "4711")}},
		{"trace a job's hosts in 5 keys", usual, []act{do("2", "J").then("a Answer jobs on spine-01", "4711"),
			do("b", "t").then("a Answer trace @job-4711 @job-4711: paths", "node-0037", "node-0038", "delivered"),
			do("Enter").then("4 Trace node-00", "delivered")}},
		{"trace from marked hosts", usual, []act{do("2", "/", "/node-000[12]", "Enter", "m", "m").then("2 rows marked"),
			do("t").then("›2 Topology", "from @sources (2 hosts): mark the destination with T"),
			do("/", "0050", "Enter", "T").then("a Answer trace @sources", "node-0001", "node-0002", "delivered")}},
		{"trace sets of marked hosts after a failure", small, []act{
			do("2", "/", "leaf-07/2", "Enter", "f").then("WHAT-IF 1 failure"),
			do("/", "/node-003[7-9]", "Enter", "Space", "Space", "Space", "t").then("@sources (3 hosts)"),
			do("/", "/node-000[12]", "Enter", "Space", "Space", "T").then("2 of 6 paths do not arrive",
				"▌node-0038 HCA-1/1", "dead end"),
			do("Enter").then("4 Trace node-0038 HCA-1 → node-0001 HCA-1", "dead end")}},
		{"trace from marked switches of which one failed", small, []act{
			do("2", "/", "/leaf-02$", "Enter", "f").then("WHAT-IF 1 failure"),
			// each leaf has 6 of the 72 hosts
			do("/", "/leaf-0[12]$", "Enter", "g", "j", "Space", "Space", "t").then(
				"from @sources (2 switches, 12 hosts)"),
			do("/", "/0050", "Enter", "T").then("6 of 12 paths do not arrive", "▌node-0007 HCA-1/1", "dead end"),
			// the group, two switches and their hosts
			do("2", "/", "@sources", "Enter").then("›2 Topology", "15 rows")}},
		{"a set of marked spines is refused", small, []act{
			do("2", "/", "/spine-0[12]$", "Enter", "g", "j", "Space", "Space", "t").then(
				"the marked rows have 0 hosts: a set has at least 2 hosts"),
		}},
		{"the reverse path", small, []act{tracing, do("x").then("node-0050 HCA-1 → node-0037 HCA-1")}},
		{
			"pull a spine", small, []act{do("2", "/", "spine-03", "Enter", "f").then("WHAT-IF 1 failure"),
				do("r").then("STAGED"), do("5").then("switch spine-03", "lost", "take another path")},
		},
		{
			"what if the link of this path fails", usual, []act{
				tracing, failing, rerouted, do("5").then("1 ✕ link", "leaf-07/8", "lost", "before", "after"),
			},
		},
		{"undo a failure", usual, []act{tracing, failing, do("u").then("restore link leaf-07", "!WHAT-IF")}},
		{"undo the last failure from anywhere", small, []act{tracing, failing, do("6", "u").then("!WHAT-IF 1")}},
		{
			"fail several at once", usual, []act{
				do("2", "j", "m", "m").then("2 rows marked"), do("f").then("WHAT-IF 2 failures"),
			},
		},
		{"compare two engines", usual, []act{do(":", "compare minhop updn", "Enter").then("updn"), do("Escape")}},
		{
			"route with another engine", usual, []act{do(":", "engine updn", "Enter").then("   engine updn"),
				do("r").then("STAGED updn")},
		},
		{
			"save routes and load them again", usual, []act{
				do(":", "dump lfts yesterday.lfts", "Enter").then("written to yesterday.lfts"),
				do(":", "load lfts yesterday.lfts", "Enter").then("STAGED"),
			},
		},
		{
			"dump, guided", usual, []act{
				do("D").then("Which state of the subnet?"), do("Escape").then("cancelled, no command was run"),
			},
		},
		{"let something fail, guided", small,
			[]act{do("2", "/", "spine-02", "Enter", "F").then("What should fail in the simulation?", "▌ switch"),
				do("Enter").then("Which switch?", "› spine-02"),
				do("Enter").then("Run it?", "runs: fail switch spine-02"), do("BTab").then("Which switch?"),
				do("Enter").then("Run it?"), do("Enter").then("WHAT-IF 1 failure")}},
		{"compare engines after a failure and take the best in 5 keys", usual, []act{
			do("2", "f").then("WHAT-IF 1 failure"),
			do("E").then("E Engines after: switch spine-01", "best, keeps other", "10 routes, 1 refused"),
			do("Enter").then("STAGED")}},
		{"choose an engine, guided", small, []act{do("resize 40x10", "C-e").then("Which engine computes"),
			do("/", "updn", "Enter").then("Which option"), do("/", "lmc", "Enter").then("2^LMC LIDs"),
			do("x", "Enter").then("is no LMC"), do("BSpace", "1", "Enter").then("Which option"),
			do("Enter").then("runs: engine updn lmc=1"), do("Enter").then("!Run it?"), do("C-e").then("▌ updn"),
			do("Escape").then("cancelled, no command was run")}},
		{"save routes and load them again, guided", usual, []act{do("D", "Enter", "Enter").then("To which file?"),
			do("nowhere/x", "Enter").then("no such file"),
			do("C-u", "my routes", "Enter").then("runs: dump lfts 'my routes' of=live"), do("Enter").then("written to"),
			do("L").then("› my routes"), do("Enter").then("▌ lfts"), do("Enter").then("Continue?"),
			do("Enter").then("runs: load lfts 'my routes'"), do("Enter").then("STAGED")}},
		{
			"read a commit before it is written", small, []act{
				tracing, failing, rerouted, do("C").then("Nothing has been written", "in this order"),
				do("y").then("read-only"), do("NPage").then("switches that are written to"),
				do("G").then("66 to 78"), do("Escape").then("!Nothing has been written"),
			},
		},
		{
			"commit and undo", small, []act{tracing, failing, rerouted, do(":", "write on", "Enter").then("WRITE ON"),
				do("C").then("Nothing has been written"), do("y").then("WRITTEN minhop"),
				do(":", "write off", "Enter").then("read-only")},
		},
		{
			"check the cables against a plan", usual, []act{
				do("=").then("=: the cabling has not been checked"),
				do(":", "dump cabling plan.csv; fail link leaf-07/1; fail link leaf-09/1; add link leaf-07/1 "+
					"node-0049/1; add link leaf-09/1 node-0037/1; check cabling plan.csv", "Enter").then("swapped"),
				do("2", "*").then("p1   node-0049", "≠ p1 swapped, planned: node-0037 HCA-1/1"),
				do("i").then("≠ swapped, planned: ", "node-0049 HCA-1/1 - leaf-09/1; found: leaf-07/1"),
				do("Escape").then("›2 Topology"),
				do("*").then("leaf-09", "≠ p1 swapped, planned: node-0049 HCA-1/1"),
				do("=").then("check cabling plan.csv: work list", "unplug first"),
				do("2", ":", "undo; undo; undo; undo", "Enter").then("≠ p1 recabled since", "LIVE  read-only"),
				do("=").then("in place, 0 faults"), do("2").then("0 cabling faults, plan.csv", "!≠"),
			},
		},
		{
			"repeat a search", usual, []act{
				do("2", "/", "spine-0", "Enter").then("7 rows"), do("Escape").then("!7 rows"), do("n").then("/spine-0"),
				do("n", "3").then("LFT of spine-03"), do("2", "N", "3").then("LFT of spine-02"),
				do("2", "N", "N").then("from the other end of the list"),
			},
		},
		{
			"nouns open panes", usual, []act{
				do("6", ":", "switches", "Enter").then("›2 Topology"), do(":", "links", "Enter").then("›6 Load"),
				do(":", "map", "Enter").then("›# Map"), do("3", "C-d", "C-d", "C-u", "Space",
					"Space").then("2 rows marked"),
			},
		},
		{"cannot commit nothing", small, []act{do("C").then("C: nothing is staged")}},
		{
			"which links carry most", small, []act{do("6").then("6 Load links between switches", "from", "paths", "66"),
				do("s", "s").then("by from ↓")},
		},
		{"fail a port on the map", usual, []act{do("2", "/", "leaf-07", "Enter", "#").then("leaf-07  LID", "tier 1",
			"not read: errors"), do("Enter", "Right", "Right").then("[ 3"),
			do("f").then("WHAT-IF 1 failure", "✕", "1 down"), do("b").then("errors: not read", "!0 errors"),
			do("u").then("!WHAT-IF")}},
		{"the busiest link next to the heat map", usual, []act{tracing, failing, rerouted,
			do("6").then("of limit", "leaf-07 ▒✕", "links of hosts: 71 paths each")}},
		{"a map of the load", wide, []act{do("6", "b", "b").then("heat map, upwards", "spine-01 → spine-06")}},
		{
			"what if anything fails", usual, []act{
				do("9").then("9 Resilience each link", "132", "2.00x", "72 failures; 0 lose paths"),
				do("b").then("each switch", "12 lose paths", "822"),
				do("f").then("fail switch leaf-01", "WHAT-IF 1 failure"),
			},
		},
		{"where multicast packets go", usual, []act{do("0").then("no multicast groups are known"),
			do(":", "load groups groups", "Enter").then("1 group from groups", "unknown"), do("r").then("STAGED"),
			do("0").then("0xc000", "complete", "1 group from groups"), do("Enter").then("tree of 0xc000", "└─ leaf-01",
				"spine-0", ": node-0007", "1 arrive, 0 missed"),
			do("b").then("0x0000000000999999", "not in the subnet", "3 members"),
			do("Escape").then("1 group from groups")}},
		{"the table by port", small, []act{do("3", "b").then("share", "LIDs"), do("b").then("destination")}},
		{
			"sort a table by next hop", small, []act{
				do("3", "s", "s", "s", "s", "s", "s", "s").then("by next hop ↑", "next hop▴"),
			},
		},
		{
			"sort a table by hops", small, []act{
				do("3", "s", "s", "s", "s", "s", "s", "s", "s", "s").then("by hops ↑", "this switch"),
			},
		},
		{
			"find by a regular expression", small, []act{
				do("2", "/", "/node-00[13]7", "Enter").then("node-0017", "node-0037", "!node-0018"),
			},
		},
		{"find by letters", small, []act{do("2", "/", "~lf12", "Enter").then("leaf-12", "!leaf-11")}},
		{
			"leave out what is of no interest", small, []act{
				do("3", "/", "!node", "Enter").then("leaf-01", "!node-0001"),
			},
		},
		{"a regular expression that is none", small, []act{do("2", "/", "/[").then("missing closing"), do("Escape")}},
		{
			"follow a table hop by hop, and back", small, []act{do("2", "/", "leaf-07", "Enter").then("/leaf-07"),
				do("Escape").then("!/leaf-07"), do("3", "/", "node-0050", "Enter").then("LFT of leaf-07", "1 LID"),
				do("Enter").then("LFT of spine-0"), do("[").then("LFT of leaf-07"), do("]").then("LFT of spine-0")},
		},
		{
			"all of a switch", small, []act{do("2", "i").then("node GUID", "system GUID", "p1", "leaf-01/"),
				do("Escape").then("!node GUID")},
		},
		{
			"hosts of a switch", small, []act{
				do("2", "/", "leaf-07", "Enter").then("/leaf-07"), do("Escape").then("!/leaf-07"),
				do("Right").then("node-0037 HCA-1"), do("NPage", "NPage").then("p7   ─ spine-01/7"),
			},
		},
		{"switches by name", small, []act{do("2", "b", "b").then("leaf-#", "spine-#")}},
		{
			"what can be done here", small, []act{
				do("?").then("Keys", "Find and open"), do("Escape").then("!Find and open"),
			},
		},
		{"do a key from the list of keys", small, []act{do("?", "Enter").then("Enter run"), do("Escape")}},
		{
			"a key that cannot act", small, []act{
				do("x").then("x: there is no trace"), do("u").then("u: there are no simulated failures"),
			},
		},
		{
			"an empty pane shows the reason", small, []act{do("5").then("no simulated failures: select a link"),
				do("7").then("this session keeps no history"), do("4").then("mark two nodes")},
		},
		{
			"complete a command", small, []act{
				do(":", "fail sw", "Tab").then(":fail switch"), do("leaf-0", "Tab").then("9 candidates"),
				do("Escape").then("!candidates"), do("Escape"),
			},
		},
		{"a command that is mistyped", small, []act{do(":", "rout", "Enter").then(`did you mean "route"?`)}},
		{
			"resize to nearly nothing and back", usual, []act{tracing, do("resize 40x10").then("4 Trace"),
				do("resize 120x36").then("1 Problems", "8 Log", "● node-0037")},
		},
		{
			"paste ten thousand characters", small, []act{
				do(":", "\x1b[200~"+strings.Repeat("x", 10_000)+"\x1b[201~").then(":…xxx"), do("C-u").then("!xxx"),
				do("Escape"),
			},
		},
		{
			"freeze what is seen", usual, []act{
				do("Z").then("FROZEN"), do(":", "fail switch spine-01", "Enter").then("failed in the what-if"),
				see("!WHAT-IF"), do("Z").then("WHAT-IF 1 failure", "!FROZEN"),
			},
		},
		{
			"export a table", small, []act{do("3", "e").then("write to: lft-spine-01", ".csv"), do("Tab").then(".json"),
				do("C-u", "table.json", "Enter").then("90 rows written to table.json"),
				do("e", "C-u", "table.json", "Enter").then("export: ")},
		},
		{
			"copy a row", small, []act{
				do("3", "c").then("copied: 1 node-0001 HCA-1"), see("tmux buffer: 1 node-0001 HCA-1"),
			},
		},
		{
			"another theme", small, []act{do("C-t").then("theme light"), do("C-t").then("theme contrast"),
				do("C-t").then("theme none", "[SIMULATED]")},
		},
		{"give a pane the screen", usual, []act{do("3", "z").then("!8 Log ─"), do("z").then("8 Log ─")}},
		{"two panes on a small screen", small, []act{do("3", "z").then("3 LFT of", "2 Topology ─")}},
		{
			"use the mouse", small, []act{do("click 24 2").then("3 LFT of"), do("click 8 6").then("▌     2"),
				do("click 8 4").then("by LID ↑")},
		},
		{
			"leave the screen for the shell", small, []act{do(":", "shell", "Enter").then("IN THE SHELL"),
				do("x", "Enter").then("back from the shell")},
		},
		{
			"another state", usual, []act{tracing, failing, rerouted, do("v").then("the panes show live"),
				do("v").then("the panes show base")},
		},
		{
			"what differs", small, []act{tracing, failing, rerouted, do("d").then("pairs lost", "Esc back"),
				do("Escape").then("4 Trace")},
		},
		{
			"routes made stale by another failure", usual, []act{
				tracing, failing, rerouted, do("j", "f").then("STAGED, STALE"),
			},
		},
		{"the tour", small, []act{do("C-g").then("1/9", "Find a host"), do("2", "/", "node-0001", "Enter").then("2/9"),
			do("t").then("3/9"), do("/", "node-0072", "Enter", "T").then("4/9"),
			do("f").then("5/9"), do("r").then("6/9"), do("5").then("7/9"), do("4").then("8/9"), do("u").then("9/9"),
			do("C-g").then("the tour has ended")}},
	}
}

// pastStories are stories of a subnet with a history and a record, see [writePast].
func pastStories() []story {
	return []story{
		{"yesterday's routes back in 8 keys", small, []act{do("7").then("2 entries"),
			do("G").then("▌○      1"), do("I").then("STAGED history 1"), do("C").then("Nothing has been written"),
			do("w").then("WRITE ON", "!Nothing has been written"), do("C").then("Nothing has been written"),
			do("y").then("Completed:")}},
		{"two times compared in 6 keys", usual, []act{do("7").then("2 entries"),
			do("Space", "Space").then("2 rows marked"),
			do("d").then("a Answer diff 1 2", "entries")}},
		{"what happened between 03:00 and 03:20", usual, []act{do("7", "b").then("leaf-03 rebooted", "after the night"),
			do("/", "/ 03:[01]", "Enter").then("03:05:00", "leaf-03 rebooted", "03:19:00", "leaf-05/8 to",
				"!after the night", "!before the night")}},
		{"which cable flaps", wide, []act{
			do("1").then("›1 Problems", "flapping"), do("/", "flapping", "Enter").then("/flapping", "1 problem"),
			do("z").then("leaf-05/9", "was found down 3 times", "!leaf-06/9"),
			do(":", "flaps", "Enter").then("leaf-05/9", "at least 3", "leaf-06/9", "at least 1")}},
		{"which jobs did this link hit, without Slurm", usual, []act{tracing,
			do("J").then("a Answer jobs on leaf-07", "1 of 2 jobs used it", "train", "sets of hosts"),
			do("Escape").then("›4 Trace")}},
	}
}

// writePast writes the history and the record of a subnet: routes of the day before, a night with two events between
// 03:00 and 03:20 and others before and after, a cable that went down three times in the last two hours and another one
// that went down once, and sets of hosts, of which one used the links of spines in that time.
func writePast(ctx context.Context, dir, subnet string) error {
	f, err := gen.ParseSpec("fattree:2,12")
	if err != nil {
		return err
	}
	now := time.Now()
	night := time.Date(now.Year(), now.Month(), now.Day(), 3, 0, 0, 0, time.Local)
	if night.After(now.Add(-time.Hour)) {
		night = night.AddDate(0, 0, -1)
	}
	store, err := history.OpenFile(ctx, filepath.Join(dir, history.FileName))
	if err != nil {
		return err
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		return err
	}
	routes, err := updn.Engine{}.Route(ctx, f, routing.Options{})
	if err != nil {
		return err
	}
	_, err = store.Add(ctx, history.Entry{Kind: history.Route, Subnet: subnet, Note: "routes of yesterday",
		Began: night.AddDate(0, 0, -1), Until: night.AddDate(0, 0, -1)}, f, routes.Tables)
	if err != nil {
		return err
	}
	e := history.Entry{Kind: history.Sweep, Subnet: subnet, Began: night.Add(-time.Hour), Until: night.Add(time.Hour)}
	for text, minute := range map[string]int{"before the night": -5, "leaf-03 rebooted": 5,
		"leaf-05/8 to spine-02/5: link down": 19, "after the night": 21} {
		e.Events = append(e.Events, history.Event{When: night.Add(time.Duration(minute) * time.Minute),
			What: history.WhatLink, Text: text})
	}
	if routes, err = (minhop.Engine{}).Route(ctx, f, routing.Options{}); err == nil {
		_, err = store.Add(ctx, e, f, routes.Tables)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	record, err := records.Open(ctx, filepath.Join(dir, records.FileName))
	if err != nil {
		return err
	}
	cable := func(leaf string) (a, b fabric.End) {
		p := f.PortAt(f.NodesByDescription(leaf)[0], 9)
		return fabric.NamedEnd(f, p), fabric.NamedEnd(f, f.Ports[p].Peer)
	}
	for minute := -120; minute <= 0 && err == nil; minute++ {
		at := now.Add(time.Duration(minute) * time.Minute)
		var changes []records.LinkChange
		for leaf, downAt := range map[string][]int{"leaf-05": {-100, -70, -40}, "leaf-06": {-50}} {
			for _, m := range downAt {
				if a, b := cable(leaf); minute == m || minute == m+3 {
					changes = append(changes, records.LinkChange{When: at, Up: minute != m, A: a, B: b,
						WasUp: at.Add(-time.Minute), Pairs: -1})
				}
			}
		}
		sets := []records.HostSet{{Name: "idle", Hosts: "node-[0001-0002]"}, {Name: "train", Hosts: "node-[0037-0050]"}}
		_, _, oerr := record.Observe(ctx, subnet, at, nil, nil)
		err = errors.Join(oerr, record.ObserveSets(ctx, subnet, at, sets),
			record.ObserveLinks(ctx, subnet, at, changes, nil, func(_, _ fabric.End) bool { return false }))
	}
	return errors.Join(err, record.Close())
}

// slowReceiver are the options of a simulated subnet in which node-0050 takes a fourth of what node-0037 has for it.
const slowReceiver = " flow=node-0037:node-0050:40% drain=node-0050:10%"

// congestedStories are stories of a subnet with a slow receiver, see [writeCongestion].
func congestedStories() []story {
	return []story{
		{"where does congestion begin", wide, []act{
			do("X").then("a Answer congestion", "1 root", "slow receiver", "node-0050 HCA-1", "train", "!idle"),
			do("b").then("congestion: roots"), do("Y").then("a Answer why train", "slow receiver")}},
		{"which job suffers from this port and why", wide, []act{
			do("2", "/", "leaf-09/2", "Enter").then("p2   node-0050 HCA-1"),
			do("J").then("a Answer jobs on 'node-0050 HCA-1'", "1 of 2 jobs used it", "train"),
			do("b").then("since=2h: jobs"),
			do("Y").then("a Answer why train", "slow receiver", "node-0050 HCA-1", "proved")}},
	}
}

// writeCongestion records an hour of a subnet, and the sets of hosts train and idle. In the middle of the hour, the
// receiver of the only flow is slow.
func writeCongestion(ctx context.Context, dir string, s *session.Session) error {
	if _, err := s.Sweep(ctx); err != nil {
		return err
	}
	live := s.State().Live
	f := live.Fabric
	end := time.Now()
	now := end.Add(-time.Hour)
	simulated := sim.New(f, sim.Options{Tables: live.Tables, Active: true, Wide: true,
		Now: func() time.Time { return now }})
	port := func(host string) fabric.PortIndex { return f.Port(f.NodesByDescription(host + " HCA-1")[0], 1) }
	src, dst := port("node-0037"), port("node-0050")
	rate := f.Ports[src].DataRate()
	record, err := records.Open(ctx, filepath.Join(dir, records.FileName))
	for minute := 1; minute <= 60 && err == nil; minute++ {
		l := sim.Load{Flows: []sim.Flow{{Src: src, DLID: f.Ports[dst].LID, Demand: 0.4 * rate}}}
		if minute > 20 && minute <= 40 {
			l.Drain = map[fabric.PortIndex]float64{dst: 0.1 * rate}
		}
		simulated.SetLoad(l)
		r := records.Round{Subnet: s.Subnet(), What: records.Traffic | counters.Errors, Every: time.Minute}
		before := make([]mad.PortCountersExtended, len(f.Ports))
		for i := range before {
			before[i] = simulated.Counters(fabric.PortIndex(i))
		}
		now = now.Add(time.Minute)
		for _, p := range counters.AllPorts(f) {
			is := simulated.Counters(p)
			x := records.Sample{Key: counters.KeyOf(f, p), Name: f.PortName(p), Until: now}
			x.Seconds, x.Has = 60, r.What
			x.Increase[counters.XmitData] = is.XmitData - before[p].XmitData
			x.Increase[counters.RcvData] = is.RcvData - before[p].RcvData
			x.Increase[counters.XmitWait] = is.XmitWait - before[p].XmitWait
			r.Samples = append(r.Samples, x)
		}
		err = errors.Join(record.Keep(ctx, r), record.ObserveSets(ctx, s.Subnet(), now, []records.HostSet{
			{Name: "idle", Hosts: "node-[0001-0002]"}, {Name: "train", Hosts: "node-0037,node-0050"}}))
	}
	return errors.Join(err, record.Close())
}

// TestCongestedStories runs tasks of engineers on a congested subnet.
func TestCongestedStories(t *testing.T) {
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "sacct"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, st := range congestedStories() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := onTmux(t, st.size[0], st.size[1], "congested", "PATH="+programs+":"+os.Getenv("PATH"))
			s.Awaits("18 switches, 72 hosts", "read the subnet: done")
			st.tell(s)
		})
	}
}

// TestPastStories runs tasks of engineers on a subnet that was recorded.
func TestPastStories(t *testing.T) {
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "sacct"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, st := range pastStories() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := onTmux(t, st.size[0], st.size[1], "recorded", "PATH="+programs+":"+os.Getenv("PATH"))
			s.Awaits("18 switches, 72 hosts", "read the subnet: done")
			st.tell(s)
		})
	}
}

// TestFolderStories runs tasks of engineers who have the folders of ibdiagnet of several days.
func TestFolderStories(t *testing.T) {
	for _, st := range []story{
		{"what got worse since Monday", usual, []act{
			do(":", "ibdiagnet diff diag since=2026-11-05T12:00 worse", "Enter").then("worse", "received power",
				"values -5.5, -6.0, -6.5, -7.0, -7.5", "link down", "3 worse, 1 changed, 0 better"),
		}},
		{"which cable will fail next", usual, []act{
			do(":", "forecast diag", "Enter").then("overdue", "ago", "temperature", "node-0001 HCA-1/1"),
		}},
	} {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := onTmux(t, st.size[0], st.size[1], "sim")
			folder := filepath.Join(s.Dir, "diag")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			trendtest.Folders(t, folder, 8)
			s.Awaits("18 switches, 72 hosts", "read the subnet: done")
			st.tell(s)
		})
	}
}

// sacct prints two jobs as Slurm's sacct does. The hosts of the second one are below one leaf.
const sacct = `#!/bin/sh
echo '4711|node-[0037-0050]|2020-01-01T00:00:00|Unknown|RUNNING|ada|train'
echo '4712|node-[0001-0002]|2020-01-01T00:00:00|Unknown|RUNNING|ada|train'
`

// TestStories runs tasks of engineers on a terminal.
func TestStories(t *testing.T) {
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "sacct"), []byte(sacct), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			s := onTmux(t, st.size[0], st.size[1], "sim", "PATH="+programs+":"+os.Getenv("PATH"))
			if err := os.WriteFile(filepath.Join(s.Dir, "groups"), []byte(threeMembers), 0o644); err != nil {
				t.Fatal(err)
			}
			s.Awaits("18 switches, 72 hosts", "read the subnet: done")
			st.tell(s)
		})
	}
}

func (s *screenOf) perform(a act) {
	s.t.Helper()
	for _, k := range a.keys {
		var x, y int
		switch {
		case strings.HasPrefix(k, "resize "):
			_, _ = fmt.Sscanf(k, "resize %dx%d", &x, &y)
			s.Tmux(fmt.Sprintf("resize-window -x %d -y %d", x, y))
		case strings.HasPrefix(k, "click "):
			_, _ = fmt.Sscanf(k, "click %d %d", &x, &y)
			s.Types(fmt.Sprintf("\x1b[<0;%d;%dM", x, y))
		default:
			s.Types(k)
		}
	}
	for _, want := range a.shows {
		if text, found := strings.CutPrefix(want, "tmux buffer: "); found {
			if got := s.Tmux("show-buffer"); got != text && !strings.HasPrefix(got, text) {
				s.t.Fatalf("the clipboard holds %q, want %q", got, text)
			}
			return
		}
	}
	s.Awaits(a.shows...)
}

// whole checks that the last line is visible: nothing has wrapped.
func (s *screenOf) whole() {
	s.t.Helper()
	s.Until(func(screen string) bool {
		lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
		last := lines[len(lines)-1]
		return strings.Contains(last, "quit") || strings.Contains(last, "close") || strings.Contains(last, "cancel")
	}, "how to quit or leave in its last line")
}

// TestTwentyKeys finds the links from a host to a leaf and simulates the failure of one, from the start, in fewer than
// twenty keys.
func TestTwentyKeys(t *testing.T) {
	keys := []string{"2", "/", "0", "0", "3", "7", "Enter", "t", "/", "f", "-", "0", "9", "Enter", "T", "f"}
	if len(keys) >= 20 {
		t.Fatalf("%d keys", len(keys))
	}
	s := onTmux(t, 80, 24, "sim")
	s.Awaits("18 switches, 72 hosts", "read the subnet: done", "/ filter", "2 Topology")
	s.Types(keys[:8]...)
	s.Awaits("mark the destination with T")
	s.Types(keys[8:15]...)
	s.Awaits("4 Trace node-0037 HCA-1 → leaf-09", "├ leaf-07", "fail link")
	s.Types(keys[15:]...)
	s.Awaits("WHAT-IF 1 failure", "dead end")
}

// TestTerminalTypes checks that the letters of a frame are the same on all types of terminals that can show them.
func TestTerminalTypes(t *testing.T) {
	frames := map[string]string{}
	for _, term := range []string{"xterm-256color", "screen", "tmux-256color", "vt100", "linux"} {
		s := onTmux(t, 80, 24, "sim", "TERM="+term)
		s.Awaits("18 switches, 72 hosts", "read the subnet: done")
		s.Types("3")
		s.Awaits("3 LFT of spine-01", "Enter next hop") // the frame is complete
		frames[term] = s.Text()
	}
	want := frames["xterm-256color"]
	for _, term := range []string{"screen", "tmux-256color"} {
		if frames[term] != want {
			t.Errorf("TERM=%s:\n%s\nwant\n%s", term, frames[term], want)
		}
	}
	// Other types have other glyphs, and brackets instead of colours, in the same cells.
	letters := func(frame string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return r
			}
			return ' '
		}, strings.ReplaceAll(frame, "H", "#")) // which is also a border
	}
	for _, term := range []string{"vt100", "linux"} {
		got, want := strings.Split(letters(frames[term]), "\n"), strings.Split(letters(want), "\n")
		for i := range want {
			if strings.TrimSpace(got[i]) != strings.TrimSpace(want[i]) {
				t.Errorf("TERM=%s: line %d %q, want %q", term, i, got[i], want[i])
			}
		}
	}
}
