// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// weekly is a subnet of 2,500 switches with 90,000 ports.
const weekly = "sim:random:2500,24,30000"

// BenchmarkWeek measures queries about a week of history, each in a console of its own. The time to open the history is
// reported separately and included in all others. Counters are added to the records as by a recorder, minute by minute.
// A link fails every two hours, returns an hour later, and routes change each time. With IBCONSOLE_WEEK=DIR the week is
// stored there, or read from there.
func BenchmarkWeek(b *testing.B) {
	if !testenv.Full() {
		b.Skip("feeding a week takes half an hour; IBCONSOLE_FULL=1 does")
	}
	dir := os.Getenv("IBCONSOLE_WEEK")
	if dir == "" {
		dir = b.TempDir()
	}
	b.Setenv("XDG_STATE_HOME", dir)
	end := lived(b, filepath.Join(dir, "ibconsole"))
	ago := func(d time.Duration) string { return end.Add(-d).Format(time.RFC3339) }
	questions := [][2]string{
		{"open", "show sms"},
		{"worst-day", "counters worst since=" + ago(24*time.Hour) + " until=" + ago(0)},
		{"worst-week", "counters worst since=" + ago(7*24*time.Hour) + " until=" + ago(0)},
		{"history", "counters history sw-0001/1 since=" + ago(24*time.Hour) + " until=" + ago(0)},
		{"changes", "changes since=" + ago(7*24*time.Hour) + " until=" + ago(0)},
		{"diff", "diff " + ago(80*time.Hour) + " " + ago(77*time.Hour)},
		{"trace", "trace sw-0001 sw-2500 of=" + ago(80*time.Hour)},
		{"morning", "report morning since=" + ago(12*time.Hour) + " until=" + ago(0)},
		{"morning-week", "report morning since=" + ago(7*24*time.Hour) + " until=" + ago(0)},
	}
	for b.Loop() {
		most := int64(0)
		for _, q := range questions {
			cmd := exec.Command(program, "-s", weekly, "-c", q[1])
			cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
			began := time.Now()
			if err := cmd.Run(); err != nil {
				b.Errorf("%s: %v", q[1], err)
			}
			b.ReportMetric(time.Since(began).Seconds(), "s/"+q[0])
			most = max(most, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		}
		b.ReportMetric(float64(most)/1e3, "MB/most")
	}
}

// lived returns the end of the week in a folder: a stored week or a new one.
func lived(b *testing.B, dir string) time.Time {
	b.Helper()
	note := filepath.Join(dir, "ended")
	if text, err := os.ReadFile(note); err == nil {
		unix, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return time.Unix(unix, 0)
	}
	end := time.Now().Truncate(time.Hour)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	src, err := source.Parse(weekly)
	if err != nil {
		b.Fatal(err)
	}
	s, err := session.Open(b.Context(), src, session.Options{Fast: true})
	if err == nil {
		err = s.Start(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	changed(b, s, filepath.Join(dir, history.FileName), end)
	counted(b, s, filepath.Join(dir, records.FileName), end)
	if err := os.WriteFile(note, fmt.Append(nil, end.Unix()), 0o600); err != nil {
		b.Fatal(err)
	}
	return end
}

const week = 7 * 24 * time.Hour

// changed adds the sweeps of a week to a history.
func changed(b *testing.B, s *session.Session, file string, end time.Time) {
	b.Helper()
	store, err := history.OpenFile(b.Context(), file)
	if err != nil {
		b.Fatal(err)
	}
	whole := s.State().Live
	entry := history.Entry{Kind: history.Sweep, Subnet: s.Subnet(), Who: "root", Source: weekly}
	add := func(from time.Time, events []history.Event, f *fabric.Fabric, t *fabric.Tables) {
		entry.Began, entry.Until, entry.Events = from, from.Add(time.Hour), events
		if _, err := store.Add(b.Context(), entry, f, t); err != nil {
			b.Fatal(err)
		}
	}
	hours := int(week / time.Hour)
	for hour := range hours {
		from := end.Add(time.Duration(hour-hours) * time.Hour)
		if hour%2 == 0 {
			add(from, []history.Event{{When: from, What: "tables", Text: "forwarding tables changed"}}, whole.Fabric,
				whole.Tables)
			continue
		}
		failed, err := s.Fail(b.Context(), failures.Named("random", []string{"1"}, uint64(hour)))
		if err == nil {
			_, err = s.Route(b.Context(), compute.KeepNo)
		}
		if err != nil {
			b.Fatal(err)
		}
		p := s.State().Staged
		port := &whole.Fabric.Ports[failed[0].Links[0].A]
		add(from, []history.Event{
			{When: from, What: "link", Text: "link " + whole.Fabric.PortName(failed[0].Links[0].A) + " is gone",
				GUID: whole.Fabric.Nodes[port.Node].GUID, Port: int(port.Num)},
			{When: from.Add(time.Second), What: "tables", Text: "forwarding tables changed"},
		}, p.Fabric, p.Tables)
		if _, err := s.Restore(b.Context(), nil, failures.Failure{}); err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

// counted adds a week of counters to records.
func counted(b *testing.B, s *session.Session, file string, end time.Time) {
	b.Helper()
	store, err := records.Open(b.Context(), file)
	if err != nil {
		b.Fatal(err)
	}
	f := s.State().Live.Fabric
	var samples []records.Sample
	for i := range f.NumPorts() {
		if f.Nodes[f.Ports[i].Node].IsSwitch() && f.Ports[i].Peer != fabric.None {
			samples = append(samples, records.Sample{Key: counters.KeyOf(f, i), Name: f.PortName(i)})
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for minute := range int(week / time.Minute) {
		now := end.Add(time.Duration(minute+1)*time.Minute - week)
		err := keepRound(b, store, s.Subnet(), counters.Errors, time.Minute, now, samples, rnd)
		if minute%10 == 9 {
			err = errors.Join(err, keepRound(b, store, s.Subnet(), records.Traffic, 10*time.Minute, now, samples, rnd))
		}
		if err := errors.Join(err, store.RollUp(b.Context(), now), store.Trim(b.Context(), now)); err != nil {
			b.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

// keepRound records a round in which one port in fifty has new errors, and one in five new XmitWait.
func keepRound(b *testing.B, store *records.Store, subnet string, what counters.Set, every time.Duration, now time.Time,
	samples []records.Sample, rnd *rand.Rand) error {
	b.Helper()
	for i := range samples {
		x := &samples[i]
		x.Until, x.Seconds, x.Has = now, every.Seconds(), what
		clear(x.Increase[:])
		switch {
		case what == records.Traffic:
			for c := range counters.Of(counters.XmitData, counters.RcvData, counters.XmitPackets,
				counters.RcvPackets).All() {
				x.Increase[c] = rnd.Uint64() >> (20 + rnd.IntN(10))
			}
		default:
			if rnd.IntN(50) == 0 {
				x.Increase[counters.SymbolErrors] = rnd.Uint64N(100)
			}
			if uint32(i)*2654435761>>8%5 == 0 {
				x.Increase[counters.XmitWait] = rnd.Uint64() >> (24 + rnd.IntN(10))
			}
		}
	}
	return store.Keep(b.Context(), records.Round{Subnet: subnet, What: what, Every: every, Samples: samples})
}
