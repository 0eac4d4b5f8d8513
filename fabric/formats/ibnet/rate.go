// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// enabled holds the widths and speeds at which ibsim lets a port run. The fields are the bits of LinkWidthEnabled,
// LinkSpeedEnabled and LinkSpeedExtEnabled of PortInfo, and the FDR10 bit of Mellanox's ExtendedPortInfo.
type enabled struct{ width, speed, ext, fdr10 uint8 }

const (
	width1x  = 1
	width4x  = 2
	width8x  = 4
	width12x = 8
	width2x  = 16

	speedSDR = 1
	speedDDR = 2
	speedQDR = 4

	extFDR = 1
	extEDR = 2
	extHDR = 4
)

// ibsimDefault holds the width and speed that ibsim enables by default.
var ibsimDefault = enabled{width: width4x, speed: speedSDR}

// ibsimSpeeds lists the speeds of ibsim 0.10 in the order in which ibsim compares their names. A word matches a speed
// if it is a prefix of the name.
var ibsimSpeeds = []struct {
	name  string
	apply func(*enabled)
}{
	{"SDR", func(e *enabled) { e.speed = speedSDR }},
	{"DDR", func(e *enabled) { e.speed = speedSDR | speedDDR }},
	{"QDR", func(e *enabled) { e.speed = speedSDR | speedDDR | speedQDR }},
	{"FDR", func(e *enabled) { e.extended(extFDR) }},
	{"EDR", func(e *enabled) { e.extended(extFDR | extEDR) }},
	{"HDR", func(e *enabled) { e.extended(extFDR | extEDR | extHDR) }},
	{"FDR10", func(e *enabled) { e.speed, e.fdr10 = speedSDR|speedDDR|speedQDR, 1 }},
}

func (e *enabled) extended(bits uint8) {
	e.speed, e.fdr10, e.ext = speedSDR|speedDDR|speedQDR, 1, bits
}

// setSpeed enables the speeds for a word such as "QDR". If ibsim does not know the word, setSpeed changes nothing and
// returns false.
func (e *enabled) setSpeed(word string) bool {
	for _, s := range ibsimSpeeds {
		if strings.HasPrefix(s.name, word) {
			s.apply(e)
			return true
		}
	}
	return false
}

// setWidth enables the widths for a number of lanes. If ibsim does not know the number, setWidth changes nothing and
// returns false.
func (e *enabled) setWidth(lanes int) bool {
	switch lanes {
	case 1:
		e.width = width1x
	case 2:
		e.width = width2x
	case 4:
		e.width = width1x | width4x
	case 8:
		e.width = width8x
	case 12:
		e.width = width1x | width4x | width12x
	default:
		return false
	}
	return true
}

// set sets an option of a port line. The letter is w (width), s (speed) or e (extended speed).
func (e *enabled) set(letter byte, value uint64) error {
	switch letter {
	case 'w':
		if value < 1 || value > 31 {
			return fmt.Errorf("w=%d, expected link width bits from 1 to 31", value)
		}
		e.width = uint8(value)
	case 's':
		if value < 1 || value > 7 {
			return fmt.Errorf("s=%d, expected link speed bits from 1 to 7", value)
		}
		e.speed = uint8(value)
	case 'e':
		if value > 7 {
			return fmt.Errorf("e=%d, expected extended link speed bits from 0 to 7", value)
		}
		e.ext = uint8(value)
	}
	return nil
}

// tally counts how often each word occurs in a file.
type tally map[string]int

// list returns the sum of all counts, and a text with the first few words.
func (t tally) list() (total int, names string) {
	sorted := slices.Sorted(maps.Keys(t))
	for i, word := range sorted {
		total += t[word]
		sorted[i] = quote(word)
	}
	return total, prose.List(sorted, 5)
}

// statedRate is the rate that a port line contains, a word such as "4xNDR". The word is "" if the line has no rate.
type statedRate struct {
	word  string
	width fabric.Width
	speed fabric.Speed
}

func (r statedRate) or(other statedRate) statedRate {
	if r.word == "" {
		return other
	}
	return r
}

// statedRate returns the last rate in s, the end of a port line. A malformed word at the position where ibnetdiscover
// writes the rate counts as an unknown rate.
func (p *parser) statedRate(s string) statedRate {
	fields := strings.Fields(s)
	for i := len(fields) - 1; i >= 0; i-- {
		r, shaped, known := parseRate(fields[i])
		if !known && (!shaped || i < 2 || fields[i-2] != "lid") {
			continue
		}
		r.word = p.rateWord(fields[i])
		if !known && !p.asIbsim() {
			p.unknownRates[r.word]++
		}
		return r
	}
	return statedRate{}
}

// parseRate parses a word such as "4xNDR", "??QDR" or "4x???". It is the inverse of String of widths and speeds. The
// result shaped reports whether the word has the form of a rate. The result known reports whether width and speed are
// valid words; the words for an unknown width or speed are valid, too.
func parseRate(word string) (r statedRate, shaped, known bool) {
	speed, known := strings.CutPrefix(word, fabric.Width(0).String())
	if !known {
		var lanes int
		var ok bool
		if lanes, speed, ok = digits(word); !ok || !strings.HasPrefix(speed, "x") {
			return r, false, false
		}
		speed = speed[1:]
		if r.width = fabric.Width(lanes); lanes == int(r.width) && r.width.String() == word[:len(word)-len(speed)] {
			known = true
		} else {
			r.width = 0
		}
	}
	var ok bool
	r.speed, ok = fabric.ParseSpeed(speed)
	return r, speed != "", known && (ok || speed == fabric.SpeedUnknown.String())
}

// active returns the rate of a link between two ports: the highest width and speed that both ports enable.
func active(a, b enabled) (fabric.Width, fabric.Speed, error) {
	w := activeWidth(a.width & b.width)
	if w == 0 {
		return 0, 0, fmt.Errorf("the two ports of the link have no width in common: width bits %d and %d", a.width,
			b.width)
	}
	s := activeSpeed(enabled{speed: a.speed & b.speed, ext: a.ext & b.ext, fdr10: a.fdr10 & b.fdr10})
	if a.speed&b.speed == 0 {
		return 0, 0, fmt.Errorf("the two ports of the link have no speed in common: speed bits %d and %d", a.speed,
			b.speed)
	}
	return w, s, nil
}

func activeWidth(bits uint8) fabric.Width {
	switch {
	case bits&width12x != 0:
		return 12
	case bits&width8x != 0:
		return 8
	case bits&width4x != 0:
		return 4
	case bits&width2x != 0:
		return 2
	case bits&width1x != 0:
		return 1
	}
	return 0
}

func activeSpeed(e enabled) fabric.Speed {
	switch {
	case e.ext&extHDR != 0:
		return fabric.HDR
	case e.ext&extEDR != 0:
		return fabric.EDR
	case e.ext&extFDR != 0:
		return fabric.FDR
	case e.fdr10 != 0:
		return fabric.FDR10
	case e.speed&speedQDR != 0:
		return fabric.QDR
	case e.speed&speedDDR != 0:
		return fabric.DDR
	}
	return fabric.SDR
}

// rateWord returns a shared copy of a word.
func (p *parser) rateWord(word string) string {
	if s, ok := p.rates[word]; ok {
		return s
	}
	s := strings.Clone(word)
	p.rates[s] = s
	return s
}
