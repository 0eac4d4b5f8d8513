// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/alerts"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/metrics"
	"example.org/ibconsole/shell/session/smlog"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/survey"
)

// Settings controls the recording of a session.
type Settings struct {
	// Every is the interval between readings of error counters and XmitWait. Traffic is the interval at which data and
	// packets are read in addition.
	Every, Traffic time.Duration
	Sweep          time.Duration // interval of light sweeps, 0 for none; not used if the session already sweeps
	// Metrics is the address at which Prometheus scrapes, or "" for none. With an address, all counters are read at the
	// start and at least once per minute, and data counters also at each scrape. Details adds the details of receive
	// errors.
	Metrics string
	Access  metrics.Access
	Details bool
	// Ports is PortsYes or PortsNo to export the metrics of devices and ports or not, or "" to export them unless
	// another process of this machine records the same local port and exports them.
	Ports string
	// Servers are the metrics servers shared by several sessions, or nil for this session alone. Name is the label of
	// the subnet, or "" for the name of the subnet in the records.
	Servers *metrics.Servers
	Name    string
	// Hardware is an ibdiagnet folder with the hardware of switches for Prometheus, or "" for none.
	Hardware string
	// SMLog is the log of the subnet manager that is followed, or "" for none.
	SMLog string
	// Hosts returns sets of hosts to record in addition to those of the session, or is nil.
	Hosts func(context.Context) ([]records.HostSet, error)
}

// The longest and the shortest interval at which counters are read for Prometheus.
const (
	longestServed  = time.Minute
	shortestServed = 15 * time.Second
)

// The values of Ports in [Settings].
const (
	PortsYes = "yes"
	PortsNo  = "no"
)

// serve adds the session to the metrics server of its settings.
func serve(ctx context.Context, s *session.Session, opt *Settings, folder *hardware) (*metrics.Reader, error) {
	return cmp.Or(opt.Servers, &metrics.Servers{}).Serve(ctx, opt.Metrics, opt.Access, describe(s, folder),
		cmp.Or(opt.Name, s.Subnet()), ports(s, opt.Ports))
}

func ports(s *session.Session, word string) *metrics.Ports {
	p := &metrics.Ports{Never: word == PortsNo}
	if st := s.State(); word == "" && st.Source.Kind == source.Umad { // each process simulates subnets of its own
		p.Subnet = s.Subnet()
	}
	return p
}

// ErrNotRecording is returned if the session does not record.
var ErrNotRecording = errors.New("this session does not record")

// running is the recording of a session.
type running struct {
	*Recording
	metrics *metrics.Reader // nil for none
	log     *smlog.Follower // nil for none
	folder  *hardware       // nil for none
	sweeps  bool            // background sweeps began with the recording, and end with it
	session *session.Session
}

var slot = session.NewSlot[*running]()

// Close ends the recording.
func (r *running) Close() error {
	err := r.log.Close()
	if r.sweeps {
		r.session.StopKeeping()
		alerts.Stop(r.session)
	}
	err = errors.Join(err, r.metrics.Close(), r.Stop())
	r.folder.close()
	return err
}

// Begin starts recording the counters of the ports of a session. The recording ends with [End] or with the session. It
// returns an error if the session already records.
func Begin(ctx context.Context, s *session.Session, opt Settings) error {
	if !s.Connection().Online() {
		return connection.ErrOffline
	}
	file := s.Recorded().File()
	if file == "" {
		_, err := s.History()
		return err
	}
	if now, running := StatusOf(s); running {
		return fmt.Errorf("this session has been recording since %s; hint: run 'record stop' first, to record with "+
			"other options", when.Text(now.Began))
	}
	var m *metrics.Reader
	how := Options{
		File: file, Subnet: s.Subnet(), Read: func(ctx context.Context, opts counters.Options,
			long time.Duration) (*counters.Reading, error) {
			return readRound(ctx, s, opts, long)
		}, Errors: opt.Every, Traffic: opt.Traffic, Failed: func(err error) {
			s.Publish(session.ChangeLive, func(st *session.State) { st.Note("record: %s", oneLine(err)) })
		},
		OnReading: func(r *counters.Reading, grown []counters.Delta) {
			m.Store(r)
			s.Publish(session.ChangeLive, func(st *session.State) {
				st.NoneCounted(r)
				if len(grown) > 0 {
					st.Rising = &session.Counted{Reading: r, Deltas: grown, When: time.Now()}
				}
			})
		},
	}
	o := observer{session: s, links: linkObserver{session: s, after: time.Now(), before: s.State().Live},
		every: opt.Every, read: time.Now(), hosts: opt.Hosts}
	how.Observe = func(ctx context.Context, store *records.Store, round *Outcome) error {
		return o.observe(ctx, store, time.Now(), round)
	}
	var folder *hardware
	if opt.Hardware != "" {
		var err error
		if folder, err = followHardware(ctx, opt.Hardware, s, how.Failed); err != nil {
			return err
		}
	}
	if opt.Metrics != "" {
		var err error
		if m, err = serve(ctx, s, &opt, folder); err != nil {
			folder.close()
			return err
		}
		how.Errors, how.Shortest = min(how.Errors, longestServed), shortestServed
		how.Scrapes, how.Details = m.Scrapes(), opt.Details
	}
	r, err := Start(ctx, how)
	if err != nil {
		folder.close()
		return errors.Join(err, m.Close())
	}
	now := &running{r, m, nil, folder, opt.Sweep > 0 && s.State().Every == 0, s}
	if opt.SMLog != "" {
		if now.log, err = smlog.Follow(ctx, s, opt.SMLog); err != nil {
			folder.close()
			return errors.Join(err, m.Close(), r.Stop())
		}
	}
	s.Publish(session.ChangeSettings, func(st *session.State) {
		slot.Put(st, now)
		st.Recording = true
	})
	if now.sweeps {
		return s.KeepCurrent(opt.Sweep)
	}
	return nil
}

// clockStep returns by how much the clock was set between two times of this process. It returns 0 if the first is zero.
func clockStep(before, now time.Time) time.Duration {
	if before.IsZero() {
		return 0
	}
	return now.Round(0).Sub(before.Round(0)) - now.Sub(before) // Sub uses the monotonic clock if both times have it
}

// readRound reads counters outside of an operation, so that no operation waits for it.
func readRound(ctx context.Context, s *session.Session, opts counters.Options, long time.Duration) (*counters.Reading,
	error) {
	l, err := s.Connection().Line()
	if err != nil {
		return nil, err
	}
	st := s.State()
	if st.Live.Tables != nil {
		opts.SLs = st.Live.Tables.SLs
	}
	r, err := counters.ReadRound(ctx, l.Client, st.Live.Fabric, opts, long)
	if ctx.Err() != nil {
		return r, err
	}
	return r, s.Connection().Failed(l, err)
}

// Sample reads the counters in the set what of ports of a fabric, outside of an operation, without recording them.
func Sample(ctx context.Context, s *session.Session, f *fabric.Fabric, what counters.Set,
	ports []fabric.PortIndex) (*counters.Reading, error) {
	l, err := s.Connection().Line()
	if err != nil {
		return nil, err
	}
	r, err := counters.Read(ctx, l.Client, f, counters.Options{What: what}, ports...)
	if ctx.Err() != nil {
		return r, err
	}
	return r, s.Connection().Failed(l, err)
}

// End ends the recording and keeps the recorded data. If the session does not record, it returns [ErrNotRecording].
func End(s *session.Session) error {
	var r *running
	s.Publish(session.ChangeSettings, func(st *session.State) {
		r = slot.Take(st)
		st.Recording = false
	})
	if r == nil {
		return ErrNotRecording
	}
	return r.Close()
}

// StatusOf returns the status of the recording of a session, and false if there is no recording.
func StatusOf(s *session.Session) (Status, bool) {
	st := s.State()
	r := slot.Of(&st)
	if r == nil {
		return Status{}, false
	}
	return r.Status(), true
}

// MetricsAt returns the address at which the metrics of a session are served, and their URL. Both are "" if they are
// not served.
func MetricsAt(s *session.Session) (address, url string) {
	st := s.State()
	if r := slot.Of(&st); r != nil {
		return r.metrics.Address(), r.metrics.URL()
	}
	return "", ""
}

// describe returns a function that returns the data of a session for Prometheus, except for the readings of counters.
func describe(s *session.Session, folder *hardware) metrics.Describe {
	return func(ctx context.Context) (*metrics.Snapshot, error) {
		st := s.State()
		snap := &metrics.Snapshot{Fabric: st.Live.Fabric, Swept: st.Live.When, Took: st.SweepTook, WorstLoad: -1,
			SweepFailed: st.WatchFailed != "" || st.Lost != "", Events: len(st.Events),
			Hardware: folder.get()}
		if now, running := StatusOf(s); running {
			snap.Read, snap.Ended, snap.Unanswered = now.Took, now.Last, now.Unanswered
			snap.RoundFailed = now.Failed != nil
		}
		var err error
		if snap.Problems, err = survey.Problems(ctx, s, survey.Options{Quick: true}); err != nil {
			return nil, err
		}
		if t := st.Live.Tables; t != nil && st.Live.Fabric.MaxLID > 0 {
			l, err := s.Analysis().Load(ctx, t, linkload.Options{})
			switch {
			case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
				return nil, err
			case err == nil && l.Unknown == 0:
				snap.WorstLoad = l.Summary(1).EdgeForwardingIndex
			}
		}
		return snap, nil
	}
}

// Elsewhere reports whether another process records the subnet.
func Elsewhere(s *session.Session) bool {
	file := s.Recorded().File()
	if file == "" {
		return false
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return false
	}
	lock, err := history.LockRecording(filepath.Dir(file), s.Subnet())
	if err == nil {
		_ = lock.Unlock()
	}
	return errors.Is(err, history.ErrRecording)
}
