// SPDX-License-Identifier: Apache-2.0

package prose

import (
	"cmp"
	"strings"
)

// Natural compares names in natural order: "leaf 2" is before "leaf 10", and
// "leaf 1" before "leaf 01".
func Natural(a, b string) int {
	for a != "" && b != "" {
		x, y := Digits(a), Digits(b)
		if x == 0 || y == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(x, y)); c != 0 {
			return c
		}
		a, b = a[x:], b[y:]
	}
	return cmp.Compare(len(a), len(b))
}

// Digits returns the number of digits at the beginning of a text.
func Digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
