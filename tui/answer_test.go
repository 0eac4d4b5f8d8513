// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"testing"

	"example.org/ibconsole/tui/draw"
)

// TestAnswers checks that the answer of a list is a table whose rows open, and that [ goes back to it.
func TestAnswers(t *testing.T) {
	d := drive(t, tree)
	d.press(":show switches", "enter").sees("›a Answer show switches", "up/ports", "leaf-01", "18 rows", "Esc back")
	d.press("/", "spine-03", "enter").sees("1 row").press("esc").sees("18 rows")
	d.press("s", "s").sees("by lid ↓")
	d.press("/", "leaf-07", "enter", "enter").sees("›2 Topology").press("[").sees("›a Answer show switches")
	d.press("f").sees("WHAT-IF 1 failure")
}

// TestFiguresOpen checks that each figure of the what-if opens the names that it counts.
func TestFiguresOpen(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press(":fail switch leaf-03", "enter", "r", "5")
	for figure, shows := range map[string][]string{
		// six hosts and a switch
		"unreachable nodes": {"unreachable nodes", "node-0013", "node-0018", "leaf-03", "7 rows"},
		"  lost":            {"pairs lost", "node-0013", "from", "to"},
		"LFT entries":       {"LFT entries", "spine-01", "entries"},
		"end ports removed": {"end ports gone", "node-0018", "leaf-03/6", "7 rows"},
		"paths over links":  {"links whose load changes", "paths before", "change"},
	} {
		t.Run(figure, func(t *testing.T) {
			d.t = t
			d.press("5", "g")
			for range 40 {
				if line := selected(d); strings.Contains(line, figure) {
					break
				}
				d.press("j")
			}
			d.press("enter").sees("›a Answer").sees(shows...)
		})
	}
	d.t = t
}

// selected returns the line of the cursor.
func selected(d *driver) string {
	p := d.m.pane()
	row, _ := p.Base().Selected()
	return p.Base().Cols[0].Text(row)
}

// TestAnswerOfPairs checks that a pair that lost its path opens the path that it had.
func TestAnswerOfPairs(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press(":fail switch leaf-03", "enter", "r", "d").sees("›a Answer diff: summary", "pairs lost")
	d.press("/", "pairs lost", "enter", "enter").sees("pairs lost")
	d.press("g", "enter").sees("4 Trace node-00", "delivered")
}

// TestBestEngine checks that a comparison marks the best engine and that Enter chooses it. For a fat-tree that is
// ftree, which spreads shifts evenly.
func TestBestEngine(t *testing.T) {
	d := drive(t, "sim:fattree:3,6").size(200, 50)
	d.press(":compare engines updn minhop ftree", "enter").sees("ftree (best)", "credit loop")
	d.press("/", "ftree", "enter", "enter").sees("engine ftree").press("r").sees("STAGED ftree")
}

// TestHostSet checks that marked hosts get a name, by which all lists show them and the links that they share.
func TestHostSet(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press(":show nodes", "enter", "/", "node-000", "enter").sees("9 rows").press("H").sees("name for 9 hosts: ")
	d.press("job1", "enter").sees("›a Answer hosts job1 node-[0001-0009]: summary",
		"job1 of live: 9 hosts on 2 switches, 72 paths among them")
	d.press("b").sees("node-0009 HCA-1/1", "leaf-02/3").press("b").sees("its paths", "of others")
	d.press("3", "/", "@job1", "enter").sees("9 LIDs", "node-0009").misses("node-0010")
	d.press("2", "/", "@job2").sees("sets: @job1").press("esc")
}

// TestAnswersOfChecks checks that the answers of checks, balance and show failures are tables, whatever they find.
func TestAnswersOfChecks(t *testing.T) {
	d := drive(t, tree)
	d.press(":balance switch all", "enter").sees("›a Answer balance switch all", "switch", "balanced", "leaf-01",
		"144 rows")
	d.press("/", "leaf-02/7", "enter", "enter").sees("›2 Topology")
	for _, command := range []string{"check credits", "check reach", "check loops"} {
		d.press(":"+command, "enter").sees("›a Answer " + command)
	}
	d.press(":sweep full mft", "enter", ":check mcast", "enter").sees("›a Answer check mcast",
		"every member gets each packet once")
	d.press(":fail switch leaf-03", "enter", ":show failures", "enter").sees("›a Answer show failures").press("b").sees(
		"number", "leaf-03")
}

// TestCommitPageUsesThePage checks that a large page shows the switches that are written to next to the links with
// another load, without scrolling.
func TestCommitPageUsesThePage(t *testing.T) {
	d := drive(t, tree)
	d.press("2", "/", "spine-01", "enter", "f", "r", "C").sees("switches that are written to",
		"links whose load changes, before and after", "leaf-01/8", "paths before, after", "66 to 132", "and 8 more",
		"Nothing has been written").misses("66 to 0")
	d.size(200, 50).sees("spine-06", "entries was", "Nothing has been written").misses("and 8 more")
	d.size(80, 24).misses("links whose load changes").sees("credits").size(120, 36).sees("and 8 more")
}

// TestLinesLeadOn checks that a line of a summary opens the first port or node that it names.
func TestLinesLeadOn(t *testing.T) {
	d := drive(t, tree).size(200, 50)
	d.press(":who uses leaf-03/1", "enter").sees("›a Answer who uses leaf-03/1: summary")
	d.press("/", "71 paths to 1 LID", "enter", "enter").sees("›2 Topology")
	d.press("[").sees("›a Answer who uses leaf-03/1: summary")
}

// TestFrameOfAnswer checks that the frame of an answer is that of the state that the answer is about, whatever state
// the other panes show, and also after this state was left.
func TestFrameOfAnswer(t *testing.T) {
	d := drive(t, tree).size(120, 36)
	frame := func(command string, want int, word string) {
		t.Helper()
		d.press(":"+command, "enter")
		x := d.m.all[d.m.named("Answer")]
		if x.Title() != command && !strings.HasPrefix(x.Title(), command+": ") {
			t.Fatalf("%s: the answer is %q", command, x.Title())
		}
		if b := x.StateBadge(); b == nil || b.Frame != want || b.Word != word {
			t.Errorf("%s: badge %+v, want %q in frame %d", command, b, word, want)
		}
	}
	frame("show switches", draw.FrameLive, "LIVE")
	d.press(":fail switch spine-02", "enter")
	frame("show switches", draw.FrameWhatIf, "WHAT-IF 1 failure")
	frame("show switches of=live", draw.FrameLive, "LIVE")
	d.press(":route", "enter")
	frame("check reach", draw.FrameStaged, "STAGED minhop")
	frame("check load of=whatif", draw.FrameWhatIf, "WHAT-IF 1 failure")
	d.press(":restore all", "enter", "a")
	if b := d.m.pane().StateBadge(); b == nil || b.Word != "WHAT-IF 1 failure" {
		t.Errorf("after the end of the what-if the badge is %+v", b)
	}
	d.sees("WHAT-IF 1 failure")
	d.press(":help show", "enter")

}
