// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"slices"
	"strings"
	"testing"
)

func TestOverview(t *testing.T) {
	specs := slices.Clone(testSpecs[:3])
	specs[0].Group, specs[1].Group, specs[2].Group = "Look", "Look", "Trace"
	got := Overview(specs)
	want := "Look:\n  sweep  read the subnet\n  watch  sweep again and again\n\nTrace:\n  trace  show the way of a " +
		"packet\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestHelp(t *testing.T) {
	tests := []struct{ words, want string }{
		{"trace", `trace: show the way of a packet

usage: trace SRC DST|all [live] [file=FILE] [format=ibtracert|hops] [of=STATE] [max=N] [keep=yes|no]

Follows the tables hop by hop.

options:
  --live                   the tables as last read
  --file=FILE              pairs to trace
  --format=ibtracert|hops  how hops are written
  --of=STATE
  --max=N                  how many hops (default 64)
  --keep=yes|no

examples:
  trace a b
  trace a b live
`},
		{"fail", `fail: simulate a failure

usage: fail [link|random|node] [seed=N]

subcommands:
  fail link SWITCH PORT [both]
  fail random N
  fail node NODE ...

options:
  --seed=N

examples:
  fail link s 1
  fail link s 2
`},
		{"fail link", "fail link\n\nusage: fail link SWITCH PORT [both] [seed=N]\n\n" +
			"options:\n  --both\n  --seed=N\n\nexamples:\n  fail link s 1\n  fail link s 2\n"},
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

// TestHelpOfArguments checks that the help of a command is found by its arguments and options, too.
func TestHelpOfArguments(t *testing.T) {
	for words, command := range map[string]string{
		"sweep full": "sweep", "trace a b": "trace", "trace live": "trace", "trace --file": "trace",
		"trace max=3": "trace", "fail link s": "fail link", "engine minhop": "engine",
	} {
		got, err := Help(testSpecs, strings.Fields(words)...)
		want, _ := Help(testSpecs, strings.Fields(command)...)
		if err != nil || got != want {
			t.Errorf("%s: got\n%s%v", words, got, err)
		}
	}
}

func TestHelpOfNothing(t *testing.T) {
	tests := []struct{ words, want string }{
		{"trac", `unknown command "trac": did you mean "trace"?`},
		{"fail lnk", `fail has no help on "lnk": did you mean "link"?`},
		{"sweep ful", `sweep has no help on "ful": did you mean "full"?`},
		{"show nodes all", `show nodes has no help on "all"; usage: show nodes`},
	}
	for _, tt := range tests {
		_, err := Help(testSpecs, strings.Fields(tt.words)...)
		if !IsUsage(err) || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %s", tt.words, err, tt.want)
		}
	}
}
