// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"math/rand/v2"
	"testing"
)

// Compares nearer with plain comparison, for up to as many channels as a word has bits.
func TestNearer(t *testing.T) {
	for range 2000 {
		distances := make([]step, 1+rand.IntN(20))
		for s := range distances {
			distances[s] = stepTo(0, rand.Uint64N(8)).only()
			if rand.IntN(4) == 0 {
				distances[s] = unreached
			}
		}
		channels := make([]step, rand.IntN(wordBits+1))
		from, want := stepTo(0, rand.Uint64N(5)), uint64(0)
		for k := range channels {
			to, length := rand.Int32N(int32(len(distances))), 1+rand.Uint64N(4)
			channels[k] = stepTo(to, length)
			if from.distance()+length < distances[to].distance() {
				want |= 1 << k
			}
		}
		if got := nearer(from, channels, distances); got != want {
			t.Fatalf("from %d over %d to %d: %b, want %b", from, channels, distances, got, want)
		}
	}
}
