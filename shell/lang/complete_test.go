// SPDX-License-Identifier: Apache-2.0

package lang

import (
	"slices"
	"strings"
	"testing"
)

// testEnv answers from a table and remembers the last question.
type testEnv struct {
	names map[Kind][]string
	asked *Ask
}

func (e testEnv) Candidates(ask Ask) []Candidate {
	*e.asked = ask
	var found []Candidate
	for _, name := range e.names[ask.Kind] {
		found = append(found, Candidate{name, "about " + name})
	}
	return found
}

func newTestEnv() testEnv {
	return testEnv{asked: new(Ask), names: map[Kind][]string{
		KindPlace:  {"leaf-07", "node-01 HCA-1", "node-02 HCA-1", "it's $5", "live", "a=b"},
		KindSwitch: {"leaf-07", "leaf-08"},
		KindPort:   {"1", "2", "36"},
		KindNode:   {"node 1", "node 2"},
		KindFile:   {"fabrics/", "my files/", "readme"},
	}}
}

func TestComplete(t *testing.T) {
	tests := []struct {
		line  string // '|' is the cursor
		start int
		want  []string
	}{
		{"|", 0, []string{"sweep", "watch", "trace", "fail", "show", "engine", "flags", "history"}},
		{"s|", 0, []string{"sweep", "show"}},
		{"  sh|x y", 2, []string{"show"}},
		{"x; sh|", 3, []string{"show"}},
		{"x;sh|", 2, []string{"show"}},
		{"xyzzy |", 6, nil},
		{"# s|", 3, nil},
		{"show|", 0, []string{"show"}},
		{"show |", 5, []string{"nodes", "switches"}},
		{"show s|", 5, []string{"switches"}},
		{"sweep |", 6, []string{"full", "light"}},
		{"sweep full |", 11, nil},
		{"watch o|", 6, []string{"off"}},
		{"engine up|", 7, []string{"updn"}},
		{"engine minhop,|", 14, []string{"minhop", "updn"}},
		{"engine minhop,u|", 14, []string{"updn"}},
		{"engine 'minhop,u|", 7, []string{"'minhop,updn'"}},
		{"history |", 8, []string{"export"}},
		{"history e|", 8, []string{"export"}},
		{"history 4 e|", 10, nil},
		{"fail |", 5, []string{"link", "random", "node", "seed="}},
		{"fail l|", 5, []string{"link"}},
		{"fail link |", 10, []string{"leaf-07", "leaf-08", "both", "seed="}},
		{"fail link both leaf-08 3|", 23, []string{"36"}},
		{"fail node 'node 1' |", 19, []string{"'node 1'", "'node 2'", "seed="}},
		{"trace l|", 6, []string{"leaf-07", "'live'", "live"}},
		{"trace no|", 6, []string{"'node-01 HCA-1'", "'node-02 HCA-1'"}},
		{"trace 'no|", 6, []string{"'node-01 HCA-1'", "'node-02 HCA-1'"}},
		{"trace \"node-01 H|", 6, []string{"\"node-01 HCA-1\""}},
		{"trace node-01\\ H|", 6, []string{"node-01\\ HCA-1"}},
		{"trace node-01\\|", 6, []string{"node-01' HCA-1'"}},
		{"trace n'ode-01 H'|", 6, []string{"n'ode-01 H'CA-1"}},
		{"trace it|", 6, []string{`"it's \$5"`}},
		{"trace \"it|", 6, []string{`"it's \$5"`}},
		{"trace 'it|", 6, []string{`'it'\''s $5'`}},
		{"trace a|", 6, []string{"'a=b'"}},
		{"trace leaf-07 a|", 14, []string{"all", "'a=b'"}},
		{"trace x y fo|", 10, []string{"format="}},
		{"trace x y format=|", 17, []string{"ibtracert", "hops"}},
		{"trace x y format=i|", 17, []string{"ibtracert"}},
		{"trace x y format=hops f|", 22, []string{"file="}},
		{"trace x y 'fo|", 10, nil},
		{"trace x y nothing=|", 10, nil},
		{"trace x y live |", 15, []string{"file=", "format=", "of=", "max=", "keep="}},
		{"trace x y --|", 10, []string{"--live", "--file=", "--format=", "--of=", "--max=", "--keep="}},
		{"trace x y -|", 10, []string{"--live", "--file=", "--format=", "--of=", "--max=", "--keep="}},
		{"trace x y --live live=no --fo|", 25, []string{"--format="}},
		{"trace x y --format=h|", 19, []string{"hops"}},
		{"trace x y --keep=|", 17, []string{"yes", "no"}},
		{"trace x y live=|", 15, []string{"yes", "no"}},
		{"trace x y '--fo|", 10, nil},
		{"trace x y --nothing=|", 10, nil},
		{"flags --l|", 6, nil},
		{"flags l|", 6, []string{"lmc="}},
		{"engine minhop --|", 14, []string{"--lmc="}},
		{"trace x y file=f|", 15, []string{"fabrics/"}},
		{"trace x y file=my|", 15, []string{"'my files/"}},
		{"trace x y file='my|", 15, []string{"'my files/"}},
		{"trace x y file=\"re|", 15, []string{`"readme"`}},
	}
	for _, tt := range tests {
		cursor := strings.IndexByte(tt.line, '|')
		line := tt.line[:cursor] + tt.line[cursor+1:]
		start, got := Complete(testSpecs, line, cursor, newTestEnv())
		var texts []string
		for _, c := range got {
			texts = append(texts, c.Text)
		}
		if start != tt.start || !slices.Equal(texts, tt.want) {
			t.Errorf("%s: got %d %q, want %d %q", tt.line, start, texts, tt.start, tt.want)
		}
	}
}

func TestCompleteDescribes(t *testing.T) {
	env := newTestEnv()
	for line, want := range map[string]Candidate{
		"tra":                 {"trace", "show the way of a packet"},
		"trace leaf":          {"leaf-07", "about leaf-07"},
		"trace a b li":        {"live", "the tables as last read"},
		"fail link 'leaf-07 ": {},
	} {
		_, got := Complete(testSpecs, line, len(line), env)
		if len(got) == 0 {
			got = []Candidate{{}}
		}
		if got[0] != want {
			t.Errorf("%s: got %+v, want %+v", line, got[0], want)
		}
	}
}

func TestCompleteAsks(t *testing.T) {
	env := newTestEnv()
	line := "show; fail link both 'leaf 07' \"3"
	Complete(testSpecs, line, len(line), env)
	got := *env.asked
	if got.Kind != KindPort || got.Prefix != "3" || got.Command != "fail link" ||
		!slices.Equal(got.Args, []string{"leaf 07"}) {
		t.Errorf("got %+v", got)
	}
}

func TestCompleteWithoutEnv(t *testing.T) {
	if _, got := Complete(testSpecs, "trace ", 6, nil); len(got) != 6 || got[0].Text != "live" {
		t.Errorf("got %+v", got)
	}
}

// Wherever the cursor is: what is completed parses, up to a folder's open
// quote, and ends in the name that was offered.
func FuzzComplete(f *testing.F) {
	f.Add("trace 'no", 9, "node-01 HCA-1")
	f.Add("trace a\\", 8, "a'b\"$\\")
	f.Add("fail node n\"o", 13, "node=1")
	f.Add("trace a file=\"x", 15, "x y/")
	f.Fuzz(func(t *testing.T, line string, cursor int, name string) {
		env := testEnv{asked: new(Ask), names: map[Kind][]string{}}
		for kind := KindText; kind <= KindCommand; kind++ {
			env.names[kind] = []string{name}
		}
		start, got := Complete(testSpecs, line, cursor, env)
		if start < 0 || start > len(line) || start > max(cursor, 0) {
			t.Fatalf("%q, cursor %d: start %d", line, cursor, start)
		}
		for _, c := range got {
			text := line[:start] + c.Text
			statements, err := Parse("fuzz", text)
			if err != nil {
				if strings.HasSuffix(c.Text, "/") {
					continue
				}
				t.Fatalf("%q, cursor %d: offers %q: %v", line, cursor, c.Text, err)
			}
			words := statements[len(statements)-1].Words
			last := words[len(words)-1]
			if c.Description == "about "+name && !strings.HasSuffix(last, name) {
				t.Fatalf("%q, cursor %d: offers %q for %q, which reads %q", line, cursor, c.Text, name, last)
			}
		}
	})
}

func BenchmarkComplete(b *testing.B) {
	env := newTestEnv()
	line := "show nodes; fail link 'leaf-07' "
	for b.Loop() {
		Complete(testSpecs, line, len(line), env)
	}
}
