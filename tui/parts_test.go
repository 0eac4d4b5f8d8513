// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/pane"
)

// hostile are node descriptions that an attacker could set.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b]0;evil\a", "\x9b2J", "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307", "\u0301bare mark",
	"日本語スイッチ一二三四五六七八九十",
	"👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷 flags", "❤️ heart", "\u202eevil", "\xff\xfe\x80", "tab\there", "new\nline\r",
	strings.Repeat("x", 64), "한글 각 ᄒ", "नमस्ते", "ﷺ",
	`quote " ' \ ;`, "leaf-01", "leaf-01", "", "lid:1", "0x200", "12", "of=live", "#c", "\u00ad\u200b\ufeff",
	"e\u0301toile", strings.Repeat("ｗ", 21),
}

func TestHostileDescriptions(t *testing.T) {
	f := star(t, hostile[0], hostile...)
	r := testenv.Rand(t)
	sizes := [][2]int{{120, 36}, {80, 24}, {200, 50}, {40, 10}, {30, 60}}
	for _, ascii := range []bool{false, true} {
		back := newFake(f)
		back.state.Live.Tables = fabric.NewTables(f, fabric.NewLFT(1, f.MaxLID), hostile[0])
		d := driveBackend(t, back)
		if ascii {
			*d.m.Look = *looks()[5].make(t)
		}
		for _, i := range r.Perm(len(sizes))[:testenv.Count(t, 2, len(sizes))] {
			d.size(sizes[i][0], sizes[i][1]).press("2", "g", "j", "right", "z", "t")
			for range hostile {
				d.press("2", "j", "T", "3", "2")
			}
			d.press("z", "left", "f")
			for id := range d.m.all {
				d.press(d.m.digit(id), "G", "b", "z", "z")
			}
			d.press("2", "g", "j", "i", "esc", "?", "G", "esc", ":", "trace ", "tab", "tab", "esc", "esc", "f")
		}
		d.size(120, 60).press("2", "G").sees("0x00000000000003")
	}
}

// TestWords checks that the words of a key for a node resolve to that node in the shell.
func TestWords(t *testing.T) {
	f := star(t, hostile[0], hostile...)
	for i := range f.Nodes {
		node := fabric.NodeIndex(i)
		stmts, err := lang.Parse("", "fail node "+pane.NodeWord(f, node))
		if err != nil || len(stmts) != 1 || len(stmts[0].Words) != 3 {
			t.Fatalf("%s: %v %v", pane.NodeWord(f, node), stmts, err)
		}
		if got, err := places.ResolveNode(f, stmts[0].Words[2]); err != nil || got != node {
			t.Errorf("%q is %s: node %d, %v, want %d", f.Nodes[i].Desc, pane.NodeWord(f, node), got, err, node)
		}
		end := f.EndPortOf(pane.FirstLinked(f, node))
		stmts, err = lang.Parse("", "trace "+pane.PortWord(f, end))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := places.Resolve(f, stmts[0].Words[1]); err != nil || f.EndPortOf(p.Port) != end {
			t.Errorf("%q is %s: %+v, %v", f.Nodes[i].Desc, pane.PortWord(f, end), p, err)
		}
	}
}

// TestEndPortOfTwo checks that a host with one link is named without its port.
func TestEndPortOfTwo(t *testing.T) {
	f, _ := routed(t, "fattree:2,4")
	for i := range f.Nodes {
		if !f.Nodes[i].IsSwitch() {
			if got := pane.PortWord(f, pane.FirstLinked(f, fabric.NodeIndex(i))); strings.Contains(got, "/") {
				t.Errorf("a host with one link is called %s", got)
			}
		}
	}
}

// TestTiers uses the construction of the topologies: a 3-level fat-tree of k-port switches has k*k/4 spines and k*k/2
// of either other kind; every switch of a torus has a host.
func TestTiers(t *testing.T) {
	for spec, want := range map[string][]int{"fattree:3,4": {8, 8, 4}, "fattree:2,12": {12, 6}, "torus:4x4": {16}} {
		f, _ := routed(t, spec)
		ix := new(pane.Indexes).Of(f)
		var got []int
		for _, tier := range ix.Tiers {
			got = append(got, len(tier))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: tiers of %v switches, want %v", spec, got, want)
		}
	}
}

func TestTopologyOfOddFabrics(t *testing.T) {
	var b fabric.Builder
	d := star(t, "sw", "a")
	for i := range d.Nodes {
		if _, err := b.AddNode(fabric.Node{GUID: d.Nodes[i].GUID, Desc: d.Nodes[i].Desc, Type: d.Nodes[i].Type,
			NumPorts: 40}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.AddNode(fabric.Node{GUID: 0x900, Desc: "far", Type: d.Nodes[0].Type, NumPorts: 2}); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	driveBackend(t, newFake(f)).
		press("2").sees("unreachable  1 switch", "far", "not attached to a switch  1 node", "0/40").
		press("right").sees("p1-40  no link").
		press("j", "f").sees("! f: sw/1 has no link that could fail").
		press("/", "a", "enter").sees("far", "not attached to a switch").press("esc", "G", "left")
}

func TestJob(t *testing.T) {
	j, _ := newJob(t.Context(), 1, "x", time.Now())
	s := sink{j, false}
	for i := range 2*pane.MaxKept + 5 {
		fmt.Fprintf(s, "%d\n", i)
	}
	fmt.Fprint(s, "no end")
	got := j.take(false)
	if n := len(got); got[0].text != "10,000 lines left out here: write long answers to a file" ||
		got[n-1].text != fmt.Sprint(2*pane.MaxKept+4) {
		t.Errorf("%d lines from %q to %q", n, got[0].text, got[n-1].text)
	}
	if got := j.take(true); len(got) != 1 || got[0].text != "no end" {
		t.Errorf("the rest: %v", got)
	}
	msg := j.run(func() error { return errors.New("why") })
	if d, ok := msg.(doneMsg); !ok || d.err == nil {
		t.Errorf("%#v", msg)
	}
}

// TestBadTables checks that the table shows loops, dead ends and wrong entries.
func TestBadTables(t *testing.T) {
	f, tables := routed(t, "fattree:2,4")
	lft := tables.LFT.Clone()
	host := f.Ports[f.EndPorts[0]].LID
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			host = f.Ports[e].LID
		}
	}
	sw, _ := f.AttachedSwitch(f.PortByLID(host))
	set := func(entry uint8) *driver {
		lft.Row(sw)[host] = entry
		back := newFake(f)
		back.state.Live.Tables = fabric.NewTables(f, lft, "live")
		d := driveBackend(t, back)
		d.press("2", "/", f.NodeName(f.Switches[sw]), "enter", "3", "/", fmt.Sprint(host), "enter")
		return d
	}
	up := uint8(0)
	n := f.SwitchNode(sw)
	for p := range n.Ports() {
		if f.PeerSwitch(p) != fabric.None {
			up = f.Ports[p].Num
		}
	}
	set(up).sees("loop")
	set(99).sees("no such port", "lost")
	set(fabric.NoPath).sees("no entry", "lost")
	set(0).sees("this switch", "wrong")
	if p := walk.Trace(fabric.NewTables(f, lft, ""), f.PortByLID(host), host); p.Verdict != walk.Delivered {
		t.Errorf("a host reaches itself: %s", p.Verdict)
	}
}

// TestTableWithoutSwitch shows a state without the switch of the pane, with a filter and adaptive-routing groups.
func TestTableWithoutSwitch(t *testing.T) {
	d := drive(t, "sim:fattree:2,4").size(120, 36)
	d.press(":fail link leaf-01 3; add switch new leaf-01/3; route; adaptive on", "enter", "2", "/new", "enter",
		"enter", "3", "/leaf", "enter")
	d.sees("LFT of new").press("v").sees("this state has no such switch").press("b", "s", "e", "esc", "?", "?",
		"esc", "esc", "/", "x", "esc")
}
