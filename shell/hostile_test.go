// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// hostile is what a terminal would heed (OSC 52, CSI, a carriage return, an 8-bit CSI, C1, a change of direction),
// and what is no UTF-8; of a line begins another one with injected.
const (
	hostile  = "\x1b]52;c;QQ==\a\x1b[2J\r\x9b1m\u0085\u202e\xff"
	injected = "INJECTED"
	line     = hostile + "\n" + injected
)

// victim is a session that is fed with hostile text, and all that its commands say.
type victim struct {
	t    *testing.T
	sh   *Shell
	dir  string
	runs int
	seen map[string]bool
}

// hostileFabric is a small fat-tree in the names of which all bytes are that there may be on the wire.
func hostileFabric(t *testing.T) *fabric.Fabric {
	f, err := gen.Parse("fattree", []string{"2,4"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		f.Nodes[i].Desc = fmt.Sprintf("%d%s", i, line)
	}
	return f
}

func newVictim(t *testing.T, from string) *victim { return newVictimIn(t, from, t.TempDir()) }

func newVictimIn(t *testing.T, from, state string) *victim {
	s := sessiontest.OpenWith(t, from, session.Options{StateDir: state, Record: true})
	return &victim{t: t, sh: New(s), dir: t.TempDir(), seen: map[string]bool{}}
}

// run runs a command as text and as JSON, and looks at each byte that is said. It returns what was said as text.
func (v *victim) run(words ...string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, quote(w))
	}
	return v.script(strings.Join(quoted, " "))
}

// quote quotes a word, of an option its value.
func quote(word string) string {
	if name, value, ok := strings.Cut(word, "="); ok && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
		"" {
		return name + "=" + lang.Quote(value)
	}
	return lang.Quote(word)
}

func (v *victim) script(script string) (text string) {
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(v.t.Context(), 500*time.Millisecond)
		err := v.sh.Run(ctx, "-c", script, &Output{W: &out, Notes: &out, Raw: &bytes.Buffer{},
			Form: prose.When(asJSON, answer.FormJSON, answer.FormText), OnAnswer: func(a *answer.Answer) {
				v.tables(script, a)
			}})
		cancel()
		v.check(script, out.String())
		if err != nil {
			v.check(script, err.Error())
		}
		if err != nil {
			out.WriteString(err.Error())
		}
		if !asJSON {
			text = out.String()
		}
	}
	v.check(script, v.sh.Prompt())
	v.runs++
	return text
}

// tables looks at all forms of an answer, and at the cells of its tables, which the screen shows.
func (v *victim) tables(script string, a *answer.Answer) {
	for _, form := range answer.Forms {
		var out bytes.Buffer
		if err := a.Write(&out, form, 1, ""); err != nil {
			v.check(script, err.Error())
		}
		v.check(script, out.String())
	}
	sheets, err := a.Sheets()
	if err != nil {
		v.check(script, err.Error())
	}
	for i := range sheets {
		for row := range sheets[i].Len() {
			for col := range sheets[i].Columns {
				v.check(script, sheets[i].Cell(row, col))
			}
		}
	}
}

// check looks at text before the last net: that is not to have anything to do.
func (v *victim) check(script, out string) {
	v.t.Helper()
	leaked := ""
	if at := plain.EscapeText(out); at != out {
		leaked = "a control character"
	}
	for l := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(l), injected) {
			leaked = "a line of its own"
		}
	}
	what := fmt.Sprint(leaked, strings.Fields(script)[:1], len(out) > 0 && out[0] == '{')
	if leaked != "" && !v.seen[what] {
		v.seen[what] = true
		v.t.Errorf("%.300q: %s: %q", script, leaked, shown(out))
	}
}

// file makes a file with a hostile name.
func (v *victim) file(content string) string {
	path := filepath.Join(v.dir, "f"+line)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// values are words of a kind. All of them are tried in turn, and each place with something hostile.
func (v *victim) values(kind lang.Kind, words []string, inputs []string) (out []string) {
	f := v.sh.Session().State().Live.Fabric
	host, sw := &f.Nodes[f.Ports[f.EndPorts[len(f.EndPorts)-1]].Node], &f.Nodes[f.Switches[0]]
	out = append(out, words...)
	switch kind {
	case lang.KindInt, lang.KindPort:
		out = append(out, "1")
	case lang.KindNode, lang.KindPlace:
		out = append(out, fmt.Sprintf("guid:0x%x", host.GUID))
	case lang.KindSwitch:
		out = append(out, fmt.Sprintf("guid:0x%x", sw.GUID))
	case lang.KindGUID:
		out = append(out, fmt.Sprintf("0x%x", host.GUID))
	case lang.KindEngine:
		out = append(out, "minhop")
	case lang.KindPicture:
		out = append(out, "live")
	case lang.KindDumpKind:
		out = append(out, "lfts")
	case lang.KindFile:
		out = append(out, inputs...)
	}
	return append(out, line)
}

// input marks a word that stands for a file with what follows.
const input = "\x00"

// all runs each command that there is, each place of it with each of its words.
func (v *victim) all(specs []Spec, before []string, options []lang.Option, inputs []string) {
	for i := range specs {
		s := &specs[i]
		words, options := append(slices.Clip(before), s.Name), append(slices.Clip(options), s.Options...)
		v.all(s.Subcommands, words, options, inputs)
		v.run("help", words[0])
		if s.Run == nil {
			continue
		}
		var args [][]string
		for _, a := range s.Args {
			args = append(args, v.values(a.Kind, a.Words, inputs))
		}
		first := words
		for _, a := range args {
			first = append(slices.Clip(first), a[0])
		}
		v.try(first)
		for k, a := range args {
			if s.Args[k].Optional {
				v.try(first[:len(words)+k])
			}
			for _, value := range a[1:] {
				other := append([]string(nil), first...)
				other[len(words)+k] = value
				v.try(other)
			}
		}
		for _, o := range options {
			if o.Kind == lang.KindFlag {
				v.try(append(slices.Clip(first), o.Name))
				continue
			}
			for _, value := range v.values(o.Kind, o.Words, inputs) {
				if name, ok := strings.CutPrefix(value, input); ok {
					value = v.file(name)
				}
				v.try(append(slices.Clip(first), o.Name+"="+value))
			}
		}
	}
}

// try makes the files that the words name, and runs the command.
func (v *victim) try(words []string) {
	words = append([]string(nil), words...)
	for i, w := range words {
		if content, ok := strings.CutPrefix(w, input); ok {
			words[i] = v.file(content)
		}
	}
	v.run(words...)
}

// TestHostileNames runs every command that there is on a subnet whose nodes send hostile names, and on a file of it.
// The commands and their words come from their specs. Without IBCONSOLE_FULL the file is left out.
func TestHostileNames(t *testing.T) {
	f := hostileFabric(t)
	file := filepath.Join(t.TempDir(), "hostile")
	w, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Write(w, snapshot.Snapshot{Fabric: f}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"sim:", "file:"}[:testenv.Count(t, 1, 2)] {
		v := newVictim(t, kind+file)
		t.Chdir(v.dir)
		for _, cmd := range []string{"route", "write on", "commit yes"} {
			v.run(strings.Fields(cmd)...)
		}
		v.all(v.sh.Specs(), nil, nil, []string{input + "x" + hostile})
		t.Logf("%s: %d commands", kind, v.runs)
	}
}

// shown is the neighbourhood of the first control character or injected line.
func shown(out string) string {
	for l := range strings.Lines(out) {
		if text := strings.TrimSuffix(l, "\n"); !plain.Escaped(strings.ReplaceAll(text, "\t", " ")) ||
			strings.HasPrefix(strings.TrimSpace(text), injected) {
			return text[:min(len(text), 600)]
		}
	}
	return out
}
