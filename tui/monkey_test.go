// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
)

// TestMonkey presses random keys, pastes, clicks and resizes on four kinds of sources. The screen must not panic, every
// frame must fit, and no key may take long. The seed determines the input. A console that was quit is opened again.
func TestMonkey(t *testing.T) {
	sessions, keys := testenv.Count(t, 4, 25), testenv.Count(t, 250, 12_000)
	r := testenv.Rand(t)
	// No program is run, and nothing outside the test's folders is written.
	t.Chdir(t.TempDir())
	for _, name := range []string{"PATH", "HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "OSM_CACHE_DIR"} {
		t.Setenv(name, t.TempDir())
	}
	sources := monkeySources(t)
	for i := range sessions {
		seed := r.Uint64()
		given := sources[i%len(sources)]
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel() // most of the time goes into waiting for output
			k := &monkey{r: rand.New(rand.NewPCG(seed, 1)), left: keys}
			from, state := given[i/len(sources)%len(given)], t.TempDir()
			for opened := 1; k.left > 0 && !t.Failed(); opened++ {
				t.Run(fmt.Sprint("console ", opened), func(t *testing.T) {
					k.open(t, from, state)
					k.play()
					t.Logf("%s: %d inputs, %d messages so far", strings.Join(from, " "), k.inputs, keys-k.left)
				})
			}
		})
	}
}

// monkeySources returns the sources of consoles: simulated subnets, files, an ibdiagnet folder, and several subnets.
func monkeySources(t *testing.T) [][][]string {
	t.Helper()
	made := drive(t, "sim:fattree:2,8")
	for _, command := range []string{
		"dump topology tree.topo",
		"engine updn lmc=1; route; dump snapshot tree.snap; dump ibdiagnet folder of=staged; dump routing tree.routing",
		"dump lfts tree.lfts of=staged; gen torus 3x3 torus.net",
	} {
		made.press(":"+command, "enter")
	}
	w, err := os.Create("hostile.snap")
	if err != nil {
		t.Fatal(err)
	}
	err = snapshot.Write(w, snapshot.Snapshot{Fabric: star(t, hostile[0], hostile...)})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tree.topo", "tree.snap", "folder", "tree.routing", "tree.lfts", "torus.net"} {
		if _, err := os.Stat(name); err != nil {
			t.Fatal(err)
		}
	}
	return [][][]string{
		{{"sim:fattree:2,8"}, {"sim:torus:4x3"}, {"sim:fattree:3,4"}, {"sim:dragonfly:4,2,2"}},
		{{"file:tree.topo"}, {"file:hostile.snap"}, {"file:tree.snap"}, {"file:torus.net"}},
		{{"ibdiagnet:folder"}},
		{{"sim:rails:2,fattree:2,4", "odd=file:hostile.snap", "gone=file:gone"}},
	}
}

// open opens a console on a source with a history, or on several sources.
func (k *monkey) open(t *testing.T, from []string, state string) {
	t.Helper()
	bound := func(back backend) backend { return tame{back} }
	if len(from) > 1 {
		k.driver = driveWrapped(t, bound, from...)
	} else {
		k.driver = driveWithHistory(t, from[0], state, bound)
	}
	all := []*model{k.m}
	if k.screens != nil {
		all = k.screens.all
	}
	for _, m := range all {
		m.shell = func(context.Context) error { return nil }
		m.save = func(name string) (io.WriteCloser, error) {
			if name == "" || filepath.Base(name) != name {
				return nil, errElsewhere
			}
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
		m.retheme = func(name string) (*draw.Theme, error) {
			return draw.NewTheme(name, termenv.TrueColor, glyphsOf("C.UTF-8", "xterm"), nil)
		}
	}
}

// driveWithHistory is [drive] with a history that has commits before the first console.
func driveWithHistory(t *testing.T, from, state string, wrap func(backend) backend) *driver {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(state)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{StateDir: state, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := driveBackend(t, wrap(&shellBackend{Shell: shell.New(s), watcher: s.Watch()}))
	if len(before) == 0 {
		const commits = "route; write on; commit yes; engine updn; route; commit yes; rollback yes; write off; unstage"
		d.press(":"+commits, "enter")
	}
	return d
}

var errElsewhere = errors.New("only files in the test's folder are used")

// tame is a backend that refuses commands with absolute paths or parent folders.
type tame struct{ backend }

var elsewhere = regexp.MustCompile(`(^|[^\pL\pN])/|\.\.|capture`)

func (b tame) Run(ctx context.Context, text string, out *shell.Output) error {
	if elsewhere.MatchString(text) {
		return errElsewhere
	}
	return b.backend.Run(ctx, text, out)
}

// monkey presses random keys on a driver.
type monkey struct {
	*driver
	r      *rand.Rand
	left   int      // messages still to be sent
	inputs int      // number of inputs
	said   []string // the inputs of this console
}

// slowest is the longest time for a key, on a busy machine with the race detector.
const slowest = 20 * time.Second

// shownInputs is the number of last inputs in a failure message.
const shownInputs = 60

// play continues until the console is quit or the messages are used up. On any failure it shows the last inputs.
func (k *monkey) play() {
	k.said = nil
	ended := false
	defer func() {
		if ended {
			return
		}
		if v := recover(); v != nil {
			k.t.Errorf("panic: %v\n%s", v, debug.Stack())
		}
		last := strings.Join(k.said[max(len(k.said)-shownInputs, 0):], "\n  ")
		k.t.Errorf("%dx%d, %d inputs to this console, the last:\n  %s", k.width, k.height, len(k.said), last)
	}()
	for k.left > 0 && !k.quit {
		text, msgs := k.next()
		k.said, k.inputs = append(k.said, text), k.inputs+1
		for _, msg := range msgs {
			began := time.Now()
			if size, ok := msg.(tea.WindowSizeMsg); ok {
				k.width, k.height = size.Width, size.Height
			}
			k.send(msg)
			if len(msgs) < stormy || k.r.IntN(stormy) == 0 {
				k.check()
			}
			if took := time.Since(began); took > slowest {
				k.t.Fatalf("it took %v", took)
			}
			k.left--
		}
		if k.r.IntN(3) == 0 {
			k.settle()
		} else {
			k.arrived()
		}
		k.check()
	}
	ended = true
}

// arrived delivers the messages of commands so far.
func (k *monkey) arrived() {
	for {
		select {
		case msg := <-k.msgs:
			k.send(msg)
		default:
			return
		}
	}
}

// stormy is the number of messages from which few of their frames are drawn.
const stormy = 8

var (
	navigation = []tea.KeyType{
		tea.KeyEnter, tea.KeyEnter, tea.KeyEsc, tea.KeyTab, tea.KeyShiftTab, tea.KeyUp, tea.KeyDown, tea.KeyDown,
		tea.KeyLeft, tea.KeyRight,
		tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyDelete,
	}
	often  = []rune("1234567890aNKAtTxXfurdDLEFCwRWsbmMHceivVBgGzjkhl<>/?:[](),.{}yY")
	pasted = []string{
		"leaf", "spine-01", "node-0003", "qq", "~lf", "!n", "/[", "@set", "\x1b[2J", "é日本\u202e", "a\nb\r\nc\t",
		strings.Repeat("x", 3000), strings.Repeat("long ", 3000), "\n\n\n",
	}
	typedIn = []string{
		"fail switch spine-01", "fail link leaf-01 5", "fail node node-0003", "fail random 2", "restore all", "undo",
		"route", "route keep=yes", "unstage", "sweep", "sweep light",
		"engine minhop lmc=1", "engine updn", "engine ftree", "engine torus-2QoS,no_fallback", "engine nue", "engine",
		"add link leaf-01/5 leaf-02/5", "add switch new leaf-03/5", "add node host leaf-04/6",
		"move node node-0004 leaf-02/5", "trace node-0001 node-0005", "trace node-0003 node-0001 of=live",
		"trace all all", "check reach", "check credits", "check load", "check mcast",
		"compare engines minhop updn", "diff", "diff base staged", "whatif", "problems", "resilience links",
		"resilience switches", "balance switch all", "who uses spine-01", "hosts set node-0001 node-0003",
		"hosts set", "show links", "show counters", "show lft leaf-01", "show failures", "show structure", "history",
		"at 1s", "at 1h", "at now", "adaptive on", "adaptive off", "write on", "write off",
		"commit", "commit yes", "rollback yes", "dump lfts out.lfts", "load lfts tree.lfts",
		"load routing tree.routing", "load topology tree.topo", "load topology torus.net", "load groups none",
		"names none",
		"dump guided", "engine guided", "fail guided", "load guided", "tour", "report text out", "suggest guids",
		"watch 1", "watch off", "set sm node-0003", "source rail-2", "source odd", "on all summary",
		"problems thorough", "baseline save", "run none", "help trace", "exit", "nonsense", "\"", "show", ";;",
	}
)

// next returns a random input: its description and its messages.
func (k *monkey) next() (string, []tea.Msg) {
	r := k.r
	switch n := r.IntN(100); {
	case n < 34:
		return k.runes([]rune{often[r.IntN(len(often))]}, false)
	case n < 40:
		return k.runes([]rune{rune(' ' + r.IntN('~'-' '+1))}, false)
	case n < 62:
		return k.typed(navigation[r.IntN(len(navigation))])
	case n < 68:
		return k.typed(tea.KeyType(r.IntN(128)))
	case n < 71:
		return k.typed(tea.KeyRunes - tea.KeyType(1+r.IntN(70)))
	case n < 74:
		return k.runes([]rune{rune(' ' + r.IntN('~'-' '+1))}, true)
	case n < 76:
		return k.edited()
	case n < 82:
		e := tea.MouseEvent{X: r.IntN(k.width+8) - 4, Y: r.IntN(k.height+8) - 4}
		e.Action, e.Button = tea.MouseAction(r.IntN(3)), tea.MouseButton(r.IntN(12))
		if r.IntN(2) == 0 {
			e.Action, e.Button = tea.MouseActionPress, tea.MouseButtonLeft
		}
		return fmt.Sprintf("mouse %d,%d %v", e.X, e.Y, e), []tea.Msg{tea.MouseMsg(e)}
	case n < 88:
		text := typedIn[r.IntN(len(typedIn))]
		return ":" + text, []tea.Msg{
			tea.KeyMsg{Type: tea.KeyEsc}, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{':'}},
			tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}, tea.KeyMsg{Type: tea.KeyEnter},
		}
	case n < 92:
		text := pasted[r.IntN(len(pasted))]
		paste := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}
		return fmt.Sprintf("paste %.30q, %d bytes", text, len(text)), []tea.Msg{paste}
	case n < 95:
		var burst []rune
		for range 2 + r.IntN(6) {
			burst = append(burst, often[r.IntN(len(often))])
		}
		return k.runes(burst, false)
	case n < 99:
		size := k.anySize()
		return fmt.Sprintf("resize %dx%d", size.Width, size.Height), []tea.Msg{size}
	}
	var storm []tea.Msg
	for range stormy + r.IntN(40) {
		storm = append(storm, k.anySize())
	}
	last := storm[len(storm)-1].(tea.WindowSizeMsg)
	return fmt.Sprintf("storm of %d sizes, to %dx%d", len(storm), last.Width, last.Height), storm
}

func (k *monkey) runes(runes []rune, alt bool) (string, []tea.Msg) {
	msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: runes, Alt: alt}
	if slices.Equal(runes, []rune{' '}) {
		msg.Type = tea.KeySpace
	}
	return "key " + msg.String(), []tea.Msg{msg}
}

// edits are keys that change a typed line, also of a form.
var edits = []tea.KeyMsg{
	{Type: tea.KeyLeft}, {Type: tea.KeyLeft}, {Type: tea.KeyRight}, {Type: tea.KeyHome}, {Type: tea.KeyEnd},
	{Type: tea.KeyDelete},
	{Type: tea.KeyRunes, Runes: []rune{'d'}, Alt: true}, {Type: tea.KeyDelete, Alt: true},
	{Type: tea.KeyBackspace, Alt: true},
	{Type: tea.KeyLeft, Alt: true}, {Type: tea.KeyRight, Alt: true}, {Type: tea.KeyCtrlW}, {Type: tea.KeyCtrlK},
	{Type: tea.KeyCtrlU},
	{Type: tea.KeyUp}, {Type: tea.KeyRunes, Runes: []rune{'/'}}, {Type: tea.KeyRunes, Runes: []rune("zz")},
}

// edited returns a few edits, of a new line half of the time.
func (k *monkey) edited() (string, []tea.Msg) {
	var msgs []tea.Msg
	text := "edit"
	if k.r.IntN(2) == 0 {
		text = "edit ':show'"
		for _, typed := range []string{":", "show"} {
			msgs = append(msgs, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(typed)})
		}
	}
	for range 2 + k.r.IntN(4) {
		msg := edits[k.r.IntN(len(edits))]
		text += " " + msg.String()
		msg.Runes = slices.Clone(msg.Runes) // the input writes to them
		msgs = append(msgs, msg)
	}
	return text, msgs
}

func (k *monkey) typed(kt tea.KeyType) (string, []tea.Msg) {
	msg := tea.KeyMsg{Type: kt, Alt: k.r.IntN(8) == 0}
	if kt == tea.KeySpace {
		msg.Runes = []rune{' '}
	}
	return "key " + msg.String(), []tea.Msg{msg}
}

// anySize returns a size from 1x1 to 500x200: often a usual one, and small ones as often as large ones.
func (k *monkey) anySize() tea.WindowSizeMsg {
	if k.r.IntN(2) == 0 {
		usual := [][2]int{{80, 24}, {120, 36}, {200, 50}, {40, 12}, {60, 20}}[k.r.IntN(5)]
		return tea.WindowSizeMsg{Width: usual[0], Height: usual[1]}
	}
	upTo := func(most float64) int { return int(math.Exp(k.r.Float64() * math.Log(most+0.5))) }
	return tea.WindowSizeMsg{Width: upTo(500), Height: upTo(200)}
}
