// SPDX-License-Identifier: Apache-2.0

package nue

import "math"

// step is a distance with the number of a switch in its low bits, and above it a place among the channels of that
// switch. That of a channel is its length, the switch that it comes to, and the place there of its other direction; a
// distance added to it is that of this switch by this channel.
type step uint64

const (
	// switchBits hold the number of a switch, as each has a LID.
	switchBits = 16
	// lowBits hold the place as well, which is less than a number of ports.
	lowBits = 24
)

func stepTo(s int32, distance uint64) step { return step(distance<<lowBits) | step(s) }

func placeOf(place int32) step { return step(place) << switchBits }

func (s step) to() uint16       { return uint16(s) }
func (s step) place() int32     { return int32(uint8(s >> switchBits)) }
func (s step) distance() uint64 { return uint64(s >> lowBits) }

// only is the distance with no switch and no place.
func (s step) only() step { return s >> lowBits << lowBits }

// withoutPlace is the distance and the switch.
func (s step) withoutPlace() step { return s &^ placeOf(math.MaxUint8) }

const (
	// oneStep is the distance 1.
	oneStep = step(1 << lowBits)
	// unreached is the distance of what is not reached.
	unreached = infinity * oneStep
)

// nearer has a bit for each of 64 channels at most by which a switch is nearer than it was, from one at a distance. It
// has no branches: nothing would predict them.
func nearer(distance step, channels, distances []step) uint64 {
	word := uint64(0)
	for k := len(channels) - 1; k >= 0; k-- {
		e := distance + channels[k]
		word = 2*word + uint64(e-distances[e.to()])>>63
	}
	return word
}

// one is 1 where something holds, and 0 else.
func one(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}
