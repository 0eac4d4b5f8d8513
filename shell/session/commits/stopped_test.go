// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/survey"
)

// counting is a transport that counts Sets, and calls at when as many were sent.
type counting struct {
	mad.Transport
	mu   sync.Mutex
	sets int
	at   int
	then func()
	// how is the error of the Sets from then on.
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
	case how == errBroken, how == errKilled:
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

// subnet is a simulated subnet whose consoles can be stopped at a Set.
type subnet struct {
	*sessiontest.Subnet
	wire *counting // of the console that was opened last
	full func()    // closes the history of that console
}

// newSubnet returns a subnet that is routed.
func newSubnet(t *testing.T, spec string) *subnet {
	t.Helper()
	n := &subnet{Subnet: sessiontest.NewSubnet(t, spec)}
	n.Wrap = func(conn mad.Transport) mad.Transport {
		n.wire = &counting{Transport: conn}
		return n.wire
	}
	return n
}

// Console opens a console.
func (n *subnet) Console() *session.Session {
	s := n.Subnet.Console()
	n.full = func() {
		if store, err := s.History(); err == nil {
			_ = store.Close()
		}
	}
	return s
}

// group writes SL2VL tables, and the tree of a multicast group that no engine computed.
func (n *subnet) group() {
	n.T.Helper()
	s := n.Console()
	live := n.Read(s)
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
	n.Stage(s, &group)
	if _, err := commits.Commit(n.T.Context(), s, yes); err != nil {
		n.T.Fatal(err)
	}
	n.Dir = n.T.TempDir()
}

var yes = commits.Options{Confirmed: true, AllowInterrupt: true, AllowLoop: true}

// cut calls do and stops it at a Set. how is the error that it wraps.
func (n *subnet) cut(at int, how error, do func(context.Context) error) (err error) {
	ctx, cancel := context.WithCancelCause(n.T.Context())
	defer cancel(nil)
	w := n.wire
	w.mu.Lock()
	w.sets, w.at, w.how, w.then = 0, at, how, nil
	switch how {
	case errLie, errBroken, errPanic, errLost, errRefused:
	case errFull, errKilled:
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
	errLie     = errors.New("switches write something different from what they report")
	errRefused = errors.New("switches refuse")
	errLost    = errors.New("nothing arrives any more")
	errBroken  = errors.New("the transport is broken")
	errPanic   = errors.New("a panic")
	errFull    = errors.New("nothing can be noted any more")
	errKilled  = errors.New("nothing is sent or noted any more, as after SIGKILL")
)

// causes are all of them, with the signals that end programs.
var causes = []error{
	signalled{syscall.SIGTERM}, signalled{syscall.SIGQUIT}, signalled{syscall.SIGHUP}, signalled{syscall.SIGINT},
	context.Canceled,
	errLie, errRefused, errLost, errBroken, errPanic, errFull,
}

// unusable reports whether a session that met an end does not go on.
func unusable(how error) bool { return how == errPanic || how == errFull }

// expectOpen checks that a new console first reports the interrupted commit.
func expectOpen(t *testing.T, s *session.Session) {
	t.Helper()
	st := s.State()
	if !strings.Contains(st.Interrupted, "was interrupted") {
		t.Fatalf("the next console says %q", st.Interrupted)
	}
	r, err := survey.Problems(t.Context(), s, survey.Options{})
	if err != nil || len(r.Problems) == 0 || r.Problems[0].Kind != problems.CommitInterrupted {
		t.Fatalf("its problems: %+v, %v", r.Problems, err)
	}
}

// TestStoppedCommits interrupts commits at any of their Sets, by signals, Ctrl-C, switches that refuse or do not write,
// time-outs, a broken transport, a panic, and a history that cannot be written. The commits are then resumed or rolled
// back, with repeated interruptions, in the same console or the next. The expected tables are those of an undisturbed
// commit on a copy of the subnet.
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
		twin, n := newSubnet(t, p.spec), newSubnet(t, p.spec)
		if p.grouped {
			twin.group()
			n.group()
		}
		s := twin.Console()
		twin.Read(s)
		twin.Route(s, p.engine...)
		if err := twin.cut(0, nil, func(ctx context.Context) error {
			_, err := commits.Commit(ctx, s, yes)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		all, next := twin.wire.sets, twin.Held()

		old := n.Held()
		s = n.Console()
		n.Read(s)
		n.Route(s, p.engine...)
		at := rnd.IntN(all + 1)
		where := fmt.Sprintf("round %d: %s %v, %v at Set %d of %d", i, p.spec, p.engine, cause, at, all)
		err := n.cut(at, cause, func(ctx context.Context) error {
			if at == 0 {
				stop, cancel := context.WithCancelCause(ctx)
				ctx = stop
				cancel(cause)
			}
			_, err := commits.Commit(ctx, s, yes)
			return err
		})
		switch so, ok := errors.AsType[*commits.StoppedError](err); {
		case err == nil:
			complete++
			continue
		case !ok && n.Held() == old && s.State().Interrupted == "":
			none++
			continue
		case unusable(cause):
			if n.wire.sets < at {
				t.Fatalf("%s: %v", where, err)
			}
			s = n.Console()
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
				s = n.Console()
			}
			if s.State().Interrupted == "" {
				break
			}
			if rnd.IntN(2) == 0 {
				s = n.Console()
				expectOpen(t, s)
			}
		}
		n.finish(rnd, where, old, next)
	}
	t.Logf("stopped by %v; %d stopped again, %d were complete and %d had not begun", stopped, again, complete, none)
}

// further goes on or back and is stopped again, unless it comes to its end before.
func (n *subnet) further(s *session.Session, rnd *rand.Rand, where *string, was bool, at int,
	cause error) (forward bool) {
	n.T.Helper()
	if _, err := s.Sweep(n.T.Context()); err != nil {
		n.T.Fatal(err)
	}
	forward = rnd.IntN(2) == 0
	if err := s.SetWrite(true); err != nil { // it is off where the connection was lost
		n.T.Fatal(err)
	}
	err := n.cut(at, cause, func(ctx context.Context) (err error) {
		switch {
		case forward == was && rnd.IntN(2) == 0 && commits.IsPartlyWritten(s):
			_, err = commits.Commit(ctx, s, yes)
		case forward:
			_, err = commits.Resume(ctx, s, yes)
		default:
			_, _, err = commits.Rollback(ctx, s, 0, yes)
		}
		return err
	})
	*where += fmt.Sprintf("; then forward %v, %v at Set %d: %v", forward, cause, at, err)
	if so, ok := errors.AsType[*commits.StoppedError](err); err != nil && !unusable(cause) && (!ok || so.Open == nil) &&
		s.State().Interrupted == "" {
		n.T.Fatal(*where)
	}
	return forward
}

// finish resumes or rolls back an interrupted commit in a new console, and checks the tables.
func (n *subnet) finish(rnd *rand.Rand, where, old, next string) {
	n.T.Helper()
	t := n.T
	s := n.Console()
	if s.State().Interrupted != "" {
		expectOpen(t, s)
		n.Route(s, "dor")
		rep, err := commits.Commit(t.Context(), s, yes)
		if _, ok := errors.AsType[*journal.InterruptedError](err); !ok && (err != nil || rep.Written != nil) {
			t.Fatalf("%s: another commit: %v", where, err)
		}
		if rnd.IntN(2) == 0 {
			_, err = commits.Resume(t.Context(), s, yes)
			old, next = next, old
		} else {
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if n.Held() != old {
			t.Fatalf("%s: neither the old nor the new tables", where)
		}
	} else if h := n.Held(); h != old && h != next {
		t.Fatalf("%s: ended, and neither the old nor the new tables", where)
	} else if h == next {
		old, next = next, old
	}
	s = n.Console()
	if st := s.State(); st.Interrupted != "" {
		t.Fatalf("%s: ended, and the next console says %s", where, st.Interrupted)
	}
	_, _, err := commits.Rollback(t.Context(), s, 0, yes)
	if errors.Is(err, commits.ErrAllUndone) {
		next = old // it was taken back
	} else if err != nil {
		t.Fatalf("%s: rolled back at last: %v", where, err)
	}
	if n.Held() != next {
		t.Fatalf("%s: rolled back at last: other tables", where)
	}
}

// TestStoppedRollbacks stops the rollback of a commit that is done: rollback goes on
// with it, and by its number it is taken back.
func TestStoppedRollbacks(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 20) {
		n := newSubnet(t, "fattree:2,8")
		first := n.Held()
		s := n.Console()
		n.Route(s, "minhop", "port_shifting=TRUE")
		if _, err := commits.Commit(t.Context(), s, yes); err != nil {
			t.Fatal(err)
		}
		done := n.Held()
		at := 1 + rnd.IntN(4)
		err := n.cut(at, signalled{syscall.SIGTERM}, func(ctx context.Context) error {
			_, _, err := commits.Rollback(ctx, s, 0, yes)
			return err
		})
		so, ok := errors.AsType[*commits.StoppedError](err)
		if !ok || so.Open == nil || !strings.Contains(err.Error(), "finish it with rollback yes") {
			t.Fatalf("stopped: %v", err)
		}
		s = n.Console()
		expectOpen(t, s)
		id, want := int64(0), first
		if i%2 == 1 {
			id, want = so.Open.Commit.After, done
		}
		if _, _, err := commits.Rollback(t.Context(), s, id, yes); err != nil {
			t.Fatal(err)
		}
		if n.Held() != want {
			t.Fatalf("at %d, rollback %d: other tables", at, id)
		}
		s = n.Console()
		if st := s.State(); st.Interrupted != "" {
			t.Fatal(st.Interrupted)
		}
		_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		if i%2 == 0 && !errors.Is(err, commits.ErrAllUndone) || i%2 == 1 && err != nil || n.Held() != first {
			t.Fatalf("and back at last: %v", err)
		}
	}
}

// TestWrittenOver: routes go over what an interrupted commit left where that is asked
// for, and then it is given up.
func TestWrittenOver(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	n.Route(s, "minhop", "port_shifting=TRUE")
	if err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, yes)
		return err
	}); err == nil {
		t.Fatal("not stopped")
	}
	n.Route(s, "dor")
	opt := yes
	opt.Abandon = true
	if _, err := commits.Commit(t.Context(), s, opt); err != nil {
		t.Fatal(err)
	}
	if st := n.Console().State(); s.State().Interrupted != "" || st.Interrupted != "" || len(st.Warnings) > 0 {
		t.Errorf("%q, %q, %q", s.State().Interrupted, st.Interrupted, st.Warnings)
	}
}

// TestCommitAgain: what was stopped, all of it written but not read back, is ended by
// the same commit, and one that has not begun leaves nothing open.
func TestCommitAgain(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	n.Route(s, "minhop", "port_shifting=TRUE")
	commit := func(ctx context.Context) error { _, err := commits.Commit(ctx, s, yes); return err }
	if err := n.cut(1, errLie, commit); err == nil {
		t.Fatal("not stopped")
	}
	begun, cancel := context.WithCancel(t.Context())
	opt := yes
	opt.Planned = func(*commits.Report) error { cancel(); return nil }
	if _, err := commits.Commit(begun, s, opt); err == nil || s.State().Interrupted == "" {
		t.Fatalf("%v, open: %q", err, s.State().Interrupted)
	}
	if err := commit(t.Context()); err != nil || s.State().Interrupted != "" {
		t.Fatalf("again: %v, %q", err, s.State().Interrupted)
	}
	if text := n.Console().State().Interrupted; text != "" {
		t.Fatal(text)
	}
}

// TestRefusedResume: a resume that is refused stages nothing, and ends the commit with the permission that it needs.
func TestRefusedResume(t *testing.T) {
	n := newSubnet(t, "mesh:2x2")
	s := n.Console()
	live := n.Read(s)
	ring := *live.Tables
	ring.MFT = ring.MFT.Clone()
	for sw, node := range live.Fabric.Switches { // packets of the group go round for ever
		for p := uint8(1); p <= live.Fabric.Nodes[node].NumPorts; p++ {
			if live.Fabric.Ports[live.Fabric.Port(node, p)].Linked() {
				ring.MFT.Add(fabric.SwitchIndex(sw), fabric.FirstMLID, p)
			}
		}
	}
	n.Stage(s, &ring)
	if err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, yes)
		return err
	}); err == nil {
		t.Fatal("not stopped")
	}
	s = n.Console()
	_, err := commits.Resume(t.Context(), s, commits.Options{Confirmed: true, AllowLoop: true})
	if !commits.Needs(err, commits.Interrupt) || s.State().Staged != nil {
		t.Fatal(err, s.State().Staged)
	}
	if _, err := commits.Resume(t.Context(), s, yes); err != nil || s.State().Interrupted != "" {
		t.Fatalf("%v, %q", err, s.State().Interrupted)
	}
}

// TestStoppedElsewhere: if the journal is in another file, the commands that finish an interrupted commit name it.
func TestStoppedElsewhere(t *testing.T) {
	n := newSubnet(t, "fattree:2,8")
	s := n.Console()
	file := filepath.Join(t.TempDir(), "the journal")
	if err := s.KeepHistoryIn(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	n.Route(s, "minhop", "port_shifting=TRUE")
	err := n.cut(2, signalled{syscall.SIGINT}, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, yes)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "commit resume yes journal='"+file+"'") {
		t.Fatal(err)
	}
	s = n.Console()
	if err := s.KeepHistoryIn(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if _, err := commits.Resume(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
}

// TestFailedOfOlderPrograms: it is unknown whether a commit that an older version recorded as failed wrote a part. The
// next console reports it, and refuses nothing.
func TestFailedOfOlderPrograms(t *testing.T) {
	for _, way := range []string{"resume", "rollback", "another"} {
		n := newSubnet(t, "fattree:2,8")
		want := n.Held()
		s := n.Console()
		n.Route(s, "minhop", "port_shifting=TRUE")
		err := n.cut(2, signalled{syscall.SIGHUP}, func(ctx context.Context) error {
			_, err := commits.Commit(ctx, s, yes)
			return err
		})
		so, ok := errors.AsType[*commits.StoppedError](err)
		store, herr := s.History()
		if !ok || herr != nil {
			t.Fatal(err, herr)
		}
		if err := store.End(t.Context(), so.Open.Commit.ID, history.Failed); err != nil {
			t.Fatal(err)
		}
		s = n.Console()
		if st := s.State(); st.Interrupted != "" || !strings.Contains(strings.Join(st.Warnings, "\n"),
			"failed, and a part of the tables may") {
			t.Fatalf("%q, %q", st.Interrupted, st.Warnings)
		}
		switch way {
		case "resume":
			_, err = commits.Resume(t.Context(), s, yes)
		case "rollback":
			_, _, err = commits.Rollback(t.Context(), s, 0, yes)
		default:
			n.Route(s, "dor")
			_, err = commits.Commit(t.Context(), s, yes)
		}
		if err != nil || way == "rollback" && n.Held() != want {
			t.Fatalf("%s: %v", way, err)
		}
		if st := n.Console().State(); st.Interrupted != "" || len(st.Warnings) > 0 {
			t.Errorf("after %s: %q, %q", way, st.Interrupted, st.Warnings)
		}
	}
}
