// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrSilent reports that the whole subnet, including the local port, has stopped responding.
	ErrSilent = errors.New("the subnet and the local port stopped responding")
	// ErrUnplugged reports that the local port responds but has no link.
	ErrUnplugged = errors.New("the subnet stopped responding: the link of the local port is down")
)

// pulseLimit is how long all requests may go unanswered before the local port is queried.
const pulseLimit = 2 * time.Second

// Pulse distinguishes a node that does not respond from a lost subnet. When a request gets no answer and no other
// request got one for some seconds, it queries the PortInfo of the local port. It belongs to the goroutine of a batch's
// callbacks. The zero value is ready to use.
type Pulse struct {
	answered bool      // a request was, since the last unanswered one
	last     time.Time // when the last unanswered request after an answer ended
	asking   bool
}

// Observe takes the result of a request of batch b. It calls lost, with an error that wraps [ErrSilent] or
// [ErrUnplugged], if the local port does not respond either or has no link.
func (p *Pulse) Observe(b *Batch, err error, lost func(error)) {
	if !errors.Is(err, ErrTimeout) {
		p.answered = true
		return
	}
	if p.answered || p.last.IsZero() {
		p.answered, p.last = false, time.Now()
		return
	}
	if p.asking || time.Since(p.last) < pulseLimit {
		return
	}
	p.asking = true
	b.Go(Request{Attr: AttrPortInfo}, func(r *Reply) { // of the local port
		p.asking = false
		var port PortInfo
		switch err := r.Decode(&port); {
		case errors.Is(err, ErrTimeout):
			lost(fmt.Errorf("%w (%w)", ErrSilent, err))
		case err == nil && port.PortState == PortDown:
			lost(ErrUnplugged)
		default:
			p.answered = true
		}
	})
}
