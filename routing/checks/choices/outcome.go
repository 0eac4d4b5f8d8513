// SPDX-License-Identifier: Apache-2.0

package choices

import "example.org/ibconsole/routing/checks/walk"

// Reach is whether packets arrive, over all choices of the switches.
type Reach uint8

// The kinds of reach.
const (
	Sure    Reach = iota + 1 // by all choices of the switches
	Luck                     // by some choices, and not by others
	Never                    // by no choice
	Unknown                  // it depends on a switch whose table was not read
)

var reachNames = [...]string{Sure: "for sure", Luck: "by luck", Never: "never", Unknown: "unknown"}

func (r Reach) String() string {
	if r == 0 || int(r) >= len(reachNames) {
		return "not followed"
	}
	return reachNames[r]
}

// Endings is a set of possible ends of packets, one bit each.
type Endings uint8

// The endings.
const (
	Arrives Endings = 1 << iota
	DeadEnd
	Misdelivered
	Unread
	Loops // they can return to a switch and the table that they used there before
)

// Reach returns the reach that follows from the set of endings.
func (e Endings) Reach() Reach {
	arrives, fails := e&Arrives != 0, e&(DeadEnd|Misdelivered|Loops) != 0
	switch {
	case arrives && fails:
		return Luck
	case e&Unread != 0:
		return Unknown
	case arrives:
		return Sure
	}
	return Never
}

// Outcome is the outcome of packets to one LID from a switch on.
type Outcome struct {
	Endings Endings
	// Fewest and Most are the numbers of links on the shortest and on the longest path that arrives. Most is -1 if
	// packets can loop before they arrive.
	Fewest, Most int32
	// Paths counts the possible paths, whether they arrive or not. Paths that differ in a port count as different. The
	// count is inexact above 2^53, and 0 if packets can loop.
	Paths float64
	// Share is the share of packets that arrive if all choices are equally likely, or 0 if packets can loop.
	Share float64
}

// then adds to o the outcome of packets that leave by one port. The port leads over link more links (0 or 1).
func (o *Outcome) then(next *Outcome, link int32) {
	first := o.Endings&Arrives == 0
	o.Endings |= next.Endings
	o.Paths += next.Paths
	o.Share += next.Share
	if next.Endings&Arrives == 0 {
		return
	}
	if first || next.Fewest+link < o.Fewest {
		o.Fewest = next.Fewest + link
	}
	switch {
	case next.Most < 0:
		o.Most = -1
	case o.Most >= 0:
		o.Most = max(o.Most, next.Most+link)
	}
}

// end returns the outcome of packets that leave for x and meet no further switch. dst is the end port that owns the
// LID.
func end(x, dst walk.Target) Outcome {
	o := Outcome{Paths: 1}
	switch x {
	case dst:
		o.Endings, o.Share = Arrives, 1
	case walk.Nowhere:
		o.Endings = DeadEnd
	case walk.Unread:
		o.Endings = Unread
	default:
		o.Endings = Misdelivered
	}
	return o
}
