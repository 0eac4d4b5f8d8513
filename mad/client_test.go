// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

const ms = time.Millisecond

func TestDo(t *testing.T) {
	a := newAgent(echo)
	c := newTestClient(t, a, ClientOptions{})
	req := Request{Attr: AttrPortInfo, Mod: 7, Path: mustPath(t, "0,1,5"), MKey: 0x1234}
	data, err := c.Do(t.Context(), &req)
	if err != nil || data[3] != 7 {
		t.Fatalf("got %x, %v", data, err)
	}
	sent := a.frames()[0]
	var s SMP
	if err := s.UnmarshalBinary(sent.Data[:]); err != nil {
		t.Fatal(err)
	}
	if sent.DLID != PermissiveLID || s.Class != ClassSMPDirected || pathOf(&s) != req.Path || s.Method != MethodGet ||
		s.Attr != AttrPortInfo || s.Mod != 7 || s.MKey != 0x1234 || s.BaseVersion != 1 || s.ClassVersion != 1 {
		t.Errorf("sent %+v to %d", s, sent.DLID)
	}
	if s.TID>>32 != 0 {
		t.Errorf("the transaction id 0x%x uses the transports' half", s.TID)
	}
	if sent.Timeout != 200*ms {
		t.Errorf("the frame says %v, want 200ms", sent.Timeout)
	}
	if got, want := c.Stats(), (Stats{Sent: 1, Received: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestDoByLID(t *testing.T) {
	a := newAgent(echo)
	c := newTestClient(t, a, ClientOptions{})
	if _, err := c.Do(t.Context(), &Request{Attr: AttrNodeInfo, LID: 17}); err != nil {
		t.Fatal(err)
	}
	sent := a.frames()[0]
	var s SMP
	if err := s.UnmarshalBinary(sent.Data[:]); err != nil {
		t.Fatal(err)
	}
	if sent.DLID != 17 || s.Class != ClassSMPLID || s.HopCount != 0 || s.DrSLID != 0 || s.DrDLID != 0 {
		t.Errorf("sent %+v to %d", s, sent.DLID)
	}
}

func TestSet(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer {
		r := reply(f, StatusOK)
		copy(r.Data[OffData:], f.Data[OffData:OffInitialPath])
		r.Data[OffData] = 9
		return []answer{at(0, r)}
	})
	c := newTestClient(t, a, ClientOptions{})
	got, err := Set(t.Context(), c, Path{}, 3, LinearForwardingTable{0: 1, 63: 2})
	if err != nil || got != (LinearForwardingTable{0: 9, 63: 2}) {
		t.Fatalf("got %v, %v", got, err)
	}
	var s SMP
	if err := s.UnmarshalBinary(a.frames()[0].Data[:]); err != nil {
		t.Fatal(err)
	}
	if s.Method != MethodSet || s.Mod != 3 || s.Data != [DataSize]byte{0: 1, 63: 2} {
		t.Errorf("sent %+v", s)
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var times []time.Duration
		a := newAgent(func(int, Frame) []answer {
			times = append(times, time.Since(start))
			return nil
		})
		c := newTestClient(t, a, ClientOptions{Timeout: 200 * ms, Tries: 3, Backoff: 2})
		_, err := c.NodeInfo(t.Context(), mustPath(t, "0,1,5"))
		if !errors.Is(err, ErrTimeout) {
			t.Fatalf("got %v, want %v", err, ErrTimeout)
		}
		const want = "NodeInfo by directed route 0,1,5: no answer after 3 tries of 200ms to 800ms"
		if err.Error() != want {
			t.Errorf("the error is\n%q, want\n%q", err, want)
		}
		if want := []time.Duration{0, 200 * ms, 600 * ms}; !slices.Equal(times, want) {
			t.Errorf("sent at %v, want %v", times, want)
		}
		if d := time.Since(start); d != 1400*ms {
			t.Errorf("failed after %v, want 1.4s", d)
		}
		if got, want := c.Stats(), (Stats{Sent: 3, Retried: 2, TimedOut: 1}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
		tids := map[uint64]bool{}
		for _, f := range a.frames() {
			tids[binary.BigEndian.Uint64(f.Data[OffTID:])] = true
		}
		if len(tids) != 3 {
			t.Errorf("%d transaction ids for 3 tries", len(tids))
		}
	})
}

func TestTimeoutWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			opts ClientOptions
			req  Request
			want string
		}{
			{ClientOptions{Tries: 3, Backoff: 1}, Request{Attr: AttrNodeInfo},
				"NodeInfo by directed route 0: no answer after 3 tries of 200ms"},
			{ClientOptions{Tries: 1, Timeout: ms}, Request{Attr: AttrPortInfo, Mod: 3, LID: 9},
				"PortInfo 3 at LID 9: no answer after 1 try of 1ms"},
			{ClientOptions{Tries: 1}, Request{Method: MethodSet, Attr: AttrSwitchInfo, Path: mustPath(t, "0,2")},
				"Set SwitchInfo by directed route 0,2: no answer after 1 try of 200ms"},
		} {
			c, err := NewClient(newAgent(silence), x.opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Do(t.Context(), &x.req); err == nil || err.Error() != x.want {
				t.Errorf("got %q, want %q", err, x.want)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// An answer to the first try after the second was sent counts; the answer to the second is then late.
func TestLateAndRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			if n == 0 {
				return []answer{at(250*ms, reply(f, StatusOK))}
			}
			return []answer{at(100*ms, reply(f, StatusOK)), at(120*ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{})
		start := time.Now()
		if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 250*ms {
			t.Errorf("answered after %v, want 250ms", d)
		}
		time.Sleep(time.Second)
		if got, want := c.Stats(), (Stats{Sent: 2, Retried: 1, Received: 1, Late: 2}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

// An answer to a request that has timed out must not end the request that now uses its slot.
func TestLateAfterReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			if n == 0 {
				return []answer{at(300*ms, reply(f, StatusOK))}
			}
			return []answer{at(150*ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{Window: 1, Tries: 1})
		if _, err := c.Do(t.Context(), &Request{Attr: AttrPortInfo, Mod: 1}); !errors.Is(err, ErrTimeout) {
			t.Fatalf("the first: %v", err)
		}
		data, err := c.Do(t.Context(), &Request{Attr: AttrPortInfo, Mod: 2})
		if err != nil || data[3] != 2 {
			t.Fatalf("the second got the answer to port %d, %v", data[3], err)
		}
		if got, want := c.Stats(), (Stats{Sent: 2, Received: 1, TimedOut: 1, Late: 1}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

func TestStrayFrames(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer {
		trap := f // a request, not an answer
		otherAttr, otherMod, otherClass, otherSlot := reply(f, 0), reply(f, 0), reply(f, 0), reply(f, 0)
		otherAttr.Data[OffAttr+1]++
		otherMod.Data[OffMod+3]++
		otherClass.Data[OffClass] = uint8(ClassSMPLID)
		otherSlot.Data[OffTID+7] ^= 0xff
		return []answer{at(0, trap), at(0, otherAttr), at(0, otherMod), at(0, otherClass), at(0, otherSlot),
			at(0, reply(f, 0))}
	})
	c := newTestClient(t, a, ClientOptions{Window: 1})
	if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Stats(), (Stats{Sent: 1, Received: 1, Stray: 4, Late: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestRefused(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer { return []answer{at(0, reply(f, StatusMethodAttrMismatch))} })
	c := newTestClient(t, a, ClientOptions{})
	_, err := Get[SwitchInfo](t.Context(), c, mustPath(t, "0,3"), 0)
	var status Status
	if !errors.As(err, &status) || status != StatusMethodAttrMismatch {
		t.Fatalf("got %v", err)
	}
	var failed *RequestError
	if !errors.As(err, &failed) || failed.Attr != AttrSwitchInfo || failed.Path != mustPath(t, "0,3") {
		t.Errorf("got %#v", err)
	}
	const want = "SwitchInfo by directed route 0,3: method with this attribute not supported (MAD status 0x000c)"
	if err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	if got, want := c.Stats(), (Stats{Sent: 1, Received: 1, Refused: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

// A request to a busy agent is repeated when the time of the try is over.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := 1
		a := newAgent(func(n int, f Frame) []answer {
			switch {
			case n < busy:
				return []answer{at(0, reply(f, StatusBusy))}
			case n > 4:
				return nil
			}
			return echo(n, f)
		})
		c := newTestClient(t, a, ClientOptions{Window: 1})
		start := time.Now()
		if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 200*ms {
			t.Errorf("asked again after %v, want 200ms", d)
		}
		busy = 5
		_, err := c.NodeInfo(t.Context(), Path{})
		var status Status
		if !errors.As(err, &status) || status != StatusBusy {
			t.Errorf("got %v, want busy", err)
		}
		if d := time.Since(start); d != 1600*ms {
			t.Errorf("given up after %v, want 200ms + 1.4s", d)
		}
		if _, err := c.NodeInfo(t.Context(), Path{}); !errors.Is(err, ErrTimeout) {
			t.Errorf("a busy answer to one request affects the next: %v, want %v", err, ErrTimeout)
		}
	})
}

// A transport that knows that no answer will arrive ends the wait.
func TestSentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(_ int, f Frame) []answer {
			f.Status = 110
			return []answer{at(0, f)}
		})
		c := newTestClient(t, a, ClientOptions{})
		start := time.Now()
		_, err := c.NodeInfo(t.Context(), mustPath(t, "0,7"))
		if !errors.Is(err, ErrTimeout) {
			t.Fatalf("got %v", err)
		}
		const want = "NodeInfo by directed route 0,7: no answer after 3 tries: sent back by the transport: " +
			"connection timed out (errno 110)"
		if err.Error() != want {
			t.Errorf("the error is\n%q, want\n%q", err, want)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("it took %v", d)
		}
		if got, want := c.Stats(), (Stats{Sent: 3, Retried: 2, TimedOut: 1}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

// A returned earlier try does not affect the current one.
func TestSentBackLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			if n == 0 {
				f.Status = 110
				return []answer{at(201*ms, f)}
			}
			return []answer{at(50*ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{})
		if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
			t.Fatal(err)
		}
		if n := len(a.frames()); n != 2 {
			t.Errorf("%d frames, want 2", n)
		}
	})
}

func TestSendError(t *testing.T) {
	a := newAgent(silence)
	a.fail = errBroken
	c := newTestClient(t, a, ClientOptions{})
	if _, err := c.NodeInfo(t.Context(), Path{}); !errors.Is(err, errBroken) || errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
}

func TestSendErrorOfRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(silence)
		c := newTestClient(t, a, ClientOptions{})
		time.AfterFunc(100*ms, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.fail = errBroken
		})
		start := time.Now()
		if _, err := c.NodeInfo(t.Context(), Path{}); !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
		if d := time.Since(start); d != 200*ms {
			t.Errorf("failed after %v, want 200ms", d)
		}
	})
}

// A late send error of a try must not end the request that now uses its slot.
func TestSendErrorLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			return []answer{at([]time.Duration{250 * ms, 150 * ms}[n], reply(f, StatusOK))}
		})
		a.hold = func(n int) error {
			if n != 1 { // the second try of the first request
				return nil
			}
			time.Sleep(100 * ms)
			return errBroken
		}
		c := newTestClient(t, a, ClientOptions{Window: 1})
		for i := range 2 {
			if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
	})
}

func TestTransportBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(silence)
		c := newTestClient(t, a, ClientOptions{})
		time.AfterFunc(50*ms, func() { _ = a.Close() })
		start := time.Now()
		if _, err := c.NodeInfo(t.Context(), Path{}); !errors.Is(err, errBroken) {
			t.Errorf("got %v, want %v", err, errBroken)
		}
		if d := time.Since(start); d != 50*ms {
			t.Errorf("failed after %v, want 50ms", d)
		}
		if _, err := c.NodeInfo(t.Context(), Path{}); !errors.Is(err, errBroken) {
			t.Errorf("after that: %v, want %v", err, errBroken)
		}
	})
}

// All outstanding requests get an error. No goroutine remains; otherwise the synctest bubble would not end.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(silence)
		c, err := NewClient(a, ClientOptions{Window: 2})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 5)
		for range cap(ended) {
			go func() {
				_, err := c.NodeInfo(context.Background(), Path{})
				ended <- err
			}()
		}
		time.Sleep(50 * ms)
		if n := len(a.frames()); n != 2 {
			t.Errorf("%d frames in a window of 2", n)
		}
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("outstanding: %v, want %v", err, ErrClosed)
			}
		}
		if _, err := c.NodeInfo(context.Background(), Path{}); !errors.Is(err, ErrClosed) {
			t.Errorf("afterwards: %v, want %v", err, ErrClosed)
		}
		if err := c.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
	})
}

func TestClientOptions(t *testing.T) {
	for _, opts := range []ClientOptions{
		{Window: -1}, {Window: MaxWindow + 1}, {MinWindow: -1}, {Window: 4, MinWindow: 5}, {PerTarget: -1},
		{Timeout: -1}, {Tries: -1}, {Tries: 33}, {Backoff: 0.5}, {Backoff: 11},
	} {
		if _, err := NewClient(newAgent(silence), opts); err == nil {
			t.Errorf("%+v is accepted", opts)
		}
	}
	c := newTestClient(t, newAgent(echo), ClientOptions{Window: MaxWindow})
	if got, want := c.Options(), (ClientOptions{Window: MaxWindow, MinWindow: MaxWindow / 8, PerTarget: MaxWindow / 4,
		Timeout: 200 * ms, Tries: 3, Backoff: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A transport that loses, repeats and delays half of all frames must not mix up answers.
func TestLossyWire(t *testing.T) {
	seed := testenv.Rand(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed.Uint64(), seed.Uint64()))
		a := newAgent(func(_ int, f Frame) []answer {
			var out []answer
			for range r.IntN(3) {
				out = append(out, at(time.Duration(r.IntN(300))*ms, reply(f, StatusOK)))
			}
			if r.IntN(10) == 0 {
				f.Status = 110
				out = append(out, at(time.Duration(r.IntN(300))*ms, f))
			}
			return out
		})
		c := newTestClient(t, a, ClientOptions{Window: 7, Timeout: 100 * ms, Tries: 20, Backoff: 1.1})
		const batches, requests = 4, 500
		ended := make(chan int)
		for k := range batches {
			go func() {
				b := c.NewBatch(context.Background())
				good := 0
				for i := range requests {
					mod := uint32(k*requests + i)
					b.Go(Request{Attr: AttrPortInfo, Mod: mod, User: uint64(mod)}, func(r *Reply) {
						if r.Err != nil {
							t.Errorf("%d: %v", mod, r.Err)
						} else if got := binary.BigEndian.Uint32(r.Data[:]); got != mod ||
							r.Request.User != uint64(mod) {
							t.Errorf("%d got the answer to %d, and user %d", mod, got, r.Request.User)
						}
						good++
					})
				}
				if err := b.Wait(); err != nil {
					t.Error(err)
				}
				ended <- good
			}()
		}
		for range batches {
			if good := <-ended; good != requests {
				t.Errorf("%d callbacks, want %d", good, requests)
			}
		}
		time.Sleep(time.Minute)
		s := c.Stats()
		if s.Received != batches*requests || s.Sent != s.Received+s.Retried || s.TimedOut != 0 {
			t.Errorf("stats %+v", s)
		}
		t.Logf("%+v", s)
	})
}
