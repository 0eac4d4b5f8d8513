// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"cmp"
	"math"
	"time"

	"example.org/ibconsole/fabric"
)

// Delta holds the increase of a port's counters between two readings.
type Delta struct {
	Port     fabric.PortIndex // of the later reading's fabric
	Seconds  float64
	Increase Values
	Has      Set // counters in both readings
	// Cleared contains all counters if the later value of any is lower. Then counters were cleared, or the node
	// restarted. The others may have been cleared too, and have passed their earlier values since. So the true
	// increases may be higher than Increase.
	Cleared Set
	Stopped Set // counters at their greatest value; their increase is a minimum
	// Wrapped contains 64-bit counters that passed 2^64. Their increase is exact.
	Wrapped Set
}

// PerSecond returns the rate of a counter.
func (d *Delta) PerSecond(c Counter) float64 {
	if d.Seconds <= 0 {
		return 0
	}
	return float64(d.Increase[c]) / d.Seconds
}

// AtLeast returns the counters whose true increase may be higher than Increase.
func (d *Delta) AtLeast() Set { return d.Cleared | d.Stopped }

// Key identifies a port in all states of a subnet.
type Key struct {
	GUID uint64 // of the node
	Num  uint8
}

// KeyOf returns the key of a port.
func KeyOf(f *fabric.Fabric, p fabric.PortIndex) Key {
	at := &f.Ports[p]
	return Key{f.Nodes[at.Node].GUID, at.Num}
}

// KeyOfEnd returns the key of the port of a link.
func KeyOfEnd(e fabric.End) Key { return Key{e.GUID, uint8(e.Port)} }

// Compare orders keys by GUID, and then by port number.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.GUID, other.GUID), cmp.Compare(k.Num, other.Num))
}

// In returns the port of f that the key identifies, [fabric.None] if there is none.
func (k Key) In(f *fabric.Fabric) fabric.PortIndex {
	node := f.NodeByGUID(k.GUID)
	if node == fabric.None {
		return fabric.None
	}
	return f.PortAt(node, int(k.Num))
}

// Deltas returns the increases for the ports that are in both readings, in the order of the later reading. The fabrics
// of the readings may differ. O(ports).
func Deltas(earlier, later *Reading) []Delta {
	var l Ledger
	l.Take(earlier)
	return l.Take(later)
}

// fastest is an upper limit of any counter's increase per second. PortXmitData of an 800 Gb/s port increases by 2^35
// words per second, PortXmitData of a port with three times the lanes by less than 2^37.
const fastest = 1 << 38

// Between returns the increase between two readings of a port. The result has the port index of the later reading. A
// counter that changed its width is omitted.
//
// If a counter is lower than before, it was cleared or passed 2^64. Between assumes that a 64-bit counter passed 2^64
// if it could do so in the time between the readings, and if no other counter of the port was cleared. So a clear that
// affects only counters about to wrap is mistaken for a wrap.
func Between(was, is *Port) Delta {
	d := Delta{
		Port: is.Port, Seconds: is.At.Sub(was.At).Seconds(),
		Has: was.Has & is.Has &^ (was.Wide ^ is.Wide),
	}
	d.Stopped = is.Stopped & d.Has
	most := uint64(min(max(d.Seconds, 0)*fastest, math.MaxInt64))
	for c := range d.Has.All() {
		d.Increase[c] = is.Values[c] - was.Values[c] // modulo 2^64
		switch {
		case is.Values[c] >= was.Values[c]:
		case is.Wide.Has(c) && !was.Stopped.Has(c) && d.Increase[c] <= most:
			d.Wrapped |= Of(c)
		default:
			d.Cleared |= Of(c)
		}
	}
	if d.Cleared != 0 {
		for c := range (d.Cleared | d.Wrapped).All() {
			d.Increase[c] = is.Values[c]
		}
		d.Cleared, d.Wrapped = d.Has, 0
	}
	return d
}

// Ledger computes increases over a series of readings of the same counters. A reading may lack some of the ports. The
// zero value is empty.
type Ledger struct{ ports map[Key]*account }

// account is the state of one port.
type account struct {
	last    Port
	stopped map[Counter]time.Time // when it was first seen at the greatest value
}

// Standing describes a counter that has stopped at its greatest value. It has counted no events after Since.
type Standing struct {
	Counter Counter
	Value   uint64
	Since   time.Time // when it was first seen at Value
}

// Take adds a reading. It returns the increase of each port since the port's last reading, in the order of r. Ports
// without an earlier reading are omitted. O(ports of the reading).
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

// Standing returns the counters of a port that are at their greatest value, in the order of their numbers.
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

// Forget removes the ports whose last reading was made before a time.
func (l *Ledger) Forget(before time.Time) {
	for k, a := range l.ports {
		if a.last.At.Before(before) {
			delete(l.ports, k)
		}
	}
}
