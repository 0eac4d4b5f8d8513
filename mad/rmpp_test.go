// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// head returns the header of a segmented answer.
func head(tid uint64) (m [Size]byte) {
	m[OffBaseVersion], m[OffClass], m[OffClassVersion], m[OffMethod] = 1, uint8(ClassSA), 2, uint8(MethodGetTableResp)
	binary.BigEndian.PutUint64(m[OffTID:], tid)
	m[OffAttr+1] = 0x35
	m[OffSMKey+9] = 8 // records of 64 bytes
	return m
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = uint8(i * 7 >> 3)
	}
	return b
}

// Computed by hand from IBA 13.6.2.1, with the payload lengths that Linux counts (20 bytes of class header in every
// segment): 410 bytes are sent as 200, 200 and 10.
func TestSegments(t *testing.T) {
	h := head(0x1122)
	s := NewSegmenter(&h, counting(410))
	var got [][]byte
	var m, ack, out [Size]byte
	a := NewAssembler(0)
	for !s.Done() {
		if !s.Next(&m) {
			t.Fatalf("stuck after %d segments", len(got))
		}
		got = append(got, bytes.Clone(m[OffRMPPVersion:OffSMKey]))
		answer, err := a.Take(&m, &ack)
		if err != nil {
			t.Fatal(err)
		}
		if answer {
			if _, err := s.Take(&ack, &out); err != nil {
				t.Fatal(err)
			}
			got = append(got, bytes.Clone(ack[OffRMPPVersion:OffSMKey]))
			if Method(ack[OffMethod]) != MethodGetTable {
				t.Errorf("acknowledged as %v", Method(ack[OffMethod]))
			}
		}
	}
	want := [][]byte{
		{1, 1, 0xfb, 0, 0, 0, 0, 1, 0, 0, 1, 0xd6}, // first, 410+3*20
		{1, 2, 0xf9, 0, 0, 0, 0, 1, 0, 0, 0, 65},
		{1, 1, 0xf9, 0, 0, 0, 0, 2, 0, 0, 0, 0},
		{1, 1, 0xfd, 0, 0, 0, 0, 3, 0, 0, 0, 30}, // last, 10+20
		{1, 2, 0xf9, 0, 0, 0, 0, 3, 0, 0, 0, 65},
	}
	if len(got) != len(want) {
		t.Fatalf("%d packets, want %d: %x", len(got), len(want), got)
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("packet %d: %x, want %x", i, got[i], want[i])
		}
	}
	if data, err := a.Data(); err != nil || !bytes.Equal(data, counting(410)) {
		t.Errorf("assembled %x, %v", data, err)
	}
}

// A transport loses, repeats and reorders packets, for lengths near the borders of segments and windows.
func TestSegmentsOverLossyWire(t *testing.T) {
	rnd := testenv.Rand(t)
	for _, n := range []int{0, 1, 199, 200, 201, 400, 64 * 200, 65*200 - 1, 65 * 200, 65*200 + 1, 129 * 200,
		300*200 + 77} {
		h := head(rnd.Uint64())
		s, a := NewSegmenter(&h, counting(n)), NewAssembler(0)
		var there, back [][Size]byte
		sent := 0
		deliver := func(queue *[][Size]byte) (m [Size]byte) {
			i := rnd.IntN(len(*queue))
			m = (*queue)[i]
			if rnd.IntN(10) > 0 {
				*queue = append((*queue)[:i], (*queue)[i+1:]...)
			}
			return m
		}
		for !s.Done() || !a.Done() {
			if sent++; sent > 100*(n/SegmentSize+10) {
				t.Fatalf("%d bytes: no end", n)
			}
			var m, out [Size]byte
			switch {
			case s.Next(&m):
				if rnd.IntN(10) > 1 {
					there = append(there, m)
				}
			case len(there) > 0:
				m = deliver(&there)
				answer, err := a.Take(&m, &out)
				if err != nil {
					t.Fatalf("%d bytes: %v", n, err)
				}
				if answer && rnd.IntN(10) > 1 {
					back = append(back, out)
				}
			case len(back) > 0:
				m = deliver(&back)
				if answer, err := s.Take(&m, &out); err != nil || answer {
					t.Fatalf("%d bytes: %v, %v", n, answer, err)
				}
			default:
				s.Rewind()
			}
		}
		if data, err := a.Data(); err != nil || !bytes.Equal(data, counting(n)) {
			t.Errorf("%d bytes came as %d, %v", n, len(data), err)
		}
	}
}

// segment returns data segment seg with the given header fields.
func segment(seg uint32, flags uint8, length uint32) *[Size]byte {
	m := head(5)
	m[OffRMPPVersion], m[OffRMPPType], m[OffRMPPFlags] = rmppVersion, RMPPData, flags|RMPPActive
	binary.BigEndian.PutUint32(m[OffSegment:], seg)
	binary.BigEndian.PutUint32(m[OffLength:], length)
	return &m
}

func changed(m *[Size]byte, at int, to uint8) *[Size]byte {
	m[at] = to
	return m
}

func TestAssemblerRefuses(t *testing.T) {
	first := segment(1, RMPPFirst, 0)
	for _, x := range []struct {
		name string
		take []*[Size]byte
		want RMPPStatus
		kind uint8 // of the MAD that is returned
	}{
		{"version", []*[Size]byte{changed(segment(1, RMPPFirst, 0), OffRMPPVersion, 2)}, RMPPBadVersion, RMPPAbort},
		{"type", []*[Size]byte{changed(segment(1, RMPPFirst, 0), OffRMPPType, 9)}, RMPPBadType, RMPPAbort},
		{"an ACK", []*[Size]byte{changed(segment(1, RMPPFirst, 0), OffRMPPType, RMPPAck)}, RMPPBadType, RMPPAbort},
		{"status", []*[Size]byte{changed(segment(1, RMPPFirst, 0), OffRMPPStatus, 3)}, RMPPBadStatus, RMPPAbort},
		{"segment 0", []*[Size]byte{segment(0, RMPPFirst, 0)}, RMPPBadSegment, RMPPAbort},
		{"a second first", []*[Size]byte{first, segment(2, RMPPFirst, 0)}, RMPPBadSegment, RMPPAbort},
		{"1 that is not first", []*[Size]byte{segment(1, 0, 0)}, RMPPBadSegment, RMPPAbort},
		{"last too short", []*[Size]byte{segment(1, RMPPFirst|RMPPLast, 19)}, RMPPBadLength, RMPPAbort},
		{"last too long", []*[Size]byte{segment(1, RMPPFirst|RMPPLast, 221)}, RMPPBadLength, RMPPAbort},
		{"huge last", []*[Size]byte{segment(1, RMPPFirst|RMPPLast, 0xffffffff)}, RMPPBadLength, RMPPAbort},
		{"beyond the last", []*[Size]byte{first, segment(3, RMPPLast, 30), segment(4, 0, 0)}, RMPPBadLength, RMPPAbort},
		{"two last", []*[Size]byte{first, segment(4, RMPPLast, 30), segment(3, RMPPLast, 30)}, RMPPBadLength,
			RMPPAbort},
		{"the last before others", []*[Size]byte{first, segment(5, 0, 0), segment(3, RMPPLast, 30)}, RMPPBadLength,
			RMPPAbort},
		{
			"announced length above the limit", []*[Size]byte{segment(1, RMPPFirst, 0xffffffff)},
			RMPPNoResources, RMPPStop,
		},
		{"data above the limit", []*[Size]byte{first, segment(6, 0, 0)}, RMPPNoResources, RMPPStop},
	} {
		a := NewAssembler(5 * SegmentSize)
		var out [Size]byte
		var answer bool
		var err error
		for i, m := range x.take {
			if err != nil {
				t.Errorf("%s: packet %d: %v", x.name, i-1, err)
			}
			answer, err = a.Take(m, &out)
		}
		if !errors.Is(err, x.want) || !errors.Is(err, ErrSegments) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
		if !answer || out[OffRMPPType] != x.kind || RMPPStatus(out[OffRMPPStatus]) != x.want ||
			Method(out[OffMethod]) != MethodGetTable {
			t.Errorf("%s: sends back %v, %x", x.name, answer, out[:OffSAData])
		}
	}
}

func TestAssemblerEndsWithTheOtherEnd(t *testing.T) {
	for _, kind := range []uint8{RMPPStop, RMPPAbort} {
		a := NewAssembler(0)
		var out [Size]byte
		stop := changed(changed(segment(0, 0, 0), OffRMPPType, kind), OffRMPPStatus, uint8(RMPPTooManyRetries))
		answer, err := a.Take(stop, &out)
		if answer || !errors.Is(err, RMPPTooManyRetries) {
			t.Errorf("type %d: %v, %v", kind, answer, err)
		}
	}
}

// Segments beyond the window and of other transfers are ignored.
func TestAssemblerIgnores(t *testing.T) {
	a := NewAssembler(0)
	var out [Size]byte
	if answer, err := a.Take(segment(1, RMPPFirst, 0), &out); !answer || err != nil {
		t.Fatal(answer, err)
	}
	for _, m := range []*[Size]byte{
		segment(66, 0, 0), segment(0xffffffff, 0, 0), changed(segment(2, 0, 0), OffTID, 1),
	} {
		if answer, err := a.Take(m, &out); answer || err != nil || a.Segments() != 1 {
			t.Errorf("%x: %v, %v", m[:OffSMKey], answer, err)
		}
	}
	if answer, err := a.Take(segment(1, RMPPFirst, 0), &out); !answer || err != nil || out[OffRMPPType] != RMPPAck ||
		out[OffSegment+3] != 1 {
		t.Errorf("a repeated segment: %v, %v, %x", answer, err, out[:OffSAData])
	}
	if len(a.data) > SegmentSize {
		t.Errorf("keeps %d bytes", len(a.data))
	}
}

func TestSegmenterRefuses(t *testing.T) {
	ack := func(kind uint8, seg, window uint32) *[Size]byte {
		m := segment(seg, 0, window)
		m[OffRMPPType], m[OffMethod] = kind, uint8(MethodGetTable)
		return m
	}
	h := head(5)
	var m, out [Size]byte
	for _, x := range []struct {
		name   string
		m      *[Size]byte
		want   error
		answer bool
	}{
		{"not sent yet", ack(RMPPAck, 2, 65), RMPPSegmentTooBig, true},
		{"huge", ack(RMPPAck, 0xffffffff, 0xffffffff), RMPPSegmentTooBig, true},
		{"window", ack(RMPPAck, 1, 0), RMPPWindowTooSmall, true},
		{"type", ack(RMPPData, 1, 65), RMPPBadType, true},
		{"stop", changed(ack(RMPPStop, 0, 0), OffRMPPStatus, uint8(RMPPNoResources)), RMPPNoResources, false},
		{"fine", ack(RMPPAck, 1, 65), nil, false},
		{"another transfer", changed(ack(RMPPAbort, 0, 0), OffTID, 9), nil, false},
	} {
		s := NewSegmenter(&h, counting(900))
		s.Next(&m)
		answer, err := s.Take(x.m, &out)
		if !errors.Is(err, x.want) || answer != x.answer {
			t.Errorf("%s: %v, %v, want %v", x.name, answer, err, x.want)
		}
	}
	// An acknowledgement of a segment sent before the last Rewind is valid.
	s := NewSegmenter(&h, counting(900))
	s.Next(&m)
	s.Rewind()
	if _, err := s.Take(ack(RMPPAck, 1, 3), &out); err != nil || !s.Next(&m) || m[OffSegment+3] != 2 {
		t.Errorf("after a rewind: %v, segment %d", err, m[OffSegment+3])
	}
}

// Whatever is received, the assembler keeps to its limit.
func FuzzAssembler(f *testing.F) {
	h := head(5)
	s := NewSegmenter(&h, counting(390))
	var m, ack, out [Size]byte
	var seed []byte
	for a := NewAssembler(0); s.Next(&m); {
		seed = append(seed, m[OffRMPPVersion:OffSMKey]...)
		_, _ = a.Take(&m, &ack)
		_, _ = s.Take(&ack, &out)
	}
	f.Add(seed)
	f.Add([]byte{1, 1, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 5, 0, 0, 0, 0, 65, 0, 0, 0, 30})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 100 * SegmentSize
		a := NewAssembler(limit)
		for len(b) >= 12 {
			m := head(5)
			copy(m[OffRMPPVersion:], b[:12])
			m[OffRMPPFlags] |= RMPPActive
			b = b[12:]
			_, err := a.Take(&m, &out)
			if len(a.data) > limit || a.next > a.window+1 || a.window > a.next+SegmentWindow {
				t.Fatalf("%d bytes, next %d, window %d", len(a.data), a.next, a.window)
			}
			if err != nil {
				return
			}
			if data, _ := a.Data(); a.Done() && len(data) != int(a.last-1)*SegmentSize+a.end {
				t.Fatalf("%d bytes of %d segments", len(data), a.last)
			}
		}
	})
}

// Whatever is received, only segments of the data are sent.
func FuzzSegmenter(f *testing.F) {
	f.Add([]byte{1, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 65})
	f.Fuzz(func(t *testing.T, b []byte) {
		h := head(5)
		s := NewSegmenter(&h, counting(1000))
		var m, out [Size]byte
		for s.Next(&m) || len(b) >= 12 {
			if seg := binary.BigEndian.Uint32(m[OffSegment:]); seg < 1 || seg > 5 {
				t.Fatalf("segment %d", seg)
			}
			if len(b) < 12 {
				return
			}
			in := head(5)
			copy(in[OffRMPPVersion:], b[:12])
			b = b[12:]
			if _, err := s.Take(&in, &out); err != nil {
				return
			}
		}
	})
}
