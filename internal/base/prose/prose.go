// SPDX-License-Identifier: Apache-2.0

// Package prose words numbers and lists for people, the same everywhere.
package prose

import (
	"fmt"
	"slices"
	"strings"
)

// Integer is a number of things.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint8
}

// Count is a number with its noun: "1 switch", "2 switches", "0 changed entries".
func Count[N Integer](n N, noun string) string { return fmt.Sprintf("%d %s", n, Noun(n, noun)) }

// Verb is a number of things with what they do, in the singular and the plural: "1 port has", "2 ports have".
func Verb[N Integer](n N, noun, does, do string) string {
	if n == 1 {
		do = does
	}
	return Count(n, noun) + " " + do
}

// Noun is a noun, in English, for so many of a thing; given is its singular.
func Noun[N Integer](n N, noun string) string {
	switch {
	case n == 1:
		return noun
	case hasSuffix(noun, "ch", "sh", "s", "x"):
		return noun + "es"
	case strings.HasSuffix(noun, "y") && !hasSuffix(noun, "ay", "ey", "oy", "uy"):
		return strings.TrimSuffix(noun, "y") + "ies"
	}
	return noun + "s"
}

func hasSuffix(s string, any ...string) bool {
	return slices.ContainsFunc(any, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// Words are the words for things, one each.
func Words[T any](things []T, word func(T) string) []string {
	var words []string
	for _, t := range things {
		words = append(words, word(t))
	}
	return words
}

// List returns at most so many of the items: "a, b", "a, b and 7 more".
func List(items []string, most int) string {
	shown, more := Cut(items, most)
	text := strings.Join(shown, ", ")
	if more == "" {
		return text
	}
	return text + " " + more
}

// Cut is at most so many of the items and, where there are more, "and 7 more" for
// the others. It leaves no one out alone: instead of "and 1 more" there is that one.
func Cut[T any](items []T, most int) (shown []T, more string) {
	if len(items) <= most+1 {
		return items, ""
	}
	return items[:most], More(len(items) - most)
}

// More is what a list says of those that it leaves out: "and 7 more".
func More[N Integer](n N) string { return fmt.Sprintf("and %d more", n) }

// When is the one of two that applies.
func When[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// Ranges puts ascending numbers into words: "0-3,7".
func Ranges[N Integer](numbers []N) string {
	var words []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		word := fmt.Sprint(numbers[i])
		if j > i {
			word += fmt.Sprintf("-%d", numbers[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}
