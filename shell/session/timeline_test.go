// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/history"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/sessiontest"
)

var yes = commits.Options{Confirmed: true, AllowInterrupt: true, AllowLoop: true}

// recording returns a console that records its sweeps in the history.
func recording(n *sessiontest.Subnet) *session.Session {
	n.T.Helper()
	n.Record = true
	defer func() { n.Record = false }()
	s := n.Console()
	n.Sweep(s)
	return s
}

// moments returns the moments of a timeline as text, with whether they have states before and after.
func moments(n *sessiontest.Subnet, s *session.Session) (words []string) {
	n.T.Helper()
	line, err := s.Timeline(n.T.Context(), time.Time{}, time.Now())
	if err != nil || line.Why != nil {
		n.T.Fatal(err, line.Why)
	}
	for _, m := range line.Moments {
		words = append(words, fmt.Sprintf("%s: %s | %s | %v", m.What, m.Text, m.Who, m.Comparable()))
	}
	return words
}

// TestTimeline: another console's commit, a cable that is pulled while somebody watches and plugged in again
// while nobody does are on the timeline, with what was before and after and who it was, also of a console that is
// started later.
func TestTimeline(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,8")
	a := recording(n)
	leave := n.Leave
	c := recording(n)
	leaveC := n.Leave
	b := n.Console()
	n.Route(b, sessiontest.Engines[3]...)
	if _, err := commits.Commit(t.Context(), b, yes); err != nil {
		t.Fatal(err)
	}
	entries := diff.Count(a.State().Live.Tables, b.State().Live.Tables).Changed
	n.Sweep(a)

	f, err := gen.ParseSpec("fattree:2,8") // as the simulation has it
	if err != nil {
		t.Fatal(err)
	}
	cable := slices.IndexFunc(f.Links(), func(l fabric.Link) bool {
		return f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None
	})
	l := f.Links()[cable]
	if err := n.Sim.Unlink(l.A); err != nil {
		t.Fatal(err)
	}
	n.Sweep(a)
	n.Sweep(a)
	n.Sweep(c) // which finds the same
	down := moments(n, c)
	want := []string{
		// one row: who saw it says the same
		fmt.Sprintf("commit: commit, done; forwarding tables: %d entries of | console of", entries),
		"link: " + f.PortName(l.A) + " to " + f.PortName(l.B) + ": link down | cable or port; no counters were read " +
			"before | true",
	}
	check := func(got []string) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%q, want %q", got, want)
		}
		for i, x := range want {
			for part := range strings.SplitSeq(x, "|") {
				if !strings.Contains(got[i], strings.TrimSpace(part)) {
					t.Errorf("%q, want %q", got[i], part)
				}
			}
			if !strings.HasSuffix(got[i], "true") {
				t.Errorf("%q has no pictures", got[i])
			}
		}
	}
	check(down)
	leave()
	leaveC()
	if err := n.Sim.Relink(l.A); err != nil {
		t.Fatal(err)
	}
	want = append(want, "changed since |, while not monitored: links")
	check(moments(n, recording(n)))
}

// TestTimelineBetween: the sum is between what was seen last by either time.
func TestTimelineBetween(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,8")
	s := recording(n)
	first := time.Now()
	n.Route(s, sessiontest.Engines[3]...)
	if _, err := commits.Commit(t.Context(), s, yes); err != nil {
		t.Fatal(err)
	}
	n.Sweep(s)
	for _, x := range []struct {
		since, until  time.Time
		commits       int
		before, after int64
	}{{time.Time{}, first, 0, 1, 1}, {first, time.Now(), 1, 1, 5}, {time.Now(), time.Now(), 0, 5, 5}} {
		line, err := s.Timeline(t.Context(), x.since, x.until)
		if err != nil || line.Before == nil || line.After == nil {
			t.Fatalf("%+v, %v", line, err)
		}
		commits := 0
		for _, m := range line.Moments {
			if m.What == history.WhatCommit {
				commits++
			}
		}
		if commits != x.commits || line.Before.Entry != x.before || line.After.Entry != x.after {
			t.Errorf("%d commits from %d to %d, want %+v", commits, line.Before.Entry, line.After.Entry, x)
		}
	}
}
