// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"slices"
)

// Batch is a number of requests that belong together. It is for one goroutine:
// that one calls Go, then Wait, and runs the callbacks, which call Go for more.
// Requests beyond the client's window queue up in the batch. Batches of the
// same client share its window in turn.
type Batch struct {
	client *Client
	ctx    context.Context
	queue  queue
	frame  Frame
	active int     // slots with requests whose callbacks have not run
	ended  []int32 // slots whose callbacks are to run
	full   bool    // no slot was free when last tried
	ready  chan struct{}
	keep   func(*Reply) // for Client.Do
	kept   Reply
	mad    [Size]byte // of kept

	// Guarded by client.mu.
	done    []int32 // slots with ended requests
	granted []int32 // slots to use
	queued  bool    // is in client.queue
	asleep  bool
}

// NewBatch returns an empty batch. ctx ends its Wait.
func (c *Client) NewBatch(ctx context.Context) *Batch {
	b := newBatch(c)
	b.ctx = ctx
	return b
}

func newBatch(c *Client) *Batch {
	b := &Batch{client: c, ready: make(chan struct{}, 1)}
	b.keep = func(r *Reply) {
		b.kept = *r
		if r.MAD != nil {
			b.mad = *r.MAD
			b.kept.MAD = &b.mad
		}
	}
	return b
}

// do asks one question. The answer is good until the batch is used again.
func (b *Batch) do(ctx context.Context, req *Request) *Reply {
	b.ctx, b.kept = ctx, Reply{}
	b.Go(*req, b.keep)
	if err := b.Wait(); err != nil {
		b.kept = Reply{Err: req.failed(err)}
	}
	b.ctx, b.kept.Request = nil, req
	return &b.kept
}

// Go asks for req. Its end, good or bad, is handed to callback, which Wait
// runs; the reply is good until callback returns.
func (b *Batch) Go(req Request, callback func(*Reply)) {
	b.queue.push(job{req, callback})
	if !b.full {
		b.fill()
	}
}

// Wait runs the callbacks one after the other as requests end, until none is
// left, and returns nil whatever became of them. It returns ctx's error or that
// of the client if one of those ends first; callbacks that have not run by
// then never will.
func (b *Batch) Wait() error {
	for {
		if err := b.ctx.Err(); err != nil {
			b.abandon()
			return err
		}
		b.fill()
		if b.active == 0 && b.queue.len() == 0 {
			return nil
		}
		if b.collect() {
			for _, i := range b.ended {
				b.end(int(i))
			}
			continue
		}
		select {
		case <-b.ready:
		case <-b.ctx.Done():
		case <-b.client.dead:
			b.abandon()
			return b.client.err
		}
	}
}

// Len is the number of requests whose callbacks have not run.
func (b *Batch) Len() int { return b.active + b.queue.len() }

// fill begins requests of the queue while there are free slots.
func (b *Batch) fill() {
	for b.queue.len() > 0 {
		i := b.client.acquire(b)
		if b.full = i < 0; b.full {
			return
		}
		b.active++
		b.start(i, b.queue.pop())
	}
}

func (b *Batch) start(i int, j job) {
	c := b.client
	s := &c.slots[i]
	s.request, s.callback = j.request, j.callback
	s.request.put(&b.frame)
	if c.begin(i, &b.frame) {
		c.sent(&b.frame, c.transport.Send(&b.frame))
	}
}

// collect moves ended requests to b.ended. It returns false, and marks the
// batch as asleep, if there is nothing to do.
func (b *Batch) collect() bool {
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	b.done, b.ended = b.ended[:0], b.done
	busy := len(b.ended) > 0 || len(b.granted) > 0
	b.asleep = !busy
	return busy
}

// end runs the callback of slot i and uses the slot for the next request.
func (b *Batch) end(i int) {
	s := &b.client.slots[i]
	callback := s.callback
	s.callback = nil
	callback(&s.reply)
	b.active--
	b.client.release(i)
	b.fill()
}

// wake ends the batch's sleep, with client.mu held.
func (b *Batch) wake() {
	if b.asleep {
		b.asleep = false
		select {
		case b.ready <- struct{}{}:
		default:
		}
	}
}

// abandon forgets all requests.
func (b *Batch) abandon() {
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.queued {
		c.queue = slices.DeleteFunc(c.queue, func(x *Batch) bool { return x == b })
		b.queued = false
	}
	for i := range c.slots {
		if s := &c.slots[i]; s.owner == b {
			if s.tries > 0 {
				c.remove(i)
				s.tries = 0
			}
			s.callback = nil
			c.pass(i)
		}
	}
	b.queue.clear()
	b.done, b.granted, b.ended = b.done[:0], b.granted[:0], nil
	b.active, b.full, b.asleep = 0, false, false
}

// acquire returns a free slot for b, or -1 after noting that b wants one.
func (c *Client) acquire(b *Batch) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(b.granted); n > 0 {
		i := b.granted[n-1]
		b.granted = b.granted[:n-1]
		return int(i)
	}
	if n := len(c.free); n > 0 {
		i := c.free[n-1]
		c.free = c.free[:n-1]
		c.slots[i].owner = b
		return int(i)
	}
	if !b.queued {
		b.queued = true
		c.queue = append(c.queue, b)
	}
	return -1
}

// release gives slot i back.
func (c *Client) release(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pass(i)
}

// pass gives slot i to the batch that has waited longest for one.
func (c *Client) pass(i int) {
	if len(c.queue) == 0 {
		c.slots[i].owner = nil
		c.free = append(c.free, int32(i))
		return
	}
	b := c.queue[0]
	c.queue = slices.Delete(c.queue, 0, 1)
	b.queued = false
	b.granted = append(b.granted, int32(i))
	c.slots[i].owner = b
	b.wake()
}
