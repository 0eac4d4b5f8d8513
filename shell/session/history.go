// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
)

// Recorded is how the kind of a picture out of the history begins; the number of
// the entry follows.
const Recorded Kind = "history "

// recorder puts pictures into the history, one after the other, in a goroutine of
// its own so that nothing waits for the disk. The history is opened when it is
// first needed.
type recorder struct {
	// file is where the history is, "" for nowhere, and why says why nowhere where that
	// was not chosen.
	file string
	why  error
	// all says that sweeps, routings and loads are recorded, not only commits.
	all bool
	who string

	once  sync.Once
	store *history.Store
	err   error // why there is no store
	jobs  chan job
	ended chan struct{}

	// recalled are the pictures that were read last, by entry.
	mu       sync.Mutex
	recalled map[int64]*Picture
}

type job struct {
	entry   history.Entry
	picture *Picture
	// written, where set, is closed once the jobs before it are done.
	written chan struct{}
}

// maxRecalled is how many pictures out of the history are kept at hand.
const maxRecalled = 4

// newRecorder is for a history in a file, "" for none.
func newRecorder(file string, all bool, why error) *recorder {
	return &recorder{file: file, why: why, all: all && file != "", who: "unknown", recalled: map[int64]*Picture{}}
}

// none says that no history was asked for, so that none is missed.
func (r *recorder) none() bool { return r.file == "" && r.why == nil }

// stateFile is the history in a state directory.
func stateFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, history.FileName)
}

// KeepHistoryIn makes the session's history that of another file from now on, which
// is made where it is missing.
func (s *Session) KeepHistoryIn(ctx context.Context, file string) error {
	end, err := s.begin(ctx, "history")
	if err != nil {
		return err
	}
	defer end()
	if s.recorder.Load().file == file {
		return nil
	}
	store, err := history.OpenFile(ctx, file)
	if err != nil {
		return err
	}
	if err := errors.Join(store.ReadOnly(), store.Close()); err != nil {
		return err
	}
	old := s.recorder.Load()
	s.recorder.Store(newRecorder(file, old.all || old.why != nil, nil))
	return old.close()
}

// open opens the history.
func (r *recorder) open(failed func(error)) error {
	r.once.Do(func() {
		if r.file == "" {
			if r.err = errors.New("this session keeps no history"); r.why != nil {
				r.err = fmt.Errorf("%w: %w", r.err, r.why)
			}
			return
		}
		if u, err := user.Current(); err == nil {
			r.who = u.Username
		}
		if r.store, r.err = history.OpenFile(context.Background(), r.file); r.err != nil {
			failed(r.err)
			return
		}
		if why := r.store.ReadOnly(); why != nil {
			failed(why)
		}
		r.jobs, r.ended = make(chan job, 4), make(chan struct{})
		go r.run(failed)
	})
	return r.err
}

// exists says whether there is a history already.
func (r *recorder) exists() bool {
	_, err := os.Stat(r.file)
	return r.file != "" && err == nil
}

// warnOfHistory says where there is a history that cannot be one. That of a live
// subnet was opened already, see lookBack.
func (s *Session) warnOfHistory() {
	r := s.recorder.Load()
	if s.State().Source.Live() || !r.exists() {
		return
	}
	if damaged, ok := errors.AsType[*history.DamagedError](history.Check(r.file)); ok {
		s.update(ChangeLive, func(st *State) { st.Warnings = append(slices.Clip(st.Warnings), damaged.Error()) })
	}
}

// run records what comes until close.
func (r *recorder) run(failed func(error)) {
	defer close(r.ended)
	for j := range r.jobs {
		if j.written != nil {
			close(j.written)
			continue
		}
		if _, err := r.store.Add(context.Background(), j.entry, j.picture.Fabric, j.picture.Tables); err != nil {
			failed(err)
		}
	}
}

func (r *recorder) close() error {
	r.once.Do(func() { r.err = errors.New("the session is closed") })
	if r.store == nil {
		return nil
	}
	close(r.jobs)
	<-r.ended
	return r.store.Close()
}

// record puts a picture into the history if that keeps such things. Sweeps that
// come faster than they can be stored are left out.
func (s *Session) record(kind history.Kind, p *Picture, note string, figures map[string]float64) {
	r := s.recorder.Load()
	if !r.all || r.open(s.historyFailed) != nil || r.store.ReadOnly() != nil {
		return
	}
	j := job{entry: s.entry(kind, note, figures), picture: p}
	if kind != history.Sweep {
		r.jobs <- j
		return
	}
	select {
	case r.jobs <- j:
	default:
	}
}

func (s *Session) historyFailed(err error) {
	s.update(ChangeLive, func(st *State) { st.note("%v", err) })
}

// entry describes a snapshot of now.
func (s *Session) entry(kind history.Kind, note string, figures map[string]float64) history.Entry {
	st := s.State()
	now := time.Now()
	e := history.Entry{Kind: kind, Subnet: st.subnet(), Began: now, Until: now, Who: s.recorder.Load().who, Source: st.Source.String(), Note: note, Figures: figures}
	if kind != history.Sweep {
		e.Engine, e.Options = st.Settings.Words()
	}
	return e
}

// subnet tells the subnet of the session apart from others: by the source and the
// port that the session sits on.
func (st *State) subnet() string {
	f := st.Live.Fabric
	if len(f.Nodes) == 0 {
		return st.Source.String()
	}
	if st.Source.Kind == SourceUmad || st.Source.Kind == SourceIbsim {
		return fmt.Sprintf("%s port 0x%016x", st.Source.Kind, f.Ports[f.EndPortOf(f.SMPort)].GUID)
	}
	return st.Source.String()
}

// History returns the store of the session's history, or why there is none. What
// was done so far is in it.
func (s *Session) History() (*history.Store, error) {
	r := s.recorder.Load()
	if err := r.open(s.historyFailed); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	r.jobs <- job{written: done}
	<-done
	return r.store, nil
}

// Subnet is how the history names the session's subnet.
func (s *Session) Subnet() string {
	st := s.State()
	return st.subnet()
}

// recall returns the picture of an entry.
func (s *Session) recall(id int64) (*Picture, error) {
	r := s.recorder.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.recalled[id]; ok {
		return p, nil
	}
	store, err := s.History()
	if err != nil {
		return nil, err
	}
	snap, err := store.Load(context.Background(), id)
	if err != nil {
		return nil, err
	}
	if snap.Subnet != s.Subnet() {
		return nil, fmt.Errorf("history entry %d is of another subnet: %s", id, fabric.Escape(snap.Subnet))
	}
	if len(r.recalled) >= maxRecalled {
		clear(r.recalled)
	}
	p := &Picture{Kind: Recorded + Kind(strconv.FormatInt(id, 10)), Fabric: snap.Fabric, Tables: snap.Tables, When: snap.Until}
	r.recalled[id] = p
	return p, nil
}
