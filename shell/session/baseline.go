// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/files"
)

// Baseline is the expected subnet.
type Baseline struct {
	Fabric *fabric.Fabric
	When   time.Time
	File   string      // its file
	Unread unread.List // what of the file could not be read
}

// ErrNoBaseline is returned if no baseline was saved.
var ErrNoBaseline = errors.New("there is no baseline of this subnet; hint: run 'baseline save'")

// SaveBaseline saves the live subnet as the baseline in a file. If the argument file is "", it uses a file in the state
// directory. Nodes and links that were lost before are then no longer reported as lost.
func (s *Session) SaveBaseline(ctx context.Context, file string) (*Baseline, error) {
	op, err := s.Begin(ctx, "baseline")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	if len(st.Live.Fabric.Nodes) == 0 {
		return nil, errors.New("the subnet was not read yet; hint: run 'sweep'")
	}
	if file == "" {
		if file, err = s.BaselineFile(); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, fmt.Errorf("save the baseline: %w", files.Err(err))
		}
	}
	b := &Baseline{Fabric: st.Live.Fabric, When: time.Now(), File: file}
	if err := files.Write(file, func(w io.Writer) error {
		return snapshot.Write(w, snapshot.Snapshot{Fabric: b.Fabric})
	}); err != nil {
		return nil, err
	}
	s.Publish(ChangeLive, func(st *State) { st.Baseline, st.Losses = b, nil })
	return b, s.recordAccepted()
}

// recordAccepted records in the history, if there is one, that no node or link is lost any more.
func (s *Session) recordAccepted() error {
	st, r := s.State(), s.recorder.Load()
	if !st.Source.Live() || !r.Exists() {
		return nil
	}
	store, err := r.Store()
	if err != nil || store.ReadOnly() != nil {
		return err
	}
	sweeperOf(s).recordRead(st.Live, len(st.Unanswered))
	return nil
}

// LoadBaseline reads a baseline from a file. The file may be a saved baseline or any topology file.
func (s *Session) LoadBaseline(ctx context.Context, file string) (*Baseline, error) {
	op, err := s.Begin(ctx, "baseline")
	if err != nil {
		return nil, err
	}
	defer op.End()
	return s.readBaseline(ctx, file)
}

func (s *Session) readBaseline(ctx context.Context, file string) (*Baseline, error) {
	subnet, err := formats.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	b := &Baseline{subnet.Fabric, info.ModTime(), file, subnet.Unread}
	s.Publish(ChangeLive, func(st *State) { st.Baseline = b })
	return b, nil
}

// BaselineFile returns the path of the subnet's baseline in the state directory.
func (s *Session) BaselineFile() (string, error) {
	if s.opt.StateDir == "" {
		return "", errors.New("this session has no history; hint: 'baseline save FILE' saves to a file")
	}
	sum := sha256.Sum256([]byte(s.Subnet()))
	return filepath.Join(s.opt.StateDir, fmt.Sprintf("baseline-%x.snap", sum[:6])), nil
}

// findBaseline loads the saved baseline of the subnet, if there is one.
func (s *Session) findBaseline(ctx context.Context) {
	file, err := s.BaselineFile()
	if err != nil || s.State().Baseline != nil {
		return
	}
	err = files.Regular(ctx, file, files.Snapshot) // no command requested it, so it must not wait for a pipe
	if err == nil {
		_, err = s.readBaseline(ctx, file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Publish(ChangeLive, func(st *State) { st.Note("baseline: %v", err) })
	}
}
