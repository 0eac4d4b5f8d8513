// SPDX-License-Identifier: Apache-2.0

package prose_test

import (
	"testing"

	"example.org/ibconsole/internal/base/prose"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{1, "link", "1 link"}, {2, "link", "2 links"}, {0, "switch", "0 switches"}, {1, "switch", "1 switch"},
		{3, "entry", "3 entries"}, {999, "link", "999 links"}, {1_296, "link", "1,296 links"},
		{2, "changed entry", "2 changed entries"}, {2, "day", "2 days"}, {2, "GUID prefix", "2 GUID prefixes"},
		{2, "part of the file", "2 parts of the file"}, {1, "set of levels of paths", "1 set of levels of paths"},
		{0, "copy of a link", "0 copies of a link"}, {-1, "hop", "-1 hops"}, {2, "loss", "2 losses"},
	} {
		if got := prose.Count(c.n, c.noun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	abc := []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		n, most int
		want    string
	}{{0, 2, ""}, {1, 2, "a"}, {2, 2, "a, b"}, {3, 2, "a, b, c"}, {4, 2, "a, b and 2 more"}} {
		if got := prose.List(abc[:c.n], c.most); got != c.want {
			t.Errorf("%d: %q, want %q", c.n, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"format", "file", "of", "switches", "switch", "updn", "dnup", "lash", "nue"}
	tests := []struct{ word, want string }{
		{"fromat", "format"},
		{"FORMAT", "format"},
		{"formats", "format"},
		{"fil", "file"},
		{"swi", "switches"},
		{"swich", "switch"},
		{"updm", "updn"},
		{"o", ""},
		{"off", "of"},
		{"torus", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := prose.Nearest(tt.word, words); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
