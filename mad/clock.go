// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"fmt"
	"syscall"
	"time"
)

// All n-th tries of requests have the same timeout, so each list of Client.waiting is in the order of deadlines.
// Starting, ending and expiring a try are therefore O(1), and one timer is enough for all of them. Requests with their
// own timeout and segmented answers are few. They share one list that is kept sorted.

const never = time.Duration(1<<63 - 1)

// clock sends requests again when their deadlines pass. It runs until the client fails.
func (c *Client) clock() {
	defer c.running.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var f Frame
	for {
		send, next := c.expire(&f)
		if send {
			c.sent(&f, c.transport.Send(&f))
			continue
		}
		if next != never {
			timer.Reset(next - c.now())
		}
		select {
		case <-timer.C:
		case <-c.kick:
		case <-c.dead:
			return
		}
	}
}

// expire ends the requests that have used all their tries. If a request must be sent again, expire returns true, with
// the frame in f. Otherwise it returns false and the time of the next deadline.
func (c *Client) expire(f *Frame) (send bool, next time.Duration) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false, never
	}
	next = never
	for k := range c.waiting {
		for i := int(c.waiting[k].first); i >= 0; i = int(c.waiting[k].first) {
			s := &c.slots[i]
			if s.deadline > now {
				next = min(next, s.deadline)
				break
			}
			if k < len(c.waiting)-1 && c.leaderIsBusy(now) {
				c.wakeAt = now + grace
				return false, c.wakeAt
			}
			if s.table != nil {
				c.overdue(i, now, f)
				return true, 0
			}
			c.lost(s, now)
			if s.tries < s.maxTries {
				c.retry(i, now)
				*f = s.frame
				return true, 0
			}
			c.giveUp(i, now)
		}
	}
	c.wakeAt = next
	return false, next
}

// wait returns the time for which a try of slot s waits for an answer. Tries are counted from 0.
func (c *Client) wait(s *slot, try int) time.Duration {
	wait := c.timeouts[try]
	if s.hasTimeout() {
		wait = time.Duration(min(float64(wait)/float64(c.opts.Timeout)*float64(s.request.GSI.Timeout),
			float64(time.Hour)))
	}
	return wait
}

// hasTimeout reports whether the request has its own timeout.
func (s *slot) hasTimeout() bool { return s.request.GSI != nil && s.request.GSI.Timeout > 0 }

// lost records that the last try of slot s got no answer. If the transport returned the request at once, the request
// has no route. This does not affect the window, because it does not show how busy the agents are.
func (c *Client) lost(s *slot, now time.Duration) {
	t := c.targets.all[s.target]
	t.lost++
	if atOnce := s.sentBack != 0 && now-s.last < c.wait(s, s.tries-1)/2; !atOnce && t.showsLoad() {
		c.window.onLoss(s.last, now)
	}
}

// retry sends slot i again.
func (c *Client) retry(i int, now time.Duration) {
	s := &c.slots[i]
	c.remove(i)
	s.sentBack = 0
	c.try(i, now, &s.frame)
	c.stats.Retried++
	c.targets.all[s.target].stats.Retried++
}

// giveUp ends the request in slot i after its last try.
func (c *Client) giveUp(i int, now time.Duration) {
	s := &c.slots[i]
	if s.busy != 0 {
		c.targets.all[s.target].onAnswer(0)
		c.received(i, s.request.failed(s.busy))
		return
	}
	t := c.targets.all[s.target]
	t.stats.TimedOut++
	t.stats.Silent++
	t.failedAt = now
	c.stats.TimedOut++
	c.finish(i, s.request.failed(c.timeoutError(s)))
}

func (c *Client) timeoutError(s *slot) error {
	tries := fmt.Sprintf("%d tries", s.tries)
	if s.tries == 1 {
		tries = "1 try"
	}
	if s.sentBack != 0 {
		return fmt.Errorf("%w after %s: sent back by the transport: %v (errno %[3]d)", ErrTimeout, tries,
			syscall.Errno(s.sentBack))
	}
	first, last := c.wait(s, 0), c.wait(s, s.tries-1)
	if first == last {
		return fmt.Errorf("%w after %s of %v", ErrTimeout, tries, first)
	}
	return fmt.Errorf("%w after %s of %v to %v", ErrTimeout, tries, first, last)
}

// due makes the clock process slot i at once.
func (c *Client) due(i int) {
	c.remove(i)
	c.slots[i].deadline = 0
	c.push(i, len(c.waiting)-1)
	c.wake()
}

// wake wakes the clock.
func (c *Client) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// push appends slot i to list k.
func (c *Client) push(i, k int) {
	s, l := &c.slots[i], &c.waiting[k]
	s.in, s.prev, s.next = k, l.last, -1
	if l.last >= 0 {
		c.slots[l.last].next = int32(i)
	} else {
		l.first = int32(i)
	}
	l.last = int32(i)
}

// pushSorted inserts slot i into the list of requests with their own deadlines.
func (c *Client) pushSorted(i int) {
	k := len(c.waiting) - 2
	s, l := &c.slots[i], &c.waiting[k]
	after := l.last
	for after >= 0 && c.slots[after].deadline > s.deadline {
		after = c.slots[after].prev
	}
	if after == l.last {
		c.push(i, k)
		return
	}
	s.in, s.prev, s.next = k, after, l.first
	if after >= 0 {
		s.next = c.slots[after].next
		c.slots[after].next = int32(i)
	} else {
		l.first = int32(i)
	}
	c.slots[s.next].prev = int32(i)
}

// remove unlinks slot i from its list.
func (c *Client) remove(i int) {
	s := &c.slots[i]
	l := &c.waiting[s.in]
	if s.prev >= 0 {
		c.slots[s.prev].next = s.next
	} else {
		l.first = s.next
	}
	if s.next >= 0 {
		c.slots[s.next].prev = s.prev
	} else {
		l.last = s.prev
	}
}
