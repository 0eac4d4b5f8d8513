// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// saAgent answers requests to a subnet administration with a segmented table. It repeats segments that are not
// acknowledged within resend, as Linux does.
type saAgent struct {
	*agent
	table  []byte
	resend time.Duration
	lose   func() bool

	// Guarded by agent.mu.
	transfers map[uint64]*transfer
	resent    int
	aborted   int
}

type transfer struct {
	*Segmenter
	timer *time.Timer
}

func newSAAgent(table []byte) *saAgent {
	s := &saAgent{table: table, resend: 300 * ms, lose: func() bool { return false }, transfers: map[uint64]*transfer{}}
	s.agent = newAgent(s.handle)
	return s
}

func (s *saAgent) handle(_ int, f Frame) []answer {
	tid := binary.BigEndian.Uint64(f.Data[OffTID:])
	if !segmented(&f.Data) {
		h := f.Data
		h[OffMethod] |= uint8(MethodResponse)
		x := &transfer{Segmenter: NewSegmenter(&h, s.table)}
		x.timer = time.AfterFunc(s.resend, func() { s.again(f, x) })
		s.transfers[tid] = x
		return s.send(f, x)
	}
	if f.Data[OffRMPPType] == RMPPAbort || f.Data[OffRMPPType] == RMPPStop {
		s.aborted++
	}
	x := s.transfers[tid]
	if x == nil || s.lose() {
		return nil
	}
	var out [Size]byte
	acked := x.acked
	if _, err := x.Take(&f.Data, &out); err != nil || x.Done() {
		x.timer.Stop()
	}
	if x.acked > acked && !x.Done() {
		x.timer.Reset(s.resend)
	}
	return s.send(f, x)
}

// again repeats the segments that were not acknowledged.
func (s *saAgent) again(f Frame, x *transfer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resent++
	x.Rewind()
	for _, a := range s.send(f, x) {
		s.in <- a.frame
	}
	x.timer.Reset(s.resend)
}

// send sends the segments that the window allows.
func (s *saAgent) send(f Frame, x *transfer) (out []answer) {
	for x.Next(&f.Data) {
		if !s.lose() {
			out = append(out, at(ms, f))
		}
	}
	return out
}

func tableRequest() Request {
	return Request{Class: ClassSA, Method: MethodGetTable, Attr: 0x35, LID: 9, GSI: &GSI{Timeout: time.Second}}
}

func TestTable(t *testing.T) {
	for _, n := range []int{0, 1, 200, 201, 1000, 64*200 + 3, 50_000} {
		synctest.Test(t, func(t *testing.T) {
			s := newSAAgent(counting(n))
			c := newTestClient(t, s.agent, ClientOptions{})
			req := tableRequest()
			err := c.Ask(t.Context(), &req, func(r *Reply) error {
				if r.Table == nil || !bytes.Equal(r.Table, s.table) || Method(r.MAD[OffMethod]) != MethodGetTableResp {
					t.Errorf("%d bytes came as %d, %v", n, len(r.Table), r.Err)
				}
				return r.Err
			})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
			s.mu.Lock()
			defer s.mu.Unlock()
			if st := c.Stats(); st.Sent != 1 || st.Received != 1 || st.Late != 0 || s.resent != 0 {
				t.Errorf("%d bytes: %+v, %d sent again", n, st, s.resent)
			}
			for id, x := range s.transfers {
				if !x.Done() {
					t.Errorf("transfer %x is not acknowledged", id)
				}
			}
		})
	}
}

// The transport loses segments and acknowledgements, including the last.
func TestTableOverLossyWire(t *testing.T) {
	seed := testenv.Rand(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed.Uint64(), seed.Uint64()))
		s := newSAAgent(counting(40_000))
		s.lose = func() bool { return r.IntN(8) == 0 }
		c := newTestClient(t, s.agent, ClientOptions{})
		for i := range 10 {
			req := tableRequest()
			err := c.Ask(t.Context(), &req, func(r *Reply) error {
				if !bytes.Equal(r.Table, s.table) {
					t.Errorf("transfer %d: %d bytes", i, len(r.Table))
				}
				return r.Err
			})
			if err != nil {
				t.Errorf("transfer %d: %v", i, err)
			}
		}
		time.Sleep(time.Minute)
		s.mu.Lock()
		defer s.mu.Unlock()
		for id, x := range s.transfers {
			x.timer.Stop()
			if !x.Done() {
				t.Errorf("transfer %x was never acknowledged, though the last segment is repeated", id)
			}
		}
		if s.resent == 0 {
			t.Error("nothing was lost")
		}
	})
}

// The other end stops in the middle: the request ends, and the client aborts the transfer.
func TestTableBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSAAgent(counting(40_000))
		sent := 0
		s.lose = func() bool { sent++; return sent > 30 }
		s.resend = time.Hour
		c := newTestClient(t, s.agent, ClientOptions{})
		req := tableRequest()
		start := time.Now()
		_, err := c.Do(t.Context(), &req)
		// 30 packets: a segment and its acknowledgement, then 28 segments.
		const want = "GetTable PathRecord at LID 9: no answer after 29 segments"
		if !errors.Is(err, ErrTimeout) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if d := time.Since(start); d < 4*time.Second || d > 5*time.Second {
			t.Errorf("it took %v, want 4s: one wait and three repeated acknowledgements", d)
		}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.aborted != 1 {
			t.Errorf("%d aborts were sent", s.aborted)
		}
		if st := c.Stats(); st.TimedOut != 1 || st.Received != 0 {
			t.Errorf("%+v", st)
		}
	})
}

// Endless repetition of one segment does not keep the request alive.
func TestTableOfRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var a *agent
		a = newAgent(func(n int, f Frame) []answer {
			if n == 0 {
				h := f.Data
				h[OffMethod] |= uint8(MethodResponse)
				NewSegmenter(&h, counting(900)).Next(&f.Data)
				go func() {
					for ctx.Err() == nil {
						a.in <- f
						time.Sleep(100 * ms)
					}
				}()
			}
			return nil
		})
		c := newTestClient(t, a, ClientOptions{})
		req := tableRequest()
		start := time.Now()
		if _, err := c.Do(t.Context(), &req); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("it took %v", d)
		}
		cancel()
		time.Sleep(time.Second)
	})
}

// An answer above the limit is stopped.
func TestTableLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSAAgent(counting(3000))
		c := newTestClient(t, s.agent, ClientOptions{})
		req := tableRequest()
		req.GSI.Limit = 1000
		_, err := c.Do(t.Context(), &req)
		if !errors.Is(err, RMPPNoResources) || !errors.Is(err, ErrSegments) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.aborted != 1 {
			t.Errorf("%d stops were sent", s.aborted)
		}
	})
}

// A slow administration answers two tries at once: the first answer counts, the other is ignored.
func TestTableTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSAAgent(counting(2000))
		inner := s.handle
		s.agent.handle = func(n int, f Frame) []answer {
			out := inner(n, f)
			if n < 2 {
				for i := range out {
					out[i].after = time.Duration(1500-1000*n) * ms
				}
			}
			return out
		}
		s.resend = 10 * time.Second
		c := newTestClient(t, s.agent, ClientOptions{})
		req := tableRequest()
		err := c.Ask(t.Context(), &req, func(r *Reply) error {
			if !bytes.Equal(r.Table, s.table) {
				t.Errorf("%d bytes", len(r.Table))
			}
			return r.Err
		})
		if err != nil {
			t.Error(err)
		}
		if st := c.Stats(); st.Sent != 2 || st.Received != 1 {
			t.Errorf("%+v", st)
		}
	})
}

// Requests with their own timeouts end after these, in any order.
func TestOwnTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestClient(t, newAgent(silence), ClientOptions{Tries: 2, MinWindow: 16})
		b := c.NewBatch(t.Context())
		start := time.Now()
		for _, s := range []int{3, 1, 4, 1, 5, 9, 2, 6} {
			req := tableRequest()
			req.GSI = &GSI{Timeout: time.Duration(s) * time.Second}
			req.LID = uint16(10 + s)
			b.Go(req, func(r *Reply) {
				if d := time.Since(start); d != time.Duration(3*s)*time.Second {
					t.Errorf("two tries of %d and %d s ended after %v", s, 2*s, d)
				}
				want := fmt.Sprintf("GetTable PathRecord at LID %d: no answer after 2 tries of %ds to %ds",
					10+s, s, 2*s)
				if r.Err == nil || r.Err.Error() != want {
					t.Errorf("got %v, want %s", r.Err, want)
				}
			})
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}
