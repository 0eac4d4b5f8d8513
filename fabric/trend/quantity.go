// SPDX-License-Identifier: Apache-2.0

package trend

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/internal/base/prose"
)

// Quantity is a property of a port that is measured.
type Quantity uint8

// The quantities.
const (
	RawBER Quantity = iota
	EffectiveBER
	SymbolBER
	Temperature
	RxPower
	SymbolErrors // per hour
	Recoveries   // LinkErrorRecovery per hour
	NumQuantities
)

var quantities = [NumQuantities]struct {
	name, unit string
	falling    bool // a low value is bad
	isBER      bool
	// least and most are the range of plausible limits.
	least, most float64
}{
	RawBER:       {name: "raw BER", isBER: true, least: leastBER, most: mostBER},
	EffectiveBER: {name: "effective BER", isBER: true, least: leastBER, most: mostBER},
	SymbolBER:    {name: "symbol BER", isBER: true, least: leastBER, most: mostBER},
	Temperature:  {name: "temperature", unit: "C", least: 1, most: 150},
	RxPower:      {name: "received power", unit: "dBm", falling: true, least: -60, most: 20},
	SymbolErrors: {name: "symbol errors", unit: "per hour", least: 1, most: 1e12},
	Recoveries:   {name: "link-error recoveries", unit: "per hour", least: 1, most: 1e12},
}

func (q Quantity) String() string { return quantities[q].name }

// Unit returns the unit, "" for none.
func (q Quantity) Unit() string { return quantities[q].unit }

// Rising reports whether the limit is an upper limit.
func (q Quantity) Rising() bool { return !quantities[q].falling }

// IsBER reports whether the quantity is a bit error rate. Trends of bit error rates are computed from their logarithms.
func (q Quantity) IsBER() bool { return quantities[q].isBER }

// leastBER is the bit error rate that stands for lower ones. ibdiagnet writes 1.5E-254 for a link without errors.
const leastBER = 1e-18

// mostBER is the highest plausible limit of a bit error rate. No error correction copes with more errors.
const mostBER = 0.01

// Scale returns a value as the forecast uses it.
func (q Quantity) Scale(value float64) float64 {
	if q.IsBER() {
		return math.Log10(max(value, leastBER))
	}
	return value
}

// Value is the inverse of [Quantity.Scale].
func (q Quantity) Value(scaled float64) float64 {
	if q.IsBER() {
		return math.Pow(10, scaled)
	}
	return scaled
}

// Medium is the kind of a cable.
type Medium uint8

// The media.
const (
	AnyMedium Medium = iota
	Copper
	Optical
)

var media = [...]string{"any", "copper", "optical"}

func (m Medium) String() string { return media[m] }

// mediumOf returns the medium that the type of a cable names, AnyMedium if it is unknown.
func mediumOf(c *health.Cable) Medium {
	if c == nil {
		return AnyMedium
	}
	switch text := strings.ToLower(c.Type); {
	case strings.Contains(text, "copper"), strings.Contains(text, "passive"):
		return Copper
	case strings.Contains(text, "optical"), strings.Contains(text, "fiber"), strings.Contains(text, "aoc"),
		strings.Contains(text, "vcsel"), strings.Contains(text, "nm"), c.Weakest().Known:
		return Optical
	}
	return AnyMedium
}

// Limit is the limit of a quantity for some links.
type Limit struct {
	Quantity
	Value  float64
	Source string
	// Speed, FEC and Medium select the links. The zero values and AnyFEC stand for all links.
	Speed  fabric.Speed
	FEC    health.FEC
	Medium Medium
}

// AnyFEC stands for all kinds of error correction.
const AnyFEC = health.Unknown

// The publications with the default limits.
const (
	guide = "public guide to bit error rates of NVIDIA links: error level of the effective BER"
	iba   = "InfiniBand specification 1.2.1, volume 2: bit error rate of a link"
	pdr   = "NVIDIA ufm_sdk_3.0, plugins/pdr_deterministic_plugin/README.md"
	nvs   = "NVIDIA NVSentinel, docs/configuration/nic-health-monitor.md"
	own   = "choice of ibconsole"
)

// Defaults returns the limits that apply without a configuration, the special ones first. They are levels at which a
// link needs repair.
func Defaults() []Limit {
	return []Limit{
		{Quantity: EffectiveBER, Value: 1e-11, FEC: lowLatencyRS, Source: guide},
		{Quantity: EffectiveBER, Value: 1e-14, FEC: kp4, Source: guide},
		{Quantity: EffectiveBER, Value: 1e-12, FEC: AnyFEC, Source: iba},
		{Quantity: SymbolBER, Value: 1e-14, Speed: fabric.NDR, FEC: AnyFEC, Source: pdr},
		{Quantity: SymbolBER, Value: 1e-12, FEC: AnyFEC, Source: iba},
		{Quantity: RawBER, Value: 1e-12, FEC: health.NoFEC, Source: iba},
		{Quantity: RawBER, Value: 1e-5, FEC: AnyFEC, Source: own},
		{Quantity: Temperature, Value: 70, FEC: AnyFEC, Source: pdr},
		{Quantity: SymbolErrors, Value: 120, FEC: AnyFEC, Source: nvs},
		{Quantity: Recoveries, Value: 300, FEC: AnyFEC, Source: nvs},
	}
}

// The kinds of error correction for which the guide has limits.
const (
	lowLatencyRS health.FEC = 3
	kp4          health.FEC = 4
)

// LimitOf returns the first limit in a list for a quantity of a port. The limit of the received power is that of the
// module itself unless the list has one. It returns false if the port has no limit.
func LimitOf(limits []Limit, q Quantity, link *Link) (Limit, bool) {
	for _, l := range limits {
		if l.Quantity == q && (l.Speed == fabric.SpeedUnknown || l.Speed == link.Speed) &&
			(l.FEC == AnyFEC || l.FEC == link.FEC) && (l.Medium == AnyMedium || l.Medium == link.Medium) {
			return l, true
		}
	}
	if q == RxPower && link.RxLow.Known {
		return Limit{Quantity: q, Value: link.RxLow.Value, FEC: AnyFEC, Source: "limit of the module"}, true
	}
	return Limit{}, false
}

// fecWords are the names of error correction in a configuration, by number.
var fecWords = [...]string{"none", "firecode", "rs", "ll-rs", "kp4"}

// ParseLimit parses a limit of a configuration, which is at a place: "effective-ber 1e-13 speed=NDR fec=kp4
// medium=optical".
func ParseLimit(text, place string) (Limit, error) {
	const form = "expected NAME VALUE [speed=SPEED] [fec=FEC] [medium=copper|optical]"
	words := strings.Fields(text)
	if len(words) < 2 {
		return Limit{}, fmt.Errorf("limit is %q, %s", text, form)
	}
	l := Limit{FEC: AnyFEC, Source: place}
	at := slices.Index(Names(), words[0])
	if at < 0 {
		return Limit{}, fmt.Errorf("unknown quantity %q, expected %s", words[0], prose.List(Names(), len(Names())))
	}
	l.Quantity = Quantity(at)
	var err error
	q := &quantities[l.Quantity]
	if l.Value, err = strconv.ParseFloat(words[1], 64); err != nil || !(l.Value >= q.least && l.Value <= q.most) {
		return Limit{}, fmt.Errorf("the limit of %s is %q, expected a number from %g to %g%s", words[0], words[1],
			q.least, q.most, prose.When(q.unit == "", "", " "+q.unit))
	}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		known := false
		switch name {
		case "speed":
			l.Speed, known = fabric.ParseSpeed(strings.ToUpper(value))
		case "fec":
			at := slices.Index(fecWords[:], strings.ToLower(value))
			l.FEC, known = health.FEC(max(at, 0)), at >= 0
		case "medium":
			at := slices.Index(media[:], value)
			l.Medium, known = Medium(max(at, 0)), at > 0
		default:
			return Limit{}, fmt.Errorf("unknown word %q, %s", word, form)
		}
		if !known {
			return Limit{}, fmt.Errorf("unknown %s %q, %s", name, value, form)
		}
	}
	return l, nil
}

// Name returns the limit in the form of a configuration, without its value: "effective-ber speed=NDR fec=kp4".
func (l *Limit) Name() string {
	text := Names()[l.Quantity]
	if l.Speed != fabric.SpeedUnknown {
		text += " speed=" + l.Speed.String()
	}
	if int(l.FEC) < len(fecWords) {
		text += " fec=" + fecWords[l.FEC]
	}
	if l.Medium != AnyMedium {
		text += " medium=" + l.Medium.String()
	}
	return text
}

// Names returns the names of the quantities in a configuration, in their order.
func Names() []string {
	names := make([]string, NumQuantities)
	for q := range NumQuantities {
		names[q] = strings.ReplaceAll(strings.ToLower(q.String()), " ", "-")
	}
	return names
}

// Text returns a value of the quantity with its unit.
func (q Quantity) Text(value float64) string {
	if u := q.Unit(); u != "" {
		return q.number(value) + " " + u
	}
	return q.number(value)
}

// number returns a value of the quantity as text. A bit error rate below leastBER means that no error was seen.
func (q Quantity) number(value float64) string {
	switch {
	case q.IsBER() && value <= leastBER:
		return "none seen"
	case q.IsBER():
		return strconv.FormatFloat(value, 'e', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', decimals[q], 64)
}

// decimals is the number of digits after the decimal point in texts.
var decimals = [NumQuantities]int{RxPower: 1, SymbolErrors: 1, Recoveries: 1}
