// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/c-bata/go-prompt"
)

// allKeys returns the keys of chunks that come one after the other, and what is
// left when nothing more comes.
func allKeys(chunks ...string) []string {
	var k keys
	var all []string
	take := func(idle bool) {
		for key := k.next(idle); key != nil; key = k.next(idle) {
			all = append(all, string(key))
		}
	}
	for _, c := range chunks {
		k.add([]byte(c))
		take(false)
	}
	take(true)
	return all
}

func TestKeys(t *testing.T) {
	tests := []struct {
		name   string
		chunks []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"text", []string{"show nodes"}, []string{"show nodes"}},
		{"text and keys", []string{"ab\t\x03c\x7f\x00d"}, []string{"ab", "\t", "\x03", "c", "\x7f", "d"}},
		{"ends of lines", []string{"a\rb\nc\r\nd"}, []string{"a", "\r", "b", "\r", "c", "\r", "d"}},
		{"arrows", []string{"\x1b[A\x1bOBx"}, []string{"\x1b[A", "\x1bOB", "x"}},
		{"a sequence in pieces", []string{"\x1b", "[", "3", "~"}, []string{"\x1b[3~"}},
		{"Escape", []string{"\x1b"}, []string{"\x1b"}},
		{"Escape and a sequence", []string{"\x1b\x1b[A"}, []string{"\x1b", "\x1b[A"}},
		{"unknown sequences", []string{"a\x1b[1;7Xb\x1bfc\x1b[Id\x1b[[Zé"}, []string{"a", "b", "c", "d", "é"}},
		{"a report of the cursor", []string{"\x1b[12;40Rx"}, []string{"x"}},
		{"what wakes go-prompt", []string{string(wakeKey) + "x"}, []string{"x"}},
		{"a broken sequence", []string{"\x1b[1\rx"}, []string{"\r", "x"}},
		{"a letter in pieces", []string{"a\xc3", "\xa9b", "\xe4\xb8", "\x96"}, []string{"a", "éb", "世"}},
		{"no letter", []string{"a\xffb", "\xe4"}, []string{"a\ufffdb", "\ufffd"}},
		{"hidden controls", []string{"a\u009b31mb\u202ec\u00a0d"}, []string{"a31mbc d"}},
		{
			"paste", []string{"x" + pasteBegins + "a\tb\x1b[A\x03\x7f\r\n\nc" + pasteEnds + "\td"},
			[]string{"x", "a b[A", "\r", "\r", "c", "\t", "d"},
		},
		{"paste in pieces", []string{"\x1b[20", "0~a\r", "b\x1b[2", "01~c"}, []string{"a", "\r", "b", "c"}},
		{"paste without an end", []string{pasteBegins + "a\rb"}, []string{"a", "\r", "b"}},
		{"end of a paste alone", []string{"a" + pasteEnds + "b"}, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := allKeys(tt.chunks...); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPasteWaitsForItsEnd(t *testing.T) {
	var k keys
	k.add([]byte(pasteBegins + "one\rtwo"))
	if key := k.next(false); key != nil {
		t.Errorf("got %q before the end", key)
	}
	k.add([]byte(pasteEnds))
	if key := k.next(false); string(key) != "one" {
		t.Errorf("got %q", key)
	}
}

// Every key is one go-prompt knows, or printable text; and it does not matter
// in which pieces the bytes come.
func FuzzKeys(f *testing.F) {
	f.Add("a\x1b[Ab\rc\x1b[200~d\te\nf\x1b[201~g\xc3\xa9\xff")
	f.Add("\x1b\x1b[\x1bO\x1b[[\x1b[99999999999999999999999999999999999999m")
	f.Fuzz(func(t *testing.T, text string) {
		whole := allKeys(text)
		for _, key := range whole {
			printable := strings.IndexFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
			if !printable && prompt.GetKey([]byte(key)) == prompt.NotDefined {
				t.Fatalf("%q gives %q", text, key)
			}
		}
		if strings.Contains(text, "\r\n") {
			return // two ends where it is cut
		}
		var pieces []string
		for i := range len(text) {
			pieces = append(pieces, text[i:i+1])
		}
		if got, want := strings.Join(allKeys(pieces...), ""), strings.Join(whole, ""); got != want {
			t.Fatalf("%q gives %q, and %q byte by byte", text, want, got)
		}
	})
}
