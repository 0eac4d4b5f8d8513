// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lie is a segment that a subnet administration sends, whatever is right.
type lie struct {
	after   time.Duration
	kind    uint8
	flags   uint8
	status  uint8
	version uint8
	seg     uint32
	length  uint32
	tid     uint64 // is added to the right one
}

// frame is the lie told to who asked f.
func (l lie) frame(f Frame) Frame {
	h := f.Data
	h[OffMethod] |= uint8(MethodResponse)
	binary.BigEndian.PutUint64(h[OffTID:], binary.BigEndian.Uint64(h[OffTID:])+l.tid)
	h[OffRMPPVersion], h[OffRMPPType], h[OffRMPPFlags], h[OffRMPPStatus] = rmppVersion+l.version, l.kind,
		l.flags|RMPPActive, l.status
	binary.BigEndian.PutUint32(h[OffSegment:], l.seg)
	binary.BigEndian.PutUint32(h[OffLength:], l.length)
	f.Data = h
	return f
}

// liar answers a request with what first says, and all else that is sent to it with what then says, nil for nothing.
func liar(first []lie, then func(n int, f *Frame) []lie) *agent {
	return newAgent(func(n int, f Frame) (out []answer) {
		lies := first
		if segmented(&f.Data) {
			if lies = nil; then != nil {
				lies = then(n, &f)
			}
		}
		for _, l := range lies {
			out = append(out, at(l.after, l.frame(f)))
		}
		return out
	})
}

// window are the segments that an acknowledgement asks for; the last flags are those of the last one.
func windowOf(f *Frame) (out []lie) {
	if f.Data[OffRMPPType] != RMPPAck {
		return nil
	}
	be := binary.BigEndian
	for seg := be.Uint32(f.Data[OffSegment:]) + 1; seg <= be.Uint32(f.Data[OffLength:]); seg++ {
		out = append(out, lie{kind: RMPPData, seg: seg})
	}
	return out
}

var begin = lie{kind: RMPPData, flags: RMPPFirst, seg: 1}

func times(n int, l lie) (out []lie) {
	for range n {
		out = append(out, l)
	}
	return out
}

// TestAbuse: whatever a subnet administration sends in segments, the request ends with an error that says what it was,
// within the time of a transfer, and with no more memory than its limit. Fake time: none of it is waited for.
func TestAbuse(t *testing.T) {
	const limit = 1 << 20
	then := func(lies ...lie) func(int, *Frame) []lie { return func(int, *Frame) []lie { return lies } }
	for name, x := range map[string]struct {
		first []lie
		then  func(n int, f *Frame) []lie
		want  error
		words string
	}{
		"segments without end": {[]lie{begin}, func(_ int, f *Frame) []lie {
			return windowOf(f)
		}, RMPPNoResources, "more than 1048576 bytes, the limit"},
		"a segment now and then": {[]lie{begin}, func(_ int, f *Frame) []lie {
			return drip(f)
		}, ErrTimeout, "segments"},
		"one segment for ever": {
			times(5000, begin), then(lie{after: 100 * ms, kind: RMPPData, flags: RMPPFirst, seg: 1}), ErrTimeout,
			"after 1 segments",
		},
		"a length beyond all": {[]lie{{kind: RMPPData, flags: RMPPFirst, seg: 1, length: 0xffffffff}}, nil,
			RMPPNoResources, "1048576 bytes"},
		"a length below all": {[]lie{{kind: RMPPData, flags: RMPPFirst, seg: 1, length: 1}}, nil, ErrTimeout,
			"after 1 segments"},
		"a last too long": {[]lie{begin}, then(lie{kind: RMPPData, flags: RMPPLast, seg: 2, length: 0x7fffffff}),
			RMPPBadLength, "segment 2"},
		"a last too short": {[]lie{begin}, then(lie{kind: RMPPData, flags: RMPPLast, seg: 2, length: 1}),
			RMPPBadLength, "segment 2"},
		"a last that is not": {
			[]lie{begin}, then(lie{kind: RMPPData, flags: RMPPLast, seg: 5, length: 30}, lie{kind: RMPPData, seg: 6}),
			RMPPBadLength, "segment 6",
		},
		"segment 0":         {[]lie{{kind: RMPPData, flags: RMPPFirst, seg: 0}}, nil, RMPPBadSegment, "segment 0"},
		"another one first": {[]lie{{kind: RMPPData, seg: 0xffffffff}}, nil, ErrTimeout, "after 0 segments"},
		"beyond the window": {[]lie{begin}, then(lie{kind: RMPPData, seg: 66}, lie{kind: RMPPData, seg: 1 << 31}),
			ErrTimeout, "after 1 segments"},
		"another transfer": {[]lie{begin}, then(lie{kind: RMPPData, seg: 2, tid: 1 << 40}), ErrTimeout,
			"after 1 segments"},
		"an acknowledgement":    {[]lie{{kind: RMPPAck, seg: 7, length: 1}}, nil, RMPPBadType, ""},
		"one in the middle":     {[]lie{begin}, then(lie{kind: RMPPAck, seg: 0xffffffff, length: 0}), RMPPBadType, ""},
		"an abort":              {[]lie{{kind: RMPPAbort, status: 126}}, nil, RMPPTooManyRetries, "by the other end"},
		"an abort of no status": {[]lie{begin}, then(lie{kind: RMPPAbort, status: 0}), RMPPOK, "by the other end"},
		"a stop": {[]lie{begin}, then(lie{kind: RMPPStop, status: 250}), RMPPStatus(250),
			"RMPP status 250"},
		"no type": {[]lie{{kind: 200, seg: 1, flags: RMPPFirst}}, nil, RMPPBadType, ""},
		"another version": {[]lie{{kind: RMPPData, seg: 1, flags: RMPPFirst, version: 9}}, nil,
			RMPPBadVersion, ""},
		"nothing": {nil, nil, ErrTimeout, "no answer after 3 tries"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestClient(t, liar(x.first, x.then), ClientOptions{})
				req := tableRequest()
				req.GSI.Limit = limit
				start := time.Now()
				_, err := c.Do(t.Context(), &req)
				if !errors.Is(err, x.want) || !strings.Contains(fmt.Sprint(err), x.words) {
					t.Errorf("%v, want %v with %q", err, x.want, x.words)
				}
				if d := time.Since(start); d > maxTransfer+10*time.Second {
					t.Errorf("it took %v", d)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.held > 0 {
					t.Errorf("%d bytes are counted when nothing is under way", c.held)
				}
			})
		})
	}
}

// drip is one more segment a while after each acknowledgement, again and again: those of a window come slowly.
func drip(f *Frame) (out []lie) {
	for i, l := range windowOf(f) {
		l.after = time.Duration(i) * 900 * ms
		out = append(out, l)
	}
	return out
}

// TestAbuseTogether: many answers without end take no more than their common limit, and the error says so.
func TestAbuseTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 1 << 20
		var c *Client
		a := liar([]lie{begin}, func(_ int, f *Frame) []lie { return windowOf(f) })
		c = newTestClient(t, a, Fast())
		c.mu.Lock()
		c.room = room
		c.mu.Unlock()
		var all sync.WaitGroup
		var mu sync.Mutex
		ended := 0
		for range 40 {
			all.Go(func() {
				req := tableRequest()
				req.GSI.Limit = room / 2
				_, err := c.Do(t.Context(), &req)
				if !errors.Is(err, RMPPNoResources) {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(err.Error(),
					fmt.Sprintf("all answers that come now have more than %d bytes", room)) {
					ended++
				}
			})
		}
		all.Wait()
		if ended < 30 {
			t.Errorf("%d of 40 were ended by the common limit", ended)
		}
		if c.mu.Lock(); c.held != 0 {
			t.Errorf("%d bytes are counted", c.held)
		}
		c.mu.Unlock()
	})
}

// FuzzTransfer has a subnet administration send what it likes, in the bounds of IBA 13.6.2 and out of them, now and on
// each packet that it gets: the request ends, keeps to its limit, and what it counts is nothing when it has.
func FuzzTransfer(f *testing.F) {
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 2, 0, 0, 0, 100, 0, 0})
	f.Add([]byte{1, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 120, 0, 0})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 0, 3, 4, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 1, 4, 0, 0, 0, 0,
		0, 70, 0, 0, 0, 30, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 14*300 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			const limit = 40 * SegmentSize
			next := func(n int) (out []lie) {
				for ; n > 0 && len(b) >= 14; n-- {
					be := binary.BigEndian
					out = append(out, lie{
						kind: b[0], flags: b[1], status: b[2], version: b[3], seg: be.Uint32(b[4:]),
						length: be.Uint32(b[8:]),
						after:  time.Duration(b[12]) * 10 * ms, tid: uint64(b[13] >> 6),
					})
					b = b[14:]
				}
				return out
			}
			a := newAgent(nil)
			a.handle = func(_ int, f Frame) (out []answer) {
				for _, l := range next(3) {
					out = append(out, at(l.after, l.frame(f)))
				}
				return out
			}
			c := newTestClient(t, a, ClientOptions{})
			req := tableRequest()
			req.GSI.Limit = limit
			start := time.Now()
			err := c.Ask(t.Context(), &req, func(r *Reply) error {
				if len(r.Table) > limit {
					t.Errorf("%d bytes", len(r.Table))
				}
				return r.Err
			})
			if d := time.Since(start); d > maxTransfer+10*time.Second {
				t.Errorf("it took %v: %v", d, err)
			}
			time.Sleep(10 * time.Second) // what is still on its way
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.held != 0 {
				t.Errorf("%d bytes are counted", c.held)
			}
		})
	})
}
