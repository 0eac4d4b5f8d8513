// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	type statement struct {
		line  int
		words []string
	}
	tests := []struct {
		name, text string
		want       []statement
	}{
		{"nothing", "", nil},
		{"blanks, separators and comments only", " ;; \n# x; y 'z\n\t;", nil},
		{"words", " show\tnodes  a ", []statement{{1, []string{"show", "nodes", "a"}}}},
		{
			"separators", "a;b ; c\nd", []statement{{1, []string{"a"}}, {1, []string{"b"}}, {1, []string{"c"}},
				{2, []string{"d"}}},
		},
		{"CR LF", "a\r\nb c\r\n", []statement{{1, []string{"a"}}, {2, []string{"b", "c"}}}},
		{"byte order mark", "\ufeffa", []statement{{1, []string{"a"}}}},
		{"comment", "a # b; c\nd", []statement{{1, []string{"a"}}, {2, []string{"d"}}}},
		{"comment at the end", "a #b", []statement{{1, []string{"a"}}}},
		{"# inside a word", "a#b #c", []statement{{1, []string{"a#b"}}}},
		{"continuation", "a \\\nb\\\nc\\\r\nd\ne", []statement{{1, []string{"a", "bcd"}}, {5, []string{"e"}}}},
		{"no continuation in a comment", "# a \\\nb", []statement{{2, []string{"b"}}}},
		{"single quotes", `a 'b ;#"\' ''`, []statement{{1, []string{"a", `b ;#"\`, ""}}}},
		{"double quotes", `a "b ;#' \" \\ \$ \a" ""`, []statement{{1, []string{"a", `b ;#' " \ $ \a`, ""}}}},
		{"continuation in double quotes", "\"a\\\nb\" c\nd", []statement{{1, []string{"ab", "c"}}, {3, []string{"d"}}}},
		{"none in single quotes", "'a\\\nb' c\nd", []statement{{1, []string{"a\\\nb", "c"}}, {3, []string{"d"}}}},
		{"backslash", `a\ b \; \# \\ \'`, []statement{{1, []string{"a b", ";", "#", `\`, "'"}}}},
		{"pieces join", `a'b'"c"\d`, []statement{{1, []string{"abcd"}}}},
		{"other letters", "fail node é世界", []statement{{1, []string{"fail", "node", "é世界"}}}},
		{"newline in quotes counts", "'a\n\nb'\nc", []statement{{1, []string{"a\n\nb"}}, {4, []string{"c"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse("script", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d statements %+v, want %d", len(got), got, len(tt.want))
			}
			for i, w := range tt.want {
				if got[i].Line != w.line || !slices.Equal(got[i].Words, w.words) {
					t.Errorf("statement %d: got line %d %q, want line %d %q", i, got[i].Line, got[i].Words,
						w.line, w.words)
				}
			}
		})
	}
}

func TestParseText(t *testing.T) {
	got, err := Parse("-c", " a  'b;c' ; d=\\\n1 # e\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Text != "a  'b;c'" || got[1].Text != "d=\\\n1" {
		t.Errorf("got %+v", got)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"a\nb\nc 'd\ne", "script:3: quote opened here is never closed"},
		{"a \"b\n'\n", "script:1: quote opened here is never closed"},
		{"a 'x\ny' \"", "script:2: quote opened here is never closed"},
		{"a\nb \\", "script:2: nothing follows the backslash"},
		{"a \"b\\", "script:1: quote opened here is never closed"},
	}
	for _, tt := range tests {
		got, err := Parse("script", tt.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != tt.want || got != nil {
			t.Errorf("Parse(%q) = %v, %v; want the error %s", tt.text, got, err, tt.want)
		}
		if !IsUsage(err) {
			t.Errorf("Parse(%q): %v is no wrong usage", tt.text, err)
		}
	}
}

func TestQuote(t *testing.T) {
	tests := []struct{ word, want string }{
		{"leaf-07", "leaf-07"},
		{"", "''"},
		{"node-0131 HCA-1", "'node-0131 HCA-1'"},
		{"of=live", "'of=live'"},
		{"it's", `"it's"`},
		{`'"$\`, `"'\"\$\\"`},
		{"a\nb", "'a\nb'"},
		{"lid:7", "lid:7"},
		{"#1", "'#1'"},
		{"é", "é"},
	}
	for _, tt := range tests {
		if got := Quote(tt.word); got != tt.want {
			t.Errorf("Quote(%q) = %s, want %s", tt.word, got, tt.want)
		}
	}
}

// Words that are quoted come back, and none of them is an option.
func FuzzQuoteThenParse(f *testing.F) {
	f.Add("trace", "node-0131 HCA-1", "of=live")
	f.Add("'\"\\", "a\\\nb", "\r\n;#")
	f.Add("\ufeff", "\\", "\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		text := strings.Join([]string{Quote(a), Quote(b), "x=" + Quote(c)}, " ")
		got, err := Parse("fuzz", text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !slices.Equal(got[0].Words, []string{a, b, "x=" + c}) {
			t.Fatalf("%q: got %+v", text, got)
		}
		if strings.Contains(b, "=") && !got[0].isLiteral(1) || got[0].isLiteral(2) {
			t.Fatalf("%q: literal %v", text, got[0].literal)
		}
	})
}

// Whatever is parsed can be quoted and parsed to the same.
func FuzzParse(f *testing.F) {
	f.Add("a 'b' \"c\\\"\" d\\ e; # f\ng\\\nh")
	f.Add("\ufeff\r\n a\x00\xff=\"\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Parse("fuzz", text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, s := range got {
			quoted := make([]string, len(s.Words))
			for i, w := range s.Words {
				quoted[i] = Quote(w)
			}
			again, err := Parse("again", strings.Join(quoted, " "))
			if err != nil || len(again) != 1 || !slices.Equal(again[0].Words, s.Words) {
				t.Fatalf("%q: %q, then %+v, %v", text, s.Words, again, err)
			}
			// The blank keeps a byte order mark in the middle what it was: a letter.
			alone, err := Parse("alone", " "+s.Text)
			if err != nil || len(alone) != 1 || !slices.Equal(alone[0].Words, s.Words) {
				t.Fatalf("%q: text %q gives %+v, %v", text, s.Text, alone, err)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("trace 'node-0131 HCA-1' \"node-0133 HCA-1\" of=live # one\n", 100_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse("bench", text); err != nil {
			b.Fatal(err)
		}
	}
}
