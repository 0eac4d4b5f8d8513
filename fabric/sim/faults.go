// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
)

// Faults controls how packets are lost, repeated and delayed. With the zero value the subnet has no faults.
type Faults struct {
	Loss   float64       // probability from 0 to 1 that a request is lost, and the same for its answer
	Repeat float64       // probability that an answer arrives twice
	Busy   float64       // probability that an agent answers busy and does nothing (IBA 1.2.1, 13.4.7)
	Flaps  []Flap        // links that repeatedly go down and come up
	Delay  time.Duration // maximum delay of an answer; evenly distributed, so answers can overtake each other
	Seed   uint64        // makes the faults reproducible for the same requests in the same order
}

// Flap is the schedule of a flapping link. Its unit is the number of requests to the subnet. After Up requests the
// cable of the port breaks. After Down more requests it is restored, and so on. Both numbers are at least 1. A port
// without a cable does not flap.
type Flap struct {
	Port     fabric.PortIndex
	Up, Down uint64
}

// SetFaults replaces the current faults. It restores flapping links.
func (s *Sim) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setFaults(f)
}

func (s *Sim) setFaults(f Faults) {
	s.faults = f
	s.rand = rand.New(rand.NewPCG(f.Seed, 0))
	s.setFlaps(f.Flaps)
}

// flaps marks the flapping links that are down. A new value is made when the faults are replaced.
type flaps struct{ down map[fabric.PortIndex]bool }

func (s *Sim) setFlaps(list []Flap) {
	if s.flaps != nil {
		for port := range s.flaps.down {
			s.cut(port, false)
		}
	}
	s.flaps = &flaps{down: map[fabric.PortIndex]bool{}}
	for _, f := range list {
		if s.ports[f.Port].cable != fabric.None {
			s.flap(s.flaps, f)
		}
	}
}

// flap schedules the next change of a link.
func (s *Sim) flap(set *flaps, f Flap) {
	wait := f.Up
	if set.down[f.Port] {
		wait = f.Down
	}
	s.after(max(wait, 1), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.flaps != set {
			return
		}
		if set.down[f.Port] {
			delete(set.down, f.Port)
		} else {
			set.down[f.Port] = true
		}
		s.cut(f.Port, set.down[f.Port])
		s.flap(set, f)
	})
}

func (s *Sim) chance(probability float64) bool {
	return probability > 0 && s.rand.Float64() < probability
}

func (s *Sim) delay() time.Duration {
	if s.faults.Delay <= 0 {
		return 0
	}
	return time.Duration(s.rand.Int64N(int64(s.faults.Delay)))
}

// event is a scheduled change of the subnet.
type event struct {
	at uint64 // number of the request before which it happens, from 1
	do func()
}

// After schedules a call of the function do. The call happens after the given number of further requests, before the
// next request. So a switch can disappear at a reproducible point of a sweep. The function do runs in the goroutine
// that sends. It may change the subnet, but must not send.
func (s *Sim) After(requests uint64, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after(requests, do)
}

func (s *Sim) after(requests uint64, do func()) {
	e := event{at: s.requests + requests + 1, do: do}
	i, _ := slices.BinarySearchFunc(s.schedule, e.at, func(x event, at uint64) int {
		return cmp.Or(cmp.Compare(x.at, at), -1) // after those of the same time
	})
	s.schedule = slices.Insert(s.schedule, i, e)
}

// arrive runs the events that are due, counts a request, and locks the subnet.
func (s *Sim) arrive() {
	s.mu.Lock()
	s.catchUp()
	for len(s.schedule) > 0 && s.schedule[0].at <= s.requests+1 {
		do := s.schedule[0].do
		s.schedule = slices.Delete(s.schedule, 0, 1)
		s.mu.Unlock()
		do()
		s.mu.Lock()
	}
	s.requests++
}
