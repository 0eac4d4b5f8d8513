// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"time"
)

// A goroutine of the client's own receives and wakes the batches that wait. That costs two changes of
// goroutines for an answer, often of threads, which is more than all else. So a batch that goes on for long
// and is alone with the client leads: it receives by itself as long as it has nothing else to do, and the
// client's goroutine rests. It does so over transports that are Interrupters.

// ErrInterrupted is what Recv returns after [Interrupter.Interrupt].
var ErrInterrupted = errors.New("interrupted")

// Interrupter is a transport whose Recv can be made to return.
type Interrupter interface {
	Transport
	// Interrupt makes the Recv that waits for a frame, or else the next one that would have to wait, return
	// [ErrInterrupted]. It returns false for a transport that cannot do that.
	Interrupt() bool
}

// Holder is a transport that can send frames together, which is quicker.
type Holder interface {
	Interrupter
	// Hold sends the frame as Send does, but may wait with it until a Recv comes to
	// have no frame at hand. While one waits for a frame it sends at once.
	Hold(*Frame) error
}

// leadAfter is how many requests make a batch long.
const leadAfter = 64

// grace is how long answers may take to be received that came while a leading batch was in a callback.
const grace = 5 * time.Millisecond

// lead says who receives. Client.mu guards it.
type lead struct {
	interrupt func() bool        // nil: nobody leads
	hold      func(*Frame) error // by which the batch that leads sends
	batch     *Batch             // leads
	next      *Batch             // is to lead once the client's goroutine rests
	inside    bool               // the one that leads, or did, is in Recv
	graced    time.Duration
}

func newLead(t Transport) lead {
	var l lead
	if i, ok := t.(Interrupter); ok {
		l = lead{interrupt: i.Interrupt, hold: t.Send}
	}
	if h, ok := t.(Holder); ok {
		l.hold = h.Hold
	}
	return l
}

// sleep is what a batch waits for.
type sleep uint8

const (
	awake    sleep = iota
	forReady       // to be told by the client's goroutine
	forFrame       // in Recv, as it leads
)

// rest is where a batch with nothing to do waits, with mu held.
func (c *Client) rest(b *Batch) sleep {
	l := &c.lead
	switch {
	case l.batch == b && b.ctx.Err() == nil:
		l.inside = true
		return forFrame
	case l.interrupt == nil || l.batch != nil || l.next != nil || b.ran < leadAfter || !c.alone(b):
	case !l.interrupt():
		l.interrupt = nil
	default:
		l.next = b
	}
	return forReady
}

// alone reports whether no other batch has requests.
func (c *Client) alone(b *Batch) bool {
	return len(c.slots)-len(c.free) == b.active+len(b.granted) && (len(c.queue) == 0 || len(c.queue) == 1 && b.queued)
}

// handOver lets the batch lead that is to, and returns when nobody does.
func (c *Client) handOver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.lead
	for l.inside || c.err == nil && (l.next != nil || l.batch != nil) {
		if b := l.next; b != nil && !l.inside {
			l.next, l.batch = nil, b
			b.wake()
			continue
		}
		c.led.Wait()
	}
}

// left takes note that b has come out of Recv, with mu held.
func (c *Client) left(b *Batch) {
	b.sleep = awake
	c.lead.inside = false
	if c.lead.batch == nil {
		c.led.Broadcast()
	}
}

// compete makes a batch that leads stop it where b is another, with mu held.
func (c *Client) compete(b *Batch) {
	if l := &c.lead; l.batch != b && l.batch != nil || l.next != b && l.next != nil {
		c.depose()
	}
}

// depose makes the client's goroutine receive again, with mu held.
func (c *Client) depose() {
	l := &c.lead
	l.next = nil
	if b := l.batch; b != nil {
		if b.sleep == forFrame {
			b.wake()
		}
		l.batch = nil
		c.led.Broadcast()
	}
}

// resign ends the leading of b.
func (c *Client) resign(b *Batch) {
	if b.ran < leadAfter {
		return
	}
	if b.unwatch != nil {
		b.unwatch()
		b.unwatch = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lead.next == b || c.lead.batch == b {
		c.depose()
	}
}

// engrossed says that a busy batch may have left answers lying; it then leads no more, with mu held.
func (c *Client) engrossed(now time.Duration) bool {
	l := &c.lead
	if l.batch == nil || l.batch.sleep != awake || now < l.graced {
		return false
	}
	l.graced = now + 10*grace
	c.depose()
	return true
}

// receive takes in the next frame, for a batch that leads.
func (b *Batch) receive() {
	c := b.client
	b.in.Status, b.in.SLID = 0, 0
	if err := c.transport.Recv(&b.in); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.left(b)
		if !errors.Is(err, ErrInterrupted) {
			c.die(err)
		}
		return
	}
	if c.take(&b.in, &b.frame, b) {
		c.sent(&b.frame, c.transport.Send(&b.frame))
	}
}
