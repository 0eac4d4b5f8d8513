// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"strings"
	"testing"
)

func TestOverview(t *testing.T) {
	got := Overview(testSpecs[:3])
	want := "  sweep  read the subnet\n  watch  sweep again and again\n  trace  show the way of a packet\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestHelp(t *testing.T) {
	tests := []struct{ words, want string }{
		{"trace", `trace: show the way of a packet
usage: trace SRC DST|all [live] [file=FILE] [format=ibtracert|hops] [of=PICTURE] [max=N] [keep=yes|no]

Follows the tables hop by hop.

  live                   the tables as last read
  file=FILE              pairs to trace
  format=ibtracert|hops  how hops are written
  of=PICTURE
  max=N
  keep=yes|no
`},
		{"fail", `fail: fail on paper
usage: fail [link|random|node] [seed=N]

  fail link SWITCH PORT [both]
  fail random N
  fail node NODE ...
  seed=N
`},
		{"fail link", "fail link\nusage: fail link SWITCH PORT [both] [seed=N]\n\n  both\n  seed=N\n"},
	}
	for _, tt := range tests {
		got, err := Help(testSpecs, strings.Fields(tt.words)...)
		if err != nil {
			t.Errorf("%s: %v", tt.words, err)
		}
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.words, got, tt.want)
		}
	}
}

func TestHelpOfNothing(t *testing.T) {
	tests := []struct{ words, want string }{
		{"trac", `unknown command "trac": did you mean "trace"?`},
		{"fail lnk", `fail has no help on "lnk": did you mean "link"?`},
	}
	for _, tt := range tests {
		_, err := Help(testSpecs, strings.Fields(tt.words)...)
		if !IsUsage(err) || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.words, err, tt.want)
		}
	}
}
