// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
)

const maxEvents = 2000 // how many events a session keeps

// Event is a change that a sweep found.
type Event struct {
	When   time.Time
	What   string // the kind, see [history.Event]
	Text   string
	Who    string         // who or what was probably the cause, in words
	Change *fabric.Change // what changed in the subnet, nil for other events
	// GUID and Port are the node and the port that an event without a change concerns, 0 for none.
	GUID uint64
	Port int
	// Alert describes the alert of an event about one, nil for other events.
	Alert *Alert

	number uint64 // counts the events of the session
}

// Alert is an alert that started or ended. It is passed to the program of exec as JSON.
type Alert struct {
	ID       string          `json:"id"`    // that of the problem
	State    string          `json:"state"` // started or ended
	Severity string          `json:"severity"`
	Kind     problems.Kind   `json:"problem"`
	What     string          `json:"what"`
	Since    time.Time       `json:"since"`
	Counter  string          `json:"counter,omitempty"` // as perfquery names it
	Limit    *uint64         `json:"limit,omitempty"`
	Seconds  float64         `json:"period_seconds,omitempty"`
	Value    float64         `json:"value,omitempty"`  // the increase in the period, or the number of links of a node
	Source   string          `json:"source,omitempty"` // where the limit comes from
	At       *problems.Place `json:"at,omitempty"`
	Peer     *problems.Place `json:"peer,omitempty"` // the other end of the link
	// Pairs is the number of pairs whose paths use the link or node, nil if unknown. Jobs are the running jobs that use
	// it, nil if unknown, and JobsUnknown is the reason.
	Pairs       *int64   `json:"pairs"`
	Jobs        []string `json:"jobs"`
	JobsUnknown string   `json:"jobs_unknown,omitempty"`
}

// keeper runs periodic sweeps until it is stopped.
type keeper struct {
	stop  context.CancelFunc
	ended chan struct{}
}

// KeepCurrent starts light sweeps at an interval, until [Session.StopKeeping] or [Session.Close]. A sweep is skipped
// while another operation runs. Changes that sweeps find become events of the state. These include changes to the
// tables that the last commit wrote. If the source is a file, KeepCurrent reads the file again when it changes.
func (s *Session) KeepCurrent(every time.Duration) error {
	s.StopKeeping()
	ctx, cancel := context.WithCancel(context.Background())
	k := &keeper{stop: cancel, ended: make(chan struct{})}
	s.Publish(ChangeSettings, func(st *State) {
		s.keeper = k
		st.Every = every
	})
	go func() {
		defer close(k.ended)
		if s.conn.Online() {
			s.findCommitted(ctx)
		}
		s.keepOn(ctx, every)
	}()
	return nil
}

// longestPause is the maximum pause between two attempts to open a lost source, unless the interval of sweeps is
// longer.
const longestPause = time.Minute

// keepOn runs sweeps until ctx ends. While the connection is lost, each pause is twice as long as the last.
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

// keep runs one sweep. If the sweep fails, keep adds an event.
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

// Note adds an event with a text. It is called within [Session.Publish].
func (n *News) Note(format string, args ...any) { n.NoteOf("", "", format, args...) }

// NoteOf adds an event with a kind and a probable cause. It is called within [Session.Publish].
func (n *News) NoteOf(what, who, format string, args ...any) {
	n.Add(Event{When: time.Now(), What: what, Who: who, Text: fmt.Sprintf(format, args...)})
}

// Add adds an event. It is called within [Session.Publish].
func (n *News) Add(e Event) {
	n.events++
	e.number = n.events
	n.Events = append(slices.Clip(n.Events[max(0, len(n.Events)+1-maxEvents):]), e)
}

// EventCount returns the number of events that were ever added.
func (n *News) EventCount() uint64 { return n.events }

// EventsSince returns the events after the first ones, whose number is the count. Times cannot
// select them: an event may be older than the events before it, and a clock may go back.
func (n *News) EventsSince(count uint64) []Event {
	at := len(n.Events)
	for at > 0 && n.Events[at-1].number > count {
		at--
	}
	return n.Events[at:]
}
