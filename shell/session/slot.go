// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"io"
	"maps"
)

// Slot is a place in [State] for a value that another package defines. [NewSlot] creates a slot; the zero value is not
// usable.
type Slot[T any] struct{ key *slotKey }

type slotKey struct{ _ byte }

// NewSlot returns a new slot.
func NewSlot[T any]() Slot[T] { return Slot[T]{new(slotKey)} }

// Of returns the value in a state, or the zero value if the slot is empty.
func (l Slot[T]) Of(st *State) T {
	v, _ := st.slots[l.key].(T)
	return v
}

// Put stores a value in a state. It is called within [Session.Publish]. When the session is closed, values that
// implement io.Closer are closed. A value that is replaced is not closed.
func (l Slot[T]) Put(st *State, v T) {
	st.slots = maps.Clone(st.slots)
	if st.slots == nil {
		st.slots = map[*slotKey]any{}
	}
	st.slots[l.key] = v
}

// Take removes the value from a state and returns it. It is called within [Session.Publish].
func (l Slot[T]) Take(st *State) T {
	v := l.Of(st)
	st.slots = maps.Clone(st.slots)
	delete(st.slots, l.key)
	return v
}

// closeSlots closes the values in slots that implement io.Closer.
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
