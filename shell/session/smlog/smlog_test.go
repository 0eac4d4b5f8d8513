// SPDX-License-Identifier: Apache-2.0

package smlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/smlog"
	"example.org/ibconsole/shell/session/survey"
)

// log is a log that a test writes.
type log struct {
	t    *testing.T
	path string
	n    int
}

func (l *log) write(level int, format string, args ...any) {
	l.t.Helper()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		l.t.Fatal(err)
	}
	l.n++
	now := time.Now()
	_, err = fmt.Fprintf(f, "%s %06d [AB12] 0x%02x -> %s\n", now.Format("Jan _2 15:04:05"), now.Nanosecond()/1000,
		level, fmt.Sprintf(format, args...))
	if err := f.Close(); err != nil {
		l.t.Fatal(err)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	time.Sleep(time.Millisecond) // so that no two lines have one time
}

const sweepBox = "state_mgr_sweep_hop_0: " +
	"\n\n\n******************************************************************\n********************* INITIATING " +
	"HEAVY SWEEP *********************\n******************************************************************\n"

func follow(t *testing.T, s *session.Session, l *log) *smlog.Follower {
	t.Helper()
	f, err := smlog.Follow(t.Context(), s, l.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// texts returns the events of one kind.
func texts(s *session.Session, what string) (all []string) {
	st := s.State()
	for _, e := range st.Events {
		if e.What == what {
			all = append(all, e.Text)
		}
	}
	return all
}

// until waits until the condition holds.
func until(t *testing.T, s *session.Session, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within the time limit; events: %q %q", what, texts(s, history.WhatSM),
				texts(s, history.WhatSMLog))
		}
	}
}

func has(s *session.Session, what, part string) func() bool {
	return func() bool {
		return slices.ContainsFunc(texts(s, what), func(x string) bool { return strings.Contains(x, part) })
	}
}

// TestRotation follows a log that is renamed, created again, truncated and replaced by a copy, and gone for a while. No
// line is lost, and none is read twice.
func TestRotation(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	l := &log{t: t, path: filepath.Join(t.TempDir(), "opensm.log")}
	l.write(1, "f: ERR 0000: before")
	follow(t, s, l)
	want := []string{}
	add := func(n int) {
		code := fmt.Sprintf("%04d", n)
		l.write(1, "f: ERR %s: x", code)
		want = append(want, "f ERR "+code+": ERR "+code+": x")
		until(t, s, code, has(s, history.WhatSM, "ERR "+code+": x"))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	add(1)
	l.write(1, "f: ERR 0002: x") // read from the renamed file
	want = append(want, "f ERR 0002: ERR 0002: x")
	must(os.Rename(l.path, l.path+".1"))
	add(3)
	must(os.Truncate(l.path, 0))
	add(4)
	must(os.Remove(l.path))
	until(t, s, "a removed log", has(s, history.WhatSMLog, "is not read"))
	add(5)
	must(os.WriteFile(l.path, []byte(strings.Repeat("another text\n", 1000)), 0o600))
	add(6)
	if got := texts(s, history.WhatSM); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestProblems: loops of sweeps, storms of traps and a second master are problems, and fewer events are none. They
// name their causes if these are logged.
func TestProblems(t *testing.T) {
	kinds := func(s *session.Session) map[problems.Kind]string {
		r, err := survey.Problems(t.Context(), s, survey.Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		all := map[problems.Kind]string{}
		for _, p := range r.Problems {
			all[p.Kind] += p.What + "\n"
		}
		for _, u := range r.Unchecked {
			all["unchecked"] += u.What + ": " + u.Why + "\n"
		}
		return all
	}
	for _, verbose := range []bool{false, true} {
		s := sessiontest.Open(t, "sim:fattree:2,4")
		l := &log{t: t, path: filepath.Join(t.TempDir(), "opensm.log")}
		follow(t, s, l)
		mask := 0x03
		if verbose {
			mask = 0x07
		}
		l.write(mask, "OpenSM 3.3.23")
		l.write(0x80, "Entering MASTER state")
		sweep := func() {
			if verbose {
				l.write(4, "trap_rcv_process_request: Forcing heavy sweep. Received trap:128")
				l.write(4, "%s", sweepBox)
			}
			l.write(2, "SUBNET UP")
		}
		trap := func(lid int) {
			l.write(1, "log_trap_info: Received Generic Notice type:1 num:128 (Link state change) Producer:2 (Switch) "+
				"from LID:%d TID:0x0000000000000001", lid)
		}
		for range 9 {
			sweep()
			trap(5)
		}
		l.write(0x80, "SM port is up")
		until(t, s, "the log", has(s, history.WhatSM, "SM port is up"))
		got := kinds(s)
		if got[problems.SweepLoop] != "" || got[problems.TrapStorm] != "" || got[problems.TwoMasters] != "" {
			t.Errorf("verbose %t: nine of each are %v", verbose, got)
		}
		if missing := strings.Contains(got["unchecked"], smlog.NotLogged); missing == verbose {
			t.Errorf("verbose %t: unchecked %q", verbose, got["unchecked"])
		}
		sweep()
		trap(6) // of another sender
		l.write(0x80, "SM port is down")
		until(t, s, "the log", has(s, history.WhatSM, "SM port is down"))
		got = kinds(s)
		cause := "after trap 128 from "
		if verbose {
			cause = "Received trap:128"
		}
		if x := got[problems.SweepLoop]; !strings.Contains(x, "10 times") || !strings.Contains(x, cause) {
			t.Errorf("verbose %t: loop %q", verbose, x)
		}
		if x := got[problems.TrapStorm]; x != "" {
			t.Errorf("verbose %t: storm %q", verbose, x)
		}
		trap(5)
		l.write(0x80, "Exiting SM")
		until(t, s, "the log", has(s, history.WhatSM, "OpenSM ended"))
		if x := kinds(s)[problems.TrapStorm]; !strings.Contains(x, "trap 128 at least 10 times") {
			t.Errorf("verbose %t: storm %q", verbose, x)
		}
		if n := len(texts(s, history.WhatSM)); n > 12 {
			t.Errorf("verbose %t: %d events: %q", verbose, n, texts(s, history.WhatSM))
		}
	}
}

// TestSecondMaster: another subnet manager that a master names for a minute is a second master. Before that it may be a
// handover.
func TestSecondMaster(t *testing.T) {
	now := time.Now()
	s := sessiontest.Open(t, "sim:fattree:2,4")
	f := s.State().Live.Fabric
	for _, k := range []struct {
		log  problems.SMLog
		want int
	}{
		{problems.SMLog{}, 0},
		{problems.SMLog{Other: "another", OtherAt: now.Add(-time.Minute)}, 1},
		{problems.SMLog{Other: "another", OtherAt: now.Add(-time.Hour)}, 0},
	} {
		r := &problems.Report{}
		r.Manager(f, &k.log, now)
		if len(r.Problems) != k.want || k.want > 0 && r.Problems[0].Kind != problems.TwoMasters {
			t.Errorf("%+v: %+v", k.log, r.Problems)
		}
	}
}
