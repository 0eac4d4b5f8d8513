// SPDX-License-Identifier: Apache-2.0

package session

import "slices"

// Change says which kinds of things changed, as a set of bits.
type Change uint

// The kinds of changes.
const (
	ChangeLive Change = 1 << iota
	ChangePaper
	ChangeStaged
	ChangeSettings
	ChangeBusy
)

// Watcher hears of changes. Changes that come faster than they are taken are
// put together, so a slow face never holds up the session.
type Watcher struct {
	C       chan struct{} // has an element while there is something to take
	session *Session
	pending Change
}

// Watch begins to listen for changes.
func (s *Session) Watch() *Watcher {
	w := &Watcher{C: make(chan struct{}, 1), session: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return w
}

// Take returns what changed since the last call.
func (w *Watcher) Take() Change {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	c := w.pending
	w.pending = 0
	return c
}

// Stop ends the listening.
func (w *Watcher) Stop() {
	w.session.mu.Lock()
	defer w.session.mu.Unlock()
	w.session.watchers = slices.DeleteFunc(w.session.watchers, func(x *Watcher) bool { return x == w })
}

func (w *Watcher) tell(c Change) {
	w.pending |= c
	select {
	case w.C <- struct{}{}:
	default:
	}
}
