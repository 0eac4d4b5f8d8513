// SPDX-License-Identifier: Apache-2.0

// Package recording reads the counters of a subnet in rounds, and stores their increases.
package recording

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
)

// Read reads the counters of all ports, with requests spread evenly over the duration long. If it fails, it returns the
// part that was read together with the error.
type Read func(ctx context.Context, opts counters.Options, long time.Duration) (*counters.Reading, error)

// Options controls a recording.
type Options struct {
	File   string // the file of the records
	Subnet string // the name of the subnet in the records
	Read   Read
	// Errors is the interval between readings of error counters and XmitWait. Traffic is the interval at which data and
	// packets are read in addition.
	Errors, Traffic time.Duration
	// Scrapes, if not nil, makes the recording read all counters at its start and in each round. At each receipt, the
	// recording also begins a round of the data counters, but at most one per Shortest. The value received is the time
	// since the previous receipt, or 0. Counters are still stored only at the intervals Errors and Traffic.
	Scrapes  <-chan time.Duration
	Shortest time.Duration
	// Details makes the recording read the details of receive errors for OnReading. They are not stored.
	Details bool
	// Failed is called with the error of a round. It is not called again until a round has succeeded.
	Failed func(error)
	// OnReading is called after each successful reading. The argument grown holds the increases of errors and XmitWait
	// since the previous reading of errors. It is nil if the reading has no errors.
	OnReading func(r *counters.Reading, grown []counters.Delta)
	// Observe stores the problems of the subnet. It is called after each round whose counters are stored, also after
	// one that failed.
	Observe func(ctx context.Context, store *records.Store, round *Outcome) error
}

// Outcome is the outcome of a round. ReadFailed and KeepFailed are the errors of reading and of storing it.
type Outcome struct {
	Reading                *counters.Reading // nil if nothing was read
	Grown                  []counters.Delta  // increases of errors since the reading before
	ReadFailed, KeepFailed error
}

// Status is the status of a recording.
type Status struct {
	File    string
	Subnet  string
	Began   time.Time
	Errors  time.Duration
	Traffic time.Duration
	Rounds  int       // rounds read
	Last    time.Time // the end of the last round
	Took    time.Duration
	// Ports is the number of ports that responded in the last round, and Unanswered the number that did not.
	Ports, Unanswered int
	// Failed is the error of the last round, or nil if the round was read and stored.
	Failed error
	// Upgraded is the version of the file before the recording upgraded it, 0 if it did not.
	Upgraded int
}

// Share returns the number of ports read per second.
func (s *Status) Share() float64 {
	if s.Took <= 0 {
		return 0
	}
	return float64(s.Ports+s.Unanswered) / s.Took.Seconds()
}

// Recording records until it is stopped.
type Recording struct {
	opt   Options
	lock  *history.Lock
	store *records.Store
	stop  context.CancelFunc
	ended chan struct{}

	known   counters.Known
	errors  series
	traffic series
	mu      sync.Mutex // guards the fields below
	status  Status
	failed  string
}

// series follows one set of counters. It also holds samples that could not be stored yet.
type series struct {
	what   counters.Set
	every  time.Duration
	last   time.Time // the beginning of the last round
	ledger counters.Ledger
	unkept []records.Sample
}

// Start starts a recording. If another process records the subnet, it returns [history.ErrRecording].
func Start(ctx context.Context, opt Options) (*Recording, error) {
	store, err := records.Open(ctx, opt.File)
	if err != nil {
		return nil, err
	}
	if err := store.ReadOnly(); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	lock, err := history.LockRecording(filepath.Dir(opt.File), opt.Subnet)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	upgraded, err := store.Upgrade(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock(), store.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &Recording{
		opt: opt, store: store, lock: lock, stop: cancel, ended: make(chan struct{}),
		errors:  series{what: counters.Errors, every: opt.Errors},
		traffic: series{what: records.Traffic, every: opt.Traffic},
		status: Status{File: opt.File, Subnet: opt.Subnet, Began: time.Now(), Errors: opt.Errors,
			Traffic: opt.Traffic, Upgraded: upgraded},
	}
	go func() {
		defer close(r.ended)
		r.run(ctx)
	}()
	return r, nil
}

// Store returns the store of the recording.
func (r *Recording) Store() *records.Store { return r.store }

// Status returns the status of the recording.
func (r *Recording) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Stop ends the recording. It stores the part of the last round that was read.
func (r *Recording) Stop() error {
	r.stop()
	<-r.ended
	return errors.Join(r.store.Close(), r.lock.Unlock())
}

// run reads round after round. Each round takes nine tenths of its interval.
func (r *Recording) run(ctx context.Context) {
	every := r.opt.Errors
	if r.opt.Scrapes != nil {
		r.round(ctx, every, 0)
	}
	for ctx.Err() == nil {
		began := time.Now()
		r.round(ctx, every, every*9/10)
		every = r.wait(ctx, began)
	}
}

// wait waits for the end of the interval of a round, or for a scrape. It returns the interval of the next round.
func (r *Recording) wait(ctx context.Context, began time.Time) time.Duration {
	every := r.opt.Errors
	shortest := min(r.opt.Shortest, every)
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(began.Add(every))):
	case since := <-r.opt.Scrapes:
		every = min(max(since, shortest), every)
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(began.Add(shortest))):
		}
	}
	return every
}

// forgotten is the time after which the last values of a silent port are dropped. If the port responds earlier, the
// increases of its counters since these values are computed.
const forgotten = 7 * 24 * time.Hour

// round reads one round, spread over a given duration. The argument every is the interval of rounds. It stores
// everything that was read and is due, even if the round was interrupted.
func (r *Recording) round(ctx context.Context, every, long time.Duration) {
	began := time.Now()
	opts := counters.Options{Known: &r.known}
	if r.opt.Scrapes != nil {
		opts.What = counters.Data
	}
	var due []*series
	for _, s := range []*series{&r.errors, &r.traffic} {
		if began.Sub(s.last) > s.every-every/2 {
			due, s.last = append(due, s), began
			opts.What |= s.what
		}
	}
	if r.opt.Scrapes != nil && opts.What&r.errors.what != 0 {
		opts.What, opts.Details = counters.All, r.opt.Details
	}
	reading, err := r.opt.Read(ctx, opts, long)
	out := Outcome{Reading: reading, ReadFailed: err}
	if reading != nil {
		grown := map[*series][]counters.Delta{}
		for _, s := range due {
			grown[s] = s.ledger.Take(reading)
		}
		out.Grown = grown[&r.errors]
		if err == nil {
			r.opt.OnReading(reading, out.Grown)
		}
		for _, s := range due {
			out.KeepFailed = errors.Join(out.KeepFailed, r.keep(ctx, s, reading, grown[s]))
		}
		err = errors.Join(err, out.KeepFailed)
	}
	now := time.Now()
	for _, s := range due {
		s.ledger.Forget(now.Add(-forgotten))
	}
	if len(due) > 0 {
		err = errors.Join(err, r.opt.Observe(ctx, r.store, &out), r.store.RollUp(ctx, now), r.store.Trim(ctx, now))
	}
	if ctx.Err() != nil {
		return
	}
	r.over(reading, now, now.Sub(began), err)
}

func (r *Recording) keep(ctx context.Context, s *series, reading *counters.Reading, grown []counters.Delta) error {
	s.unkept = merge(s.unkept, records.Samples(reading, grown))
	if len(s.unkept) == 0 {
		return nil
	}
	err := r.store.Keep(context.WithoutCancel(ctx), records.Round{Subnet: r.opt.Subnet, What: s.what, Every: s.every,
		Samples: s.unkept})
	if err == nil {
		s.unkept = nil
	}
	return err
}

// merge appends later samples to earlier samples that could not be stored.
func merge(earlier, later []records.Sample) []records.Sample {
	if len(earlier) == 0 {
		return later
	}
	of := make(map[counters.Key]int, len(earlier))
	for i := range earlier {
		of[earlier[i].Key] = i
	}
	for i := range later {
		x := &later[i]
		at, there := of[x.Key]
		if !there {
			earlier = append(earlier, *x)
			continue
		}
		sum := &earlier[at]
		for c := range x.Has.All() {
			sum.Increase[c] += x.Increase[c]
		}
		sum.Seconds += x.Seconds
		sum.Until, sum.Name = x.Until, x.Name
		sum.Has |= x.Has
		sum.Cleared |= x.Cleared
		sum.Stopped |= x.Stopped
		sum.Wrapped |= x.Wrapped
	}
	return earlier
}

// over updates the status after a round.
func (r *Recording) over(reading *counters.Reading, now time.Time, took time.Duration, err error) {
	r.mu.Lock()
	st := &r.status
	if st.Failed = err; reading != nil {
		st.Rounds++
		st.Last, st.Took, st.Ports, st.Unanswered = now, took, len(reading.Ports), 0
		for _, u := range reading.Unanswered {
			st.Unanswered += u.Count
		}
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	tell := text != "" && text != r.failed
	r.failed = text
	r.mu.Unlock()
	if tell {
		r.opt.Failed(err)
	}
}
