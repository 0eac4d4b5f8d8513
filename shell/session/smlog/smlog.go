// SPDX-License-Identifier: Apache-2.0

// Package smlog follows the log of the subnet manager, opensm.log. It adds what the subnet manager did to the events of
// a session, and collects what the problems of the session need.
//
// By default OpenSM does not log when a sweep begins and why. So an event that is not in the log may have happened, and
// the session has an event that states whether the log has these marks.
package smlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osmlog"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
)

// Status is what is known of a log that is followed. It is immutable.
type Status struct {
	File   string
	Lines  int       // lines that were read
	Light  int       // light sweeps in them, which are not events
	Last   time.Time // the time of the last event in the log
	Failed error     // why the log cannot be read, or nil
	Log    problems.SMLog
}

var slot = session.NewSlot[*Status]()

// Of returns the status of the log that a session follows, or nil if it follows none.
func Of(st *session.State) *Status { return slot.Of(st) }

// Follower follows a log until it is closed.
type Follower struct {
	session *session.Session
	tail    tail
	parser  osmlog.Parser
	from    time.Time // earlier lines are not events
	status  Status
	stated  string // the last event about the log itself
	last    problems.Sender
	cause   string // of the next heavy sweep
	causeAt time.Time
	begun   bool   // the beginning of a heavy sweep was logged, and its end was not
	state   string // of this subnet manager
	other   other
	windows map[string]*window
	stop    context.CancelFunc
	ended   chan struct{}
}

// other is another subnet manager in the log.
type other struct {
	text        string
	guid        uint64
	first, last time.Time
}

// window collects events of one kind, so that a storm of them is few events.
type window struct {
	first session.Event
	last  time.Time
	more  int
}

const (
	poll       = time.Second
	windowTime = time.Minute
	// causeTime is the maximum time between a cause and the heavy sweep that it causes.
	causeTime = 10 * time.Second
	// resumeTime is the maximum age of the last event in the history from which following continues.
	resumeTime = 24 * time.Hour
	// otherTime is the minimum time for which the log names another master. Shorter ones are handovers.
	otherTime  = time.Minute
	maxHeavy   = 1000
	maxSenders = 1000
	maxTraps   = 100 // times that are kept of one sender
)

// Follow follows a log. The events begin after the last event of a log in the history, if that is at most a day old,
// otherwise now. A file that does not exist yet is followed once it exists.
func Follow(ctx context.Context, s *session.Session, path string) (*Follower, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	past, err := s.Timeline(ctx, now.Add(-resumeTime), now)
	if err != nil {
		return nil, err
	}
	f := &Follower{session: s, tail: tail{path: path}, from: now, status: Status{File: path},
		windows: map[string]*window{}, ended: make(chan struct{})}
	f.status.Log.Traps = map[problems.Sender][]time.Time{}
	for i := range past.Moments {
		if m := &past.Moments[i]; m.What == history.WhatSM {
			f.from = m.When
		}
	}
	if err := f.tail.open(true, f.skip); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("smlog: %s: %w", fabric.Escape(path), err)
	}
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	f.poll()
	go func() {
		defer close(f.ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(poll):
				f.poll()
			}
		}
	}()
	return f, nil
}

// Close ends following. It does nothing for nil.
func (f *Follower) Close() error {
	if f == nil {
		return nil
	}
	f.stop()
	<-f.ended
	var events []session.Event
	for _, w := range f.windows {
		events = append(events, w.end()...)
	}
	events = append(events, session.Event{When: time.Now(), What: history.WhatSMLog,
		Text: "no longer following " + f.name() + ": what the subnet manager does is unknown"})
	f.session.Publish(session.ChangeLive, func(st *session.State) {
		slot.Take(st)
		for _, e := range events {
			st.Add(e)
		}
	})
	return f.tail.close()
}

func (f *Follower) name() string { return fabric.Escape(f.tail.path) }

// skip reads a line for the level of the log only.
func (f *Follower) skip(line string) { f.parser.Line(line) }

// poll reads the new lines and publishes their events.
func (f *Follower) poll() {
	now := time.Now()
	st := f.session.State()
	var events []session.Event
	lines := f.status.Lines
	f.status.Failed = f.tail.read(func(line string) {
		f.status.Lines++
		e, ok := f.parser.Line(line)
		if !ok {
			return
		}
		f.status.Last = e.When
		text, at := f.take(st.Live.Fabric, &e)
		if text == "" || !e.When.After(f.from) {
			return
		}
		x := session.Event{When: e.When, What: history.WhatSM, Text: text, GUID: at.GUID, Port: max(at.Port, 0)}
		events = append(events, f.thin(x, alike(&e, at))...)
	})
	for key, w := range f.windows {
		if now.Sub(w.first.When) >= windowTime {
			events = append(events, w.end()...)
			delete(f.windows, key)
		}
	}
	slices.SortStableFunc(events, func(a, b session.Event) int { return a.When.Compare(b.When) })
	if text := f.coverage(); text != f.stated {
		f.stated = text
		events = append([]session.Event{{When: now, What: history.WhatSMLog, Text: text}}, events...)
	}
	if len(events) == 0 && f.status.Lines == lines {
		return
	}
	f.session.Publish(session.ChangeLive, func(st *session.State) {
		slot.Put(st, f.snapshot())
		for _, e := range events {
			st.Add(e)
		}
	})
}

// alike returns a key that is equal for events of which a minute has one.
func alike(e *osmlog.Event, at problems.Place) string {
	key := fmt.Sprint(e.Kind, e.Code, at.Name, e.Trap, " ", e.LID, " ", e.Port)
	if e.Kind == osmlog.State || e.Kind == osmlog.SMPort {
		key += e.Text
	}
	return key
}

// coverage returns a sentence about what the log contains.
func (f *Follower) coverage() string {
	if f.status.Failed != nil {
		return fmt.Sprintf("%s is not read: %v", f.name(), f.status.Failed)
	}
	switch written, known := f.parser.Verbose(); {
	case written:
		return "following " + f.name() + ", which has the beginnings and causes of sweeps"
	case known:
		return "following " + f.name() + ", which at its level lacks the beginnings and causes of sweeps: " + NotLogged
	}
	return "following " + f.name() + ": whether it has the beginnings and causes of sweeps is unknown"
}

// NotLogged states the limit of a log without verbose lines.
const NotLogged = "what is not logged may have happened"

// snapshot returns a copy of the status.
func (f *Follower) snapshot() *Status {
	s := f.status
	s.Log.Marks, _ = f.parser.Verbose()
	s.Log.Heavy = slices.Clone(s.Log.Heavy)
	s.Log.Traps = make(map[problems.Sender][]time.Time, len(f.status.Log.Traps))
	for sender, times := range f.status.Log.Traps {
		s.Log.Traps[sender] = slices.Clone(times)
	}
	if o := &f.other; o.last.Sub(o.first) >= otherTime {
		s.Log.Other, s.Log.OtherGUID, s.Log.OtherAt = o.text, o.guid, o.last
	}
	return &s
}

// thin returns an event at once if none of the same kind was returned in the last minute. Otherwise it counts the
// event.
func (f *Follower) thin(e session.Event, key string) (now []session.Event) {
	w := f.windows[key]
	if w != nil && e.When.Sub(w.first.When) < windowTime {
		w.more++
		w.last = e.When
		return nil
	}
	if w != nil {
		now = w.end()
	}
	f.windows[key] = &window{first: e, last: e.When}
	return append(now, e)
}

// end returns an event for the counted events of a window.
func (w *window) end() []session.Event {
	if w.more == 0 {
		return nil
	}
	e := w.first
	e.When = w.last
	e.Text += fmt.Sprintf("; %s since %s", prose.Count(w.more, "more"), when.Clock(w.first.When))
	return []session.Event{e}
}

// take adds an event of the log to the status. It returns the text and the place of the event for the timeline, "" for
// an event that is only counted.
func (f *Follower) take(in *fabric.Fabric, e *osmlog.Event) (text string, at problems.Place) {
	at = problems.WholeSubnet
	if p := in.PortByGUID(e.GUID); e.GUID != 0 && p != fabric.None {
		at = problems.PlaceOfPort(in, p)
	}
	switch e.Kind {
	case osmlog.LightSweep:
		f.status.Light++
	case osmlog.Cause:
		f.setCause(e.When, e.Text)
	case osmlog.HeavySweep:
		f.begun = true
		return "heavy sweep began" + f.heavy(e), at
	case osmlog.SubnetUp:
		return "heavy sweep ended: the subnet is up" + f.swept(e), at
	case osmlog.NotUp:
		return "heavy sweep ended: " + e.Text + f.swept(e), at
	case osmlog.HeavyDone, osmlog.LightDone:
	case osmlog.Trap:
		return f.trap(in, e)
	case osmlog.Repeated:
		return f.repeated(in, e), at
	case osmlog.Unhealthy:
		at, name := problems.Sender{LID: e.LID, Port: e.Port}.Place(in)
		return name + " marked as unhealthy: " + e.Text, at
	case osmlog.State:
		f.state, f.other = e.State, other{}
		return "subnet manager entered the state " + e.State, at
	case osmlog.Handover:
		f.other = other{}
		return e.Text, at
	case osmlog.OtherMaster, osmlog.OtherKey:
		f.another(e)
		return e.Text, at
	case osmlog.Fault:
		return e.Code + ": " + e.Text, at
	case osmlog.Ended:
		f.state = ""
		return "OpenSM ended", at
	case osmlog.Started:
		return e.Text + " started", at
	default:
		return e.Text, at
	}
	return "", at
}

func (f *Follower) setCause(when time.Time, text string) { f.cause, f.causeAt = text, when }

// heavy counts a heavy sweep. It returns its cause in parentheses.
func (f *Follower) heavy(e *osmlog.Event) string {
	l := &f.status.Log
	l.Heavy = append(l.Heavy[max(0, len(l.Heavy)+1-maxHeavy):], e.When)
	l.Cause = ""
	if d := e.When.Sub(f.causeAt); f.cause != "" && d >= 0 && d <= causeTime {
		l.Cause = f.cause
	}
	f.cause = ""
	return prose.When(l.Cause == "", "", " ("+l.Cause+")")
}

// swept ends a heavy sweep. If its beginning was not logged, swept counts it, and returns its cause.
func (f *Follower) swept(e *osmlog.Event) (cause string) {
	if !f.begun {
		cause = f.heavy(e)
	}
	f.begun = false
	return cause
}

// repeated adds the repetitions of the last trap, and returns their text.
func (f *Follower) repeated(in *fabric.Fabric, e *osmlog.Event) string {
	for range min(e.Count, maxTraps) {
		f.addTrap(f.last, e.When)
	}
	_, name := f.last.Place(in)
	return fmt.Sprintf("%s from %s, %d times consecutively", f.last.Name(), name, e.Count)
}

// trap adds a trap.
func (f *Follower) trap(in *fabric.Fabric, e *osmlog.Event) (string, problems.Place) {
	s := problems.Sender{Trap: e.Trap, LID: e.LID, Port: e.Port}
	f.addTrap(s, e.When)
	f.last = s
	at, name := s.Place(in)
	if f.cause == "" || e.When.Sub(f.causeAt) > causeTime {
		f.setCause(e.When, "after "+s.Name()+" from "+name)
	}
	return fmt.Sprintf("%s from %s (LID %d)", s.Name(), name, s.LID), at
}

func (f *Follower) addTrap(s problems.Sender, when time.Time) {
	traps := f.status.Log.Traps
	if len(traps) >= maxSenders && traps[s] == nil {
		for old, times := range traps {
			if when.Sub(times[len(times)-1]) > problems.RecentSMLog {
				delete(traps, old)
			}
		}
		if len(traps) >= maxSenders {
			return
		}
	}
	times := traps[s]
	traps[s] = append(times[max(0, len(times)+1-maxTraps):], when)
}

// another adds another subnet manager that is or may be master.
func (f *Follower) another(e *osmlog.Event) {
	if f.state != "MASTER" {
		return
	}
	text := "the subnet manager of " + f.name() + " is master and "
	if e.Kind == osmlog.OtherKey {
		text += "ignores another one, whose SM_Key differs: both can be master: " + e.Text
	} else {
		text += "found another master: " + e.Text
	}
	if f.other.text != text || e.When.Sub(f.other.last) > problems.RecentSMLog {
		f.other = other{text: text, guid: e.GUID, first: e.When}
	}
	f.other.last = e.When
}
