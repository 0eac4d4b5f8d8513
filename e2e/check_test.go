// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
)

// smallTree is a fat-tree of 4 leaves with 2 hosts each, and 2 spines.
const smallTree = "sim:fattree:2,4"

// broken routes smallTree, changes the table of one switch and returns a script that loads the tables.
func broken(t *testing.T, sw, lid, port string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lfts")
	ibconsole(t, "-s", smallTree, "-c", "route; dump lfts "+file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.SplitAfter(string(text), "lids dumped\n")
	changed := 0
	for i, s := range sections {
		lines := strings.SplitAfter(s, "\n")
		for j, line := range lines {
			if strings.Contains(lines[0], "'"+sw+"'") && strings.HasPrefix(line, lid+" ") {
				lines[j] = ""
				if port != "" {
					lines[j] = lid + " " + port + line[len("0x0001 001"):]
				}
				changed++
			}
		}
		sections[i] = strings.Join(lines, "")
	}
	if changed != 1 {
		t.Fatalf("%d entries of %s for %s", changed, sw, lid)
	}
	if err := os.WriteFile(file, []byte(strings.Join(sections, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return "load lfts " + file + "; "
}

// object returns the last line of JSON in the output of a run.
func object(t *testing.T, r result) map[string]any {
	t.Helper()
	all := slices.DeleteFunc(objects(t, r), func(o map[string]any) bool {
		return o["schema"] == nil && o["answer"] != nil
	})
	return all[len(all)-1]
}

// objects returns the lines of JSON in the output of a run.
func objects(t *testing.T, r result) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(r.out)) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", r.out, err)
		}
		all = append(all, o)
	}
	return all
}

// has compares numbers of a JSON object.
func has(t *testing.T, o map[string]any, want map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, ok := o[name].(float64); !ok || got != want[name] {
			t.Errorf("%s is %v, want %v, in %v", name, o[name], want[name], o)
		}
	}
}

// TestCheckReach has 8 hosts: 56 pairs, of which 8 on one leaf are 2 links apart and the others 4.
func TestCheckReach(t *testing.T) {
	r := try("--json", "-s", smallTree, "-c", "route; check reach")
	if r.status != exitDone || r.err != "" {
		t.Fatalf("exit status %d: %s", r.status, r.err)
	}
	o := object(t, r)
	has(t, o, map[string]float64{"pairs": 56, "paths": 56, "delivered": 56, "unreachable": 0, "loops": 0,
		"misdelivered": 0, "not_minimal": 0})
	if s, ok := o["seconds"].(float64); !ok || s < 0 {
		t.Errorf("seconds are %v", o["seconds"])
	}
	if fmt.Sprint(o["links"]) != "[map[links:2 paths:8] map[links:4 paths:48]]" {
		t.Errorf("links are %v", o["links"])
	}
}

// TestCheckFindsWhatIsBroken has an entry of leaf-01 for a host elsewhere, which affects the two hosts of leaf-01.
func TestCheckFindsWhatIsBroken(t *testing.T) {
	const lid = "0x0008" // node-0003, on leaf-02
	for name, tc := range map[string]struct {
		port  string
		check string
		want  map[string]float64
		words []string
	}{
		"no entry": {"", "check reach", map[string]float64{"delivered": 54, "dead_ends": 2, "unreachable": 0},
			[]string{"check reach", "2 of 56 paths", "2 at a dead end"}},
		"no entry, no loop": {"", "check loops", map[string]float64{"loops": 0}, nil},
		"wrong host": {"001", "check reach", map[string]float64{"delivered": 54, "misdelivered": 2},
			[]string{"2 misdelivered"}},
		"open port": {"000", "check reach", map[string]float64{"delivered": 54, "misdelivered": 2},
			[]string{"2 misdelivered"}},
		"over the others": {"004", "check reach", map[string]float64{"delivered": 56}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := try("--json", "-s", smallTree, "-c", broken(t, "leaf-01", lid, tc.port)+tc.check)
			has(t, object(t, r), tc.want)
			if tc.words == nil {
				if r.status != exitDone {
					t.Errorf("exit status %d: %s", r.status, r.err)
				}
				return
			}
			oneLine(t, r, exitFailed, tc.words...)
		})
	}
}

// TestCheckFindsLoops makes spine-01 send packets for node-0003 back to leaf-01, which sends them up again.
func TestCheckFindsLoops(t *testing.T) {
	script := broken(t, "spine-01", "0x0008", "001")
	for check, words := range map[string][]string{
		"check loops":   {"check loops: ", "of 56 paths loop"},
		"check reach":   {"check reach", "in loops"},
		"check credits": {"check credits", "a credit loop of 2 links"},
		"check":         {"check: ", "in loops", "; ", "a credit loop of 2 links"},
	} {
		oneLine(t, try("-s", smallTree, "-c", script+check), exitFailed, words...)
	}
	r := try("--json", "-s", smallTree, "-c", script+"check loops")
	o := object(t, r)
	troubles, _ := o["troubles"].([]any)
	if o["loops"].(float64) == 0 || float64(len(troubles)) != o["loops"].(float64) {
		t.Errorf("%v loops, %d listed", o["loops"], len(troubles))
	}
}

func TestCheckCredits(t *testing.T) {
	r := try("--json", "-s", smallTree, "-c", "route; check credits")
	if o := object(t, r); r.status != exitDone || o["loop"] != false {
		t.Errorf("exit status %d, %v", r.status, o)
	}
	// minhop on a ring of five has a credit loop.
	r = try("--json", "-s", "sim:torus:5x1", "-c", "route; check credits")
	oneLine(t, r, exitFailed, "check credits", "a credit loop of 5 links")
	o := object(t, r)
	ring, _ := o["ring"].([]any)
	if o["loop"] != true || len(ring) != 5 {
		t.Errorf("%v", o)
	}
	for i, hop := range ring {
		now, next := hop.(map[string]any), ring[(i+1)%5].(map[string]any)
		at := func(port any) any { return port.(map[string]any)["guid"] }
		if at(now["to"]) != at(next["from"]) || now["src"] == nil || now["dst"] == nil {
			t.Errorf("%v is followed by %v", now, next)
		}
	}
}

func TestCheckLoad(t *testing.T) {
	pairs, hosts := write(t, "node-0001 node-0003\nnode-0002 node-0003 # both\n"),
		write(t, "node-0001 node-0002\nnode-0003\n")
	for script, want := range map[string]map[string]float64{
		// 48 pairs use the spines over 8 uplinks.
		"check load":                               {"paths": 56, "lost": 0, "edge_forwarding_index": 6},
		"check load pattern=shift:4":               {"paths": 8, "hosts": 8},
		"check load pattern=random:3":              {"lost": 0},
		"check load pattern=pairs:" + pairs:        {"paths": 2, "hosts": 3, "worst_load": 2, "share": 0.5},
		"check load pattern=hosts:" + hosts:        {"paths": 6, "hosts": 3},
		"check load pattern=bisection:7 seed=2":    {"hosts": 8},
		"check load pattern=shifts of=staged":      {"hosts": 8},
		"check load pattern=shifts:3":              {"hosts": 8},
		"check load pattern=all":                   {"paths": 56, "hosts": 8},
		"check load switches pattern=shift:1":      {"hosts": 8},
		"check load switches":                      {"paths": 14 * 13},
		"check reach switches":                     {"pairs": 14 * 13, "delivered": 14 * 13},
		"check credits switches":                   {"vls": 1},
		"check load pattern=shift:-1 of=staged":    {"paths": 8},
		"check load pattern='bisection' of=staged": {"hosts": 8},
	} {
		r := try("--json", "-s", smallTree, "-c", "route; "+script)
		if r.status != exitDone {
			t.Errorf("%s: exit status %d, %s", script, r.status, r.err)
			continue
		}
		t.Run(script, func(t *testing.T) { has(t, object(t, r), want) })
	}
}

// TestRouteShowsMeasures checks the measures that route prints for ftree: on a full tree no shift in the ca-order has
// contention.
func TestRouteShowsMeasures(t *testing.T) {
	const tree = "sim:fattree:3,4"
	r := try("--json", "-s", tree, "-c", "engine ftree; route; check load pattern=shifts order=ca")
	if r.status != exitDone {
		t.Fatal(r.err)
	}
	for _, o := range []map[string]any{objects(t, r)[1], object(t, r)} { // of route and of check load
		has(t, o, map[string]float64{
			"shifts_hosts": 16, "shifts_count": 15, "shifts_worst": 1, "shifts_contention_free": 15,
		})
	}
	text := try("-s", tree, "-c", "engine ftree; route")
	for _, want := range []string{"in the ca-order", "shift figure 1 ", "15 of 15 shifts without contention",
		"effective bisection bandwidth "} {
		if !strings.Contains(text.out, want) {
			t.Errorf("%q lacks %q", text.out, want)
		}
	}
	if text = try("-s", tree, "-c", "route"); strings.Contains(text.out, "shift") {
		t.Errorf("minhop has no ca-order: %q", text.out)
	}
	all := try("--json", "-s", tree, "-c", "route; check load; check load pattern=all")
	answers := slices.DeleteFunc(objects(t, all), func(o map[string]any) bool {
		return o["kind"] != "answer" || o["command"] != "check load"
	})
	for i, has := range []bool{false, true} {
		if _, ok := answers[i]["bisections_mean"]; ok != has {
			t.Errorf("check load %d: bisections %v", i, ok)
		}
	}
	if r := try("-s", tree, "-c", "help check"); !strings.Contains(r.out, "shifts[:N]") ||
		!strings.Contains(r.out, "bisection[:N]") {
		t.Errorf("help lists no patterns: %q", r.out)
	}
}

// TestBadChecks also requires that exit status 2 means that no command ran.
func TestBadChecks(t *testing.T) {
	twice, stranger := write(t, "node-0001\nnode-0002\nnode-0001\n"), write(t, "node-0001\nnobody\n")
	for script, want := range map[string]struct {
		status int // without an earlier command
		words  []string
		parsed bool // refused before any command runs
	}{
		"check rech":                           {exitUsage, []string{`"reach"`}, true},
		"check load pattern=shift":             {exitUsage, []string{"shift:K"}, false},
		"check load pattern=shift:x":           {exitUsage, []string{"shift:x: expected a whole number"}, false},
		"check load pattern=shift:0":           {exitUsage, []string{"shift:0 of 8 hosts", "1 to 7"}, false},
		"check load pattern=shift:-8":          {exitUsage, []string{"1 to 7"}, false},
		"check load pattern=random:":           {exitUsage, []string{"random:SEED"}, false},
		"check load pattern=random:-1":         {exitUsage, []string{"random:-1: expected a number from 0"}, false},
		"check load pattern=bisection:0":       {exitUsage, []string{"bisection:0: expected a number from 1"}, false},
		"check load pattern=circle:1":          {exitUsage, []string{"circle:1"}, false},
		"check load order=ca pattern=shifts":   {exitFailed, []string{"engine ftree"}, false},
		"check load pattern=pairs:/does/not":   {exitFailed, []string{"/does/not"}, false},
		"check load pattern=hosts:" + twice:    {exitFailed, []string{twice + ":3:", "line 1"}, false},
		"check load pattern=hosts:" + stranger: {exitFailed, []string{stranger + ":2:", `"nobody"`}, false},
		"check reach of=whatif":                {exitFailed, []string{"nothing has failed"}, false},
		"who":                                  {exitUsage, []string{"uses"}, true},
		"who uses":                             {exitUsage, []string{"NODE"}, true},
		"who uses nobody":                      {exitFailed, []string{`"nobody"`}, false},
		"who uses leaf-01 9":                   {exitFailed, []string{"no port 9"}, false},
		"who uses leaf-01 x":                   {exitUsage, []string{`"x"`}, false},
	} {
		oneLine(t, try("-s", smallTree, "-c", "route; "+script), prose.When(want.parsed, exitUsage, exitFailed),
			want.words...)
		if want.status == exitUsage {
			oneLine(t, try("-s", smallTree, "-c", script), exitUsage, want.words...)
		}
	}
	oneLine(t, try("-s", "file:"+write(t, pair()), "-c", "check"), exitFailed, "check: ", "no forwarding tables")
}

// TestWhoUses checks counts: a host sends to 7 and receives from 7. A leaf has the paths from and to its two hosts: 2 x
// 7 twice, minus those from one to the other, which are counted twice.
func TestWhoUses(t *testing.T) {
	for what, want := range map[string]map[string]float64{
		"node-0003":     {"paths": 14, "all": 56, "sources": 8, "destinations": 8, "unreachable_count": 1},
		"leaf-02/1":     {"paths": 14, "unreachable_count": 1},
		"leaf-02 1":     {"paths": 14, "unreachable_count": 1},
		"leaf-02":       {"paths": 26, "unreachable_count": 2},
		"spine-01":      {"paths": 24, "unreachable_count": 0},
		"leaf-02 3":     {"paths": 12, "sources": 8, "unreachable_count": 0},
		"lid:8":         {"paths": 14},
		"guid:0x200000": {"all": 56},
	} {
		r := try("--json", "-s", smallTree, "-c", "route; who uses "+what)
		if r.status != exitDone {
			t.Errorf("%s: exit status %d, %s", what, r.status, r.err)
			continue
		}
		t.Run(what, func(t *testing.T) { has(t, object(t, r), want) })
	}
	out := ibconsole(t, "-s", smallTree, "-c", "route; who uses leaf-02")
	for _, want := range []string{"26 of 56 paths use it", "2 end ports unreachable", "unreachable: node-0003",
		"and 6 more"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q does not contain %q", out, want)
		}
	}
}
