// SPDX-License-Identifier: Apache-2.0

package counters

import "time"

// Ledger follows ports from reading to reading, through readings that they are not in; all readings are of the same
// counters. The zero value is empty.
type Ledger struct{ ports map[Key]*account }

// account is what is known of one port.
type account struct {
	last    Port
	stopped map[Counter]time.Time // since when
}

// Standing is a counter at its greatest value: it was that many at least by Since, and has told nothing from then on.
type Standing struct {
	Counter Counter
	Value   uint64
	Since   time.Time // when it was first seen so
}

// Take takes a reading down, and returns what its ports counted since the last reading of each, in its order. Ports
// of which there was none are left out. O(ports of the reading).
func (l *Ledger) Take(r *Reading) []Delta {
	if l.ports == nil {
		l.ports = make(map[Key]*account, len(r.Ports))
	}
	out := make([]Delta, 0, len(r.Ports))
	for i := range r.Ports {
		p := &r.Ports[i]
		key := KeyOf(r.Fabric, p.Port)
		a := l.ports[key]
		if a == nil {
			a = &account{}
			l.ports[key] = a
		} else {
			out = append(out, Between(&a.last, p))
		}
		a.take(p)
	}
	return out
}

func (a *account) take(p *Port) {
	a.last = *p
	for c := range a.stopped {
		if !p.Stopped.Has(c) {
			delete(a.stopped, c)
		}
	}
	for c := range p.Stopped.All() {
		if a.stopped == nil {
			a.stopped = map[Counter]time.Time{}
		}
		if _, known := a.stopped[c]; !known {
			a.stopped[c] = p.At
		}
	}
}

// Standing are the counters of a port that stand at their greatest value, in their order.
func (l *Ledger) Standing(k Key) []Standing {
	a := l.ports[k]
	if a == nil {
		return nil
	}
	var all []Standing
	for c := range a.last.Stopped.All() {
		all = append(all, Standing{c, a.last.Values[c], a.stopped[c]})
	}
	return all
}

// Forget forgets ports that were last read before a time.
func (l *Ledger) Forget(before time.Time) {
	for k, a := range l.ports {
		if a.last.At.Before(before) {
			delete(l.ports, k)
		}
	}
}
