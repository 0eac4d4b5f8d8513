// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"example.org/ibconsole/internal/base/prose"

	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

// TestClean checks that text is shown unchanged or escaped, and that both ways of counting agree on its width.
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
		if got := Clean(in, false); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := Clean("µ日", true), `u\u65e5`; got != want {
		t.Errorf("ASCII: %q, want %q", got, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"\x1b[2J\x1b]0;evil\a", "\x9b2J", "a\u0301\u0302\u0303\u0304", "\u0301bare mark",
		"日本語スイッチ", "👨‍👩‍👧‍👦 family", "🇩🇪🇫🇷 flags", "❤️ heart", "\u202eevil", "\xff\xfe\x80", "नमस्ते", "ﷺ",
		"\u00ad\u200b\ufeff"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		for _, ascii := range []bool{false, true} {
			c := Clean(s, ascii)
			if !utf8.ValidString(c) || strings.ContainsFunc(c, func(r rune) bool {
				return r < 0x20 || r >= 0x7f && r < 0xa0
			}) {
				t.Fatalf("clean(%q) = %q", s, c)
			}
			if a, b := Width(c), ansi.StringWidth(c); a != b {
				t.Fatalf("clean(%q) = %q is %d or %d wide", s, c, a, b)
			}
			w = min(max(w, 0), 1000)
			if x := Cut(c, w, "…"); Width(x) > w {
				t.Fatalf("cut(%q, %d) = %q", c, w, x)
			}
			if x := Skip(c, w); Width(x) != max(Width(c)-w, 0) {
				t.Fatalf("skip(%q, %d) = %q", c, w, x)
			}
			th, _ := NewTheme("dark", termenv.TrueColor, unicodeGlyphs(), nil)
			p := NewPen(th, w)
			p.Cell(th.Bad, s, w/2)
			p.Right("", s, w/3)
			p.Put(th.Dim, s)
			if line := p.Done(); ansi.StringWidth(line) != w {
				t.Fatalf("a line of %d cells with %q is %q", w, s, line)
			}
		}
	})
}

func TestWindow(t *testing.T) {
	w := Window{}
	w.Resize(100, 10)
	w.To(50)
	if w.Cursor != 50 || w.Top != 41 {
		t.Errorf("to 50: %+v", w)
	}
	w.Reveal(5)
	if w.Cursor != 5 || w.Top != 0 {
		t.Errorf("reveal 5: %+v", w)
	}
	w.To(1000)
	w.Resize(20, 30)
	if w.Cursor != 19 || w.Top != 0 {
		t.Errorf("fewer rows: %+v", w)
	}
	w.Resize(0, 0)
	w.To(-3)
	if w.Cursor != 0 || w.Top != 0 {
		t.Errorf("no rows: %+v", w)
	}
	w.Resize(1000, 10)
	w.To(999)
	if from, to := w.thumb(); from != 9 || to != 10 {
		t.Errorf("thumb at the end: %d-%d", from, to)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 136037232: "136,037,232", -1234: "-1,234"} {
		if got := prose.Thousands(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}

func TestFilters(t *testing.T) {
	for _, c := range []struct {
		filter, text string
		want         bool
	}{
		{"LEAF", "leaf-01", true}, {"!leaf", "leaf-01", false}, {"~lf1", "leaf-01", true}, {"~1f", "leaf-01", false},
		{"!~1f", "leaf-01", true},
		{"/^LEAF-0[12]$", "leaf-02", true}, {"/^leaf-0[12]$", "leaf-03", false}, {`/\D\d$`, "leaf-1", true},
		{`/\S+`, " ", false}, {"!/x", "leaf", true},
		{"", "any", true}, {"!", "any", true}, {"/", "any", true}, {"~日", "日本", true}, {`/(?-i)leaf`, "leaf", true},
	} {
		f, err := ParseFilter(c.filter)
		if err != nil {
			t.Fatal(c.filter, err)
		}
		if got := f.Empty() || f.Match(c.text); got != c.want {
			t.Errorf("%q selects %q: %v", c.filter, c.text, got)
		}
	}
	if _, err := ParseFilter("/["); err == nil {
		t.Error("/[ is accepted")
	}
}

// TestEachPanics checks that a panic of work reaches the caller from every goroutine.
func TestEachPanics(t *testing.T) {
	for _, at := range []int{0, 3, 7} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "boom") {
					t.Errorf("part %d: recovered %q", at, p)
				}
			}()
			each(8*manyRows, func(from, _ int) {
				if from == at*manyRows {
					panic("boom")
				}
			})
		}()
	}
}

// TestWidths uses numbers worked out by hand. Columns with a rank are left out first, then up to a third of the least
// width of sharing columns is taken, then columns are left out from the right. Columns that share get the rest.
func TestWidths(t *testing.T) {
	table := Table{
		Cols: []Column{{Wide: 6}, {Least: 15, Share: 2}, {Wide: 5}, {Least: 9}, {Wide: 7, Rank: 1}, {Wide: 5}},
	}
	for _, x := range []struct {
		w    int
		want []int
	}{
		{63, []int{6, 19, 5, 11, 7, 5}}, // 57 needed, 6 over: 4 and 2
		{57, []int{6, 15, 5, 9, 7, 5}},
		{50, []int{6, 16, 5, 10, 0, 5}}, // 48 without the one of rank 1
		{42, []int{6, 10, 5, 8, 0, 5}},  // 6 short: 5 of the first that shares, 1 of the next
		{38, []int{6, 12, 5, 9, 0, 0}},  // 8 is a third of both, 10 short: the last one goes, and 3 are still short
		{20, []int{6, 12, 0, 0, 0, 0}},
	} {
		if got := table.widths(x.w); !slices.Equal(got, x.want) {
			t.Errorf("in %d cells the columns have %v, want %v", x.w, got, x.want)
		}
	}
}

// TestFold checks that folded text fits, keeps each character in its order, and breaks at blanks if it can.
func TestFold(t *testing.T) {
	for _, s := range []string{"", "  ", "short", "  a  line with   blanks, and a-very-long-word-without-blanks   ",
		"日本語の名前 漢字漢字漢字漢字漢字", "e\u0301e\u0301 e\u0301e\u0301e\u0301", strings.Repeat("x", 99)} {
		for w := range 50 {
			lines := Fold(s, w)
			for _, line := range lines {
				if Width(line) > max(w, 4) {
					t.Errorf("%d cells: %q is too long", w, line)
				}
			}
			if got := strings.Join(lines, ""); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(s, " ", "") {
				t.Errorf("%d cells: %q became %q", w, s, got)
			}
		}
	}
	want := []string{"  pairs    that", "    lost their", "    path"}
	if got := Fold("  pairs    that lost their path", 15); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
