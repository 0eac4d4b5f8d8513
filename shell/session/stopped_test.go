// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// counting is a transport that counts Sets, and calls at when as many were sent.
type counting struct {
	mad.Transport
	mu   sync.Mutex
	sets int
	at   int
	then func()
	// how says what becomes of Sets from then on.
	how error
}

func (c *counting) Send(f *mad.Frame) error {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil || smp.Method != mad.MethodSet {
		return c.Transport.Send(f)
	}
	c.mu.Lock()
	if c.sets++; c.sets == c.at && c.then != nil {
		c.then()
	}
	how := c.how
	if c.at == 0 || c.sets < c.at {
		how = nil
	}
	c.mu.Unlock()
	block := smp.Attr == mad.AttrLinearForwardingTable
	switch {
	case how == errBroken:
		return mad.ErrBroken
	case how == errPanic:
		panic(errPanic)
	case how == errLost:
		return nil
	case how == errLie && block:
		smp.Data[1] ^= 1
	case how == errRefused && block:
		smp.Mod = 1 << 15 // there is no such block
	}
	changed := *f
	smp.Put(&changed.Data)
	return c.Transport.Send(&changed)
}

// subnet is a simulated subnet that any number of consoles sit at.
type subnet struct {
	t    *testing.T
	sim  *sim.Sim
	f    *fabric.Fabric // of sim, whole
	port fabric.PortIndex
	// other is an ibsim in the place of sim, nil for none.
	other *ibsimtest.Sim
	dir   string
	// record has consoles put sweeps into the history.
	record bool
	// client says how consoles ask, nil as simulated subnets can be asked.
	client *mad.ClientOptions
	wire   *counting // of the console that came last
	// leave closes that one.
	leave func()
	full  func() // takes away what that one keeps its history in
}

// newSubnet is routed, and if grouped has lanes and the tree of a group that nobody
// computed.
func newSubnet(t *testing.T, spec string, grouped bool) *subnet {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err == nil {
		f, err = fabric.AssignLIDs(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	engine, err := engines.ByName(engines.Default)
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := &subnet{
		t: t, sim: sim.New(f, sim.Options{Tables: res.Tables, Active: true}), f: f, port: f.EndPortOf(f.SMPort),
		dir: t.TempDir(),
	}
	if grouped {
		s := n.console()
		live := n.read(s)
		group := *live.Tables
		group.MFT, group.SL2VL = live.Tables.MFT.Clone(), live.Tables.SL2VL.Clone()
		for _, name := range []string{"sw-0-0", "sw-0-1"} { // a link between them and a host on each
			sw := live.Fabric.NodesByDescription(name)[0]
			for p := live.Fabric.Nodes[sw].FirstPort + 1; p <= live.Fabric.Nodes[sw].FirstPort+
				fabric.PortIndex(live.Fabric.Nodes[sw].NumPorts); p++ {
				next := live.Fabric.PeerSwitch(p)
				if live.Fabric.Ports[p].Linked() && (next == fabric.None || next+live.Fabric.Nodes[sw].Switch == 1) {
					group.MFT.Add(live.Fabric.Nodes[sw].Switch, fabric.FirstMLID+1, live.Fabric.Ports[p].Num)
				}
			}
		}
		group.SL2VL.Set(live.Fabric.NodesByDescription("sw-1-1")[0], 1, 2, fabric.VLs{3, 2, 1})
		s.stage(&Picture{Kind: Staged, Fabric: live.Fabric, Tables: &group, madeOf: live.Fabric})
		if _, err := s.Commit(t.Context(), yes); err != nil {
			t.Fatal(err)
		}
		n.dir = t.TempDir()
	}
	return n
}

// open is a place at the subnet.
func (n *subnet) open() (mad.Transport, error) {
	if n.other == nil {
		return n.sim.Open(n.port)
	}
	return ibsim.Dial(n.t.Context(), ibsim.Options{Name: n.other.Name})
}

var yes = CommitOptions{Yes: true, Hit: true, Loop: true}

// console opens a console on the subnet, as one of a program does that was started
// anew: its source counts as live, and what was done before is looked for.
func (n *subnet) console() *Session {
	n.t.Helper()
	s, err := Open(n.t.Context(), source.Source{Kind: source.Ibsim}, Options{StateDir: n.dir, Fast: true, Later: true,
		Record: n.record})
	if err != nil {
		n.t.Fatal(err)
	}
	s.connectBy(func(context.Context) (mad.Transport, error) {
		conn, err := n.open()
		n.wire = &counting{Transport: conn}
		return n.wire, err
	}, *cmp.Or(n.client, new(mad.Fast())))
	n.leave = sync.OnceFunc(func() { _ = s.Close() })
	n.t.Cleanup(n.leave)
	n.full = func() {
		if store, err := s.History(); err == nil {
			_ = store.Close()
		}
	}
	if err := s.Start(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	if err := s.SetWrite(true); err != nil {
		n.t.Fatal(err)
	}
	return s
}

func (n *subnet) read(s *Session) *Picture {
	n.t.Helper()
	if _, err := s.SweepFor(n.t.Context(), Reads{SL2VL: true, MFT: true}); err != nil {
		n.t.Fatal(err)
	}
	return s.State().Live
}

// patient makes consoles wait for answers on a machine that is busy, until the function that it returns is called.
func (n *subnet) patient() func() {
	client := n.client
	slow := mad.Fast()
	slow.Timeout = time.Minute
	n.client = &slow
	return func() { n.client = client }
}

// held is all that a commit may write, as a session without a history reads it.
func (n *subnet) held() string {
	n.t.Helper()
	dir, wire, full, leave := n.dir, n.wire, n.full, n.leave
	defer n.patient()()
	n.dir = ""
	s := n.console()
	p := n.read(s)
	n.leave()
	n.dir, n.wire, n.full, n.leave = dir, wire, full, leave
	var b strings.Builder
	f, tb := p.Fabric, p.Tables
	for i := range f.Nodes {
		node := &f.Nodes[i]
		fmt.Fprintf(&b, "0x%x\n", node.GUID)
		for num := range int(node.NumPorts) + 1 {
			port := &f.Ports[node.FirstPort+fabric.PortIndex(num)]
			fmt.Fprintln(&b, num, port.LID, port.SMLID, port.LMC, port.State)
		}
		if node.Switch == fabric.None {
			continue
		}
		fmt.Fprintln(&b, tb.Top[node.Switch])
		for lid := range tb.Top[node.Switch] + 1 {
			b.WriteByte(tb.Port(node.Switch, lid))
		}
		for in := range node.NumPorts + 1 {
			for out := uint8(1); out <= node.NumPorts; out++ {
				fmt.Fprint(&b, tb.SL2VL.VLs(fabric.NodeIndex(i), in, out))
			}
		}
		for lid := uint16(fabric.FirstMLID); lid < fabric.FirstMLID+64; lid++ {
			for p := range node.NumPorts + 1 {
				fmt.Fprint(&b, lid <= tb.MFT.Top && tb.MFT.Has(node.Switch, lid, p))
			}
		}
	}
	return b.String()
}

// route stages what an engine routes, with options "NAME=VALUE".
func (n *subnet) route(s *Session, words ...string) {
	n.t.Helper()
	var chain []string
	var given []settings.Setting
	for _, word := range words {
		if name, value, is := strings.Cut(word, "="); is {
			given = append(given, settings.Setting{Name: name, Value: value})
		} else {
			chain = append(chain, word)
		}
	}
	set, err := settings.Parse(context.Background(), chain, given)
	if err == nil {
		s.SetSettings(set)
		_, err = s.Route(n.t.Context(), compute.KeepNo)
	}
	if err != nil {
		n.t.Fatal(err)
	}
}

// cut calls do and stops it at a Set. It says in what the error wraps.
func (n *subnet) cut(at int, how error, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(n.t.Context())
	defer cancel(nil)
	w := n.wire
	w.mu.Lock()
	w.sets, w.at, w.how, w.then = 0, at, how, nil
	switch how {
	case errLie, errBroken, errPanic, errLost, errRefused:
	case errFull:
		w.then = n.full
	default:
		w.then = func() { cancel(how) }
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.at, w.then, w.how = 0, nil, nil
		w.mu.Unlock()
		if how == errPanic {
			if v := recover(); v == errPanic {
				err = errPanic
			}
		}
	}()
	return do(ctx)
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ syscall.Signal }

func (s signalled) Error() string { return s.String() }

// Other ends of commits, from one of their Sets on.
var (
	errLie     = errors.New("switches write otherwise than they say")
	errRefused = errors.New("switches refuse")
	errLost    = errors.New("nothing arrives any more")
	errBroken  = errors.New("the transport is broken")
	errPanic   = errors.New("a panic")
	errFull    = errors.New("nothing can be noted any more")
)

// causes are all of them, with the signals that end programs.
var causes = []error{
	signalled{syscall.SIGTERM}, signalled{syscall.SIGQUIT}, signalled{syscall.SIGHUP}, signalled{syscall.SIGINT},
	context.Canceled,
	errLie, errRefused, errLost, errBroken, errPanic, errFull,
}

// unusable reports whether a session that met an end does not go on.
func unusable(how error) bool { return how == errPanic || how == errFull }

// expectOpen checks that a console which comes anew names what was interrupted first.
func expectOpen(t *testing.T, s *Session) {
	t.Helper()
	st := s.State()
	if !strings.Contains(st.Interrupted, "was interrupted") {
		t.Fatalf("the next console says %q", st.Interrupted)
	}
	r, err := s.Problems(t.Context(), ProblemOptions{})
	if err != nil || len(r.Problems) == 0 || r.Problems[0].Kind != problems.CommitCutShort {
		t.Fatalf("its problems: %+v, %v", r.Problems, err)
	}
}

// TestStoppedCommits ends commits at any of their Sets, by the signals that end
// programs, by Ctrl-C, by switches that refuse or do not write what they were told, by time-outs, a broken
// transport, a panic, and a history that takes nothing any more; then goes
// on or back, stopped again and again, in the same console or the next. The expected
// tables are those that an undisturbed commit leaves on a twin of the subnet.
func TestStoppedCommits(t *testing.T) {
	rnd := testenv.Rand(t)
	plans := []struct {
		spec    string
		grouped bool
		engine  []string
	}{
		{"fattree:2,6", false, []string{"minhop", "port_shifting=TRUE"}},
		{"fattree:2,6", false, []string{"minhop", "lmc=1"}}, // LIDs and tops as well
		{"mesh:4x4 hosts=2", true, []string{"torus-2QoS"}},  // lanes and multicast as well
	}
	stopped, complete, none := map[error]int{}, 0, 0
	again := 0
	want := testenv.Count(t, 11, 300)
	for i := 0; i < want; {
		p, cause := plans[rnd.IntN(len(plans))], causes[i%len(causes)]
		twin := newSubnet(t, p.spec, p.grouped)
		s := twin.console()
		twin.read(s)
		twin.route(s, p.engine...)
		if err := twin.cut(0, nil, func(ctx context.Context) error {
			_, err := s.Commit(ctx, yes)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		all, next := twin.wire.sets, twin.held()

		n := newSubnet(t, p.spec, p.grouped)
		old := n.held()
		s = n.console()
		n.read(s)
		n.route(s, p.engine...)
		at := rnd.IntN(all + 1)
		where := fmt.Sprintf("round %d: %s %v, %v at Set %d of %d", i, p.spec, p.engine, cause, at, all)
		err := n.cut(at, cause, func(ctx context.Context) error {
			if at == 0 {
				stop, cancel := context.WithCancelCause(ctx)
				ctx = stop
				cancel(cause)
			}
			_, err := s.Commit(ctx, yes)
			return err
		})
		switch so, ok := errors.AsType[*StoppedError](err); {
		case err == nil:
			complete++
			continue
		case !ok && n.held() == old && s.State().Interrupted == "":
			none++
			continue
		case unusable(cause):
			if n.wire.sets < at {
				t.Fatalf("%s: %v", where, err)
			}
			s = n.console()
			expectOpen(t, s)
		case !ok || so.Open == nil || !strings.Contains(err.Error(), "commit resume yes") ||
			!strings.Contains(err.Error(), "rollback yes"):
			t.Fatalf("%s: %v", where, err)
		}
		stopped[cause]++
		i++
		forward := true
		for range rnd.IntN(4) {
			again++
			next := causes[rnd.IntN(len(causes))]
			forward = n.further(s, rnd, &where, forward, 1+rnd.IntN(all), next)
			if unusable(next) {
				s = n.console()
			}
			if s.State().Interrupted == "" {
				break
			}
			if rnd.IntN(2) == 0 {
				s = n.console()
				expectOpen(t, s)
			}
		}
		n.finish(rnd, where, old, next)
	}
	t.Logf("stopped by %v; %d stopped again, %d were complete and %d had not begun", stopped, again, complete, none)
}

// further goes on or back and is stopped again, unless it comes to its end before.
func (n *subnet) further(s *Session, rnd *rand.Rand, where *string, was bool, at int, cause error) (forward bool) {
	n.t.Helper()
	if _, err := s.Sweep(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
	forward = rnd.IntN(2) == 0
	if err := s.SetWrite(true); err != nil { // it is off where the connection was lost
		n.t.Fatal(err)
	}
	err := n.cut(at, cause, func(ctx context.Context) (err error) {
		switch {
		case forward == was && rnd.IntN(2) == 0 && s.stopped.tables != nil:
			_, err = s.Commit(ctx, yes)
		case forward:
			_, err = s.Resume(ctx, yes)
		default:
			_, _, err = s.Rollback(ctx, 0, yes)
		}
		return err
	})
	*where += fmt.Sprintf("; then forward %v, %v at Set %d: %v", forward, cause, at, err)
	if so, ok := errors.AsType[*StoppedError](err); err != nil && !unusable(cause) && (!ok || so.Open == nil) &&
		s.State().Interrupted == "" {
		n.t.Fatal(*where)
	}
	return forward
}

// finish brings what is open to its end in a console that comes anew, and looks.
func (n *subnet) finish(rnd *rand.Rand, where, old, next string) {
	n.t.Helper()
	t := n.t
	s := n.console()
	if s.State().Interrupted != "" {
		expectOpen(t, s)
		n.route(s, "dor")
		rep, err := s.Commit(t.Context(), yes)
		if _, ok := errors.AsType[*InterruptedError](err); !ok && (err != nil || rep.Written != nil) {
			t.Fatalf("%s: another commit: %v", where, err)
		}
		if rnd.IntN(2) == 0 {
			_, err = s.Resume(t.Context(), yes)
			old, next = next, old
		} else {
			_, _, err = s.Rollback(t.Context(), 0, yes)
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if n.held() != old {
			t.Fatalf("%s: neither the old nor the new tables", where)
		}
	} else if h := n.held(); h != old && h != next {
		t.Fatalf("%s: ended, and neither the old nor the new tables", where)
	} else if h == next {
		old, next = next, old
	}
	s = n.console()
	if st := s.State(); st.Interrupted != "" {
		t.Fatalf("%s: ended, and the next console says %s", where, st.Interrupted)
	}
	_, _, err := s.Rollback(t.Context(), 0, yes)
	if errors.Is(err, ErrAllUndone) {
		next = old // it was taken back
	} else if err != nil {
		t.Fatalf("%s: rolled back at last: %v", where, err)
	}
	if n.held() != next {
		t.Fatalf("%s: rolled back at last: other tables", where)
	}
}

// TestStoppedRollbacks stops the rollback of a commit that is done: rollback goes on
// with it, and by its number it is taken back.
func TestStoppedRollbacks(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 20) {
		n := newSubnet(t, "fattree:2,8", false)
		first := n.held()
		s := n.console()
		n.route(s, "minhop", "port_shifting=TRUE")
		if _, err := s.Commit(t.Context(), yes); err != nil {
			t.Fatal(err)
		}
		done := n.held()
		at := 1 + rnd.IntN(4)
		err := n.cut(at, signalled{syscall.SIGTERM}, func(ctx context.Context) error {
			_, _, err := s.Rollback(ctx, 0, yes)
			return err
		})
		so, ok := errors.AsType[*StoppedError](err)
		if !ok || so.Open == nil || !strings.Contains(err.Error(), "go on with rollback yes") {
			t.Fatalf("stopped: %v", err)
		}
		s = n.console()
		expectOpen(t, s)
		id, want := int64(0), first
		if i%2 == 1 {
			id, want = so.Open.Commit.After, done
		}
		if _, _, err := s.Rollback(t.Context(), id, yes); err != nil {
			t.Fatal(err)
		}
		if n.held() != want {
			t.Fatalf("at %d, rollback %d: other tables", at, id)
		}
		s = n.console()
		if st := s.State(); st.Interrupted != "" {
			t.Fatal(st.Interrupted)
		}
		_, _, err = s.Rollback(t.Context(), 0, yes)
		if i%2 == 0 && !errors.Is(err, ErrAllUndone) || i%2 == 1 && err != nil || n.held() != first {
			t.Fatalf("and back at last: %v", err)
		}
	}
}

// TestWrittenOver: routes go over what an interrupted commit left where that is asked
// for, and then it is given up.
func TestWrittenOver(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	s := n.console()
	n.route(s, "minhop", "port_shifting=TRUE")
	if err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
		_, err := s.Commit(ctx, yes)
		return err
	}); err == nil {
		t.Fatal("not stopped")
	}
	n.route(s, "dor")
	opt := yes
	opt.Over = true
	if _, err := s.Commit(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	if st := n.console().State(); s.State().Interrupted != "" || st.Interrupted != "" || len(st.Warnings) > 0 {
		t.Errorf("%q, %q, %q", s.State().Interrupted, st.Interrupted, st.Warnings)
	}
}

// TestCommitAgain: what was stopped, all of it written but not read back, is ended by
// the same commit, and one that has not begun leaves nothing open.
func TestCommitAgain(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	s := n.console()
	n.route(s, "minhop", "port_shifting=TRUE")
	commit := func(ctx context.Context) error { _, err := s.Commit(ctx, yes); return err }
	if err := n.cut(1, errLie, commit); err == nil {
		t.Fatal("not stopped")
	}
	begun, cancel := context.WithCancel(t.Context())
	opt := yes
	opt.Planned = func(*CommitReport) error { cancel(); return nil }
	if _, err := s.Commit(begun, opt); err == nil || s.State().Interrupted == "" {
		t.Fatalf("%v, open: %q", err, s.State().Interrupted)
	}
	if err := commit(t.Context()); err != nil || s.State().Interrupted != "" {
		t.Fatalf("again: %v, %q", err, s.State().Interrupted)
	}
	if text := n.console().State().Interrupted; text != "" {
		t.Fatal(text)
	}
}

// TestRefusedResume: where going on is refused, what the refusal advises ends the commit.
func TestRefusedResume(t *testing.T) {
	n := newSubnet(t, "mesh:2x2", false)
	s := n.console()
	live := n.read(s)
	ring := *live.Tables
	ring.MFT = ring.MFT.Clone()
	for sw, node := range live.Fabric.Switches { // packets of the group go round for ever
		for p := uint8(1); p <= live.Fabric.Nodes[node].NumPorts; p++ {
			if live.Fabric.Ports[live.Fabric.Port(node, p)].Linked() {
				ring.MFT.Add(fabric.SwitchIndex(sw), fabric.FirstMLID, p)
			}
		}
	}
	s.stage(&Picture{Kind: Staged, Fabric: live.Fabric, Tables: &ring, madeOf: live.Fabric})
	if err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
		_, err := s.Commit(ctx, yes)
		return err
	}); err == nil {
		t.Fatal("not stopped")
	}
	s = n.console()
	_, err := s.Resume(t.Context(), CommitOptions{Yes: true, Loop: true})
	if err == nil || !strings.Contains(err.Error(), "commit yes hit=yes") {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), yes); err != nil || s.State().Interrupted != "" {
		t.Fatalf("%v, %q", err, s.State().Interrupted)
	}
}

// TestStoppedElsewhere: where the journal is kept in another file, the commands that
// end what was stopped name that.
func TestStoppedElsewhere(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	s := n.console()
	file := filepath.Join(t.TempDir(), "the journal")
	if err := s.KeepHistoryIn(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	n.route(s, "minhop", "port_shifting=TRUE")
	err := n.cut(2, signalled{syscall.SIGINT}, func(ctx context.Context) error {
		_, err := s.Commit(ctx, yes)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "commit resume yes journal='"+file+"'") {
		t.Fatal(err)
	}
	s = n.console()
	if err := s.KeepHistoryIn(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resume(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
}

// TestFailedOfOlderPrograms: of a commit that an older program noted as failed nobody
// knows whether it wrote a part. The next console says so, and refuses nothing.
func TestFailedOfOlderPrograms(t *testing.T) {
	for _, way := range []string{"resume", "rollback", "another"} {
		n := newSubnet(t, "fattree:2,8", false)
		want := n.held()
		s := n.console()
		n.route(s, "minhop", "port_shifting=TRUE")
		err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
			_, err := s.Commit(ctx, yes)
			return err
		})
		so, ok := errors.AsType[*StoppedError](err)
		store, herr := s.History()
		if !ok || herr != nil {
			t.Fatal(err, herr)
		}
		if err := store.End(t.Context(), so.Open.Commit.ID, history.Failed); err != nil {
			t.Fatal(err)
		}
		s = n.console()
		if st := s.State(); st.Interrupted != "" || !strings.Contains(strings.Join(st.Warnings, "\n"),
			"failed, and it was not noted") {
			t.Fatalf("%q, %q", st.Interrupted, st.Warnings)
		}
		switch way {
		case "resume":
			_, err = s.Resume(t.Context(), yes)
		case "rollback":
			_, _, err = s.Rollback(t.Context(), 0, yes)
		default:
			n.route(s, "dor")
			_, err = s.Commit(t.Context(), yes)
		}
		if err != nil || way == "rollback" && n.held() != want {
			t.Fatalf("%s: %v", way, err)
		}
		if st := n.console().State(); st.Interrupted != "" || len(st.Warnings) > 0 {
			t.Errorf("after %s: %q, %q", way, st.Interrupted, st.Warnings)
		}
	}
}
