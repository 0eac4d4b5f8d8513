// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"time"
)

// receive processes received frames until the transport ends.
func (c *Client) receive() {
	defer c.running.Done()
	var f, out Frame
	for {
		c.handOver()
		f.Status, f.SLID = 0, 0
		err := c.transport.Recv(&f)
		switch {
		case errors.Is(err, ErrInterrupted):
		case err != nil:
			c.fail(err)
			return
		case c.take(&f, &out, nil):
			c.sent(&out, c.transport.Send(&out))
		}
	}
}

// take processes a frame. The argument by is the batch that received the frame, or nil if the client's goroutine
// received it. If take returns true, the caller must send the frame in the argument out.
func (c *Client) take(f, out *Frame, by *Batch) bool {
	be := binary.BigEndian
	now := c.now()
	tid := be.Uint32(f.Data[OffTID+4:])
	i := int(tid & (MaxWindow - 1))
	c.mu.Lock()
	defer c.mu.Unlock()
	if by != nil {
		c.leftRecv(by)
	}
	if f.Status == 0 && Method(f.Data[OffMethod])&MethodResponse == 0 {
		c.unsolicited(f)
		return false
	}
	if i >= len(c.slots) {
		return c.late(f, out)
	}
	s := &c.slots[i]
	age := int((s.seq - tid>>slotBits) & seqMask)
	if age >= s.tries {
		return c.late(f, out)
	}
	if f.Status != 0 {
		if age == 0 && s.table == nil {
			s.sentBack = f.Status
			c.due(i)
		}
		return false
	}
	if f.Data[OffClass] != s.frame.Data[OffClass] ||
		be.Uint16(f.Data[OffAttr:]) != uint16(s.request.Attr) || be.Uint32(f.Data[OffMod:]) != s.request.Mod {
		c.stats.Stray++
		return false
	}
	return c.answer(i, age, now, f, out)
}

// answer processes the answer f to a try of the request in slot i; the argument age is the number of later tries. The
// answer ends the request, unless it has a busy status or is a segment of a longer answer.
func (c *Client) answer(i, age int, now time.Duration, f, out *Frame) bool {
	s := &c.slots[i]
	status := Status(binary.BigEndian.Uint16(f.Data[OffStatus:]) &^ directionBit)
	if status&StatusBusy != 0 {
		s.busy = status
		return false
	}
	if status == StatusOK && segmented(&f.Data) {
		return c.segment(i, age, now, f, out)
	}
	c.timed(s, age, now)
	if !s.request.Class.isSMP() {
		s.frame.Data = f.Data // nothing is sent again from here on
		s.reply.MAD = &s.frame.Data
	}
	if status != StatusOK {
		c.received(i, s.request.failed(status))
		return false
	}
	copy(s.reply.Data[:], f.Data[OffData:])
	c.received(i, nil)
	return false
}

// timed records the response time of a try.
func (c *Client) timed(s *slot, age int, now time.Duration) {
	t := c.targets.all[s.target]
	switch age {
	case 0:
		t.onAnswer(now - s.last)
	case s.tries - 1:
		t.onAnswer(now - s.first)
	default:
		t.onAnswer(0)
	}
	if s.tries == 1 {
		c.window.onAnswer(len(c.slots) - len(c.free))
		c.grant()
	}
}

// received ends the request in slot i because the request was answered.
func (c *Client) received(i int, err error) {
	c.stats.Received++
	if err != nil {
		c.stats.Refused++
	}
	c.finish(i, err)
}

// late handles an answer that does not belong to an outstanding request.
func (c *Client) late(f, out *Frame) bool {
	c.stats.Late++
	key := Target{LID: f.SLID}
	if Class(f.Data[OffClass]) == ClassSMPDirected {
		n := min(f.Data[OffHopCount], MaxHops)
		key = Target{Path: Path{n: n}}
		copy(key.Path.hops[:n], f.Data[OffInitialPath+1:])
	}
	if t, known := c.targets.index[key]; known {
		c.targets.all[t].stats.Late++
	}
	return c.acks.repeat(f, out)
}

// unsolicited handles a frame that is not an answer.
func (c *Client) unsolicited(f *Frame) {
	var n Notice
	if Method(f.Data[OffMethod]) != MethodTrap || !Class(f.Data[OffClass]).isSMP() ||
		AttrID(binary.BigEndian.Uint16(f.Data[OffAttr:])) != AttrNotice ||
		n.UnmarshalBinary(f.Data[OffData:OffData+DataSize]) != nil {
		c.stats.Stray++
		return
	}
	c.stats.Traps++
	if c.opts.Traps == nil {
		return
	}
	select {
	case c.opts.Traps <- Trap{SLID: f.SLID, Notice: n}:
	default:
		c.stats.TrapsDropped++
	}
}

// Trap is a notice that a port sent without a request.
type Trap struct {
	SLID   uint16 // source; 0 if the transport does not know it
	Notice Notice
}
