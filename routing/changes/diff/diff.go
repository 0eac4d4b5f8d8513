// SPDX-License-Identifier: Apache-2.0

// Package diff says what differs between two pictures of a subnet: table
// entries, paths, links and how many paths each link carries.
//
// The two may stand on different fabrics. Switches are matched by node GUID, other ports by node GUID and number,
// end ports by port GUID. Pairs are the ordered pairs of distinct end ports of channel adapters and routers that
// either picture has, the unreachable ones included. A pair is delivered if the paths to all LIDs of the destination
// are, where switches route adaptively by every choice of theirs. Loads are those of the linear tables. All pairs are
// counted, none is sampled, but they are not walked one by one: the paths to one LID are a tree over the switches.
package diff

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
)

// Options are how to compare.
type Options struct {
	// Examples is how many pairs of each kind to name, 10 if it is 0.
	Examples int
	// Progress, where set, is called now and then with the destinations done, in
	// lots of 64, and all there are. It may be called from several goroutines.
	Progress func(done, total int)
}

// Result is what differs. Lists of names are ordered by LID or by index, loads by how much they change.
type Result struct {
	// Old and New say where the tables come from.
	Old     string
	New     string
	Entries Entries
	// Switches are those with changed entries.
	Switches []Switch
	Pairs    Pairs
	// Lost, Connected and Changed name the first pairs of those that Pairs counts.
	Lost      []Pair
	Connected []Pair
	Changed   []Pair
	ByLuck    []Pair
	// Gone are end ports of the old subnet that the new one has not, Come the
	// other way round. Moved are those whose base LID changes.
	Gone  []Port
	Come  []Port
	Moved []Moved
	// Down and Up are links that only the old, only the new fabric has.
	Down []Link
	Up   []Link
	// Loads are the switch ports whose number of entries or paths changes, the greatest change of paths first.
	Loads []Load
	// WorstOld and WorstNew are the links between switches that carry most paths, nil where no path takes such a link.
	WorstOld *Load
	WorstNew *Load
	// Multicast is nil where one of the pictures has no multicast tables.
	Multicast *Multicast
}

// Entries sums up what changes in tables.
type Entries struct {
	Changed  int
	Blocks   int
	Switches int
	// Unread are switches of both subnets whose table one of the two does not know.
	Unread int
}

// Switch is a switch with changed entries.
type Switch struct {
	Name string
	GUID GUID
	// Changed counts entries for LIDs from 1 up; what stands above the top of a
	// table is no entry. Blocks are the 64-LID blocks with changed entries.
	Changed int
	Blocks  int
	TopOld  uint16
	TopNew  uint16
}

// Pairs counts ordered pairs of end ports. Total is the sum of the others but ByLuckBefore.
type Pairs struct {
	Total int64
	// Same are delivered in both pictures over the same links.
	Same int64
	// Changed are delivered in both over different links.
	Changed int64
	// Lost are delivered in the old picture only, Connected in the new one only.
	Lost      int64
	Connected int64
	// Unreached are delivered in neither.
	Unreached int64
	// ByLuck are delivered by some choices of adaptive routing in the new picture, and not by others; ByLuckBefore
	// counts those of them that were in the old picture as well.
	ByLuck       int64
	ByLuckBefore int64
	// Unknown meet a switch, in either picture, whose table was not read.
	Unknown int64
}

// Pair is an example of a pair.
type Pair struct {
	Src Port
	Dst Port
}

// Port is an end port. The name is escaped.
type Port struct {
	Name string
	GUID GUID
	LID  uint16
	// Unreachable says of an end port that is gone that failures have separated it from the subnet.
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

// End is one port of a link. The name, "NODE/PORT", is escaped.
type End struct {
	Name string
	// GUID is that of the node.
	GUID GUID
	Num  uint8
}

// Load is what leaves a switch by one port.
type Load struct {
	From End
	// To is the other end of the link: of the new picture, else of the old one, nil where both have none.
	To *End
	// Entries count the LIDs of the table, paths those that are delivered, one for each LID.
	EntriesOld int
	EntriesNew int
	PathsOld   int64
	PathsNew   int64
}

// GUID is a GUID that prints as 0x%016x.
type GUID uint64

// String gives 0x and sixteen digits.
func (g GUID) String() string { return fmt.Sprintf("0x%016x", uint64(g)) }

const defaultExamples = 10

// Compare compares two pictures. It fails with ctx's error where ctx ends first. O(switches x LIDs) on all processors.
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

// Verdict returns whether something differs. It is unknown where tables were not read and nothing else differs.
func (r *Result) Verdict() verdict.Verdict {
	return verdict.Of(!r.Same(), r.Pairs.Unknown > 0 || r.Entries.Unread > 0 || r.Multicast != nil &&
		r.Multicast.Unread > 0)
}

// Same says that nothing differs, as far as both pictures know.
func (r *Result) Same() bool {
	return r.Entries.Changed == 0 && r.Pairs.Same+r.Pairs.Unreached+r.Pairs.Unknown+
		r.Pairs.ByLuckBefore == r.Pairs.Total &&
		len(r.Gone) == 0 && len(r.Come) == 0 && len(r.Moved) == 0 && len(r.Down) == 0 && len(r.Up) == 0 &&
		len(r.Loads) == 0 && (r.Multicast == nil || r.Multicast.Changed == 0)
}
