// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

// testSpecs is a language with every shape of command.
var testSpecs = []Spec[any]{
	{
		Name: "sweep", Summary: "read the subnet", Args: []Arg{
			{Kind: KindWord, Words: []string{"full", "light"}, Optional: true},
		},
	},
	{
		Name: "watch", Summary: "sweep again and again", Args: []Arg{
			{Name: "SECONDS|off", Kind: KindInt, Words: []string{"off"}},
		},
	},
	{
		Name: "trace", Summary: "show the way of a packet", Help: "Follows the tables hop by hop.",
		Args: []Arg{{Name: "SRC", Kind: KindPlace}, {Name: "DST|all", Kind: KindPlace, Words: []string{"all"}}},
		Options: []Option{
			{Name: "live", Kind: KindFlag, Summary: "the tables as last read"},
			{Name: "file", Kind: KindFile, Summary: "pairs to trace"},
			{Name: "format", Kind: KindWord, Words: []string{"ibtracert", "hops"}, Summary: "how hops are written"},
			{Name: "of", Kind: KindPicture},
			{Name: "max", Kind: KindInt, Summary: "how many hops", Default: "64"},
			{Name: "keep", Kind: KindWord, Words: []string{"yes", "no"}},
		},
		Examples: []string{"trace a b", "trace a b live"},
	},
	{
		Name: "fail", Summary: "simulate a failure", Bare: true, Options: []Option{{Name: "seed", Kind: KindInt}},
		Subcommands: []Spec[any]{
			{
				Name: "link", Args: []Arg{{Kind: KindSwitch}, {Kind: KindPort}},
				Options: []Option{{Name: "both", Kind: KindFlag}}, Examples: []string{"fail link s 1", "fail link s 2"},
			},
			{Name: "random", Args: []Arg{{Kind: KindInt}}},
			{Name: "node", Args: []Arg{{Kind: KindNode, Repeat: true}}},
		},
	},
	{Name: "show", Summary: "show a table", Subcommands: []Spec[any]{{Name: "nodes"}, {Name: "switches"}}},
	{
		Name: "engine", Summary: "choose engines", Args: []Arg{
			{Kind: KindWord, Words: []string{"minhop", "updn"}, List: true, Optional: true},
		},
		Options: []Option{{Name: "lmc", Kind: KindInt}},
	},
	{
		Name: "flags", Args: []Arg{{Name: "FLAG", Kind: KindText, Repeat: true}}, DashArgs: true,
		Options: []Option{{Name: "lmc", Kind: KindInt}},
	},
	{
		Name: "history", Args: []Arg{{Name: "ID", Kind: KindInt, Optional: true}},
		Subcommands: []Spec[any]{{Name: "export", Args: []Arg{{Kind: KindFile}}}},
	},
}

func bindText(text string) (*Invocation, error) {
	statements, err := Parse("test", text)
	if err != nil {
		return nil, err
	}
	spec, err := Find(testSpecs, statements[0].Words[0])
	if err != nil {
		return nil, err
	}
	_, v, err := Bind(spec, statements[0])
	return v, err
}

func TestBind(t *testing.T) {
	tests := []struct {
		text, command string
		args          []string
		options       map[string]string
	}{
		{"sweep", "sweep", nil, nil},
		{"sweep light", "sweep", []string{"light"}, nil},
		{"watch 30", "watch", []string{"30"}, nil},
		{"watch off", "watch", []string{"off"}, nil},
		{"trace of=live a live b", "trace", []string{"a", "b"}, map[string]string{"of": "live", "live": "yes"}},
		{"trace a b --live --of=live", "trace", []string{"a", "b"}, map[string]string{"of": "live", "live": "yes"}},
		{"trace --live=yes a b --file='x y'", "trace", []string{"a", "b"},
			map[string]string{"file": "x y", "live": "yes"}},
		{"trace a b live=no keep=no", "trace", []string{"a", "b"}, map[string]string{"keep": "no"}},
		{"trace a b --live=no --keep", "trace", []string{"a", "b"}, map[string]string{"keep": "yes"}},
		{"trace '--live' \"--of=live\"", "trace", []string{"--live", "--of=live"}, nil},
		{"trace -- -live", "trace", []string{"--", "-live"}, nil},
		{"engine minhop,updn --lmc=2", "engine", []string{"minhop,updn"}, map[string]string{"lmc": "2"}},
		{"flags -R updn --lmc 2 --lmc=1", "flags", []string{"-R", "updn", "--lmc", "2"}, map[string]string{"lmc": "1"}},
		{"flags --other=1 'lmc=2'", "flags", []string{"--other=1", "lmc=2"}, nil},
		{
			"trace 'of=live' \"live\" file='a b=c'", "trace", []string{"of=live", "live"},
			map[string]string{"file": "a b=c"},
		},
		{"trace 1=2 =", "trace", []string{"1=2", "="}, nil},
		{"trace a b max=-3", "trace", []string{"a", "b"}, map[string]string{"max": "-3"}},
		{"fail", "fail", nil, nil},
		{"fail seed=1", "fail", nil, map[string]string{"seed": "1"}},
		{"fail random 3 seed=7", "fail random", []string{"3"}, map[string]string{"seed": "7"}},
		{"fail link both s 4", "fail link", []string{"s", "4"}, map[string]string{"both": "yes"}},
		{"fail node a b c", "fail node", []string{"a", "b", "c"}, nil},
		{"engine minhop,updn", "engine", []string{"minhop,updn"}, nil},
		{"history", "history", nil, nil},
		{"history 4", "history", []string{"4"}, nil},
		{"history export f", "history export", []string{"f"}, nil},
	}
	for _, tt := range tests {
		got, err := bindText(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got.Command != tt.command || !slices.Equal(got.Args, tt.args) || !maps.Equal(got.Options, tt.options) {
			t.Errorf("%s: got %+v", tt.text, got)
		}
	}
}

func TestBindErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"trcae a b", `unknown command "trcae": did you mean "trace"?`},
		{"xyzzy", `unknown command "xyzzy"`},
		{"nodes", `unknown command "nodes": did you mean "show nodes"?`},
		{"ibtracert 1 2", "ibtracert is a program of infiniband-diags; here: trace SRC DST"},
		{"trace a b fromat=ibtracert", `unknown option "fromat" of trace: did you mean "format"?`},
		{"sweep x=1", `unknown option "x" of sweep; usage: sweep [full|light]`},
		{
			"trace a", "DST|all is missing; usage: trace SRC DST|all [live] [file=FILE] [format=ibtracert|hops] " +
				"[of=STATE] [max=N] [keep=yes|no]",
		},
		{"trace a b liv", `unexpected word "liv" after trace: did you mean "live"?`},
		{"sweep full now", `unexpected word "now" after sweep; usage: sweep [full|light]`},
		{"sweep ful", `unexpected word "ful" after sweep: did you mean "full"?`},
		{"sweep all", `unexpected word "all" after sweep, expected full or light`},
		{"engine minhop,ftree", `unexpected word "ftree" after engine, expected minhop or updn`},
		{"watch of", `unexpected word "of" after watch: did you mean "off"?`},
		{"watch moon", `unexpected word "moon" after watch, expected a whole number or off`},
		{"fail random 3.5", `unexpected word "3.5" after fail random, expected a whole number`},
		{"trace a b max=1.5", `option "max" of trace is "1.5", expected a whole number`},
		{"trace a b max=1 max=2", `option "max" of trace is given twice`},
		{"trace a b live=maybe", `option "live" of trace is "maybe", expected yes or no`},
		{"trace a b live --live=no", `option "--live" of trace is given twice, first as "live"`},
		{"trace a b --file", `option "--file" of trace needs a value: --file=FILE`},
		{"trace a b --file=", `option "--file" of trace needs a value: --file=FILE`},
		{"trace a b file=", `option "file" of trace needs a value: --file=FILE`},
		{"trace a b file=", `option "file" of trace needs a value: --file=FILE`},
		{"trace a b --fromat=ibtracert", `unknown option "--fromat" of trace: did you mean "--format"?`},
		{"sweep --x", `unknown option "--x" of sweep; usage: sweep [full|light]`},
		{"trace a b --f", `unknown option "--f" of trace: did you mean "--file" or "--format"?`},
		{"trace a b keep", `unexpected word "keep" after trace: did you mean "keep="?`},
		{"show", "a subcommand is missing after show; usage: show nodes|switches"},
		{"show of=live", "a subcommand is missing after show; usage: show nodes|switches"},
		{"show switchs", `unknown word "switchs" after show: did you mean "switches"?`},
		{"show moon", `unknown word "moon" after show; usage: show nodes|switches`},
		{"fail link s", "PORT is missing; usage: fail link SWITCH PORT [both] [seed=N]"},
		{"fail random 3 both", `unexpected word "both" after fail random; usage: fail random N [seed=N]`},
		{"fail node", "NODE is missing; usage: fail node NODE ... [seed=N]"},
	}
	for _, tt := range tests {
		got, err := bindText(tt.text)
		var usage *UsageError
		if got != nil || !errors.As(err, &usage) || !IsUsage(err) {
			t.Errorf("%s: got %+v, %v; expected a usage error", tt.text, got, err)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestInvocationReads(t *testing.T) {
	v, err := bindText("trace a b max=12 live")
	if err != nil {
		t.Fatal(err)
	}
	if v.Arg(1) != "b" || v.Arg(2) != "" || v.Int("max", 1) != 12 || v.Int("other", 5) != 5 {
		t.Errorf("got %+v", v)
	}
	if !v.Flag("live") || v.Flag("of") || v.Option("of", "staged") != "staged" || v.Option("max", "") != "12" {
		t.Errorf("got %+v", v)
	}
	if v, err = bindText("trace a b"); err != nil || v.Int("max", 1) != 64 || v.Option("max", "") != "64" ||
		v.Flag("max") {
		t.Errorf("got %+v, %v", v, err)
	}
	if err := v.Misused("no %s", "way"); !IsUsage(err) || err.Error()[:6] != "no way" {
		t.Errorf("got %v", err)
	}
}

// TestAliases: a word that a command or an option had before still stands for it, and
// is given twice where both are.
func TestAliases(t *testing.T) {
	specs := []Spec[any]{{Name: "show", Subcommands: []Spec[any]{{
		Name: "unanswered", Aliases: []string{"holes"}, Options: []Option{
			{Name: "path", Aliases: []string{"way"}, Kind: KindFlag},
			{Name: "vls", Aliases: []string{"lanes"}, Kind: KindWord, Words: []string{"yes"}}},
	}}}}
	bind := func(words ...string) (*Invocation, error) {
		_, v, err := Bind(&specs[0], Statement{Words: words})
		return v, err
	}
	v, err := bind("show", "holes", "way", "lanes=yes")
	if err != nil || v.Command != "show unanswered" || !v.Flag("path") || v.Option("vls", "") != "yes" ||
		len(v.Options) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	v, err = bind("show", "holes", "--way", "--lanes=yes")
	if err != nil || !v.Flag("path") || v.Option("vls", "") != "yes" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err = bind("show", "holes", "way=no"); err != nil || v.Flag("path") {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := bind("show", "unanswered", "way", "path"); err == nil {
		t.Error("an option and its alias together were taken")
	}
	if _, c := Complete(specs, "show ", 5, nil); len(c) != 1 || c[0].Text != "unanswered" {
		t.Errorf("completion offers %v", c)
	}
	if _, c := Complete(specs, "show holes --w", 14, nil); len(c) != 0 {
		t.Errorf("completion offers %v", c)
	}
	if _, c := Complete(specs, "show holes way ", 15, nil); len(c) != 1 || c[0].Text != "vls=" {
		t.Errorf("completion offers %v", c)
	}
}
