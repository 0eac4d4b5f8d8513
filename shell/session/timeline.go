// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"example.org/ibconsole/history"
	"example.org/ibconsole/history/timeline"
)

// Timeline lists the events of a period.
type Timeline struct {
	Moments []timeline.Moment // the oldest first
	// Before is the last state that was read up to the beginning of the time span, and After the last state up to its
	// end. If no state was read by then, it is the first state. Both are nil if there is no state at all; Why is the
	// reason.
	Before, After *timeline.Seen
	Why           error
	Unread        error // why the history could not be read, nil if it was, or if the session keeps none
	// SMLog is the text of the last event up to the end of the time span about the log of a subnet manager: whether it
	// is followed, and what it leaves out. It is "" if no such log was ever followed.
	SMLog string
}

// Timeline returns the events between two times, from this session and from the history. They include events of sweeps
// and commits. If the subnet was not watched between two sweeps, they include the differences between these sweeps.
func (s *Session) Timeline(ctx context.Context, since, until time.Time) (*Timeline, error) {
	st := s.State()
	t, past := &Timeline{}, &timeline.History{}
	if store, err := s.History(); err != nil {
		if t.Why = err; !s.recorder.Load().None() {
			t.Unread = err
		}
	} else if past, err = timeline.Read(ctx, store, st.subnet()); err != nil {
		return nil, err
	}
	all := past.Moments(st.unrecorded())
	for i := range all {
		if m := &all[i]; m.What == history.WhatSMLog && !m.When.After(until) {
			t.SMLog = m.Text
		}
	}
	t.Moments = slices.DeleteFunc(all, func(m timeline.Moment) bool {
		return m.When.Before(since) || m.When.After(until)
	})
	t.Before, t.After = past.EntryAt(since), past.EntryAt(until)
	if live := st.Live; t.After != nil && live.When.After(t.After.Until) && !live.When.After(until) {
		t.After = &timeline.Seen{Began: live.When, Until: live.When}
	}
	if t.Before == nil && t.Why == nil {
		t.Why = errors.New("the history of this subnet is empty")
	}
	return t, nil
}

// EntryKind returns the kind of the state of a history entry. For 0 it returns [Live].
func EntryKind(id int64) Kind {
	if id == 0 {
		return Live
	}
	return Kind(strconv.FormatInt(id, 10))
}
