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

// ErrBusy says that an operation was asked for while another one runs.
var ErrBusy = errors.New("busy")

// Session is one engineer's work on one subnet. Its methods may be called from
// several goroutines; the package says which lock is for what.
type Session struct {
	conn     *connection.Connection
	recorder atomic.Pointer[recorder.Recorder]
	recalled recalled
	recorded *recorded.Counters
	analysis analysis.Memo
	opt      Options
	unlogged sync.Once // says once that the log of the options fails

	op          sync.Mutex        // held by the operation that runs, and guards what follows it
	reads       Reads             // the tables that sweeps read too
	lights      int               // counts the light sweeps
	counted     *counters.Reading // the last reading of all counters
	ledger      counters.Ledger   // follows all of them
	torus       torus.Cache       // what the subnet was recognised as
	written     *journal.Written  // what the last commit of the session wrote, nil for nothing
	overwritten int               // how many entries of it others had overwritten at the last sweep
	first       *Reads            // those of the options, nil once they were read
	report      *SweepReport      // of the sweep by which the session started, for the command that asks for it

	mu       sync.Mutex // guards what follows it
	state    State
	watchers []*Watcher
	keeper   *keeper // sweeps in the background, nil for nobody
}

// Options are what a session is opened with.
type Options struct {
	Client   mad.ClientOptions // tunes the MAD client
	Fast     bool              // asks as a simulated subnet can be asked, not as real switches should be
	Keys     source.Keys       // of a subnet that is protected
	StateDir string            // where the history is kept, "" for nowhere
	NoState  error             // says why there is no StateDir, nil where none is wanted
	Strict   bool              // refuses a file of which something cannot be read
	Record   bool              // puts sweeps, routings and loads into the history, not only commits
	// says why the user may not write to a subnet that is not simulated, nil for no such reason
	MayWrite func() error
	Log      func(*audit.Record) error // takes note of writes to a subnet that is not simulated, nil for nobody
	Names    string                    // a node-name map to take names from, "" for none
	Hints    string                    // a file of hints on the structure, "" for none
	Watch    time.Duration             // how often a live subnet is swept from the start on, 0 for never
	Held     *umad.HeldDevices         // has devices that this process may not open any more, nil for none
	Machine  []umad.Finding            // is what was found of this user on this machine, for doctor, escaped
	First    *Reads                    // what a sweep reads that is the first command; nil where another command is
	// Dial opens the source in place of what it names, nil for that.
	Dial   func(context.Context) (mad.Transport, error)
	Later  bool // leaves it to the first sweep to open the source; see [connection.OpenError]
	Places Places
}

// Places are folders of this machine that are nobody's own, each "" for none.
type Places struct {
	CacheDir string // where OpenSM keeps guid2lid
	ConfDir  string // where OpenSM looks for files that its opensm.conf does not name
	Records  string // where the recorder of the system keeps its records (packaging/ibconsole-record.service)
}

// State returns how things are. It does not wait for running operations.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Analysis is what follows from the tables of the pictures, found once for all who ask. It waits for no operation.
func (s *Session) Analysis() *analysis.Memo { return &s.analysis }

// Recorded returns what was recorded of what ports counted.
func (s *Session) Recorded() *recorded.Counters { return s.recorded }

// Close gives back the port that the session sits on. It waits for an operation that runs; cancel that first.
func (s *Session) Close() error {
	s.StopKeeping()
	serr := s.closeSlots()
	rerr := s.recorded.Close()
	s.op.Lock()
	defer s.op.Unlock()
	return errors.Join(serr, rerr, s.recorder.Load().Close(), s.conn.Close())
}

// Publish changes the state, and tells the watchers what kind of thing changed.
func (s *Session) Publish(kind Change, change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	s.state.Generation++
	if kind&(ChangeLive|ChangePaper|ChangeStaged) != 0 {
		s.analysis.Picture(s.state.PaperBase().Tables, s.state.tables()...)
	}
	for _, w := range s.watchers {
		w.tell(kind)
	}
}

// Op is an operation under way: no other one of the session begins before its end.
type Op struct{ session *Session }

// Begin begins an operation, which the caller ends. The error is [ErrBusy] while another one runs.
func (s *Session) Begin(ctx context.Context, name string) (*Op, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.op.TryLock() {
		return nil, ErrBusy
	}
	if name != sweepOperation {
		s.report = nil
	}
	o := &Op{s}
	o.Name(name)
	return o, nil
}

// Name changes what the operation is called, and begins to count its progress.
func (o *Op) Name(name string) {
	o.session.Publish(ChangeBusy, func(st *State) { st.Busy, st.Done, st.Total = name, 0, 0 })
}

// Progress reports how far the operation is.
func (o *Op) Progress(done, total int) { o.session.progress(done, total) }

// End ends the operation.
func (o *Op) End() {
	o.session.Publish(ChangeBusy, func(st *State) { st.Busy, st.Writing = "", nil })
	o.session.op.Unlock()
}

// progress reports how far the running operation is.
func (s *Session) progress(done, total int) {
	s.Publish(ChangeBusy, func(st *State) { st.Done, st.Total = done, total })
}

// Change says which kinds of things changed, as a set of bits.
type Change uint

// The kinds of changes.
const (
	ChangeLive Change = 1 << iota
	ChangePaper
	ChangeStaged
	ChangeSettings
	ChangeBusy
)

// Watcher hears of changes. Changes that come faster than they are taken are
// put together, so a slow face never holds up the session.
type Watcher struct {
	C       chan struct{} // has an element while there is something to take
	session *Session
	pending Change
}

// Watch begins to listen for changes.
func (s *Session) Watch() *Watcher {
	w := &Watcher{C: make(chan struct{}, 1), session: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return w
}

// Take returns what changed since the last call.
func (w *Watcher) Take() Change {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	c := w.pending
	w.pending = 0
	return c
}

// Stop ends the listening.
func (w *Watcher) Stop() {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	w.session.watchers = slices.DeleteFunc(w.session.watchers, func(x *Watcher) bool { return x == w })
}

func (w *Watcher) tell(c Change) {
	w.pending |= c
	select {
	case w.C <- struct{}{}:
	default:
	}
}
