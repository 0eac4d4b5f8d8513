// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"example.org/ibconsole/mad"
)

const (
	maxTransfers = 64 // how many tables a connection gets at once; of more the oldest is forgotten
	// resendAfter is how long a window's end waits for its acknowledgement, resends how often it is sent again.
	resendAfter = 100 * time.Millisecond
	resends     = 5
)

// transfer is a table on its way to a connection, in segments.
type transfer struct {
	segments *mad.Segmenter
	tid      uint64
	from     mad.Frame // of the segments, without data
	due      time.Time // when the window is sent again
	tries    int
}

// administer takes a request for the subnet administration, or what a table's receiver says of segments.
func (c *Conn) administer(f *mad.Frame) {
	empty := len(c.in) == 0
	defer func() {
		if empty {
			c.signal()
		}
	}()
	if f.Data[mad.OffRMPPFlags]&mad.RMPPActive != 0 && f.Data[mad.OffRMPPType] != mad.RMPPData {
		c.acknowledged(f)
		return
	}
	a, handBack := c.sim.administer(c.port, f)
	from := mad.Frame{SLID: f.DLID, QP: mad.QP1, SL: f.SL, PKey: f.PKey}
	switch {
	case handBack:
		back := *f
		back.Status = noAnswer
		c.in = append(c.in, back)
	case a.segment:
		t := &transfer{segments: mad.NewSegmenter(&a.head, a.table), tid: tidOf(f), from: from}
		if len(c.tables) == maxTransfers {
			c.tables = slices.Delete(c.tables, 0, 1)
		}
		c.tables = append(c.tables, t)
		c.pump(t)
	case a.answers:
		from.Data = a.head
		c.in = append(c.in, from)
		c.meet(c.sim.answerFate())
	}
}

func tidOf(f *mad.Frame) uint64 { return binary.BigEndian.Uint64(f.Data[mad.OffTID:]) }

// pump sends the segments of a table that may be sent.
func (c *Conn) pump(t *transfer) {
	f := t.from
	for t.segments.Next(&f.Data) {
		c.in = append(c.in, f)
		c.meet(c.sim.answerFate())
	}
	t.due = time.Now().Add(resendAfter)
	c.late.remind(t.due, t)
}

// acknowledged takes what the receiver of a table says.
func (c *Conn) acknowledged(f *mad.Frame) {
	i := slices.IndexFunc(c.tables, func(t *transfer) bool { return t.tid == tidOf(f) })
	if i < 0 || c.sim.lost() {
		return
	}
	t := c.tables[i]
	out := t.from
	answer, err := t.segments.Take(&f.Data, &out.Data)
	if answer {
		c.in = append(c.in, out)
	}
	if err != nil || t.segments.Done() {
		c.tables = slices.Delete(c.tables, i, i+1)
		return
	}
	t.tries = 0
	c.pump(t)
}

// again sends the window of a table once more that was due to be acknowledged.
func (c *Conn) again(t *transfer, due time.Time) {
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

// answerFate is what becomes of one more answer.
func (s *Sim) answerFate() fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wayBack()
}

// lost reports whether a packet that wants no answer is lost.
func (s *Sim) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.happens(s.faults.Loss)
}
