// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrSilent says that the subnet, the local port included, has stopped answering.
	ErrSilent = errors.New("nothing answers any more, the local port included")
	// ErrUnplugged says that the local port answers, but has no link.
	ErrUnplugged = errors.New("nothing answers any more: the link of the local port is down")
)

// pulseLimit is how long nothing may answer before the local port is asked.
const pulseLimit = 2 * time.Second

// Pulse tells a node that does not answer from a subnet that is gone: when a request gets no answer and
// nothing else did for some seconds, it asks the local port for itself and its link. It belongs to the
// goroutine of a batch's callbacks. The zero value is ready.
type Pulse struct {
	answered bool      // something was, since the last request that was not
	last     time.Time // when that was known
	asking   bool
}

// Heard takes the end of a request of batch b. It calls gone, with an error that wraps [ErrSilent] or
// [ErrUnplugged], where the local port does not answer either or has no link.
func (p *Pulse) Heard(b *Batch, err error, gone func(error)) {
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
	b.Go(Request{Attr: AttrPortInfo}, func(r *Reply) { // of the port that is asked through
		p.asking = false
		var port PortInfo
		switch err := r.Decode(&port); {
		case errors.Is(err, ErrTimeout):
			gone(fmt.Errorf("%w (%w)", ErrSilent, err))
		case err == nil && port.PortState == PortDown:
			gone(ErrUnplugged)
		default:
			p.answered = true
		}
	})
}
