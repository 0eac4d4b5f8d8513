// SPDX-License-Identifier: Apache-2.0

package commits_test

import (
	"context"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/transition"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
)

// permitted has no permission to overwrite what others wrote.
var permitted = commits.Options{Confirmed: true, AllowInterrupt: true}

// killing kills the commits of one subnet, from some tables to others and back.
type killing struct {
	*subnet
	prepare   func(*session.Session) // stages the other tables
	old, next string                 // what the switches hold with either
}

// inSteps finds tables whose change needs steps of a method, and writes the old ones.
func inSteps(t *testing.T, spec string, method transition.Method) *killing {
	t.Helper()
	k := &killing{subnet: newSubnet(t, spec)}
	f := k.Console().State().Live.Fabric
	k.Leave()
	for a := range f.Switches {
		for b := range f.Switches {
			old, next := routes(t, f, a), routes(t, f, b)
			p, err := transition.Make(t.Context(), old, next, transition.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if p.Method != method {
				continue
			}
			if _, err := k.commitTo(old, yes); err != nil {
				t.Fatal(err)
			}
			// The commit lowers a LinearFDBTop, and a rollback raises it.
			above := old.Top[2] + 9
			writeDirectly(k.subnet, 2, uint32(above/64), func(t *mad.LinearForwardingTable) { t[above%64] = 3 })
			writeDirectly(k.subnet, 2, 0, func(info *mad.SwitchInfo) { info.LinearFDBTop += 20 })
			k.prepare = func(s *session.Session) { k.Stage(s, next) }
			return k
		}
	}
	t.Fatalf("no change needs the method %v", method)
	return nil
}

// allTables changes lanes and trees of multicast groups as well.
func allTables(t *testing.T) *killing {
	k := &killing{subnet: newSubnet(t, "mesh:3x3 hosts=1")}
	k.group()
	k.prepare = func(s *session.Session) { k.Read(s); k.Route(s, "torus-2QoS") }
	return k
}

// begin notes the contents of the switches with the other tables and with the present ones.
func (k *killing) begin() {
	k.T.Helper()
	k.old = k.Held()
	s := k.Console()
	k.prepare(s)
	if _, err := commits.Commit(k.T.Context(), s, yes); err != nil {
		k.T.Fatal(err)
	}
	k.next = k.Held()
	k.Leave()
	k.finish("rollback", true, k.old)
	client := mad.Fast()
	client.Window, client.MinWindow = 1, 1 // so that the number of a Set decides what was written
	k.Client = &client
}

// kill commits, or rolls back, and is killed at a Set. It reports whether the next console finds it interrupted.
func (k *killing) kill(at int, back bool) bool {
	k.T.Helper()
	s := k.Console()
	if !back {
		k.prepare(s)
	}
	_ = k.cut(at, errKilled, func(ctx context.Context) (err error) {
		if back {
			_, _, err = commits.Rollback(ctx, s, 0, permitted)
		} else {
			_, err = commits.Commit(ctx, s, permitted)
		}
		return err
	})
	k.Leave()
	s = k.Console()
	defer k.Leave()
	return s.State().Interrupted != ""
}

// finish resumes or rolls back in a new console, and checks that the switches then hold exactly the expected tables.
func (k *killing) finish(what string, back bool, want string) {
	k.T.Helper()
	s := k.Console()
	defer k.Leave()
	var err error
	if back {
		_, _, err = commits.Rollback(k.T.Context(), s, 0, permitted)
	} else {
		_, err = commits.Resume(k.T.Context(), s, permitted)
	}
	if err != nil {
		k.T.Fatalf("%s: %v", what, err)
	}
	if k.Held() != want {
		k.T.Fatalf("%s: other tables", what)
	}
}

// interfere changes an entry of a half written commit from outside. The commit and its rollback find that.
func (k *killing) interfere() {
	k.T.Helper()
	live := k.LFT()
	lid, was := uint16(0), uint8(0)
	for l := range live.Top[0] + 1 {
		if port := live.Port(0, l); l > 0 && port != 0 && port != fabric.NoPath && live.Port(1, l) != 0 {
			lid, was = l, port // any entry to a host or another switch, which never is port 0
		}
	}
	set := func(port uint8) {
		writeDirectly(k.subnet, 0, uint32(lid/fabric.BlockSize), func(t *mad.LinearForwardingTable) {
			t[lid%fabric.BlockSize] = port
		})
	}
	set(0)
	defer set(was)
	s := k.Console()
	defer k.Leave()
	_, err := commits.Resume(k.T.Context(), s, permitted)
	_, _, back := commits.Rollback(k.T.Context(), s, 0, permitted)
	if !commits.Needs(err, commits.Overwrite) || !commits.Needs(back, commits.Overwrite) {
		k.T.Errorf("with an entry of others: resume: %v; rollback: %v", err, back)
	}
}

// TestKilledAtEverySet kills commits in steps, with a spanning tree in between or with a drain, and their rollbacks, at
// each Set. Then they can be resumed and rolled back without the permission to overwrite what others wrote.
func TestKilledAtEverySet(t *testing.T) {
	for i, k := range []*killing{inSteps(t, "torus:4x4", transition.Tree), allTables(t),
		inSteps(t, "dragonfly:3,2,2", transition.Drain)} {
		k.begin()
		killed, stride := 0, 1
		if !testenv.Full() {
			stride = []int{9, 60, 40}[i]
		}
		for at := 1; k.kill(at, false); at += stride {
			if killed++; killed == 2 {
				k.interfere()
			}
			if killed%2 == 0 {
				k.finish("rollback", true, k.old)
				continue
			}
			k.finish("resume", false, k.next)
			if k.kill(at, true) {
				k.finish("rollback of a killed rollback", true, k.old)
			} else if k.Held() != k.old {
				t.Fatal("rolled back: other tables")
			}
		}
		t.Logf("killed at %d Sets", killed)
		if killed < 3 {
			t.Error("too few to count")
		}
	}
}
