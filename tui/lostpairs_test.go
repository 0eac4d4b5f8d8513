// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestLostPairsAreOneNumber simulates random failures, with old and new routes, several LIDs and adaptive routing:
// check reach, diff, compare engines, trace all all, report and the What-if pane count the same lost pairs as a walk of
// each pair.
func TestLostPairsAreOneNumber(t *testing.T) {
	r := testenv.Rand(t)
	sources := []string{"sim:fattree:2,4", "sim:fattree:2,6", "sim:mesh:3x3", "sim:torus:3x3", "sim:hypercube:3",
		"sim:dragonfly:2,2,1"}
	lost, all := 0, 0
	for i := range testenv.Count(t, 50, 500) {
		w := newLostPairs(t, sources[i%len(sources)])
		before := ""
		switch i / len(sources) % 3 {
		case 1:
			before = "engine minhop lmc=1; route; write on; commit yes force-interrupt force-loop; unstage; "
		case 2:
			before = "adaptive on; "
		}
		w.run(before + w.failures(r))
		n := w.compare("whatif", "on the switches")
		w.run("engine minhop; route")
		n += w.compare("staged", "minhop")
		if all++; n > 0 {
			lost++
		}
		if t.Failed() {
			t.Fatalf("case %d, %s: %s", i, sources[i%len(sources)], w.ran)
		}
	}
	if lost == 0 || lost == all {
		t.Errorf("%d of %d what-ifs lost pairs, want some", lost, all)
	}
}

type lostPairs struct {
	t   *testing.T
	s   *session.Session
	sh  *shell.Shell
	ran string
}

func newLostPairs(t *testing.T, from string) *lostPairs {
	t.Helper()
	s := sessiontest.Open(t, from)
	return &lostPairs{t: t, s: s, sh: shell.New(s)}
}

// failures returns one to three random links, switches and hosts.
func (w *lostPairs) failures(r *rand.Rand) string {
	f := w.s.State().Live.Fabric
	var words []string
	for range 1 + r.IntN(3) {
		switch r.IntN(4) {
		case 0:
			words = append(words,
				fmt.Sprintf("fail switch guid:0x%x", f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))).GUID))
		case 1:
			words = append(words, fmt.Sprintf("fail node guid:0x%x", f.Nodes[r.IntN(len(f.Nodes))].GUID))
		default:
			words = append(words, fmt.Sprintf("fail random 1 seed=%d", r.IntN(1000)))
		}
	}
	return strings.Join(words, "; ")
}

// run runs commands. A failure that was simulated before may fail.
func (w *lostPairs) run(commands string) {
	for c := range strings.SplitSeq(commands, "; ") {
		w.ran += c + "; "
		var out strings.Builder
		if err := w.sh.Run(w.t.Context(), "test", c, &shell.Output{W: &out, Form: answer.FormJSON}); err != nil &&
			!strings.HasPrefix(c, "fail") {
			w.t.Errorf("%s: %v", c, err)
		}
	}
}

// number returns a number from the answer of a command, at a path of keys in the last object that has them.
func (w *lostPairs) number(command string, has func(map[string]any) bool, keys ...string) int {
	w.t.Helper()
	var out strings.Builder
	// checks fail where pairs are lost
	_ = w.sh.Run(w.t.Context(), "test", command, &shell.Output{W: &out, Form: answer.FormJSON})
	for line := range strings.Lines(out.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			w.t.Fatalf("%s: %v: %s", command, err, line)
		}
		if has != nil && !has(o) {
			continue
		}
		var at any = o
		for _, k := range keys {
			m, _ := at.(map[string]any)
			at = m[k]
		}
		if n, ok := at.(float64); ok {
			return int(n)
		}
	}
	w.t.Errorf("%s: no number at %v in %s", command, keys, out.String())
	return -1
}

// compare compares the lost pairs of a state, whose row in compare engines has this name, and returns their number.
func (w *lostPairs) compare(state, row string) int {
	w.t.Helper()
	got := map[string]int{
		"check reach":   w.number("check reach of="+state, nil, "lost_pairs"),
		"trace all all": w.number("trace all all of="+state, nil, "lost_pairs"),
		"report":        w.number("report json - of="+state, nil, "routing", "lost_pairs"),
		"compare engines": w.number("compare engines minhop", func(o map[string]any) bool {
			return o["name"] == row
		}, "lost_pairs"),
		"diff":         w.number("diff base "+state, nil, "pairs_cut_off"),
		"What-if pane": w.pane(),
	}
	st := w.s.State()
	p, err := st.Of(session.Kind(state))
	if err != nil {
		w.t.Error(err)
		return 0
	}
	want := got["check reach"]
	if p.Tables.Adaptive == nil {
		want = walked(p.Tables)
	}
	for what, n := range got {
		if n != want {
			w.t.Errorf("%s: %s counts %d lost pairs, a walk of each pair finds %d", state, what, n, want)
		}
	}
	return want
}

// pane returns the number of lost pairs in the What-if pane.
func (w *lostPairs) pane() int {
	watcher := w.s.Watch()
	defer watcher.Stop()
	screen := driveBackend(w.t, &shellBackend{Shell: w.sh, watcher: watcher}).size(200, 60).press("5").screen()
	for line := range strings.Lines(screen) {
		if fields := strings.Fields(line); len(fields) > 1 {
			for i, word := range fields[:len(fields)-1] {
				if word == "lost" {
					n, err := strconv.Atoi(strings.ReplaceAll(fields[i+1], ",", ""))
					if err == nil {
						return n
					}
				}
			}
		}
	}
	w.t.Errorf("the What-if pane has no lost pairs:\n%s", screen)
	return -1
}

// walked counts the lost pairs by a walk from each host port to all LIDs of each other one that existed before the
// failures.
func walked(t *fabric.Tables) int {
	f := t.Fabric
	var ends []fabric.PortIndex
	for p := range f.NumPorts() {
		if !f.Nodes[f.Ports[p].Node].IsSwitch() && f.Ports[p].LID != 0 {
			ends = append(ends, p)
		}
	}
	lost := 0
	for _, src := range ends {
		for _, dst := range ends {
			if src == dst {
				continue
			}
			arrives := f.PortByGUID(f.Ports[src].GUID) == src && f.PortByGUID(f.Ports[dst].GUID) == dst
			for k := range uint16(1) << f.Ports[dst].LMC {
				arrives = arrives && walk.Trace(t, src, f.Ports[dst].LID+k).Verdict.Arrives()
			}
			if !arrives {
				lost++
			}
		}
	}
	return lost
}
