// SPDX-License-Identifier: Apache-2.0

package nue

import "math"

// step combines three numbers: a distance, the place of a channel among the channels of a switch, and in the low bits
// the number of this switch. The step of a channel consists of its length, the place of the opposite channel, and the
// switch where the channel ends. The sum of a distance and the step of a channel is the distance of the switch at the
// end of the channel.
type step uint64

const (
	// switchBits is the number of bits that hold the number of a switch. 16 bits suffice because each switch has a LID.
	switchBits = 16
	// lowBits is the number of bits that hold the switch and the place. A place is less than the number of ports of a
	// switch.
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
	// unreached is the distance of a switch that was not reached.
	unreached = infinity * oneStep
)

// nearer returns a bit set for at most 64 channels that leave a switch. A bit is set if the channel makes the switch at
// its end nearer than before. The argument distance is the distance of the switch that the channels leave. nearer is
// branchless because the branches would be unpredictable.
func nearer(distance step, channels, distances []step) uint64 {
	word := uint64(0)
	for k := len(channels) - 1; k >= 0; k-- {
		e := distance + channels[k]
		word = 2*word + uint64(e-distances[e.to()])>>63
	}
	return word
}

// one returns 1 if the argument holds is true, and 0 otherwise.
func one(holds bool) uint64 {
	if holds {
		return 1
	}
	return 0
}
