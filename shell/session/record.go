// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/recording"
)

// recorded is what the session has of what ports counted over time.
type recorded struct {
	mu      sync.Mutex                // guards what follows it
	stores  map[string]*records.Store // by file
	running *recording.Recording
	metrics *metricsSource // nil for none
	sweeps  bool           // began with the recording, and end with it
	// lately is what [Session.RecordedLately] found last, of the subnet latelyOf.
	lately   *records.Recorded
	latelyOf string
}

// RecordOptions are how a session records.
type RecordOptions struct {
	// Every is how often errors and waits are read, and Traffic how often data and packets are, too.
	Every, Traffic time.Duration
	Sweep          time.Duration // how often to sweep lightly meanwhile, unless that is done already; 0 for never
	// Metrics is the address where Prometheus may ask, "" for none. All counters are then read at the start and at
	// least once a minute.
	Metrics string
	// Servers are those of all sessions that may serve at one address, nil for this one alone, and Name tells this one apart.
	Servers *MetricsServers
	Name    string
}

// served is how old counters that are served may be before they are read again.
const served = time.Minute

// ErrNotRecording says that the session does not record.
var ErrNotRecording = errors.New("this session does not record")

// ErrNoRecords says that nothing was recorded.
var ErrNoRecords = errors.New("nothing was recorded on this machine (record start)")

// systemRecords is the file of the recorder of the system, "" for none.
func (s *Session) systemRecords() string {
	if s.opt.Places.Records == "" {
		return ""
	}
	return filepath.Join(s.opt.Places.Records, records.FileName)
}

// recordsFile is that of the session, "" for none.
func (s *Session) recordsFile() string {
	file := s.recorder.Load().File()
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), records.FileName)
}

// Record begins to record what ports count, until [Session.StopRecording] or [Session.Close].
func (s *Session) Record(ctx context.Context, opt RecordOptions) error {
	if !s.conn.Online() {
		return connection.ErrOffline
	}
	file := s.recordsFile()
	if file == "" {
		_, err := s.recorder.Load().Store()
		return err
	}
	if err := s.StopRecording(); err != nil && !errors.Is(err, ErrNotRecording) {
		return err
	}
	var m *metricsSource
	how := recording.Options{
		File: file, Subnet: s.Subnet(), Read: s.readRound, Errors: opt.Every, Traffic: opt.Traffic, Failed: s.recordingFailed,
		Heard: func(r *counters.Reading, grown []counters.Delta) {
			m.heard(r)
			s.noneCounted(r)
			if len(grown) > 0 {
				s.Publish(ChangeLive, func(st *State) { st.Rising = &Counted{r, grown, time.Now()} })
			}
		},
	}
	if opt.Metrics != "" {
		how.Serve, how.Errors = true, min(how.Errors, served)
		var err error
		if m, err = cmp.Or(opt.Servers, &MetricsServers{}).serve(ctx, opt.Metrics, s, opt.Name); err != nil {
			return err
		}
	}
	r, err := recording.Start(ctx, how)
	if err != nil {
		return errors.Join(err, m.close())
	}
	s.recorded.mu.Lock()
	s.recorded.running, s.recorded.metrics = r, m
	s.recorded.sweeps = opt.Sweep > 0 && s.State().Every == 0
	sweeps := s.recorded.sweeps
	s.recorded.mu.Unlock()
	s.Publish(ChangeSettings, func(st *State) { st.Recording = true })
	if sweeps {
		return s.KeepCurrent(opt.Sweep)
	}
	return nil
}

func (s *Session) recordingFailed(err error) {
	s.Publish(ChangeLive, func(st *State) { st.Note("record: %v", err) })
}

// readRound reads beside what else the session does: no operation waits for it.
func (s *Session) readRound(ctx context.Context, opts counters.Options, long time.Duration) (*counters.Reading, error) {
	l, err := s.conn.Line()
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
	return r, s.conn.Failed(l, err)
}

// StopRecording ends what [Session.Record] began; what was read is kept. The error is [ErrNotRecording] where nothing runs.
func (s *Session) StopRecording() error {
	s.recorded.mu.Lock()
	r, m, sweeps := s.recorded.running, s.recorded.metrics, s.recorded.sweeps
	s.recorded.running, s.recorded.metrics, s.recorded.sweeps = nil, nil, false
	s.recorded.mu.Unlock()
	if r == nil {
		return ErrNotRecording
	}
	if sweeps {
		s.StopKeeping()
	}
	s.Publish(ChangeSettings, func(st *State) { st.Recording = false })
	return errors.Join(m.close(), r.Stop())
}

// Recording says how the recording of the session gets on, and whether there is one.
func (s *Session) Recording() (recording.Status, bool) {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	if s.recorded.running == nil {
		return recording.Status{}, false
	}
	return s.recorded.running.Status(), true
}

// MetricsAt is the address where Prometheus may ask, "" for none.
func (s *Session) MetricsAt() string {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	if s.recorded.metrics == nil {
		return ""
	}
	return s.recorded.metrics.address
}

// Records are what was recorded on this machine, by this user or by the system: what has the latest of the subnet where
// both have recorded. The error is [ErrNoRecords] where there are none.
func (s *Session) Records(ctx context.Context) (*records.Store, error) {
	return s.recordsIn(ctx, s.recordsFile(), s.systemRecords())
}

func (s *Session) recordsIn(ctx context.Context, places ...string) (*records.Store, error) {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	var there []string
	for _, file := range places {
		if _, err := os.Stat(file); file != "" && err == nil {
			there = append(there, file)
		}
	}
	if len(there) == 0 {
		return nil, ErrNoRecords
	}
	store, err := s.recorded.open(ctx, there[0])
	if err != nil || len(there) == 1 {
		return store, err
	}
	other, err := s.recorded.open(ctx, there[1])
	if err != nil { // which may be for others alone
		return store, nil
	}
	_, last, _, err := store.Span(ctx, s.Subnet())
	if err != nil {
		return nil, err
	}
	if _, later, found, err := other.Span(ctx, s.Subnet()); err != nil || !found || !later.After(last) {
		return store, err
	}
	return other, nil
}

// open has a file of records open until the session is closed.
func (r *recorded) open(ctx context.Context, file string) (*records.Store, error) {
	if store := r.stores[file]; store != nil {
		return store, nil
	}
	store, err := records.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	if r.stores == nil {
		r.stores = map[string]*records.Store{}
	}
	r.stores[file] = store
	return store, nil
}

// closeRecords ends the recording and closes what was read of.
func (s *Session) closeRecords() error {
	err := s.StopRecording()
	if errors.Is(err, ErrNotRecording) {
		err = nil
	}
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	for _, store := range s.recorded.stores {
		err = errors.Join(err, store.Close())
	}
	s.recorded.stores = nil
	if err != nil {
		return fmt.Errorf("close the records: %w", err)
	}
	return nil
}

// RecordedElsewhere reports whether another process records the subnet.
func (s *Session) RecordedElsewhere() bool {
	file := s.recordsFile()
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
