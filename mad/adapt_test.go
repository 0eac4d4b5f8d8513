// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFast(t *testing.T) {
	c := newTestClient(t, newAgent(echo), Fast())
	if got, want := c.Options(), (ClientOptions{Window: 128, MinWindow: 128, PerTarget: 128, Timeout: 200 * ms,
		Tries: 3, Backoff: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Computed by hand: a window of answers adds one; a loss halves the window, but only once for requests sent before.
func TestWindowArithmetic(t *testing.T) {
	w := newWindow(2, 20)
	expect := func(when string, want int) {
		t.Helper()
		if w.limit() != want {
			t.Errorf("%s: %d, want %d", when, w.limit(), want)
		}
	}
	expect("at first", 4)
	for range 5 { // 4.25, 4.49, 4.71, 4.92, 5.12
		w.onAnswer(w.limit())
	}
	expect("after five answers", 5)
	for range 100 {
		w.onAnswer(2) // of 5
	}
	expect("unused", 5)
	for range 22 {
		w.onAnswer(w.limit())
	}
	expect("after 5 + 6 + 7 + 4 answers", 8)
	w.onLoss(10, 20)
	w.onLoss(15, 21)
	expect("after losses of one window", 4)
	for now := range 10 {
		w.onLoss(time.Duration(100+now), time.Duration(100+now))
	}
	expect("after many losses", 2)
	for range 1000 {
		w.onAnswer(w.limit())
	}
	expect("after many answers", 20)
}

// bounded is a subnet whose agents process up to capacity requests at a time and drop the rest. It counts the dropped
// ones.
type bounded struct {
	capacity, in, most, dropped int
}

func (n *bounded) agent() *agent {
	var a *agent
	a = newAgent(func(_ int, f Frame) []answer {
		n.most = max(n.most, n.in+1)
		if n.in >= n.capacity {
			n.dropped++
			return nil
		}
		n.in++
		time.AfterFunc(9*ms, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			n.in--
		})
		return []answer{at(10*ms, reply(f, StatusOK))}
	})
	return a
}

// The window finds the capacity of the subnet and keeps to it.
func TestWindowAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &bounded{capacity: 20}
		c := newTestClient(t, n.agent(), ClientOptions{Window: 256, PerTarget: 256, Tries: 10})
		b := c.NewBatch(t.Context())
		const requests = 5000
		for i := range requests {
			b.Go(Request{Attr: AttrNodeInfo, LID: uint16(1 + i%100)}, func(r *Reply) {
				if r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if n.dropped == 0 || n.dropped > requests/10 {
			t.Errorf("%d of %d were dropped", n.dropped, requests)
		}
		if w := c.Window(); w > 50 {
			t.Errorf("the window is %d, the capacity 20", w)
		}
		if n.most < 20 {
			t.Errorf("at most %d were in flight, the capacity is 20", n.most)
		}
	})
}

// Unresponsive targets do not narrow the window.
func TestWindowAndDeadTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(_ int, f Frame) []answer {
			if f.DLID%5 == 0 {
				return nil
			}
			return []answer{at(ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{Window: 32})
		b := c.NewBatch(t.Context())
		for i := range 2000 {
			b.Go(Request{Attr: AttrNodeInfo, LID: uint16(1 + i%50)}, func(*Reply) {})
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if w := c.Window(); w != 32 {
			t.Errorf("the window is %d, want 32", w)
		}
	})
}

// A request that the transport returns at once has no path; it does not narrow the window.
func TestWindowAndSentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			if n >= 20 && n%2 == 0 {
				f.Status = 110
				return []answer{at(ms, f)}
			}
			return []answer{at(ms, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{Window: 8, PerTarget: 8, Tries: 10})
		b := c.NewBatch(t.Context())
		for range 300 {
			b.Go(Request{Attr: AttrNodeInfo}, func(*Reply) {})
		}
		if err := b.Wait(); err != nil {
			t.Fatal(err)
		}
		if w := c.Window(); w != 8 {
			t.Errorf("the window is %d, want 8", w)
		}
	})
}

// A target has at most PerTarget requests in flight, other targets do not wait for it, and two batches share its limit
// in turn.
func TestPerTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, most := map[uint16]int{}, map[uint16]int{}
		var a *agent
		a = newAgent(func(_ int, f Frame) []answer {
			in[f.DLID]++
			most[f.DLID] = max(most[f.DLID], in[f.DLID])
			delay := 10 * ms
			if f.DLID == 1 {
				delay = 100 * ms // a slow target
			}
			time.AfterFunc(delay-ms/2, func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				in[f.DLID]--
			})
			return []answer{at(delay, reply(f, StatusOK))}
		})
		c := newTestClient(t, a, ClientOptions{Window: 32, MinWindow: 32, PerTarget: 3})
		start := time.Now()
		ended := make(chan time.Duration, 2)
		for range 2 {
			go func() {
				b := c.NewBatch(context.Background())
				n, quick := 0, time.Duration(0)
				for i := range 60 {
					lid := uint16(1)
					if i >= 30 {
						lid = uint16(i)
					}
					b.Go(Request{Attr: AttrNodeInfo, LID: lid}, func(r *Reply) {
						if r.Err != nil {
							t.Error(r.Err)
						}
						if n++; lid != 1 {
							quick = time.Since(start)
						}
					})
				}
				if err := b.Wait(); err != nil || n != 60 {
					t.Errorf("%d callbacks, %v", n, err)
				}
				ended <- quick
				ended <- time.Since(start)
			}()
		}
		for range 2 {
			if quick := <-ended; quick > 50*ms && quick != 2000*ms {
				t.Errorf("the requests to fast targets took %v", quick)
			}
			<-ended
		}
		if d := time.Since(start); d != 2000*ms {
			t.Errorf("60 requests to the slow target, 3 at a time, took %v, want 2s", d)
		}
		for lid, n := range most {
			if n > 3 {
				t.Errorf("%d in flight to LID %d", n, lid)
			}
		}
	})
}

// A cancelled batch frees its share of the limit and drops its waiting requests.
func TestPerTargetCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(_ int, f Frame) []answer { return []answer{at(100*ms, reply(f, StatusOK))} })
		c := newTestClient(t, a, ClientOptions{Window: 8, MinWindow: 8, PerTarget: 2})
		ctx, cancel := context.WithTimeout(t.Context(), 50*ms)
		defer cancel()
		b := c.NewBatch(ctx)
		for range 10 {
			b.Go(Request{Attr: AttrNodeInfo, LID: 7}, func(*Reply) { t.Error("a callback ran") })
		}
		other := make(chan error)
		go func() {
			_, err := c.Do(context.Background(), &Request{Attr: AttrNodeInfo, LID: 7})
			other <- err
		}()
		if err := b.Wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := <-other; err != nil {
			t.Errorf("the request after them: %v", err)
		}
		got := c.Targets()
		if len(got) != 1 || got[0].InFlight != 0 || got[0].Waiting != 0 || c.parked.n != 0 {
			t.Errorf("%+v, %d parked", got, c.parked.n)
		}
	})
}

// A client that is closed ends waiting requests.
func TestPerTargetClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestClient(t, newAgent(silence), ClientOptions{PerTarget: 1})
		ended := make(chan error)
		for range 3 {
			go func() {
				_, err := c.NodeInfo(context.Background(), Path{})
				ended <- err
			}()
		}
		time.Sleep(50 * ms)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for range 3 {
			if err := <-ended; !errors.Is(err, ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(func(n int, f Frame) []answer {
			switch {
			case f.DLID == 7 && n == 0:
				return []answer{at(30*ms, reply(f, StatusOK))}
			case f.DLID == 7:
				return []answer{at(10*ms, reply(f, StatusOK)), at(20*ms, reply(f, StatusOK))}
			case f.DLID == 9:
				return nil
			}
			return []answer{at(250*ms, reply(f, StatusOK))} // beyond the first try
		})
		c := newTestClient(t, a, ClientOptions{})
		for _, lid := range []uint16{7, 7, 9, 0} {
			req := Request{Attr: AttrNodeInfo, LID: lid, Path: mustPath(t, "0,1,5")}
			_, err := c.Do(t.Context(), &req)
			if (lid == 9) != (err != nil) {
				t.Errorf("LID %d: %v", lid, err)
			}
		}
		time.Sleep(time.Second)
		want := []TargetStats{
			{Target: Target{LID: 7}, Sent: 2, Received: 2, MinRTT: 10 * ms, MeanRTT: 20 * ms, MaxRTT: 30 * ms, Late: 0},
			{Target: Target{LID: 9}, Sent: 3, Retried: 2, TimedOut: 1, Silent: 1},
			{Target: Target{Path: mustPath(t, "0,1,5")}, Sent: 2, Retried: 1, Received: 1, Late: 1,
				MinRTT: 250 * ms, MeanRTT: 250 * ms, MaxRTT: 250 * ms},
		}
		got := c.Targets()
		if len(got) != len(want) {
			t.Fatalf("got %+v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("got\n%+v, want\n%+v", got[i], want[i])
			}
		}
		// A late answer by LID is counted at its source.
		a.in <- func() Frame {
			f := reply(a.frames()[0], StatusOK)
			f.SLID = 7
			return f
		}()
		synctest.Wait()
		if late := c.Targets()[0].Late; late != 1 {
			t.Errorf("%d late answers from LID 7, want 1", late)
		}
	})
}

// A target that has not answered several requests gets one try until it answers or silentFor has passed.
func TestSilentTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := true
		a := newAgent(func(n int, f Frame) []answer {
			if dead {
				return nil
			}
			return echo(n, f)
		})
		c := newTestClient(t, a, ClientOptions{Tries: 3})
		ask := func() int {
			before := len(a.frames())
			_, _ = c.NodeInfo(t.Context(), Path{})
			return len(a.frames()) - before
		}
		for i := range silentAfter {
			if n := ask(); n != 3 {
				t.Errorf("request %d was sent %d times", i, n)
			}
		}
		if n := ask(); n != 1 {
			t.Errorf("a silent target was asked %d times", n)
		}
		time.Sleep(silentFor)
		if n := ask(); n != 3 {
			t.Errorf("after %v it was asked %d times", silentFor, n)
		}
		dead = false
		ask()
		dead = true
		if n := ask(); n != 3 {
			t.Errorf("after an answer it was asked %d times", n)
		}
	})
}

// The table of targets does not grow beyond its limit, and keeps those in use.
func TestTargetsAreBounded(t *testing.T) {
	table := newTargets(100)
	busy := Request{LID: 1}
	table.all[table.find(&busy, 0)].inFlight = 1
	often := Request{LID: 2}
	for lid := range uint16(10_000) {
		i := table.find(&Request{LID: 10 + lid}, int32(lid))
		if table.all[i].key.LID != 10+lid {
			t.Fatalf("LID %d has the index of %v", lid, table.all[i].key)
		}
		table.find(&often, 0)
	}
	if len(table.all) != 100 || len(table.index) != 100 {
		t.Errorf("%d targets, %d in the index", len(table.all), len(table.index))
	}
	for _, r := range []*Request{&busy, &often} {
		if _, kept := table.index[r.target()]; !kept {
			t.Errorf("LID %d was dropped", r.LID)
		}
	}
	for key, i := range table.index {
		if table.all[i].key != key {
			t.Errorf("%v is at the index of %v", key, table.all[i].key)
		}
	}
	for i := range table.all {
		table.all[i].inFlight = 1
	}
	if table.find(&Request{LID: 50_000}, 0); len(table.all) != 101 {
		t.Errorf("a table of busy targets has %d", len(table.all))
	}
}

func TestTraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trap := func(lid uint16, class Class) Frame {
			f := Frame{SLID: lid}
			n := Notice{Generic: true, Type: NoticeUrgent, Producer: 2, Trap: TrapLinkState, IssuerLID: lid}
			b, err := n.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			f.Data[OffBaseVersion], f.Data[OffClass], f.Data[OffClassVersion], f.Data[OffMethod] = 1, uint8(class), 1,
				uint8(MethodTrap)
			binary.BigEndian.PutUint16(f.Data[OffAttr:], uint16(AttrNotice))
			copy(f.Data[OffData:], b)
			return f
		}
		a := newAgent(silence)
		traps := make(chan Trap, 2)
		c := newTestClient(t, a, ClientOptions{Traps: traps})
		for lid := range uint16(5) {
			a.in <- trap(lid+1, ClassSMPLID)
		}
		a.in <- trap(9, ClassPerf)
		synctest.Wait()
		for lid := range uint16(2) {
			if got := <-traps; got.SLID != lid+1 || got.Notice.Trap != TrapLinkState || got.Notice.IssuerLID != lid+1 {
				t.Errorf("got %+v", got)
			}
		}
		if got, want := c.Stats(), (Stats{Traps: 5, TrapsDropped: 3, Stray: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if n := len(a.frames()); n != 0 {
			t.Errorf("%d frames were sent back", n)
		}
	})
}
