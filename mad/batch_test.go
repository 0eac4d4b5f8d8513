// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatchEmpty(t *testing.T) {
	c := newTestClient(t, newAgent(silence), ClientOptions{})
	b := c.NewBatch(t.Context())
	if err := b.Wait(); err != nil {
		t.Error(err)
	}
}

// Callbacks add requests, as in a sweep; a batch can be used again.
func TestBatchGrows(t *testing.T) {
	c := newTestClient(t, newAgent(echo), ClientOptions{Window: 3})
	b := c.NewBatch(t.Context())
	for range 2 {
		calls := 0
		var grow func(depth int) func(*Reply)
		grow = func(depth int) func(*Reply) {
			return func(r *Reply) {
				if r.Err != nil {
					t.Error(r.Err)
				}
				calls++
				if depth == 0 {
					return
				}
				for range 2 {
					b.Go(Request{Attr: AttrNodeInfo}, grow(depth-1))
				}
			}
		}
		b.Go(Request{Attr: AttrNodeInfo}, grow(9))
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if calls != 1<<10-1 || b.Len() != 0 {
			t.Errorf("%d callbacks, want %d; %d left", calls, 1<<10-1, b.Len())
		}
	}
}

func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const window = 5
		out, most := 0, 0
		a := newAgent(nil)
		a.handle = func(_ int, f Frame) []answer {
			out++
			most = max(most, out)
			time.AfterFunc(9*ms, func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				out--
			})
			return []answer{at(10*ms, reply(f, StatusOK))}
		}
		c := newTestClient(t, a, ClientOptions{Window: window, MinWindow: window, PerTarget: window})
		start := time.Now()
		b := c.NewBatch(t.Context())
		for range 100 {
			b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) {})
		}
		if b.Len() != 100 {
			t.Errorf("%d outstanding, want 100", b.Len())
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if most != window {
			t.Errorf("%d in flight, want %d", most, window)
		}
		if d := time.Since(start); d != 100/window*10*ms {
			t.Errorf("took %v, want 200ms: the window was not kept full", d)
		}
	})
}

func TestBatchCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(_ int, f Frame) []answer { return []answer{at(100*ms, reply(f, StatusOK))} })
		c := newTestClient(t, a, ClientOptions{Window: 4})
		ctx, cancel := context.WithCancel(t.Context())
		b := c.NewBatch(ctx)
		for range 10 {
			b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) { t.Error("a callback ran") })
		}
		time.AfterFunc(50*ms, cancel)
		start := time.Now()
		if err := b.Wait(); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		if d := time.Since(start); d != 50*ms {
			t.Errorf("took %v, want 50ms", d)
		}
		if b.Len() != 0 {
			t.Errorf("%d left", b.Len())
		}
		if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
			t.Errorf("the window is not free: %v", err)
		}
		if got, want := c.Stats(), (Stats{Sent: 5, Received: 1, Late: 4}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

// A batch cancelled while it waits for a slot must not get one.
func TestBatchCancelWhileQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(_ int, f Frame) []answer { return []answer{at(100*ms, reply(f, StatusOK))} })
		c := newTestClient(t, a, ClientOptions{Window: 1})
		first := make(chan error)
		go func() {
			_, err := c.NodeInfo(context.Background(), Path{})
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		b := c.NewBatch(ctx)
		b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) { t.Error("a callback ran") })
		if err := b.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the queued one: %v", err)
		}
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
		if _, err := c.NodeInfo(t.Context(), Path{}); err != nil {
			t.Errorf("the one afterwards: %v", err)
		}
	})
}

// The slots of a cancelled batch go to the next in the queue.
func TestBatchCancelHandsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			if n < 2 {
				return nil
			}
			return echo(n, f)
		})
		c := newTestClient(t, a, ClientOptions{Window: 2})
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		b := c.NewBatch(ctx)
		for range 2 {
			b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) { t.Error("a callback ran") })
		}
		second := make(chan error)
		go func() {
			_, err := c.NodeInfo(context.Background(), Path{})
			second <- err
		}()
		if err := b.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

func TestBatchCancelledBefore(t *testing.T) {
	c := newTestClient(t, newAgent(echo), ClientOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := c.NewBatch(ctx)
	b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) { t.Error("a callback ran") })
	if err := b.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A small batch does not wait for the end of a large one.
func TestBatchesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []uint8
		a := newAgent(func(_ int, f Frame) []answer {
			order = append(order, f.Data[OffMod])
			return []answer{at(10*ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{Window: 2})
		ended := make(chan error)
		run := func(mark uint32, n int) {
			b := c.NewBatch(context.Background())
			for range n {
				b.Go(Request{Attr: AttrNodeInfo, Mod: mark << 24}, func(*Reply) {})
			}
			ended <- b.Wait()
		}
		go run(1, 100)
		time.Sleep(15 * ms)
		go run(2, 4)
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		last := len(order) - 1 - slices.Index(reversed(order), 2)
		if last > 20 {
			t.Errorf("the small batch's last request was the %dth: %v", last, order[:40])
		}
	})
}

func reversed[T any](s []T) []T {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func TestReplyDecode(t *testing.T) {
	r := Reply{Data: [DataSize]byte{1, 1, 2, 36}}
	var info NodeInfo
	if err := r.Decode(&info); err != nil || info.Type != NodeSwitch || info.NumPorts != 36 {
		t.Errorf("got %+v, %v", info, err)
	}
	r.Err = errBroken
	if err := r.Decode(&info); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	a := newLoop()
	c, err := NewClient(a, ClientOptions{Window: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	b := c.NewBatch(t.Context())
	const requests = 1000
	run := func() {
		for range requests {
			b.Go(Request{Attr: AttrNodeInfo}, ignore)
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n > requests/100 {
		t.Errorf("%v allocations for %d requests", n, requests)
	}
}

func ignore(*Reply) {}

// loop is a transport that answers everything at once.
type loop struct {
	in     chan Frame
	closed chan struct{}
}

func newLoop() *loop { return &loop{make(chan Frame, 1<<14), make(chan struct{})} }

func (l *loop) Send(f *Frame) error {
	r := *f
	r.Data[OffMethod] |= uint8(MethodResponse)
	l.in <- r
	return nil
}

func (l *loop) Recv(f *Frame) error {
	select {
	case *f = <-l.in:
		return nil
	case <-l.closed:
		return errBroken
	}
}

func (l *loop) Close() error {
	close(l.closed)
	return nil
}

// BenchmarkBatch measures the cost of the client itself.
func BenchmarkBatch(b *testing.B) {
	for _, window := range []int{1, 16, 64, MaxWindow} {
		b.Run(fmt.Sprintf("window=%d", window), func(b *testing.B) {
			c, err := NewClient(newLoop(), ClientOptions{Window: window, MinWindow: window, PerTarget: window})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			batch := c.NewBatch(b.Context())
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				batch.Go(Request{Attr: AttrNodeInfo}, ignore)
				if batch.Len() == 4*window {
					if err := batch.Wait(); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := batch.Wait(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
