// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Round spreads one reading of all ports of a subnet over a period, to limit the load on the fabric. It selects the
// ports in portions, in the order of their nodes. The nodes are in the order of the sweep.
type Round struct {
	ports []fabric.PortIndex
	done  int
	began time.Time
	long  time.Duration
}

// NewRound returns a round over the ports with the given begin and duration. A duration of 0 makes all ports due at
// once.
func NewRound(ports []fabric.PortIndex, began time.Time, long time.Duration) *Round {
	return &Round{ports: ports, began: began, long: long}
}

// Due removes the ports that are due at the given time from the round, and returns them.
func (r *Round) Due(now time.Time) []fabric.PortIndex {
	upTo := len(r.ports)
	if past := now.Sub(r.began); past < r.long {
		upTo = int(float64(len(r.ports)) * float64(max(past, 0)) / float64(r.long))
	}
	upTo = max(upTo, r.done)
	due := r.ports[r.done:upTo]
	r.done = upTo
	return due
}

// Left returns the number of remaining ports.
func (r *Round) Left() int { return len(r.ports) - r.done }

// share is the number of portions of a round per second.
const share = 4

// ReadRound reads the given ports, or [AllPorts] if none are given. It spreads the requests evenly over the given
// duration. If ctx ends, it returns the ports that it has read and an error.
func ReadRound(ctx context.Context, client *mad.Client, f *fabric.Fabric, opts Options, long time.Duration,
	ports ...fabric.PortIndex) (*Reading, error) {
	if len(ports) == 0 {
		ports = AllPorts(f)
	}
	all := &Reading{Fabric: f, Ports: make([]Port, 0, len(ports))}
	tick := time.NewTicker(time.Second / share)
	defer tick.Stop()
	for r := NewRound(ports, time.Now(), long); r.Left() > 0; {
		if due := r.Due(time.Now()); len(due) > 0 {
			some, err := Read(ctx, client, f, opts, due...)
			if err != nil {
				return all, err
			}
			all.Ports = append(all.Ports, some.Ports...)
			all.Unanswered = append(all.Unanswered, some.Unanswered...)
			continue
		}
		select {
		case <-ctx.Done():
			return all, context.Cause(ctx)
		case <-tick.C:
		}
	}
	return all, nil
}
