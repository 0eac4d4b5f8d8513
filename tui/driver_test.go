// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/shell"
	featuresources "example.org/ibconsole/shell/feature/sources"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/survey"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane/history"
)

// driver presses keys and reads the screen without a terminal.
type driver struct {
	t       testing.TB
	m       *model   // the screen shown
	screens *screens // all of them, nil where there is but one
	msgs    chan tea.Msg
	quit    bool
	width   int
	height  int
}

// drive opens the screen of a simulated subnet that was read. It calls the functions before first.
func drive(t testing.TB, from string, before ...func(*model)) *driver {
	t.Helper()
	ctx := t.Context()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(ctx, src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}, before...)
}

func driveBackend(t testing.TB, back backend, before ...func(*model)) *driver {
	t.Helper()
	th := looks()[0].make(t)
	d := &driver{t: t, m: newModel(t.Context(), back, th), msgs: make(chan tea.Msg, 1000)}
	for _, prepare := range before {
		prepare(d.m)
	}
	d.run(d.m.Init())
	d.size(120, 36)
	d.settle()
	return d
}

// run runs a command as Bubble Tea does, in the background.
func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				d.msgs <- crashed(fmt.Sprintf("in a command: %v\n%s", v, debug.Stack()))
			}
		}()
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			d.msgs <- msg
		}
	}()
}

// crashed is the panic of a command.
type crashed string

func (d *driver) send(msg tea.Msg) {
	if why, ok := msg.(crashed); ok {
		panic(string(why))
	}
	if _, ok := msg.(tea.QuitMsg); ok {
		d.quit = true
		return
	}
	if d.screens == nil {
		_, cmd := d.m.Update(msg)
		d.run(cmd)
		return
	}
	_, cmd := d.screens.Update(msg)
	d.m = d.screens.all[d.screens.at]
	d.run(cmd)
}

// working reports whether a job or computation runs that is not waiting for an answer.
func (d *driver) working() bool {
	all := []*model{d.m}
	if d.screens != nil {
		all = d.screens.all
	}
	return slices.ContainsFunc(all, func(m *model) bool {
		return (len(m.jobs.running) > 0 || m.Common.Running > 0) && m.jobs.question == nil
	})
}

func (d *driver) size(w, h int) *driver {
	d.width, d.height = w, h
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	d.check()
	return d
}

var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp,
	"down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome,
	"end":       tea.KeyEnd,
	"backspace": tea.KeyBackspace, "ctrl+c": tea.KeyCtrlC, "ctrl+w": tea.KeyCtrlW, "ctrl+a": tea.KeyCtrlA,
	"ctrl+e": tea.KeyCtrlE,
	"ctrl+k": tea.KeyCtrlK, "ctrl+u": tea.KeyCtrlU,
	"delete": tea.KeyDelete, "ctrl+t": tea.KeyCtrlT, "ctrl+g": tea.KeyCtrlG,
}

// press presses keys in turn: names of keys, or text.
func (d *driver) press(keys ...string) *driver {
	d.t.Helper()
	for _, k := range keys {
		if kt, ok := keyTypes[k]; ok {
			d.send(tea.KeyMsg{Type: kt})
		} else {
			for _, r := range k {
				d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
		}
		d.settle()
		d.check()
	}
	return d
}

// settle waits until nothing runs.
func (d *driver) settle() {
	d.t.Helper()
	limit := time.After(2 * time.Minute)
	for d.working() {
		select {
		case msg := <-d.msgs:
			d.send(msg)
		case <-limit:
			var stacks strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			d.t.Fatalf("%d jobs and %d computations do not end:\n%s", len(d.m.jobs.running),
				d.m.Common.Running, &stacks)
		}
	}
}

// until handles messages until the screen shows a text.
func (d *driver) until(text string) *driver {
	d.t.Helper()
	limit := time.After(2 * time.Minute)
	for !strings.Contains(d.screen(), text) {
		select {
		case msg := <-d.msgs:
			d.send(msg)
		case <-limit:
			d.t.Fatalf("the screen never shows %q:\n%s", text, d.screen())
		}
	}
	return d
}

// screen returns the frame without colours.
func (d *driver) screen() string { return ansi.Strip(d.m.View()) }

// sees fails the test if the screen lacks one of the texts.
func (d *driver) sees(texts ...string) *driver {
	d.t.Helper()
	screen := d.screen()
	for _, x := range texts {
		if !strings.Contains(screen, x) {
			d.t.Fatalf("the screen does not show %q:\n%s", x, screen)
		}
	}
	return d
}

// misses fails the test if the screen shows one of the texts.
func (d *driver) misses(texts ...string) *driver {
	d.t.Helper()
	screen := d.screen()
	for _, x := range texts {
		if strings.Contains(screen, x) {
			d.t.Fatalf("the screen shows %q:\n%s", x, screen)
		}
	}
	return d
}

// check fails the test unless the frame has the right number of lines, each of exactly the width, without control
// sequences except styles.
func (d *driver) check() {
	d.t.Helper()
	if problem := misfit(d.m.View(), d.width, d.height); problem != "" {
		d.t.Fatalf("%s at %dx%d:\n%s", problem, d.width, d.height, d.screen())
	}
}

func misfit(view string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		return fmt.Sprintf("%d lines", len(lines))
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			return fmt.Sprintf("line %d is %d wide (terminals that count runes: %d)", i, n, draw.Width(ansi.Strip(l)))
		}
		if n := draw.Width(ansi.Strip(l)); n != w {
			return fmt.Sprintf("line %d is %d runes wide", i, n)
		}
		rest := ansi.Strip(l)
		if strings.ContainsFunc(rest, func(r rune) bool { return r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
			return fmt.Sprintf("line %d has control characters: %q", i, rest)
		}
	}
	return ""
}

// fake is a backend without a session.
type fake struct {
	analysis.Memo
	mu      sync.Mutex
	state   session.State
	run     func(ctx context.Context, text string, out *shell.Output) error
	changed chan struct{}
	entries []history.Entry
	recall  *session.Picture
	recalls map[int64]*session.Picture // by entry, instead of recall
	moments []timeline.Moment
	all     []lang.Candidate
	hold    chan struct{} // if set, studies wait for it
	silent  []sweep.Unanswered
	growth  func(since, until time.Time) *recording.Growth // the counters of ports, nil if nothing was recorded
}

func newFake(f *fabric.Fabric) *fake {
	live := &session.Picture{Kind: session.Live, Fabric: f, When: time.Unix(0, 0)}
	src := source.Source{Kind: source.Sim, Arg: "fake"}
	return &fake{
		state: session.State{Source: src, Pictures: session.Pictures{Live: live}}, changed: make(chan struct{}, 1),
	}
}

func (f *fake) State() session.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	var tables []*fabric.Tables
	for _, p := range []*session.Picture{f.state.Live, f.state.Base, f.state.WhatIf, f.state.Staged} {
		if p != nil && p.Tables != nil {
			tables = append(tables, p.Tables)
		}
	}
	f.Retain(nil, tables...)
	return f.state
}

// change changes the state as a session does.
func (f *fake) change(change func(*session.State)) {
	f.mu.Lock()
	before := f.state.Live
	change(&f.state)
	if now := f.state.Live; len(before.Fabric.Nodes) > 0 {
		f.state.Losses = f.state.Losses.After(before.Fabric, before.When, now.Fabric, f.silent)
	}
	f.state.Generation++
	f.mu.Unlock()
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *fake) Run(ctx context.Context, text string, out *shell.Output) error {
	if f.run == nil {
		return nil
	}
	return f.run(ctx, text, out)
}

func (f *fake) Entries(context.Context) ([]history.Entry, error)   { return f.entries, nil }
func (f *fake) Moments(context.Context) ([]timeline.Moment, error) { return f.moments, nil }
func (f *fake) Recall(id int64) (*session.Picture, error) {
	p := f.recalls[id]
	if p == nil {
		p = f.recall
	}
	if p != nil {
		f.Memo.RetainPast(p.Tables)
	}
	return p, nil
}
func (f *fake) Flow(context.Context, string, *session.Picture) (*guided.Flow, error) {
	return nil, connection.ErrOffline
}

func (f *fake) Problems(ctx context.Context, opt survey.Options) (*found.Report, error) {
	st := f.State()
	r, err := survey.Of(ctx, &st, &f.Memo, opt)
	if err == nil {
		r.Answers(f.silent, nil)
		r.Sort()
	}
	return r, err
}

// leave adds a request that was not answered.
func (f *fake) leave(node string, port int, why string) {
	u := sweep.Unanswered{Node: node, Port: port, Attr: mad.AttrNodeInfo, Err: errors.New(why)}
	f.silent = append(f.silent, u)
	f.state.Unanswered = append(f.state.Unanswered, u.String())
}

func (f *fake) Study(ctx context.Context, t *fabric.Tables, kind resilience.Kind) (*resilience.Study, error) {
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	base, err := incremental.NewBase(ctx, t)
	if err != nil {
		return nil, err
	}
	return resilience.New(ctx, base, kind)
}

func (f *fake) Try(context.Context, *session.State, string, func(int, int)) (comparison.Figures, error) {
	return comparison.Figures{Refused: "not tried"}, nil
}

func (f *fake) Counters(context.Context, ...fabric.PortIndex) (*counters.Reading, error) {
	return &counters.Reading{}, connection.ErrOffline
}

func (f *fake) Glances() ([]shell.Glance, int)                          { return nil, 0 }
func (f *fake) At(context.Context, time.Time) (*session.Picture, error) { return f.recall, nil }
func (f *fake) Neighbor(context.Context, *session.Picture, int) (*session.Picture, error) {
	return f.recall, nil
}
func (f *fake) PastProblems(ctx context.Context, p *session.Picture, opt survey.Options) (*found.Report,
	error) {
	st := f.State()
	return survey.Past(ctx, &st, &f.Memo, p, opt)
}
func (f *fake) Sample(context.Context, *fabric.Fabric, counters.Set, []fabric.PortIndex) (*counters.Reading, error) {
	return nil, connection.ErrOffline
}
func (f *fake) Recording() (recording.Status, bool) { return recording.Status{}, false }
func (f *fake) Grown(_ context.Context, _ counters.Set, since, until time.Time, _ int) (*recording.Growth, error) {
	if f.growth == nil {
		return nil, recorded.ErrNone
	}
	return f.growth(since, until), nil
}
func (f *fake) ReadRecent(_ context.Context, until time.Time) error {
	if f.growth == nil {
		return recorded.ErrNone
	}
	f.change(func(st *session.State) {
		recording.PutRecent(st, recording.NewRecent(f.growth(until.Add(-time.Hour), until)))
	})
	return nil
}
func (f *fake) Compare(context.Context) (*featuresources.Comparison, error) { return nil, nil }
func (f *fake) Facts() *analysis.Memo                                       { return &f.Memo }
func (f *fake) Hint(string) (usage, summary string)                         { return "", "" }
func (f *fake) Search(string) []lang.Candidate                              { return nil }

func (f *fake) Complete(string, int) (int, []lang.Candidate) { return 0, f.all }

func (f *fake) Changed(ctx context.Context) bool {
	select {
	case <-f.changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// routed returns a generated fabric with LIDs, and its tables by minhop.
func routed(t testing.TB, spec string) (*fabric.Fabric, *fabric.Tables) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, res.Tables
}

// reroute returns the tables of minhop for a fabric with LIDs.
func reroute(t testing.TB, f *fabric.Fabric) *fabric.LFT {
	t.Helper()
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables.LFT
}

// star returns a switch with this name and hosts with these names.
func star(t testing.TB, name string, hosts ...string) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	sw, err := b.AddNode(fabric.Node{GUID: 0x100, Desc: name, Type: mad.NodeSwitch, NumPorts: uint8(len(hosts) + 1)})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hosts {
		n, err := b.AddNode(fabric.Node{GUID: uint64(0x200 + 16*i), Desc: h, Type: mad.NodeCA, NumPorts: 1})
		if err != nil {
			t.Fatal(err)
		}
		b.Port(n, 1).GUID = uint64(0x201 + 16*i)
		if err := b.Connect(sw, i+1, n, 1); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f
}

// glyphsOf returns the glyphs of a terminal of this locale and type.
func glyphsOf(locale, term string) draw.Glyphs {
	return draw.Environment(func(name string) string {
		return map[string]string{"LANG": locale, "TERM": term}[name]
	}).Glyphs()
}
