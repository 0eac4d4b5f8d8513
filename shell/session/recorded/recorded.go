// SPDX-License-Identifier: Apache-2.0

// Package recorded reads what ports counted over time, as recorders of this machine kept it.
package recorded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
)

// Options say where the records of a session are.
type Options struct {
	// History returns the file of the history, next to which the session records, "" for none.
	History   func() string
	SystemDir string // the folder of the recorder of the system, "" for none
	// Subnet returns the name of the subnet.
	Subnet func() string
}

// Counters is what was recorded of what ports counted. It is safe for concurrent use.
type Counters struct {
	opt    Options
	mu     sync.Mutex                // guards what follows it
	stores map[string]*records.Store // by file
	// lately is what [Counters.Lately] found last, of the subnet latelyOf.
	lately   *records.Recorded
	latelyOf string
}

// New returns the records that options name. Nothing is opened before it is asked for.
func New(opt Options) *Counters { return &Counters{opt: opt} }

// ErrNone says that nothing was recorded.
var ErrNone = errors.New("nothing was recorded on this machine (record start)")

// File returns the file in which the session records, "" for none.
func (r *Counters) File() string {
	file := r.opt.History()
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), records.FileName)
}

// Store returns what was recorded on this machine, by this user or by the system: what has the latest of the subnet
// where both have recorded. The error is [ErrNone] where there is nothing.
func (r *Counters) Store(ctx context.Context) (*records.Store, error) {
	system := ""
	if dir := r.opt.SystemDir; dir != "" {
		system = filepath.Join(dir, records.FileName)
	}
	return r.storeIn(ctx, r.File(), system)
}

func (r *Counters) storeIn(ctx context.Context, places ...string) (*records.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var there []string
	for _, file := range places {
		if _, err := os.Stat(file); file != "" && err == nil {
			there = append(there, file)
		}
	}
	if len(there) == 0 {
		return nil, ErrNone
	}
	store, err := r.open(ctx, there[0])
	if err != nil || len(there) == 1 {
		return store, err
	}
	other, err := r.open(ctx, there[1])
	if err != nil { // which may be for others alone
		return store, nil
	}
	_, last, _, err := store.Span(ctx, r.opt.Subnet())
	if err != nil {
		return nil, err
	}
	if _, later, found, err := other.Span(ctx, r.opt.Subnet()); err != nil || !found || !later.After(last) {
		return store, err
	}
	return other, nil
}

// open has a file of records open until the session is closed.
func (r *Counters) open(ctx context.Context, file string) (*records.Store, error) {
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

// Close closes the records that were read.
func (r *Counters) Close() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, store := range r.stores {
		err = errors.Join(err, store.Close())
	}
	r.stores = nil
	if err != nil {
		return fmt.Errorf("close the records: %w", err)
	}
	return nil
}

// NotRecordedError is the error of [Counters.Between] for a time of which nothing was recorded. It is an [ErrNone].
type NotRecordedError struct {
	Since, Until time.Time
	// From and To are from when to when the subnet was recorded, zero where it never was.
	From, To time.Time
}

func (e *NotRecordedError) Error() string {
	if e.From.IsZero() {
		return "nothing was recorded of this subnet (record start)"
	}
	text := func(t time.Time) string { return t.Local().Format(time.DateTime) }
	return fmt.Sprintf("nothing was recorded from %s to %s; this subnet was recorded from %s to %s", text(e.Since),
		text(e.Until), text(e.From), text(e.To))
}

// Is reports whether the error is an [ErrNone].
func (e *NotRecordedError) Is(target error) bool { return target == ErrNone } //nolint:errorlint // a sentinel

// Between returns what was recorded of some counters from since to until. The error is [ErrNone] where nothing was.
func (r *Counters) Between(ctx context.Context, what counters.Set, since, until time.Time) (records.Recorded, error) {
	store, err := r.Store(ctx)
	if err != nil {
		return records.Recorded{}, err
	}
	got, err := store.Recorded(ctx, r.opt.Subnet(), what, since, until)
	if err != nil || got.Spans != nil {
		return got, err
	}
	e := &NotRecordedError{Since: since, Until: until}
	from, to, found, err := store.Span(ctx, r.opt.Subnet())
	if err != nil {
		return got, err
	}
	if found {
		e.From, e.To = from, to
	}
	return got, e
}

// NotRead returns the ports of a fabric of which a time has no samples, though some of other ports.
func NotRead(f *fabric.Fabric, r *records.Recorded) []fabric.PortIndex {
	var ports []fabric.PortIndex
	for _, p := range counters.AllPorts(f) {
		if !r.Read[counters.KeyOf(f, p)] {
			ports = append(ports, p)
		}
	}
	return ports
}

// lately is how far back problems and the causes of events look into what was recorded.
const lately = time.Hour

// latelyHolds is how long an answer of [Counters.Lately] is given again.
const latelyHolds = 5 * time.Second

// Lately returns what was recorded of errors in the last hour, by this session or by another process of the
// machine, nil where nothing was or it cannot be read.
func (r *Counters) Lately(ctx context.Context) *records.Recorded {
	now := time.Now()
	r.mu.Lock()
	had, of := r.lately, r.latelyOf
	r.mu.Unlock()
	if subnet := r.opt.Subnet(); had != nil && of == subnet && now.Sub(had.Until) < latelyHolds {
		return had
	}
	got, err := r.Between(ctx, counters.Errors, now.Add(-lately), now)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	r.lately, r.latelyOf = &got, r.opt.Subnet()
	r.mu.Unlock()
	return &got
}

// Deltas returns what ports of a fabric counted by records.
func Deltas(f *fabric.Fabric, r *records.Recorded) []counters.Delta {
	var deltas []counters.Delta
	for i := range r.Totals {
		x := &r.Totals[i]
		d := counters.Delta{Port: x.Key.In(f)}
		if d.Port == fabric.None {
			continue
		}
		for _, n := range x.Counts {
			d.Increase[n.Counter] = n.Increase
			d.Has |= counters.Of(n.Counter)
			d.Seconds = max(d.Seconds, n.Seconds)
		}
		deltas = append(deltas, d)
	}
	return deltas
}
