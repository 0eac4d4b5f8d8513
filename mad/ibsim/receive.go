// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

const (
	batchSize = 32 // packets received from a client together
	// spinTime is the time for which a receiver polls before it sleeps. To wake a sleeping receiver takes ibsim longer
	// than to answer.
	spinTime = 50 * time.Microsecond
	// gatherTime is the time for which the receiver lets answers accumulate. It does so if few answers came the last
	// time and many are expected. Each poll takes the lock and the memory of a client away from ibsim, and receiving
	// one packet costs almost as much as receiving many. The time is short enough that ibsim does not run out of
	// requests while all clients are polled.
	gatherTime = 20 * time.Microsecond
	few        = 6
	many       = 64
)

// receiver holds packets that were received together and have not been returned by Recv yet.
type receiver struct {
	mu          sync.Mutex
	kept        messages
	n           int // packets in kept
	next        int // index of the next packet to return
	client      int
	waiting     atomic.Bool // for packets
	interrupted atomic.Bool
}

// Recv implements [mad.Transport]. It ignores packets that do not come from ibsim.
func (t *Transport) Recv(f *mad.Frame) error {
	r := &t.in
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for r.next < r.n {
			i := r.next
			r.next++
			if r.kept.headers[i].length == packetSize {
				r.kept.packets[i].decode(f)
				return nil
			}
		}
		if err := t.fill(); err != nil {
			return err
		}
	}
}

// Interrupt implements [mad.Interrupter].
func (t *Transport) Interrupt() bool {
	t.in.interrupted.Store(true)
	t.clients.wakeUp()
	return true
}

// fill sends the packets that are held, and waits until packets are received.
func (t *Transport) fill() (err error) {
	r := &t.in
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	if err := t.flush(); err != nil {
		return err
	}
	var until time.Time
	for {
		switch r.n, err = r.take(t.clients); {
		case err != nil:
			return t.broken("receive", err)
		case r.n > 0:
			r.next = 0
			return nil
		case r.interrupted.Swap(false):
			return mad.ErrInterrupted
		}
		if until, err = t.pause(until); err != nil {
			return err
		}
	}
}

// pause yields the processor until a deadline. The first call of pause sets the deadline. After the deadline, pause
// sleeps until there is work.
func (t *Transport) pause(until time.Time) (time.Time, error) {
	now := time.Now()
	if until.IsZero() && runtime.NumCPU() > 1 {
		until = now.Add(spinTime)
	}
	if now.Before(until) {
		yield()
		return until, nil
	}
	t.clients.waitPackets(t.out.hasHeld())
	if time.Since(now) > idleAfter {
		t.clients.assumeLost()
	}
	return time.Time{}, t.flush()
}

// take receives packets from the next client that has any. The packets of other clients can wait, because receiving
// many together costs less.
func (r *receiver) take(s *clients) (int, error) {
	s.use.RLock()
	defer s.use.RUnlock()
	if len(s.all) == 0 {
		return 0, os.ErrClosed
	}
	if 0 < r.n && r.n < few && s.inFlight() >= many {
		now := time.Now()
		for end := now.Add(gatherTime); now.Before(end); {
			now = time.Now()
		}
	}
	for range s.all {
		r.client = (r.client + 1) % len(s.all)
		c := s.all[r.client]
		n, err := r.kept.receive(c.fd)
		if err == nil {
			c.received(n)
			return n, nil
		}
		if !errors.Is(err, unix.EAGAIN) {
			return 0, err
		}
	}
	return 0, nil
}

// yield lets another program use the processor.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
