// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// sendLimit is how long a frame waits for room in ibsim's queues; stuckLimit the
// same after a frame that waited in vain.
const (
	sendLimit  = 50 * time.Millisecond
	stuckLimit = time.Millisecond
)

// errFull says that a frame found no room in time.
var errFull = errors.New("ibsim's queues are full")

// sender sends by lanes in turn.
type sender struct {
	mu    sync.Mutex
	out   packet
	next  int  // lane
	stuck bool // the last frame was dropped
	fds   []unix.PollFd
}

// Send implements [mad.Transport]. Acknowledgements of segments are not sent: no
// client of ibsim understands them. The error wraps [ErrGone] once ibsim has
// ended.
func (t *Transport) Send(f *mad.Frame) error {
	if mad.ControlsSegments(&f.Data) {
		return nil
	}
	t.out.mu.Lock()
	defer t.out.mu.Unlock()
	t.out.out.encode(f)
	t.lanes.use.RLock()
	defer t.lanes.use.RUnlock()
	err := t.out.send(t.lanes.all)
	t.out.stuck = errors.Is(err, errFull)
	if err != nil && !t.out.stuck {
		return t.broken("send", err)
	}
	t.more.sent(t)
	return nil
}

// send waits for room as long as the limits say.
func (s *sender) send(all []lane) error {
	if len(all) == 0 {
		return os.ErrClosed
	}
	err := s.try(all)
	if !errors.Is(err, unix.EAGAIN) {
		return err
	}
	limit := sendLimit
	if s.stuck {
		limit = stuckLimit
	}
	for end := time.Now().Add(limit); ; {
		left := time.Until(end)
		if left <= 0 {
			return errFull
		}
		s.await(all, left)
		if err := s.try(all); !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
}

// try sends by the next lane that has room.
func (s *sender) try(all []lane) (err error) {
	for range all {
		s.next = (s.next + 1) % len(all)
		if _, err = unix.Write(all[s.next].fd, s.out[:]); errors.Is(err, unix.ENOBUFS) {
			err = unix.EAGAIN
		}
		if !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
	return err
}

// await waits until a lane has room.
func (s *sender) await(all []lane, left time.Duration) {
	s.fds = s.fds[:0]
	for _, l := range all {
		s.fds = append(s.fds, unix.PollFd{Fd: int32(l.fd), Events: unix.POLLOUT})
	}
	_, _ = unix.Poll(s.fds, int((left+time.Millisecond-1)/time.Millisecond))
}

func (t *Transport) broken(what string, err error) error {
	for _, gone := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ENOTCONN, syscall.EPIPE} {
		if errors.Is(err, gone) {
			err = fmt.Errorf("%w: %w", ErrGone, err)
			break
		}
	}
	return fmt.Errorf("%v: %s: %w", t.opts, what, err)
}
