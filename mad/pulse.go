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
	// ErrUnplugged reports that the local port responds, but has no link.
	ErrUnplugged = errors.New("the subnet stopped responding: the link of the local port is down")
)

// pulseLimit is the time during which all requests must go unanswered before Pulse queries the local port.
const pulseLimit = 2 * time.Second

// Pulse distinguishes a node that does not respond from a lost subnet. If a request gets no answer, and no other
// request got an answer for some seconds, Pulse queries the PortInfo of the local port. Pulse must be used in the
// goroutine in which the callbacks of a batch run. The zero value is ready to use.
type Pulse struct {
	answered bool      // a request was, since the last unanswered one
	last     time.Time // when the last unanswered request after an answer ended
	asking   bool
}

// Observe takes the error of a request of batch b, nil for an answered request. It calls the function lost in two
// cases. If the local port does not respond either, the error wraps [ErrSilent]. If the local port has no link, the
// error wraps [ErrUnplugged].
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
