// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
)

// Basis is what an answer rests on.
type Basis struct {
	Subnet   string    // its name where several are open, else ""
	State    string    // live, base, whatif, staged or history
	Engine   string    // of the tables, "" where there are none
	Title    string    // the state for people: "live (as of 2026-01-01 03:00:00)"
	Source   string    // where the subnet was read
	Entry    int64     // of the history, 0 for none
	AsOf     time.Time // when the state was read or computed
	Stale    bool      // the topology changed since the tables were computed
	Estimate bool      // the tables are not proved to be those of the subnet manager
	Written  bool      // the staged tables were written
	Warnings []string
	Unread   Unread
}

// Unread is what could not be read of the parts that an answer rests on.
type Unread struct {
	Count  int
	Causes []Cause
}

// Cause is one reason for which something was not read.
type Cause struct {
	What  string  // "forwarding table", "counters"
	Why   string  // "no response", "attribute not supported"
	At    []Place // at most [MostPlaces] of them
	Count int
}

// Add returns the sum of two.
func (u Unread) Add(more Unread) Unread {
	return Unread{u.Count + more.Count, slices.Concat(u.Causes, more.Causes)}
}

// Note adds what was not read at a place. It goes to the cause with these words, where there is one.
func (u *Unread) Note(what, why string, count int, at Place) {
	u.Count += count
	i := slices.IndexFunc(u.Causes, func(c Cause) bool { return c.What == what && c.Why == why })
	if i < 0 {
		i = len(u.Causes)
		u.Causes = append(slices.Clip(u.Causes), Cause{What: what, Why: why})
	}
	c := &u.Causes[i]
	if c.Count += count; len(c.At) < MostPlaces {
		c.At = append(c.At, at)
	}
}

// Lines returns a line for each cause, escaped: "not read: 3 forwarding tables (no response): leaf-01, leaf-02,
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

// MostPlaces is how many places of a cause are kept.
const MostPlaces = 20

// first returns the line of the first cause, "" for none.
func (u Unread) first() string {
	if len(u.Causes) == 0 {
		return ""
	}
	return Unread{Causes: u.Causes[:1]}.Lines()[0]
}

// mostPlaces is how many places of a cause people read.
const mostPlaces = 3

func placesText(at []Place, count int) string {
	shown := at[:min(len(at), mostPlaces)]
	text := strings.Join(prose.Words(shown, Place.String), ", ")
	if more := max(count, len(at)) - len(shown); more > 0 {
		text += " " + prose.More(more)
	}
	return text
}
