// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/sqlfile"
	"example.org/ibconsole/shell/session/recorder"
	"example.org/ibconsole/shell/session/source"
)

// Recorded is the beginning of the kind of a state of the history. The number of the entry follows.
const Recorded Kind = "history "

// Word returns the word that commands use for the state: its kind, or the number of the entry.
func (k Kind) Word() string { return strings.TrimPrefix(string(k), string(Recorded)) }

// IsPast reports whether the state is of the history.
func (k Kind) IsPast() bool { return strings.HasPrefix(string(k), string(Recorded)) }

// recalled caches the states that were read from the history most recently, by entry.
type recalled struct {
	mu sync.Mutex
	by *recorder.Recorder
	at map[int64]*Picture
}

const maxRecalled = 4 // how many states of the history are cached

func stateFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, history.FileName)
}

// KeepHistoryIn changes the file of the session's history. A missing file is created.
func (s *Session) KeepHistoryIn(ctx context.Context, file string) error {
	op, err := s.Begin(ctx, "history")
	if err != nil {
		return err
	}
	defer op.End()
	if s.recorder.Load().File() == file {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil { // only the usual folder is made
		return fmt.Errorf("open the journal: %w", err)
	}
	store, err := history.OpenFile(ctx, file)
	if err != nil {
		return err
	}
	if err := errors.Join(store.ReadOnly(), store.Close()); err != nil {
		return err
	}
	old := s.recorder.Load()
	s.recorder.Store(old.Elsewhere(file))
	return old.Close()
}

// warnOfHistory warns if the history is damaged, and otherwise finds interrupted commits to a simulated subnet. It
// ignores the history of a live subnet, which findEarlierCommits opens.
func (s *Session) warnOfHistory(ctx context.Context) {
	r := s.recorder.Load()
	if s.State().Source.Live() || !r.Exists() {
		return
	}
	err := history.Check(r.File())
	if damaged, ok := errors.AsType[*history.DamagedError](err); ok {
		s.warn(damaged)
	}
	if err == nil && s.State().Source.Kind == source.Sim {
		_ = s.FindInterrupted(ctx) // the next command that uses the history reports the error
	}
}

// NewEntry returns a new history entry of a state.
func (o *Op) NewEntry(kind history.Kind, p *Picture, note string) history.Entry {
	return o.session.newEntry(kind, p, note, nil)
}

// Record adds a state to the history if the history keeps entries of this kind.
func (o *Op) Record(kind history.Kind, p *Picture, note string, figures map[string]float64) {
	o.session.record(kind, p, note, figures)
}

// record adds a state to the history if the history keeps entries of this kind.
func (s *Session) record(kind history.Kind, p *Picture, note string, figures map[string]float64) {
	if r := s.recorder.Load(); r.Records() {
		r.Record(s.newEntry(kind, p, note, figures), p.Fabric, p.Tables)
	}
}

// historyFailed notes an error of the history or of the record. If their newest changes cannot be read, each answer
// warns of that.
func (s *Session) historyFailed(err error) {
	s.Publish(ChangeLive, func(st *State) {
		st.Note("%v", err)
		if why, ok := errors.AsType[*sqlfile.ReadOnlyError](err); ok && why.Newest != "" {
			st.partial = append(slices.Clip(st.partial), err.Error())
		}
	})
}

// warn adds a warning to the state.
func (s *Session) warn(err error) {
	s.Publish(ChangeLive, func(st *State) { st.Warnings = append(slices.Clip(st.Warnings), err.Error()) })
}

// newEntry returns a new history entry of a state.
func (s *Session) newEntry(kind history.Kind, p *Picture, note string, figures map[string]float64) history.Entry {
	st := s.State()
	now := time.Now()
	e := history.Entry{
		Kind: kind, Subnet: st.subnet(), Began: now, Until: now, Who: s.recorder.Load().Who(),
		Source: st.Source.String(), Note: note, Figures: figures,
		Simulated: p.Simulated,
	}
	if kind != history.Sweep {
		e.Engine, e.Options = st.MakerOf(p)
	}
	return e
}

// subnet returns the identity of the subnet in the history, which consists of the source and the port that the session
// uses.
func (st *State) subnet() string {
	f := st.Live.Fabric
	if len(f.Nodes) == 0 {
		return st.Source.String()
	}
	if st.Source.Kind == source.Umad || st.Source.Kind == source.Ibsim {
		return fmt.Sprintf("%s port 0x%016x", st.Source.Kind, f.Ports[f.EndPortOf(f.SMPort)].GUID)
	}
	return st.Source.String()
}

// History returns the store of the session's history, after everything to be recorded has been written. It returns an
// error if there is no history.
func (s *Session) History() (*history.Store, error) { return s.recorder.Load().Store() }

// Subnet returns the identity of the subnet in the history.
func (s *Session) Subnet() string {
	st := s.State()
	return st.subnet()
}

func (s *Session) recall(id int64) (*Picture, error) {
	r := &s.recalled
	r.mu.Lock()
	defer r.mu.Unlock()
	if by := s.recorder.Load(); by != r.by || len(r.at) >= maxRecalled && r.at[id] == nil {
		r.by, r.at = by, map[int64]*Picture{}
	}
	if p, ok := r.at[id]; ok {
		return p, nil
	}
	store, err := r.by.Store()
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
	p := &Picture{Kind: Recorded + Kind(strconv.FormatInt(id, 10)), Fabric: snap.Fabric, Tables: snap.Tables,
		When: snap.Until, Simulated: snap.Simulated, Entry: &snap.Entry}
	r.at[id] = p
	var tables []*fabric.Tables
	for _, x := range r.at {
		tables = append(tables, x.Tables)
	}
	s.analysis.RetainPast(tables...)
	return p, nil
}
