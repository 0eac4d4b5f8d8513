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
	together = 32 // how many packets are taken from a lane at a time
	// how long a receiver looks before it sleeps: waking it takes ibsim longer than its answer
	eager = 50 * time.Microsecond
	// gathering is for how long it lets answers gather where few came the last time and many are to come:
	// each look takes from ibsim the lock of a lane and the memory behind it, and a call that takes one
	// packet costs almost that of many. While all lanes have their turn ibsim must not run out of questions.
	gathering = 20 * time.Microsecond
	few       = 6
	many      = 64
)

// receiver keeps packets that were received together.
type receiver struct {
	mu          sync.Mutex
	kept        messages
	n           int // packets in kept
	next        int // of them
	lane        int
	waiting     atomic.Bool // for packets
	interrupted atomic.Bool
}

// Recv implements [mad.Transport]. Packets that are not ibsim's are passed over.
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
	t.lanes.endWait()
	return true
}

// fill sends what is held back and waits for packets.
func (t *Transport) fill() (err error) {
	r := &t.in
	r.waiting.Store(true)
	defer r.waiting.Store(false)
	if err := t.flush(); err != nil {
		return err
	}
	var until time.Time
	for {
		switch r.n, err = r.take(t.lanes); {
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

// pause lets others go on: up to a time, from the first call on, for a moment, then until there is work.
func (t *Transport) pause(until time.Time) (time.Time, error) {
	now := time.Now()
	if until.IsZero() && runtime.NumCPU() > 1 {
		until = now.Add(eager)
	}
	if now.Before(until) {
		yield()
		return until, nil
	}
	t.lanes.waitPackets(t.out.holds())
	if time.Since(now) > calm {
		t.lanes.writeOff()
	}
	return time.Time{}, t.flush()
}

// take takes what has come by the next client that has some. Others can wait: together it costs less.
func (r *receiver) take(s *lanes) (int, error) {
	s.use.RLock()
	defer s.use.RUnlock()
	if len(s.all) == 0 {
		return 0, os.ErrClosed
	}
	if 0 < r.n && r.n < few && s.underWay() >= many {
		now := time.Now()
		for end := now.Add(gathering); now.Before(end); {
			now = time.Now()
		}
	}
	for range s.all {
		r.lane = (r.lane + 1) % len(s.all)
		l := s.all[r.lane]
		n, err := r.kept.receive(l.fd)
		if err == nil {
			l.received(n)
			return n, nil
		}
		if !errors.Is(err, unix.EAGAIN) {
			return 0, err
		}
	}
	return 0, nil
}

// yield lets another program have the processor.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
