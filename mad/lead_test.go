// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// leading returns a client's batch and a function that adds requests to it. during is called, with a number from 1, in
// each callback that runs while the batch leads.
func leading(t *testing.T, a *agent, opts ClientOptions, during func(b *Batch, n int)) (*Batch, func(requests int)) {
	c := newTestClient(t, a, opts)
	b := c.NewBatch(t.Context())
	n := 0
	callback := func(*Reply) {
		c.mu.Lock()
		leads := c.lead.batch == b
		c.mu.Unlock()
		if leads {
			n++
			during(b, n)
		}
	}
	return b, func(requests int) {
		for i := range requests {
			b.Go(Request{Attr: AttrNodeInfo, Mod: uint32(i)}, callback)
		}
	}
}

func TestLongBatchLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(_ int, f Frame) []answer { return []answer{at(ms, reply(f, StatusOK))} }
		led := 0
		b, ask := leading(t, newAgent(slow), ClientOptions{Window: 4}, func(*Batch, int) { led++ })
		ask(leadAfter / 2)
		if err := b.Wait(); err != nil || led != 0 {
			t.Errorf("a short batch led %d times, %v", led, err)
		}
		ask(10 * leadAfter)
		if err := b.Wait(); err != nil || led < 8*leadAfter {
			t.Errorf("a long batch led %d times, %v", led, err)
		}
		// The client's goroutine receives again.
		if _, err := b.client.Do(t.Context(), &Request{Attr: AttrNodeInfo}); err != nil {
			t.Error(err)
		}
	})
}

// A callback that waits for a request of its own, for which the window has a free slot, gets its answer.
func TestLeaderAsksInCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		b, ask := leading(t, newAgent(echo), ClientOptions{Window: 4}, func(b *Batch, _ int) {
			asked++
			if _, err := b.client.Do(context.Background(), &Request{Attr: AttrSwitchInfo}); err != nil {
				t.Error(err)
			}
		})
		left := 5 * leadAfter
		var next func(*Reply)
		next = func(*Reply) {
			if left--; left > 0 {
				b.Go(Request{Attr: AttrNodeInfo}, next)
				ask(left % 2)
			}
		}
		b.Go(Request{Attr: AttrNodeInfo}, next)
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if s := b.client.Stats(); s.Retried > 0 || asked == 0 {
			t.Errorf("asked %d times, %+v", asked, s)
		}
	})
}

// Answers that arrive during a long callback do not time out.
func TestLeaderIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon := func(_ int, f Frame) []answer { return []answer{at(ms, reply(f, StatusOK))} }
		slept := 0
		b, ask := leading(t, newAgent(soon), ClientOptions{Window: 4, Timeout: 100 * ms, Tries: 1}, func(*Batch, int) {
			slept++
			time.Sleep(time.Second)
		})
		ask(3 * leadAfter)
		if err := b.Wait(); err != nil || slept == 0 {
			t.Errorf("slept %d times, %v", slept, err)
		}
		if s := b.client.Stats(); s.TimedOut > 0 || s.Late > 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Events end the wait of a leading batch that gets no answer.
func TestLeaderIsWoken(t *testing.T) {
	for name, end := range map[string]struct {
		do   func(a *agent, b *Batch, cancel func())
		want error
	}{
		"time-out": {func(*agent, *Batch, func()) {}, nil},
		"cancel":   {func(_ *agent, _ *Batch, cancel func()) { cancel() }, context.Canceled},
		"close":    {func(_ *agent, b *Batch, _ func()) { _ = b.client.Close() }, ErrClosed},
		"cut":      {func(a *agent, _ *Batch, _ func()) { _ = a.Close() }, errBroken},
		"broken": {func(a *agent, b *Batch, _ func()) {
			a.mu.Lock()
			a.fail = ErrBroken
			a.mu.Unlock()
			b.client.batches.Get().(*Batch).do(context.Background(), &Request{Attr: AttrNodeInfo})
		}, ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mute := func(n int, f Frame) []answer {
					if n >= 2*leadAfter {
						return nil
					}
					return echo(n, f)
				}
				a := newAgent(mute)
				b, ask := leading(t, a, ClientOptions{Window: 4}, func(*Batch, int) {})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				b.ctx = ctx
				ask(2*leadAfter + 3)
				start := time.Now()
				go func() {
					time.Sleep(ms)
					b.client.mu.Lock()
					leads := b.client.lead.batch == b && b.sleep == forFrame
					b.client.mu.Unlock()
					if !leads {
						t.Error("does not lead")
					}
					end.do(a, b, cancel)
				}()
				if err := b.Wait(); !errors.Is(err, end.want) {
					t.Errorf("got %v, want %v", err, end.want)
				}
				if took := time.Since(start); end.want != nil && took != ms {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// Many concurrent batches, long and short, all get their answers.
func TestLeadersAndOthers(t *testing.T) {
	c := newTestClient(t, newAgent(echo), ClientOptions{Window: 8, MinWindow: 8, Timeout: time.Minute})
	var all sync.WaitGroup
	for k := range 6 {
		all.Go(func() {
			for round := range 50 {
				b := c.NewBatch(t.Context())
				answers, requests := 0, 1+(k%3)*(100+round)
				for i := range requests {
					b.Go(Request{Attr: AttrNodeInfo, Mod: uint32(i)}, func(r *Reply) {
						if r.Err == nil {
							answers++
						}
					})
				}
				if err := b.Wait(); err != nil || answers != requests {
					t.Errorf("%d of %d answers, %v", answers, requests, err)
				}
			}
		})
	}
	all.Wait()
	if s := c.Stats(); s.Late > 0 || s.TimedOut > 0 {
		t.Errorf("%+v", s)
	}
}

// holder is an agent that delays the frames from Hold until Recv.
type holder struct {
	*agent
	mu      sync.Mutex
	held    []Frame
	most    int // held at a time
	waiting bool
}

func (h *holder) Hold(f *Frame) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, *f)
	h.most = max(h.most, len(h.held))
	return h.flush()
}

func (h *holder) Recv(f *Frame) error {
	select {
	case *f = <-h.in:
		return nil
	default:
	}
	h.wait(true)
	defer h.wait(false)
	return h.agent.Recv(f)
}

func (h *holder) wait(begins bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = begins
	_ = h.flush()
}

func (h *holder) flush() (err error) {
	for h.waiting && len(h.held) > 0 {
		err = errors.Join(err, h.Send(&h.held[0]))
		h.held = h.held[1:]
	}
	return err
}

// Frames of a leading batch may be delayed until it receives; a request in a callback, for which the window has a free
// slot, and the requests after it do not hang.
func TestLeaderHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holder{agent: newAgent(echo)}
		c, err := NewClient(h, ClientOptions{Window: 8, MinWindow: 8, PerTarget: 8})
		if err != nil {
			t.Fatal(err)
		}
		b := c.NewBatch(t.Context())
		left := 20 * leadAfter
		var next func(*Reply)
		next = func(r *Reply) {
			if r.Err != nil {
				t.Error(r.Err)
			}
			if left--; left >= 6 {
				b.Go(Request{Attr: AttrNodeInfo}, next)
			}
			if left == 5*leadAfter {
				if _, err := c.Do(t.Context(), &Request{Attr: AttrSwitchInfo}); err != nil {
					t.Error(err)
				}
			}
		}
		for range 6 {
			b.Go(Request{Attr: AttrNodeInfo}, next)
		}
		if err := b.Wait(); err != nil || left != 0 {
			t.Errorf("%d left, %v", left, err)
		}
		if _, err := c.Do(t.Context(), &Request{Attr: AttrNodeInfo}); err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.Retried > 0 || s.Late > 0 || s.Sent != 20*leadAfter+2 {
			t.Errorf("%+v", s)
		}
		if h.most < 2 {
			t.Errorf("held %d frames at most", h.most)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
