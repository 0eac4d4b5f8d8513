// SPDX-License-Identifier: Apache-2.0

package routing

// transpose exchanges bit j of word i with bit i of word j. It exchanges ever smaller squares of bits across the
// diagonal (Warren, "Hacker's Delight", 7-3). It does so for three sizes at a time on eight words, so that these words
// stay in registers.
func transpose(m *[64]uint64) {
	for i := range 8 {
		a, b, c, d, e, f, g, h := m[i], m[i+8], m[i+16], m[i+24], m[i+32], m[i+40], m[i+48], m[i+56]
		a, e = exchange(a, e, 32, 0x00000000ffffffff)
		b, f = exchange(b, f, 32, 0x00000000ffffffff)
		c, g = exchange(c, g, 32, 0x00000000ffffffff)
		d, h = exchange(d, h, 32, 0x00000000ffffffff)
		a, c = exchange(a, c, 16, 0x0000ffff0000ffff)
		b, d = exchange(b, d, 16, 0x0000ffff0000ffff)
		e, g = exchange(e, g, 16, 0x0000ffff0000ffff)
		f, h = exchange(f, h, 16, 0x0000ffff0000ffff)
		a, b = exchange(a, b, 8, 0x00ff00ff00ff00ff)
		c, d = exchange(c, d, 8, 0x00ff00ff00ff00ff)
		e, f = exchange(e, f, 8, 0x00ff00ff00ff00ff)
		g, h = exchange(g, h, 8, 0x00ff00ff00ff00ff)
		m[i], m[i+8], m[i+16], m[i+24], m[i+32], m[i+40], m[i+48], m[i+56] = a, b, c, d, e, f, g, h
	}
	for i := 0; i < 64; i += 8 {
		w := (*[8]uint64)(m[i:])
		a, b, c, d, e, f, g, h := w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]
		a, e = exchange(a, e, 4, 0x0f0f0f0f0f0f0f0f)
		b, f = exchange(b, f, 4, 0x0f0f0f0f0f0f0f0f)
		c, g = exchange(c, g, 4, 0x0f0f0f0f0f0f0f0f)
		d, h = exchange(d, h, 4, 0x0f0f0f0f0f0f0f0f)
		a, c = exchange(a, c, 2, 0x3333333333333333)
		b, d = exchange(b, d, 2, 0x3333333333333333)
		e, g = exchange(e, g, 2, 0x3333333333333333)
		f, h = exchange(f, h, 2, 0x3333333333333333)
		a, b = exchange(a, b, 1, 0x5555555555555555)
		c, d = exchange(c, d, 1, 0x5555555555555555)
		e, f = exchange(e, f, 1, 0x5555555555555555)
		g, h = exchange(g, h, 1, 0x5555555555555555)
		*w = [8]uint64{a, b, c, d, e, f, g, h}
	}
}

// exchange exchanges the high bits of the squares in a with the low bits of the squares in b.
func exchange(a, b uint64, width uint, low uint64) (uint64, uint64) {
	t := (a>>width ^ b) & low
	return a ^ t<<width, b ^ t
}

// TransposeBytes exchanges byte j of word i with byte i of word j.
func TransposeBytes(m *[8]uint64) {
	a, b, c, d, e, f, g, h := m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]
	a, e = exchange(a, e, 32, 0x00000000ffffffff)
	b, f = exchange(b, f, 32, 0x00000000ffffffff)
	c, g = exchange(c, g, 32, 0x00000000ffffffff)
	d, h = exchange(d, h, 32, 0x00000000ffffffff)
	a, c = exchange(a, c, 16, 0x0000ffff0000ffff)
	b, d = exchange(b, d, 16, 0x0000ffff0000ffff)
	e, g = exchange(e, g, 16, 0x0000ffff0000ffff)
	f, h = exchange(f, h, 16, 0x0000ffff0000ffff)
	a, b = exchange(a, b, 8, 0x00ff00ff00ff00ff)
	c, d = exchange(c, d, 8, 0x00ff00ff00ff00ff)
	e, f = exchange(e, f, 8, 0x00ff00ff00ff00ff)
	g, h = exchange(g, h, 8, 0x00ff00ff00ff00ff)
	*m = [8]uint64{a, b, c, d, e, f, g, h}
}
