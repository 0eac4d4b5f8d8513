// SPDX-License-Identifier: Apache-2.0

package routing

// Random reproduces random() of the GNU C library after srandom (type 3 in the manual of random_r). It is the additive
// feedback generator x[i] = x[i-3] + x[i-31] over 32 bits, without the lowest bit. The first 31 values come from a
// linear congruential generator, and the next 310 values are discarded.
type Random struct {
	x [31]uint32
	i int
}

// NewRandom returns the generator in its state after srandom(seed).
func NewRandom(seed uint32) Random {
	if seed == 0 {
		seed = 1
	}
	r := Random{i: 3}
	v := int64(int32(seed))
	for i := range r.x {
		r.x[i] = uint32(v)
		// 16807 is a primitive root modulo 2^31-1 (Park and Miller, "Random number generators: good ones are hard to
		// find", CACM 31, 1988). The remainder has the sign of the seed. It is made positive.
		if v = 16807 * v % 0x7fffffff; v < 0 {
			v += 0x7fffffff
		}
	}
	for range 310 {
		r.Next()
	}
	return r
}

// Next returns a number of 31 bits.
func (r *Random) Next() uint32 {
	j := r.i + 28 // 3 steps back
	if j >= 31 {
		j -= 31
	}
	v := r.x[r.i] + r.x[j]
	r.x[r.i] = v
	if r.i++; r.i == 31 {
		r.i = 0
	}
	return v >> 1
}
