// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// set is a set of places in the search order of a switch. If all switches have fewer than 64 ports, a set is one word
// and most operations are one instruction. Therefore set is a type parameter of nearly all types in this package.
type set interface {
	[1]uint64 | [2]uint64 | [4]uint64
}

// at returns set i of a matrix.
func at[S set](sets routing.PortSets, i fabric.SwitchIndex) (s S) {
	for w, word := range sets.Words(i) {
		s[w] = word
	}
	return s
}

func has[S set](s S, i uint8) bool { return s[i>>6]>>(i&63)&1 != 0 }

func with[S set](s S, i uint8) S {
	s[i>>6] |= 1 << (i & 63)
	return s
}

func without[S set](s S, i uint8) S {
	s[i>>6] &^= 1 << (i & 63)
	return s
}

func empty[S set](s S) bool {
	var none S
	return s == none
}

func and[S set](s, t S) S {
	for w := range len(s) {
		s[w] &= t[w]
	}
	return s
}

func or[S set](s, t S) S {
	for w := range len(s) {
		s[w] |= t[w]
	}
	return s
}

func minus[S set](s, t S) S {
	for w := range len(s) {
		s[w] &^= t[w]
	}
	return s
}

// size returns the number of places in s.
func size[S set](s S) int {
	n := 0
	for w := range len(s) {
		n += bits.OnesCount64(s[w])
	}
	return n
}

// first returns the lowest place of s. s must not be empty.
func first[S set](s S) uint8 {
	w := 0
	for w < len(s)-1 && s[w] == 0 {
		w++
	}
	return uint8(w<<6 | bits.TrailingZeros64(s[w]))
}

// nth returns the place of s that has n lower places. s must have more than n places.
func nth[S set](s S, n int) uint8 {
	w := 0
	for c := bits.OnesCount64(s[w]); n >= c; c = bits.OnesCount64(s[w]) {
		n -= c
		w++
	}
	word := s[w]
	for ; n > 0; n-- {
		word &= word - 1
	}
	return uint8(w<<6 | bits.TrailingZeros64(word))
}

// from returns the places of s that are i or higher.
func from[S set](s S, i uint8) S {
	for w := range int(i >> 6) {
		s[w] = 0
	}
	s[i>>6] &= ^uint64(0) << (i & 63)
	return s
}

// firstFrom returns the lowest place of s that is i or higher. If there is none, it returns the lowest place of s. s
// must not be empty.
func firstFrom[S set](s S, i uint8) uint8 {
	if late := from(s, i); !empty(late) {
		return first(late)
	}
	return first(s)
}

// list appends the places of s in ascending order.
func list[S set](places []uint8, s S) []uint8 {
	for w := range len(s) {
		for word := s[w]; word != 0; word &= word - 1 {
			places = append(places, uint8(w<<6|bits.TrailingZeros64(word)))
		}
	}
	return places
}
