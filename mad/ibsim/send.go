// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// sendLimit is how long a frame waits for room in ibsim's queues; stuckLimit the same behind one in vain.
const (
	sendLimit  = 50 * time.Millisecond
	stuckLimit = time.Millisecond
)

// sender holds packets back, so that they are sent together.
type sender struct {
	mu    sync.Mutex
	held  messages
	first int    // of those held
	n     int    // where they end
	gone  uint64 // packets that were held and are no more
	stuck bool   // the last that waited for room was dropped
}

// Send implements [mad.Transport]. Acknowledgements of segments are not sent: no client of ibsim understands
// them. The error wraps [ErrGone] once ibsim has ended.
func (t *Transport) Send(f *mad.Frame) error {
	if mad.ControlsSegments(&f.Data) {
		return nil
	}
	s := &t.out
	s.mu.Lock()
	defer s.mu.Unlock()
	number := t.put(f)
	if err := t.send(); err != nil {
		return err
	}
	limit := sendLimit
	if s.stuck {
		limit = stuckLimit
	}
	for end := time.Now().Add(limit); s.gone < number; {
		left := time.Until(end)
		if s.stuck = left <= 0; s.stuck {
			s.drop(int(number - s.gone))
			return nil
		}
		s.mu.Unlock()
		t.lanes.waitRoom(left)
		s.mu.Lock()
		if err := t.send(); err != nil {
			return err
		}
	}
	return nil
}

// Hold implements [mad.Holder].
func (t *Transport) Hold(f *mad.Frame) error {
	if mad.ControlsSegments(&f.Data) {
		return nil
	}
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	t.put(f)
	if t.in.waiting.Load() {
		return t.send()
	}
	return nil
}

// flush sends what is held back as far as there is room.
func (t *Transport) flush() error {
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	return t.send()
}

func (s *sender) holds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first < s.n
}

// put holds a frame back and returns its number among all that were. Without room it drops the oldest.
func (t *Transport) put(f *mad.Frame) uint64 {
	s := &t.out
	if s.n == len(s.held.packets) {
		if s.n < mad.MaxWindow {
			s.held.resize(2 * s.n)
		} else {
			if s.first == 0 {
				s.drop(1)
			}
			s.n = copy(s.held.packets, s.held.packets[s.first:])
			s.first = 0
		}
	}
	s.held.packets[s.n].encode(f)
	s.n++
	t.more.sent(t)
	return s.gone + uint64(s.n-s.first)
}

// drop takes the first so many out.
func (s *sender) drop(n int) {
	s.first += n
	s.gone += uint64(n)
	if s.first == s.n {
		s.first, s.n = 0, 0
	}
}

// send sends what is held back as far as there is room: so that each lane has as much
// to carry as the others, and then by any.
func (t *Transport) send() error {
	s := &t.out
	if s.first == s.n {
		return nil
	}
	t.lanes.use.RLock()
	defer t.lanes.use.RUnlock()
	if len(t.lanes.all) == 0 {
		return t.broken("send", os.ErrClosed)
	}
	n := len(t.lanes.all)
	level := (s.n - s.first + t.lanes.underWay() + n - 1) / n // of each lane when all has been sent
	for _, all := range []bool{false, true} {
		for _, l := range t.lanes.all {
			n := s.n - s.first
			if !all {
				n = min(n, level-int(l.out.Load()))
			}
			if n <= 0 {
				continue
			}
			n, err := s.held.send(l.fd, s.first, s.first+n)
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				return t.broken("send", err)
			}
			l.out.Add(int32(n))
			s.drop(n)
			if s.first == s.n {
				return nil
			}
		}
	}
	return nil
}

// broken says that ibsim is gone, or has given the place of this client to another (EPERM), where err is of that kind.
func (t *Transport) broken(what string, err error) error {
	gone := []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ENOTCONN, syscall.EPIPE, syscall.EPERM}
	if slices.ContainsFunc(gone, func(e error) bool { return errors.Is(err, e) }) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	return fmt.Errorf("%v: %s: %w", t.opts, what, err)
}
