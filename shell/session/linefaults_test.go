// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestSweepOverHangingIbsim: an ibsim that is stopped for longer than all tries last, and
// of which others have taken all places but the session's.
func TestSweepOverHangingIbsim(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	for range 9 {
		other, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
	}
	sim.Pause()
	var lost *connection.LostError
	if _, err := s.Sweep(t.Context()); err == nil || errors.Is(err, mad.ErrClosed) {
		t.Errorf("while it hangs: %v", err)
	}
	if _, _, err := s.Counters(t.Context()); !errors.As(err, &lost) ||
		!strings.HasPrefix(title(s), "live (OLD: the connection was lost") {
		t.Errorf("after that: %v, %s", err, title(s))
	}
	sim.Resume()
	rep, err := s.Sweep(t.Context())
	if err != nil || rep.Changed || s.State().Lost != "" || title(s) != "live" {
		t.Errorf("when it goes on: %+v, %v, %s", rep, err, title(s))
	}
}

// TestNoPlaceToComeBack: all places of the ibsim that has come back are taken by others.
func TestNoPlaceToComeBack(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	nodes := len(s.State().Live.Fabric.Nodes)
	sim = restart(t, sim, sessiontest.NetFile(t, smaller))
	var others []*ibsim.Transport
	for range 10 {
		o, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		others = append(others, o)
	}
	for _, read := range []func() (session.SweepReport, error){
		func() (session.SweepReport, error) { return s.SweepLight(t.Context()) },
		func() (session.SweepReport, error) { return s.Sweep(t.Context()) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), "ten clients already") {
			t.Errorf("without a place: %v", err)
		}
		if st := s.State(); st.Lost == "" || len(st.Live.Fabric.Nodes) != nodes {
			t.Errorf("lost %q, %d nodes", st.Lost, len(st.Live.Fabric.Nodes))
		}
	}
	if err := others[3].Close(); err != nil {
		t.Error(err)
	}
	if rep, err := s.SweepLight(t.Context()); err != nil || rep.Nodes != nodes-1 || title(s) != "live" {
		t.Errorf("with one place: %+v, %v, %s", rep, err, title(s))
	}
}

// TestAnotherSubnetOverUDP: an ibsim at the same port with another file, which answers at
// the same addresses.
func TestAnotherSubnetOverUDP(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches), ibsimtest.Remote())
	s := sessiontest.Open(t, fmt.Sprintf("ibsim:127.0.0.1:%d", sim.Port))
	nodes := len(s.State().Live.Fabric.Nodes)
	port := sim.Port
	sim.Stop()
	ibsimtest.Start(t, sessiontest.NetFile(t, smaller), func(s *ibsimtest.Sim) { s.Port = port })
	rep, err := s.SweepLight(t.Context())
	if err != nil {
		rep, err = s.SweepLight(t.Context())
	}
	if err != nil || rep.Nodes != nodes-1 || title(s) != "live" {
		t.Errorf("another subnet: %+v, %v, %s", rep, err, title(s))
	}
}

// TestReconnectsLeakNothing: an ibsim that comes and goes costs no descriptors and no
// goroutines, nor do tries to reach it while it is away.
func TestReconnectsLeakNothing(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	descriptors := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(all)
	}
	var files, routines int
	for round := range 12 {
		sim.Stop()
		for range 5 {
			if _, err := s.Sweep(t.Context()); err == nil {
				t.Fatal("nobody is there, and answers")
			}
		}
		if n := descriptors(); round == 2 {
			files, routines = n, runtime.NumGoroutine()
		} else if round > 2 && n > files {
			t.Errorf("round %d: %d descriptors, were %d", round, n, files)
		}
		sim = restart(t, sim, sessiontest.NetFile(t, twoSwitches))
		if _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sim.Stop()
	_, _ = s.Sweep(t.Context())
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > routines && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines, were %d", n, routines)
	}
}
