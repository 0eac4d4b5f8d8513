// SPDX-License-Identifier: Apache-2.0

package pathrecords

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
)

// FollowReport describes an update of a path database.
type FollowReport struct {
	File string
	// State is the state number of the database, and Size its length in bytes. Delta is the length in bytes of the
	// applied difference, or 0 for a new file. Why is the reason why a new file replaced an existing one.
	State uint64
	Size  int
	Delta int
	Why   string
	// Same is set if the database was already current.
	Same bool
}

// FollowOptions controls [Follow].
type FollowOptions struct {
	// Trace adds the switches of paths to a new database.
	Trace bool
	// Deltas is the folder in which differences are stored, or "" for none. The name of a difference is the number of
	// the state to which it applies.
	Deltas string
}

// follower holds the goroutine that keeps a path database current. It works until Close.
type follower struct {
	stop context.CancelFunc
	done chan struct{}
}

// Follow writes the path database of the live state to a file. It updates the file after each change of the live state,
// until [StopFollowing] or the end of the session. Each update is an event. Readers of the file see either the state
// before an update or the state after it.
func Follow(ctx context.Context, s *session.Session, file string, opt FollowOptions) (*FollowReport, error) {
	if !s.Connection().Online() {
		return nil, connection.ErrOffline
	}
	StopFollowing(s)
	st := s.State()
	rep, err := update(ctx, &st, file, opt)
	if err != nil {
		return rep, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &follower{stop: cancel, done: make(chan struct{})}
	w := s.Watch()
	s.Publish(session.ChangeSettings, func(st *session.State) { followSlot.Put(st, k) })
	go func() {
		defer close(k.done)
		defer w.Stop()
		followOn(ctx, s, w, st.Live.Tables, file, opt)
	}()
	return rep, nil
}

// followOn updates the file after changes of the live tables, until ctx ends. The argument seen contains the tables
// that are in the file. A failed update is repeated after the next change.
func followOn(ctx context.Context, s *session.Session, w *session.Watcher, seen *fabric.Tables, file string,
	opt FollowOptions) {
	for failed := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.C:
		}
		w.Take()
		st := s.State()
		if st.Live.Tables == seen {
			continue
		}
		rep, err := update(ctx, &st, file, opt)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if failed != err.Error() {
				failed = err.Error()
				s.Publish(session.ChangeSettings, func(st *session.State) {
					st.Note("path database %s: %s", fabric.Escape(file), failed)
				})
			}
			continue
		case !rep.Same:
			s.Publish(session.ChangeSettings, func(st *session.State) { st.Note("path database %s", rep.Text()) })
		}
		seen, failed = st.Live.Tables, ""
	}
}

// Close stops the updates. It waits for a running update.
func (k *follower) Close() error {
	k.stop()
	<-k.done
	return nil
}

var followSlot = session.NewSlot[*follower]()

// StopFollowing stops the updates that [Follow] began. It waits for a running update. The file is kept.
func StopFollowing(s *session.Session) {
	var k *follower
	s.Publish(session.ChangeSettings, func(st *session.State) {
		k = followSlot.Take(st)
	})
	if k != nil {
		_ = k.Close() // never fails
	}
}

// Text describes the update in one line.
func (r *FollowReport) Text() string {
	switch {
	case r.Same:
		return fmt.Sprintf("%s: state %d, nothing has changed", fabric.Escape(r.File), r.State)
	case r.Delta > 0:
		return fmt.Sprintf("%s: state %d, after a difference of %d bytes", fabric.Escape(r.File), r.State, r.Delta)
	case r.Why != "":
		return fmt.Sprintf("%s: a new file of %d bytes, state %d (%s)", fabric.Escape(r.File), r.Size, r.State, r.Why)
	}
	return fmt.Sprintf("%s: a new file of %d bytes, state %d", fabric.Escape(r.File), r.Size, r.State)
}

// update makes a database match the live state. If possible it applies a difference, otherwise it writes a new file.
func update(ctx context.Context, st *session.State, file string, opt FollowOptions) (*FollowReport, error) {
	rep := &FollowReport{File: file}
	if st.Live.Tables == nil || st.Live.Fabric.MaxLID == 0 {
		return rep, errors.New("the live state has no forwarding tables")
	}
	db, err := pathdb.Open(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		return rep, newFile(ctx, st, rep, opt.Trace, "")
	}
	if err != nil {
		return rep, err
	}
	defer func() { _ = db.Close() }()
	old := db.View()
	info := old.Info()
	image, err := imageOf(ctx, st, info.HasTrace, old)
	if errors.Is(err, pathdb.ErrLayout) {
		return rep, newFile(ctx, st, rep, info.HasTrace, err.Error())
	}
	if err != nil {
		return rep, err
	}
	fresh, err := pathdb.Parse(image)
	if err != nil {
		return rep, err
	}
	rep.State, rep.Size = info.State, info.Whole
	if rep.Same = pathdb.Same(old, fresh.View()); rep.Same {
		return rep, nil
	}
	delta, err := pathdb.Delta(old, fresh.View())
	switch {
	case errors.Is(err, pathdb.ErrLayout):
		return rep, newFile(ctx, st, rep, info.HasTrace, err.Error())
	case err != nil:
		return rep, err
	case info.Whole > 2*len(image)+slack:
		return rep, newFile(ctx, st, rep, info.HasTrace, "past states used more than half of it")
	}
	return rep, rep.apply(ctx, delta, opt)
}

// slack is added to twice the size of the contents to get the maximum size of a database file, in bytes. A larger file
// is rebuilt.
const slack = 64 << 10

// apply applies a difference to the file. If there is a folder of differences, it also stores the difference there.
func (r *FollowReport) apply(ctx context.Context, delta []byte, opt FollowOptions) error {
	if opt.Deltas != "" {
		if err := pathdb.WriteFile(filepath.Join(opt.Deltas, fmt.Sprintf("%08d.delta", r.State)), delta); err != nil {
			return err
		}
	}
	if err := pathdb.Apply(ctx, r.File, delta); err != nil {
		return err
	}
	r.State++
	r.Delta = len(delta)
	return nil
}

// newFile writes a new database with the state number 1.
func newFile(ctx context.Context, st *session.State, r *FollowReport, trace bool, why string) error {
	image, err := imageOf(ctx, st, trace, nil)
	if err != nil {
		return err
	}
	r.State, r.Size, r.Why = 1, len(image), why
	return pathdb.WriteFile(r.File, image)
}

func imageOf(ctx context.Context, st *session.State, trace bool, like *pathdb.View) ([]byte, error) {
	opt := paths.Options{Trace: trace, Like: like, Built: time.Now()}
	opt.PKeys, opt.PartitionSLs = st.PartitionsOf(st.Live.Fabric)
	return paths.Build(ctx, st.PathTables(st.Live.Tables), opt)
}
