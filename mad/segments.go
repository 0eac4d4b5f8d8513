// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
	"time"
)

const (
	maxTransfer = 2 * time.Minute // how long an answer in segments may take in all
	maxNudges   = 3               // how often the other end is told again what has come, when nothing more comes
)

// segment takes a segment of the answer to the request in slot i.
func (c *Client) segment(i, age int, now time.Duration, f, out *Frame) bool {
	s := &c.slots[i]
	if s.table == nil {
		limit := 0
		if s.request.GSI != nil {
			limit = s.request.GSI.Limit
		}
		s.table = NewAssembler(limit)
		s.over = now + maxTransfer
		c.timed(s, age, now)
		s.frame.Data = f.Data // nothing is sent again from here on
		s.reply.MAD = &s.frame.Data
	}
	before := s.table.Segments()
	answer, err := s.table.Take(&f.Data, &out.Data)
	if c.hold(s, s.table.size()); err == nil && c.held > c.room {
		s.table.Abort(&out.Data, RMPPNoResources)
		answer, err = true, fmt.Errorf("%w: %w: all answers that come now have more than %d bytes, the limit",
			ErrSegments, RMPPNoResources, c.room)
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
		s.nudges = 0
		c.rearm(i, now)
	}
	return answer
}

// hold counts what the answer in a slot takes now.
func (c *Client) hold(s *slot, bytes int) {
	c.held += bytes - s.held
	s.held = bytes
}

// complete ends the request in slot i, all segments of whose answer are there; out acknowledges the last.
func (c *Client) complete(i int, out *Frame) {
	s := &c.slots[i]
	c.finished.add(out)
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

// rearm gives the answer to slot i time for one more segment.
func (c *Client) rearm(i int, now time.Duration) {
	s := &c.slots[i]
	c.remove(i)
	s.deadline = min(now+c.wait(s, 0), s.over)
	c.pushSorted(i)
	if s.deadline < c.wakeAt {
		c.wake()
	}
}

// overdue tells the other end of slot i, from which no segment came in time, what has come, or ends it.
func (c *Client) overdue(i int, now time.Duration, out *Frame) {
	s := &c.slots[i]
	s.address(out)
	if s.nudges < maxNudges && now < s.over {
		s.nudges++
		s.table.Ack(&out.Data)
		c.rearm(i, now)
		return
	}
	s.table.Abort(&out.Data, RMPPTooLong)
	c.stats.TimedOut++
	c.targets.all[s.target].stats.TimedOut++
	c.finish(i, s.request.failed(fmt.Errorf("%w after %d segments", ErrTimeout, s.table.Segments())))
}

// address makes f go where the request went.
func (s *slot) address(f *Frame) {
	f.DLID, f.QP, f.SL, f.PKey = s.request.LID, QP1, s.request.SL, s.request.PKey
	f.SLID, f.Status, f.Timeout = 0, 0, 0
}

// finished are the last acknowledgements of complete transfers: one that is lost is asked for once more.
type finished struct {
	frames [16]Frame
	next   int
}

func (l *finished) add(f *Frame) {
	l.frames[l.next] = *f
	l.next = (l.next + 1) % len(l.frames)
}

// again makes out the acknowledgement of segment f once more.
func (l *finished) again(f, out *Frame) bool {
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
