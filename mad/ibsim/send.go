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

// sendLimit is the maximum time for which a frame waits for space in ibsim's queues. stuckLimit replaces it after a
// frame that waited in vain.
const (
	sendLimit  = 50 * time.Millisecond
	stuckLimit = time.Millisecond
)

// sender holds packets in order to send several of them together.
type sender struct {
	mu    sync.Mutex
	held  messages
	first int    // index of the first held packet
	n     int    // end of the held packets
	done  uint64 // held packets that were sent or dropped
	stuck bool   // the last packet that waited for space was dropped
}

// Send implements [mad.Transport]. It drops acknowledgements of segments, because no client of ibsim understands them.
// If ibsim has ended, the error wraps [ErrGone].
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
	for end := time.Now().Add(limit); s.done < number; {
		left := time.Until(end)
		if s.stuck = left <= 0; s.stuck {
			s.drop(int(number - s.done))
			return nil
		}
		s.mu.Unlock()
		t.clients.waitRoom(left)
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

// flush sends the packets that are held, as long as a client has space.
func (t *Transport) flush() error {
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	return t.send()
}

func (s *sender) hasHeld() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first < s.n
}

// put adds a frame to the held packets and returns its number in their order. If the buffer is full, put drops the
// oldest packet.
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
	return s.done + uint64(s.n-s.first)
}

// drop removes the first n held packets.
func (s *sender) drop(n int) {
	s.first += n
	s.done += uint64(n)
	if s.first == s.n {
		s.first, s.n = 0, 0
	}
}

// send sends the packets that are held, as long as a client has space. It first uses the clients such that all have the
// same number of packets in flight, then any client.
func (t *Transport) send() error {
	s := &t.out
	if s.first == s.n {
		return nil
	}
	t.clients.use.RLock()
	defer t.clients.use.RUnlock()
	if len(t.clients.all) == 0 {
		return t.broken("send", os.ErrClosed)
	}
	n := len(t.clients.all)
	level := (s.n - s.first + t.clients.inFlight() + n - 1) / n // of each client when all are sent
	for _, all := range []bool{false, true} {
		for _, c := range t.clients.all {
			n := s.n - s.first
			if !all {
				n = min(n, level-int(c.out.Load()))
			}
			if n <= 0 {
				continue
			}
			n, err := s.held.send(c.fd, s.first, s.first+n)
			if err != nil && !errors.Is(err, unix.EAGAIN) {
				return t.broken("send", err)
			}
			c.out.Add(int32(n))
			s.drop(n)
			if s.first == s.n {
				return nil
			}
		}
	}
	return nil
}

// broken returns an error that wraps err. If err shows that ibsim has ended or has dropped this client (EPERM), the
// error also wraps [ErrGone].
func (t *Transport) broken(what string, err error) error {
	fatal := []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ENOTCONN, syscall.EPIPE, syscall.EPERM}
	if slices.ContainsFunc(fatal, func(e error) bool { return errors.Is(err, e) }) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	return fmt.Errorf("%v: %s: %w", t.opts, what, err)
}
