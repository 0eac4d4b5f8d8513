// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"time"
)

// errNoLID reports a request of a general service that has no LID.
var errNoLID = errors.New("no LID: only subnet management packets can use a directed route")

// pick frees a slot, unless the argument done is -1. It returns a slot that contains b's next request to send, or -1.
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

// ready puts b's next job whose target accepts another request into s. Earlier jobs wait at their targets.
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

// endAt records that a request to the target has ended. It wakes the batch whose job has waited longest for the target.
func (c *Client) endAt(target int32) {
	t := c.targets.all[target]
	t.inFlight--
	for t.waiting > 0 && t.inFlight < c.opts.PerTarget {
		t.inFlight++
		b := c.parked.unpark(t)
		b.wake()
	}
}

// acquire returns a free slot for b. If no slot is free, acquire adds b to the queue for slots and returns -1.
func (c *Client) acquire(b *Batch) int {
	if n := len(b.granted); n > 0 {
		i := b.granted[n-1]
		b.granted = b.granted[:n-1]
		return int(i)
	}
	if c.hasFreeSlot() {
		return c.occupy(b)
	}
	if !b.queued {
		b.queued = true
		c.queue = append(c.queue, b)
	}
	return -1
}

// hasFreeSlot reports whether the window allows another request.
func (c *Client) hasFreeSlot() bool {
	return len(c.free) > 0 && len(c.slots)-len(c.free) < c.window.limit()
}

func (c *Client) occupy(b *Batch) int {
	n := len(c.free) - 1
	i := c.free[n]
	c.free = c.free[:n]
	c.slots[i].owner = b
	return int(i)
}

// release frees slot i.
func (c *Client) release(i int) {
	c.slots[i].owner = nil
	c.countSegments(&c.slots[i], 0)
	c.free = append(c.free, int32(i))
	c.grant()
}

// grant gives free slots to those batches that have waited longest.
func (c *Client) grant() {
	for len(c.queue) > 0 && c.hasFreeSlot() {
		b := c.queue[0]
		n := copy(c.queue, c.queue[1:])
		c.queue[n] = nil
		c.queue = c.queue[:n]
		b.queued = false
		b.granted = append(b.granted, int32(c.occupy(b)))
		b.wake()
	}
}

// begin records the request in slot i as sent and writes its transaction ID to f. The caller then sends f. The result
// begun is false if the client has failed. The result leads reports whether the batch of the request leads, that is,
// receives frames itself.
func (c *Client) begin(i int, f *Frame) (begun, leads bool) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false, false
	}
	s := &c.slots[i]
	s.tries, s.busy, s.sentBack = 0, 0, 0
	s.table, s.repeatedAcks = nil, 0
	c.countSegments(s, 0)
	s.reply.Request, s.reply.MAD, s.reply.Table, s.reply.Err = &s.request, nil, nil, nil
	s.maxTries = c.targets.all[s.target].tries(c.opts.Tries, now)
	s.first = now
	c.try(i, now, f)
	s.frame = *f
	return true, c.lead.batch == s.owner
}

// try prepares f for the next send of the request in slot i.
func (c *Client) try(i int, now time.Duration, f *Frame) {
	s := &c.slots[i]
	wait := c.wait(s, s.tries)
	s.seq = (s.seq + 1) & seqMask
	binary.BigEndian.PutUint64(f.Data[OffTID:], uint64(s.seq<<slotBits|uint32(i)))
	f.Timeout = wait
	s.last, s.deadline = now, now+wait
	if s.hasTimeout() {
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

// sent handles the result of sending f.
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
		c.failLocked(err)
	}
}

// finish ends the request in slot i and returns it to its batch.
func (c *Client) finish(i int, err error) {
	s := &c.slots[i]
	c.remove(i)
	s.tries, s.table = 0, nil
	s.reply.Err = err
	c.endAt(s.target)
	b := s.owner
	b.done = append(b.done, int32(i))
	b.wake()
}

// window limits the number of requests in flight. For each full window of answers the limit rises by 1. A lost answer,
// which is detected late, halves the limit.
type window struct {
	size     float64
	min, max float64
	halvedAt time.Duration
}

func newWindow(low, high int) window {
	const start = 4
	return window{size: float64(min(max(low, start), high)), min: float64(low), max: float64(high)}
}

// limit returns the number of requests that may be in flight now.
func (w *window) limit() int { return int(w.size) }

// onAnswer records an answer to a first try. The argument used is the number of requests in flight. The limit does not
// grow while the argument used is less than half the limit.
func (w *window) onAnswer(used int) {
	if w.size >= w.max || 2*used < w.limit() {
		return
	}
	w.size = min(w.size+1/w.size, w.max)
}

// onLoss records the loss of a request that was sent at a given time. Losses of requests that were sent before the last
// halving are ignored.
func (w *window) onLoss(sent, now time.Duration) {
	if sent < w.halvedAt {
		return
	}
	w.size = max(w.size/2, w.min)
	w.halvedAt = now
}

// job is a request that has not been sent.
type job struct {
	batch    *Batch
	request  Request
	callback func(*Reply)
}

// queue is a first-in, first-out ring buffer that grows as needed.
type queue struct {
	jobs  []job // the length is a power of two
	first int
	n     int
}

func (q *queue) len() int { return q.n }

func (q *queue) push(j *job) {
	if q.n == len(q.jobs) {
		q.grow()
	}
	q.jobs[(q.first+q.n)&(len(q.jobs)-1)] = *j
	q.n++
}

// front returns the first job. The queue must not be empty. The job is valid until drop is called.
func (q *queue) front() *job { return &q.jobs[q.first] }

// drop removes the first job. The queue must not be empty.
func (q *queue) drop() {
	x := &q.jobs[q.first]
	x.batch, x.callback, x.request.GSI = nil, nil, nil
	q.first = (q.first + 1) & (len(q.jobs) - 1)
	q.n--
}

func (q *queue) grow() {
	jobs := make([]job, max(16, 2*len(q.jobs)))
	n := copy(jobs, q.jobs[q.first:])
	copy(jobs[n:], q.jobs[:q.first])
	q.jobs, q.first = jobs, 0
}

func (q *queue) clear() { *q = queue{} }
