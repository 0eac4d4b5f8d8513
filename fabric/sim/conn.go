// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"container/heap"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrClosed reports that a connection was closed.
var ErrClosed = errors.New("simulated port: closed")

// Conn is a connection at an end port of the simulated subnet. It is a [mad.Transport]. Send processes a packet and
// queues the answer. Recv returns the answer.
type Conn struct {
	sim  *Sim
	port fabric.PortIndex

	mu     sync.Mutex
	queued []mad.Frame
	late   lateQueue
	tables []*transfer // in progress, the oldest first
	closed bool
	wake   chan struct{} // has capacity 1
	done   chan struct{} // closed by Close

	recv     sync.Mutex
	received []mad.Frame // guarded by recv: taken from queued, not yet returned
	next     int
}

// Open connects to a port, which must be port 0 of a switch or a port of another node.
func (s *Sim) Open(port fabric.PortIndex) (*Conn, error) {
	if port < 0 || int(port) >= len(s.ports) {
		return nil, fmt.Errorf("simulated subnet: no port with index %d", port)
	}
	p := &s.ports[port]
	if isSwitch := s.nodes[p.node].sw != nil; isSwitch != (p.num == 0) {
		return nil, fmt.Errorf("simulated subnet: %s is not an end port", s.f.PortName(port))
	}
	return &Conn{sim: s, port: port, wake: make(chan struct{}, 1), done: make(chan struct{})}, nil
}

// Send implements [mad.Transport].
func (c *Conn) Send(f *mad.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if f.QP == mad.QP1 && mad.Class(f.Data[mad.OffClass]) == mad.ClassSA {
		c.administer(f)
		return nil
	}
	c.queued = append(c.queued, mad.Frame{DLID: f.DLID, QP: f.QP, SL: f.SL, PKey: f.PKey, Data: f.Data})
	last := len(c.queued) - 1
	how, ok := c.sim.process(c.port, &c.queued[last])
	if !ok {
		c.queued = c.queued[:last]
		return nil
	}
	c.deliver(how)
	if last == 0 {
		c.signal()
	}
	return nil
}

// deliver delays, repeats or drops the last answer in c.queued.
func (c *Conn) deliver(how delivery) {
	last := len(c.queued) - 1
	switch {
	case how.copies == 0:
		c.queued = c.queued[:last]
	case how.delay > 0:
		due := time.Now().Add(how.delay)
		for range how.copies {
			c.late.push(due, &c.queued[last])
		}
		c.queued = c.queued[:last]
	case how.copies > 1:
		c.queued = append(c.queued, c.queued[last])
	}
}

func (c *Conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Recv implements [mad.Transport].
func (c *Conn) Recv(f *mad.Frame) error {
	c.recv.Lock()
	defer c.recv.Unlock()
	select {
	case <-c.done:
		return ErrClosed
	default:
	}
	for c.next == len(c.received) {
		due, err := c.refill()
		if err != nil {
			return err
		}
		if c.next < len(c.received) {
			break
		}
		c.sleep(due)
	}
	*f = c.received[c.next]
	c.next++
	return nil
}

// refill moves the queued answers to c.received. It returns the time at which the next delayed answer is due, zero if
// there is none.
func (c *Conn) refill() (due time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return due, ErrClosed
	}
	if len(c.late) > 0 {
		due = c.takeDue(time.Now())
	}
	c.queued, c.received, c.next = c.received[:0], c.queued, 0
	return due, nil
}

// takeDue moves the delayed answers that are due to c.queued. It returns the time at which the next one is due.
func (c *Conn) takeDue(now time.Time) (due time.Time) {
	for len(c.late) > 0 && !c.late[0].due.After(now) {
		if x := c.late.pop(); x.transfer != nil {
			c.resend(x.transfer, x.due)
		} else {
			c.queued = append(c.queued, x.frame)
		}
	}
	if len(c.late) > 0 {
		due = c.late[0].due
	}
	return due
}

func (c *Conn) sleep(due time.Time) {
	var timer <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(time.Until(due))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-c.wake:
	case <-timer:
	case <-c.done:
	}
}

// Close implements [mad.Transport].
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		close(c.done)
	}
	return nil
}

// Port returns the index of the port at which the connection is.
func (c *Conn) Port() fabric.PortIndex { return c.port }

var _ mad.Transport = (*Conn)(nil)

// lateQueue is a heap of delayed answers and of transfers to resume, ordered by due time.
type lateQueue []lateFrame

type lateFrame struct {
	due      time.Time
	frame    mad.Frame
	transfer *transfer // nil for an answer
}

// Len, Less, Swap, Push and Pop implement [heap.Interface].
func (q lateQueue) Len() int           { return len(q) }
func (q lateQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q lateQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *lateQueue) Push(x any)        { *q = append(*q, x.(lateFrame)) }
func (q *lateQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (q *lateQueue) push(due time.Time, f *mad.Frame) { heap.Push(q, lateFrame{due: due, frame: *f}) }

func (q *lateQueue) remind(due time.Time, t *transfer) {
	heap.Push(q, lateFrame{due: due, transfer: t})
}

func (q *lateQueue) pop() lateFrame { return heap.Pop(q).(lateFrame) }
