// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"time"
)

// The client's goroutine normally receives frames and wakes the waiting batches. This costs two goroutine switches for
// each answer. Often they are thread switches, which cost more than everything else. So a long-running batch leads if
// it is the only batch of the client. A leading batch receives frames itself whenever it has nothing else to do, and
// the client's goroutine pauses. This requires a transport that is an [Interrupter].

// ErrInterrupted is the error that Recv returns after a call of [Interrupter.Interrupt].
var ErrInterrupted = errors.New("interrupted")

// Interrupter is a transport whose Recv can be interrupted.
type Interrupter interface {
	Transport
	// Interrupt makes a waiting Recv return [ErrInterrupted]. If no Recv is waiting, it affects the next Recv that
	// would have to wait. It returns false if the transport cannot do this.
	Interrupt() bool
}

// Holder is a transport that can send several frames together, which is faster.
type Holder interface {
	Interrupter
	// Hold sends the frame as Send does, but may delay it until a Recv has no frame to return. While a Recv waits, Hold
	// sends the frame immediately.
	Hold(*Frame) error
}

// leadAfter is the number of requests after which a batch counts as long-running.
const leadAfter = 64

// grace is the time for which an answer may remain unreceived while the leading batch runs a callback.
const grace = 5 * time.Millisecond

// lead records which batch receives frames. Client.mu guards it.
type lead struct {
	interrupt func() bool        // nil: no batch can lead
	hold      func(*Frame) error // sends frames of the leading batch
	batch     *Batch             // the leading batch
	next      *Batch             // leads once the client's goroutine pauses
	inside    bool               // the leading batch, or the last one, is in Recv
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

// sleep is how a batch waits.
type sleep uint8

const (
	awake    sleep = iota
	forReady       // woken by the client's goroutine
	forFrame       // in Recv, leading
)

// chooseSleep returns how a batch without work waits. The caller must hold mu.
func (c *Client) chooseSleep(b *Batch) sleep {
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

// handOver makes the next batch the leading batch. It returns when no batch leads.
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
		c.leadChanged.Wait()
	}
}

// leftRecv records that b has returned from Recv. The caller must hold mu.
func (c *Client) leftRecv(b *Batch) {
	b.sleep = awake
	c.lead.inside = false
	if c.lead.batch == nil {
		c.leadChanged.Broadcast()
	}
}

// compete ends the lead of any batch other than b. The caller must hold mu.
func (c *Client) compete(b *Batch) {
	if l := &c.lead; l.batch != b && l.batch != nil || l.next != b && l.next != nil {
		c.depose()
	}
}

// depose ends the lead of the leading batch, so that the client's goroutine receives again. The caller must hold mu.
func (c *Client) depose() {
	l := &c.lead
	l.next = nil
	if b := l.batch; b != nil {
		if b.sleep == forFrame {
			b.wake()
		}
		l.batch = nil
		c.leadChanged.Broadcast()
	}
}

// resign ends the lead of b.
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

// leaderIsBusy reports whether the leading batch is in a callback and may have left answers unreceived. If so, the
// batch no longer leads. The caller must hold mu.
func (c *Client) leaderIsBusy(now time.Duration) bool {
	l := &c.lead
	if l.batch == nil || l.batch.sleep != awake || now < l.graced {
		return false
	}
	l.graced = now + 10*grace
	c.depose()
	return true
}

// receive processes the next frame. The batch must be the leading batch.
func (b *Batch) receive() {
	c := b.client
	b.in.Status, b.in.SLID = 0, 0
	if err := c.transport.Recv(&b.in); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leftRecv(b)
		if !errors.Is(err, ErrInterrupted) {
			c.failLocked(err)
		}
		return
	}
	if c.take(&b.in, &b.frame, b) {
		c.sent(&b.frame, c.transport.Send(&b.frame))
	}
}
