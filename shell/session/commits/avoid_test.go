// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

// routes returns the tables of updn from a root.
func routes(t *testing.T, f *fabric.Fabric, root int) *fabric.Tables {
	t.Helper()
	r, err := updn.Engine{}.Route(t.Context(), f, routing.Options{
		RootGUIDs: []uint64{f.SwitchNode(fabric.SwitchIndex(root)).GUID},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.Tables
}

// holds checks that the switches hold tables.
func (n *subnet) holds(want *fabric.Tables, what string) {
	n.T.Helper()
	if c := diff.Count(n.LFT(), want); c.Changed > 0 {
		n.T.Errorf("%s: %d entries differ", what, c.Changed)
	}
}

// commitTo stages tables and commits them.
func (n *subnet) commitTo(t *fabric.Tables, opt commits.Options) (commits.Report, error) {
	n.T.Helper()
	s := n.Console()
	defer n.Leave()
	n.Stage(s, t)
	return commits.Commit(n.T.Context(), s, opt)
}

// writeDirectly sets an attribute of a switch from outside any console. The function change changes the present value.
func writeDirectly[T any, P interface {
	*T
	mad.Attribute
}](n *subnet, sw fabric.SwitchIndex, mod uint32, change func(P)) {
	n.T.Helper()
	f := n.Console().State().Live.Fabric
	n.Leave()
	conn, err := n.Open()
	if err != nil {
		n.T.Fatal(err)
	}
	c, err := mad.NewClient(conn, mad.Fast())
	if err != nil {
		n.T.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	path, err := sweep.NewRoutes(f).ToNode(f.Switches[sw])
	if err != nil {
		n.T.Fatal(err)
	}
	value, err := mad.Get[T, P](n.T.Context(), c, path, mod)
	if err == nil {
		change(&value)
		_, err = mad.Set[T, P](n.T.Context(), c, path, mod, value)
	}
	if err != nil {
		n.T.Fatal(err)
	}
}

// setLifeTime writes the LifeTimeValue of a switch.
func (n *subnet) setLifeTime(value uint8) {
	n.T.Helper()
	writeDirectly(n, 3, 0, func(info *mad.SwitchInfo) { info.LifeTimeValue = value })
}

// TestLoopBetween commits between routes that have a credit loop only together. A commit writes steps that avoid the
// loop, and needs permission if destinations are drained. Without a time to wait between the steps it is refused, and
// force-loop permits it. A commit that was interrupted anywhere is resumed or rolled back.
func TestLoopBetween(t *testing.T) {
	rnd := testenv.Rand(t)
	for _, spec := range []string{"torus:4x4", "dragonfly:3,2,2"} {
		loopBetween(t, rnd, newSubnet(t, spec), testenv.Count(t, 5, 50))
	}
}

// TestLoopBetweenOverIbsim is like TestLoopBetween for switches of ibsim.
func TestLoopBetweenOverIbsim(t *testing.T) {
	n := newSubnet(t, "torus:4x4")
	n.Other = sessiontest.Ibsim(t, "sim:torus:4x4")
	loopBetween(t, testenv.Rand(t), n, testenv.Count(t, 2, 50))
}

func loopBetween(t *testing.T, rnd *rand.Rand, n *subnet, count int) {
	t.Helper()
	f := n.Console().State().Live.Fabric
	n.Leave()
	now := routes(t, f, 0)
	if _, err := n.commitTo(now, yes); err != nil {
		t.Fatal(err)
	}
	taken, drained := 0, 0
	for range count {
		next := routes(t, f, rnd.IntN(len(f.Switches)))
		rep, err := n.commitTo(next, commits.Options{})
		a := rep.Avoidance
		if err != nil || a == nil || !rep.Credits.OnlyTogether() {
			continue
		}
		none := commits.Options{Confirmed: true}
		if a.Drains() {
			drained++
			if _, err := n.commitTo(next, none); !commits.Needs(err, commits.Interrupt) {
				t.Errorf("a drain: %v", err)
			}
			none.AllowInterrupt = true
		}
		n.setLifeTime(20)
		rep, err = n.commitTo(next, none)
		switch settles := a.Transition.Settles() > 0; {
		case settles && (!commits.Needs(err, commits.Loop) || rep.Avoidance.NoSettleTime == nil):
			t.Errorf("%v without a life time: %v", a.Transition.Method, err)
		case settles:
			n.holds(now, "refused")
		case err != nil:
			t.Error(err)
		}
		n.setLifeTime(0)
		n.interrupted(next, none, now, rnd.IntN(1+len(rep.Plan.Blocks)), rnd.IntN(2) == 0)
		rep, err = n.commitTo(next, none)
		if err != nil || !rep.Avoidance.Taken && !rep.Plan.Empty() {
			t.Fatalf("%v: %v", a.Transition.Method, err)
		}
		if rep.Avoidance != nil && rep.Avoidance.Taken && a.Transition.Method != transition.Outward {
			taken++
		}
		n.holds(next, a.Transition.Method.String())
		now = next
	}
	if taken == 0 {
		t.Error("no commit in steps")
	}
	t.Logf("in steps: %d, drained: %d", taken, drained)
	n.setLifeTime(20)
	for root := range len(f.Switches) {
		next := routes(t, f, root)
		if _, err := n.commitTo(next, commits.Options{Confirmed: true}); commits.Needs(err, commits.Loop) {
			if _, err := n.commitTo(next, commits.Options{Confirmed: true, AllowLoop: true}); err != nil {
				t.Error(err)
			}
			n.holds(next, "with force-loop")
			return
		}
	}
}

// interrupted begins a commit and stops it. Then it is resumed and rolled back, or rolled back.
func (n *subnet) interrupted(next *fabric.Tables, opt commits.Options, was *fabric.Tables, at int, resume bool) {
	n.T.Helper()
	s := n.Console()
	n.Stage(s, next)
	err := n.cut(at+1, context.Canceled, func(ctx context.Context) error {
		_, err := commits.Commit(ctx, s, opt)
		return err
	})
	n.Leave()
	s = n.Console()
	defer n.Leave()
	if s.State().Interrupted == "" {
		if err == nil {
			n.rollback(s, was)
		}
		return
	}
	if resume {
		opt.AllowInterrupt, opt.AllowLoop = true, true
		if _, err := commits.Resume(n.T.Context(), s, opt); err != nil {
			n.T.Errorf("resume: %v", err)
		}
		n.holds(next, "resumed")
	}
	n.rollback(s, was)
}

func (n *subnet) rollback(s *session.Session, was *fabric.Tables) {
	n.T.Helper()
	if _, _, err := commits.Rollback(n.T.Context(), s, 0, yes); err != nil {
		n.T.Errorf("rollback: %v", err)
	}
	n.holds(was, "rolled back")
}
