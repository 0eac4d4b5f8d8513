// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session/analysis"
)

// ErrBusy says that an operation was asked for while another one runs.
var ErrBusy = errors.New("busy")

// Session is one engineer's work on one subnet. Its methods may be called from
// several goroutines.
type Session struct {
	mu       sync.Mutex
	state    State
	watchers []*Watcher

	// op is held by the operation that runs.
	op sync.Mutex

	// dial opens the source, nil for a file; options are its client's.
	dial    func(context.Context) (mad.Transport, error)
	options mad.ClientOptions
	// line and down, why it carries nothing any more, change with op and mu held.
	line *line
	down error
	// listening are the goroutines that wait for the ends of lines.
	listening sync.WaitGroup
	// keeper sweeps in the background, nil for nobody; guarded by mu.
	keeper *keeper
	// reads are the tables that sweeps read too, guarded by op.
	reads Reads
	// counted is the last reading of counters, guarded by op.
	counted *counters.Reading
	// torus is what the subnet was recognised as, guarded by op.
	torus torus.Known
	// lights counts the light sweeps.
	lights   int
	recorder atomic.Pointer[recorder]
	analysis analysis.Memo
	// paths is guarded by mu.
	paths loadedPaths
	// stopped is the commit that did not come to its end, guarded by op.
	stopped stopped
	// cacheDir is where OpenSM keeps the LIDs that it remembers, "" for the usual place.
	cacheDir string
	// stateDir is where baselines are kept, "" for nowhere.
	stateDir string
	// names are the descriptions that a node-name map gives, by node GUID.
	names map[uint64]string
}

// Options are what a session is opened with.
type Options struct {
	// Client tunes the MAD client.
	Client mad.ClientOptions
	// Fast asks as a simulated subnet can be asked, not as real switches should be.
	Fast bool
	// MKey opens the agents of a subnet that is protected, 0 for none.
	MKey uint64
	// StateDir is where the history is kept, "" for nowhere.
	StateDir string
	// NoState says why there is no StateDir, nil where none is wanted.
	NoState error
	// Record puts sweeps, routings and loads into the history, not only commits.
	Record bool
	// Later leaves it to the first sweep to open the source; see [OpenError].
	Later bool
}

// State returns how things are. It does not wait for running operations.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Analysis is what follows from the tables of the pictures, each found once for all
// who ask. It waits for no operation.
func (s *Session) Analysis() *analysis.Memo { return &s.analysis }

// Close gives back the port that the session sits on. It waits for an operation
// that runs; cancel that first.
func (s *Session) Close() error {
	s.StopKeeping()
	s.op.Lock()
	defer s.op.Unlock()
	err := errors.Join(s.recorder.Load().close(), s.closePaths())
	if s.line == nil {
		return err
	}
	err = errors.Join(err, s.line.client.Close())
	s.listening.Wait()
	return err
}

// update changes the state and tells the watchers what kind of thing changed.
func (s *Session) update(kind Change, change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	s.state.Generation++
	if kind&(ChangeLive|ChangePaper|ChangeStaged) != 0 {
		s.analysis.Picture(s.state.paperBase().Tables, s.state.tables()...)
	}
	for _, w := range s.watchers {
		w.tell(kind)
	}
}

// begin starts an operation; the caller calls end when it is over.
func (s *Session) begin(ctx context.Context, name string) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.op.TryLock() {
		return nil, ErrBusy
	}
	s.update(ChangeBusy, func(st *State) { st.Busy, st.Done, st.Total = name, 0, 0 })
	return func() {
		s.update(ChangeBusy, func(st *State) { st.Busy = "" })
		s.op.Unlock()
	}, nil
}

// progress reports how far the running operation is.
func (s *Session) progress(done, total int) {
	s.update(ChangeBusy, func(st *State) { st.Done, st.Total = done, total })
}
