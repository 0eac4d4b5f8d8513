// SPDX-License-Identifier: Apache-2.0

// Package recording reads the counters of a subnet round by round and keeps what they grew by.
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

// Read reads all ports evenly over some time. Where it fails it returns what was read so far, too.
type Read func(ctx context.Context, opts counters.Options, long time.Duration) (*counters.Reading, error)

// Options are what a recording does.
type Options struct {
	File   string // where the records are
	Subnet string // what they call the subnet
	Read   Read
	// Errors is how often errors and waits are read, and Traffic how often data and packets are, too.
	Errors, Traffic time.Duration
	// Serve reads all counters at once when the recording starts, and in each round. Data and packets are kept no more
	// often for that.
	Serve bool
	// Failed is told what went wrong, once for each spell.
	Failed func(error)
	// Heard is handed each reading that did not fail, with the errors and waits that ports counted since the one
	// before.
	Heard func(r *counters.Reading, grown []counters.Delta)
}

// Status is how a recording is getting on.
type Status struct {
	File    string
	Subnet  string
	Began   time.Time
	Errors  time.Duration
	Traffic time.Duration
	Rounds  int       // that were read
	Last    time.Time // when the last one was over
	Took    time.Duration
	// Ports answered the last round, Unanswered did not.
	Ports, Unanswered int
	// Failed is what went wrong last, nil where the last round was read and kept.
	Failed error
}

// Share is how many ports are asked a second.
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

	known       counters.Known
	errors      series
	traffic     series
	lastTraffic time.Time
	mu          sync.Mutex // guards what follows it
	status      Status
	failed      string
}

// series follows one set of counters, and has what could not be kept yet.
type series struct {
	what   counters.Set
	ledger counters.Ledger
	unkept []records.Sample
}

// Start begins to record. The error is [history.ErrRecording] where another process records the subnet.
func Start(ctx context.Context, opt Options) (*Recording, error) {
	store, err := records.Open(ctx, opt.File)
	if err != nil {
		return nil, err
	}
	lock, err := history.LockRecording(filepath.Dir(opt.File), opt.Subnet)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &Recording{
		opt: opt, store: store, lock: lock, stop: cancel, ended: make(chan struct{}),
		errors: series{what: counters.Errors}, traffic: series{what: records.Traffic},
		status: Status{File: opt.File, Subnet: opt.Subnet, Began: time.Now(), Errors: opt.Errors, Traffic: opt.Traffic},
	}
	go func() {
		defer close(r.ended)
		r.run(ctx)
	}()
	return r, nil
}

// Store is where the recording puts what it reads.
func (r *Recording) Store() *records.Store { return r.store }

// Status says how it is getting on.
func (r *Recording) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Stop ends the recording and keeps what was read of the last round.
func (r *Recording) Stop() error {
	r.stop()
	<-r.ended
	return errors.Join(r.store.Close(), r.lock.Unlock())
}

// run reads a round after the other, each over nine tenths of the time that it has.
func (r *Recording) run(ctx context.Context) {
	long := r.opt.Errors * 9 / 10
	if r.opt.Serve {
		r.round(ctx, 0)
	}
	for ctx.Err() == nil {
		next := time.Now().Add(r.opt.Errors)
		r.round(ctx, long)
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(next)):
		}
	}
}

// forgotten is how long a port that does not answer is waited for: what it counted meanwhile is known when it is back.
const forgotten = 7 * 24 * time.Hour

// round reads once, and keeps what was read even where it was cut short.
func (r *Recording) round(ctx context.Context, long time.Duration) {
	began := time.Now()
	all := []*series{&r.errors}
	opts := counters.Options{What: r.errors.what, Known: &r.known}
	if r.opt.Serve {
		opts.What |= r.traffic.what
	}
	if began.Sub(r.lastTraffic) > r.opt.Traffic-r.opt.Errors/2 {
		all = append(all, &r.traffic)
		opts.What |= r.traffic.what
		r.lastTraffic = began
	}
	reading, err := r.opt.Read(ctx, opts, long)
	if reading != nil {
		for _, s := range all {
			grown := s.ledger.Take(reading)
			if s == &r.errors && err == nil {
				r.opt.Heard(reading, grown)
			}
			err = errors.Join(err, r.keep(ctx, s, reading, grown))
		}
	}
	now := time.Now()
	for _, s := range all {
		s.ledger.Forget(now.Add(-forgotten))
	}
	err = errors.Join(err, r.store.RollUp(ctx, now), r.store.Trim(ctx, now))
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
	every := r.opt.Errors
	if s == &r.traffic {
		every = r.opt.Traffic
	}
	err := r.store.Keep(context.WithoutCancel(ctx), records.Round{Subnet: r.opt.Subnet, What: s.what, Every: every,
		Samples: s.unkept})
	if err == nil {
		s.unkept = nil
	}
	return err
}

// merge adds later samples to earlier ones that could not be kept.
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

// over takes note of how a round went.
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
