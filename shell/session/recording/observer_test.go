// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/simtest"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// watched is a simulated subnet with an observer. Its rounds are a minute apart, by a clock of its own.
type watched struct {
	t      *testing.T
	sim    *simtest.Subnet
	f      *fabric.Fabric
	s      *session.Session
	store  *records.Store
	o      *observer
	ledger counters.Ledger
	now    time.Time
	events uint64
}

func watch(t *testing.T, dir string) *watched {
	t.Helper()
	subnet := simtest.New(t, "fattree:2,6", nil)
	conn := subnet.Open(t)
	s, err := session.Open(t.Context(), source.Source{Kind: source.Ibsim},
		session.Options{StateDir: dir, Dial: func(context.Context) (mad.Transport, error) { return conn, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &watched{t: t, sim: subnet, f: s.State().Live.Fabric, s: s, store: store, now: time.Now()}
	w.restart()
	return w
}

// restart continues with another observer, as a recorder that was stopped and started again.
func (w *watched) restart() {
	w.o = &observer{session: w.s, links: linkObserver{session: w.s, after: w.now, before: w.s.State().Live},
		every: time.Minute, read: w.now}
	w.ledger = counters.Ledger{}
}

// round reads a round a minute later and returns the texts of the alerts that started and ended. With a failure,
// nothing is read.
func (w *watched) round(failure error) (news []string) {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	out := &Outcome{ReadFailed: failure}
	if failure == nil {
		reading, err := readRound(w.t.Context(), w.s, counters.Options{What: counters.Errors}, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		for i := range reading.Ports {
			reading.Ports[i].At = w.now
		}
		out.Reading, out.Grown = reading, w.ledger.Take(reading)
		if samples := records.Samples(reading, out.Grown); len(samples) > 0 {
			out.KeepFailed = w.store.Keep(w.t.Context(), records.Round{Subnet: w.s.Subnet(), What: counters.Errors,
				Every: time.Minute, Samples: samples})
		}
	}
	if err := w.o.observe(w.t.Context(), w.store, w.now, out); err != nil && out.KeepFailed == nil {
		w.t.Fatal(err)
	}
	st := w.s.State()
	for _, e := range st.EventsSince(w.events) {
		if e.What == history.WhatAlert {
			news = append(news, e.Text)
		}
	}
	w.events = st.EventCount()
	return news
}

// rounds reads rounds until something starts or ends, at most most.
func (w *watched) rounds(most int) (n int, news []string) {
	w.t.Helper()
	for n = 1; n <= most; n++ {
		if news = w.round(nil); len(news) > 0 {
			return n, news
		}
	}
	return most, nil
}

func (w *watched) expect(news []string, want ...string) {
	w.t.Helper()
	ok := len(news) == len(want)
	for i := range min(len(news), len(want)) {
		ok = ok && strings.Contains(news[i], want[i])
	}
	if !ok {
		w.t.Errorf("%q, want %q", news, want)
	}
}

// count raises a counter of a port.
func (w *watched) count(p fabric.PortIndex, raise func(*mad.PortCountersExtended)) {
	p = counters.KeyOf(w.f, p).In(w.sim.Fabric)
	c := w.sim.Sim.Counters(p)
	raise(&c)
	w.sim.Sim.SetCounters(p, c)
}

// TestAlertOverTime raises a counter of both ends of a link above its limit. One alert starts, with the pairs and jobs
// that use the link. It does not start again while the counter stays high, goes up and down between both limits, and
// after a restart of the recorder. It ends once, and the record has its beginning and end.
func TestAlertOverTime(t *testing.T) {
	dir := t.TempDir()
	sacct := "#!/bin/sh\necho '7|node-[0001-0018]|2020-01-01T00:00:00|Unknown|RUNNING|ada|a'\n" +
		"echo '8|node-[0001-0002]|2020-01-01T00:00:00|Unknown|RUNNING|ada|b'\n"
	if err := os.WriteFile(filepath.Join(dir, "sacct"), []byte(sacct), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	w := watch(t, t.TempDir())
	leaf := w.f.NodesByDescription("leaf-01")[0]
	port := w.f.PortAt(leaf, 4)
	both := func(n uint64) {
		for _, p := range []fabric.PortIndex{port, w.f.Ports[port].Peer} {
			w.count(p, func(c *mad.PortCountersExtended) { c.RcvErrors += n })
		}
	}
	w.expect(w.round(nil))
	both(10 * 60) // the limit is more than 10 per second
	w.expect(w.round(nil))
	began := w.now.Add(time.Minute)
	both(10*60 + 6)
	news := w.round(nil)
	w.expect(news, "alert started: leaf-01/4 to spine-0")
	if len(news) == 1 && (!strings.Contains(news[0], "PortRcvErrors +10.1 in 1s, limit 10") ||
		!strings.Contains(news[0], " pairs, jobs 7")) {
		t.Error(news)
	}
	for range 3 {
		both(20 * 60)
		w.expect(w.round(nil))
		both(6 * 60) // above the limit at which it ends
		w.expect(w.round(nil))
	}
	w.restart()
	both(20 * 60)
	w.expect(w.round(nil))
	w.expect(w.round(errors.New("no line")))
	both(20 * 60)
	w.expect(w.round(nil))
	n, news := w.rounds(10)
	if w.expect(news, "alert ended: leaf-01/4"); n != int(limits.Hold/time.Minute) {
		t.Errorf("it ended %d minutes after the last increase", n)
	}
	ended := w.now
	if n, news := w.rounds(10); len(news) > 0 {
		t.Errorf("%d minutes later: %q", n, news)
	}
	all, _, err := w.store.Problems(t.Context(), w.s.Subnet(), began.Add(-time.Hour), w.now)
	if err != nil {
		t.Fatal(err)
	}
	rising := slices.DeleteFunc(slices.Clone(all), func(e records.Episode) bool { return e.Kind != problems.Rising })
	all = slices.DeleteFunc(all, func(e records.Episode) bool { return !e.Kind.IsAlert() })
	for _, e := range rising {
		if len(all) > 0 && e.At == all[0].At && e.Since.Before(ended.Add(-time.Second)) && e.Seen.After(began) {
			t.Errorf("the cause of the alert is a second problem: %+v", e)
		}
	}
	if len(all) != 1 || all[0].Since.Sub(began).Abs() > time.Second || all[0].Closed.Sub(ended).Abs() > time.Second ||
		all[0].At.Port != 4 {
		t.Errorf("from %v to %v: %+v", began, ended, all)
	}
}

// TestBlindRecorder takes from a recorder, one after the other, its sweeps, its counters and the space of its disk.
// Each starts one alert, which ends after the recorder has them again.
func TestBlindRecorder(t *testing.T) {
	dir := t.TempDir()
	mounted := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=32m") == nil
	if mounted {
		t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	}
	w := watch(t, dir)
	sweep := func() {
		w.s.Publish(session.ChangeLive, func(st *session.State) {
			live := *st.Live
			live.When, st.Every = w.now, 2*time.Minute
			st.Live = &live
		})
	}
	open := func() (kinds []problems.Kind) {
		all, _, err := w.store.Problems(t.Context(), w.s.Subnet(), w.now, w.now)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Kind.IsAlert() && e.Closed.IsZero() {
				kinds = append(kinds, e.Kind)
			}
		}
		return kinds
	}
	sweep()
	n, news := w.rounds(20)
	if w.expect(news, "alert started: the recorder has not swept the subnet since"); n != 7 {
		t.Errorf("without sweeps it started after %d minutes, want 7", n)
	}
	if got := open(); !slices.Equal(got, []problems.Kind{NoSweep}) {
		t.Errorf("the record has %v", got)
	}
	sweep()
	w.expect(w.round(nil), "alert ended: the recorder has not swept")

	var started []string
	for range 5 {
		sweep()
		started = append(started, w.round(errors.New("umad: no such device"))...)
	}
	w.expect(started, "alert started: the recorder has read no counters since")
	if !strings.Contains(strings.Join(started, ""), "umad: no such device") {
		t.Errorf("no cause: %q", started)
	}
	sweep()
	w.expect(w.round(nil), "alert ended: the recorder has read no counters")

	if !mounted {
		t.Skip("cannot mount a file system to fill")
	}
	filler := filepath.Join(dir, "filler")
	for size := 1 << 20; size >= 1; size /= 2 { // every last byte
		for {
			file, err := os.OpenFile(filler, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.Write(make([]byte, size))
			_ = file.Close()
			if err != nil {
				break
			}
		}
	}
	started = nil
	for n := 0; n < 500 && len(started) == 0; n++ { // the file may have unused pages
		sweep()
		w.count(w.f.EndPorts[n%len(w.f.EndPorts)], func(c *mad.PortCountersExtended) { c.XmitWait += 1 << 20 })
		started = w.round(nil)
	}
	for range 3 {
		sweep()
		started = append(started, w.round(nil)...)
	}
	w.expect(started, "alert started: the recorder cannot store what it reads")
	if !strings.Contains(strings.Join(started, ""), "full") {
		t.Errorf("no cause: %q", started)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	var ended []string
	for range 3 { // the round before failed to store
		sweep()
		ended = append(ended, w.round(nil)...)
	}
	w.expect(ended, "alert ended: the recorder cannot store")
	if got := open(); len(got) > 0 {
		t.Errorf("the record has %v", got)
	}
}
