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

// Followed is what became of a path database that is kept current.
type Followed struct {
	File string
	// State is that of the database, and Size its length in bytes. Delta is how long the difference was that
	// led to it, 0 for a new file; Why says of a new one what stood in the way of a difference.
	State uint64
	Size  int
	Delta int
	Why   string
	// Same says that nothing had changed.
	Same bool
}

// FollowOptions are how a path database is kept current.
type FollowOptions struct {
	// Trace keeps the switches that paths pass, too, in a database that is new.
	Trace bool
	// Deltas is a folder for the differences, named by the state that they are for, "" for none.
	Deltas string
}

// follower keeps a path database current until it is stopped.
type follower struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// Follow makes a file the path database of the live picture, and whenever that changes brings it to
// what is live then, until [StopFollowing] or the end of the session. Each is an event. What reads the
// file sees a state before a change or after it.
func Follow(ctx context.Context, s *session.Session, file string, opt FollowOptions) (*Followed, error) {
	if !s.Connection().Online() {
		return nil, connection.ErrOffline
	}
	StopFollowing(s)
	st := s.State()
	rep, err := bringTo(ctx, &st, file, opt)
	if err != nil {
		return rep, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &follower{stop: cancel, ended: make(chan struct{})}
	w := s.Watch()
	s.Publish(session.ChangeSettings, func(st *session.State) { followSlot.Put(st, k) })
	go func() {
		defer close(k.ended)
		defer w.Stop()
		followOn(ctx, s, w, st.Live.Tables, file, opt)
	}()
	return rep, nil
}

// followOn follows from tables on until ctx ends. What could not be written is tried again.
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
		rep, err := bringTo(ctx, &st, file, opt)
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

// Close ends the following, and waits for a change that is under way.
func (k *follower) Close() error {
	k.stop()
	<-k.ended
	return nil
}

var followSlot = session.NewSlot[*follower]()

// StopFollowing ends what [Follow] began; the file stays. It waits for a change that is under way.
func StopFollowing(s *session.Session) {
	var k *follower
	s.Publish(session.ChangeSettings, func(st *session.State) {
		k = followSlot.Take(st)
	})
	if k != nil {
		_ = k.Close() // which never fails
	}
}

// Text says what became of the file.
func (r *Followed) Text() string {
	switch {
	case r.Same:
		return fmt.Sprintf("%s: state %d, nothing has changed", fabric.Escape(r.File), r.State)
	case r.Delta > 0:
		return fmt.Sprintf("%s: state %d, by a difference of %d bytes", fabric.Escape(r.File), r.State, r.Delta)
	case r.Why != "":
		return fmt.Sprintf("%s: a new file of %d bytes, state %d (%s)", fabric.Escape(r.File), r.Size, r.State, r.Why)
	}
	return fmt.Sprintf("%s: a new file of %d bytes, state %d", fabric.Escape(r.File), r.Size, r.State)
}

// bringTo brings a database to the live picture: by a difference where it can be.
func bringTo(ctx context.Context, st *session.State, file string, opt FollowOptions) (*Followed, error) {
	rep := &Followed{File: file}
	if st.Live.Tables == nil || st.Live.Fabric.MaxLID == 0 {
		return rep, errors.New("the live picture has no forwarding tables")
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
		return rep, newFile(ctx, st, rep, info.HasTrace, "the older states in it took more than half of it")
	}
	return rep, rep.apply(ctx, delta, opt)
}

// slack is by how many bytes a database may outgrow twice its contents before it is made anew.
const slack = 64 << 10

func (r *Followed) apply(ctx context.Context, delta []byte, opt FollowOptions) error {
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

// newFile writes a database that has no state before.
func newFile(ctx context.Context, st *session.State, r *Followed, trace bool, why string) error {
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
	return paths.Build(ctx, st.Live.Tables, opt)
}
