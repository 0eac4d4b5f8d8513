// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"math"

	"example.org/ibconsole/fabric"
)

// Delta is what a port counted between two readings.
type Delta struct {
	Port     fabric.PortIndex // of the later reading's fabric
	Seconds  float64
	Increase Values // by how much counters grew
	Has      Set    // the counters that both readings have
	// Cleared are counters that were less later on: somebody has cleared them, or
	// the node was restarted. Their increase is the least that it can be.
	Cleared Set
	Stopped Set // at their greatest value; their increase is the least that it can be, too
	// Wrapped are 64-bit counters that began anew at 0 by themselves. Their increase is all there was.
	Wrapped Set
}

// PerSecond is the rate of a counter.
func (d *Delta) PerSecond(c Counter) float64 {
	if d.Seconds <= 0 {
		return 0
	}
	return float64(d.Increase[c]) / d.Seconds
}

// AtLeast are the counters of which no more is known than the least that they can have grown by.
func (d *Delta) AtLeast() Set { return d.Cleared | d.Stopped }

// Key is what a port is known by in all pictures of a subnet.
type Key struct {
	GUID uint64 // of the node
	Num  uint8
}

// KeyOf is that of a port.
func KeyOf(f *fabric.Fabric, p fabric.PortIndex) Key {
	at := &f.Ports[p]
	return Key{f.Nodes[at.Node].GUID, at.Num}
}

// In is the port of a fabric that the key means, [fabric.None] where it has none.
func (k Key) In(f *fabric.Fabric) fabric.PortIndex {
	node := f.NodeByGUID(k.GUID)
	if node == fabric.None {
		return fabric.None
	}
	return f.PortAt(node, int(k.Num))
}

// Deltas are what ports that are in both readings counted between them, in the order of the later one. The
// fabrics may be different pictures of a subnet. O(ports).
func Deltas(earlier, later *Reading) []Delta {
	var l Ledger
	l.Take(earlier)
	return l.Take(later)
}

// fastest is more than any counter can count in a second: the data of an 800 Gb/s port rises by 2^35 words, that
// of a port with three times its lanes by less than 2^37.
const fastest = 1 << 38

// Between is what a port counted between two readings of it, the port index being that of the later one. A counter
// that is less than before was cleared, or went past 2^64. It did the latter where it is 64 bits wide, can have got
// there in that time, and nothing else of the port was cleared; so a clear that takes nothing but counters about
// to wrap passes for that. A counter that has become wider or narrower meanwhile is another one, and left out.
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
		d.Cleared |= d.Wrapped
		d.Wrapped = 0
	}
	for c := range d.Cleared.All() {
		d.Increase[c] = is.Values[c]
	}
	return d
}
