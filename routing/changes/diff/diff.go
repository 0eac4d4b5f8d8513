// SPDX-License-Identifier: Apache-2.0

// Package diff compares two states of a subnet: table entries, paths, links and the number of paths on each link.
//
// The two states may have different fabrics. Switches are matched by node GUID, other ports by node GUID and number,
// end ports by port GUID. Pairs are ordered pairs of distinct end ports of CAs in either state, including unreachable
// end ports. A pair is delivered if the paths to all LIDs of the destination arrive. With adaptive routing, the paths
// must arrive for all choices of the switches. Loads count the paths of the linear tables. All pairs are counted,
// without sampling. Their paths are not followed separately, because the paths to one LID form a tree over the
// switches.
package diff

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Options controls a comparison.
type Options struct {
	// Examples is the maximum number of pairs of each kind to list (default 10).
	Examples int
	// Progress, if set, is called from time to time with the number of destinations done, in batches of 64, and their
	// total. It may be called from several goroutines.
	Progress func(done, total int)
}

// Result is the difference between two states. Lists are ordered by LID or by index, Loads by the change.
type Result struct {
	// Old and New are the origins of the old and the new tables.
	Old     string
	New     string
	Entries Entries
	// Switches lists the switches with changed entries.
	Switches []Switch
	Pairs    Pairs
	// Lost, Connected, Changed and ByLuck list the first pairs of each kind that Pairs counts, up to the maximum in
	// Options.Examples.
	Lost      []Pair
	Connected []Pair
	Changed   []Pair
	ByLuck    []Pair
	// Gone lists end ports that only the old subnet has. Come lists end ports that only the new subnet has. Moved lists
	// end ports whose base LID changes.
	Gone  []Port
	Come  []Port
	Moved []Moved
	// Down lists links that only the old fabric has. Up lists links that only the new fabric has.
	Down []Link
	Up   []Link
	// Loads lists the switch ports whose number of entries or paths changes: ports that gain paths, the greatest gain
	// first, then the others, the greatest loss first.
	Loads []Load
	// WorstOld and WorstNew are the links between switches with most paths in the old and the new state. They are nil
	// if no path uses a link between switches.
	WorstOld *Load
	WorstNew *Load
	// Multicast is nil if one of the states has no multicast tables.
	Multicast *Multicast
}

// Entries summarizes the changes in tables.
type Entries struct {
	Changed  int
	Blocks   int
	Switches int
	// Unread counts switches of both subnets whose table was not read in the old or the new state.
	Unread int
}

// Switch is a switch with changed entries.
type Switch struct {
	Name string
	GUID GUID
	// Changed counts entries for LIDs from 1 up to the LinearFDBTop. Blocks counts the 64-LID blocks with changed
	// entries.
	Changed int
	Blocks  int
	TopOld  uint16
	TopNew  uint16
}

// Pairs counts ordered pairs of end ports. Total is the sum of the other fields except ByLuckBefore.
type Pairs struct {
	Total int64
	// Same counts pairs that are delivered in both states over the same links.
	Same int64
	// Changed counts pairs that are delivered in both states over different links.
	Changed int64
	// Lost counts pairs that are delivered only in the old state. Connected counts pairs that are delivered only in the
	// new state.
	Lost      int64
	Connected int64
	// Unreached counts pairs that are delivered in neither state.
	Unreached int64
	// ByLuck counts pairs that are delivered in the new state only with some choices of adaptive routing. ByLuckBefore
	// counts those pairs of ByLuck for which the same is true in the old state.
	ByLuck       int64
	ByLuckBefore int64
	// Unknown counts pairs whose path in either state uses a switch whose table was not read.
	Unknown int64
}

// Pair is an example of a pair.
type Pair struct {
	Src Port
	Dst Port
}

// Port is an end port with its escaped name.
type Port struct {
	Name string
	GUID GUID
	LID  uint16
	// Unreachable is set for an end port in Gone that failures have separated from the subnet.
	Unreachable bool
}

// Moved is an end port whose LID changes.
type Moved struct {
	Port
	NewLID uint16
}

// Link is a link, named by its two ends.
type Link struct {
	A End
	B End
}

// End is one port of a link, with the escaped name "NODE/PORT".
type End struct {
	Name string
	GUID GUID // node GUID
	Num  uint8
}

// Load is the load of a switch port.
type Load struct {
	From End
	// To is the other end of the link in the new state. If the port has no link in the new state, To is the other end
	// in the old state. It is nil if the port has no link in either state.
	To *End
	// EntriesOld and EntriesNew count the LIDs whose table entry is this port. PathsOld and PathsNew count delivered
	// paths over this port. Each pair has a path for each LID of the destination.
	EntriesOld int
	EntriesNew int
	PathsOld   int64
	PathsNew   int64
}

// GUID is a GUID that prints as 0x%016x.
type GUID uint64

// String returns 0x and sixteen digits.
func (g GUID) String() string { return fmt.Sprintf("0x%016x", uint64(g)) }

const defaultExamples = 10

// Compare compares two states. It returns the error of ctx if ctx ends first. O(switches x LIDs) on all processors.
func Compare(ctx context.Context, before, after *fabric.Tables, opt Options) (*Result, error) {
	if opt.Examples == 0 {
		opt.Examples = defaultExamples
	}
	m := match(before, after)
	r := &Result{
		Old: before.Origin, New: after.Origin, Switches: []Switch{}, Gone: []Port{}, Come: []Port{}, Moved: []Moved{},
		Down: []Link{}, Up: []Link{}, Loads: []Load{},
	}
	m.entries(r)
	m.endPorts(r)
	m.links(r)
	w, err := m.walk(ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", before.Origin, after.Origin, err)
	}
	w.result(r)
	if before.Adaptive != nil || after.Adaptive != nil {
		if err := m.choices(ctx, r, opt); err != nil {
			return nil, err
		}
	}
	m.loads(r, w)
	r.Multicast = multicast(before, after, opt.Examples)
	return r, nil
}

// Verdict returns whether the two states differ. The verdict is unknown if no difference was found but some tables were
// not read.
func (r *Result) Verdict() verdict.Verdict {
	return verdict.Of(!r.Same(), r.Pairs.Unknown > 0 || r.Entries.Unread > 0 || r.Multicast != nil &&
		r.Multicast.Unread > 0)
}

// Same reports whether no difference was found in the parts of the states that were read.
func (r *Result) Same() bool {
	return r.Entries.Changed == 0 && r.Pairs.Same+r.Pairs.Unreached+r.Pairs.Unknown+
		r.Pairs.ByLuckBefore == r.Pairs.Total &&
		len(r.Gone) == 0 && len(r.Come) == 0 && len(r.Moved) == 0 && len(r.Down) == 0 && len(r.Up) == 0 &&
		len(r.Loads) == 0 && (r.Multicast == nil || r.Multicast.Changed == 0)
}
