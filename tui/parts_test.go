// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
)

// hostile are descriptions that somebody could have written into a node.
var hostile = []string{
	"\x1b[2J\x1b[H\x1b]0;evil\a", "\x9b2J", "a\u0301\u0302\u0303\u0304\u0305\u0306\u0307", "\u0301bare mark", "日本語スイッチ一二三四五六七八九十",
	"👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷 flags", "❤️ heart", "\u202eevil", "\xff\xfe\x80", "tab\there", "new\nline\r", strings.Repeat("x", 64), "한글 각 ᄒ", "नमस्ते", "ﷺ",
	`quote " ' \ ;`, "leaf-01", "leaf-01", "", "lid:1", "0x200", "12", "of=live", "#c", "\u00ad\u200b\ufeff", "e\u0301toile", strings.Repeat("ｗ", 21),
}

func TestHostileDescriptions(t *testing.T) {
	f := star(t, hostile[0], hostile...)
	for _, ascii := range []bool{false, true} {
		back := newFake(f)
		back.state.Live.Tables = fabric.NewTables(f, fabric.NewLFT(1, f.MaxLID), hostile[0])
		d := driveBackend(t, back)
		if ascii {
			*d.m.theme = *plainTheme()
			d.m.theme.name, d.m.theme.glyphs = "none", asciiGlyphs()
		}
		for _, s := range [][2]int{{120, 36}, {80, 24}, {200, 50}, {40, 10}, {30, 60}} {
			d.size(s[0], s[1]).press("2", "g", "j", "right", "z", "t")
			for range hostile {
				d.press("2", "j", "T", "3", "2")
			}
			d.press("z", "left", "f")
			for id := paneProblems; int(id) <= paneCount; id++ {
				d.press(id.key(), "G", "b", "z", "z")
			}
			d.press("2", "g", "j", "i", "esc", "?", "G", "esc", ":", "trace ", "tab", "tab", "esc", "esc", "f")
		}
		d.size(120, 60).press("2", "G").sees("0x00000000000003")
	}
}

// TestClean: a text may be shown as it is, or escaped, never with another width
// than both ways of counting give it.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"leaf-01":               "leaf-01",
		"\x1b[2J":               `\x1b[2J`,
		"日本語":                   "日本語",
		"e\u0301toile":          "e\u0301toile",
		"xa\u0301\u0302\u0303":  `xa\u0301\u0302\u0303`,
		"👨‍👩‍👧x":                `\U0001f468\u200d\U0001f469\u200d\U0001f467x`,
		"👨 日":                   "👨 日",
		"\xff":                  `\xff`,
		"a\tb":                  "a    b",
		"\u202eevil":            `\u202eevil`,
		"🇩🇪":                    `\U0001f1e9\U0001f1ea`,
		"\u0301":                `\u0301`,
		"back\\slash stays one": "back\\slash stays one",
	} {
		if got := clean(in, false); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := clean("µ日", true), `u\u65e5`; got != want {
		t.Errorf("ASCII: %q, want %q", got, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		for _, ascii := range []bool{false, true} {
			c := clean(s, ascii)
			if !utf8.ValidString(c) || strings.ContainsFunc(c, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
				t.Fatalf("clean(%q) = %q", s, c)
			}
			if a, b := width(c), ansi.StringWidth(c); a != b {
				t.Fatalf("clean(%q) = %q is %d or %d wide", s, c, a, b)
			}
			w = min(max(w, 0), 1000)
			if x := cut(c, w, "…"); width(x) > w {
				t.Fatalf("cut(%q, %d) = %q", c, w, x)
			}
			if x := skip(c, w); width(x) != max(width(c)-w, 0) {
				t.Fatalf("skip(%q, %d) = %q", c, w, x)
			}
			th, _ := newTheme("dark", termenv.TrueColor, unicodeGlyphs())
			p := newPen(th, w)
			p.cell(th.bad, s, w/2)
			p.right("", s, w/3)
			p.put(th.dim, s)
			if line := p.done(); ansi.StringWidth(line) != w {
				t.Fatalf("a line of %d cells with %q is %q", w, s, line)
			}
		}
	})
}

// TestWords: what a key says of a node must lead the shell to that node.
func TestWords(t *testing.T) {
	f := star(t, hostile[0], hostile...)
	for i := range f.Nodes {
		node := fabric.NodeIndex(i)
		stmts, err := lang.Parse("", "fail node "+nodeWord(f, node))
		if err != nil || len(stmts) != 1 || len(stmts[0].Words) != 3 {
			t.Fatalf("%s: %v %v", nodeWord(f, node), stmts, err)
		}
		if got, err := places.ResolveNode(f, stmts[0].Words[2]); err != nil || got != node {
			t.Errorf("%q says %s: node %d, %v, want %d", f.Nodes[i].Desc, nodeWord(f, node), got, err, node)
		}
		end := f.EndPortOf(firstLinked(f, node))
		stmts, err = lang.Parse("", "trace "+portWord(f, end))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := places.Resolve(f, stmts[0].Words[1]); err != nil || f.EndPortOf(p.Port) != end {
			t.Errorf("%q says %s: %+v, %v", f.Nodes[i].Desc, portWord(f, end), p, err)
		}
	}
}

// TestEndPortOfTwo: a host with two links is named with its port.
func TestEndPortOfTwo(t *testing.T) {
	f, _ := routed(t, "fattree:2,4")
	for i := range f.Nodes {
		if !f.Nodes[i].IsSwitch() {
			if got := portWord(f, firstLinked(f, fabric.NodeIndex(i))); strings.Contains(got, "/") {
				t.Errorf("a host with one link is called %s", got)
			}
		}
	}
}

func TestNatural(t *testing.T) {
	got := []string{"leaf-10", "leaf-9", "leaf-09", "spine-1", "leaf-1a", "leaf", "10", "9", "leaf-1"}
	slices.SortFunc(got, natural)
	want := []string{"9", "10", "leaf", "leaf-1", "leaf-1a", "leaf-9", "leaf-09", "leaf-10", "spine-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTiers: the counts follow from how the shapes are made: a 3-level fat-tree
// of k-port switches has k*k/4 spines, k*k/2 of either other kind; every switch
// of a torus has a host.
func TestTiers(t *testing.T) {
	for spec, want := range map[string][]int{"fattree:3,4": {8, 8, 4}, "fattree:2,12": {12, 6}, "torus:4x4": {16}} {
		f, _ := routed(t, spec)
		ix := newIndex(f)
		var got []int
		for _, tier := range ix.tiers {
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
		if _, err := b.AddNode(fabric.Node{GUID: d.Nodes[i].GUID, Desc: d.Nodes[i].Desc, Type: d.Nodes[i].Type, NumPorts: 40}); err != nil {
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
		press("2").sees("outside  1 switch that no link leads to", "far", "on no switch  1 node", "0/40").
		press("right").sees("p1-40  no link").
		press("j", "f").sees("! f: sw/1 has no link that could fail").
		press("/", "a", "enter").sees("far", "on no switch").press("esc", "G", "left")
}

func TestWindow(t *testing.T) {
	w := window{}
	w.resize(100, 10)
	w.to(50)
	if w.cursor != 50 || w.top != 41 {
		t.Errorf("to 50: %+v", w)
	}
	w.reveal(5)
	if w.cursor != 5 || w.top != 0 {
		t.Errorf("reveal 5: %+v", w)
	}
	w.to(1000)
	w.resize(20, 30)
	if w.cursor != 19 || w.top != 0 {
		t.Errorf("fewer rows: %+v", w)
	}
	w.resize(0, 0)
	w.to(-3)
	if w.cursor != 0 || w.top != 0 {
		t.Errorf("no rows: %+v", w)
	}
	w.resize(1000, 10)
	w.to(999)
	if from, to := w.thumb(); from != 9 || to != 10 {
		t.Errorf("thumb at the end: %d-%d", from, to)
	}
}

func TestEditor(t *testing.T) {
	var e editor
	key := func(kt tea.KeyType) { e.key(tea.KeyMsg{Type: kt}) }
	e.set("fail link 日本 7")
	key(tea.KeyCtrlW)
	key(tea.KeyBackspace)
	key(tea.KeyBackspace)
	e.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("語")})
	if e.String() != "fail link 日語" {
		t.Errorf("%q", e.String())
	}
	key(tea.KeyHome)
	key(tea.KeyDelete)
	key(tea.KeyCtrlRight)
	key(tea.KeyCtrlK)
	if e.String() != "ail" {
		t.Errorf("%q", e.String())
	}
	e.set("fail lin")
	key(tea.KeyLeft)
	e.replace(5, "link-")
	if e.String() != "fail link-n" || e.before() != "fail link-" {
		t.Errorf("%q before %q", e.String(), e.before())
	}
	e.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'b'}, Alt: true})
	if e.before() != "fail " {
		t.Errorf("a word back: %q", e.before())
	}
	if e.key(tea.KeyMsg{Type: tea.KeyF1}) {
		t.Error("F1 edits")
	}
}

func TestJob(t *testing.T) {
	j, _ := newJob(t.Context(), 1, "x", time.Now())
	s := sink{j, false}
	for i := range 2*maxKept + 5 {
		fmt.Fprintf(s, "%d\n", i)
	}
	fmt.Fprint(s, "no end")
	got := j.take(false)
	if n := len(got); got[0].text != "10,000 lines left out here: write long answers to a file" || got[n-1].text != fmt.Sprint(2*maxKept+4) {
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

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 136037232: "136,037,232", -1234: "-1,234"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}

// TestBadTables: loops, dead ends and wrong entries are named in the table.
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
