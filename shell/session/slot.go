// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"io"
	"maps"
)

// Slot is a place in [State] for a value that a feature keeps there. The zero value is no slot: see [NewSlot].
type Slot[T any] struct{ key *slotKey }

type slotKey struct{ _ byte }

// NewSlot returns a slot of its own.
func NewSlot[T any]() Slot[T] { return Slot[T]{new(slotKey)} }

// Of returns the value of a state, the zero value where there is none.
func (l Slot[T]) Of(st *State) T {
	v, _ := st.slots[l.key].(T)
	return v
}

// Put puts a value into a state that [Session.Publish] changes. The end of the session closes values that can be
// closed; a value that takes the place of another does not.
func (l Slot[T]) Put(st *State, v T) {
	st.slots = maps.Clone(st.slots)
	if st.slots == nil {
		st.slots = map[*slotKey]any{}
	}
	st.slots[l.key] = v
}

// Take removes the value of a state that [Session.Publish] changes, and returns it.
func (l Slot[T]) Take(st *State) T {
	v := l.Of(st)
	st.slots = maps.Clone(st.slots)
	delete(st.slots, l.key)
	return v
}

// closeSlots closes the values of slots that can be closed.
func (s *Session) closeSlots() error {
	var all error
	for _, v := range s.State().slots {
		if c, ok := v.(io.Closer); ok {
			all = errors.Join(all, c.Close())
		}
	}
	s.Publish(0, func(st *State) { st.slots = nil })
	return all
}
