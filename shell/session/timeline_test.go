// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/session/recorder"
)

// recording is a console that puts its sweeps into the history.
func (n *subnet) recording() *Session {
	n.t.Helper()
	s := n.console()
	s.recorder.Store(recorder.New(recorder.Options{File: stateFile(n.dir), All: true, Failed: func(err error) {
		n.t.Error(err)
	}, Exposed: func(error) {}}))
	n.sweep(s)
	return s
}

func (n *subnet) sweep(s *Session) {
	n.t.Helper()
	if _, err := s.Sweep(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// moments are those of a timeline in words, and whether they have pictures.
func (n *subnet) moments(s *Session) (words []string) {
	n.t.Helper()
	line, err := s.Timeline(n.t.Context(), time.Time{}, time.Now())
	if err != nil || line.Why != nil {
		n.t.Fatal(err, line.Why)
	}
	for _, m := range line.Moments {
		words = append(words, fmt.Sprintf("%s: %s | %s | %v", m.What, m.Text, m.Who, m.Pictures()))
	}
	return words
}

// TestTimeline: another console's commit, a cable that is pulled while somebody watches and plugged in again
// while nobody does are on the timeline, with what was before and after and who it was, also of a console that is
// started later.
func TestTimeline(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	a := n.recording()
	leave := n.leave
	c := n.recording()
	leaveC := n.leave
	b := n.console()
	n.route(b, ways[3]...)
	if _, err := b.Commit(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	entries := moved(a.State().Live.Tables, b.State().Live.Tables).Changed
	n.sweep(a)

	f, err := gen.ParseSpec("fattree:2,8") // as the simulation has it
	if err != nil {
		t.Fatal(err)
	}
	cable := slices.IndexFunc(f.Links(), func(l fabric.Link) bool {
		return f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None
	})
	l := f.Links()[cable]
	if err := n.sim.Unlink(l.A); err != nil {
		t.Fatal(err)
	}
	n.sweep(a)
	n.sweep(a)
	n.sweep(c) // which finds the same
	down := n.moments(c)
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
	if err := n.sim.Relink(l.A); err != nil {
		t.Fatal(err)
	}
	want = append(want, "changed since |, when nobody watched: links")
	check(n.moments(n.recording()))
}

// TestTimelineBetween: the sum is between what was seen last by either time.
func TestTimelineBetween(t *testing.T) {
	n := newSubnet(t, "fattree:2,8", false)
	s := n.recording()
	first := time.Now()
	n.route(s, ways[3]...)
	if _, err := s.Commit(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	n.sweep(s)
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
