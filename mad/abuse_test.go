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

// forged is a segment that a hostile subnet administration sends, valid or not.
type forged struct {
	after   time.Duration
	kind    uint8
	flags   uint8
	status  uint8
	version uint8
	seg     uint32
	length  uint32
	tid     uint64 // added to the right one
}

// frame returns the segment as an answer to f.
func (l forged) frame(f Frame) Frame {
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

// hostileAgent answers a request with the segments of first, and everything else with the segments that then returns,
// if not nil.
func hostileAgent(first []forged, then func(n int, f *Frame) []forged) *agent {
	return newAgent(func(n int, f Frame) (out []answer) {
		segments := first
		if segmented(&f.Data) {
			if segments = nil; then != nil {
				segments = then(n, &f)
			}
		}
		for _, l := range segments {
			out = append(out, at(l.after, l.frame(f)))
		}
		return out
	})
}

// windowOf returns the segments that acknowledgement f allows.
func windowOf(f *Frame) (out []forged) {
	if f.Data[OffRMPPType] != RMPPAck {
		return nil
	}
	be := binary.BigEndian
	for seg := be.Uint32(f.Data[OffSegment:]) + 1; seg <= be.Uint32(f.Data[OffLength:]); seg++ {
		out = append(out, forged{kind: RMPPData, seg: seg})
	}
	return out
}

var begin = forged{kind: RMPPData, flags: RMPPFirst, seg: 1}

func times(n int, l forged) (out []forged) {
	for range n {
		out = append(out, l)
	}
	return out
}

// Whatever segments a subnet administration sends, the request ends with an error that describes the fault, within the
// maximum duration of a transfer, and with no more memory than its limit. Time is simulated.
func TestAbuse(t *testing.T) {
	const limit = 1 << 20
	then := func(segments ...forged) func(int, *Frame) []forged {
		return func(int, *Frame) []forged { return segments }
	}
	for name, x := range map[string]struct {
		first []forged
		then  func(n int, f *Frame) []forged
		want  error
		words string
	}{
		"segments without end": {[]forged{begin}, func(_ int, f *Frame) []forged {
			return windowOf(f)
		}, RMPPNoResources, "exceeds the limit of 1048576 bytes"},
		"a segment now and then": {[]forged{begin}, func(_ int, f *Frame) []forged {
			return drip(f)
		}, ErrTimeout, "segments"},
		"one segment for ever": {
			times(5000, begin), then(forged{after: 100 * ms, kind: RMPPData, flags: RMPPFirst, seg: 1}), ErrTimeout,
			"after 1 segments",
		},
		"a length beyond all": {[]forged{{kind: RMPPData, flags: RMPPFirst, seg: 1, length: 0xffffffff}}, nil,
			RMPPNoResources, "1048576 bytes"},
		"a length below all": {[]forged{{kind: RMPPData, flags: RMPPFirst, seg: 1, length: 1}}, nil, ErrTimeout,
			"after 1 segments"},
		"a last too long": {[]forged{begin}, then(forged{kind: RMPPData, flags: RMPPLast, seg: 2, length: 0x7fffffff}),
			RMPPBadLength, "segment 2"},
		"a last too short": {[]forged{begin}, then(forged{kind: RMPPData, flags: RMPPLast, seg: 2, length: 1}),
			RMPPBadLength, "segment 2"},
		"a last that is not": {
			[]forged{
				begin,
			}, then(forged{kind: RMPPData, flags: RMPPLast, seg: 5, length: 30}, forged{kind: RMPPData, seg: 6}),
			RMPPBadLength, "segment 6",
		},
		"segment 0":         {[]forged{{kind: RMPPData, flags: RMPPFirst, seg: 0}}, nil, RMPPBadSegment, "segment 0"},
		"another one first": {[]forged{{kind: RMPPData, seg: 0xffffffff}}, nil, ErrTimeout, "after 0 segments"},
		"beyond the window": {[]forged{
			begin,
		}, then(forged{kind: RMPPData, seg: 66}, forged{kind: RMPPData, seg: 1 << 31}),
			ErrTimeout, "after 1 segments"},
		"another transfer": {[]forged{begin}, then(forged{kind: RMPPData, seg: 2, tid: 1 << 40}), ErrTimeout,
			"after 1 segments"},
		"an acknowledgement": {[]forged{{kind: RMPPAck, seg: 7, length: 1}}, nil, RMPPBadType, ""},
		"one in the middle": {[]forged{begin}, then(forged{kind: RMPPAck, seg: 0xffffffff, length: 0}),
			RMPPBadType, ""},
		"an abort": {
			[]forged{{kind: RMPPAbort, status: 126}}, nil, RMPPTooManyRetries, "by the responder",
		},
		"an abort of no status": {
			[]forged{begin}, then(forged{kind: RMPPAbort, status: 0}), RMPPOK, "by the responder",
		},
		"a stop": {[]forged{begin}, then(forged{kind: RMPPStop, status: 250}), RMPPStatus(250),
			"RMPP status 250"},
		"no type": {[]forged{{kind: 200, seg: 1, flags: RMPPFirst}}, nil, RMPPBadType, ""},
		"another version": {[]forged{{kind: RMPPData, seg: 1, flags: RMPPFirst, version: 9}}, nil,
			RMPPBadVersion, ""},
		"nothing": {nil, nil, ErrTimeout, "no answer after 3 tries"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestClient(t, hostileAgent(x.first, x.then), ClientOptions{})
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
				if c.segmentBytes > 0 {
					t.Errorf("%d bytes are counted without a transfer", c.segmentBytes)
				}
			})
		})
	}
}

// drip returns the allowed segments with long pauses between them.
func drip(f *Frame) (out []forged) {
	for i, l := range windowOf(f) {
		l.after = time.Duration(i) * 900 * ms
		out = append(out, l)
	}
	return out
}

// Many endless answers take no more than their common limit, and the error reports it.
func TestAbuseTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 1 << 20
		var c *Client
		a := hostileAgent([]forged{begin}, func(_ int, f *Frame) []forged { return windowOf(f) })
		c = newTestClient(t, a, Fast())
		c.mu.Lock()
		c.maxSegmentBytes = room
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
					fmt.Sprintf("all current answers together exceed the limit of %d bytes", room)) {
					ended++
				}
			})
		}
		all.Wait()
		if ended < 30 {
			t.Errorf("%d of 40 were ended by the common limit", ended)
		}
		if c.mu.Lock(); c.segmentBytes != 0 {
			t.Errorf("%d bytes are counted", c.segmentBytes)
		}
		c.mu.Unlock()
	})
}

// FuzzTransfer lets a subnet administration send anything, within the bounds of IBA 13.6.2 or not, at once and after
// each packet: the request ends, keeps to its limit, and its memory is released.
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
			next := func(n int) (out []forged) {
				for ; n > 0 && len(b) >= 14; n-- {
					be := binary.BigEndian
					out = append(out, forged{
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
			time.Sleep(10 * time.Second) // for frames still in flight
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.segmentBytes != 0 {
				t.Errorf("%d bytes are counted", c.segmentBytes)
			}
		})
	})
}
