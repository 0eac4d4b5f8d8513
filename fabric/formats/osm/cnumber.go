// SPDX-License-Identifier: Apache-2.0

package osm

import "math"

// cUnsigned parses a number like C's strtoull with base 0: leading space and a sign, then hexadecimal digits after 0x,
// octal digits after 0, otherwise decimal digits. A number that is too large becomes the largest one and sets over. A
// negative number wraps around. If there is no number, rest is s.
func cUnsigned(s string) (v uint64, rest string, over bool) {
	negative, base, digits := cNumberStart(s)
	if digits == "" {
		return 0, s, false
	}
	for digits != "" {
		d := uint64(hexDigit(digits[0]))
		if d >= base {
			break
		}
		digits = digits[1:]
		if v > (math.MaxUint64-d)/base {
			over = true
			continue
		}
		v = v*base + d
	}
	switch {
	case over:
		v = math.MaxUint64
	case negative:
		v = -v
	}
	return v, digits, over
}

// cSigned parses a number like C's strtol with base 0.
func cSigned(s string) (v int64, rest string) {
	negative, _, digits := cNumberStart(s)
	if digits == "" {
		return 0, s
	}
	u, rest, over := cUnsigned(s)
	switch {
	case over && negative:
		return math.MinInt64, rest
	case over:
		return math.MaxInt64, rest
	case negative && -u > 1<<63:
		return math.MinInt64, rest
	case !negative && u > math.MaxInt64:
		return math.MaxInt64, rest
	}
	return int64(u), rest
}

// cNumberStart skips everything before the digits of a number; digits is empty if there are none.
func cNumberStart(s string) (negative bool, base uint64, digits string) {
	for s != "" && isCSpace(s[0]) {
		s = s[1:]
	}
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative = s[0] == '-'
		s = s[1:]
	}
	switch {
	case len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && hexDigit(s[2]) < 16:
		return negative, 16, s[2:]
	case s != "" && s[0] == '0':
		return negative, 8, s
	case s != "" && s[0] >= '1' && s[0] <= '9':
		return negative, 10, s
	}
	return negative, 0, ""
}
