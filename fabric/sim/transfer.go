// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"example.org/ibconsole/mad"
)

const (
	maxTransfers = 64 // tables in progress for each connection; the oldest is dropped beyond that
	// resendAfter is the time after which a window without acknowledgement is repeated. resends is the maximum number
	// of repetitions.
	resendAfter = 100 * time.Millisecond
	resends     = 5
)

// transfer is a segmented table that is being sent to a connection.
type transfer struct {
	segments *mad.Segmenter
	tid      uint64
	from     mad.Frame // template of the segments, without data
	due      time.Time // when the window is repeated
	tries    int
}

// administer processes a request to the subnet administration, or an acknowledgement of segments.
func (c *Conn) administer(f *mad.Frame) {
	empty := len(c.queued) == 0
	defer func() {
		if empty {
			c.signal()
		}
	}()
	if f.Data[mad.OffRMPPFlags]&mad.RMPPActive != 0 && f.Data[mad.OffRMPPType] != mad.RMPPData {
		c.acknowledge(f)
		return
	}
	a, handBack := c.sim.administer(c.port, f)
	from := mad.Frame{SLID: f.DLID, QP: mad.QP1, SL: f.SL, PKey: f.PKey}
	switch {
	case handBack:
		back := *f
		back.Status = noAnswer
		c.queued = append(c.queued, back)
	case a.segment:
		t := &transfer{segments: mad.NewSegmenter(&a.head, a.table), tid: tidOf(f), from: from}
		if len(c.tables) == maxTransfers {
			c.tables = slices.Delete(c.tables, 0, 1)
		}
		c.tables = append(c.tables, t)
		c.pump(t)
	case a.answers:
		from.Data = a.head
		c.queued = append(c.queued, from)
		c.deliver(c.sim.answerDelivery())
	}
}

func tidOf(f *mad.Frame) uint64 { return binary.BigEndian.Uint64(f.Data[mad.OffTID:]) }

// pump sends segments of a table as far as the window allows.
func (c *Conn) pump(t *transfer) {
	f := t.from
	for t.segments.Next(&f.Data) {
		c.queued = append(c.queued, f)
		c.deliver(c.sim.answerDelivery())
	}
	t.due = time.Now().Add(resendAfter)
	c.late.remind(t.due, t)
}

// acknowledge processes an RMPP packet, such as an acknowledgement, from the receiver of a table.
func (c *Conn) acknowledge(f *mad.Frame) {
	i := slices.IndexFunc(c.tables, func(t *transfer) bool { return t.tid == tidOf(f) })
	if i < 0 || c.sim.isLostByChance() {
		return
	}
	t := c.tables[i]
	out := t.from
	answer, err := t.segments.Take(&f.Data, &out.Data)
	if answer {
		c.queued = append(c.queued, out)
	}
	if err != nil || t.segments.Done() {
		c.tables = slices.Delete(c.tables, i, i+1)
		return
	}
	t.tries = 0
	c.pump(t)
}

// resend sends the segments of a window again if their acknowledgement is overdue.
func (c *Conn) resend(t *transfer, due time.Time) {
	i := slices.Index(c.tables, t)
	if i < 0 || t.due != due {
		return
	}
	if t.tries++; t.tries > resends {
		c.tables = slices.Delete(c.tables, i, i+1)
		return
	}
	t.segments.Rewind()
	c.pump(t)
}

// answerDelivery determines at random how one more answer is delivered.
func (s *Sim) answerDelivery() delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drawDelivery()
}

// isLostByChance determines at random whether a packet that needs no answer is lost.
func (s *Sim) isLostByChance() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chance(s.faults.Loss)
}
