// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"example.org/ibconsole/fabric"
)

// Faults are what packets suffer on their way. The zero value is a perfect subnet.
type Faults struct {
	Loss   float64       // the probability, from 0 to 1, that a request is lost on its way, and likewise its answer
	Repeat float64       // the probability that an answer arrives twice
	Busy   float64       // the probability that an agent answers that it is busy and does nothing (IBA 1.2.1, 13.4.7)
	Flaps  []Flap        // links that go down and come back again and again
	Delay  time.Duration // by which an answer is late at most; evenly distributed, so answers overtake each other
	Seed   uint64        // makes the faults repeatable: the same requests in the same order suffer the same
}

// Flap is a timetable of a link, in requests that the subnet gets: after Up of them the cable of a port
// breaks, after Down more it is mended, and so on. Both are at least 1; a port without a cable does not flap.
type Flap struct {
	Port     fabric.PortIndex
	Up, Down uint64
}

// SetFaults replaces the faults. Links that flapped are mended.
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

// flaps are the links that flap until they are replaced.
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

// flap has the next change of a link happen when it is due.
func (s *Sim) flap(of *flaps, f Flap) {
	wait := f.Up
	if of.down[f.Port] {
		wait = f.Down
	}
	s.after(max(wait, 1), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.flaps != of {
			return
		}
		if of.down[f.Port] {
			delete(of.down, f.Port)
		} else {
			of.down[f.Port] = true
		}
		s.cut(f.Port, of.down[f.Port])
		s.flap(of, f)
	})
}

func (s *Sim) happens(probability float64) bool {
	return probability > 0 && s.rand.Float64() < probability
}

func (s *Sim) delay() time.Duration {
	if s.faults.Delay <= 0 {
		return 0
	}
	return time.Duration(s.rand.Int64N(int64(s.faults.Delay)))
}
