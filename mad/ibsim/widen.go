// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"context"
	"sync"
	"time"
)

// ibsim waits for packets with a system call, then receives one packet from each client that has packets. With several
// clients it therefore waits less often for the same number of packets. But it serves only ten clients.
const (
	maxClients = 7 // of a busy transport
	// lastClient is the highest client number that a transport uses in addition to its first client. The other numbers
	// are left for other programs.
	lastClient = 6
	busyFrames = 128                    // frames that make a transport busy
	idleAfter  = 250 * time.Millisecond // how long an idle transport keeps its clients
)

// widener adds clients while the transport is busy, and removes them later.
type widener struct {
	ended chan struct{} // closed when the transport is
	work  sync.WaitGroup

	// Guarded by sender.mu.
	count int // frames sent
	from  int // count at time since
	since time.Time
	wide  bool
	over  bool
}

// sent counts a frame, with sender.mu held.
func (w *widener) sent(t *Transport) {
	w.count++
	if w.wide || w.over || w.count-w.from < busyFrames {
		return
	}
	now := time.Now()
	if now.Sub(w.since) < idleAfter {
		w.wide = true
		w.work.Go(t.widen)
	}
	w.from, w.since = w.count, now
}

// widen adds clients. It removes them when no packets have been sent for a while.
func (t *Transport) widen() {
	for took, n := true, 1; took && n < maxClients; n++ {
		took = t.addClient()
	}
	tick := time.NewTicker(idleAfter)
	defer tick.Stop()
	for last := -1; ; {
		select {
		case <-t.more.ended:
			return // Close removes them
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
	_ = t.disconnectAll(t.clients.drop(1))
	t.out.mu.Lock()
	t.more.wide = false
	t.out.mu.Unlock()
}

// addClient adds a client. It returns false if ibsim has no free client for this transport.
func (t *Transport) addClient() bool {
	c, _, err := t.connect(context.Background(), t.node, false)
	if err != nil {
		return false
	}
	if c.id > lastClient {
		_ = t.disconnect(c)
		return false
	}
	t.clients.add(c)
	return true
}

// stopWidening ends the goroutine of widen. The clients remain.
func (t *Transport) stopWidening() {
	t.out.mu.Lock()
	t.more.over = true
	t.out.mu.Unlock()
	close(t.more.ended)
	t.more.work.Wait()
}
