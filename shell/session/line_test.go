// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/sessiontest"
)

// restart starts an ibsim in place of one that was killed, on another file.
func restart(t *testing.T, s *ibsimtest.Sim, file string) *ibsimtest.Sim {
	t.Helper()
	s.Stop()
	return ibsimtest.Start(t, file, ibsimtest.Named(s.Name))
}

func title(s *session.Session) string {
	st := s.State()
	return st.Title(st.Live)
}

// smaller is twoSwitches without its last host.
var smaller = strings.ReplaceAll(strings.ReplaceAll(twoSwitches, "[4] \"H5\"[1]\n", ""),
	"Hca	1 \"H5\"		# \"twin\"\n[1] \"S2\"[4]\n", "")

func TestSweepReconnects(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	nodes := len(s.State().Live.Fabric.Nodes)
	if err := s.SetWrite(true); err != nil {
		t.Fatal(err)
	}

	sim.Stop()
	if _, err := s.Sweep(t.Context()); !errors.Is(err, mad.ErrBroken) ||
		!strings.Contains(err.Error(), "no ibsim listens on this") {
		t.Errorf("with nobody there: %v", err)
	}
	st := s.State()
	if st.Lost == "" || st.WriteOn || !strings.HasPrefix(title(s), "live (OLD: the connection was lost") ||
		len(st.Live.Fabric.Nodes) != nodes {
		t.Errorf("lost %q, write %t, %s", st.Lost, st.WriteOn, title(s))
	}
	var lost *connection.LostError
	if _, _, err := s.Counters(t.Context()); !errors.As(err, &lost) {
		t.Errorf("counters: %v", err)
	}

	sim = restart(t, sim, sessiontest.NetFile(t, twoSwitches))
	rep, err := s.Sweep(t.Context())
	if err != nil || rep.Changed || s.State().Lost != "" || title(s) != "live" {
		t.Errorf("back: %+v, %v, %s", rep, err, title(s))
	}

	restart(t, sim, sessiontest.NetFile(t, smaller)) // unnoticed
	for _, read := range []func() (session.SweepReport, error){
		func() (session.SweepReport, error) { return s.SweepLight(t.Context()) },
		func() (session.SweepReport, error) { return s.Sweep(t.Context()) },
	} {
		rep, err = read()
		if err != nil || rep.Nodes != nodes-1 || title(s) != "live" {
			t.Errorf("another subnet: %+v, %v, %s", rep, err, title(s))
		}
	}
	var events []string
	for _, e := range s.State().Events {
		events = append(events, e.Text)
	}
	all := strings.Join(events, "\n")
	if strings.Count(all, "the connection is lost: ibsim") != 2 || strings.Count(all, "the connection is back") != 2 ||
		!strings.Contains(all, "twin") {
		t.Errorf("events:\n%s", all)
	}
	if got := s.Connection().Client().Stats(); got.Received == 0 {
		t.Errorf("%+v", got)
	}
}

// A watch opens the source again by itself, and a capture goes on.
func TestWatchReconnects(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, twoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	before := s.State().Live.Fabric
	file := filepath.Join(t.TempDir(), "capture")
	if err := s.Connection().Capture(file, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	start := s.Connection().Client().Stats().Sent
	if err := s.KeepCurrent(20 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	await := func(what string, is func(*session.State) bool) {
		t.Helper()
		for range 12000 {
			if st := s.State(); is(&st) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal(what, s.State().Events)
	}
	sim.Stop()
	await("not lost", func(st *session.State) bool { return st.Lost != "" })
	sent := s.Connection().Client().Stats().Sent - start
	restart(t, sim, sessiontest.NetFile(t, smaller))
	await("not back", func(st *session.State) bool { return st.Lost == "" && !fabric.Same(before, st.Live.Fabric) })
	if s.Connection().Capturing() != file {
		t.Errorf("capturing to %q", s.Connection().Capturing())
	}
	s.StopKeeping()
	_, stats, err := s.Connection().StopCapture()
	if err != nil || stats.Sent <= sent {
		t.Errorf("%+v, %v; %d before", stats, err, sent)
	}
}
