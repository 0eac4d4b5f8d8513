// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"errors"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// together is how many packets are taken from a lane at a time.
const together = 16

// receiver keeps packets that were received together.
type receiver struct {
	mu   sync.Mutex
	kept []packet
	msgs []mmsghdr // of kept
	n    int       // packets in kept
	next int       // of them
	lane int
	err  error
}

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

func (r *receiver) init() {
	r.kept = make([]packet, together)
	r.msgs = make([]mmsghdr, len(r.kept))
	for i := range r.msgs {
		iov := &unix.Iovec{Base: &r.kept[i][0]}
		iov.SetLen(packetSize)
		r.msgs[i].header.Iov = iov
		r.msgs[i].header.SetIovlen(1)
	}
}

// Recv implements [mad.Transport]. Packets that are not ibsim's are passed
// over.
func (t *Transport) Recv(f *mad.Frame) error {
	r := &t.in
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for r.next < r.n {
			i := r.next
			r.next++
			if r.msgs[i].length == packetSize {
				r.kept[i].decode(f)
				return nil
			}
		}
		switch err := r.fill(&t.lanes); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			_ = t.lanes.poll.SetReadDeadline(time.Time{})
			return mad.ErrInterrupted
		case err != nil:
			return t.broken("receive", err)
		}
	}
}

// Interrupt implements [mad.Interrupter].
func (t *Transport) Interrupt() bool { return t.lanes.poll.SetReadDeadline(time.Unix(1, 0)) == nil }

// fill takes what has come by all lanes, or waits for it.
func (r *receiver) fill(s *lanes) error {
	r.n, r.next = 0, 0
	r.take(s)
	if r.n > 0 || r.err != nil {
		return r.err
	}
	if err := s.wait.Read(func(uintptr) bool { r.take(s); return r.n > 0 || r.err != nil }); err != nil {
		return err
	}
	return r.err
}

// take takes what has come by the next lane by which something has. The others
// can wait: what is taken together costs less.
func (r *receiver) take(s *lanes) {
	s.use.RLock()
	defer s.use.RUnlock()
	if len(s.all) == 0 {
		r.err = os.ErrClosed
	}
	for range s.all {
		r.lane = (r.lane + 1) % len(s.all)
		n, err := recvmmsg(s.all[r.lane].fd, r.msgs)
		switch {
		case n > 0:
			r.n = n
			return
		case !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR):
			r.err = err
		}
	}
}

// recvmmsg takes as many messages as there are and have room, without waiting.
func recvmmsg(fd int, msgs []mmsghdr) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(msgs))), uintptr(len(msgs)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
