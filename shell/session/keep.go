// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session/connection"
)

const maxEvents = 2000 // how many events a session remembers

// Event is something that a sweep found to be new.
type Event struct {
	When   time.Time
	What   string // the kind, see [history.Event]
	Text   string
	Who    string         // who or what was probably behind it, in words
	Change *fabric.Change // what changed in the subnet, nil for other events
}

// keeper sweeps again and again until it is stopped.
type keeper struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// KeepCurrent sweeps lightly every so often from now on, until [Session.StopKeeping]
// or [Session.Close]. A sweep is left out while another operation runs. What has
// changed, also against what the last commit wrote, is added to the events of the state.
func (s *Session) KeepCurrent(every time.Duration) error {
	if !s.conn.Online() {
		return connection.ErrOffline
	}
	s.StopKeeping()
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{stop: cancel, ended: make(chan struct{})}
	s.Publish(ChangeSettings, func(st *State) {
		s.keeper = k
		st.Every = every
	})
	go func() {
		defer close(k.ended)
		s.findCommitted(ctx)
		s.keepOn(ctx, every)
	}()
	return nil
}

// longestPause is how long to wait at most between two tries to open a lost source, unless sweeps are as rare.
const longestPause = time.Minute

// keepOn sweeps until ctx ends, with longer and longer pauses while the connection is lost.
func (s *Session) keepOn(ctx context.Context, every time.Duration) {
	for pause := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		s.keep(ctx)
		if s.State().Lost == "" {
			pause = every
			continue
		}
		pause = min(2*pause, max(every, longestPause))
	}
}

// keep sweeps once. A sweep that fails is an event.
func (s *Session) keep(ctx context.Context) {
	_, err := s.SweepLight(ctx)
	if errors.Is(err, ErrBusy) || ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil {
		text = "sweep: " + err.Error()
	}
	if s.State().WatchFailed != text {
		s.Publish(ChangeLive, func(st *State) { st.WatchFailed = text })
	}
	if err == nil {
		return
	}
	st := s.State()
	if st.Lost != "" {
		return // which is an event already
	}
	if n := len(st.Events); n > 0 && st.Events[n-1].Text == text {
		return
	}
	s.Publish(ChangeLive, func(st *State) { st.Note("%s", text) })
}

// StopKeeping ends what [Session.KeepCurrent] began. It waits for a sweep that is under way, which it cancels.
func (s *Session) StopKeeping() {
	var k *keeper
	s.Publish(ChangeSettings, func(st *State) {
		k, s.keeper = s.keeper, nil
		st.Every, st.WatchFailed = 0, ""
	})
	if k != nil {
		k.stop()
		<-k.ended
	}
}

// Note adds an event to a state that [Session.Publish] changes.
func (n *News) Note(format string, args ...any) { n.NoteOf("", "", format, args...) }

// NoteOf adds an event of some kind, and who was probably behind it.
func (n *News) NoteOf(what, who, format string, args ...any) {
	n.Add(Event{When: time.Now(), What: what, Who: who, Text: fmt.Sprintf(format, args...)})
}

// Add adds an event to a state that [Session.Publish] changes.
func (n *News) Add(e Event) {
	n.Events = append(slices.Clip(n.Events[max(0, len(n.Events)+1-maxEvents):]), e)
}
