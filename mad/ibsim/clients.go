// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"encoding/binary"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// client is one registration of the transport with ibsim, with its socket.
type client struct {
	id  uint32
	fd  int
	out atomic.Int32 // packets sent minus packets received, without lost ones
}

// clients holds the clients of a transport.
type clients struct {
	use sync.RWMutex // held for reading while the descriptors of all are used
	all []*client    // empty once closed

	waker sync.RWMutex // held for reading while wake is used
	wake  int          // eventfd that ends a wait; -1 once closed
}

// openClients returns an empty set of clients.
func openClients() (*clients, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &clients{wake: wake}, nil
}

func (s *clients) add(c *client) {
	s.use.Lock()
	s.all = append(s.all, c)
	s.use.Unlock()
	s.wakeUp() // so that it waits for c, too
}

// drop removes all clients except a number of first clients, and returns the removed clients.
func (s *clients) drop(keep int) []*client {
	s.use.Lock()
	keep = min(keep, len(s.all))
	dropped := s.all[keep:]
	s.all = s.all[:keep:keep]
	s.use.Unlock()
	s.wakeUp()
	return dropped
}

// inFlight returns the number of answers that are expected. The caller must hold the lock of the clients (field use).
func (s *clients) inFlight() int {
	n := 0
	for _, c := range s.all {
		n += int(c.out.Load())
	}
	return n
}

// received counts received packets. The number of expected answers does not become negative, although traps and late
// packets do not belong to an expected answer.
func (c *client) received(n int) {
	if c.out.Add(int32(-n)) < 0 {
		c.out.Store(0)
	}
}

// assumeLost counts all missing answers as lost.
func (s *clients) assumeLost() {
	s.use.RLock()
	defer s.use.RUnlock()
	for _, c := range s.all {
		c.out.Store(0)
	}
}

// wakeUp ends the current wait for packets. If there is none now, it ends the next wait.
func (s *clients) wakeUp() {
	s.waker.RLock()
	defer s.waker.RUnlock()
	if s.wake >= 0 {
		_, _ = unix.Write(s.wake, binary.NativeEndian.AppendUint64(nil, 1))
	}
}

// waitPackets waits for packets or for wakeUp. If forSpace is set, it also waits for space to send.
func (s *clients) waitPackets(forSpace bool) {
	s.waker.RLock()
	defer s.waker.RUnlock()
	if s.wake < 0 {
		return
	}
	fds := s.pollable(unix.POLLIN)
	if forSpace {
		fds = s.pollable(unix.POLLIN | unix.POLLOUT)
	}
	fds = append(fds, unix.PollFd{Fd: int32(s.wake), Events: unix.POLLIN})
	_, _ = unix.Poll(fds, -1)
	if fds[len(fds)-1].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(s.wake, count[:])
	}
}

// waitRoom waits until a client can send.
func (s *clients) waitRoom(limit time.Duration) {
	_, _ = unix.Poll(s.pollable(unix.POLLOUT), int((limit+time.Millisecond-1)/time.Millisecond))
}

func (s *clients) pollable(events int16) []unix.PollFd {
	s.use.RLock()
	defer s.use.RUnlock()
	fds := make([]unix.PollFd, 0, maxClients+1)
	for _, c := range s.all {
		fds = append(fds, unix.PollFd{Fd: int32(c.fd), Events: events})
	}
	return fds
}

// close frees the resources of clients that were dropped.
func (s *clients) close() {
	s.wakeUp()
	s.waker.Lock()
	defer s.waker.Unlock()
	if s.wake >= 0 {
		_ = unix.Close(s.wake)
		s.wake = -1
	}
}
