// SPDX-License-Identifier: Apache-2.0

// Package prose formats numbers and lists for people.
package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// Integer is a number of things.
type Integer interface {
	~int | ~int32 | ~int64 | ~uint8
}

// Thousands returns a number as "419,904".
func Thousands[N Integer](n N) string { return humanize.Comma(int64(n)) }

// Count returns a number with its noun: "1 switch", "2,000 switches", "0 changed entries".
func Count[N Integer](n N, noun string) string { return Thousands(n) + " " + Noun(n, noun) }

// Verb returns a count with its noun and a verb: "1 port has", "2 ports have". The verb is given in singular and
// plural.
func Verb[N Integer](n N, noun, does, do string) string {
	if n == 1 {
		do = does
	}
	return Count(n, noun) + " " + do
}

// Noun returns the singular or plural of an English noun, whichever fits the number n. The argument is the singular. Of
// a noun such as "part of the file", the first noun changes.
func Noun[N Integer](n N, noun string) string {
	head, rest, _ := strings.Cut(noun, " of ")
	switch {
	case n == 1:
		return noun
	case rest != "":
		return Noun(n, head) + " of " + rest
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

// Words returns a word for each thing.
func Words[T any](things []T, word func(T) string) []string {
	var words []string
	for _, t := range things {
		words = append(words, word(t))
	}
	return words
}

// List returns up to most items as text, and the number of further items: "a, b", "a, b and 7 more".
func List(items []string, most int) string {
	shown, more := Cut(items, most)
	text := strings.Join(shown, ", ")
	if more == "" {
		return text
	}
	return text + " " + more
}

// Cut returns up to most items and, if there are further items, a text such as "and 7 more" for these. It never omits a
// single item, because "and 1 more" would take the same space.
func Cut[T any](items []T, most int) (shown []T, more string) {
	if len(items) <= most+1 {
		return items, ""
	}
	return items[:most], More(len(items) - most)
}

// More returns the text for omitted items of a list: "and 7 more".
func More[N Integer](n N) string { return "and " + Thousands(n) + " more" }

// When returns a if yes, else b.
func When[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// Ranges formats ascending numbers: "0-3,7".
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
