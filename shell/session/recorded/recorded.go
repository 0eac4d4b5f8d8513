// SPDX-License-Identifier: Apache-2.0

// Package recorded reads the counters that recorders of this machine stored over time.
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
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/when"
)

// Options controls which files of records a session uses.
type Options struct {
	// History returns the file of the history, or "". The session stores its records in the same folder.
	History   func() string
	SystemDir string // the folder of the recorder of the system, "" for none
	// Subnet returns the name of the subnet.
	Subnet func() string
	// ReadOnly is called with the reason if a file can only be read.
	ReadOnly func(error)
}

// Counters reads recorded counters of ports. It is safe for concurrent use.
type Counters struct {
	opt    Options
	mu     sync.Mutex                // guards the fields below
	stores map[string]*records.Store // by file
	// lately is the last result of [Counters.Lately]. It belongs to the subnet latelyOf.
	lately   *records.Recorded
	latelyOf string
	// ledger is the last result of [Counters.Ledger], read at ledgerAt for the subnet ledgerOf.
	ledger   Ledger
	ledgerOf string
	ledgerAt time.Time
}

// Ledger holds what is known of the present problems of a subnet by their IDs.
type Ledger struct {
	Began        map[string]time.Time // the beginning of open problems
	Acknowledged map[string]records.Acknowledgement
	Outages      []records.Outage   // of links in the time [Flaps] before now
	Alerts       []problems.Problem // the active alerts of a recorder
	Observed     bool               // a recorder looked for problems in the last minutes
}

// Flaps is the length of the period before now in which two outages of a link make it a flapping link.
const Flaps = 24 * time.Hour

// New returns the records that the options describe. Their files are opened at the first use.
func New(opt Options) *Counters { return &Counters{opt: opt} }

// ErrNone is returned if nothing was recorded.
var ErrNone = errors.New("nothing was recorded on this machine; hint: run 'record start'")

// File returns the file in which the session stores its records, or "" for none.
func (r *Counters) File() string {
	file := r.opt.History()
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), records.FileName)
}

// Store returns the records of the subnet on this machine, which were made by this user or by the system. If both
// exist, it returns those with the latest samples. If there are none, it returns [ErrNone].
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
	if err != nil { // which this user may not be allowed to read
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

// open opens a file of records, which stays open until [Counters.Close].
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
	if why := store.ReadOnly(); why != nil {
		r.opt.ReadOnly(why)
	}
	return store, nil
}

// Close closes the open records.
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

// NotRecordedError is returned by [Counters.Between] for a period without records. [errors.Is] finds that it is an
// [ErrNone].
type NotRecordedError struct {
	Since, Until time.Time
	// From and To are the beginning and end of all records of the subnet. They are zero if there are none.
	From, To time.Time
}

func (e *NotRecordedError) Error() string {
	if e.From.IsZero() {
		return "nothing was recorded of this subnet; hint: run 'record start'"
	}
	text := func(t time.Time) string { return when.Text(t) }
	return fmt.Sprintf("nothing was recorded from %s to %s; this subnet was recorded from %s to %s", text(e.Since),
		text(e.Until), text(e.From), text(e.To))
}

// Is reports whether target is [ErrNone].
func (e *NotRecordedError) Is(target error) bool { return target == ErrNone } //nolint:errorlint // a sentinel

// Between returns the records of a set of counters in a period. If there are no records, it returns [ErrNone].
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

// NotRead returns the ports of a fabric that have no samples in a period in which other ports have samples.
func NotRead(f *fabric.Fabric, r *records.Recorded) []fabric.PortIndex {
	var ports []fabric.PortIndex
	for _, p := range counters.AllPorts(f) {
		if !r.Read[counters.KeyOf(f, p)] {
			ports = append(ports, p)
		}
	}
	return ports
}

// Lately is the length of the period before now whose records are used for problems and for causes of events.
const Lately = time.Hour

// latelyHolds is the time for which a result of [Counters.Lately] is reused.
const latelyHolds = 5 * time.Second

// Lately returns the errors that any process of this machine recorded in the last hour. It returns nil if there are
// none or they cannot be read.
func (r *Counters) Lately(ctx context.Context) *records.Recorded {
	now := time.Now()
	r.mu.Lock()
	had, of := r.lately, r.latelyOf
	r.mu.Unlock()
	if subnet := r.opt.Subnet(); had != nil && of == subnet && now.Sub(had.Until) < latelyHolds {
		return had
	}
	got, err := r.Between(ctx, counters.Errors, now.Add(-Lately), now)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	r.lately, r.latelyOf = &got, r.opt.Subnet()
	r.mu.Unlock()
	return &got
}

// Ledger returns when the open problems began, and which problems are acknowledged now. Both are empty if nothing was
// recorded.
func (r *Counters) Ledger(ctx context.Context) (Ledger, error) {
	now, subnet := time.Now(), r.opt.Subnet()
	r.mu.Lock()
	had := r.ledger
	fresh := r.ledgerOf == subnet && now.Sub(r.ledgerAt) < latelyHolds
	r.mu.Unlock()
	if fresh {
		return had, nil
	}
	var l Ledger
	store, err := r.Store(ctx)
	if errors.Is(err, ErrNone) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	open, observed, err := store.Problems(ctx, subnet, now.Add(-records.Unobserved), now)
	if err != nil {
		return l, err
	}
	given, err := store.Acknowledgements(ctx, subnet, time.Time{})
	if err != nil {
		return l, err
	}
	outages, err := store.Outages(ctx, subnet, now.Add(-Flaps), now)
	if err != nil {
		return l, err
	}
	l = Ledger{Began: make(map[string]time.Time, len(open)), Acknowledged: records.InForce(given, now),
		Outages: outages}
	l.Observed = len(observed) > 0
	for i := range open { // without observations it is unknown whether they closed in between
		if open[i].Closed.IsZero() && observed != nil {
			l.Began[open[i].ID()] = open[i].Since
			if open[i].Kind.IsAlert() {
				l.Alerts = append(l.Alerts, open[i].Problem)
			}
		}
	}
	r.mu.Lock()
	r.ledger, r.ledgerOf, r.ledgerAt = l, subnet, now
	r.mu.Unlock()
	return l, nil
}

// Acknowledge stores an acknowledgement. It creates the file of the records if there is none.
func (r *Counters) Acknowledge(ctx context.Context, a records.Acknowledgement) error {
	store, err := r.Store(ctx)
	if errors.Is(err, ErrNone) && r.File() != "" {
		r.mu.Lock()
		store, err = r.open(ctx, r.File())
		r.mu.Unlock()
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.ledgerOf = ""
	r.mu.Unlock()
	return store.Acknowledge(ctx, r.opt.Subnet(), a)
}

// Deltas converts the recorded increases of counters to the type of a reading, for the ports of a fabric.
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
