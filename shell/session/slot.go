// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"io"
	"maps"
)

// Slot is a place in [State] for a value of a feature. [NewSlot] makes one; the zero value is not usable.
type Slot[T any] struct{ key *slotKey }

type slotKey struct{ _ byte }

// NewSlot returns a new slot.
func NewSlot[T any]() Slot[T] { return Slot[T]{new(slotKey)} }

// Of returns the value in a state, the zero value for none.
func (l Slot[T]) Of(st *State) T {
	v, _ := st.slots[l.key].(T)
	return v
}

// Put sets the value in a state that [Session.Publish] changes. Closing the session closes values that implement
// io.Closer; replacing a value does not.
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
