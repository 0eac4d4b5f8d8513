// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"slices"
)

// event is something that happens to the subnet.
type event struct {
	at uint64 // before the request with this number, from 1
	do func()
}

// After has do called once the subnet has got so many more requests, before it gets the next one, so that a
// switch can disappear in the middle of a sweep, the same one every time. It is called in the goroutine that
// sends and may change the subnet, not send itself.
func (s *Sim) After(requests uint64, do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after(requests, do)
}

func (s *Sim) after(requests uint64, do func()) {
	e := event{at: s.requests + requests + 1, do: do}
	i, _ := slices.BinarySearchFunc(s.agenda, e.at, func(x event, at uint64) int {
		return cmp.Or(cmp.Compare(x.at, at), -1) // behind those of the same time
	})
	s.agenda = slices.Insert(s.agenda, i, e)
}

// arrive counts a request and takes the lock for it, after what has to happen before it.
func (s *Sim) arrive() {
	s.mu.Lock()
	for len(s.agenda) > 0 && s.agenda[0].at <= s.requests+1 {
		do := s.agenda[0].do
		s.agenda = slices.Delete(s.agenda, 0, 1)
		s.mu.Unlock()
		do()
		s.mu.Lock()
	}
	s.requests++
}
