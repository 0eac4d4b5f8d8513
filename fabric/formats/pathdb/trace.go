// SPDX-License-Identifier: Apache-2.0

package pathdb

import "errors"

// ErrNoTrace says that the database was built without its traces.
var ErrNoTrace = errors.New("the database has no traces, only records")

// Hop is a switch on the way, and the port that packets leave it by.
type Hop struct {
	GUID uint64
	Out  uint8
}

// Way appends the switches on the way from one LID to another, the first one that
// the source hangs on. O(hops).
func (v *View) Way(dst []Hop, slid, dlid uint16) ([]Hop, error) {
	if v.root.HasTrace == 0 {
		return dst, ErrNoTrace
	}
	from, ok := v.ByLID(slid)
	if !ok {
		return dst, ErrSource
	}
	to, ok := v.ByLID(dlid)
	if !ok {
		return dst, ErrDestination
	}
	src := v.port(uint32(from))
	l := v.lid(dlid)
	switch {
	case from == to || src.peer == uint32(to) && src.sw == none:
		return dst, nil
	case src.sw == none || l.group == noGroup || src.flags&Gone != 0:
		return dst, ErrNoPath
	}
	for sw, n := src.sw, uint32(0); n <= v.root.Switches; n++ {
		out := value(v.data, symbol(v.data, v.root.OffTrace, sw, uint32(l.group)), l.at)
		dst = append(dst, Hop{GUID: word64(v.data, v.root.OffSwitches+uint64(sw)*switchSize), Out: uint8(out)})
		if out == 0 && word(v.data, v.root.OffSwitches+uint64(sw)*switchSize+8) == uint32(to) {
			return dst, nil
		}
		if uint32(out) >= v.root.Width {
			return dst, ErrNoPath
		}
		behind := word(v.data, v.root.OffWires+(uint64(sw)*uint64(v.root.Width)+uint64(out))*wireSize)
		if behind >= toPort {
			if behind == BehindPort(int32(to)) {
				return dst, nil
			}
			return dst, ErrNoPath
		}
		sw = behind
	}
	return dst, ErrNoPath
}

// Disjoint returns which of the paths from one port to another shares the fewest
// switches with a path in use, none if it can be, as an alternative for automatic
// path migration (IBA 1.2.1, 17.2.8), and how many they share beside the switches of
// both ends.
func (v *View) Disjoint(from, to PortIndex, inUse Record, want Want) (best Record, shared int, err error) {
	used, err := v.Way(nil, inUse.SLID, inUse.DLID)
	if err != nil {
		return best, 0, err
	}
	all, err := v.Paths(nil, from, to, want)
	if err != nil {
		return best, 0, err
	}
	shared = -1
	var way []Hop
	for _, r := range all {
		if r.DLID == inUse.DLID {
			continue
		}
		if way, err = v.Way(way[:0], r.SLID, r.DLID); err != nil {
			continue
		}
		if n := common(used, way); shared < 0 || n < shared {
			best, shared = r, n
		}
	}
	if shared < 0 {
		return best, 0, ErrNoPath
	}
	return best, shared, nil
}

// common counts switches that are on both ways, both ends left out.
func common(a, b []Hop) (n int) {
	for i, x := range a {
		for j, y := range b {
			ends := i == 0 && j == 0 || i == len(a)-1 && j == len(b)-1
			if x.GUID == y.GUID && !ends {
				n++
			}
		}
	}
	return n
}
