// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"context"
	"sync"
	"time"
)

// ibsim waits for packets with a system call, then takes one from each client that has some. So several clients
// wait less often for the same number of packets than one. It has ten places for clients, though.
const (
	maxLanes = 7 // how many a transport has while there is much to carry
	// of ibsim's places that is taken beyond the first; others are for other programs
	lastPlace   = 6
	muchToCarry = 128                    // how many frames make a transport take more lanes
	calm        = 250 * time.Millisecond // for how long a transport keeps them with nothing to carry
)

// widener takes more lanes when there is much to carry, and gives them back.
type widener struct {
	ended chan struct{} // closed when the transport is
	work  sync.WaitGroup

	// Guarded by sender.mu.
	count int // frames sent
	from  int // count at a time
	since time.Time
	wide  bool
	over  bool
}

// sent takes note of a frame, with sender.mu held.
func (w *widener) sent(t *Transport) {
	w.count++
	if w.wide || w.over || w.count-w.from < muchToCarry {
		return
	}
	now := time.Now()
	if now.Sub(w.since) < calm {
		w.wide = true
		w.work.Go(t.widen)
	}
	w.from, w.since = w.count, now
}

// widen takes more lanes, and gives them back when nothing has been sent for a while.
func (t *Transport) widen() {
	for took, n := true, 1; took && n < maxLanes; n++ {
		took = t.takeLane()
	}
	tick := time.NewTicker(calm)
	defer tick.Stop()
	for last := -1; ; {
		select {
		case <-t.more.ended:
			return // Close gives them back
		case <-tick.C:
		}
		t.out.mu.Lock()
		idle := t.more.count == last
		last = t.more.count
		t.out.mu.Unlock()
		if idle {
			break
		}
	}
	_ = t.giveAllBack(t.lanes.drop(1))
	t.out.mu.Lock()
	t.more.wide = false
	t.out.mu.Unlock()
}

// takeLane returns false if there is none for this transport.
func (t *Transport) takeLane() bool {
	l, _, err := t.connect(context.Background(), t.node, false)
	if err != nil {
		return false
	}
	if l.client > lastPlace {
		_ = t.giveBack(l)
		return false
	}
	t.lanes.add(l)
	return true
}

// stop ends the widening. The lanes stay.
func (t *Transport) stopWidening() {
	t.out.mu.Lock()
	t.more.over = true
	t.out.mu.Unlock()
	close(t.more.ended)
	t.more.work.Wait()
}
