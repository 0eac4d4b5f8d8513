// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
	"time"
)

const (
	maxTransfer     = 2 * time.Minute // maximum duration of a segmented answer
	maxRepeatedAcks = 3               // how often the last acknowledgement is repeated when no segment follows
)

// segment processes a segment of the answer to the request in slot i.
func (c *Client) segment(i, age int, now time.Duration, f, out *Frame) bool {
	s := &c.slots[i]
	if s.table == nil {
		limit := 0
		if s.request.GSI != nil {
			limit = s.request.GSI.Limit
		}
		s.table = NewAssembler(limit)
		s.transferEnd = now + maxTransfer
		c.timed(s, age, now)
		s.frame.Data = f.Data // nothing is sent again from here on
		s.reply.MAD = &s.frame.Data
	}
	before := s.table.Segments()
	answer, err := s.table.Take(&f.Data, &out.Data)
	if c.countSegments(s, s.table.size()); err == nil && c.segmentBytes > c.maxSegmentBytes {
		s.table.Abort(&out.Data, RMPPNoResources)
		answer, err = true, fmt.Errorf("%w: %w: all current answers together exceed the limit of %d bytes",
			ErrSegments, RMPPNoResources, c.maxSegmentBytes)
	}
	if answer {
		s.address(out)
	}
	switch {
	case err != nil:
		c.received(i, s.request.failed(err))
	case s.table.Done():
		c.complete(i, out)
	case s.table.Segments() > before:
		s.repeatedAcks = 0
		c.rearm(i, now)
	}
	return answer
}

// countSegments records the memory in bytes that the answer in slot s holds now.
func (c *Client) countSegments(s *slot, bytes int) {
	c.segmentBytes += bytes - s.segmentBytes
	s.segmentBytes = bytes
}

// complete ends the request in slot i because its answer has arrived completely. It fills the argument out with the
// acknowledgement of the last segment.
func (c *Client) complete(i int, out *Frame) {
	s := &c.slots[i]
	c.acks.add(out)
	table, err := s.table.Data()
	if table == nil {
		table = []byte{}
	}
	s.reply.Table = table
	copy(s.reply.Data[:], s.frame.Data[OffData:])
	if err != nil {
		err = s.request.failed(err)
	}
	c.received(i, err)
}

// rearm extends the deadline of slot i, because another segment is expected.
func (c *Client) rearm(i int, now time.Duration) {
	s := &c.slots[i]
	c.remove(i)
	s.deadline = min(now+c.wait(s, 0), s.transferEnd)
	c.pushSorted(i)
	if s.deadline < c.wakeAt {
		c.wake()
	}
}

// overdue is called if the next segment for slot i is late. It repeats the last acknowledgement to the other end, or
// ends the transfer.
func (c *Client) overdue(i int, now time.Duration, out *Frame) {
	s := &c.slots[i]
	s.address(out)
	if s.repeatedAcks < maxRepeatedAcks && now < s.transferEnd {
		s.repeatedAcks++
		s.table.Ack(&out.Data)
		c.rearm(i, now)
		return
	}
	s.table.Abort(&out.Data, RMPPTooLong)
	c.stats.TimedOut++
	c.targets.all[s.target].stats.TimedOut++
	c.finish(i, s.request.failed(fmt.Errorf("%w after %d segments", ErrTimeout, s.table.Segments())))
}

// address copies the destination of the request to f.
func (s *slot) address(f *Frame) {
	f.DLID, f.QP, f.SL, f.PKey = s.request.LID, QP1, s.request.SL, s.request.PKey
	f.SLID, f.Status, f.Timeout = 0, 0, 0
}

// recentAcks holds the last acknowledgements of recently completed transfers. An acknowledgement that was lost can then
// be repeated.
type recentAcks struct {
	frames [16]Frame
	next   int
}

func (l *recentAcks) add(f *Frame) {
	l.frames[l.next] = *f
	l.next = (l.next + 1) % len(l.frames)
}

// repeat fills the argument out with the last acknowledgement of the transfer to which the segment f belongs. It
// returns false if it does not have the acknowledgement.
func (l *recentAcks) repeat(f, out *Frame) bool {
	if f.Status != 0 || !segmented(&f.Data) || f.Data[OffRMPPType] != RMPPData {
		return false
	}
	tid := binary.BigEndian.Uint64(f.Data[OffTID:])
	for i := range l.frames {
		if x := &l.frames[i]; segmented(&x.Data) && binary.BigEndian.Uint64(x.Data[OffTID:]) == tid {
			*out = *x
			return true
		}
	}
	return false
}
