// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// Basis describes the data that an answer depends on: the subnet, the state, the time, and the values that were not
// read.
type Basis struct {
	Subnet   string    // its name if several subnets are open, otherwise ""
	State    string    // live, base, whatif, staged or history
	Labels   string    // cabling plan with the labels of ports, "" for none
	Engine   string    // routing engine of the tables, "" without tables
	Title    string    // the state for people: "live (as of 2026-01-01 03:00:00)"
	Source   string    // where the subnet was read from
	Entry    int64     // number of the history entry, 0 for none
	AsOf     time.Time // when the state was read or computed
	Stale    bool      // the topology changed since the tables were computed
	Estimate bool      // it is unproved that the subnet manager would compute the same tables
	Written  bool      // the staged tables were written
	Warnings []string
	Unread   Unread
}

// Unread counts, by cause, the values that could not be read although the answer depends on them.
type Unread struct {
	Count  int
	Causes []Cause
}

// Cause is a kind of value that was not read, and the reason.
type Cause struct {
	What  string  // "forwarding table", "counters"
	Why   string  // "no response", "attribute not supported"
	At    []Place // the first [MaxPlaces] places
	Count int
}

// Add returns the sum of two counts, with the causes of both.
func (u Unread) Add(more Unread) Unread {
	return Unread{u.Count + more.Count, slices.Concat(u.Causes, more.Causes)}
}

// Note adds a number of unread values to the cause with a kind and a reason. The zero place means that no place is
// known.
func (u *Unread) Note(what, why string, count int, at Place) {
	u.Count += count
	i := slices.IndexFunc(u.Causes, func(c Cause) bool { return c.What == what && c.Why == why })
	if i < 0 {
		i = len(u.Causes)
		u.Causes = append(slices.Clip(u.Causes), Cause{What: what, Why: why})
	}
	c := &u.Causes[i]
	if c.Count += count; len(c.At) < MaxPlaces && at != (Place{}) {
		c.At = append(c.At, at)
	}
}

// Lines returns one escaped line for each cause: "not read: 3 forwarding tables (no response): leaf-01, leaf-02,
// leaf-03".
func (u Unread) Lines() []string {
	var lines []string
	for _, c := range u.Causes {
		line := "not read: " + prose.Count(c.Count, plain.EscapeLine(c.What))
		if c.Why != "" {
			line += " (" + plain.EscapeLine(c.Why) + ")"
		}
		if len(c.At) > 0 {
			line += ": " + placesText(c.At, c.Count)
		}
		lines = append(lines, line)
	}
	return lines
}

// MaxPlaces is the maximum number of places that a cause keeps. shownPlaces is the maximum number that text shows.
const (
	MaxPlaces   = 20
	shownPlaces = 3
)

// first returns the line of the first cause, or "" if there is no cause.
func (u Unread) first() string {
	if len(u.Causes) == 0 {
		return ""
	}
	return Unread{Causes: u.Causes[:1]}.Lines()[0]
}

func placesText(at []Place, count int) string {
	shown := at[:min(len(at), shownPlaces)]
	text := strings.Join(prose.Words(shown, Place.String), ", ")
	if more := max(count, len(at)) - len(shown); more > 0 {
		text += " " + prose.More(more)
	}
	return text
}
