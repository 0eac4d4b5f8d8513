// SPDX-License-Identifier: Apache-2.0

package nue

import "math"

// step is a distance with the number of a switch in its low bits, and above it a place among the channels of that
// switch. The step of a channel is its length, the switch where it ends, and the place there of its opposite. Added to
// a distance it is the distance of this switch by this channel.
type step uint64

const (
	// switchBits hold the number of a switch, as each has a LID.
	switchBits = 16
	// lowBits also hold the place, which is less than a number of ports.
	lowBits = 24
)

func stepTo(s int32, distance uint64) step { return step(distance<<lowBits) | step(s) }

func placeOf(place int32) step { return step(place) << switchBits }

func (s step) to() uint16       { return uint16(s) }
func (s step) place() int32     { return int32(uint8(s >> switchBits)) }
func (s step) distance() uint64 { return uint64(s >> lowBits) }

// only returns the distance without switch and place.
func (s step) only() step { return s >> lowBits << lowBits }

// withoutPlace returns the distance and the switch.
func (s step) withoutPlace() step { return s &^ placeOf(math.MaxUint8) }

const (
	// oneStep is the distance 1.
	oneStep = step(1 << lowBits)
	// unreached is the distance of an unreached switch.
	unreached = infinity * oneStep
)

// nearer returns a bit for each of up to 64 channels by which a switch is nearer than before, from a switch at a
// distance. It is branchless because the branches would be unpredictable.
func nearer(distance step, channels, distances []step) uint64 {
	word := uint64(0)
	for k := len(channels) - 1; k >= 0; k-- {
		e := distance + channels[k]
		word = 2*word + uint64(e-distances[e.to()])>>63
	}
	return word
}

// one returns 1 if holds is true, otherwise 0.
func one(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}
