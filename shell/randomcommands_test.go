// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/source"
)

// slowestCommand is how long a random command may take on a small subnet.
const slowestCommand = time.Minute

// slowestEnd is how long a random command may go on once it was cancelled.
const slowestEnd = 20 * time.Second

// TestRandomCommands runs commands that are made of the descriptions of commands, with fitting and with wrong words, as
// text and as JSON, over each kind of source: none panics or hangs, JSON is valid and never empty where the command
// succeeds, and an error has a message that can be shown. Some are cancelled while they run, and end soon.
func TestRandomCommands(t *testing.T) {
	r := testenv.Rand(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	prepare(t)
	sources := [][]string{
		{"sim:fattree:2,4"}, {"sim:torus:3x3,hosts=2"}, {"file:net"}, {"file:snap"}, {"ibdiagnet:folder"},
		{"sim:rails:2,fattree:2,4"},
	}
	count := testenv.Count(t, 400, 9000)
	var narrators []*narrator
	for i, from := range sources { // before commands overwrite their files
		n := &narrator{r: r, t: t, names: []string{"net", "snap", "lfts", "folder", "pairs", "none/none"}}
		n.open(from, i)
		narrators = append(narrators, n)
	}
	done, told := 0, 0
	for i, n := range narrators {
		for range count / len(sources) {
			n.tell()
		}
		t.Logf("%s: %d of %d commands succeeded", sources[i][0], n.done, len(n.told))
		if done, told = done+n.done, told+len(n.told); n.done < len(n.told)/32 {
			t.Errorf("%s: only %d of %d commands succeeded: the words do not fit", sources[i][0], n.done, len(n.told))
		}
	}
	if done < told/8 { // a fifth succeeds; of one source by chance much fewer
		t.Errorf("only %d of %d commands succeeded: the words do not fit", done, told)
	}
}

// prepare makes the files that the sources and commands read.
func prepare(t *testing.T) {
	t.Helper()
	s := begun(t, "sim:fattree:2,4")
	script := "dump topology net; engine updn; route; dump snapshot snap; dump lfts lfts; dump ibdiagnet folder; " +
		"paths build db"
	if err := New(s).Run(t.Context(), "prepare", script, &Output{W: &bytes.Buffer{}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("pairs", []byte("node-0001 node-0002\nnode-0003 lid:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func begun(t *testing.T, from string) *session.Session {
	t.Helper()
	return sessiontest.OpenWith(t, from, session.Options{Fast: true, StateDir: t.TempDir(), Record: true})
}

// narrator tells random commands to the subnets of a source.
type narrator struct {
	r      *rand.Rand
	t      *testing.T
	names  []string // of files
	places []string
	among  []string // the words that name a subnet, none where there is but one
	words  []string // all words of descriptions, to be used in wrong places
	specs  []Spec
	run    func(ctx context.Context, text string, out *Output) error
	told   []string
	done   int // how many commands succeeded, as JSON
}

func (n *narrator) open(from []string, number int) {
	n.t.Helper()
	all, err := source.ParseAll(from, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	var names []string
	var sessions []*session.Session
	for _, x := range all {
		s := begun(n.t, x.Source.String())
		names, sessions = append(names, x.Name), append(sessions, s)
		f := s.State().Live.Fabric
		for i := range f.Nodes {
			n.places = append(n.places, f.Nodes[i].Desc, fmt.Sprintf("guid:0x%x", f.Nodes[i].GUID),
				fmt.Sprintf("%s/%d", f.Nodes[i].Desc, n.r.IntN(6)))
		}
	}
	subnets := NewSubnets(names, sessions)
	if len(names) > 1 {
		n.among = append(names, source.AllSubnets)
	}
	n.specs = subnets.All()[0].Shell.Specs()
	n.run = func(ctx context.Context, text string, out *Output) error {
		return subnets.Run(ctx, fmt.Sprint(number), text, out)
	}
	n.collect(n.specs)
}

func (n *narrator) collect(specs []Spec) {
	for i := range specs {
		n.words = append(n.words, specs[i].Name)
		for _, o := range specs[i].Options {
			n.words = append(n.words, o.Name, o.Name+"="+strings.Join(o.Words, ","))
		}
		n.collect(specs[i].Subcommands)
	}
}

// waiting are commands that go on until they are cancelled, or wait for a subnet administration that is not there.
// unfitOptions start programs, open ports, or have a command go on.
var (
	waiting      = []string{"watch", "sa"}
	unfitOptions = []string{"exec", "stay", "metrics"}
)

// tell runs a random command as text and as JSON, or cancels it.
func (n *narrator) tell() {
	text := n.command()
	n.told = append(n.told, text)
	if n.r.IntN(8) == 0 || slices.ContainsFunc(waiting, func(w string) bool {
		return slices.Contains(strings.Fields(text), w)
	}) {
		n.cancelled(text)
		return
	}
	for _, asJSON := range []bool{false, true} {
		n.one(text, asJSON)
	}
}

// cancelled cancels a command after up to 32 ms.
func (n *narrator) cancelled(text string) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Duration(n.r.IntN(1<<n.r.IntN(16)))*time.Microsecond)
	defer cancel()
	defer n.hang(text)()
	defer n.recovered(text)
	err := n.run(ctx, text, &Output{W: &bytes.Buffer{}, Raw: &bytes.Buffer{}, Notes: &bytes.Buffer{}, Script: true})
	if end, ok := ctx.Deadline(); ok && time.Since(end) > slowestEnd {
		n.t.Errorf("%s goes on for %v after it was cancelled (%v)", text, time.Since(end), err)
	}
}

// hang has the test end with the stacks of all goroutines where a command does not return, until it is stopped.
func (n *narrator) hang(text string) (stop func() bool) {
	return time.AfterFunc(slowestCommand+slowestEnd, func() {
		buf := make([]byte, 4<<20)
		panic(fmt.Sprintf("%s does not return; after %s\n%s", text, strings.Join(n.told[max(0, len(n.told)-20):], "; "),
			buf[:runtime.Stack(buf, true)]))
	}).Stop
}

// recovered reports a panic.
func (n *narrator) recovered(text string) {
	if v := recover(); v != nil {
		last := n.told[max(0, len(n.told)-20):]
		n.t.Fatalf("%s panics: %v\nafter %s\n%s", text, v, strings.Join(last, "; "), debug.Stack())
	}
}

func (n *narrator) one(text string, asJSON bool) {
	n.t.Helper()
	ctx, cancel := context.WithTimeoutCause(n.t.Context(), slowestCommand, errors.New("too slow"))
	defer cancel()
	defer n.hang(text)()
	defer n.recovered(text)
	var out, notes bytes.Buffer
	err := n.run(ctx, text, &Output{
		W: &out, Raw: &bytes.Buffer{}, Notes: &notes, Form: prose.When(asJSON, answer.FormJSON, answer.FormText),
		Script: true,
	})
	usage := errors.Is(err, ErrExit) || lang.IsUsage(err)
	switch {
	case ctx.Err() != nil:
		n.t.Errorf("%s takes more than %v; after %q", text, slowestCommand, n.told)
	case err != nil && (err.Error() == "" || !plain.Escaped(strings.ReplaceAll(err.Error(), "\n", " "))):
		n.t.Errorf("%s fails with %q", text, err)
	case asJSON && err == nil && !usage && out.Len() == 0:
		n.t.Errorf("%s writes no object; after %s", text, strings.Join(n.told[max(0, len(n.told)-20):], "; "))
	}
	if !asJSON {
		return
	}
	if err == nil {
		n.done++
	}
	for line := range strings.Lines(out.String()) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			n.t.Errorf("%s writes %.200q: %v", text, line, err)
		}
	}
}

// command makes a command of a description.
func (n *narrator) command() string {
	specs, spec := n.specs, (*Spec)(nil)
	var words []string
	var options []lang.Option
	for {
		spec = &specs[n.r.IntN(len(specs))]
		words = append(words, spec.Name)
		options = append(options, spec.Options...)
		if len(spec.Subcommands) == 0 || spec.Run != nil && n.r.IntN(4) == 0 {
			break
		}
		specs = spec.Subcommands
	}
	for i := range spec.Args {
		a := &spec.Args[i]
		if a.Optional && n.r.IntN(2) == 0 {
			break
		}
		words = append(words, n.value(a.Kind, a.Words))
	}
	for _, o := range options {
		switch {
		case slices.Contains(unfitOptions, o.Name) || n.r.IntN(4) > 0:
		case o.Kind == lang.KindFlag:
			words = append(words, o.Name)
		default:
			words = append(words, o.Name+"="+n.value(o.Kind, o.Words))
		}
	}
	if n.r.IntN(20) == 0 {
		words = append(words, n.words[n.r.IntN(len(n.words))])
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if !strings.Contains(w, "=") {
			quoted[i] = lang.Quote(w)
		}
	}
	text := strings.Join(quoted, " ")
	if len(n.among) > 0 && n.r.IntN(3) == 0 {
		text = fmt.Sprintf("%s %s %s", onCommand, n.among[n.r.IntN(len(n.among))], text)
	}
	return text
}

// strange are words that no command expects.
var strange = []string{"", "-", "\x1b[2J", "0x", "99999999999999999999", "-1", "a=b", "lid:0", "lid:70000", "..", "NaN",
	"\u202e", "all"}

// value makes a word of a kind, mostly one that fits.
func (n *narrator) value(kind lang.Kind, words []string) string {
	pick := func(from []string) string { return from[n.r.IntN(len(from))] }
	if n.r.IntN(12) == 0 {
		return strings.ReplaceAll(lang.Quote(pick(strange)), " ", "_")
	}
	if len(words) > 0 && (kind == lang.KindWord || n.r.IntN(2) == 0) {
		return pick(words)
	}
	switch kind {
	case lang.KindInt, lang.KindPort:
		return fmt.Sprint(n.r.IntN(13) - 1)
	case lang.KindNode, lang.KindSwitch, lang.KindPlace:
		return strings.ReplaceAll(pick(append(n.places, fmt.Sprintf("lid:%d", 1+n.r.IntN(20)))), " HCA-1", "")
	case lang.KindGUID:
		return fmt.Sprintf("0x%x", 0x100000+n.r.IntN(40))
	case lang.KindFile:
		return pick(append(n.names, filepath.Join("new", fmt.Sprint(n.r.IntN(5))), fmt.Sprint("new", n.r.IntN(5))))
	case lang.KindEngine:
		return pick([]string{"minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "dfsssp", "sssp", "nue",
			"file", "updn,minhop"})
	case lang.KindDumpKind:
		return pick([]string{"lfts", "fdbs", "lid-matrix", "mcfdbs", "subnet", "topology", "guid2lid", "sl2vl", "sls",
			"groups", "routing", "ca-order", "snapshot", "paths", "ibdiagnet"})
	case lang.KindPicture:
		return pick([]string{"live", "base", "whatif", "staged", "1", "2", "03:12"})
	}
	return pick(append([]string{"fattree", "2,4", "4x4", "1h", "yes", "no", "node-[0001-0004]", "job1", "@job1",
		"errors", "shift"}, n.words...))
}
