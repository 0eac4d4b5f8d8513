// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"
)

// Faults are what packets suffer on their way. The zero value is a perfect
// subnet.
type Faults struct {
	// Loss is the probability, from 0 to 1, that a request is lost on its way,
	// and likewise its answer.
	Loss float64
	// Repeat is the probability that an answer arrives twice.
	Repeat float64
	// Delay is the longest time by which an answer is late; times are evenly
	// distributed, so answers overtake one another.
	Delay time.Duration
	// Seed makes the faults repeatable.
	Seed uint64
}

// SetFaults replaces the faults.
func (s *Sim) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setFaults(f)
}

func (s *Sim) setFaults(f Faults) {
	s.faults = f
	s.rand = rand.New(rand.NewPCG(f.Seed, 0))
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
