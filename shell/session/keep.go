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

const maxEvents = 2000 // how many events a session keeps

// Event is a change that a sweep found.
type Event struct {
	When   time.Time
	What   string // the kind, see [history.Event]
	Text   string
	Who    string         // who or what was probably the cause, in words
	Change *fabric.Change // what changed in the subnet, nil for other events
}

// keeper sweeps periodically until it is stopped.
type keeper struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// KeepCurrent starts light sweeps at an interval, until [Session.StopKeeping] or [Session.Close]. A sweep is skipped
// while another operation runs. Changes, also of what the last commit wrote, become events of the state.
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

// longestPause is the longest pause between two tries to open a lost source, unless the interval is longer.
const longestPause = time.Minute

// keepOn sweeps until ctx ends. The pause doubles while the connection is lost.
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
		return // the loss is an event already
	}
	if n := len(st.Events); n > 0 && st.Events[n-1].Text == text {
		return
	}
	s.Publish(ChangeLive, func(st *State) { st.Note("%s", text) })
}

// StopKeeping ends the sweeps of [Session.KeepCurrent]. It cancels a running sweep and waits for it.
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

// NoteOf adds an event of a kind with its probable cause.
func (n *News) NoteOf(what, who, format string, args ...any) {
	n.Add(Event{When: time.Now(), What: what, Who: who, Text: fmt.Sprintf(format, args...)})
}

// Add adds an event to a state that [Session.Publish] changes.
func (n *News) Add(e Event) {
	n.Events = append(slices.Clip(n.Events[max(0, len(n.Events)+1-maxEvents):]), e)
}
