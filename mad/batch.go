// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"slices"
)

// Batch is a group of requests. It belongs to a single goroutine, which calls Go, then Wait. Wait runs the callbacks in
// this goroutine. A callback may call Go for further requests. Requests beyond the client's window wait in the batch.
// The batches of a client take turns in using the window.
type Batch struct {
	client  *Client
	ctx     context.Context
	queue   queue
	frame   Frame
	waiting int     // requests without a slot
	active  int     // slots with requests whose callbacks have not run
	ended   []int32 // slots whose callbacks are to run
	full    bool    // no slot was free when last tried
	target  int32   // of the last request, a guess for the next
	ready   chan struct{}
	keep    func(*Reply) // callback for Client.Do
	kept    Reply
	mad     [Size]byte  // of kept
	ran     int         // callbacks run by this Wait
	in      Frame       // receive buffer while leading
	unwatch func() bool // stops watching ctx while leading

	// Guarded by client.mu.
	done    []int32 // slots with ended requests
	granted []int32 // free slots to use
	woken   queue   // requests whose targets accept another request
	queued  bool    // in Client.queue
	sleep   sleep
}

// NewBatch returns an empty batch. When ctx ends, Wait of the batch returns.
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

// do sends a single request and waits for the answer. The answer is valid until the batch is used again.
func (b *Batch) do(ctx context.Context, req *Request) *Reply {
	b.ctx, b.kept = ctx, Reply{}
	b.Go(*req, b.keep)
	if err := b.Wait(); err != nil {
		b.kept = Reply{Err: req.failed(err)}
	}
	b.ctx, b.kept.Request = nil, req
	return &b.kept
}

// Go adds a request. Wait passes the result to the function callback. The reply is valid only until this function
// returns.
func (b *Batch) Go(req Request, callback func(*Reply)) {
	b.queue.push(&job{b, req, callback})
	b.waiting++
	if !b.full {
		b.fill(-1)
	}
}

// Wait runs the callbacks one after the other as requests end. Wait returns nil when no request is left, whatever the
// results of the requests. If ctx or the client ends first, Wait returns the error of ctx or the client and drops the
// remaining callbacks.
func (b *Batch) Wait() error {
	defer b.client.resign(b)
	b.ran = 0
	for {
		if err := b.ctx.Err(); err != nil {
			b.abandon()
			return err
		}
		b.fill(-1)
		if b.active == 0 && b.waiting == 0 {
			return nil
		}
		switch b.collect() {
		case awake:
			for _, i := range b.ended {
				b.end(int(i))
			}
			b.ran += len(b.ended)
			continue
		case forFrame:
			if b.unwatch == nil {
				b.unwatch = context.AfterFunc(b.ctx, b.rouse)
			}
			b.receive()
			continue
		case forReady:
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

// rouse makes Wait check its context.
func (b *Batch) rouse() {
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	b.wake()
}

// Len returns the number of requests whose callbacks have not run.
func (b *Batch) Len() int { return b.active + b.waiting }

// fill frees a slot, unless the argument done is -1. Then it sends requests while slots are free.
func (b *Batch) fill(done int) {
	c := b.client
	if done < 0 && b.waiting == 0 {
		return
	}
	for i := c.pick(b, done); i >= 0; i = c.pick(b, -1) {
		b.waiting--
		b.active++
		b.start(i)
		if b.waiting == 0 {
			return
		}
	}
}

func (b *Batch) start(i int) {
	c := b.client
	r := &c.slots[i].request
	if r.MKey == 0 && r.Class == 0 {
		r.MKey = b.client.opts.MKey
	}
	r.put(&b.frame)
	begun, leads := c.begin(i, &b.frame)
	switch {
	case !begun:
	case r.LID == 0 && !r.Class.isSMP():
		c.sent(&b.frame, errNoLID)
	case leads:
		c.sent(&b.frame, c.lead.hold(&b.frame))
	default:
		c.sent(&b.frame, c.transport.Send(&b.frame))
	}
}

// collect moves requests that have ended to b.ended. If no request has ended, it determines and records how the batch
// sleeps.
func (b *Batch) collect() sleep {
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	b.done, b.ended = b.ended[:0], b.done
	b.sleep = awake
	if c.err != nil {
		b.sleep = forReady // Wait then returns the client's error
	} else if len(b.ended) == 0 && len(b.granted) == 0 && (b.woken.len() == 0 || b.queued) {
		b.sleep = c.chooseSleep(b)
	}
	return b.sleep
}

// end runs the callback of slot i and then uses the slot for the next request.
func (b *Batch) end(i int) {
	s := &b.client.slots[i]
	callback := s.callback
	s.callback = nil
	callback(&s.reply)
	b.active--
	b.fill(i)
}

// wake ends the sleep of the batch. The caller must hold client.mu.
func (b *Batch) wake() {
	switch b.sleep {
	case forReady:
		select {
		case b.ready <- struct{}{}:
		default:
		}
	case forFrame:
		b.client.lead.interrupt()
	case awake:
	}
	b.sleep = awake
}

// abandon drops all requests.
func (b *Batch) abandon() {
	c := b.client
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.queued {
		c.queue = slices.DeleteFunc(c.queue, func(x *Batch) bool { return x == b })
		b.queued = false
	}
	if b.waiting > b.queue.len() {
		for i := range c.targets.all {
			c.parked.drop(c.targets.all[i], b)
		}
	}
	for b.woken.len() > 0 {
		t := c.targets.find(&b.woken.front().request, 0)
		b.woken.drop()
		c.endAt(t)
	}
	for i := range c.slots {
		if s := &c.slots[i]; s.owner == b {
			if s.tries > 0 {
				c.remove(i)
				s.tries, s.table = 0, nil
				c.endAt(s.target)
			}
			s.callback = nil
			c.release(i)
		}
	}
	b.queue.clear()
	b.done, b.granted, b.ended = b.done[:0], b.granted[:0], nil
	b.active, b.waiting, b.full, b.sleep = 0, 0, false, awake
}
