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

// lane is one of ibsim's places for clients and the socket that goes with it.
type lane struct {
	client uint32
	fd     int
	out    atomic.Int32 // packets sent less those received, without those that are lost
}

// lanes are those of a transport.
type lanes struct {
	use sync.RWMutex // held for reading while the descriptors of all are used
	all []*lane      // none: closed

	waker sync.RWMutex // held for reading while wake is used
	wake  int          // an eventfd that ends a wait; -1: closed
}

// openLanes returns lanes, none as yet.
func openLanes() (*lanes, error) {
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &lanes{wake: wake}, nil
}

func (s *lanes) add(l *lane) {
	s.use.Lock()
	s.all = append(s.all, l)
	s.use.Unlock()
	s.endWait() // so that it waits for l, too
}

// drop takes all lanes but the first so many out of use and returns them.
func (s *lanes) drop(keep int) []*lane {
	s.use.Lock()
	keep = min(keep, len(s.all))
	gone := s.all[keep:]
	s.all = s.all[:keep:keep]
	s.use.Unlock()
	s.endWait()
	return gone
}

// underWay is how many answers are to come, with use held.
func (s *lanes) underWay() int {
	n := 0
	for _, l := range s.all {
		n += int(l.out.Load())
	}
	return n
}

// received takes note of packets. More than were sent are traps, or came after all.
func (l *lane) received(n int) {
	if l.out.Add(int32(-n)) < 0 {
		l.out.Store(0)
	}
}

// writeOff takes what has not come for lost.
func (s *lanes) writeOff() {
	s.use.RLock()
	defer s.use.RUnlock()
	for _, l := range s.all {
		l.out.Store(0)
	}
}

// endWait makes a wait for packets return, the next one if there is none now.
func (s *lanes) endWait() {
	s.waker.RLock()
	defer s.waker.RUnlock()
	if s.wake >= 0 {
		_, _ = unix.Write(s.wake, binary.NativeEndian.AppendUint64(nil, 1))
	}
}

// waitPackets waits for packets, for room too where that is wanted, and for endWait.
func (s *lanes) waitPackets(room bool) {
	s.waker.RLock()
	defer s.waker.RUnlock()
	if s.wake < 0 {
		return
	}
	fds := s.pollable(unix.POLLIN)
	if room {
		fds = s.pollable(unix.POLLIN | unix.POLLOUT)
	}
	fds = append(fds, unix.PollFd{Fd: int32(s.wake), Events: unix.POLLIN})
	_, _ = unix.Poll(fds, -1)
	if fds[len(fds)-1].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(s.wake, count[:])
	}
}

// waitRoom waits until a lane has room.
func (s *lanes) waitRoom(limit time.Duration) {
	_, _ = unix.Poll(s.pollable(unix.POLLOUT), int((limit+time.Millisecond-1)/time.Millisecond))
}

func (s *lanes) pollable(events int16) []unix.PollFd {
	s.use.RLock()
	defer s.use.RUnlock()
	fds := make([]unix.PollFd, 0, maxLanes+1)
	for _, l := range s.all {
		fds = append(fds, unix.PollFd{Fd: int32(l.fd), Events: events})
	}
	return fds
}

// close frees what lanes take that have been dropped.
func (s *lanes) close() {
	s.endWait()
	s.waker.Lock()
	defer s.waker.Unlock()
	if s.wake >= 0 {
		_ = unix.Close(s.wake)
		s.wake = -1
	}
}
