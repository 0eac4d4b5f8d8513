// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrClosed says that a connection was closed.
var ErrClosed = errors.New("simulated port: closed")

// Conn is a connection that sits on an end port of the subnet. It is a [mad.Transport]. Packets are answered
// while they are sent; Recv hands the answers out.
type Conn struct {
	sim  *Sim
	port fabric.PortIndex

	mu     sync.Mutex
	in     []mad.Frame
	late   lateQueue
	tables []*transfer // under way, the oldest first
	closed bool
	wake   chan struct{} // has room for one
	done   chan struct{} // closed by Close

	recv sync.Mutex
	out  []mad.Frame // guarded by recv: taken from in, not yet handed out
	next int
}

// Open connects to a port: port 0 of a switch, or a port of another node.
func (s *Sim) Open(port fabric.PortIndex) (*Conn, error) {
	if port < 0 || int(port) >= len(s.ports) {
		return nil, fmt.Errorf("simulated subnet: no port with index %d", port)
	}
	p := &s.ports[port]
	if isSwitch := s.nodes[p.node].sw != nil; isSwitch != (p.num == 0) {
		return nil, fmt.Errorf("simulated subnet: %s is no end port", s.f.PortName(port))
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
	c.in = append(c.in, mad.Frame{DLID: f.DLID, QP: f.QP, SL: f.SL, PKey: f.PKey, Data: f.Data})
	last := len(c.in) - 1
	fate, ok := c.sim.carry(c.port, &c.in[last])
	if !ok {
		c.in = c.in[:last]
		return nil
	}
	c.meet(fate)
	if last == 0 {
		c.signal()
	}
	return nil
}

// meet lets the last answer of c.in meet its fate.
func (c *Conn) meet(fate fate) {
	last := len(c.in) - 1
	switch {
	case fate.copies == 0:
		c.in = c.in[:last]
	case fate.delay > 0:
		due := time.Now().Add(fate.delay)
		for range fate.copies {
			c.late.push(due, &c.in[last])
		}
		c.in = c.in[:last]
	case fate.copies > 1:
		c.in = append(c.in, c.in[last])
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
	for c.next == len(c.out) {
		due, err := c.refill()
		if err != nil {
			return err
		}
		if c.next < len(c.out) {
			break
		}
		c.sleep(due)
	}
	*f = c.out[c.next]
	c.next++
	return nil
}

// refill takes over what has come in, else returns when the next late answer is due, zero for none.
func (c *Conn) refill() (due time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return due, ErrClosed
	}
	if len(c.late) > 0 {
		due = c.ripen(time.Now())
	}
	c.in, c.out, c.next = c.out[:0], c.in, 0
	return due, nil
}

// ripen moves what is due to c.in and returns when the next is.
func (c *Conn) ripen(now time.Time) (due time.Time) {
	for len(c.late) > 0 && !c.late[0].due.After(now) {
		if x := c.late.pop(); x.again != nil {
			c.again(x.again, x.due)
		} else {
			c.in = append(c.in, x.frame)
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

// Port is the index of the port that the connection sits on.
func (c *Conn) Port() fabric.PortIndex { return c.port }

var _ mad.Transport = (*Conn)(nil)
