// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"time"
)

// errNoLID says that a request cannot be sent.
var errNoLID = errors.New("no LID: only subnet management goes by directed route")

// pick takes slot done back, unless that is -1, and gives b's next request that may be sent one, -1 for none.
func (c *Client) pick(b *Batch, done int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done >= 0 {
		c.release(done)
	}
	if c.err != nil || b.queue.len() == 0 && b.woken.len() == 0 {
		return -1
	}
	c.compete(b)
	i := c.acquire(b)
	if b.full = i < 0; b.full {
		return -1
	}
	if !c.ready(b, &c.slots[i]) {
		c.release(i)
		return -1
	}
	return i
}

// ready puts the next job of b whose target has room into s, and those before it where they wait for that.
func (c *Client) ready(b *Batch, s *slot) bool {
	if b.woken.len() > 0 {
		s.load(b.woken.front())
		s.target = c.targets.find(&s.request, b.target)
		b.woken.drop()
		return true
	}
	for b.queue.len() > 0 {
		j := b.queue.front()
		b.target = c.targets.find(&j.request, b.target)
		t := c.targets.all[b.target]
		room := t.inFlight < c.opts.PerTarget
		if room {
			t.inFlight++
			s.load(j)
			s.target = b.target
		} else {
			c.parked.park(t, j)
		}
		b.queue.drop()
		if room {
			return true
		}
	}
	return false
}

func (s *slot) load(j *job) { s.request, s.callback = j.request, j.callback }

// leave takes note that a request less is in flight to a target; one that waits for that is up at once.
func (c *Client) leave(target int32) {
	t := c.targets.all[target]
	t.inFlight--
	for t.waiting > 0 && t.inFlight < c.opts.PerTarget {
		t.inFlight++
		b := c.parked.leave(t)
		b.wake()
	}
}

// acquire returns a free slot for b, or -1 after noting that b wants one.
func (c *Client) acquire(b *Batch) int {
	if n := len(b.granted); n > 0 {
		i := b.granted[n-1]
		b.granted = b.granted[:n-1]
		return int(i)
	}
	if c.roomy() {
		return c.occupy(b)
	}
	if !b.queued {
		b.queued = true
		c.queue = append(c.queue, b)
	}
	return -1
}

// roomy reports whether the window has room.
func (c *Client) roomy() bool {
	return len(c.free) > 0 && len(c.slots)-len(c.free) < c.window.limit()
}

func (c *Client) occupy(b *Batch) int {
	n := len(c.free) - 1
	i := c.free[n]
	c.free = c.free[:n]
	c.slots[i].owner = b
	return int(i)
}

// release takes slot i back.
func (c *Client) release(i int) {
	c.slots[i].owner = nil
	c.hold(&c.slots[i], 0)
	c.free = append(c.free, int32(i))
	c.grant()
}

// grant gives slots to the batches that have waited longest for one.
func (c *Client) grant() {
	for len(c.queue) > 0 && c.roomy() {
		b := c.queue[0]
		n := copy(c.queue, c.queue[1:])
		c.queue[n] = nil
		c.queue = c.queue[:n]
		b.queued = false
		b.granted = append(b.granted, int32(c.occupy(b)))
		b.wake()
	}
}

// begin puts the request in slot i on record as sent, and its transaction id into f; the caller then sends f.
// It returns false if the client is dead, and whether the request's batch leads.
func (c *Client) begin(i int, f *Frame) (begun, leads bool) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false, false
	}
	s := &c.slots[i]
	s.tries, s.busy, s.sentBack = 0, 0, 0
	s.table, s.nudges = nil, 0
	c.hold(s, 0)
	s.reply.Request, s.reply.MAD, s.reply.Table, s.reply.Err = &s.request, nil, nil, nil
	s.most = c.targets.all[s.target].tries(c.opts.Tries, now)
	s.first = now
	c.try(i, now, f)
	s.frame = *f
	return true, c.lead.batch == s.owner
}

// try makes slot i ready to be sent once more, as f.
func (c *Client) try(i int, now time.Duration, f *Frame) {
	s := &c.slots[i]
	wait := c.wait(s, s.tries)
	s.seq = (s.seq + 1) & seqMask
	binary.BigEndian.PutUint64(f.Data[OffTID:], uint64(s.seq<<slotBits|uint32(i)))
	f.Timeout = wait
	s.last, s.deadline = now, now+wait
	if s.own() {
		c.pushSorted(i)
	} else {
		c.push(i, s.tries)
	}
	s.tries++
	c.stats.Sent++
	c.targets.all[s.target].stats.Sent++
	if s.deadline < c.wakeAt {
		c.wake()
	}
}

// sent is called with the error of sending f.
func (c *Client) sent(f *Frame, err error) {
	if err == nil {
		return
	}
	tid := binary.BigEndian.Uint32(f.Data[OffTID+4:])
	i := int(tid & (MaxWindow - 1))
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := &c.slots[i]; s.tries > 0 && s.seq == tid>>slotBits {
		c.finish(i, s.request.failed(err))
	}
	if errors.Is(err, ErrBroken) {
		c.die(err)
	}
}

// finish ends the request in slot i and hands it to its owner.
func (c *Client) finish(i int, err error) {
	s := &c.slots[i]
	c.remove(i)
	s.tries, s.table = 0, nil
	s.reply.Err = err
	c.leave(s.target)
	b := s.owner
	b.done = append(b.done, int32(i))
	b.wake()
}
