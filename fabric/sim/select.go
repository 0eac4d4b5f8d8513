// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"

	"example.org/ibconsole/mad/sa"
)

// A selector is the upper two bits of a byte whose lower six bits are a value (IBA 1.2.1, 15.2.5.16).

// scale defines the order of a component's values.
type scale struct {
	order  func(uint8) int
	below  func(uint8) uint8 // the next lower value, 0 for none
	strict bool              // a path with a higher value does not match Exactly
}

// The scales of MTUs and lifetimes, and the scale of rates.
var (
	plain  = scale{order: func(v uint8) int { return int(v) }, below: func(v uint8) uint8 { return max(v, 1) - 1 }}
	byRate = scale{order: rateOrder, below: slower, strict: true}
)

// selects reports whether a query has both the selector and the value of a component. If it has only one of them, the
// component is ignored.
func (q *query) selects(selector int) bool { return q.has(0b11 << selector) }

// inRange reports whether the value in byte at of a record satisfies the selector and value of the query.
func (q *query) inRange(record []byte, selector, at int, s scale) bool {
	if !q.selects(selector) {
		return true
	}
	have, want := s.order(record[at]&0x3f), s.order(q.data[at]&0x3f)
	switch sa.Selector(q.data[at] >> 6) {
	case sa.GreaterThan:
		return have > want
	case sa.LessThan:
		return have < want
	case sa.Exactly:
		return have == want
	}
	return true
}

// fit sets the value in byte at of a path record to the requested value if the path supports it, as OpenSM does.
// Packets on a path may use less than the maximum of the path. fit returns false if the path does not satisfy the
// request.
func (q *query) fit(record []byte, selector, at int, s scale) bool {
	if !q.selects(selector) {
		return true
	}
	have, want := record[at]&0x3f, q.data[at]&0x3f
	enough := s.order(have) >= s.order(want)
	switch sa.Selector(q.data[at] >> 6) {
	case sa.GreaterThan:
		return s.order(have) > s.order(want)
	case sa.LessThan:
		if enough {
			have = s.below(want)
			if have == 0 {
				return false
			}
		}
	case sa.Exactly:
		if !enough || s.strict && have != want {
			return false
		}
		have = want
	}
	record[at] = uint8(sa.Exactly)<<6 | have
	return true
}

// rateOrder returns the index of a rate code in ascending order of speed, -1 for an unknown code.
func rateOrder(code uint8) int { return slices.Index(rates[:], sa.Rate(code)) }

// slower returns the code of the next slower rate, 0 if there is none.
func slower(code uint8) uint8 {
	if i := rateOrder(code); i > 0 {
		return uint8(rates[i-1])
	}
	return 0
}
