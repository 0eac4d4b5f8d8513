// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/trend"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/journal"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recorder"
	"example.org/ibconsole/shell/session/source"
)

// ErrBusy is returned while another operation is running.
var ErrBusy = errors.New("busy")

// Session is one engineer's work on one subnet. It is safe for concurrent use; the package comment describes the locks.
type Session struct {
	conn     *connection.Connection
	recorder atomic.Pointer[recorder.Recorder]
	recalled recalled
	recorded *recorded.Counters
	analysis analysis.Memo
	opt      Options
	unlogged sync.Once // reports once that the log of the options fails

	op          sync.Mutex        // held by the operation that runs, and guards what follows it
	reads       Reads             // the additional tables that sweeps read
	lights      int               // counts the light sweeps
	counted     *counters.Reading // the last reading of all counters
	ledger      counters.Ledger   // follows all of them
	torus       torus.Cache       // the recognized torus
	written     *journal.Written  // what the last commit of the session wrote, nil for nothing
	overwritten int               // how many entries of it others had overwritten at the last sweep
	first       *Reads            // of the options, nil once they were read
	report      *SweepReport      // of the first sweep, for a first command that sweeps

	mu       sync.Mutex // guards the fields below
	state    State
	watchers []*Watcher
	keeper   *keeper // sweeps in the background, nil for none
	version  string  // of the file of the source, as last read
	partial  string  // the version of the file that was not whole when it was read again, and is not used yet
}

// Options controls a session.
type Options struct {
	Client mad.ClientOptions // options of the MAD client
	// Fast sends requests as fast as a simulated subnet allows, which would be too fast for real switches.
	Fast     bool
	Keys     source.Keys // of a protected subnet
	StateDir string      // the folder of the history, "" for none
	NoState  error       // why there is no StateDir, nil if none is wanted
	Strict   bool        // refuse a file of which something cannot be read
	Record   bool        // record sweeps, routes and loads in the history, not only commits
	// MayWrite returns the reason why the user may not write to a subnet that is not simulated, or nil if writing is
	// allowed.
	MayWrite func() error
	Log      func(*audit.Record) error // logs writes to a subnet that is not simulated, nil for none
	Names    string                    // a node-name map, "" for none
	Hints    string                    // a file of hints on the structure, "" for none
	Watch    time.Duration             // interval of background sweeps of a live subnet, 0 for none
	Held     *umad.HeldDevices         // devices that this process can no longer open, nil for none
	Machine  []umad.Finding            // findings about this user on this machine, for doctor, escaped
	First    *Reads                    // what a first command that sweeps reads; nil for another first command
	// Dial opens the source. If it is nil, the session opens the source itself.
	Dial   func(context.Context) (mad.Transport, error)
	Later  bool // the first sweep opens the source; see [connection.OpenError]
	Places Places
	Alerts []limits.Rule // rules of the configuration, which replace the default rules of their counters
	Limits []trend.Limit // limits of the configuration, which precede the default limits
}

// Places are folders of this machine. Each is "" if it is not used.
type Places struct {
	CacheDir string // where OpenSM keeps guid2lid
	ConfDir  string // where OpenSM looks for files that its opensm.conf does not list
	Records  string // of the records of the system's recorder (packaging/ibconsole-record.service)
}

// AlertRules returns the rules by which a recorder raises alerts.
func (o Options) AlertRules() []limits.Rule { return limits.With(limits.Defaults(), o.Alerts) }

// TrendLimits returns the limits of values that ibdiagnet folders and records have over time.
func (o Options) TrendLimits() []trend.Limit {
	return append(slices.Clone(o.Limits), trend.Defaults()...)
}

// State returns the present state. It does not wait for a running operation.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Analysis returns the memo with results derived from the tables of the states. It does not wait for a running
// operation.
func (s *Session) Analysis() *analysis.Memo { return &s.analysis }

// Recorded returns the recorded counters.
func (s *Session) Recorded() *recorded.Counters { return s.recorded }

// Close closes the connection and the history. It waits for a running operation, so the caller should cancel the
// operation first.
func (s *Session) Close() error {
	s.StopKeeping()
	serr := s.closeSlots()
	rerr := s.recorded.Close()
	s.op.Lock()
	defer s.op.Unlock()
	return errors.Join(serr, rerr, s.recorder.Load().Close(), s.conn.Close())
}

// Publish changes the state by calling the function change, and then notifies the watchers of the kind of change.
func (s *Session) Publish(kind Change, change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	s.state.Generation++
	if kind&(ChangeLive|ChangePaper|ChangeStaged) != 0 {
		s.state.diverge()
		s.analysis.Retain(s.state.PaperBase().Tables, s.state.tables()...)
	}
	for _, w := range s.watchers {
		w.notify(kind)
	}
}

// Op is a running operation. No other operation of the session begins before it ends.
type Op struct{ session *Session }

// patience is how long [Session.Begin] waits for another operation.
type patience struct {
	most    time.Duration
	waiting func(operation string)
}

type patienceKey struct{}

// noteAfter is how long Begin waits before it reports that it waits.
const noteAfter = 200 * time.Millisecond

// Patiently returns a context with which [Session.Begin] waits for another operation, at most this long. It calls the
// function waiting with the name of the operation if that takes a while.
func Patiently(ctx context.Context, most time.Duration, waiting func(operation string)) context.Context {
	return context.WithValue(ctx, patienceKey{}, patience{most, waiting})
}

// lock waits for the end of another operation with the patience of the context. It returns [ErrBusy] if that has none,
// or not enough.
func (s *Session) lock(ctx context.Context) error {
	p, _ := ctx.Value(patienceKey{}).(patience)
	for began, noted := time.Now(), false; !s.op.TryLock(); {
		switch waited := time.Since(began); {
		case waited >= p.most:
			return ErrBusy
		case waited >= noteAfter && !noted:
			p.waiting(s.State().Busy)
			noted = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// Begin begins an operation, which the caller must end. If another operation is running, it returns [ErrBusy], at once
// unless the context is that of [Patiently].
func (s *Session) Begin(ctx context.Context, name string) (*Op, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	if name != sweepOperation {
		s.report = nil
	}
	o := &Op{s}
	o.Name(name)
	return o, nil
}

// Name renames the operation and resets its progress.
func (o *Op) Name(name string) {
	o.session.Publish(ChangeBusy, func(st *State) { st.Busy, st.Done, st.Total = name, 0, 0 })
}

// Progress reports the progress of the operation.
func (o *Op) Progress(done, total int) { o.session.progress(done, total) }

// End ends the operation.
func (o *Op) End() {
	o.session.Publish(ChangeBusy, func(st *State) { st.Busy, st.Writing = "", nil })
	o.session.op.Unlock()
}

// progress reports the progress of the running operation.
func (s *Session) progress(done, total int) {
	s.Publish(ChangeBusy, func(st *State) { st.Done, st.Total = done, total })
}

// Change is a set of kinds of changes.
type Change uint

// The kinds of changes.
const (
	ChangeLive Change = 1 << iota
	ChangePaper
	ChangeStaged
	ChangeSettings
	ChangeBusy
)

// Watcher is notified of changes. Changes accumulate until the watcher takes them, so a slow watcher never blocks the
// session.
type Watcher struct {
	C       chan struct{} // has an element while there are changes to take
	session *Session
	pending Change
}

// Watch returns a new watcher.
func (s *Session) Watch() *Watcher {
	w := &Watcher{C: make(chan struct{}, 1), session: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return w
}

// Take returns the changes since the last call.
func (w *Watcher) Take() Change {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	c := w.pending
	w.pending = 0
	return c
}

// Stop ends the notifications.
func (w *Watcher) Stop() {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	w.session.watchers = slices.DeleteFunc(w.session.watchers, func(x *Watcher) bool { return x == w })
}

func (w *Watcher) notify(c Change) {
	w.pending |= c
	select {
	case w.C <- struct{}{}:
	default:
	}
}
